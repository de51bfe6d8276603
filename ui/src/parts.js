/* SPDX-License-Identifier: Apache-2.0 */
/* What views are made of. Texts are children or values of elements, never markup. */
import { h, Component } from 'preact';
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import htm from 'htm';
import { has } from './link.js';
import { get, useValue } from './store.js';
import { actorLink } from './route.js';
import { onTick, together } from './poll.js';
import { bytes, count, ms, plural } from './format.js';

export const html = htm.bind(h);

/* ---- Texts. ---- */

/** How old what is shown is. `at` is a time, or has one as `ms`. Each second changes the text, if it is another one, and nothing else. */
export function Age({ at, every }) {
  const box = useRef(null);
  const draw = useRef(null);
  draw.current = () => {
    const time = at && typeof at === 'object' ? at.ms : at;
    const old = Date.now() - time;
    const text = !time ? 'reading …' : old < 1500 ? 'now' : old < 120000 ? Math.round(old / 1000) + ' s ago' : ms(old) + ' ago';
    const name = time && !get('paused') && every && old > 3 * every + 2000 ? 'age late' : 'age';
    /* Another text in the same node: a new node would cost the browser more. */
    if (!box.current.firstChild) box.current.textContent = text;
    else if (box.current.firstChild.data !== text) box.current.firstChild.data = text;
    if (box.current.className !== name) box.current.className = name;
  };
  useLayoutEffect(() => draw.current());
  useEffect(() => {
    const again = () => box.current && draw.current();
    const soon = setTimeout(again, 500); /* the first answer may come before the first tick */
    const stop = onTick(() => together(again));
    return () => {
      clearTimeout(soon);
      stop();
    };
  }, []);
  return html`<span ref=${box} title="when this was read"></span>`;
}

/** A path, whose last part stands out. */
export function Path({ path, plain }) {
  if (!path) return html`<span class="muted">–</span>`;
  const at = path.lastIndexOf('/');
  const text = html`<span class="path-front">${path.slice(0, at + 1)}</span><span class="path-last">${path.slice(at + 1)}</span>`;
  return plain
    ? html`<span class="path" title=${path}>${text}</span>`
    : html`<a class="path" title=${path} href=${actorLink(path)}>${text}</a>`;
}

const states = { Running: 'ok', Suspended: 'held', Stopping: 'held', Starting: 'note', New: 'note' };

export function State({ row }) {
  const busy = row.running ? ' · in a turn' : row.ready ? ' · ready' : '';
  return html`<span class=${'state ' + (states[row.state] || 'note')}><i></i>${row.state}<span class="muted">${busy}</span></span>`;
}

export const Tag = ({ kind = 'note', children, title }) => html`<span class=${'tag ' + kind} title=${title}>${children}</span>`;

/** A bar behind a number. */
export function Bar({ part, text, kind = '' }) {
  const width = Math.max(0, Math.min(1, part || 0)) * 100;
  return html`<span class=${'bar ' + kind}>${width >= 0.5 && html`<i style=${{ width: width + '%' }}></i>`}<span>${text}</span></span>`;
}

export const Source = ({ file, line }) =>
  file ? html`<span class="source" title=${file + ':' + line}>${file.split('/').pop()}:${line}</span>` : null;

/* ---- Frames. ---- */

export const Panel = ({ title, extra, children, class: name = '', id }) => html`
  <section class=${'panel ' + name} id=${id}>
    ${title && html`<header><h2>${title}</h2><div class="extra">${extra}</div></header>`}
    ${children}
  </section>`;

export const Empty = ({ children }) => html`<p class="empty">${children}</p>`;

/** Says why there is nothing to show. */
export const Problem = ({ error }) =>
  error ? html`<p class="problem"><b>${error.status}</b> ${error.message}</p>` : null;

/** Shows its children if the program has the verb, or says plainly that it has not. */
export function Needs({ verb, what, children }) {
  useValue('hello');
  if (!get('hello') || has(verb)) return children;
  return html`<p class="empty">This program does not answer <code>${verb}</code>: ${what || 'this part'} cannot be shown.</p>`;
}

