/* SPDX-License-Identifier: Apache-2.0 */
/* A message followed from turn to turn, and which behaviors send to which. It has a connection of its own: the program
 * follows until that ends. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Age, Bar, Empty, html, Needs, Panel, Path, Problem, Table, Tag } from '../parts.js';
import { open } from '../link.js';
import { TICK_MS, useAnswer, useApart } from '../poll.js';
import { useValue } from '../store.js';
import { go, link, tune } from '../route.js';
import { clock, count, cut, ms, ns, plural, rate } from '../format.js';
import { hue } from './time.js';

const KEPT = 4000; /* records */
const FROM_NOW = 18446744073709551615n;

/* ---- Reading. ---- */

function useRecords(args, runs) {
  const [state, change] = useState({ records: [], missed: 0 });
  const phase = useValue('phase');
  const read = useRef({ ms: 0 });
  const key = JSON.stringify(args);
  useEffect(() => {
    if (!runs || phase !== 'open') return undefined;
    let over = false;
    let timer = 0;
    const channel = open({ close: () => !over && change((before) => ({ ...before, ended: true })) });
    const kept = { records: [], missed: 0, last: args.path ? FROM_NOW : 0 };
    change({ records: [], missed: 0 });
    const look = async () => {
      try {
        const { ok, parts, at } = await channel.ask('trace', { ...args, after: kept.last, limit: 400 });
        if (over) return;
        /* The first look at an actor only says from where on: what was recorded for others before is not of it. */
        if (kept.last !== FROM_NOW) {
          kept.records = parts.length ? [...kept.records, ...parts].slice(-KEPT) : kept.records;
          if (kept.last) kept.missed += ok.missed; /* what was replaced before the first look was not missed by it */
        }
        kept.last = ok.last;
        read.current.ms = at;
        kept.base ??= ok.given_up;
        const found = { records: kept.records, missed: kept.missed, given: ok.given_up - kept.base, cut: !!ok.cut };
        change((before) => (before.at && Object.keys(found).every((name) => before[name] === found[name]) ? before
          : { ...found, at: read.current, base: ok.unix_ms - ok.now_ns / 1e6 }));
        timer = setTimeout(look, ok.more ? 20 : TICK_MS / 2);
      } catch (error) {
        if (!over) change((before) => ({ ...before, error }));
      }
    };
    look();
    return () => {
      over = true;
      clearTimeout(timer);
      channel.close();
    };
  }, [key, runs, phase]);
  return state;
}

/* Finds the turn that sent the message of a turn: the first such message that no other turn has. */
function linkTurn(turn, sent, begun) {
  const found = sent.find((record) => !record.turnOf && !record.status && record.other === turn.ref && record.message === turn.message && record.time_ns <= turn.begin);
  if (found) {
    found.turnOf = turn;
    turn.above = found.turn;
    turn.waited = turn.begin - found.time_ns;
    return;
  }
  /* A timer: its actor has set it in an earlier turn with this id. */
  const setter = turn.kind === 'timer' && begun.filter((other) => other.ref === turn.ref && other.begin < turn.begin).pop();
  if (setter) turn.above = setter.turn;
}

function chainOf(causal, records) {
  const order = records.map((record) => ({ ...record })).sort((a, b) => a.time_ns - b.time_ns || a.number - b.number);
  const turns = new Map();
  const sent = order.filter((record) => record.what === 'sent');
  for (const record of order) {
    if (record.what === 'began') turns.set(record.turn, { ...record, begin: record.time_ns, end: null, sent: [], spawned: 0, above: null });
    const turn = turns.get(record.turn);
    if (!turn) continue;
    if (record.what === 'ended') Object.assign(turn, { end: record.time_ns, status: record.status });
    else if (record.what === 'sent') turn.sent.push(record);
    else if (record.what === 'spawned') turn.spawned += record.count || 1;
  }
  const list = [...turns.values()];
  for (const turn of list) linkTurn(turn, sent, list);
  return { causal, turns: list, known: turns, begin: order[0].time_ns, end: order[order.length - 1].time_ns };
}

