/* SPDX-License-Identifier: Apache-2.0 */
/* One actor: its state, its mailboxes, why it does not run, what is below it, and what can be done with it. */
import { useState } from 'preact/hooks';
import { Age, Bar, Empty, Facts, html, Json, Needs, Panel, Path, Problem, Search, Source, State, Table, Tabs, Tag } from '../parts.js';
import { useAnswer } from '../poll.js';
import { has, may } from '../link.js';
import { useValue } from '../store.js';
import { actorLink, durableLink, go, link, traceLink, tune } from '../route.js';
import { bytes, count, ms, plural } from '../format.js';
import { Act, act } from '../acts.js';
import { useForm } from '../form.js';
import { Rows } from './tree.js';
import { History } from './failures.js';

/* ---- Head. ---- */

function Crumbs({ path }) {
  const parts = path.split('/').slice(1);
  const up = parts.length > 1 ? actorLink('/' + parts.slice(0, -1).join('/')) : link('tree');
  return html`<span class="crumbs"><a href=${link('tree')}>Tree</a>${parts.map((part, i) => html`
    <span class="muted">/</span>${i === parts.length - 1 ? html`<b>${part}</b>` : html`<a href=${actorLink('/' + parts.slice(0, i + 1).join('/'))}>${part}</a>`}`)}
    <a class="up" data-up href=${up} title="the parent (u)">↑ up</a></span>`;
}

/* A durable actor that is awake is below /system/durable/<kind>. */
const durableOf = (path) => /^\/system\/durable\/([^/]+)\/(.+)$/.exec(path);

function Acts({ path, row, again }) {
  const held = row.state === 'Suspended';
  const durable = durableOf(path);
  return html`<div class="acts">
    ${held
      ? html`<${Act} key="resume" verb="resume" args=${{ path }} label="Resume" title=${`Resume ${path}`} done=${again} />`
      : html`<${Act} key="suspend" verb="suspend" args=${{ path }} label="Suspend" title=${`Suspend ${path}`} done=${again} text="It handles no messages until it is resumed; they wait in its mailbox." />`}
    ${durable && html`<${Act} verb="sleep" args=${{ path }} label="Let sleep" title=${`Let ${path} sleep`} done=${again} text="Its state is stored, and its memory is freed. The next message wakes it." />`}
    <${Act} verb="stop" args=${{ path }} label="Stop" title=${`Stop ${path}`} done=${again} text="It handles what it has begun, and ends with all actors below it." grave />
    <${Act} verb="kill" args=${{ path }} label="Kill" title=${`Kill ${path}`} done=${again} text="It ends at once, with all actors below it. Its messages are lost." grave />
    ${has('trace') && html`<a class="button" href=${traceLink(path)}>Trace</a>`}
    ${has('log tail') && html`<a class="button" href=${link('log', [], { path })}>Log</a>`}
    ${durable && html`<a class="button" href=${durableLink(durable[1], durable[2])}>What is stored</a>`}
  </div>`;
}

/* ---- Parts. ---- */

/* A turn of another actor that takes this long is worth a sentence. */
const STUCK_MS = 100;

/* If the worker was busy for a moment, what it said before stays, with its age. */
function keep(before, answer) {
  const isWhole = !answer.ok.not_asked;
  const last = before && before.whole;
  if (isWhole || !last) return { ...answer, whole: isWhole ? answer : null };
  return { ...answer, ok: { ...last.ok, ...answer.ok }, whole: last };
}

function Stuck({ stuck }) {
  if (!stuck || stuck.for_ms < STUCK_MS) return null;
  return html`<p class="problem"><b>Its worker is stuck.</b> Worker ${stuck.worker} has been in <code>${stuck.handler || 'a function'}</code>${' '}
    of <${Path} path=${stuck.path} /> (message ${stuck.message || '–'}, <${Source} ...${stuck} />) for ${ms(stuck.for_ms)}. What only
    that worker knows cannot be read meanwhile.</p>`;
}

