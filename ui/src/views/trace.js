/* SPDX-License-Identifier: Apache-2.0 */
/* A message followed from turn to turn, and which behaviors send to which. It has a connection of its own: the program
 * follows until that ends. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Age, Empty, html, Needs, Panel, Path, Problem, Table, Tag } from '../parts.js';
import { open } from '../link.js';
import { useValue } from '../store.js';
import { go, link, tune } from '../route.js';
import { clock, count, ns, plural, rate } from '../format.js';
import { hue } from './time.js';

const KEPT = 4000; /* records */
const FROM_NOW = 18446744073709551615n;

/* ---- Reading. ---- */

function useRecords(args, runs) {
  const [state, change] = useState({ records: [], missed: 0 });
  const phase = useValue('phase');
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
          kept.missed += ok.missed;
        }
        kept.last = ok.last;
        change({ records: kept.records, missed: kept.missed, given: ok.given_up, at, base: ok.unix_ms - ok.now_ns / 1e6 });
        timer = setTimeout(look, ok.more ? 20 : 700);
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

function Chain({ chain, base }) {
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
  return html`<${Panel} title=${/^turn/.test(chain.causal) ? 'A turn without a causal id' : html`causal id <code>${chain.causal}</code>`} extra=${html`<span class="muted">${clock(base + chain.begin / 1e6)}, ${plural(chain.turns.length, 'turn')}, ${ns(span)} in all</span>
      ${!/^turn/.test(chain.causal) && html`<a class="button" href=${link('log', [], { causal: chain.causal })}>Log</a>`}`}>
    <${Table} columns=${columns} rows=${rows} id=${(row) => row.turn} empty="No turn of it has been recorded." />
    ${rows.some((row) => row.status && row.status !== 'TR_OK') && html`<p class="problem">${rows.filter((row) => row.status && row.status !== 'TR_OK').map((row) => `${row.path}: ${row.status}`).join('; ')}</p>`}
  <//>`;
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
  return { edges: [...edges.values()].sort((a, b) => b.count - a.count).slice(0, 40), seconds: Math.max(0.5, (last - first) / 1e9) };
}

