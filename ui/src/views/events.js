/* SPDX-License-Identifier: Apache-2.0 */
/* Events of a durable actor as a time line, with the state after each. */
import { useState } from 'preact/hooks';
import { Age, Empty, html, Json, Problem, Table, Tag } from '../parts.js';
import { useAnswer } from '../poll.js';
import { bytes, count, plural } from '../format.js';

const PAGE = 100;
const text = (value) => JSON.stringify(value, (name, item) => (typeof item === 'bigint' ? String(item) : item));

/* The members that differ, by path. */
function changes(before, after, path = '', found = []) {
  if (found.length > 50 || text(before) === text(after)) return found;
  const both = (value) => value !== null && typeof value === 'object';
  if (!both(before) || !both(after)) {
    found.push([path || 'the state', before, after]);
    return found;
  }
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) changes(before[name], after[name], path ? path + '.' + name : name, found);
  return found;
}

const Value = ({ is }) => html`<code class="line">${is === undefined ? '–' : text(is)}</code>`;

export function Events({ kind, name, number }) {
  const [from, move] = useState(Math.max(0, number - PAGE));
  const answer = useAnswer('durable events', { kind, key: name, after: from, limit: PAGE }, 0);
  const [picked, pick] = useState(null);
  const rows = answer.parts || [];
  const at = Math.max(0, picked == null ? rows.length - 1 : rows.findIndex((row) => row.number === picked));
  const one = rows[at];
  if (!number) return html`<${Empty}>It has no events: its state is stored as a whole.<//>`;
  if (answer.error) return html`<${Problem} error=${answer.error} />`;
  if (!one) return html`<${Empty}>${answer.ok ? 'No events are kept here.' : 'reading …'}<//>`;
  const changed = at > 0 && rows[at - 1].state != null && one.state != null ? changes(rows[at - 1].state, one.state) : [];
  const columns = [
    { name: 'number', label: 'number', class: 'num narrow', cell: (row) => count(row.number) },
    { name: 'event', label: 'event', cell: (row) => html`<b>${row.event}</b>${row.version > 1 ? html` <span class="muted">version ${row.version}</span>` : ''}` },
    { name: 'value', label: 'content', class: 'wide-2', cell: (row) => (row.value_bytes ? html`<span class="muted">${bytes(row.value_bytes)}, not shown</span>` : html`<${Value} is=${row.value} />`) },
  ];
  return html`<div class="pad row"><button class="small" disabled=${from === 0} onClick=${() => { move(Math.max(0, from - PAGE)); pick(null); }}>← Earlier</button>
      <input type="range" class="grow" aria-label="event" min="0" max=${rows.length - 1} value=${at} onInput=${(event) => pick(rows[+event.target.value].number)} />
      <button class="small" disabled=${!answer.ok.more} onClick=${() => { move(from + PAGE); pick(null); }}>Later →</button></div>
    <p class="more">Event ${count(one.number)} of ${count(number)}; ${plural(rows.length, 'event')} are shown. <${Age} at=${answer.at} /></p>
    <div class="columns"><div><${Table} columns=${columns} rows=${rows} id=${(row) => row.number} picked=${one.number} onPick=${(row) => pick(row.number)} /></div>
      <div class="pad"><h3>State after event ${count(one.number)}</h3>
        ${changed.length > 0 && html`<ul class="changed">${changed.map(([path, before, after]) => html`<li key=${path}><${Tag} kind="warn">${path}<//><${Value} is=${before} /> → <${Value} is=${after} /></li>`)}</ul>`}
        ${one.state_bytes ? html`<${Empty}>It is ${bytes(one.state_bytes)} of JSON, which is not shown here.<//>` : one.state == null ? html`<${Empty}>Not known: an event before it cannot be read, or the program cannot apply it.<//>` : html`<${Json} value=${one.state} deep=${4} />`}</div></div>`;
}
