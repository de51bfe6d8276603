/* SPDX-License-Identifier: Apache-2.0 */
/* The frame: the list of views, the strip of counters, keys, and what is said about the connection. */
import { options, render } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Age, Guard, html, Spark } from './parts.js';
import { addressOf, connect, may, useToken } from './link.js';
import { get, set, toast, useValue } from './store.js';
import { go, link, useRoute } from './route.js';
import { watch } from './watch.js';
import { Dialog } from './acts.js';
import { SearchBox } from './search.js';
import { count, date, plural, rate, short } from './format.js';
import { Tree } from './views/tree.js';
import { Time } from './views/time.js';
import { Mailboxes } from './views/mailboxes.js';
import { Trace } from './views/trace.js';
import { Durable } from './views/durable.js';
import { Connections } from './views/connections.js';
import { Failures } from './views/failures.js';
import { Store } from './views/store.js';
import { Log } from './views/log.js';

export const views = [
  ['tree', 'Tree', Tree, 'who is there'],
  ['time', 'Time', Time, 'what takes long'],
  ['mailboxes', 'Mailboxes', Mailboxes, 'what waits'],
  ['trace', 'Trace', Trace, 'what leads to what'],
  ['durable', 'Durable', Durable, 'what is stored'],
  ['connections', 'Connections', Connections, 'who is connected'],
  ['failures', 'Failures', Failures, 'what went wrong'],
  ['store', 'Store', Store, 'how the disk does'],
  ['log', 'Log', Log, 'what was written'],
];

const keys = [
  ['1 – 9', 'a view'],
  ['/', 'search actors, behaviors, durable keys and views'],
  ['f', 'the filter of the view'],
  ['p', 'pause, or resume'],
  ['↑ ↓', 'rows of a table; Enter opens one'],
  ['u', 'up: the parent of an actor'],
  ['Esc', 'close what is open'],
  ['?', 'this list'],
];

/* ---- The frame. ---- */

function Nav({ current }) {
  const findings = useValue('findings');
  const wrong = { failures: 0, mailboxes: 0, tree: 0 };
  for (const found of findings) {
    if (found.kind === 'stuck') wrong.tree++;
    else if (found.kind === 'mailbox') wrong.mailboxes++;
    else wrong.failures++;
  }
  const box = useRef(null);
  /* On a phone the list is one line, which scrolls. */
  useEffect(() => {
    const shown = box.current.querySelector('[aria-current]');
    box.current.scrollTo({ left: shown.offsetLeft - 60 });
  }, [current]);
  return html`<nav ref=${box} aria-label="views">${views.map(([name, label, , what], i) => html`
    <a key=${name} href=${link(name)} aria-current=${name === current ? 'page' : undefined} title=${what}>
      <kbd>${i + 1}</kbd><span>${label}</span>${wrong[name] > 0 && html`<b class="mark" title="needs attention">${wrong[name]}</b>`}</a>`)}</nav>`;
}

function Brand() {
  const hello = useValue('hello');
  const inspect = useValue('inspect');
  return html`<div class="brand">
    <span class="logo" aria-hidden="true"><i></i><i></i><i></i></span>
    <div><strong>${hello ? hello.app : 'troupe'}</strong>
    <span class="muted">${hello ? `process ${hello.pid}` : 'inspector'}</span></div>
    ${inspect && html`<span class=${'tag ' + (may() ? 'held' : 'note')} title=${may() ? 'acts are allowed' : 'nothing can be changed from here'}>
      ${may() ? 'may act' : 'read only'}</span>`}
    ${inspect && inspect.dropped > 0 && html`<span class="tag warn" title="The inspector closes a page that does not read for 5 s.">${plural(inspect.dropped, 'page')} dropped</span>`}</div>`;
}

const Tile = ({ label, value, unit, to, kind, title, children }) => html`
  <a class=${'tile ' + (kind || '')} href=${to} title=${title}><span class="label">${label}</span>
  <span class="value">${value}<span class="unit">${unit}</span></span>${children}</a>`;