function Mailbox({ it }) {
  const mail = Object.entries(it.mail || {}).sort((a, b) => b[1] - a[1]);
  const most = Math.max(1, ...mail.map(([, n]) => n));
  return html`<${Facts} rows list=${[
    ['queued', html`<${Bar} part=${it.queued / (it.queued_max || 1)} text=${`${count(it.queued)} of ${count(it.queued_max)} messages`} />`],
    ['size', bytes(it.queued_bytes)],
    it.oldest && ['oldest', html`<b>${it.oldest.message || 'a message'}</b> from ${it.oldest.from_path ? html`<${Path} path=${it.oldest.from_path} />` : 'outside'}, ${it.oldest.at_least_ms ? `waits for at least ${ms(it.oldest.at_least_ms)}` : 'seen for the first time'}`],
    ['senders that wait for space', it.senders_waiting != null ? plural(it.senders_waiting, 'sender') : null, it.senders_waiting ? 'warn' : ''],
    ['stashed', it.stashed != null ? plural(it.stashed, 'message') : null],
  ]} />
  ${mail.length > 0 && html`<ul class="mail">${mail.map(([type, n]) => html`<li key=${type}><code>${type}</code><${Bar} part=${n / most} text=${plural(n, 'message')} /></li>`)}</ul>`}`;
}

function Figures({ it }) {
  return html`<${Facts} rows list=${[
    ['timers', it.timers != null ? plural(it.timers, 'timer') : null],
    ['asks without an answer yet', it.asks != null ? plural(it.asks, 'ask') : null, it.asks ? 'note' : ''],
    ['replies owed', it.replies_owed != null ? plural(it.replies_owed, 'reply', 'replies') : null, it.replies_owed ? 'note' : ''],
    ['turns that wait', it.turns_waiting != null ? plural(it.turns_waiting, 'turn') : null, it.turns_waiting ? 'note' : ''],
    ['watches', it.watches != null ? plural(it.watches, 'actor') : null],
    ['incarnation', it.incarnation != null ? `number ${count(it.incarnation)}, after ${plural(Math.max(0, it.incarnation - 1), 'restart')}` : null],
    ['memory', it.bytes != null ? bytes(it.bytes) + (it.bytes_max ? ' of ' + bytes(it.bytes_max) : '') : null],
    ['children', plural(it.children, 'actor')],
    ['worker', it.worker < 0 ? 'none' : `number ${it.worker}`],
  ]} />`;
}

/* Why it does not run, or what keeps it awake: each reason with the actor that holds it. */
export function Why({ path, nothing = 'Nothing keeps it from running.' }) {
  const answer = useAnswer('why', { path }, 2000);
  if (answer.error) return html`<${Problem} error=${answer.error} />`;
  if (!answer.ok) return html`<${Empty}>reading …<//>`;
  const { reasons } = answer.ok;
  return html`<ul class="reasons">${reasons.map((reason, i) => html`<li key=${i}>
    <${Tag} kind=${reason.kind === 'TR_WHY_IDLE' ? 'note' : 'held'}>${reason.kind}<//>
    <span>${reason.text}${reason.who_path && reason.who_path !== path ? html` <${Path} path=${reason.who_path} />` : ''}</span>
    ${reason.for_ms >= 0 && html`<span class="muted"> for ${ms(reason.for_ms)}</span>`}
    ${reason.where && html`<span class="source">${reason.where}</span>`}</li>`)}</ul>
    ${!reasons.length && html`<p class="calm-text">${nothing}</p>`}<${Age} at=${answer.at} every=${2000} />`;
}

const mailColumns = [
  { name: 'message', label: 'message', cell: (row) => html`<b>${row.message}</b> <span class="muted">${row.kind}</span>` },
  { name: 'from', label: 'from', cell: (row) => (row.from_path ? html`<${Path} path=${row.from_path} />` : html`<span class="muted">outside</span>`) },
  { name: 'value', label: 'content', class: 'wide-2', cell: (row) => html`<code class="line" title=${text(row.value)}>${text(row.value)}</code>` },
  { name: 'size', label: 'size', class: 'num roomy', cell: (row) => bytes(row.size) },
  { name: 'causal', label: 'causal id', class: 'roomy', cell: (row) => row.causal && html`<a class="mono" href=${traceLink(row.causal)}>${row.causal}</a>` },
];
const text = (value) => (value == null ? 'not shown' : JSON.stringify(value, (name, item) => (typeof item === 'bigint' ? String(item) : item)));

