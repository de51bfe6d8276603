/* SPDX-License-Identifier: Apache-2.0 */
/* What is stored: kinds, keys by prefix, one durable actor as a whole; alarms and queues of all. */
import { useState } from 'preact/hooks';
import { Age, Bar, Empty, Facts, html, Json, Needs, Panel, Path, Problem, Search, Table, Tabs, Tag } from '../parts.js';
import { useAnswer } from '../poll.js';
import { ask, askApart, has, may } from '../link.js';
import { useValue } from '../store.js';
import { actorLink, durableLink, go, link, tune } from '../route.js';
import { bytes, count, date, ms, plural, write } from '../format.js';
import { Act, act } from '../acts.js';
import { usePages } from './tree.js';
import { Why } from './actor.js';
import { Events } from './events.js';
import { History } from './failures.js';

const PAGE = 200;
const Awake = ({ is }) => html`<${Tag} kind=${is ? 'ok' : 'quiet'}>${is ? 'awake' : 'asleep'}<//>`;
const due = (row) => (row.in_ms < 0 ? html`<${Tag} kind="bad">overdue by ${ms(-row.in_ms)}<//>` : `in ${ms(row.in_ms)}`);

/* ---- Kinds and keys. ---- */

const kindColumns = (most) => [
  { name: 'kind', label: 'kind', class: 'wide-2', cell: (row) => html`<a href=${link('durable', [row.kind])}><b>${row.kind}</b></a> ${!row.known && html`<${Tag} kind="warn">only in the store<//>`}`, sort: (row) => row.kind },
  { name: 'stored', label: 'stored', unit: 'actors', class: 'num', cell: (row) => (row.not_read ? html`<${Tag} kind="bad">${row.not_read}<//>` : html`<${Bar} part=${row.stored / most} text=${count(row.stored) + (row.stored_more ? '+' : '')} />`), sort: (row) => row.stored },
  { name: 'awake', label: 'awake', unit: 'actors', class: 'num', cell: (row) => count(row.awake), sort: (row) => row.awake },
];

/* The rows whose texts contain the filter of the view. */
const fitting = (rows, params) => {
  const text = (params.get('q') || '').toLowerCase();
  return text ? rows.filter((row) => JSON.stringify(row).toLowerCase().includes(text)) : rows;
};
const Filter = ({ params, label }) => html`<${Search} value=${params.get('q')} onChange=${(q) => tune({ q })} label=${label} />`;

function Kinds({ params }) {
  const answer = useAnswer('durable ls', {}, 4000);
  const rows = fitting(answer.parts || [], params);
  return html`<${Panel} title="Kinds" extra=${html`<${Filter} params=${params} label="Kind (f)" /><${Age} at=${answer.at} every=${4000} />`}>
    <${Problem} error=${answer.error} />
    ${answer.ok && html`<${Table} columns=${kindColumns(Math.max(1, ...rows.map((row) => row.stored || 0)))} rows=${rows} id=${(row) => row.kind} onPick=${(row) => go(link('durable', [row.kind]))} empty=${params.get('q') ? 'No kind has this name.' : 'The program has no durable kinds.'} />`}<//>`;
}

function Keys({ kind, params }) {
  const prefix = params.get('q') || '';
  const [limit, raise] = useState(PAGE);
  const answer = useAnswer('durable ls', { kind, key: prefix || undefined, limit }, limit > PAGE ? 8000 : 4000);
  const only = params.get('only') || '';
  const all = answer.parts || [];
  const rows = only ? all.filter((row) => row.awake === (only === 'awake')) : all;
  const columns = [
    { name: 'key', label: 'key', class: 'wide-2', cell: (row) => html`<a class="path" href=${durableLink(kind, row.key)}><b>${row.key}</b></a>`, sort: (row) => row.key },
    { name: 'awake', label: 'now', cell: (row) => html`<${Awake} is=${row.awake} />`, sort: (row) => row.awake },
  ];
  return html`<${Panel} title=${html`<a href=${link('durable')} data-up>Durable</a> / <b>${kind}</b>`} extra=${html`
      <select aria-label="asleep or awake" value=${only} onChange=${(event) => tune({ only: event.target.value })}><option value="">asleep or awake</option><option value="awake">awake</option><option value="asleep">asleep</option></select>
      <${Search} value=${prefix} onChange=${(q) => tune({ q })} label="Keys that begin with (f)" /><${Age} at=${answer.at} every=${4000} />`}>
    <${Problem} error=${answer.error} />
    ${answer.ok && html`<${Table} tall columns=${columns} rows=${rows} id=${(row) => row.key} onPick=${(row) => go(durableLink(kind, row.key))} empty=${prefix ? 'No key begins so.' : 'Nothing of this kind is stored.'} />
      ${answer.ok.more && html`<p class="more">The first ${plural(all.length, 'key')} are shown; there are more. ${limit < 5000 ? html`<button class="small" onClick=${() => raise(limit * 5)}>Show more</button>` : 'Type how a key begins.'}</p>`}`}<//>`;
}

/* ---- One actor. ---- */

const alarmColumns = (named) => [
  ...(named ? [{ name: 'who', label: 'actor', cell: (row) => html`<a href=${durableLink(row.kind, row.key)}>${row.kind} <b>${row.key}</b></a>`, sort: (row) => row.kind + row.key }] : []),
  { name: 'name', label: 'alarm', cell: (row) => row.name, sort: (row) => row.name },
  { name: 'due', label: 'due', cell: due, sort: (row) => row.in_ms },
  { name: 'when', label: 'when', class: 'roomy', cell: (row) => html`<span class="mono">${date(row.due_unix_ms)}</span>`, sort: (row) => row.due_unix_ms },
  { name: 'how', label: 'how', class: 'roomy', cell: (row) => row.how },
  { name: 'message', label: 'message', cell: (row) => html`<b>${row.message}</b>` },
  { name: 'failures', label: 'failures', unit: 'in a row', class: 'num roomy', cell: (row) => (row.failures ? html`<${Tag} kind="bad">${count(row.failures)}<//>` : '0') },
];

const queueColumns = (named) => [
  ...(named ? [{ name: 'who', label: 'actor', cell: (row) => html`<a href=${durableLink(row.kind, row.key)}>${row.kind} <b>${row.key}</b></a>`, sort: (row) => row.kind + row.key }] : []),
  { name: 'queue', label: 'queue', cell: (row) => html`<b>${row.queue}</b>`, sort: (row) => row.queue },
  { name: 'items', label: 'wait', unit: 'items', class: 'num', cell: (row) => count(row.items), sort: (row) => row.items },
  { name: 'dead', label: 'given up', unit: 'items', class: 'num', cell: (row) => (row.dead ? html`<${Tag} kind="bad">${count(row.dead)}<//>` : '0'), sort: (row) => row.dead },
  { name: 'bytes', label: 'size', class: 'num roomy', cell: (row) => bytes(row.bytes), sort: (row) => row.bytes },
  { name: 'oldest', label: 'oldest', class: 'roomy', cell: (row) => html`${row.oldest || '–'} ${row.oldest_for_ms != null && html`<span class="muted">${ms(row.oldest_for_ms)}</span>`}` },
  { name: 'failed', label: 'last failure', class: 'roomy', cell: (row) => (row.failed_ms_ago != null ? html`<${Tag} kind="bad">${ms(row.failed_ms_ago)} ago<//>` : '–') },
];

const Bytes = ({ row, name = 'value' }) => {
  const raw = row[name + '64'];
  const value = raw == null ? row[name] : raw;
  const shown = typeof value === 'string' ? value : write(value);
  return html`<code class="line" title=${shown}>${shown}</code>${raw != null && html` <${Tag} title="bytes that are no text, as base64">base64<//>`}`;
};

const kvColumns = [
  { name: 'key', label: 'key', cell: (row) => html`<b class="path">${row.key}</b>`, sort: (row) => row.key },
  { name: 'value', label: 'value', class: 'wide-2', cell: (row) => html`<${Bytes} row=${row} />` },
  { name: 'size', label: 'size', class: 'num', cell: (row) => bytes(row.size), sort: (row) => row.size },
];

/* Keys and values, in pages; one of them whole. */
function Kv({ kind, name, params }) {
  const prefix = params.get('q') || '';
  const picked = params.get('one');
  const [from, bar] = usePages(kind + name + prefix, '');
  const answer = useAnswer('durable kv', { kind, key: name, text: prefix || undefined, from: from || undefined }, 4000);
  const one = useAnswer(picked && 'durable kv', { kind, key: name, text: picked, limit: 1 }, 4000);
  const row = one.parts && one.parts.find((entry) => entry.key === picked);
  return html`<div class="filters"><${Filter} params=${params} label="Keys that begin with (f)" /><${Age} at=${answer.at} every=${4000} /></div>
    <${Problem} error=${answer.error || one.error} />
    ${picked && one.ok && html`<div class="detail"><b>${picked}</b> ${row ? html`<pre class="wrap">${row.value64 == null ? row.value : row.value64}</pre>${row.value64 != null && html`<${Tag}>base64<//>`}` : 'is not there now.'}</div>`}
    ${answer.ok && html`<${Table} columns=${kvColumns} rows=${answer.parts} id=${(entry) => entry.key} picked=${picked} onPick=${(entry) => tune({ one: entry.key === picked ? '' : entry.key })} empty=${prefix ? 'No key begins so.' : 'It has stored no keys and values.'} />${bar(answer, answer.parts.length)}`}`;
}

const itemStates = { ready: ['ok', 'waits'], timed: ['held', 'waits for its time'], dead: ['bad', 'given up'] };
const itemColumns = [
  { name: 'queue', label: 'queue', class: 'narrow', cell: (row) => html`<b>${row.queue}</b>`, sort: (row) => row.queue },
  { name: 'item', label: 'item', unit: 'number', class: 'num', cell: (row) => count(row.item), sort: (row) => row.item },
  { name: 'state', label: 'state', class: 'mid', cell: (row) => html`<${Tag} kind=${itemStates[row.state][0]}>${itemStates[row.state][1]}<//> <span class="muted">${row.due_in_ms > 0 ? ms(row.due_in_ms) : ''}</span>`, sort: (row) => row.state },
  { name: 'message', label: 'message', cell: (row) => html`<b>${row.message}</b>`, sort: (row) => row.message },
  { name: 'value', label: 'content', class: 'wide-2', cell: (row) => html`<${Bytes} row=${row} />` },
  { name: 'size', label: 'size', class: 'num roomy', cell: (row) => bytes(row.size), sort: (row) => row.size },
  { name: 'failed', label: 'failed', unit: 'attempts', class: 'num roomy', cell: (row) => html`<span title=${row.failure ? `${row.failure} ${row.cause || ''}, ${ms(row.failed_ms_ago)} ago` : ''}>${count(row.attempts)}</span>`, sort: (row) => row.attempts },
];

/* Items of all its queues, in pages: those that were given up first. */
function Items({ kind, name, params }) {
  const queue = params.get('queue') || undefined;
  const [after, bar] = usePages(kind + name + queue);
  const answer = useAnswer('durable queue', { kind, key: name, text: queue, after }, 4000);
  return html`<p class="more">${queue ? html`Items of <b>${queue}</b> <button class="small" onClick=${() => tune({ queue: '' })}>of all queues</button>` : 'Items of all queues'}; the content is shown if an actor of this kind handles such a message. <${Age} at=${answer.at} every=${4000} /></p>
    <${Problem} error=${answer.error} />
    ${answer.ok && html`<${Table} columns=${itemColumns} rows=${answer.parts} id=${(row) => row.queue + row.item} empty="No item waits, and none was given up." />${bar(answer, answer.parts.length)}`}`;
}

/* The types of the members of a state. */
function Schema({ kind, version }) {
  const answer = useAnswer('schema', {}, 0);
  const durable = answer.ok && answer.ok.durable.find((row) => row.name === kind);
  if (!durable) return null;
  return html`<p class="more">Stored as <b>${durable.state}</b> version ${version}${durable.version !== version ? `; the program has version ${durable.version}` : ''}: ${durable.fields.map((field) => html`<code key=${field.name}>${field.name}: ${field.type}${field.secret ? ', secret' : ''}</code> `)}</p>`;
}

function Sql({ kind, name, awake }) {
  useValue('inspect');
  const [text, type] = useState("SELECT name, sql FROM sqlite_schema WHERE type = 'table'");
  const [state, change] = useState({});
  const [writes, allow] = useState(false);
  const args = { kind, key: name, text, limit: 500 };
  const run = async (event) => {
    event.preventDefault();
    if (writes) {
      act({ verb: 'sql', args: { ...args, writes: true }, title: 'Change its tables', grave: true, text: 'The statement may change what is stored.', done: (answer) => change(answer) });
      return;
    }
    change({ ...state, busy: true });
    try {
      change(await askApart('sql', args));
    } catch (error) {
      change({ error });
    }
  };
  const onKey = (event) => (event.ctrlKey || event.metaKey) && event.key === 'Enter' && run(event);
  const columns = state.ok && state.ok.columns ? state.ok.columns.map((label, i) => ({ name: label + i, label, cell: (row) => html`<span class="line" title=${String(row[label])}>${row[label] == null ? html`<span class="muted">NULL</span>` : typeof row[label] === 'object' ? JSON.stringify(row[label]) : String(row[label])}</span>`, sort: (row) => row[label] })) : [];
  if (state.parts) state.parts.forEach((row, i) => Object.defineProperty(row, '#', { value: i, configurable: true }));
  return html`<form class="sql" onSubmit=${run}><textarea name="sql" rows="4" spellcheck=${false} aria-label="a statement of SQL" value=${text} onInput=${(event) => type(event.target.value)} onKeyDown=${onKey}></textarea>
      <div class="buttons"><button class="main" disabled=${state.busy}>Run</button><span class="muted">Ctrl Enter; reads one state of the store, at most 500 rows</span>
      ${may() && html`<label class="check"><input type="checkbox" checked=${writes} disabled=${awake} onChange=${() => allow(!writes)} />may change tables${awake ? ' (only while it is asleep)' : ''}</label>`}</div></form>
    <${Problem} error=${state.error} />
    ${state.ok && !state.ok.columns && html`<p class="calm-text">It was done, and is stored.</p>`}
    ${state.ok && state.ok.columns && html`<${Table} columns=${columns} rows=${state.parts} id=${(row) => row['#']} empty="No rows." />
      <p class="more">${plural(state.ok.count, 'row')}${state.ok.more ? '; there are more' : ''}. <${Age} at=${state.at} /></p>`}`;
}

/* Whether something in a value is not shown: "..." stands for a secret. It must not be stored in place of what it stands for. */
const hides = (value) => (value !== null && typeof value === 'object' ? Object.values(value).some(hides) : value === '...');

function Change({ kind, name, it, again }) {
  const [text, type] = useState(null);
  const [hidden, leave] = useState([]);
  if (!may() || !has('durable set') || it.value == null) return null;
  const begin = () => {
    const members = Object.entries(it.value);
    leave(members.filter(([, value]) => hides(value)).map(([field]) => field));
    type(write(Object.fromEntries(members.filter(([, value]) => !hides(value)))));
  };
  if (text == null) return html`<p class="pad"><button class="small" data-change disabled=${it.awake} title=${it.awake ? 'what is stored changes only while it is asleep' : ''} onClick=${begin}>Change …</button></p>`;
  return html`<div class="pad"><textarea name="state" rows="8" spellcheck=${false} aria-label="the new state" value=${text} onInput=${(event) => type(event.target.value)}></textarea>
    ${hidden.length > 0 && html`<p class="muted">Not here, because a secret is not shown: ${hidden.join(', ')}. What is stored of it stays.</p>`}
    <div class="buttons"><button onClick=${() => type(null)}>Cancel</button>
    <${Act} verb="durable set" args=${{ kind, key: name, json: text }} label="Store" title=${`Store another state of ${kind} ${name}`} grave text="Fields that are not named stay as they are. The descriptor of the state checks it."
      done=${() => { type(null); again(); }} /></div></div>`;
}

const pathOf = (kind, key) => `/system/durable/${kind}/${key}`;

function One({ kind, name, params }) {
  const answer = useAnswer('durable get', { kind, key: name }, 2000);
  const tab = params.get('tab') || 'state';
  const it = answer.ok;
  const path = pathOf(kind, name);
  const crumbs = html`<span class="crumbs"><a href=${link('durable')}>Durable</a> <span class="muted">/</span> <a href=${link('durable', [kind])} data-up>${kind}</a> <span class="muted">/</span> <b class="path">${name}</b></span>`;
  if (!it) return html`<${Panel} title=${crumbs}><${Problem} error=${answer.error} />${!answer.error && html`<${Empty}>reading …<//>`}<//><${History} path=${path} />`;
  const tabs = [['state', 'State'], ['kv', 'Keys and values', it.kv.length + (it.kv_more ? '+' : '')], ['sql', 'SQL'], ['alarms', 'Alarms', it.alarms.length], ['queues', 'Queues', it.queues.length], ['events', 'Events', count(it.events)], ['held', 'What keeps it awake']];
  return html`<${Panel} title=${crumbs} extra=${html`<${Age} at=${answer.at} every=${2000} />`}>
      <div class="who"><${Awake} is=${it.awake} />${it.half_made && html`<${Tag} kind="warn">half made<//>`}
        <span>version ${it.version}, generation ${count(it.generation)}, ${bytes(it.bytes)}, ${plural(it.events, 'event')}</span>
        <div class="acts">
          ${it.awake ? html`<a class="button" href=${actorLink(path)}>The actor</a><${Act} verb="sleep" args=${{ path }} label="Let sleep" title=${`Let ${kind} ${name} sleep`} text="Its state is stored, and its memory is freed. The next message wakes it." done=${answer.again} />`
            : html`<${Act} verb="wake" args=${{ kind, key: name }} label="Wake" title=${`Wake ${kind} ${name}`} done=${answer.again} />`}
          <${Act} verb="durable rm" args=${{ kind, key: name }} label="Destroy" title=${`Destroy ${kind} ${name}`} grave text="All that is stored of it is removed: state, keys and values, tables, alarms, queues and events. This cannot be undone." done=${() => go(link('durable', [kind]))} /></div></div>
      <${Problem} error=${answer.error} />
    <//>
    <${Panel} title=${html`<${Tabs} current=${tab} onPick=${(next) => tune({ tab: next, q: '', one: '', queue: '' })} list=${tabs} />`}>
      ${tab === 'state' && html`${it.awake && html`<p class="muted pad">As it is on disk. The actor may have more in memory: <a href=${actorLink(path)}>ask it</a>.</p>`}
        ${it.value_bytes || it.snapshot_bytes ? html`<${Empty}>Its state is ${bytes(it.value_bytes || it.snapshot_bytes)} of JSON, which is not shown here; <code>troupe durable get</code> prints it.<//>`
          : html`<${Json} value=${it.value == null && it.snapshot != null ? it.snapshot : it.value} deep=${4} />`}${it.snapshot_at != null && html`<p class="muted pad">A snapshot after event ${count(it.snapshot_at)} of ${count(it.events)}.</p>`}
        <${Schema} kind=${kind} version=${it.version} />
        ${!it.events && html`<${Change} kind=${kind} name=${name} it=${it} again=${answer.again} />`}`}
      ${tab === 'kv' && html`<${Needs} verb="durable kv" what="keys and values"><${Kv} kind=${kind} name=${name} params=${params} /><//>`}
      ${tab === 'sql' && html`<${Sql} kind=${kind} name=${name} awake=${it.awake} />`}
      ${tab === 'alarms' && html`<${Table} columns=${alarmColumns(false)} rows=${it.alarms} id=${(row) => row.name} empty="It has set no alarm." />`}
      ${tab === 'queues' && html`<${Table} columns=${queueColumns(false)} rows=${it.queues} id=${(row) => row.queue} onPick=${(row) => tune({ queue: row.queue })} empty="Its queues are empty." /><${Needs} verb="durable queue" what="items of queues"><${Items} kind=${kind} name=${name} params=${params} /><//>`}
      ${tab === 'events' && html`<${Needs} verb="durable events" what="events with the state at each"><${Events} kind=${kind} name=${name} number=${it.events} /><//>`}
      ${tab === 'held' && html`<${Holders} path=${path} awake=${it.awake} />`}
    <//>
    <${History} path=${path} />`;
}

const Holders = ({ path, awake }) => (awake ? html`<${Why} path=${path} nothing="Nothing: it will sleep when its idle time is over." />`
  : html`<${Empty}>It is asleep: nothing keeps it awake.<//>`);

/* ---- Of all actors. ---- */

function Alarms({ params }) {
  const answer = useAnswer('alarms', { limit: PAGE }, 4000);
  const kinds = (answer.ok && answer.ok.kinds) || [];
  return html`<${Problem} error=${answer.error} />${answer.ok && html`
    <${Facts} list=${kinds.map((row) => [row.kind, html`${plural(row.alarms, 'alarm')}${row.overdue ? html`, <${Tag} kind="bad">${count(row.overdue)} overdue<//>` : ''}, next ${row.next_in_ms < 0 ? 'was due ' + ms(-row.next_in_ms) + ' ago' : 'in ' + ms(row.next_in_ms)}`])} />
    <${Table} columns=${alarmColumns(true)} rows=${fitting(answer.parts, params)} id=${(row) => row.kind + row.key + row.name} empty=${params.get('q') ? 'No alarm that is shown fits.' : 'No alarm is set.'} />
    <p class="more">${plural(answer.ok.count, 'alarm')} are shown, those that are due first${answer.ok.counted_all ? '' : '; not all were counted'}${answer.ok.unreadable ? `; ${count(answer.ok.unreadable)} cannot be read` : ''}. <${Age} at=${answer.at} every=${4000} /></p>`}`;
}

function Queues({ params }) {
  const answer = useAnswer('queues', { limit: PAGE }, 4000);
  return html`<${Problem} error=${answer.error} />${answer.ok && html`<${Table} columns=${queueColumns(true)} rows=${fitting(answer.parts, params)} id=${(row) => row.kind + row.key + row.queue} empty=${params.get('q') ? 'No queue that is shown fits.' : 'Nothing waits in a queue.'} />
    <p class="more">${answer.ok.more ? `The first ${plural(answer.parts.length, 'queue')} are shown; there are more.` : ''} <${Age} at=${answer.at} every=${4000} /></p>`}`;
}

export function Durable({ route }) {
  const [kind, ...rest] = route.rest;
  const tab = route.params.get('all') || 'kinds';
  if (kind && rest.length) return html`<${One} key=${route.rest.join('/')} kind=${kind} name=${rest.join('/')} params=${route.params} />`;
  if (kind) return html`<${Keys} key=${kind} kind=${kind} params=${route.params} />`;
  return html`<${Needs} verb="durable ls" what="what is stored">
    <${Tabs} current=${tab} onPick=${(next) => tune({ all: next === 'kinds' ? '' : next, q: '' })} list=${[['kinds', 'Kinds'], ['alarms', 'Alarms of all'], ['queues', 'Queues of all']]} />
    ${tab === 'alarms' ? html`<${Panel} title="Alarms" extra=${html`<${Filter} params=${route.params} label="Actor or alarm (f)" />`}><${Alarms} params=${route.params} /><//>`
      : tab === 'queues' ? html`<${Panel} title="Queues" extra=${html`<${Filter} params=${route.params} label="Actor or queue (f)" />`}><${Queues} params=${route.params} /><//>` : html`<${Kinds} params=${route.params} />`}<//>`;
}