function Strip() {
  const head = useValue('head');
  if (!head) return html`<div class="strip"><span class="empty">reading …</span></div>`;
  const { counters, per, workers, busy, history, at } = head;
  const long = workers.filter((worker) => worker.running && worker.for_ms >= 100).length;
  const worker = workers.filter((entry) => entry.open).length;
  return html`<div class="strip">
    <${Tile} label="actors" value=${short(counters.live)} unit="alive" to=${link('tree')} />
    <${Tile} label="handled" value=${history.t.length > 1 ? short(per.handled) : '–'} unit="msg/s" to=${link('time')}>
      <${Spark} list=${history.handled} data=${at} label="messages handled each second" /><//>
    <${Tile} label="pending" value=${short(counters.queued)} unit="msg" to=${link('mailboxes')} title="accepted and not handled yet: in a mailbox, or in a turn that runs or waits">
      <${Spark} list=${history.pending} data=${at} label="pending messages" /><//>
    <${Tile} label="workers" value=${long ? `${long} stuck` : `${busy} of ${worker}`} unit=${long ? `of ${worker}` : 'in a turn'} to=${link('time')} kind=${long ? 'bad' : ''} />
    <${Tile} label="failures" value=${short(counters.failures)} unit=${per.failures > 0 ? rate(per.failures) : 'in all'} to=${link('failures')} kind=${per.failures > 0 ? 'bad' : ''} />
    <${Tile} label="dead letters" value=${short(counters.dead_letters)} unit=${per.dead_letters > 0 ? rate(per.dead_letters) : 'in all'}
      to=${link('failures', [], { tab: 'letters' })} kind=${per.dead_letters > 0 ? 'warn' : ''} />
  </div>`;
}

const readAt = { get ms() { return get('head') && get('head').at; } };

function Live() {
  const phase = useValue('phase');
  const paused = useValue('paused');
  const kind = phase !== 'open' ? 'bad' : paused ? 'held' : 'ok';
  return html`<div class="live">
    <span class=${'dot ' + kind}></span>
    <span>${phase !== 'open' ? 'no connection' : paused ? 'paused' : 'live'}</span>
    <${Age} at=${readAt} every=${2000} />
    <button class="small" onClick=${() => set({ paused: !get('paused') })} aria-pressed=${paused}>${paused ? 'Resume' : 'Pause'}<kbd>p</kbd></button>
    <button class="small" onClick=${copyLink} title="with the token: whoever has it can open it on this machine">Copy link</button>
    <button class="small" onClick=${() => set({ help: !get('help') })} aria-label="keys"><kbd>?</kbd></button>
  </div>`;
}

async function copyLink() {
  const address = addressOf(location.hash);
  try {
    await navigator.clipboard.writeText(address);
    toast('The address is copied. It has the token: give it to nobody who may not look into the program.');
  } catch {
    toast(`The browser does not allow copying: ${address}`, 'bad');
  }
}

function Findings() {
  const list = useValue('findings');
  if (!list.length) return null;
  return html`<ul class="findings" aria-label="needs attention">${list.slice(0, 5).map((found) => html`
    <li key=${found.kind + found.to} class=${found.kind}><a href=${found.to}><b>!</b>${found.text}</a></li>`)}
    ${list.length > 5 && html`<li class="muted">and ${count(list.length - 5)} more</li>`}</ul>`;
}

function Notice() {
  const notice = useValue('notice');
  const phase = useValue('phase');
  const hello = useValue('hello');
  const head = get('head');
  const reason = useValue('reason');
  if (phase === 'lost') {
    return html`<div class="notice bad" role="status"><b>The program does not answer</b>${reason ? `: ${reason}` : ''}.
      ${head ? ` What is shown was read at ${date(head.at)}.` : ''} The page tries again by itself. If the program was started
      again, it may have another address, which it writes to its standard error.</div>`;
  }
  if (phase === 'moved') {
    return html`<div class="notice bad" role="status"><b>The address has changed.</b>
      ${hello ? ` Process ${hello.pid} has ended, and a program that was started since then` : ' The program here'} does not know
      this token. It has written the new address to its standard error: open that, or paste it here. <${TokenField} /></div>`;
  }
  if (!notice) return null;
  return html`<div class=${'notice ' + notice.kind} role="status">${notice.text}
    <button class="small" onClick=${() => set({ notice: null })}>Close</button></div>`;
}

