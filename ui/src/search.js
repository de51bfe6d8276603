/* SPDX-License-Identifier: Apache-2.0 */
/* One box for everything that has a name: views, behaviors, actors, durable kinds and keys, causal ids. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { html } from './parts.js';
import { ask, has } from './link.js';
import { actorLink, durableLink, go, link, traceLink } from './route.js';
import { plural } from './format.js';
import { views } from './main.js';

const MOST = 8;

async function quietly(verb, args) {
  if (!has(verb)) return { ok: {}, parts: [] };
  try {
    return await ask(verb, args);
  } catch {
    return { ok: {}, parts: [] };
  }
}

/* An actor by its whole path, or actors below the last parent that is named. */
async function actors(text) {
  const found = await quietly('show', { path: text.replace(/\/+$/, '') });
  const list = found.ok && found.ok.path ? [found.ok] : [];
  const parent = text.slice(0, text.lastIndexOf('/')) || '/user';
  const below = await quietly('ls', { path: parent, text, limit: 4 * MOST });
  for (const row of below.parts) if (row.path.startsWith(text) && row.path !== (list[0] || {}).path) list.push(row);
  return list.slice(0, MOST).map((row) => ({ kind: 'actor', text: row.path, note: row.behavior, to: actorLink(row.path) }));
}

async function keys(kind, prefix) {
  const found = await quietly('durable ls', { kind, key: prefix, limit: MOST });
  return found.parts.map((row) => ({
    kind: 'durable', text: `${row.kind}/${row.key}`, note: row.awake ? 'awake' : 'asleep', to: durableLink(row.kind, row.key),
  }));
}

async function named(text) {
  const low = text.toLowerCase();
  const list = views.filter(([, label]) => label.toLowerCase().startsWith(low)).map(([name, label, , what]) => ({ kind: 'view', text: label, note: what, to: link(name) }));
  const slash = text.indexOf('/');
  if (slash > 0) return [...list, ...(await keys(text.slice(0, slash), text.slice(slash + 1)))];
  const behaviors = ((await quietly('behaviors')).ok.behaviors || []).filter((row) => row.behavior.toLowerCase().includes(low));
  list.push(...behaviors.slice(0, MOST).map((row) => ({
    kind: 'behavior', text: row.behavior, note: plural(row.live, 'actor'), to: link('tree', [], { behavior: row.behavior }),
  })));
  const kinds = (await quietly('durable ls')).parts.filter((row) => row.kind && row.kind.toLowerCase().includes(low));
  list.push(...kinds.slice(0, MOST).map((row) => ({ kind: 'durable', text: row.kind, note: `${plural(row.stored || 0, 'actor')} stored`, to: link('durable', [row.kind]) })));
  const some = (await quietly('ls', { text, limit: MOST })).parts;
  list.push(...some.map((row) => ({ kind: 'actor', text: row.path, note: row.behavior, to: actorLink(row.path) })));
  return list;
}

async function find(text) {
  if (/^[0-9a-f]{16}$/i.test(text)) {
    return [
      { kind: 'trace', text, note: 'what this causal id has led to', to: traceLink(text) },
      { kind: 'log', text, note: 'lines of the log with this causal id', to: link('log', [], { causal: text }) },
    ];
  }
  return text.startsWith('/') ? actors(text) : named(text);
}

export function SearchBox() {
  const [text, type] = useState('');
  const [list, show] = useState(null);
  const [at, move] = useState(0);
  const box = useRef(null);
  const isHasty = useRef(false); /* Enter was pressed before there was a list */
  useEffect(() => {
    if (!text.trim()) {
      show(null);
      return undefined;
    }
    let over = false;
    const timer = setTimeout(async () => {
      const found = await find(text.trim());
      if (over) return;
      show(found);
      move(0);
      if (isHasty.current && found.length) pick(found[0]);
      isHasty.current = false;
    }, 150);
    return () => {
      over = true;
      clearTimeout(timer);
    };
  }, [text]);
  const pick = (entry) => {
    type('');
    box.current.blur();
    go(entry.to);
  };
  const onKey = (event) => {
    if (event.key === 'ArrowDown' && list) move(Math.min(at + 1, list.length - 1));
    else if (event.key === 'ArrowUp') move(Math.max(at - 1, 0));
    else if (event.key === 'Enter' && list && list[at]) pick(list[at]);
    else if (event.key === 'Enter') isHasty.current = !list && !!text.trim();
    else if (event.key === 'Escape') type('');
    else return;
    event.preventDefault();
    if (event.key === 'Escape') box.current.blur();
  };
  return html`<div class="search" role="combobox" aria-expanded=${!!list}>
    <input id="search" ref=${box} type="search" placeholder="Search: /user/…, a behavior, kind/key, a causal id" aria-label="search"
      value=${text} spellcheck=${false} autocomplete="off" onInput=${(event) => { isHasty.current = false; show(null); type(event.target.value); }} onKeyDown=${onKey}
      onBlur=${() => setTimeout(() => show(null), 200)} /><kbd>/</kbd>
    ${list && html`<ul role="listbox">${list.map((entry, i) => html`
      <li key=${entry.kind + entry.to} role="option" aria-selected=${i === at} onMouseDown=${() => pick(entry)}>
        <span class="tag note">${entry.kind}</span><span class="path">${entry.text}</span><span class="muted">${entry.note}</span></li>`)}
      ${!list.length && html`<li class="muted">Nothing has this name. An actor is found by a part of its path (large and small letters differ), a durable actor by kind/key.</li>`}</ul>`}
  </div>`;
}
