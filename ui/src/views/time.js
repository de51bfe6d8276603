/* SPDX-License-Identifier: Apache-2.0 */
/* Where time goes: samples by behavior and handler, how long turns take, and the slowest ones. */
import { useMemo } from 'preact/hooks';
import { hierarchy, partition } from 'd3-hierarchy';
import { Age, Bar, Canvas, Empty, html, moment, Needs, Panel, Path, Problem, Search, Table, Tag, tint } from '../parts.js';
import { useAnswer } from '../poll.js';
import { get, useValue } from '../store.js';
import { link, traceLink, tune } from '../route.js';
import { clock, count, ns, percent, plural, short } from '../format.js';

const STEPS = 4; /* that are added up, 8 s each */
const COLUMNS = 60; /* of the heat map */

/* ---- Samples. ---- */

const keyOf = (row) => `${row.behavior}\u0000${row.handler || ''}\u0000${row.message || ''}`;

/* Sums grow since the first look: what was added between two looks goes into a window. */
function foldSamples(before, answer) {
  const sums = new Map(answer.ok.samples.map((row) => [keyOf(row), row]));
  const last = before && before.ok.looks <= answer.ok.looks ? before : null;
  const steps = before ? [...before.steps] : [];
  if (last) {
    const rows = [];
    for (const [key, row] of sums) {
      const added = row.count - (last.sums.get(key) || { count: 0 }).count;
      if (added > 0) rows.push({ ...row, count: added });
    }
    steps.push({ looks: answer.ok.looks - last.ok.looks, left: answer.ok.left_out - last.ok.left_out, rows });
    if (steps.length > STEPS) steps.shift();
  }
  return { ...answer, sums, steps, left: before ? 3 : 0 };
}

/* Asked for each tick, because looks end 3 s after a request; read and drawn each fourth time, with the handlers, to spare the main thread. */
const sparesSamples = (kept) => kept.left-- > 0;

function gather(steps, workers, withIdle) {
  const looks = steps.reduce((sum, step) => sum + step.looks, 0);
  const behaviors = new Map();
  let busy = 0;
  let left = 0;
  for (const step of steps) {
    left += step.left;
    for (const row of step.rows) {
      busy += row.count;
      if (!behaviors.has(row.behavior)) behaviors.set(row.behavior, new Map());
      const list = behaviors.get(row.behavior);
      const name = row.handler || 'set-up or a function';
      const entry = list.get(name) || { name, message: row.message, behavior: row.behavior, count: 0 };
      entry.count += row.count;
      list.set(name, entry);
    }
  }
  const most = Math.max(1, looks * workers, busy);
  const children = [...behaviors].map(([name, list]) => ({ name, children: [...list.values()] }));
  if (withIdle || !busy) children.push({ name: 'idle', idle: true, count: Math.max(0, most - busy) });
  return { data: { name: withIdle ? 'all workers' : 'busy time', children }, looks, busy, most, left };
}

function Flame({ steps, workers, picked, onPick, withIdle }) {
  const { data, looks, busy, most, left } = gather(steps, workers, withIdle);
  const boxes = useMemo(() => {
    const root = hierarchy(data).sum((entry) => entry.count || 0).sort((a, b) => (a.data.idle ? 1 : b.data.idle ? -1 : b.value - a.value));
    return partition().size([1, 3])(root).descendants();
  }, [looks, busy, withIdle]);
  if (!looks) return html`<${Empty}>Looking: the first samples come in 2 seconds.<//>`;
  return html`<div class="flame" role="list">${boxes.map((box) => {
    const share = box.value / most;
    const width = box.x1 - box.x0;
    if (width < 0.0015) return null;
    const style = { left: box.x0 * 100 + '%', width: width * 100 + '%', top: box.depth * 32 + 'px' };
    const of = box.depth === 2 ? `${box.data.name} of ${box.parent.data.name}${box.data.message ? ` (${box.data.message})` : ''}` : box.data.name;
    const kind = box.data.idle ? 'idle' : box.depth === 0 ? 'all' : `hue-${hue(box.depth === 2 ? box.parent.data.name : box.data.name)} deep-${box.depth}`;
    return html`<button role="listitem" key=${of} class=${kind + (width < 0.03 ? ' slim' : '') + (box.depth === 2 && picked === box.data.name ? ' picked' : '')} style=${style}
      title=${`${of}: ${percent(share)} of all workers, ${(share * workers).toFixed(2)} workers busy`}
      onClick=${() => (box.depth === 2 ? onPick(box.parent.data.name, box.data.name) : box.depth === 1 && !box.data.idle && onPick(box.data.name, null))}>
      ${width >= 0.03 && html`${box.data.name} <span>${percent(share)}</span>`}</button>`;
  })}</div>
  <p class="more">${plural(looks, 'look')} at ${plural(workers, 'worker')}, ${count(busy)} found a handler running: ${(busy / Math.max(1, looks)).toFixed(2)} workers busy.
    ${left > 0 && html`<b class="problem-text">${count(left)} samples had no row and are left out.</b>`}</p>`;
}