function TokenField() {
  const box = useRef(null);
  const [wrong, say] = useState(false);
  return html`<form class="token" onSubmit=${(event) => {
    event.preventDefault();
    say(!useToken(box.current.value));
  }}><input ref=${box} aria-label="address or token" placeholder="http://127.0.0.1:PORT/#token=…" autocomplete="off" />
    <button>Open</button>${wrong && html`<span class="problem">There is no token of 32 digits in it.</span>`}</form>`;
}

function Toasts() {
  const toasts = useValue('toasts');
  return html`<div class="toasts" role="status">${toasts.map((entry) => html`<div key=${entry.id} class=${entry.kind}>${entry.text}</div>`)}</div>`;
}

function Help() {
  const isOpen = useValue('help');
  const box = useRef(null);
  useEffect(() => {
    if (isOpen && box.current && !box.current.open) box.current.showModal();
  }, [isOpen]);
  if (!isOpen) return null;
  const close = () => set({ help: false });
  return html`<dialog ref=${box} class="help" onClose=${close} onClick=${close}><h2>Keys</h2>
    <dl>${keys.map(([key, what]) => html`<div key=${key}><dt><kbd>${key}</kbd></dt><dd>${what}</dd></div>`)}</dl>
    <h2>Views</h2>
    <dl>${views.map(([name, label, , what], i) => html`<div key=${name}><dt><kbd>${i + 1}</kbd></dt><dd><b>${label}</b>: ${what}</dd></div>`)}</dl>
    <p class="muted">Ages of messages are lower bounds: a message has no time of its own. Times of turns are samples.</p></dialog>`;
}

/* ---- Keys. ---- */

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
  if (event.key === 'Escape' && typing) {
    event.target.blur();
    return;
  }
  if (typing || document.querySelector('dialog[open]')) return;
  const number = '123456789'.indexOf(event.key);
  const field = event.key === '/' ? '#search' : event.key === 'f' ? 'main .filter' : null;
  if (number >= 0 && event.key) go(link(views[number][0]));
  else if (field) {
    const found = document.querySelector(field);
    if (!found) return;
    found.focus();
    found.select();
  } else if (event.key === '?') set({ help: true });
  else if (event.key === 'p') set({ paused: !get('paused') });
  else if (event.key === 'u') {
    const up = document.querySelector('a[data-up]');
    if (!up) return;
    up.click();
  } else return;
  event.preventDefault();
}

function App() {
  const route = useRoute();
  const phase = useValue('phase');
  const hello = useValue('hello');
  const entry = views.find(([name]) => name === route.view) || views[0];
  useEffect(() => {
    document.title = `${entry[1]} · ${hello ? hello.app : 'troupe'}`;
  }, [entry, hello]);
  if (phase === 'keyless') {
    return html`<div class="lonely"><h1>troupe inspector</h1><p>This address has no token. The program prints the whole address when it
      starts, with <code>#token=</code> and 32 digits; open that, or paste it here.</p><${TokenField} /></div>`;
  }
  return html`<div class="frame">
    <aside><${Brand} /><${Nav} current=${entry[0]} /></aside>
    <div class="top"><${SearchBox} /><${Live} /></div>
    <main>
      <${Notice} />
      <${Strip} />
      <${Findings} />
      <${Guard} key=${entry[0]}><${entry[2]} route=${route} /><//>
    </main>
    <${Toasts} /><${Dialog} /><${Help} />
  </div>`;
}

options.debounceRendering = requestAnimationFrame;
document.addEventListener('keydown', onKey);
connect();
watch();
/* index.html has the frame without what the program says: it is on the screen before this draws, while the connection is made. */
requestAnimationFrame(() => setTimeout(() => {
  const place = document.getElementById('app');
  place.replaceChildren();
  render(html`<${App} />`, place);
}));