/* The newest messages first. Only the chains that changed are made again. */
function chainsOf(records, made) {
  const groups = new Map();
  for (const record of records) {
    /* A message of a timer may have no causal id: then each turn stands alone. */
    const key = Number('0x' + record.causal) ? record.causal : 'turn ' + record.turn;
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(record);
  }
  const newest = [...groups].slice(-50).reverse();
  return {
    total: groups.size,
    list: newest.map(([causal, list]) => {
      const last = list[list.length - 1].number;
      const before = made.get(causal);
      if (before && before.last === last && before.length === list.length) return before.chain;
      const chain = chainOf(causal, list);
      made.set(causal, { last, length: list.length, chain });
      return chain;
    }),
  };
}

const SLOWEST = 12;
const spanOf = (chain) => chain.end - chain.begin;

/* The messages whose turns took longest in all since the actor is followed, also when their records are gone. */
function slowestOf(chains, before) {
  const best = new Map(before.map((chain) => [chain.causal, chain]));
  for (const chain of chains) {
    const last = best.get(chain.causal);
    if (!last || chain.turns.length >= last.turns.length) best.set(chain.causal, chain);
  }
  return [...best.values()].sort((a, b) => spanOf(b) - spanOf(a)).slice(0, SLOWEST);
}

/* Turns in the order of a tree, with their depth. */
function rowsOf(chain) {
  const below = new Map();
  for (const turn of chain.turns) {
    const above = chain.known.has(turn.above) ? turn.above : null;
    below.set(above, [...(below.get(above) || []), turn]);
  }
  const rows = [];
  const walk = (list, depth) => {
    for (const turn of list || []) {
      rows.push({ ...turn, depth });
      if (depth < 60) walk(below.get(turn.turn), depth + 1);
    }
  };
  walk(below.get(null), 0);
  return rows;
}

/* ---- One message. ---- */

function Chain({ chain, base, at }) {
  const rows = rowsOf(chain);
  const span = Math.max(1, chain.end - chain.begin);
  const columns = [
    { name: 'turn', label: 'turn', class: 'wide-2', cell: (row) => html`<span class="hop" style=${{ paddingLeft: row.depth * 16 + 'px' }}>${row.depth > 0 && html`<i>└</i>`}<i class=${'swatch hue-' + hue(row.behavior)}></i>
      <b>${row.message || row.handler}</b> <span class="muted">${row.kind}</span> <${Path} path=${row.path} /></span>` },
    { name: 'when', label: 'when', unit: 'wait, turn', class: 'fall', cell: (row) => {
      const at = (time) => ((time - chain.begin) / span) * 100;
      const waited = row.waited || 0;
      return html`<span class="fall-row"><i class="wait" style=${{ left: at(row.begin - waited) + '%', width: (waited / span) * 100 + '%' }}></i>
        <i class=${'hue-' + hue(row.behavior)} style=${{ left: at(row.begin) + '%', width: Math.max(0.4, (((row.end || chain.end) - row.begin) / span) * 100) + '%' }}></i></span>`;
    } },
    { name: 'at', label: 'begins', class: 'num roomy', cell: (row) => '+' + ns(row.begin - chain.begin) },
    { name: 'waited', label: 'waited', class: 'num roomy', cell: (row) => (row.waited == null ? '–' : ns(row.waited)) },
    { name: 'took', label: 'took', class: 'num', cell: (row) => (row.end ? ns(row.end - row.begin) : html`<${Tag} kind="held">runs<//>`) },
    { name: 'led', label: 'led to', unit: 'msg, actors', class: 'num roomy ample', cell: (row) => `${row.sent.length}, ${row.spawned}` },
  ];
  return html`<${Panel} title=${/^turn/.test(chain.causal) ? 'A turn without a causal id' : html`causal id <code>${chain.causal}</code>`} extra=${html`<span class="muted">${clock(base + chain.begin / 1e6)}, ${plural(chain.turns.length, 'turn')}, ${ns(span)} in all</span><${Age} at=${at} />
      ${!/^turn/.test(chain.causal) && html`<a class="button" href=${link('log', [], { causal: chain.causal })}>Log</a>`}`}>
    <${Table} columns=${columns} rows=${rows} id=${(row) => row.turn} empty="No turn of it has been recorded." />
    ${rows.some((row) => row.status && row.status !== 'TR_OK') && html`<p class="problem">${rows.filter((row) => row.status && row.status !== 'TR_OK').map((row) => `${row.path}: ${row.status}`).join('; ')}</p>`}
  <//>`;
}