/* A colour that stays with a name; the six are told apart by colour-blind readers. */
export function hue(name) {
  if (!hues.has(name)) hues.set(name, hues.size % 6);
  return hues.get(name);
}
const hues = new Map();

/* ---- Times of turns. ---- */

function foldHandlers(before, answer) {
  const past = new Map((before ? before.ok.handlers : []).map((row) => [keyOf(row), row]));
  const heat = before ? before.heat : new Map();
  for (const row of answer.ok.handlers) {
    const last = past.get(keyOf(row));
    if (last) {
      if (last.sampled === row.sampled) row.histogram = last.histogram; /* nothing new: its row in the table is not drawn again */
      const list = heat.get(keyOf(row)) || [];
      list.push({ at: answer.at, cells: row.histogram.map((n, i) => n - last.histogram[i]) });
      if (list.length > COLUMNS) list.shift();
      heat.set(keyOf(row), list);
    }
  }
  return { ...answer, heat };
}

/* Dark to bright in steps that are told apart in grey too. */
const ramp = ['--', 'heat-1', 'heat-2', 'heat-3', 'heat-4', 'heat-5'];
const level = (n, most) => (n <= 0 ? 0 : 1 + Math.min(4, Math.floor((Math.log(n + 1) / Math.log(most + 1)) * 4.99)));

function edges({ first_ns: first = 1000, factor = 4 }, number) {
  return Array.from({ length: number }, (_, i) => (i === number - 1 ? '≥ ' + ns(first * factor ** (i - 1)) : '< ' + ns(first * factor ** i)));
}

/* One element with a background of as many stripes as there are numbers: an element for each would be most of the page. */
function Cells({ row, labels }) {
  const most = Math.max(1, ...row.histogram);
  const step = 100 / row.histogram.length;
  const stripes = row.histogram.map((n, i) => {
    const to = `${((i + 1) * step).toFixed(2)}%`;
    return `var(--${n > 0 ? ramp[level(n, most)] : 'cell'}) ${(i * step).toFixed(2)}% calc(${to} - 1px),var(--panel) 0 ${to}`;
  });
  const say = (event) => {
    const i = Math.min(row.histogram.length - 1, Math.floor((event.offsetX / event.currentTarget.clientWidth) * row.histogram.length));
    event.currentTarget.title = `${labels[i]}: about ${plural(row.histogram[i], 'turn')}`;
  };
  return html`<span class="cells" role="img" aria-label="turns by time" onMouseMove=${say} style=${{ backgroundImage: `linear-gradient(90deg,${stripes.join()})` }}></span>`;
}

function Heat({ row, list, ok }) {
  const labels = edges(ok, row.histogram.length);
  const cell = 15;
  const height = labels.length * cell + 18;
  const left = 66;
  const most = Math.max(1, ...list.flatMap((entry) => entry.cells));
  const draw = (context, width) => {
    const step = (width - left) / COLUMNS;
    context.font = '11px system-ui';
    context.textBaseline = 'middle';
    labels.forEach((label, i) => {
      context.fillStyle = tint('muted');
      context.fillText(label, 0, (labels.length - i - 0.5) * cell);
    });
    list.forEach((entry, column) => entry.cells.forEach((n, i) => {
      const x = left + (COLUMNS - list.length + column) * step;
      context.fillStyle = n > 0 ? tint(ramp[level(n, most)]) : tint('cell');
      context.fillRect(x, (labels.length - 1 - i) * cell, Math.max(1, step - 1), cell - 1);
    }));
    context.fillStyle = tint('muted');
    context.fillText('now', width - 24, height - 8);
    if (list.length > 10) context.fillText('-' + ns((list[list.length - 1].at - list[0].at) * 1e6), left + (COLUMNS - list.length) * step, height - 8);
  };
  return html`<${Canvas} draw=${draw} height=${height} data=${list.length && list[list.length - 1].at} label=${`how long turns of ${row.handler} took, over time`} />
    <p class="legend">turns that were timed: <i class="h1"></i>few <i class="h3"></i><i class="h5"></i>many, up to ${count(most)} in a column</p>`;
}

/* How many workers a handler keeps busy, from the samples. */
function busyOf(steps) {
  const looks = Math.max(1, (steps || []).reduce((sum, step) => sum + step.looks, 0));
  const found = new Map();
  for (const step of steps || []) for (const row of step.rows) found.set(keyOf(row), (found.get(keyOf(row)) || 0) + row.count / looks);
  return found;
}

