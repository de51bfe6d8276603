/* SPDX-License-Identifier: Apache-2.0 */
/* How the store does: commits over time, files, kinds; backup and check. */
import { useState } from 'preact/hooks';
import { Age, Empty, Facts, html, Needs, Panel, Problem, Search, Table, Tag } from '../parts.js';
import { useAnswer } from '../poll.js';
import { askApart, has, may } from '../link.js';
import { durableLink, link, tune } from '../route.js';
import { bytes, count, ms, plural, rate, us } from '../format.js';
import { Act } from '../acts.js';
import { Chart } from '../chart.js';

const KEPT = 90;

/* What was added since the look before: how long a commit took, how many there were, and how many changes each had. */
function fold(before, answer) {
  const past = (before && before.past) || { t: [], commit: [], rate: [], group: [] };
  const { commits, commits_ns: time, changes } = answer.ok;
  const added = before ? commits - before.ok.commits : 0;
  past.t.push(answer.at / 1000);
  past.commit.push(added > 0 ? (time - before.ok.commits_ns) / added / 1000 : answer.ok.commit_us);
  past.rate.push(added > 0 ? (added * 1000) / (answer.at - before.at) : 0);
  past.group.push(added > 0 ? (changes - before.ok.changes) / added : 0);
  if (past.t.length > KEPT) for (const list of Object.values(past)) list.shift();
  return { ...answer, past };
}

const last = (list) => list[list.length - 1];
const charts = {
  commit: ['How long', 'a commit takes', us],
  rate: ['How many', 'commits', rate],
  group: ['Group size', 'changes of actors in a commit', (n) => `${n.toFixed(1)} changes`],
};

/* Members that the page does not know get a unit by their name. */
function labelled([name, value]) {
  const text = name.replace(/_(bytes|us|ms|ns)$/, '').replace(/_/g, ' ');
  if (typeof value !== 'number') return [text, String(value)];
  const unit = /_bytes$/.test(name) ? bytes : /_us$/.test(name) ? us : /_ms$/.test(name) ? ms : count;
  return [text, unit(value)];
}
const named = new Set(['status', 'opened', 'commit_us', 'writing_for_ms', 'waiting_to_wake', 'waiting_to_retry', 'kinds', 'directory', 'database_bytes', 'log_bytes', 'disk_free_bytes', 'waiting',
  'commits', 'commits_ns', 'changes', 'checkpoints', 'checkpoint_us']);
const others = (ok) => Object.entries(ok || {}).filter(([name, value]) => !named.has(name) && value !== null && typeof value !== 'object').map(labelled);

function Check() {
  const [state, change] = useState({});
  const run = async () => {
    change({ busy: true });
    try {
      change(await askApart('store check'));
    } catch (error) {
      change({ error });
    }
  };
  if (!has('store check')) return null;
  return html`<div class="pad"><button disabled=${state.busy} onClick=${run}>${state.busy ? 'reading each row …' : 'Check each row'}</button>
    <${Problem} error=${state.error} />
    ${state.ok && html`<p>${plural(state.ok.actors, 'actor')} read, ${state.ok.damaged ? html`<${Tag} kind="bad">${count(state.ok.damaged)} damaged<//>` : html`<${Tag} kind="ok">none damaged<//>`}</p>
      ${state.parts.length > 0 && html`<ul>${state.parts.map((row, i) => html`<li key=${i}><a href=${durableLink(row.kind, row.key)}>${row.kind} ${row.key}</a> ${row.status}</li>`)}</ul>`}`}</div>`;
}

/* The path is proposed once: what somebody types must not meet another proposal. */
const proposed = (directory) => `${directory || '/tmp/store'}-backup-${new Date().toISOString().slice(0, 16).replace(/[-:]/g, '').replace('T', '-')}`;

function Backup({ directory }) {
  const [path, type] = useState(() => proposed(directory));
  const [made, show] = useState(null);
  if (!has('store backup')) return html`<${Empty}>This program does not answer <code>store backup</code>.<//>`;
  return html`<div class="pad"><label class="field"><span class="field-name">to a new directory, where the program runs</span>
      <input name="backup" value=${path} spellcheck=${false} onInput=${(event) => type(event.target.value)} /></label>
    <div class="buttons"><${Act} verb="store backup" args=${{ text: path }} label="Back up" title="Back up the store" text="The program copies its store while it runs. Actors do not wait for it." done=${({ ok }) => show(ok)} />
      ${!may() && html`<span class="muted">This page may only read.</span>`}</div>
    ${made && html`<p><${Tag} kind="ok">done<//> ${bytes(made.bytes)} in <code>${made.path}</code></p>`}</div>`;
}