/* What is known of an id that nobody has followed: those of its turns that are among the slowest, in their order. */
function Known({ causal }) {
  const answer = useAnswer('slow', { limit: 64 }, 4000);
  const rows = (answer.parts || []).filter((row) => row.causal === causal).map((row) => ({ ...row, begin: row.unix_ms - row.took_ns / 1e6 })).sort((a, b) => a.begin - b.begin);
  const columns = [
    { name: 'turn', label: 'turn', class: 'wide-2', cell: (row) => html`<i class=${'swatch hue-' + hue(row.behavior)}></i> <b>${row.message || row.handler}</b> <${Path} path=${row.path} />` },
    { name: 'at', label: 'begins', class: 'num', cell: (row) => '+' + ms(Math.round(row.begin - rows[0].begin)) },
    { name: 'took', label: 'took', class: 'num', cell: (row) => ns(row.took_ns) },
  ];
  return html`<${Panel} title=${html`causal id <code>${causal}</code>`} extra=${html`<a class="button" href=${link('log', [], { causal })}>Log</a><${Age} at=${answer.at} every=${4000} />`}>
    ${rows.length > 0 && html`<${Table} columns=${columns} rows=${rows} id=${(row) => row.number} />`}
    <p class="more">${rows.length ? 'These of its turns are among the slowest of the last minute. ' : ''}Nothing else is recorded of this id: turns are recorded while somebody follows.</p><//>`;
}

/* ---- Flow. ---- */

function edgesOf(records) {
  const nameOf = new Map();
  const edges = new Map();
  let first = Infinity;
  let last = 0;
  for (const record of records) {
    if (record.behavior) nameOf.set(record.ref, record.behavior);
    first = Math.min(first, record.time_ns);
    last = Math.max(last, record.time_ns);
  }
  for (const record of records) {
    if (record.what !== 'sent') continue;
    const from = nameOf.get(record.ref) || '?';
    const to = nameOf.get(record.other) || (record.other_path || 'elsewhere').split('/').slice(0, 3).join('/');
    const key = from + '\u0000' + to;
    const edge = edges.get(key) || { from, to, count: 0, messages: new Map() };
    edge.count++;
    edge.messages.set(record.message, (edge.messages.get(record.message) || 0) + 1);
    edges.set(key, edge);
  }
  return { edges: [...edges.values()].sort((a, b) => b.count - a.count), seconds: Math.max(0.5, (last - first) / 1e9) };
}

/* ---- Flow of the whole program. ---- */

const outsiders = { outside: 'outside', gone: 'actors that have ended', timer: 'timers', channel: 'connections' };
const FLOW_LOOKS = 5; /* looks that are added up */

/* Sums of sampled turns grow: what was added between two looks has a share in what its worker has handled in between. */
function foldFlow(before, answer) {
  const sums = new Map();
  for (const row of answer.parts) sums.set([row.worker, row.origin, row.from, row.to, row.message].join('\u0000'), row);
  const steps = before ? before.steps.slice(1 - FLOW_LOOKS) : [];
  if (before) {
    const per = answer.ok.workers.map((worker, i) => {
      const last = before.ok.workers[i];
      const weight = worker.weight - last.weight;
      return weight > 0 ? (worker.handled - last.handled) / weight : 0;
    });
    const rows = [];
    let looks = 0;
    for (const [key, row] of sums) {
      const added = row.weight - ((before.sums.get(key) || {}).weight || 0);
      if (added <= 0) continue;
      looks += added;
      rows.push({ from: row.from || outsiders[row.origin], isActor: row.origin === 'actor', to: row.to, message: row.message, count: added * per[row.worker] });
    }
    steps.push({ rows, looks, seconds: (answer.at - before.at) / 1000 });
  }
  return { ...answer, sums, steps };
}

function programEdges(steps) {
  const edges = new Map();
  const seconds = steps.reduce((sum, step) => sum + step.seconds, 0) || 1;
  for (const step of steps) {
    for (const row of step.rows) {
      const key = row.from + '\u0000' + row.to;
      const edge = edges.get(key) || { from: row.from, to: row.to, isOutside: !row.isActor, count: 0, messages: new Map() };
      edge.count += row.count;
      edge.messages.set(row.message, (edge.messages.get(row.message) || 0) + row.count);
      edges.set(key, edge);
    }
  }
  return { edges: [...edges.values()].sort((a, b) => b.count - a.count), seconds };
}

