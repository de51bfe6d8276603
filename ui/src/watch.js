/* SPDX-License-Identifier: Apache-2.0 */
/* The strip above all views: counters each second, their rates, and what needs attention. */
import { ask, has } from './link.js';
import { onTick, together } from './poll.js';
import { get, onChange, set } from './store.js';
import { actorLink, link } from './route.js';
import { count, ms, plural } from './format.js';

const KEPT = 60; /* looks of history */
const STUCK_MS = 100;
const RECENT_MS = 30000;
const counted = ['handled', 'dead_letters', 'failures', 'restarts', 'spawned', 'stalls', 'refused'];

let before = null;
let history = null;
let growth = new Map();
let looks = 0;
let recent = [];

function rates(counters, at) {
  const found = {};
  const passed = before ? (at - before.at) / 1000 : 0;
  for (const name of counted) {
    found[name] = passed > 0.05 ? Math.max(0, (counters[name] - before.counters[name]) / passed) : 0;
  }
  return found;
}

function remember(at, counters, per) {
  history.t.push(at / 1000);
  history.handled.push(per.handled);
  history.pending.push(counters.queued);
  history.live.push(counters.live);
  history.failures.push(per.failures);
  if (history.t.length > KEPT) for (const list of Object.values(history)) list.shift();
}

function stuck(workers) {
  return workers
    .filter((worker) => worker.running && worker.for_ms >= STUCK_MS)
    .map((worker) => ({
      kind: 'stuck',
      text: `Worker ${worker.worker} is in ${worker.handler || 'a function'} of ${worker.path} for ${ms(worker.for_ms)}`,
      to: actorLink(worker.path),
    }));
}

/* Mailboxes that grew from look to look three times, or are nearly full. */
async function growing() {
  const answer = await ask('ls', { sorted: true, limit: 8, queued: 50 });
  const next = new Map();
  const found = [];
  for (const row of answer.parts) {
    const last = growth.get(row.ref);
    const grew = last && row.queued > last.queued ? last.grew + 1 : 0;
    next.set(row.ref, { queued: row.queued, grew });
    const full = row.queued_max && row.queued >= 0.9 * row.queued_max;
    if (grew >= 3 || full) {
      found.push({
        kind: 'mailbox',
        text: `${full ? 'Full' : 'Growing'} mailbox: ${row.path}, ${count(row.queued)} messages`,
        to: link('mailboxes', [], { path: row.path }),
      });
    }
  }
  growth = next;
  return found.slice(0, 2);
}

/* What was added in the last half minute. */
function burst(at, counters) {
  recent.push({ at, counters });
  while (recent.length > 1 && at - recent[1].at >= RECENT_MS) recent.shift();
  const added = (name) => counters[name] - recent[0].counters[name];
  const found = [];
  if (added('failures') > 0) found.push({ kind: 'failure', text: `${plural(added('failures'), 'failure')} in the last 30 s`, to: link('failures') });
  if (added('dead_letters') > 0) {
    found.push({ kind: 'letter', text: `${plural(added('dead_letters'), 'dead letter')} in the last 30 s`, to: link('failures', [], { tab: 'letters' }) });
  }
  return found;
}

async function retrying() {
  if (!has('store')) return [];
  try {
    const { ok } = await ask('store');
    if (ok.status !== 'TR_OK') return [{ kind: 'stuck', text: `The store has failed: ${ok.status}`, to: link('store') }];
    if (ok.waiting_to_retry) {
      const text = `${plural(ok.waiting_to_retry, 'durable actor')} failed and will be tried again`;
      return [{ kind: 'failure', text, to: link('failures') }];
    }
  } catch {
    /* a program without a store */
  }
  return [];
}

/* Turns that were handed off and have not returned: no worker is in them. */
async function hanging(counters) {
  if (!counters.stalls || !has('stalls')) return [];
  const { ok } = await ask('stalls', { limit: 16 });
  return (ok.past || []).filter((row) => row.handed_off && !row.over).slice(0, 3).map((row) => ({
    kind: 'stuck',
    text: `${row.handler || 'A function'} of ${row.path} runs for ${ms(row.age_ms)}, on a thread of its own`,
    to: link('failures', [], { tab: 'stalls' }),
  }));
}

let slow = [];

async function look() {
  const { ok, at, took } = await ask('info');
  const per = rates(ok.counters, at);
  before = { at, counters: ok.counters };
  remember(at, ok.counters, per);
  const busy = ok.workers.filter((worker) => worker.running).length;
  const changes = { head: { at, took, counters: ok.counters, per, workers: ok.workers, busy, history } };
  const findings = [...stuck(ok.workers), ...slow, ...burst(at, ok.counters)];
  if (JSON.stringify(findings) !== JSON.stringify(get('findings'))) changes.findings = findings;
  if (get('head')) together(() => set(changes));
  else set(changes);
  if (looks++ % 2 === 0) slow = [...(await hanging(ok.counters)), ...(await growing()), ...(await retrying())];
}

/** Begins; called once. */
export function watch() {
  let pid = 0;
  let busy = false;
  const tick = async () => {
    if (busy || get('phase') !== 'open' || get('paused')) return;
    if (get('hello').pid !== pid) {
      pid = get('hello').pid;
      before = null;
      growth = new Map();
      recent = [];
      slow = [];
      looks = 0;
      history = { t: [], handled: [], pending: [], live: [], failures: [] };
    }
    busy = true;
    try {
      await look();
    } catch {
      /* the connection was lost, which the page says elsewhere */
    }
    busy = false;
  };
  onTick(tick);
  onChange((changes) => changes.phase === 'open' && tick());
}
