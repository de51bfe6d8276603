/* SPDX-License-Identifier: Apache-2.0 */
/* Actors by behavior, and below one another; one actor as a whole. Never more rows than a page. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import { hierarchy, treemap } from 'd3-hierarchy';
import { Age, Bar, html, Needs, Panel, Path, Problem, Search, Source, State, Table, Tag } from '../parts.js';
import { useAnswer } from '../poll.js';
import { useValue } from '../store.js';
import { actorLink, go, link, tune } from '../route.js';
import { bytes, count, plural, rate, short } from '../format.js';
import { Actor } from './actor.js';

const PAGE = 200;

/* ---- By behavior. ---- */

/* Colours by state: what is held comes first, then what has failed, then how full the fullest mailbox is. */
const heat = (row) => (row.suspended || row.stopping ? 'held' : row.failures ? 'failed' : row.queued_most >= 1000 ? 'deep' : row.queued_most >= 50 ? 'some' : 'calm');
const states = (row) => [[row.suspended, 'suspended'], [row.stopping, 'stopping']].filter(([n]) => n).map(([n, name]) => `, ${count(n)} ${name}`).join('');

/* Counts grow since the first look: two answers are a rate. */
function foldRates(before, answer) {
  const past = new Map(before ? before.ok.behaviors.map((row) => [row.behavior + row.file + row.line, row.handled_about]) : []);
  for (const row of answer.ok.behaviors) {
    const last = past.get(row.behavior + row.file + row.line);
    row.rate = last == null ? null : Math.max(0, row.handled_about - last) / ((answer.at - before.at) / 1000);
  }
  /* They come in the order of their figures: boxes and rows would change places each time. */
  answer.ok.behaviors.sort((a, b) => (a.behavior < b.behavior ? -1 : a.behavior > b.behavior ? 1 : a.line - b.line));
  return answer;
}

function Treemap({ rows }) {
  const boxes = useMemo(() => {
    const root = hierarchy({ children: rows.filter((row) => row.live) }).sum((row) => (row.live ? Math.pow(row.bytes, 0.3) : 0)).sort((a, b) => b.value - a.value);
    return treemap().size([1000, 170]).paddingInner(3).round(true)(root).leaves();
  }, [rows.map((row) => row.behavior + Math.round(Math.log2(row.bytes + 1) * 2) + heat(row)).join()]);
  return html`<div class="map" role="list" aria-label="behaviors by memory">${boxes.map((box) => {
    const row = rows.find((entry) => entry.behavior === box.data.behavior && entry.line === box.data.line) || box.data;
    const style = { left: box.x0 / 10 + '%', top: box.y0 + 'px', width: (box.x1 - box.x0) / 10 + '%', height: box.y1 - box.y0 + 'px' };
    return html`<a role="listitem" key=${row.behavior + row.file + row.line} class=${heat(row)} style=${style} href=${link('tree', [], { behavior: row.behavior })}
      title=${`${row.behavior}: ${plural(row.live, 'actor')}${states(row)}, ${bytes(row.bytes)}, ${plural(row.queued, 'message')} queued, ${plural(row.failures, 'failure')}`}>
      <b>${row.behavior}</b><span>${short(row.live)}${row.rate > 0 ? html` · ${rate(row.rate)}<i style=${{ width: Math.min(100, 12 * Math.log10(1 + row.rate) + 8) + '%' }}></i>` : null}</span></a>`;
  })}</div>`;
}

const behaviorColumns = (most) => [
  { name: 'behavior', label: 'behavior', cell: (row) => html`<a href=${link('tree', [], { behavior: row.behavior })}><b>${row.behavior}</b></a> <${Source} ...${row} />`, sort: (row) => row.behavior, class: 'wide-1' },
  { name: 'live', label: 'alive', unit: 'actors', class: 'num', cell: (row) => html`<${Bar} part=${row.live / most} text=${count(row.live)} />`, sort: (row) => row.live },
  { name: 'queued', label: 'queued', unit: 'messages', class: 'num', cell: (row) => count(row.queued), sort: (row) => row.queued },
  { name: 'most', label: 'fullest', unit: 'messages', class: 'num', cell: (row) => count(row.queued_most), sort: (row) => row.queued_most },
  { name: 'rate', label: 'rate', unit: 'msg/s', class: 'num roomy', cell: (row) => (row.rate == null ? '–' : short(row.rate)), sort: (row) => row.rate || 0 },
  { name: 'bytes', label: 'memory', class: 'num roomy ample', cell: (row) => bytes(row.bytes), sort: (row) => row.bytes },
  { name: 'failures', label: 'failures', unit: 'in all', class: 'num', cell: (row) => (row.failures ? html`<${Tag} kind="bad">${count(row.failures)}<//>` : '0'), sort: (row) => row.failures },
];

/* Members of a behavior that no column shows. */
const uncounted = ['handled_about', 'sampled', 'waits', 'mean_ns', 'p50_ns', 'p99_ns', 'longest_ns', 'histogram', 'at_least_ms', 'oldest', 'fullest', 'queued_bytes'];