function ProgramFlow() {
  const found = useApart('flow', {}, TICK_MS, foldFlow);
  const { edges, seconds } = useMemo(() => programEdges(found.steps || []), [found]);
  const left = found.ok ? found.ok.workers.reduce((sum, row) => sum + row.left_out, 0) : 0;
  return html`<${Panel} title="Flow between behaviors, of the whole program" extra=${html`<span class="muted">the last ${FLOW_LOOKS * TICK_MS / 1000} s, from samples</span><${Age} at=${found.at} every=${TICK_MS} />`}>
    <${Problem} error=${found.error} />
    ${!found.steps || found.steps.length < 1 ? html`<${Empty}>Looking: the first rates come in ${plural(TICK_MS / 1000 * 2, 'second')}.<//>`
      : html`<${Graph} edges=${edges} seconds=${seconds} />
        <p class="more">${edges.length > SHOWN ? `The ${SHOWN} strongest of ${count(edges.length)} flows are drawn. ` : ''}Rates are estimates, from a sample of the turns of each worker.
          ${left > 0 && html` <b class="problem-text">Samples of more than 512 flows of a worker are left out.</b>`}</p>`}
  <//>`;
}

/* ---- The graph. ---- */

const SHOWN = 40;
const BOX = 22;

/* Nodes in columns: each behind those that send to it, as far as there is no circle. */
function layersOf(names, edges, outside) {
  const depth = new Map(names.map((name) => [name, outside.size && !outside.has(name) ? 1 : 0]));
  const ranked = edges.filter((edge) => edge.from !== edge.to);
  const inward = new Map(names.map((name) => [name, 0]));
  const outward = new Map(names.map((name) => [name, 0]));
  for (const edge of ranked) {
    inward.set(edge.to, inward.get(edge.to) + edge.count);
    outward.set(edge.from, outward.get(edge.from) + edge.count);
  }
  /* Those that send more than they get come first; an edge back does not move anything. */
  const rank = (name) => (outside.has(name) ? Infinity : outward.get(name) - inward.get(name));
  const order = names.slice().sort((a, b) => (rank(b) > rank(a) ? 1 : rank(b) < rank(a) ? -1 : 0));
  const place = new Map(order.map((name, i) => [name, i]));
  for (const name of order) {
    for (const edge of ranked) {
      if (edge.from === name && place.get(edge.to) > place.get(name)) depth.set(edge.to, Math.max(depth.get(edge.to), depth.get(name) + 1));
    }
  }
  const layers = [];
  for (const name of order) (layers[Math.min(5, depth.get(name))] ||= []).push(name);
  return layers.filter(Boolean);
}

