/* SPDX-License-Identifier: Apache-2.0 */
/* The fullest mailboxes: how deep, how old, whether they grow, and who waits for space. */
import { Age, Bar, Empty, Facts, html, Needs, Panel, Path, Problem, Search, State, Table, Tag } from '../parts.js';
import { has } from '../link.js';
import { useAnswer } from '../poll.js';
import { useValue } from '../store.js';
import { actorLink, link, tune } from '../route.js';
import { bytes, count, ms, plural, rate, short } from '../format.js';
import { Chart } from '../chart.js';
import { Mail } from './actor.js';

/* Keeps what the look before said, to say how fast mailboxes grow. */
function fold(before, answer) {
  const past = new Map(before ? before.parts.map((row) => [row.ref, row]) : []);
  const passed = before ? (answer.at - before.at) / 1000 : 0;
  for (const row of answer.parts) {
    const last = past.get(row.ref);
    row.growth = last && passed > 0.2 ? (row.queued - last.queued) / passed : null;
  }
  return answer;
}

/* The messages in all mailboxes, over time. */
function foldSum(before, answer) {
  const sum = answer.ok.behaviors.reduce((total, row) => total + row.queued, 0);
  const keep = (list, value) => [...list.slice(-59), value];
  return { ...answer, times: keep(before ? before.times : [], answer.at / 1000), sums: keep(before ? before.sums : [], sum), sum };
}

const growth = (row) => {
  if (row.growth == null) return html`<span class="muted">–</span>`;
  const n = Math.round(row.growth);
  if (!n) return html`<span class="muted">steady</span>`;
  return html`<span class=${n > 0 ? 'up-text' : 'down-text'}>${n > 0 ? '▲ +' : '▼ '}${rate(n)}</span>`;
};

const columns = [
  { name: 'path', label: 'mailbox of', class: 'wide-2', cell: (row) => html`<${Path} path=${row.path} />`, sort: (row) => row.path },
  { name: 'behavior', label: 'behavior', class: 'roomy ample', cell: (row) => row.behavior, sort: (row) => row.behavior },
  { name: 'queued', label: 'queued', unit: 'messages', class: 'num', cell: (row) => html`<${Bar} part=${row.queued / (row.queued_max || 1)} kind=${row.queued >= 0.9 * row.queued_max ? 'bad' : ''} text=${count(row.queued)} />`, sort: (row) => row.queued },
  { name: 'growth', label: 'grows', unit: 'messages/s', class: 'num', cell: growth, sort: (row) => row.growth || 0 },
  { name: 'oldest', label: 'oldest', unit: 'waits at least', class: 'num', cell: (row) => (row.at_least_ms ? html`<span title=${row.oldest}>${ms(row.at_least_ms)}</span>` : html`<span class="muted">–</span>`), sort: (row) => row.at_least_ms || 0 },
  { name: 'max', label: 'most', unit: 'messages', class: 'num roomy', cell: (row) => count(row.queued_max), sort: (row) => row.queued_max },
  { name: 'bytes', label: 'size', class: 'num roomy ample', cell: (row) => bytes(row.queued_bytes), sort: (row) => row.queued_bytes },
  { name: 'state', label: 'state', class: 'mid', cell: (row) => html`<${State} row=${row} />`, sort: (row) => row.state },
];

/* Who sent the messages that wait first: [[path or null, number], ...]. */
function sendersOf(parts) {
  const found = new Map();
  for (const row of parts) found.set(row.from_path, (found.get(row.from_path) || 0) + 1);
  return [...found].sort((a, b) => b[1] - a[1]);
}

const names = (list, most = 6) => html`${list.slice(0, most)}${list.length > most ? html`<span class="muted">and ${count(list.length - most)} more</span>` : ''}`;

/* Who sent what waits, and who waits for space. */
function Senders({ path, waiting }) {
  const mail = useAnswer(has('mail') ? 'mail' : null, { path, limit: 32 }, 4000);
  const waits = useAnswer(waiting && has('waits') ? 'waits' : null, { path }, 4000);
  const sent = sendersOf(mail.parts || []);
  const held = (waits.parts || []).filter((row) => row.kind === 'sender');
  return html`<${Facts} list=${[
    sent.length > 0 && [`senders of the first ${plural(mail.parts.length, 'message')}`, names(sent.map(([from, n]) => html`<div key=${from}>${from ? html`<${Path} path=${from} />` : 'outside, or an actor that has ended'} <span class="muted">${plural(n, 'message')}</span></div>`))],
    held.length > 0 && ['wait for space in it', names(held.map((row, i) => html`<div key=${i}><${Path} path=${row.who_path} /> <span class="muted">${row.for_ms != null ? `for ${ms(row.for_ms)}` : ''} ${row.message || ''}</span></div>`)), 'warn'],
  ]} />`;
}