/* The messages that wait, in their order. */
export function Mail({ path }) {
  const answer = useAnswer('mail', { path, limit: 32 }, 4000);
  return html`<${Problem} error=${answer.error} />
    ${answer.ok && answer.ok.not_asked && html`<p class="problem"><b>${answer.ok.not_asked}</b> Its worker did not answer: the messages cannot be read now.</p>`}
    ${answer.ok && !answer.ok.not_asked && html`<${Table} columns=${mailColumns} rows=${answer.parts} id=${(row) => row.number} empty="No message waits." />
      ${answer.ok.more && html`<p class="more">The first ${plural(answer.parts.length, 'message')} are shown; more wait.</p>`}`}
    <${Age} at=${answer.at} every=${4000} />`;
}

const waitKinds = {
  ask: ['asks', 'asks without an answer yet', 'ask without an answer yet'],
  timer: ['timer', 'timers', 'timer'],
  watches: ['watches', 'actors that it watches', 'actor that it watches'],
  'watched by': ['watched by', 'actors that watch it', 'actor that watches it'],
  sender: ['sender waits', 'senders that wait for space in its mailbox', 'sender that waits for space in its mailbox'],
};
const waitColumns = [
  { name: 'kind', label: 'what', class: 'narrow', cell: (row) => html`<${Tag} kind=${row.kind === 'ask' || row.kind === 'sender' ? 'held' : 'note'}>${waitKinds[row.kind][0]}<//>`, sort: (row) => row.kind },
  { name: 'who', label: 'of whom', class: 'wide-1', cell: (row) => (row.kind === 'timer' ? html`<b>${row.name || 'without a key'}</b>` : row.who_path ? html`<${Path} path=${row.who_path} />` : html`<span class="muted">${row.who ? 'a client, or an actor that has ended' : 'outside'}</span>`), sort: (row) => row.who_path || row.name || '' },
  { name: 'message', label: 'message', cell: (row) => row.message && html`<b>${row.message}</b>`, sort: (row) => row.message || '' },
  { name: 'for', label: 'waits', unit: 'for', class: 'num', cell: (row) => (row.for_ms != null ? ms(row.for_ms) : '–'), sort: (row) => row.for_ms || 0 },
  { name: 'due', label: 'due', class: 'num mid', cell: (row) => html`${row.due_in_ms != null ? (row.due_in_ms < 0 ? 'now' : 'in ' + ms(row.due_in_ms)) : '–'}${row.period_ms ? html` <span class="muted">each ${ms(row.period_ms)}</span>` : ''}`, sort: (row) => row.due_in_ms || 0 },
  { name: 'where', label: 'where', class: 'roomy', cell: (row) => row.where && html`<span class="source" title=${row.where}>${row.where}</span>` },
];

/* What it waits for, and what waits for it. */
function Waits({ path }) {
  const answer = useAnswer('waits', { path }, 2000);
  const total = (answer.ok && answer.ok.total) || {};
  const rows = (answer.parts || []).map((row, i) => ({ ...row, i }));
  return html`<${Problem} error=${answer.error} />
    ${answer.ok && answer.ok.not_asked && html`<p class="problem"><b>${answer.ok.not_asked}</b> Its worker did not answer: this cannot be read now.</p>`}
    ${answer.ok && answer.ok.total && html`<${Table} columns=${waitColumns} rows=${rows} id=${(row) => row.i} empty="It has no asks, timers and watchers, and no sender waits for it. A turn that waits for something else is in Why." />
      ${rows.length > 0 && html`<p class="more">${Object.keys(total).filter((kind) => total[kind]).map((kind) => plural(total[kind], waitKinds[kind][2], waitKinds[kind][1])).join(', ')}; at most 20 of each are shown.</p>`}`}
    <${Age} at=${answer.at} every=${2000} />`;
}

