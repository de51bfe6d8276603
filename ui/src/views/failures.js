/* SPDX-License-Identifier: Apache-2.0 */
/* What went wrong, over time: failures, restarts, stalls, dead letters, records of failed turns; and a check-up. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import { Age, Canvas, Empty, Facts, html, Message, moment, Needs, Panel, Path, Problem, Source, Table, Tabs, Tag, tint } from '../parts.js';
import { useAnswer, useNow } from '../poll.js';
import { askApart, has } from '../link.js';
import { toast } from '../store.js';
import { tune, link } from '../route.js';
import { bytes, clock, count, date, ms, plural } from '../format.js';
import { Act } from '../acts.js';

const LIMIT = 200;
const KEPT = 1000;

/* Adds the new records to those that were read before. */
function fold(before, answer) {
  const known = before ? before.parts : [];
  const last = known.length ? known[known.length - 1].number : 0;
  const added = answer.parts.filter((row) => row.number > last);
  if (before && !added.length && before.ok.total === answer.ok.total) return before;
  const parts = [...known, ...added].slice(-KEPT);
  const first = parts.length ? parts[0].number : 1;
  return { ...answer, parts, dropped: answer.ok.total - parts.length, first };
}

export const useFailures = (every = 4000) => useAnswer('failures', { limit: LIMIT }, every, fold);
export const useLetters = (every = 4000) => useAnswer('dead-letters', { limit: LIMIT }, every, fold);

/* ---- The time line. ---- */

const kinds = {
  failed: ['failure', 'bad', 0],
  restarted: ['restart', 'accent', 1],
  stall: ['stall', 'orange', 2],
  letter: ['dead letter', 'purple', 3],
};

function Line({ events }) {
  const [hint, say] = useState(null);
  const now = useNow(6000);
  const oldest = events.length ? Math.min(...events.map((entry) => entry.at)) : now;
  const span = Math.max(60000, Math.min(now - oldest, 24 * 3600e3) * 1.05);
  const place = (at, width) => 8 + (width - 16) * (1 - (now - at) / span);
  const row = 20;
  const draw = (context, width, height) => {
    context.font = '11px system-ui';
    context.textBaseline = 'middle';
    const step = [5e3, 15e3, 60e3, 300e3, 900e3, 3600e3, 4 * 3600e3].find((entry) => span / entry <= width / 90) || 8 * 3600e3;
    context.strokeStyle = tint('line');
    context.fillStyle = tint('muted');
    for (let back = 0; back < span; back += step) {
      const x = Math.round(place(now - back, width)) + 0.5;
      context.beginPath();
      context.moveTo(x, 0);
      context.lineTo(x, height - 16);
      context.stroke();
      const label = !back ? 'now' : back < 120e3 ? `-${back / 1000} s` : `-${back / 60e3} min`;
      const size = context.measureText(label).width;
      if (x - size / 2 > 0) context.fillText(label, Math.min(x - size / 2, width - size - 2), height - 7);
    }
    context.globalAlpha = 0.75;
    for (const entry of events) {
      const [, color, lane] = kinds[entry.kind];
      const x = place(entry.at, width);
      const y = 10 + lane * row;
      if (x < 0) continue;
      context.fillStyle = tint(color);
      context.beginPath();
      if (lane === 3) context.fillRect(x - 3, y - 3, 6, 6);
      else if (lane === 2) context.fillRect(x - 1.5, y - 6, 3, 12);
      else context.arc(x, y, 4, 0, 7);
      context.fill();
    }
    context.globalAlpha = 1;
  };
  const onPoint = (x, y, isClick, width) => {
    const near = events.filter((entry) => Math.abs(place(entry.at, width) - x) < 6 && Math.abs(10 + kinds[entry.kind][2] * row - y) < 10);
    say(x < 0 || !near.length ? null : near);
  };
  return html`<div class="with-lanes"><div class="lanes">${Object.entries(kinds).map(([name, [label, color]]) => html`
      <span key=${name}><i class=${'c-' + color}></i>${label}s</span>`)}</div>
    <${Canvas} class="timeline" draw=${draw} data=${events.length + ':' + Math.floor(now / 6000)} height=${4 * row + 18} onPoint=${onPoint} label="when failures, restarts, stalls and dead letters happened" /></div>
    <p class="hint">${hint ? `${clock(hint[0].at)} ${kinds[hint[0].kind][0]}: ${hint[0].text}${hint.length > 1 ? `, and ${count(hint.length - 1)} more here` : ''}` : 'Point at a mark to read it.'}</p>`;
}

