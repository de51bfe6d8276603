/* SPDX-License-Identifier: Apache-2.0 */
/* Asks again and again, while somebody looks: not in a tab that is hidden, not while paused. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { ask, has } from './link.js';
import { useValue } from './store.js';

/* ---- One clock for all, so that what changes each second is drawn in one frame. ---- */

const listeners = new Set();

/** Calls `listener` each second, unless the tab is hidden. Returns a function that ends it. */
export function onTick(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

const GATHER_MS = 150; /* what the answers of one second change is drawn together, so long after they were asked for */
let batch = [];

setInterval(() => {
  if (document.hidden) return;
  for (const listener of [...listeners]) listener();
  setTimeout(() => {
    const changes = batch;
    batch = [];
    for (const change of changes) change();
  }, GATHER_MS);
}, 1000);

/** Does it with the other changes of this second. */
export const together = (change) => batch.push(change);

/* ---- Answers. ---- */

/**
 * The newest answer to a request: {ok, parts, at, error, again}. `every` in ms, 0: once. A `verb` of null asks nothing.
 * `fold` makes the state that is kept of an answer: fold(before, answer).
 */
export function useAnswer(verb, args, every = 2000, fold = null) {
  const [state, change] = useState({});
  const phase = useValue('phase');
  const paused = useValue('paused');
  const run = useRef(null);
  const kept = useRef(null);
  const key = verb ? verb + JSON.stringify(args || {}) : '';

  useEffect(() => {
    kept.current = null;
    change({});
  }, [key]);

  useEffect(() => {
    if (!verb || phase !== 'open' || !has(verb)) return undefined;
    const steps = Math.max(1, Math.round(every / 1000));
    let passed = 0;
    let over = false;
    let asking = false;
    let isWanted = false; /* somebody waits for an answer to a request that is sent from now on */
    let newest = 0; /* the number of the newest answer: an older one that waits to be drawn is not drawn any more */
    const look = async () => {
      if (asking) return;
      passed = 0;
      asking = true;
      const isAtOnce = isWanted;
      isWanted = false;
      try {
        const answer = await ask(verb, args);
        if (over) return;
        const mine = ++newest;
        const isNew = !kept.current;
        kept.current = fold ? fold(kept.current, answer) : answer;
        const next = { ...kept.current, error: null };
        if (isNew || isAtOnce) change(next);
        else together(() => !over && mine === newest && change(next));
      } catch (error) {
        if (over || error.status === 'LOST') return;
        newest++;
        change({ ...kept.current, error, at: Date.now() });
      } finally {
        asking = false;
        if (isWanted && !over) look();
      }
    };
    run.current = () => {
      isWanted = true;
      look();
    };
    if (!paused || !kept.current) look();
    const stop = every && !paused ? onTick(() => ++passed >= steps && look()) : null;
    return () => {
      over = true;
      if (stop) stop();
    };
  }, [key, phase, paused, every]);

  return { ...state, again: () => run.current && run.current() };
}

/** A clock for texts such as "3 s ago": drawn again each second. */
export function useSecond() {
  const [, change] = useState(0);
  useEffect(() => {
    return onTick(() => together(() => change((n) => n + 1)));
  }, []);
}