/* ---- Children, by behavior. ---- */

function Children({ path, number, params }) {
  const answer = useAnswer('tree', { path }, 4000);
  const groups = (answer.ok && answer.ok.groups) || [];
  const group = params.get('group') || '';
  const deep = !!params.get('deep');
  const names = [...new Set(groups.map((row) => row.behavior))];
  const countOf = (name) => groups.filter((row) => row.behavior === name).reduce((sum, row) => sum + row.count, 0);
  return html`<${Panel} title=${`Below it: ${plural(number || 0, 'child', 'children')}${answer.ok ? `, ${plural(answer.ok.below, 'actor')} on all levels` : ''}`} extra=${html`
      <label class="check"><input type="checkbox" checked=${deep} onChange=${(event) => tune({ deep: event.target.checked ? '1' : '' })} />all levels</label>
      <${Search} value=${params.get('q')} onChange=${(q) => tune({ q })} label="Part of the path (f)" />`}>
    ${names.length > 1 && html`<div class="chips"><button aria-pressed=${!group} onClick=${() => tune({ group: '' })}>all</button>
      ${names.map((name) => html`<button key=${name} aria-pressed=${group === name} onClick=${() => tune({ group: group === name ? '' : name })}>
        ${name || '?'} <b>${count(countOf(name))}</b></button>`)}</div>`}
    <${Rows} every=${4000} args=${{ path, direct: deep ? undefined : true, behavior: group || undefined, text: params.get('q') || undefined }} empty="No such actors below it." />
  <//>`;
}

/* ---- Sending. ---- */

function Send({ path }) {
  useValue('inspect');
  const own = useAnswer('messages', { path }, 0);
  const answer = useAnswer('schema', {}, 0);
  const [picked, pick] = useState('');
  const [problem, fail] = useState(null);
  const [reply, show] = useState(null);
  const handled = own.ok && own.ok.messages;
  /* The descriptors of this actor first: another file may have a message of the same name. */
  const schema = { messages: [...(handled || []), ...((answer.ok && answer.ok.messages) || [])] };
  const messages = handled || (has('messages') ? [] : schema.messages);
  const name = messages.some((message) => message.name === picked) ? picked : (messages[0] || {}).name;
  const message = messages.find((entry) => entry.name === name);
  const [form, json] = useForm(schema, name);
  if (own.error) return html`<${Problem} error=${own.error} />`;
  if (!has('messages') && !has('schema')) return html`<${Empty}>This program does not answer <code>messages</code>: forms cannot be made.<//>`;
  if (!messages.length) return html`<${Empty}>${own.ok || answer.ok ? 'It has no handler for messages from outside.' : 'reading …'}<//>`;
  const send = (verb) => {
    let text;
    try {
      text = json();
      fail(null);
    } catch (error) {
      fail(error);
      return;
    }
    show(null);
    act({
      verb, args: { path, message: name, json: text }, title: `${verb === 'tell' ? 'Tell' : 'Ask'} ${name}`,
      done: ({ ok, took }) => verb === 'ask' && show({ ok, took }),
    });
  };
  return html`<div class="send">
    <label class="field"><span class="field-name">message</span>
      <select name="message" value=${name} onChange=${(event) => pick(event.target.value)}>${messages.map((entry) => html`
        <option key=${entry.name} value=${entry.name}>${entry.name}${entry.reply ? ' → ' + entry.reply : ''}</option>`)}</select></label>
    ${!handled && html`<p class="muted">All messages of the program are listed; those without a handler here are refused.</p>`}
    ${form}
    ${problem && html`<p class="problem">${problem.message}</p>`}
    <div class="buttons">
      ${has('tell') && html`<button data-send="tell" disabled=${!may()} onClick=${() => send('tell')}>Tell</button>`}
      ${has('ask') && message.reply && html`<button data-send="ask" class="main" disabled=${!may()} onClick=${() => send('ask')}>Ask</button>`}
      ${!may() && html`<span class="muted">This page may only read.</span>`}</div>
    ${reply && html`<div class="reply"><h3>${reply.ok.reply} <span class="muted">after ${ms(reply.took)}</span></h3><${Json} value=${reply.ok.value} /></div>`}
  </div>`;
}