function Flow({ records }) {
  const { edges, seconds } = useMemo(() => edgesOf(records), [records]);
  if (!edges.length) return html`<${Empty}>No message has been sent by the turns that were followed.<//>`;
  const names = [...new Set(edges.flatMap((edge) => [edge.from, edge.to]))];
  const width = 720;
  const height = Math.max(220, Math.min(460, names.length * 44));
  const place = (name) => {
    const at = (names.indexOf(name) / names.length) * 2 * Math.PI - Math.PI / 2;
    return [width / 2 + Math.cos(at) * (width / 2 - 110), height / 2 + Math.sin(at) * (height / 2 - 30)];
  };
  const most = Math.max(...edges.map((edge) => edge.count));
  const curve = (edge) => {
    const [x1, y1] = place(edge.from);
    const [x2, y2] = place(edge.to);
    if (edge.from === edge.to) return `M${x1 - 10},${y1 - 10} C${x1 - 40},${y1 - 60} ${x1 + 40},${y1 - 60} ${x1 + 10},${y1 - 12}`;
    const bend = 0.16;
    const mx = (x1 + x2) / 2 + (y2 - y1) * bend;
    const my = (y1 + y2) / 2 - (x2 - x1) * bend;
    const back = Math.hypot(x2 - mx, y2 - my) || 1;
    return `M${x1},${y1} Q${mx},${my} ${x2 - ((x2 - mx) / back) * 16},${y2 - ((y2 - my) / back) * 16}`;
  };
  return html`<svg class="flow" viewBox=${`0 0 ${width} ${height}`} role="img" aria-label="messages between behaviors">
    <defs><marker id="arrow" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto"><path d="M0,0 L8,4 L0,8 z" /></marker></defs>
    ${edges.map((edge) => html`<g key=${edge.from + '>' + edge.to}><path class="edge" d=${curve(edge)} stroke-width=${1 + 5 * Math.sqrt(edge.count / most)} marker-end="url(#arrow)">
      <title>${`${edge.from} → ${edge.to}: ${plural(edge.count, 'message')}, ${rate(edge.count / seconds)}; ${[...edge.messages].map(([name, n]) => `${name} ${count(n)}`).join(', ')}`}</title></path></g>`)}
    ${names.map((name) => {
      const [x, y] = place(name);
      return html`<g key=${name} class=${'node hue-' + hue(name)}><circle cx=${x} cy=${y} r="10" /><text x=${x} y=${y + (y > height / 2 ? 26 : -16)}>${name}</text></g>`;
    })}</svg>
    <${Table} columns=${[
      { name: 'from', label: 'from', cell: (row) => row.from, sort: (row) => row.from },
      { name: 'to', label: 'to', cell: (row) => row.to, sort: (row) => row.to },
      { name: 'count', label: 'messages', unit: 'seen', class: 'num', cell: (row) => count(row.count), sort: (row) => row.count },
      { name: 'rate', label: 'rate', class: 'num', cell: (row) => rate(row.count / seconds), sort: (row) => row.count },
      { name: 'what', label: 'which', class: 'wide-2', cell: (row) => [...row.messages].map(([name, n]) => `${name} ${count(n)}`).join(', ') },
    ]} rows=${edges} id=${(row) => row.from + '>' + row.to} />`;
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
  const { list: chains, total } = useMemo(() => chainsOf(found.records, made), [found.records]);
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
        <button class="small" onClick=${() => stop(!stopped)}>${stopped ? 'Follow again' : 'Stop'}</button><${Age} at=${found.at} every=${runs ? 700 : 0} />`}>
      <form class="pad row" onSubmit=${begin}><input ref=${box} class="filter grow" type="search" name="what" aria-label="path or causal id" placeholder="/user/shop: the messages to this actor; or a causal id" key=${path + causal} defaultValue=${path || causal} spellcheck=${false} />
        <button class="main">Follow</button></form>
      <p class="more">${path || causal ? html`${plural(found.records.length, 'record')} of ${plural(total, 'message')}${total > chains.length ? `; the last ${chains.length} are shown` : ''}.
        ${found.missed > 0 && html` <b class="problem-text">${plural(found.missed, 'record')} came faster than they were read and are lost.</b>`}
        ${found.given > 0 && html` <b class="problem-text">${plural(found.given, 'message')} could not be followed.</b>`}`
        : 'Messages to an actor are followed from now on, with all that they lead to, on all workers. While nobody follows, this costs nothing.'}</p>
      <${Problem} error=${found.error} />
    <//>
    ${(path || causal) && html`<div class="chips"><button aria-pressed=${mode === 'message'} onClick=${() => tune({ mode: '' })}>One message</button>
      <button aria-pressed=${mode === 'flow'} onClick=${() => tune({ mode: 'flow' })}>Flow between behaviors</button></div>`}
    ${mode === 'flow' && (path || causal) ? html`<${Panel} title="Flow between behaviors"><${Flow} records=${found.records} /><//>`
      : (path || causal) && (!chains.length ? html`<${Panel}><${Empty}>${causal ? 'Nothing is recorded of this id. Turns are recorded while somebody follows.' : found.at ? 'Waiting for the next message to it.' : 'Beginning to follow.'}<//><//>`
        : html`${chains.length > 1 && html`<div class="chips">${chains.slice(0, 12).map((chain) => html`<button key=${chain.causal} aria-pressed=${chain === picked} onClick=${() => tune({ one: chain.causal })}>
            ${(chain.turns[0] || {}).message || '?'} <span class="muted">${plural(chain.turns.length, 'turn')}, ${ns(chain.end - chain.begin)}</span></button>`)}</div>`}
          <${Chain} chain=${picked} base=${found.base} />`)}
  <//>`;
}