function Graph({ edges: all, seconds }) {
  const edges = all.slice(0, SHOWN);
  const [picked, pick] = useState(null);
  if (!edges.length) return html`<${Empty}>No message has been seen.<//>`;
  const names = [...new Set(edges.flatMap((edge) => [edge.from, edge.to]))].sort();
  const outside = new Set(all.filter((edge) => edge.isOutside).map((edge) => edge.from));
  const layers = layersOf(names, edges, outside);
  const most = Math.max(...edges.map((edge) => edge.count));
  const wide = 176;
  const tall = Math.max(...layers.map((layer) => layer.length));
  const width = Math.max(560, layers.length * (wide + 84) - 84 + 16);
  const height = tall * 62 + 34;
  const gap = layers.length > 1 ? (width - 16 - wide) / (layers.length - 1) : 0;
  const spots = new Map();
  layers.forEach((layer, i) => layer.forEach((name, j) => spots.set(name, [8 + i * gap, ((j + 0.5) * (height - 30)) / layer.length + 22])));
  const curve = (edge) => {
    const [x1, y1] = spots.get(edge.from);
    const [x2, y2] = spots.get(edge.to);
    if (edge.from === edge.to) return `M${x1 + wide / 2 - 22},${y1 - BOX / 2} C${x1 + wide / 2 - 30},${y1 - 36} ${x1 + wide / 2 + 30},${y1 - 36} ${x1 + wide / 2 + 22},${y1 - BOX / 2 - 3}`;
    if (x2 > x1) return `M${x1 + wide},${y1 - 3} C${x1 + wide + 42},${y1 - 3} ${x2 - 44},${y2 - 3} ${x2 - 4},${y2 - 3}`;
    if (x2 < x1) return `M${x1},${y1 + 4} C${x1 - 42},${y1 + 16} ${x2 + wide + 44},${y2 + 16} ${x2 + wide + 4},${y2 + 4}`;
    return y2 > y1 ? `M${x1 + wide / 2 + 12},${y1 + BOX / 2} C${x1 + wide / 2 + 34},${y1 + 30} ${x2 + wide / 2 + 34},${y2 - 30} ${x2 + wide / 2 + 12},${y2 - BOX / 2 - 4}`
      : `M${x1 + wide / 2 - 12},${y1 - BOX / 2} C${x1 + wide / 2 - 34},${y1 - 30} ${x2 + wide / 2 - 34},${y2 + 30} ${x2 + wide / 2 - 12},${y2 + BOX / 2 + 4}`;
  };
  const say = (edge) => [...edge.messages].sort((a, b) => b[1] - a[1]).map(([name, n]) => `${name} ${rate(n / seconds)}`).join(', ');
  const dim = (edge) => (picked && edge.from !== picked && edge.to !== picked ? ' dim' : '');
  return html`<div class="flow-box"><svg class="flow" viewBox=${`0 0 ${width} ${height}`} style=${{ minWidth: Math.min(width, 720) + 'px', maxWidth: Math.round(width * 1.1) + 'px' }} role="img" aria-label="messages between behaviors">
    <defs><marker id="arrow" viewBox="0 0 8 8" refX="5" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto"><path d="M0,0 L8,4 L0,8 z" /></marker></defs>
    ${edges.map((edge) => html`<path key=${edge.from + '>' + edge.to} class=${'edge' + dim(edge)} d=${curve(edge)} stroke-width=${1 + 4 * Math.sqrt(edge.count / most)} marker-end="url(#arrow)">
      <title>${`${edge.from} → ${edge.to}: ${rate(edge.count / seconds)}; ${say(edge)}`}</title></path>`)}
    ${names.map((name) => {
      const [x, y] = spots.get(name);
      const mine = edges.filter((edge) => edge.to === name);
      const text = mine.length ? rate(mine.reduce((sum, edge) => sum + edge.count, 0) / seconds) : '';
      return html`<g key=${name} class=${'node' + (outside.has(name) ? ' outside' : ' hue-' + hue(name))} tabindex="0" role="button" aria-pressed=${picked === name}
        onClick=${() => pick(picked === name ? null : name)} onKeyDown=${(event) => /^( |Enter)$/.test(event.key) && (event.preventDefault(), pick(picked === name ? null : name))}><title>${name}</title>
        <rect x=${x} y=${y - BOX / 2} width=${wide} height=${BOX} rx="5" /><text x=${x + 9} y=${y + 4}>${cut(name, text ? 17 : 26)}</text><text class="rate" x=${x + wide - 8} y=${y + 4}>${text}</text></g>`;
    })}</svg></div>
    <${Table} columns=${[
      { name: 'from', label: 'from', cell: (row) => (row.isOutside ? html`<i>${row.from}</i>` : html`<a href=${link('tree', [], { behavior: row.from })}><b>${row.from}</b></a>`), sort: (row) => row.from },
      { name: 'to', label: 'to', cell: (row) => html`<a href=${link('tree', [], { behavior: row.to })}><b>${row.to}</b></a>`, sort: (row) => row.to },
      { name: 'rate', label: 'rate', unit: 'messages', class: 'num', cell: (row) => html`<${Bar} part=${row.count / most} text=${rate(row.count / seconds)} />`, sort: (row) => row.count },
      { name: 'what', label: 'which', class: 'wide-2', cell: (row) => html`<span class="line" title=${say(row)}>${say(row)}</span>` },
    ]} rows=${all.filter((edge) => !picked || edge.from === picked || edge.to === picked)} id=${(row) => row.from + '>' + row.to} order=${['rate', true]} />`;
}

function Flow({ records }) {
  const { edges, seconds } = useMemo(() => edgesOf(records), [records]);
  if (!edges.length) return html`<${Empty}>No message has been sent by the turns that were followed.<//>`;
  return html`<${Graph} edges=${edges} seconds=${seconds} />`;
}

/* ---- The view. ---- */