/* ---- The whole. ---- */

const isGone = (error) => error.status === 'TR_NOT_FOUND' || error.status === 'TR_STOPPED';

function Gone({ path, error }) {
  const durable = durableOf(path);
  return html`<${Panel} title=${html`<${Crumbs} path=${path} />`}>
    ${isGone(error)
      ? html`<p class="problem"><b>This actor is not there.</b> It has ended, or has not been started.</p>
        ${durable && html`<p>It is a durable actor, so it may be asleep: <a href=${durableLink(durable[1], durable[2])}>what is stored of it</a>.</p>`}`
      : html`<${Problem} error=${error} />`}<//>
    <${History} path=${path} />`;
}

export function Actor({ path, params }) {
  const answer = useAnswer('show', { path }, 2000, keep);
  const it = answer.ok;
  const tab = params.get('tab') || (it && it.value == null && !it.state_type ? 'why' : 'state');
  /* A request that fails once must not take away what somebody types below. */
  if (answer.error && (!it || isGone(answer.error))) return html`<${Gone} path=${path} error=${answer.error} />`;
  if (!it) return html`<${Panel} title=${html`<${Crumbs} path=${path} />`}><${Empty}>reading …<//><//>`;
  return html`<${Panel} class="actor" title=${html`<${Crumbs} path=${path} />`} extra=${html`<${Age} at=${answer.at} every=${2000} />`}>
      <div class="who"><${State} row=${it} /><a href=${link('tree', [], { behavior: it.behavior })}><b>${it.behavior}</b></a>
        <${Source} ...${it} /><code class="muted">${it.ref}</code><${Acts} path=${path} row=${it} again=${answer.again} /></div>
      <${Stuck} stuck=${it.stuck} /><${Problem} error=${answer.error} />
      ${it.not_asked && !(it.stuck && it.stuck.for_ms >= STUCK_MS) && html`<p class="more">Its worker was busy at the last look${answer.whole ? html`: its state and figures are those of <${Age} at=${answer.whole.at} />` : ', and has not said what only it knows'}.</p>`}
    <//>
    <div class="columns actor-columns">
      <${Panel} title=${html`<${Tabs} current=${tab} onPick=${(name) => tune({ tab: name })} list=${[['state', 'State'], ['mail', 'Messages', count(it.queued)], ['waits', 'Waits', it.asks != null ? count(it.asks + it.timers) : null], ['why', 'Why'], ['send', 'Send']]} />`}
        extra=${tab === 'state' && it.state_type && html`<code>${it.state_type}</code>`}>
        ${tab === 'why' ? html`<${Why} path=${path} />` : tab === 'mail' ? html`<${Needs} verb="mail" what="the messages that wait"><${Mail} path=${path} /><//>`
          : tab === 'waits' ? html`<${Needs} verb="waits" what="asks, timers and watchers"><${Waits} path=${path} /><//>` : tab === 'send' ? html`<${Send} path=${path} />`
          : it.value == null ? html`<${Empty}>${it.not_asked ? 'Not read.' : it.state_type ? 'Its state is larger than the 8 KiB of JSON that are shown.' : 'This behavior shows no state: the option .shows of TR_BEHAVIOR names a descriptor.'}<//>`
            : html`<${Json} value=${it.value} deep=${3} />`}
      <//>
      <div>
        <${Panel} title="Mailbox"><${Mailbox} it=${it} /><//>
        <${Panel} title="Figures"><${Figures} it=${it} /><//>
      </div>
    </div>
    ${(it.children > 0 || params.get('q')) && html`<${Children} path=${path} number=${it.children} params=${params} />`}
    <${History} path=${path} />`;
}