function Overview({ params }) {
  const answer = useAnswer('behaviors', {}, 6000, foldRates);
  const text = params.get('q') || '';
  const all = (answer.ok && answer.ok.behaviors) || [];
  const rows = text ? all.filter((row) => (row.behavior + row.file).toLowerCase().includes(text.toLowerCase())) : all;
  const most = Math.max(1, ...all.map((row) => row.live));
  const columns = useMemo(() => behaviorColumns(most), [most]);
  return html`<${Panel} title="Actors by behavior" extra=${html`<a href=${link('tree', [], { all: 1 })}>all actors</a>
      <${Search} value=${text} onChange=${(q) => tune({ q })} label="Filter behaviors (f)" /><${Age} at=${answer.at} every=${6000} />`}>
    <${Problem} error=${answer.error} />
    ${rows.length > 0 && html`<${Treemap} rows=${rows} />
      <p class="legend">A larger box has more memory, a longer line a higher rate. Fullest mailbox: <span><i class="calm"></i>below 50 messages</span> <span><i class="some"></i>50 and more</span> <span><i class="deep"></i>1,000 and more</span> <span><i class="failed"></i>has failed</span> <span><i class="held"></i>suspended or stopping</span></p>`}
    ${answer.ok && html`<${Table} columns=${columns} unseen=${uncounted} rows=${rows} id=${(row) => row.behavior + row.file + row.line} order=${['live', true]}
      onPick=${(row) => go(link('tree', [], { behavior: row.behavior }))} empty="No behavior has this name." />
      ${answer.ok.more && html`<p class="more">There are more behaviors than are counted.</p>`}`}
  <//>`;
}

/* ---- Lists. ---- */

export const actorColumns = [
  { name: 'path', label: 'actor', class: 'wide-2', cell: (row) => html`<${Path} path=${row.path} />`, sort: (row) => row.path },
  { name: 'behavior', label: 'behavior', class: 'roomy', cell: (row) => row.behavior, sort: (row) => row.behavior || '' },
  { name: 'state', label: 'state', cell: (row) => html`<${State} row=${row} />`, sort: (row) => row.state },
  { name: 'queued', label: 'queued', unit: 'messages', class: 'num', cell: (row) => html`<${Bar} part=${row.queued / (row.queued_max || 1)} text=${count(row.queued)} />`, sort: (row) => row.queued },
  { name: 'bytes', label: 'queued', unit: 'size', class: 'num roomy', cell: (row) => bytes(row.queued_bytes), sort: (row) => row.queued_bytes },
  { name: 'children', label: 'children', unit: 'actors', class: 'num', cell: (row) => count(row.children), sort: (row) => row.children },
  { name: 'worker', label: 'worker', unit: 'number', class: 'num roomy', cell: (row) => (row.worker < 0 ? '–' : row.worker), sort: (row) => row.worker },
];

/** Pages of a list: [after, bar(answer)], where the bar has the buttons. */
export function usePages(key, first = 0) {
  const [state, change] = useState({ key, stack: [first] });
  const stack = state.key === key ? state.stack : [first];
  const bar = (answer, shown, total) => {
    const next = answer.ok && answer.ok.more && answer.ok.next;
    if (stack.length === 1 && !(answer.ok && answer.ok.more)) return null;
    return html`<p class="more">Page ${stack.length}, ${plural(shown, 'row')}${total ? ` of ${count(total)}` : ''}${answer.ok && answer.ok.more ? '; there are more' : ''}
      <button class="small" disabled=${stack.length === 1} onClick=${() => change({ key, stack: stack.slice(0, -1) })}>← Page before</button>
      <button class="small" disabled=${!next} onClick=${() => change({ key, stack: [...stack, next] })}>Next page →</button></p>`;
  };
  return [stack[stack.length - 1], bar];
}

export function Rows({ args, every = 2000, tall, empty }) {
  const [after, bar] = usePages(JSON.stringify(args));
  const answer = useAnswer('ls', { ...args, after, limit: PAGE }, every);
  const rows = answer.parts || [];
  return html`<${Problem} error=${answer.error} />
    ${answer.ok && html`<${Table} tall=${tall} columns=${actorColumns} rows=${rows} id=${(row) => row.ref} onPick=${(row) => go(actorLink(row.path))}
      empty=${answer.ok.more ? 'None on this page.' : empty || 'There is no such actor now.'} />
      ${bar(answer, rows.length)}`}
    <${Age} at=${answer.at} every=${every} />`;
}

function List({ params }) {
  const behavior = params.get('behavior') || undefined;
  const state = params.get('state') || undefined;
  const text = params.get('q') || undefined;
  return html`<${Panel} class="list" title=${html`<a href=${link('tree')} data-up>Tree</a> / ${behavior || 'all actors'}`} extra=${html`
      <select aria-label="state" value=${state || ''} onChange=${(event) => tune({ state: event.target.value })}>
        <option value="">any state</option>${['Starting', 'Running', 'Suspended', 'Stopping'].map((name) => html`<option key=${name}>${name}</option>`)}</select>
      <${Search} value=${text} onChange=${(q) => tune({ q })} label="Part of the path (f)" />`}>
    <${Rows} tall args=${{ behavior, state, text }} />
  <//>`;
}

