/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of the log as they come, the newest first; filtered where they are kept. */
import { Age, Empty, html, Needs, Panel, Path, Problem, Table, Tag } from '../parts.js';
import { useEffect, useRef, useState } from 'preact/hooks';
import { ask, has } from '../link.js';
import { onTick, together } from '../poll.js';
import { get, useValue } from '../store.js';
import { traceLink, tune } from '../route.js';
import { clock, count, date, plural } from '../format.js';
import { Act } from '../acts.js';

const KEPT = 2000;
const levels = ['debug', 'info', 'warn', 'error'];
const colors = { debug: 'quiet', info: 'note', warn: 'warn', error: 'bad' };

const columns = [
  { name: 'when', label: 'when', class: 'narrow', cell: (row) => html`<span class="mono" title=${date(row.unix_ms)}>${clock(row.unix_ms)}</span>` },
  { name: 'level', label: 'level', class: 'slim', cell: (row) => html`<${Tag} kind=${colors[row.level]}>${row.level}<//>` },
  { name: 'path', label: 'actor', class: 'wide-1', cell: (row) => (row.path ? html`<${Path} path=${row.path} />` : html`<span class="muted">the runtime</span>`) },
  { name: 'text', label: 'text', cell: (row) => html`<span class="line" title=${row.text}>${row.text}</span>` },
  { name: 'causal', label: 'causal id', class: 'roomy ample mid', cell: (row) => row.causal && html`<a class="mono" href=${traceLink(row.causal)} title="what it has led to">${row.causal}</a>` },
];

/* Asks for the lines after those that are known. */
function useTail(args) {
  const [state, change] = useState({ lines: [], missed: 0 });
  const phase = useValue('phase');
  const paused = useValue('paused');
  const key = JSON.stringify(args);
  const kept = useRef(null);
  const read = useRef({ ms: 0 });
  useEffect(() => {
    if (phase !== 'open' || !has('log tail')) return undefined;
    if (!kept.current || kept.current.key !== key) kept.current = { key, lines: [], last: 0, missed: 0 };
    let over = false;
    let asking = false;
    let turn = 0;
    const look = async () => {
      if (asking) return;
      asking = true;
      const mine = kept.current;
      try {
        const { ok, parts, at } = await ask('log tail', { ...args, after: mine.last, limit: 500 });
        if (over) return;
        /* What was gone before the page came is not missed by it. */
        mine.missed += mine.last ? ok.missed : 0;
        mine.last = ok.last;
        mine.total = ok.total;
        if (parts.length) mine.lines = [...parts.reverse(), ...mine.lines].slice(0, KEPT);
        /* Asked for each tick, so that few lines are gone before; drawn each second time, because new rows move all others. */
        if (turn++ % 2) return;
        read.current.ms = at;
        together(() => !over && change((before) => (before.at && before.lines === mine.lines && before.missed === mine.missed && before.total === mine.total && !before.error
          ? before : { lines: mine.lines, missed: mine.missed, total: mine.total, at: read.current })));
      } catch (error) {
        if (over || error.status === 'LOST') return;
        change({ lines: mine.lines, missed: mine.missed, error, at: Date.now() });
      } finally {
        asking = false;
      }
    };
    if (!paused) look();
    const stop = paused ? null : onTick(look);
    return () => {
      over = true;
      if (stop) stop();
    };
  }, [key, phase, paused]);
  return state;
}

function Level({ path }) {
  const [level, pick] = useState('info');
  return html`<span class="inline"><select aria-label="level of the program" value=${level} onChange=${(event) => pick(event.target.value)}>${levels.map((name) => html`<option key=${name}>${name}</option>`)}</select>
    <${Act} small verb="log" args=${{ level, path: path || undefined }} label="Set level" title=${`Write lines from ${level} on${path ? ` of ${path}` : ''}`}
      text=${`Lines below ${level} are left out by the program${path ? `, of ${path} and all below it` : ', of all actors without a level of their own'}, until it is set again or the program ends.`} /></span>`;
}

function Tail({ params }) {
  const args = { level: params.get('level') || undefined, path: params.get('path') || undefined, causal: params.get('causal') || undefined, text: params.get('q') || undefined };
  const tail = useTail(args);
  const [picked, pick] = useState(null);
  const one = tail.lines.find((row) => row.number === picked);
  const field = (name, label, size) => html`<input class=${name === 'q' ? 'filter' : ''} type="search" size=${size} aria-label=${label} placeholder=${label} spellcheck=${false}
    value=${params.get(name) || ''} onInput=${(event) => tune({ [name]: event.target.value })} />`;
  return html`<${Panel} title="Log" extra=${html`<${Level} path=${args.path} /><${Age} at=${tail.at} every=${4000} />`}>
    <div class="filters">
      <select aria-label="least level shown" value=${args.level || ''} onChange=${(event) => tune({ level: event.target.value })}><option value="">any level</option>
        ${levels.slice(1).map((name) => html`<option key=${name} value=${name}>${name} and above</option>`)}</select>
      ${field('path', 'Path: it and below', 24)}${field('causal', 'Causal id', 18)}${field('q', 'Text (f)', 20)}</div>
    <${Problem} error=${tail.error} />
    ${tail.missed > 0 && html`<p class="problem"><b>${plural(tail.missed, 'line')}</b> came faster than they were read and are not shown.</p>`}
    ${one && html`<div class="detail"><pre class="wrap">${`${date(one.unix_ms)} ${one.level.toUpperCase()} ${one.path || ''}: ${one.text}`}</pre></div>`}
    ${tail.at && html`<${Table} tall columns=${columns} rows=${tail.lines} id=${(row) => row.number} picked=${picked} onPick=${(row) => pick(row.number === picked ? null : row.number)} empty="No line that is kept fits." />
      <p class="more">${plural(tail.lines.length, 'line')}, the newest first${tail.total ? ` (${count(tail.total)} were written since the start)` : ''}. The page keeps ${count(KEPT)}.</p>`}
  <//>`;
}

export const Log = ({ route }) => {
  useValue('hello');
  if (get('hello') && !has('log tail')) {
    return html`<${Panel} title="Log" extra=${html`<${Level} />`}><${Empty}>This program does not answer <code>log tail</code>: its lines are on its standard error.<//><//>`;
  }
  return html`<${Needs} verb="log tail"><${Tail} params=${route.params} /><//>`;
};