export function Store({ route }) {
  const now = useAnswer('store', {}, 2000, fold);
  const stats = useAnswer('store stats', {}, 4000);
  if (now.error && !now.ok) return html`<${Panel} title="Store"><${Empty}>${now.error.message}.<//><//>`;
  const it = now.ok;
  const files = stats.ok || {};
  const shown = charts[route.params.get('chart')] ? route.params.get('chart') : 'commit';
  return html`<${Needs} verb="store" what="the store">
    <${Panel} title="Commits" extra=${html`<${Age} at=${now.at} every=${2000} />`}>
      ${it && html`<${Facts} list=${[
        ['store', it.status === 'TR_OK' ? html`<${Tag} kind="ok">works<//>` : html`<${Tag} kind="bad">${it.status}<//>`],
        ['a commit takes', us(last(now.past.commit))],
        it.commits != null && ['commits', `${rate(last(now.past.rate))}, ${count(it.commits)} in all`],
        it.commits != null && ['group size', `${last(now.past.group).toFixed(1)} changes in a commit`],
        ['commit under way', it.writing_for_ms ? 'for ' + ms(it.writing_for_ms) : 'none', it.writing_for_ms > 1000 ? 'warn' : ''],
        it.checkpoints != null && ['checkpoints', `${count(it.checkpoints)} in all${it.checkpoints ? `, the last took ${us(it.checkpoint_us)}` : ''}`],
        ['wait to wake', plural(it.waiting_to_wake, 'actor')],
        ['wait after a failure', plural(it.waiting_to_retry, 'actor'), it.waiting_to_retry ? 'warn' : ''],
        ['opened', plural(it.opened, 'time')],
        ...others(it),
      ]} />
      ${it.commits != null && html`<div class="chips">${Object.entries(charts).map(([name, [label]]) => html`<button key=${name} aria-pressed=${shown === name} onClick=${() => tune({ chart: name === 'commit' ? '' : name })}>${label}</button>`)}</div>`}
      ${now.past.t.length > 1 && html`<${Chart} stamp=${shown + last(now.past.t)} times=${now.past.t} list=${now.past[shown]} label=${charts[shown][1]} text=${charts[shown][2]} />`}`}<//>
    <div class="columns">
      <${Panel} title="Files" extra=${html`<${Age} at=${stats.at} every=${4000} />`}><${Needs} verb="store stats" what="sizes of files"><${Problem} error=${stats.error} />
        ${stats.ok && html`<${Facts} list=${[['directory', files.directory ? html`<code class="wrap">${files.directory}</code>` : 'in memory'], ['database', files.database_bytes != null ? bytes(files.database_bytes) : null], ['log', files.log_bytes != null ? bytes(files.log_bytes) : null],
          ['free on the disk', files.disk_free_bytes != null ? bytes(files.disk_free_bytes) : null], ['wait to be committed', files.waiting != null ? plural(files.waiting, 'change') : null], ...others(files)]} />`}<${Check} /><//><//>
      <${Panel} title="Backup">${(stats.at || !has('store stats')) && html`<${Backup} directory=${files.directory} />`}<//>
    </div>
    <${Panel} title="Kinds" extra=${html`<${Search} value=${route.params.get('q')} onChange=${(q) => tune({ q })} label="Kind (f)" /><${Age} at=${now.at} every=${2000} />`}>${it && html`<${Table} columns=${[
      { name: 'kind', label: 'kind', cell: (row) => html`<a href=${link('durable', [row.kind])}><b>${row.kind}</b></a>`, sort: (row) => row.kind },
      { name: 'version', label: 'version', unit: 'of the state', class: 'num', cell: (row) => count(row.version), sort: (row) => row.version },
      { name: 'awake', label: 'awake', unit: 'actors', class: 'num', cell: (row) => count(row.awake), sort: (row) => row.awake },
    ]} rows=${it.kinds.filter((row) => row.kind.toLowerCase().includes((route.params.get('q') || '').toLowerCase()))} id=${(row) => row.kind} empty="No durable kinds." />`}<//>
  <//>`;
}