/** Catches what goes wrong while a view is drawn, so that the others still work. */
export class Guard extends Component {
  componentDidCatch(error) {
    this.setState({ error });
  }
  render({ children }, { error }) {
    return error ? html`<p class="problem"><b>This view has failed.</b> ${String(error)}</p>` : children;
  }
}

export const Tabs = ({ list, current, onPick }) => html`
  <div class="tabs" role="tablist">${list.map(([name, label, number]) => html`
    <button role="tab" key=${name} aria-selected=${name === current} onClick=${() => onPick(name)}>
      ${label}${number != null && html`<span class="number">${number}</span>`}</button>`)}</div>`;

/** Pairs of a name and a value. Values that are null are left out. */
export const Facts = ({ list, rows }) => html`<dl class=${'facts' + (rows ? ' rows' : '')}>${list.filter((entry) => entry && entry[1] != null)
  .map(([name, value, kind]) => html`<div class=${kind || ''} key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;

export function Search({ value, onChange, label, name = 'filter' }) {
  return html`<input class="filter" type="search" name=${name} placeholder=${label} aria-label=${label} value=${value || ''}
    spellcheck=${false} autocomplete="off" onInput=${(event) => onChange(event.target.value)} />`;
}

/* ---- Tables. ---- */

const ROW = 30;

function useWindow(rows) {
  const box = useRef(null);
  const watcher = useRef(null);
  const [from, change] = useState(0);
  const [height, measure] = useState(600);
  /* Reading the height while drawing would make the browser lay the page out twice. */
  const hold = useCallback((element) => {
    if (watcher.current) watcher.current.disconnect();
    box.current = element;
    if (!element) return;
    watcher.current = new ResizeObserver(([entry]) => measure(Math.round(entry.contentRect.height)));
    watcher.current.observe(element);
  }, []);
  const onScroll = () => {
    const next = Math.max(0, Math.floor(box.current.scrollTop / ROW) - 3);
    if (Math.abs(next - from) >= 2 || next === 0) change(next);
  };
  const most = Math.ceil(height / ROW) + 7;
  const first = Math.min(from, Math.max(0, rows.length - 1));
  return { hold, onScroll, first, last: Math.min(rows.length, first + most) };
}

/* Whether a row shows the same. */
function isSame(one, other, unseen) {
  if (one === other) return true;
  for (const name in one) if (one[name] !== other[name] && !unseen.includes(name)) return false;
  for (const name in other) if (!(name in one)) return false;
  return true;
}

/* One row. It is drawn again if it shows something else, and what happens to it is handled by its table. */
class Row extends Component {
  shouldComponentUpdate(next) {
    const { row, columns, kind, canPick, unseen } = this.props;
    return columns !== next.columns || kind !== next.kind || canPick !== next.canPick || !isSame(row, next.row, unseen);
  }
  render({ row, columns, kind, canPick }) {
    return html`<tr tabindex=${canPick ? 0 : undefined} class=${kind}>${columns.map((column) => html`<td key=${column.name} class=${column.class || ''}>${column.cell(row)}</td>`)}</tr>`;
  }
}

const nothing = [];
/** Members of a row that say when it was. They differ by a millisecond from answer to answer. */
export const moment = ['age_ms', 'unix_ms'];

/**
 * A table that draws only the rows in sight. `columns`: {name, label, unit, class, cell(row), sort(row)}: a row whose members are the
 * same shows the same, unless there are other `columns`. Members that are named in `unseen` show nothing. `onPick` is called with
 * a row that was clicked or entered.
 */
