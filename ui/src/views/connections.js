/* SPDX-License-Identifier: Apache-2.0 */
/* Listeners, connections and processes: bytes, back-pressure, TLS. */
import { Age, Facts, html, Needs, Panel, Path, Problem, Search, Table, Tag } from '../parts.js';
import { useState } from 'preact/hooks';
import { useAnswer } from '../poll.js';
import { tune } from '../route.js';
import { bytes, count, plural, us } from '../format.js';
import { usePages } from './tree.js';

function fold(before, answer) {
  const past = new Map(before ? before.parts.map((row) => [row.channel, row]) : []);
  const passed = before ? (answer.at - before.at) / 1000 : 0;
  for (const row of answer.parts) {
    const last = past.get(row.channel);
    row.perIn = last && passed > 0.2 && row.received_bytes != null ? Math.max(0, row.received_bytes - last.received_bytes) / passed : null;
    row.perOut = last && passed > 0.2 && row.sent_bytes != null ? Math.max(0, row.sent_bytes - last.sent_bytes) / passed : null;
  }
  return answer;
}

const per = (n) => (n == null ? '–' : n ? bytes(Math.round(n)) + '/s' : html`<span class="muted">0 B/s</span>`);

function Pressure({ row }) {
  if (row.kind === 'listener') return row.unread_bytes ? html`<${Tag} kind="warn">${plural(row.unread_bytes, 'connection')} wait<//>` : html`<span class="muted">none waits</span>`;
  const list = [
    row.waits_to_send && ['warn', 'waits for the other side'],
    row.unsent_bytes > 0 && ['note', `${bytes(row.unsent_bytes)} not taken`],
    row.unread_bytes > 0 && ['note', `${bytes(row.unread_bytes)} not read`],
    row.paused && ['held', 'reads nothing'],
  ].filter(Boolean);
  return list.length ? list.map(([kind, text]) => html`<${Tag} key=${text} kind=${kind}>${text}<//> `) : html`<span class="muted">none</span>`;
}

const Amount = ({ sum, now }) => (sum == null ? html`<span class="muted">–</span>` : html`${bytes(sum)} <span class="unit ample">${now == null ? '' : per(now)}</span>`);

const columns = [
  { name: 'kind', label: 'what', class: 'mid-2', cell: (row) => html`<b>${row.kind}</b> <span class="muted">${row.family}</span> ${row.tls && html`<${Tag} kind="ok" title=${row.tls_cipher || 'the handshake has not ended'}>TLS ${row.tls_version || ''}${row.tls_alpn ? ' ' + row.tls_alpn : ''}<//>`}`, sort: (row) => row.kind },
  { name: 'state', label: 'state', class: 'slim', cell: (row) => html`<${Tag} kind=${row.state === 'open' ? 'ok' : 'held'}>${row.state}<//>`, sort: (row) => row.state },
  { name: 'peer', label: 'other side', unit: 'or own address', class: 'mid', cell: (row) => html`<span class="mono" title=${row.peer || row.address}>${row.peer || row.address || '–'}</span>`, sort: (row) => row.peer || row.address || '' },
  { name: 'path', label: 'actor', class: 'wide-3', cell: (row) => html`<${Path} path=${row.path} />`, sort: (row) => row.path || '' },
  { name: 'in', label: 'received', unit: 'in all', class: 'num roomy', cell: (row) => html`<${Amount} sum=${row.received_bytes} now=${row.perIn} />`, sort: (row) => row.received_bytes || 0 },
  { name: 'out', label: 'sent', unit: 'in all', class: 'num roomy', cell: (row) => html`<${Amount} sum=${row.sent_bytes} now=${row.perOut} />`, sort: (row) => row.sent_bytes || 0 },
  { name: 'pressure', label: 'back-pressure', cell: (row) => html`<${Pressure} row=${row} />`, sort: (row) => row.unsent_bytes },
  { name: 'rtt', label: 'round trip', class: 'num roomy ample slim', cell: (row) => us(row.rtt_us), sort: (row) => row.rtt_us || 0 },
];

function List({ params }) {
  const [after, bar] = usePages('channels');
  const answer = useAnswer('channels', { after, limit: 200 }, 2000, fold);
  const [picked, pick] = useState(null);
  const text = (params.get('q') || '').toLowerCase();
  const kind = params.get('kind') || '';
  const all = answer.parts || [];
  const rows = all.filter((row) => (!kind || row.kind === kind) && (!text || `${row.path} ${row.address} ${row.peer} ${row.behavior}`.toLowerCase().includes(text)));
  const kinds = [...new Set(all.map((row) => row.kind))];
  const sum = (name) => all.reduce((total, row) => total + (row[name] || 0), 0);
  const one = rows.find((row) => row.channel === picked);
  return html`<${Panel} title="Connections" extra=${html`<${Search} value=${params.get('q')} onChange=${(q) => tune({ q })} label="Address or actor (f)" /><${Age} at=${answer.at} every=${2000} />`}>
    <${Problem} error=${answer.error} />
    ${answer.ok && html`<${Facts} list=${[['open', plural(answer.ok.total != null ? answer.ok.total : all.length, 'channel')], ['received', `${bytes(sum('received_bytes'))}, ${bytes(Math.round(sum('perIn')))}/s`], ['sent', `${bytes(sum('sent_bytes'))}, ${bytes(Math.round(sum('perOut')))}/s`],
        ['wait for the other side', plural(all.filter((row) => row.waits_to_send).length, 'channel')]]} />
      ${kinds.length > 1 && html`<div class="chips"><button aria-pressed=${!kind} onClick=${() => tune({ kind: '' })}>all</button>${kinds.map((name) => html`<button key=${name} aria-pressed=${kind === name} onClick=${() => tune({ kind: name })}>${name} <b>${count(all.filter((row) => row.kind === name).length)}</b></button>`)}</div>`}
      ${one && html`<div class="detail"><${Facts} list=${Object.entries(one).filter(([, value]) => value != null && typeof value !== 'object').map(([name, value]) => [name.replace(/_/g, ' '), /_bytes$/.test(name) ? bytes(value) : /_us$/.test(name) ? us(value) : /^per/.test(name) ? per(value) : String(value)])} /></div>`}
      <${Table} tall columns=${columns} rows=${rows} id=${(row) => row.channel} picked=${picked} onPick=${(row) => pick(row.channel === picked ? null : row.channel)} empty="Nothing is open." />
      ${bar(answer, all.length, answer.ok.total)}`}
  <//>`;
}

export const Connections = ({ route }) => html`<${Needs} verb="channels" what="connections"><${List} params=${route.params} /><//>`;