/* ---- Tables. ---- */

const when = { name: 'when', label: 'when', class: 'narrow', cell: (row) => html`<span class="mono" title=${date(row.unix_ms)}>${clock(row.unix_ms)}</span>`, sort: (row) => row.number };

const failureColumns = [
  when,
  { name: 'what', label: 'what', class: 'slim', cell: (row) => html`<${Tag} kind=${row.what === 'failed' ? 'bad' : 'note'}>${row.what}<//>`, sort: (row) => row.what },
  { name: 'path', label: 'actor', class: 'wide-1', cell: (row) => html`<${Path} path=${row.path} />`, sort: (row) => row.path },
  { name: 'behavior', label: 'behavior', class: 'roomy ample', cell: (row) => row.behavior, sort: (row) => row.behavior },
  { name: 'text', label: 'why', cell: (row) => html`<span title=${row.text}><b>${row.status}</b> ${row.text}</span>` },
  { name: 'where', label: 'in', unit: 'message', class: 'roomy narrow', cell: (row) => row.where && html`<span class="source">${row.where}</span>` },
];

function FailureTable({ rows, all }) {
  const [picked, pick] = useState(null);
  const one = rows.find((row) => row.number === picked);
  return html`<${Table} tall columns=${failureColumns} unseen=${moment} rows=${rows} id=${(row) => row.number} order=${['when', true]} picked=${picked} onPick=${(row) => pick(row.number === picked ? null : row.number)} empty="Nothing has failed." />
    ${one && html`<div class="detail"><${Facts} list=${[['number', count(one.number)], ['when', `${date(one.unix_ms)}, ${ms(Date.now() - one.unix_ms)} ago`],
      ['actor', html`<${Path} path=${one.path} />`], ['behavior', one.behavior], ['message', one.where], ['incarnation', count(one.incarnation)], ['status', one.status], ['text', one.text]]} /></div>`}
    ${all && all.dropped > 0 && html`<p class="more">${plural(all.dropped, 'older record')} of ${count(all.ok.total)} in all are not kept or not shown.</p>`}`;
}

const letterColumns = (again) => [
  when,
  { name: 'message', label: 'message', cell: (row) => html`<b>${row.message}</b>`, sort: (row) => row.message },
  { name: 'from', label: 'from', class: 'roomy', cell: (row) => html`<${Path} path=${row.from} />`, sort: (row) => row.from || '' },
  { name: 'to', label: 'to', cell: (row) => html`<${Path} path=${row.to} />`, sort: (row) => row.to || '' },
  { name: 'reason', label: 'reason', cell: (row) => html`<${Tag} kind="warn">${row.reason}<//>`, sort: (row) => row.reason },
  { name: 'act', label: '', class: 'narrow end', cell: (row) => html`<${Act} small verb="replay" args=${{ after: row.number }} label="Send again" title=${`Send ${row.message} to ${row.to} again`} done=${again} />` },
];

function LetterTable({ answer, rows }) {
  const [picked, pick] = useState(null);
  const one = rows.find((row) => row.number === picked);
  const columns = useMemo(() => letterColumns(answer.again), []);
  return html`<${Table} tall columns=${columns} unseen=${moment} rows=${rows} id=${(row) => row.number} order=${['when', true]} picked=${picked} onPick=${(row) => pick(row.number === picked ? null : row.number)} empty="Every message was delivered." />
    ${one && html`<div class="detail"><h3>${one.message} <span class="muted">number ${count(one.number)}</span></h3><${Facts} list=${[['when', date(one.unix_ms)], ['from', html`<${Path} path=${one.from} />`],
      ['to', html`<${Path} path=${one.to} />`], ['behavior', one.behavior], ['reason', one.reason], ['size', bytes(one.size)]]} /><${Message} text=${one.text} size=${one.size} /></div>`}
    ${answer.dropped > 0 && html`<p class="more">${plural(answer.dropped, 'older dead letter')} of ${count(answer.ok.total)} in all are not kept or not shown.</p>`}`;
}

/* The turns that run now and those that are over, the newest first. One that runs may have a report too: it is shown once. One that
   was handed off runs on a thread of its own, and no worker is in it. */