/* ---- Who started whom. ---- */

const MEMBERS = 20; /* actors of a group that are shown one by one */

/* When what is unfolded was read: the oldest of all. */
const reads = new Set();
const oldest = { get ms() { return reads.size && Math.min(...[...reads].map((read) => read.ms)); } };
const useRead = (at) => useEffect(() => {
  if (!at) return undefined;
  reads.add(at);
  return () => reads.delete(at);
}, [at]);

const indent = (depth) => ({ paddingLeft: 10 + depth * 18 + 'px' });

function Twig({ path, depth, row }) {
  const [isOpen, toggle] = useState(depth < 3 && (!row || row.count === 1));
  const single = row && row.count === 1;
  const below = row ? row.below : 0;
  const canOpen = !row || !single || below > 1;
  return html`<li>
    <div class="twig" style=${indent(depth)}>
      ${canOpen ? html`<button class="json-fold" aria-expanded=${isOpen} aria-label=${isOpen ? 'fold' : 'unfold'} onClick=${() => toggle(!isOpen)}>${isOpen ? '▾' : '▸'}</button>` : html`<i class="leaf"></i>`}
      ${!row ? html`<${Path} path=${path} />`
        : single ? html`<a class="path" href=${actorLink(row.first)} title=${row.first}>${row.first.slice(row.first.lastIndexOf('/') + 1)}</a>`
          : html`<a href=${link('tree', path.split('/').slice(1), { group: row.behavior })}><b>${short(row.count)} ×</b> ${row.behavior}</a>`}
      ${row && single && row.behavior && html`<span class="muted">${row.behavior}</span>`}
      <span class="twig-end">
        ${row && row.suspended > 0 && html`<${Tag} kind="held">${count(row.suspended)} suspended<//>`}
        ${row && row.stopping > 0 && html`<${Tag} kind="held">${count(row.stopping)} stopping<//>`}
        ${row && row.queued > 0 && html`<${Tag} kind=${row.queued_most >= 1000 ? 'bad' : 'note'}>${short(row.queued)} queued<//>`}
        ${row && below > row.count && html`<span class="muted">${short(below)} actors</span>`}</span>
    </div>
    ${isOpen && canOpen && (row && !single ? html`<${Members} path=${path} depth=${depth + 1} row=${row} />` : html`<${Branch} path=${row ? row.first : path} depth=${depth + 1} />`)}
  </li>`;
}

/* The first actors of a group; the rest is a list in pages. */
function Members({ path, depth, row }) {
  const answer = useAnswer('ls', { path, behavior: row.behavior, direct: true, limit: MEMBERS }, 8000);
  useRead(answer.ok && answer.at);
  if (answer.error) return html`<li><${Problem} error=${answer.error} /></li>`;
  if (!answer.ok) return null;
  return html`<ul>${answer.parts.map((one) => html`<${Twig} key=${one.ref} path=${path} depth=${depth}
      row=${{ count: 1, first: one.path, behavior: '', below: 1 + one.children, queued: one.queued, queued_most: one.queued, suspended: one.state === 'Suspended', stopping: one.state === 'Stopping' }} />`)}
    ${answer.ok.more && html`<li class="twig" style=${indent(depth)}><a class="muted" href=${link('tree', path.split('/').slice(1), { group: row.behavior })}>and ${plural(row.count - answer.parts.length, 'more actor')}, in pages</a></li>`}</ul>`;
}

function Branch({ path, depth }) {
  const answer = useAnswer('tree', { path }, depth > 2 ? 12000 : 6000);
  useRead(answer.ok && answer.at);
  if (answer.error) return html`<${Problem} error=${answer.error} />`;
  if (!answer.ok) return null;
  const groups = answer.ok.groups;
  return html`<ul>${groups.map((row) => html`<${Twig} key=${row.behavior + row.file + row.line} path=${answer.ok.path} depth=${depth} row=${row} />`)}
    ${answer.ok.more && html`<li class="muted" style=${indent(depth)}>More groups than are shown.</li>`}
    ${!groups.length && depth === 0 && html`<li class="empty">Nothing is below ${path}.</li>`}</ul>`;
}

const Outline = () => html`<${Panel} class="outline" title="Who started whom" extra=${html`<span class="muted">children by behavior</span><${Age} at=${oldest} every=${8000} />`}>
  <${Needs} verb="tree" what="the supervision tree"><ul class="tree"><${Twig} path="/user" depth=${0} /></ul><//><//>`;

export function Tree({ route }) {
  const phase = useValue('phase');
  const path = route.rest.length ? '/' + route.rest.join('/') : null;
  if (path) return html`<${Actor} key=${path} path=${path} params=${route.params} />`;
  if (route.params.get('behavior') || route.params.get('state') || route.params.get('all')) return html`<${List} params=${route.params} />`;
  return html`<div class="columns tree-columns"><div><${Needs} verb="behaviors" what="actors by behavior" phase=${phase}><${Overview} params=${route.params} /><//></div>
    <div><${Outline} /></div></div>`;
}