export function Table({ columns, rows, id, onPick, picked, tall, empty, order, unseen = nothing }) {
  /* On a phone, columns that do not fit are reached by scrolling sideways. */
  const isBroad = columns.filter((column) => !/roomy/.test(column.class || '')).length > 3;
  const [sorted, sortBy] = useState(order || null);
  let shown = rows;
  if (sorted) {
    const column = columns.find((entry) => entry.name === sorted[0]);
    if (column && column.sort) {
      shown = rows.slice().sort((a, b) => {
        const x = column.sort(a);
        const y = column.sort(b);
        if (x !== y) return (x < y ? -1 : x > y ? 1 : 0) * (sorted[1] ? -1 : 1);
        return id(a) < id(b) ? -1 : 1; /* so that they stay where they are, in whatever order they come */
      });
    }
  }
  const seen = useWindow(shown);
  const head = (column) => {
    const mark = sorted && sorted[0] === column.name ? (sorted[1] ? ' ↓' : ' ↑') : null;
    const text = html`${column.label}${mark}${column.unit && html`<span class="unit">${column.unit}</span>`}`;
    return column.sort
      ? html`<button onClick=${() => sortBy([column.name, !(sorted && sorted[0] === column.name && sorted[1])])}>${text}</button>`
      : text;
  };
  const rowOf = (element) => shown[seen.first + [...element.parentElement.children].indexOf(element) - (seen.first > 0 ? 1 : 0)];
  const onClick = (event) => {
    const row = onPick && !event.target.closest('a,button') && event.target.closest('tr.pick');
    if (row) onPick(rowOf(row));
  };
  const onKey = (event) => {
    const row = event.target.closest('tr');
    const next = event.key === 'ArrowDown' ? row.nextElementSibling : event.key === 'ArrowUp' ? row.previousElementSibling : null;
    if (next && next.tabIndex === 0) {
      next.focus();
      event.preventDefault();
    }
    if (event.key === 'Enter' && event.target === row && onPick) onPick(rowOf(row));
  };
  if (!rows.length) return html`<${Empty}>${empty || 'Nothing.'}<//>`;
  return html`<div class=${'table' + (tall ? ' tall' : '')} ref=${seen.hold} onScroll=${seen.onScroll}>
    <table class=${isBroad ? 'broad' : ''}>
      <thead><tr>${columns.map((column) => html`<th key=${column.name} class=${column.class || ''}>${head(column)}</th>`)}</tr></thead>
      <tbody onKeyDown=${onKey} onClick=${onClick}>
        ${seen.first > 0 && html`<tr class="space" style=${{ height: seen.first * ROW + 'px' }}></tr>`}
        ${shown.slice(seen.first, seen.last).map((row) => html`<${Row} key=${id(row)} row=${row} columns=${columns} canPick=${!!onPick} unseen=${unseen}
          kind=${(onPick ? 'pick' : '') + (picked != null && id(row) === picked ? ' picked' : '')} />`)}
        ${seen.last < shown.length && html`<tr class="space" style=${{ height: (shown.length - seen.last) * ROW + 'px' }}></tr>`}
      </tbody>
    </table>
  </div>`;
}

/** Says that a list is not whole. */
export const More = ({ more, shown, what = 'rows', onMore }) =>
  more ? html`<p class="more">The first ${plural(shown, what.replace(/s$/, ''), what)} are shown; there are more.
    ${onMore && html` <button onClick=${onMore}>Show more</button>`}</p>` : null;

/* ---- JSON. ---- */

const ITEMS = 100;

export function Json({ value, name, deep = 2, comma }) {
  const [isOpen, toggle] = useState(deep > 0);
  const [most, raise] = useState(ITEMS);
  const label = name != null && html`<span class="json-name">${name}</span><span class="muted">: </span>`;
  if (value === null || typeof value !== 'object') return html`<div class="json">${label}<${Leaf} value=${value} /></div>`;
  const isList = Array.isArray(value);
  const entries = isList ? value.map((item, i) => [i, item]) : Object.entries(value);
  const braces = isList ? '[]' : '{}';
  if (!entries.length) return html`<div class="json">${label}${braces}</div>`;
  return html`<div class="json">
    <button class="json-fold" aria-expanded=${isOpen} onClick=${() => toggle(!isOpen)}>${isOpen ? '▾' : '▸'}</button>
    ${label}<span class="muted">${isOpen ? braces[0] : `${braces[0]} ${plural(entries.length, isList ? 'item' : 'member')} ${braces[1]}`}</span>
    ${isOpen && html`<div class="json-in">
      ${entries.slice(0, most).map(([key, item]) => html`<${Json} key=${key} name=${key} value=${item} deep=${deep - 1} />`)}
      ${entries.length > most && html`<button class="small" onClick=${() => raise(most + 1000)}>
        ${count(entries.length - most)} more</button>`}</div>
      <span class="muted">${braces[1]}</span>`}
  </div>`;
}