function One({ path }) {
  const answer = useAnswer('show', { path }, 2000);
  const it = answer.ok;
  return html`<${Panel} title=${html`<${Path} path=${path} />`} extra=${html`<a class="button" href=${actorLink(path)}>The actor</a>
      <button class="small" onClick=${() => tune({ path: '' })}>Close</button><${Age} at=${answer.at} every=${2000} />`}>
    <${Problem} error=${answer.error} />
    ${it && html`
      ${it.stuck && it.stuck.for_ms >= 100 && html`<p class="problem"><b>Its worker is stuck</b> in ${it.stuck.handler || 'a function'} of <${Path} path=${it.stuck.path} /> for ${ms(it.stuck.for_ms)}.</p>`}
      <${Facts} list=${[
        ['queued', `${count(it.queued)} of ${count(it.queued_max)} messages`],
        it.oldest && ['oldest', html`<b>${it.oldest.message}</b>, ${it.oldest.at_least_ms ? `waits for at least ${ms(it.oldest.at_least_ms)}` : 'seen at this look for the first time'}`],
        it.oldest && ['sent by', it.oldest.from_path ? html`<${Path} path=${it.oldest.from_path} />` : 'outside, or an actor that has ended'],
        it.senders_waiting != null && ['senders that wait for space', plural(it.senders_waiting, 'sender'), it.senders_waiting ? 'warn' : ''],
        it.mail && ['by type', Object.entries(it.mail).map(([type, n]) => html`<${Tag} key=${type}>${type}: ${plural(n, 'message')}<//> `)],
      ]} />
      <${Senders} path=${path} waiting=${it.senders_waiting > 0} />
      <${Needs} verb="mail" what="each message"><${Mail} path=${path} /><//>`}
  <//>`;
}

/* One row for each worker, one cell for each of the fullest mailboxes on it. */
function Heat({ rows, picked }) {
  const workers = [...new Set(rows.map((row) => row.worker))].sort((a, b) => a - b);
  const level = (n) => Math.min(5, 1 + Math.floor(Math.log10(n)));
  return html`<div class="pad">${workers.map((worker) => html`<div key=${worker} class="mail-heat"><span class="muted">${worker < 0 ? 'none' : `worker ${worker}`}</span>${rows.filter((row) => row.worker === worker).map((row) => html`
    <a key=${row.ref} class=${`h${level(row.queued)}${row.path === picked ? ' picked' : ''}`} href=${link('mailboxes', [], { path: row.path })} aria-label=${row.path} title=${`${row.path}: ${plural(row.queued, 'message')}`}></a>`)}</div>`)}
    <p class="legend"><i class="h1"></i>below 10 messages <i class="h2"></i>100 <i class="h3"></i>1,000 <i class="h4"></i>10,000 <i class="h5"></i>and more</p></div>`;
}

export function Mailboxes({ route }) {
  const head = useValue('head');
  const picked = route.params.get('path');
  const answer = useAnswer('ls', { sorted: true, limit: 100, queued: 1 }, 2000, fold);
  const all = useAnswer('behaviors', {}, 2000, foldSum);
  const text = (route.params.get('q') || '').toLowerCase();
  const rows = (answer.parts || []).filter((row) => `${row.path} ${row.behavior} ${row.oldest || ''}`.toLowerCase().includes(text));
  return html`
    <${Panel} title="Messages in all mailboxes" extra=${all.ok && html`<span><b>${count(all.sum)}</b> messages${all.ok.more ? ' at least' : ''}</span><${Age} at=${all.at} every=${2000} />`}>
      <${Problem} error=${all.error} />
      ${all.ok && all.sums.length > 1
        ? html`<${Chart} stamp=${all.times.at(-1)} height=${120} times=${all.times} list=${all.sums} label="messages in mailboxes" text=${(n) => short(n) + ' msg'} />`
        : html`<${Empty}>reading …<//>`}
      ${head && html`<p class="more">${plural(head.counters.queued, 'message is', 'messages are')} pending: in a mailbox, or in a turn that runs or waits. <${Age} at=${head.at} every=${2000} /></p>`}<//>
    ${picked && html`<${One} key=${picked} path=${picked} />`}
    <${Panel} title="Fullest mailboxes" extra=${html`<span class="muted">the 100 fullest; ages of the first 20</span><${Search} value=${route.params.get('q')} onChange=${(q) => tune({ q })} label="Actor or behavior (f)" /><${Age} at=${answer.at} every=${2000} />`}>
      <${Problem} error=${answer.error} />
      ${answer.ok && html`${rows.length > 0 && html`<${Heat} rows=${rows} picked=${picked} />`}<${Table} tall columns=${columns} rows=${rows} id=${(row) => row.ref} picked=${(rows.find((row) => row.path === picked) || {}).ref}
        onPick=${(row) => tune({ path: row.path })} empty=${text ? 'None of the fullest mailboxes has this name.' : 'No mailbox has a message: every actor keeps up.'} />`}
    <//>`;
}