const unknown = Array(12).fill(0); /* the same each time: its row is not drawn again */

/* Handlers that a look has found running and of which no turn has been timed yet. */
function untimed(timed, steps, ok) {
  if (!ok) return [];
  const known = new Set(timed.map(keyOf));
  const found = new Map();
  for (const step of steps || []) for (const row of step.rows) if (row.handler && !known.has(keyOf(row))) found.set(keyOf(row), row);
  return [...found.values()].map(({ behavior, handler, message }) => ({ behavior, handler, message, sampled: 0, p50_ns: null, p99_ns: null, longest_ns: null, failed: 0, histogram: unknown }));
}

/* Members of a handler that no column shows. */
const uncounted = ['handled_about', 'waits', 'mean_ns'];

function Handlers({ params, steps }) {
  const answer = useAnswer('handlers', {}, 8000, foldHandlers);
  const picked = params.get('handler');
  const behavior = params.get('behavior');
  const text = (params.get('q') || '').toLowerCase();
  const busy = busyOf(steps);
  const timed = (answer.ok && answer.ok.handlers) || [];
  const most = Math.max(1e-9, ...busy.values());
  const rows = [...timed, ...untimed(timed, steps, answer.ok)].map((row) => {
    const part = busy.get(keyOf(row)) || 0;
    return { ...row, busy: Math.round(1000 * part) / 1000, part: Math.round((100 * part) / most) / 100 };
  });
  const one = rows.find((row) => row.handler === picked && (!behavior || row.behavior === behavior));
  const number = rows.length ? rows[0].histogram.length : 0;
  const labels = useMemo(() => (number ? edges(answer.ok, number) : []), [number]);
  const shown = rows.filter((row) => (!behavior || picked || row.behavior === behavior) && (!text || `${row.handler} ${row.behavior} ${row.message}`.toLowerCase().includes(text)));
  const columns = useMemo(() => [
    { name: 'handler', label: 'handler', class: 'wide-1', cell: (row) => html`<i class=${'swatch hue-' + hue(row.behavior)}></i><b title=${`${row.handler} of ${row.behavior}`}>${row.handler}</b> <span class="muted">${row.behavior}</span>`, sort: (row) => row.handler },
    { name: 'message', label: 'message', class: 'roomy ample', cell: (row) => row.message || 'any', sort: (row) => row.message || '' },
    { name: 'cost', label: 'busy', unit: 'of one worker', class: 'num', cell: (row) => html`<${Bar} part=${row.part} text=${percent(row.busy)} />`, sort: (row) => row.busy },
    { name: 'timed', label: 'timed', unit: 'turns', class: 'num roomy ample', cell: (row) => count(row.sampled), sort: (row) => row.sampled },
    { name: 'p50', label: 'half', unit: 'below about', class: 'num roomy', cell: (row) => ns(row.p50_ns), sort: (row) => row.p50_ns },
    { name: 'p99', label: '99 %', unit: 'below about', class: 'num', cell: (row) => ns(row.p99_ns), sort: (row) => row.p99_ns },
    { name: 'longest', label: 'longest', class: 'num', cell: (row) => ns(row.longest_ns), sort: (row) => row.longest_ns },
    { name: 'failed', label: 'failed', unit: 'in all', class: 'num roomy', cell: (row) => (row.failed ? html`<${Tag} kind="bad">${count(row.failed)}<//>` : '0'), sort: (row) => row.failed },
    { name: 'cells', label: 'turns by time', unit: labels.length ? `${labels[0].slice(2)} … ${labels[labels.length - 1].slice(2)}` : '', class: 'heat', cell: (row) => html`<${Cells} row=${row} labels=${labels} />` },
  ], [labels]);
  return html`
    ${one && html`<${Panel} title=${html`<b>${one.handler}</b> of ${one.behavior}, over time`} extra=${html`<a class="button" href=${link('tree', [], { behavior: one.behavior })}>Actors</a>
        <button class="small" onClick=${() => tune({ handler: '', behavior: '' })}>Close</button>`}><${Heat} row=${one} list=${answer.heat.get(keyOf(one)) || []} ok=${answer.ok} /><//>`}
    <${Panel} title=${behavior && !picked ? `Handlers of ${behavior}` : 'Handlers'} extra=${html`<span class="muted">from a sample of turns</span><${Search} value=${params.get('q')} onChange=${(q) => tune({ q })} label="Handler or behavior (f)" />
        ${behavior && !picked && html`<button class="small" onClick=${() => tune({ behavior: '' })}>All</button>`}<${Age} at=${answer.at} every=${8000} />`}>
      <${Problem} error=${answer.error} />
      ${answer.ok && html`<${Table} columns=${columns} unseen=${uncounted} rows=${shown} id=${keyOf} order=${['cost', true]} picked=${one && keyOf(one)} onPick=${(row) => tune({ handler: row.handler, behavior: row.behavior })}
        empty=${text ? 'No handler has this name.' : 'No turn has been timed yet: times are taken while somebody looks.'} />`}
    <//>`;
}