function slowTurns({ running, past = [] }) {
  const now = new Set(running.map((row) => row.path));
  const noted = new Map(past.filter((row) => !row.over).map((row) => [row.path, row]));
  return [...running.map((row) => ({ ...noted.get(row.path), ...row, took_ms: row.for_ms })), ...past.filter((row) => row.over || !now.has(row.path))
    .map((row) => (row.over ? row : { ...row, took_ms: row.age_ms }))];
}

/* In which functions a turn was when it was looked at last. */
function Stack({ row }) {
  return html`<div class="pad stack"><h3>${row.handler || 'A function'} of <${Path} path=${row.path} /> <span class="muted">${row.stack
    ? `was here ${ms(Math.max(0, row.age_ms - row.stack_age_ms))} after its turn had begun`
    : 'has no stack: it was not looked at, or it computed and its thread may not be interrupted'}</span></h3>
    ${row.stack && html`<pre>${row.stack.join('\n')}</pre>`}</div>`;
}

function Stalls({ answer, match, picked }) {
  if (!answer.ok) return null;
  const { past, total } = answer.ok;
  const columns = [
    { name: 'when', label: 'when', class: 'narrow', cell: (row) => (row.over ? html`<span class="mono">${clock(row.unix_ms)}</span>` : html`<${Tag} kind="bad">now<//>`) },
    { name: 'for', label: 'took', class: 'num', cell: (row) => ms(row.took_ms), sort: (row) => row.took_ms },
    { name: 'handler', label: 'handler', cell: (row) => html`<b>${row.handler || 'a function'}</b> <span class="muted">${row.message}</span>${row.handed_off && !row.over ? html` <${Tag} kind="warn">on a thread of its own<//>` : ''}` },
    { name: 'path', label: 'actor', cell: (row) => html`<${Path} path=${row.path} />` },
    { name: 'where', label: 'behavior', class: 'roomy', cell: (row) => html`${row.behavior} <${Source} ...${row} />` },
    { name: 'worker', label: 'worker', unit: 'number', class: 'num roomy', cell: (row) => row.worker },
  ];
  const rows = slowTurns(answer.ok).filter(match);
  const id = (row) => String(row.number || 'now' + row.worker);
  const shown = rows.find((row) => id(row) === picked) || rows.find((row) => row.stack);
  return html`<${Table} columns=${columns} rows=${rows} id=${id} picked=${shown && id(shown)} onPick=${(row) => tune({ stall: id(row) })} empty=${answer.ok.past && answer.ok.past.length ? 'No long turn fits.' : 'No turn has taken long.'} />
    ${shown && html`<${Stack} row=${shown} />`}
    <p class="more">${plural(total, 'long turn')} in all${past ? `; ${plural(past.length, 'report')} kept` : '; reports of the past are in the log'}. <${Age} at=${answer.at} every=${2000} /></p>`;
}

function Records() {
  const answer = useAnswer('records', {}, 6000);
  const copy = async (text) => {
    try {
      await navigator.clipboard.writeText(text);
      toast('copied');
    } catch {
      toast('the browser does not allow copying; mark the text', 'bad');
    }
  };
  const columns = [
    { name: 'when', label: 'when', class: 'mid-3', cell: (row) => date(row.unix_ms), sort: (row) => row.unix_ms },
    { name: 'bytes', label: 'size', class: 'num slim', cell: (row) => bytes(row.bytes), sort: (row) => row.bytes },
    { name: 'command', label: 'plays the turn again', cell: (row) => html`<code class="line" title=${row.command}>${row.command}</code>` },
    { name: 'copy', label: '', class: 'narrow end', cell: (row) => html`<button class="small" onClick=${() => copy(row.command)}>Copy</button>` },
  ];
  return html`<${Needs} verb="records" what="records of failed turns"><${Problem} error=${answer.error} />
    ${answer.ok && html`<${Table} columns=${columns} rows=${answer.parts} id=${(row) => row.file} order=${['when', true]} empty="No record: no turn of a durable actor has failed." />
      <p class="more">${answer.ok.directory ? `They are in ${answer.ok.directory}.` : ''} A record has the state before, the message and all that the turn read; <code>--gdb</code> stops at the handler. <${Age} at=${answer.at} every=${6000} /></p>`}<//>`;
}

function Doctor() {
  const [state, change] = useState({});
  const run = async () => {
    change({ busy: true });
    try {
      change(await askApart('doctor'));
    } catch (error) {
      change({ error });
    }
  };
  useEffect(() => {
    if (has('doctor')) run();
  }, []);
  return html`<${Needs} verb="doctor" what="a check-up"><div class="pad"><button class="main" disabled=${state.busy} onClick=${run}>${state.busy ? 'looking, about a second …' : 'Look again'}</button></div>
    <${Problem} error=${state.error} />
    ${state.parts && html`<ul class="doctor">${state.parts.slice().sort((a, b) => !!b.advice - !!a.advice).map((row, i) => html`<li key=${i} class=${row.advice ? 'warn' : ''}>
      <${Tag} kind=${row.advice ? 'warn' : 'ok'}>${row.advice ? 'look' : 'good'}<//><b>${row.check}</b><span>${row.text}${row.advice && html`<em>${row.advice}</em>`}</span></li>`)}</ul><${Age} at=${state.at} />`}<//>`;
}

/** What has failed at one path. */
export function History({ path }) {
  const failures = useAnswer('failures', { path, limit: LIMIT }, 4000, fold);
  const letters = useAnswer('dead-letters', { path, limit: LIMIT }, 4000, fold);
  const failed = failures.parts || [];
  const lost = letters.parts || [];
  if (!failed.length && !lost.length) return null;
  return html`<${Panel} title="What went wrong here" extra=${html`<a href=${link('failures')}>all failures</a><${Age} at=${failures.at} every=${4000} />`}>
    ${failed.length > 0 && html`<${FailureTable} rows=${failed} />`}
    ${lost.length > 0 && html`<h3>Dead letters to it</h3><${LetterTable} answer=${{ ...letters, dropped: 0 }} rows=${lost} />`}
    <p class="more">Of the last ${count(LIMIT)} failures and dead letters of the program, and those that came since the page shows this actor.</p><//>`;
}

export function Failures({ route }) {
  const tab = route.params.get('tab') || 'failures';
  const text = (route.params.get('q') || '').toLowerCase();
  const failures = useFailures();
  const letters = useLetters();
  const stalls = useAnswer('stalls', {}, tab === 'stalls' ? 2000 : 4000);
  const failed = failures.parts || [];
  const lost = letters.parts || [];
  const slow = stalls.ok ? slowTurns(stalls.ok) : [];
  const events = [
    ...failed.map((row) => ({ kind: row.what, at: row.unix_ms, text: `${row.path} ${row.status} ${row.text}` })),
    ...slow.map((row) => ({ kind: 'stall', at: row.unix_ms || Date.now() - row.took_ms, text: `${row.handler || 'a function'} of ${row.path}, ${ms(row.took_ms)}` })),
    ...lost.map((row) => ({ kind: 'letter', at: row.unix_ms, text: `${row.message} to ${row.to}: ${row.reason}` })),
  ];
  const match = (row) => !text || JSON.stringify(row).toLowerCase().includes(text);
  const list = [
    ['failures', 'Failures and restarts', failures.ok && count(failures.ok.total)],
    ['stalls', 'Stalls', stalls.ok && count(stalls.ok.total)],
    ['letters', 'Dead letters', letters.ok && count(letters.ok.total)],
    ['records', 'Records'],
    ['doctor', 'Check-up'],
  ];
  return html`<${Panel} title="When" extra=${html`<${Age} at=${failures.at} every=${4000} />`}>
      ${events.length ? html`<${Line} events=${events} />` : html`<${Empty}>${failures.ok ? 'Nothing has gone wrong since the start.' : 'reading …'}<//>`}<//>
    <${Panel} title=${html`<${Tabs} current=${tab} onPick=${(name) => tune({ tab: name })} list=${list} />`}
      extra=${['failures', 'letters', 'stalls'].includes(tab) && html`<input class="filter" type="search" aria-label="filter" placeholder="Filter (f)" value=${route.params.get('q') || ''} onInput=${(event) => tune({ q: event.target.value })} />`}>
      <${Problem} error=${tab === 'letters' ? letters.error : failures.error} />
      ${tab === 'failures' && failures.ok && html`<${FailureTable} rows=${failed.filter(match)} all=${failures} />`}
      ${tab === 'letters' && letters.ok && html`<${LetterTable} answer=${letters} rows=${lost.filter(match)} />`}
      ${tab === 'stalls' && html`<${Stalls} answer=${stalls} match=${match} picked=${route.params.get('stall')} />`}
      ${tab === 'records' && html`<${Records} />`}
      ${tab === 'doctor' && html`<${Doctor} />`}
    <//>`;
}