export function Trace({ route }) {
  const box = useRef(null);
  const path = route.params.get('path') || '';
  const causal = route.params.get('causal') || '';
  const mode = route.params.get('mode') || 'message';
  const [stopped, stop] = useState(false);
  const runs = !!(path || causal) && !stopped;
  const args = useMemo(() => (path ? { path } : { causal }), [path, causal]);
  const made = useMemo(() => new Map(), [path, causal]);
  const found = useRecords(args, runs);
  const slow = useRef([]);
  useMemo(() => (slow.current = []), [path, causal]);
  const { list: newest, total } = useMemo(() => chainsOf(found.records, made), [found.records]);
  slow.current = useMemo(() => slowestOf(newest, slow.current), [newest]);
  const bySlow = route.params.get('order') === 'slow';
  const chains = bySlow ? slow.current : newest;
  const picked = chains.find((chain) => chain.causal === route.params.get('one')) || chains[0];
  const begin = (event) => {
    event.preventDefault();
    const text = box.current.value.trim();
    stop(false);
    go(link('trace', [], text.startsWith('/') ? { path: text, mode } : { causal: text, mode }));
  };
  return html`<${Needs} verb="trace" what="the way of a message">
    <${Panel} title="Follow" extra=${(path || causal) && html`
        <span><span class=${'dot ' + (runs && !found.ended ? 'ok' : 'held')}></span> ${!runs ? 'stopped' : found.at ? 'following' : 'beginning'}</span>
        <button class="small" onClick=${() => stop(!stopped)}>${stopped ? 'Follow again' : 'Stop'}</button><${Age} at=${found.at} every=${runs ? TICK_MS : 0} />`}>
      <form class="pad row" onSubmit=${begin}><input ref=${box} class="filter grow" type="search" name="what" aria-label="path or causal id" placeholder="/user/shop: the messages to this actor; or a causal id" key=${path + causal} defaultValue=${path || causal} spellcheck=${false} />
        <button class="main">Follow</button></form>
      <p class="more">${path || causal ? html`${plural(found.records.length, 'record')} of ${plural(total, 'message')}${total > chains.length ? `; the ${bySlow ? 'slowest' : 'last'} ${chains.length} are shown` : ''}.
        ${found.missed > 0 && html` <b class="problem-text">${plural(found.missed, 'record')} came faster than they were read and are lost${causal ? ', of this id or of others' : ''}.</b>`}
        ${found.cut && html` <b class="problem-text">Records of this tree may be missing: there were too many to keep all.</b>`}
        ${found.given > 0 && html` <b class="problem-text">${plural(found.given, 'causal id')} gave way to newer ones: what ${found.given === 1 ? 'it' : 'they'} led to later is not recorded.</b>`}`
        : 'Messages to an actor are followed from now on, with all that they lead to, on all workers. While nobody follows, this costs nothing.'}</p>
      <${Problem} error=${found.error} />
    <//>
    ${(path || causal) && html`<div class="chips"><button aria-pressed=${mode === 'message'} onClick=${() => tune({ mode: '' })}>One message</button>
      <button aria-pressed=${mode === 'flow'} onClick=${() => tune({ mode: 'flow' })}>Flow between behaviors</button>
      ${mode === 'message' && html`<label class="check"><input type="checkbox" name="slowest" checked=${bySlow} onChange=${() => tune({ order: bySlow ? '' : 'slow', one: '' })} />the slowest first</label>`}</div>`}
    ${mode === 'flow' && (path || causal) ? html`<${Panel} title="Flow between behaviors"><${Flow} records=${found.records} /><//>`
      : (path || causal) && (!chains.length ? causal ? html`<${Known} causal=${causal} />` : html`<${Panel}><${Empty}>${found.at ? 'Waiting for the next message to it.' : 'Beginning to follow.'}<//><//>`
        : html`${chains.length > 1 && html`<div class="chips">${chains.slice(0, 12).map((chain) => html`<button key=${chain.causal} aria-pressed=${chain === picked} onClick=${() => tune({ one: chain.causal })}>
            ${(chain.turns[0] || {}).message || '?'} <span class="muted">${plural(chain.turns.length, 'turn')}, ${ns(chain.end - chain.begin)}</span></button>`)}</div>`}
          <${Chain} chain=${picked} base=${found.base} at=${found.at} />`)}
    ${!path && !causal && html`<${Needs} verb="flow" what="the flow of the whole program"><${ProgramFlow} /><//>`}
  <//>`;
}