/* ---- The slowest. ---- */

const slowColumns = [
  { name: 'took', label: 'took', class: 'num', cell: (row) => html`<b>${ns(row.took_ns)}</b>`, sort: (row) => row.took_ns },
  { name: 'handler', label: 'handler', cell: (row) => html`${row.handler} <span class="muted">${row.behavior}</span>`, sort: (row) => row.handler },
  { name: 'message', label: 'message', class: 'roomy', cell: (row) => row.message, sort: (row) => row.message || '' },
  { name: 'path', label: 'actor', cell: (row) => html`<${Path} path=${row.path} />`, sort: (row) => row.path },
  { name: 'when', label: 'when', class: 'roomy narrow', cell: (row) => html`<span class="mono">${clock(row.unix_ms)}</span>`, sort: (row) => row.unix_ms },
  { name: 'causal', label: 'causal id', class: 'roomy', cell: (row) => row.causal && html`<a class="mono" title="lines of the log with this id" href=${link('log', [], { causal: row.causal })}>${row.causal}</a>` },
  { name: 'tree', label: 'led to', class: 'narrow', cell: (row) => (row.causal ? html`<a title=${row.followed ? 'what this turn has led to, turn by turn' : 'it was not followed: only those turns of this id are known that are among the slowest'} href=${traceLink(row.causal)}>${row.followed ? 'tree' : 'no tree'}</a>` : html`<span class="muted">no tree</span>`) },
  { name: 'follow', label: '', class: 'narrow end roomy', cell: (row) => row.path && html`<a title="follow the next messages of this actor, from turn to turn; the slowest ones stay" href=${link('trace', [], { path: row.path, order: 'slow' })}>follow it</a>` },
];

function Slow() {
  /* Below the screen it is not read. It is asked for all the same, because that is what follows slow turns. */
  const answer = useAnswer('slow', { limit: 64, follow: true }, 4000, null, () => document.getElementById('slow').getBoundingClientRect().top > innerHeight);
  return html`<${Panel} title="Slowest turns" id="slow" extra=${html`<span class="muted">of those that were timed in the last minute; new ones are followed</span><${Age} at=${answer.at} every=${4000} />`}>
    <${Needs} verb="slow" what="the slowest turns"><${Problem} error=${answer.error} />
      ${answer.ok && html`<${Table} columns=${slowColumns} rows=${answer.parts} unseen=${moment} id=${(row) => row.number} empty="No turn has been timed yet." />`}<//><//>`;
}

const slowest = html`<${Slow} />`; /* one element, which is drawn by its own answers only */

function Workers() {
  const head = useValue('head');
  if (!head) return null;
  return html`<p class="more">Workers: <${Age} at=${head.at} every=${2000} /></p><div class="workers">${head.workers.map((row) => html`<div key=${row.worker} class=${row.for_ms >= 100 ? 'bad' : row.running ? 'busy' : ''}>
    <b>worker ${row.worker}</b><span class="line">${!row.open ? 'closed' : row.running ? html`${row.handler || 'a function'} of <${Path} path=${row.path} />` : 'idle'}</span>
    <span class="muted">${row.for_ms >= 20 ? html`<${Tag} kind="bad">for ${ns(row.for_ms * 1e6)}<//>` : `${short(row.handled)} handled, ${count(row.ready)} ready`}</span></div>`)}</div>`;
}

export function Time({ route }) {
  const answer = useAnswer('samples', {}, 2000, foldSamples, sparesSamples);
  const workers = (get('hello') || {}).workers || 1;
  const withIdle = !!route.params.get('idle');
  /* Drawn by their own answers, and when the flame is. */
  const below = useMemo(() => html`<${Needs} verb="handlers" what="times of handlers"><${Handlers} params=${route.params} steps=${answer.steps} /><//>
    ${slowest}`, [route, answer.steps]);
  return html`<${Panel} title="What workers run" extra=${html`<label class="check"><input type="checkbox" checked=${withIdle} onChange=${() => tune({ idle: withIdle ? '' : '1' })} />with idle time</label><span class="muted">the last 32 s, a look each 2 ms</span><${Age} at=${answer.at} every=${8000} />`}>
      <${Needs} verb="samples" what="the flame of samples"><${Problem} error=${answer.error} />
        ${answer.steps && html`<${Flame} steps=${answer.steps} workers=${workers} withIdle=${withIdle} picked=${route.params.get('handler')} onPick=${(behavior, handler) => tune({ behavior, handler })} />`}<//>
      <${Workers} />
    <//>
    ${below}`;
}