function Leaf({ value }) {
  const [whole, show] = useState(false);
  if (typeof value === 'string') {
    if (value === '...') return html`<span class="json-secret" title="a secret field, or more than is shown">…</span>`;
    const long = value.length > 400 && !whole;
    return html`<span class="json-text">"${long ? value.slice(0, 400) : value}"</span>
      ${long && html`<button class="small" onClick=${() => show(true)}>${count(value.length - 400)} more characters</button>`}`;
  }
  if (value === null) return html`<span class="muted">null</span>`;
  return html`<span class="json-value">${String(value)}</span>`;
}

/** A message text that is JSON, or not. */
export function Message({ text, size }) {
  if (!text) return html`<span class="muted">not kept${size ? ', ' + bytes(size) : ''}</span>`;
  try {
    return html`<${Json} value=${JSON.parse(text)} />`;
  } catch {
    return html`<code class="wrap">${text}</code>`;
  }
}

/* ---- Drawings. ---- */

/** Calls draw(context, width, height) when `data` changes or the element has another size. */
export function Canvas({ draw, data, height, class: name = '', onPoint, label }) {
  const box = useRef(null);
  const paint = useRef(null);
  const size = useRef(0);
  paint.current = () => {
    const canvas = box.current;
    if (!canvas) return;
    const scale = devicePixelRatio || 1;
    if (!size.current) size.current = canvas.parentElement.clientWidth;
    const width = size.current;
    if (!width) return;
    if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
      canvas.width = Math.round(width * scale);
      canvas.height = Math.round(height * scale);
      canvas.style.width = width + 'px';
      canvas.style.height = height + 'px';
    }
    const context = canvas.getContext('2d');
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, width, height);
    draw(context, width, height);
  };
  useLayoutEffect(() => paint.current(), [data, height]);
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => {
      if (size.current === entry.contentRect.width) return;
      size.current = entry.contentRect.width;
      paint.current();
    });
    observer.observe(box.current.parentElement);
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    const again = () => paint.current();
    scheme.addEventListener('change', again);
    return () => {
      observer.disconnect();
      scheme.removeEventListener('change', again);
    };
  }, []);
  const at = (event) => {
    const place = event.currentTarget.getBoundingClientRect();
    return [event.clientX - place.left, event.clientY - place.top, event.type === 'click', place.width];
  };
  return html`<div class=${'canvas ' + name}><canvas ref=${box} role="img" aria-label=${label}
    onMouseMove=${onPoint && ((event) => onPoint(...at(event)))} onMouseLeave=${onPoint && (() => onPoint(-1, -1, false, 1))}
    onClick=${onPoint && ((event) => onPoint(...at(event)))}></canvas></div>`;
}

/** The value of a variable of the style sheet. */
export function tint(name) {
  if (!tints.has(name)) tints.set(name, getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim());
  return tints.get(name);
}
const tints = new Map();
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => tints.clear());

/** A line of the last values. */
export function Spark({ list, data, height = 22, label }) {
  const draw = (context, width) => {
    const most = Math.max(1e-9, ...list);
    const step = width / Math.max(1, list.length - 1);
    context.beginPath();
    list.forEach((value, i) => context.lineTo(i * step, height - 2 - (value / most) * (height - 4)));
    context.strokeStyle = tint('accent');
    context.lineWidth = 1.25;
    context.stroke();
    context.lineTo((list.length - 1) * step, height);
    context.lineTo(0, height);
    context.globalAlpha = 0.12;
    context.fillStyle = tint('accent');
    context.fill();
    context.globalAlpha = 1;
  };
  return html`<${Canvas} class="spark" draw=${draw} height=${height} data=${data} label=${label} />`;
}
