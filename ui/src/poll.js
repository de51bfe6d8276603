/* SPDX-License-Identifier: Apache-2.0 */
/* Asks again and again, while somebody looks: not in a tab that is hidden, not while paused. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { ask, has, open } from './link.js';
import { useValue } from './store.js';

/* ---- One clock for all, so that what changes is drawn in one frame. ---- */

/** A frame costs the main thread 3 to 8 ms, whatever changes in it: one in two seconds is less than 5 ms of each second. */
export const TICK_MS = 2000;

const listeners = new Set();

/** Calls `listener` each TICK_MS, unless the tab is hidden. Returns a function that ends it. */
export function onTick(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

const GATHER_MS = 150; /* what the answers of one tick change is drawn together, so long after they were asked for */
let batch = [];

setInterval(() => {
  if (document.hidden) return;
  for (const listener of [...listeners]) listener();
  setTimeout(() => {
    const changes = batch;
    batch = [];
    for (const change of changes) change();
  }, GATHER_MS);
}, TICK_MS);

/** Does it with the other changes of this tick. */
export const together = (change) => batch.push(change);

/* ---- Answers. ---- */

/**
 * The newest answer to a request: {ok, parts, at, error, again}. `at.ms` is when it was read, and changes without the component
 * being drawn again: an answer that is the one before draws nothing. `every` in ms, a multiple of TICK_MS, 0: once. A `verb` of null asks nothing.
 * `fold` makes the state that is kept of an answer: fold(before, answer). If `spares` is true of that, the next answer is asked for and not read.
 */
export function useAnswer(verb, args, every = 2000, fold = null, spares = null) {
  const [state, change] = useState({});
  const phase = useValue('phase');
  const paused = useValue('paused');
  const run = useRef(null);
  const kept = useRef(null);
  const read = useRef({ ms: 0 });
  const key = verb ? verb + JSON.stringify(args || {}) : '';

  useEffect(() => {
    kept.current = null;
    change({});
  }, [key]);

  useEffect(() => {
    if (!verb || phase !== 'open' || !has(verb)) return undefined;
    const steps = Math.max(1, Math.round(every / TICK_MS));
    let passed = 0;
    let over = false;
    let asking = false;
    let isWanted = false; /* somebody waits for an answer to a request that is sent from now on */
    let newest = 0; /* the number of the newest answer: an older one that waits to be drawn is not drawn any more */
    let drawn = null; /* the text of the answer that is drawn, or waits to be */
    let failed = false;
    const look = async () => {
      if (asking) return;
      passed = 0;
      asking = true;
      const isAtOnce = isWanted;
      isWanted = false;
      try {
        const isSpared = spares && !isAtOnce && !failed && kept.current && spares(kept.current);
        const answer = await ask(verb, args, null, isSpared || (isAtOnce ? null : drawn));
        if (over || isSpared) return;
        read.current.ms = answer.at;
        if (answer.isSame) return;
        drawn = fold ? null : answer.text;
        const isNew = !kept.current;
        kept.current = fold ? fold(kept.current, answer) : answer;
        failed = false;
        const mine = ++newest;
        const next = { ...kept.current, error: null };
        if (isNew || isAtOnce) change(next);
        else together(() => !over && mine === newest && change(next));
      } catch (error) {
        if (over || error.status === 'LOST') return;
        newest++;
        drawn = null;
        failed = true;
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
    if (fold) passed = steps - 1; /* a rate needs two answers: the second one soon */
    const stop = every && !paused ? onTick(() => ++passed >= steps && look()) : null;
    return () => {
      over = true;
      if (stop) stop();
    };
  }, [key, phase, paused, every]);

  return { ...state, at: state.at && kept.current ? read.current : state.at, again: () => run.current && run.current() };
}

/** As useAnswer, on a connection of its own: for what the program does until the connection ends. */
export function useApart(verb, args, every, fold = (before, answer) => answer) {
  const [state, change] = useState({});
  const phase = useValue('phase');
  const paused = useValue('paused');
  useEffect(() => {
    if (phase !== 'open' || paused || !has(verb)) return undefined;
    const channel = open({});
    let kept = null;
    let over = false;
    let asking = false;
    let passed = 0;
    const look = async () => {
      if (asking) return;
      asking = true;
      passed = 0;
      try {
        kept = fold(kept, await channel.ask(verb, args));
        if (!over) together(() => !over && change(kept));
      } catch (error) {
        if (!over && error.status !== 'LOST') change((before) => ({ ...before, error }));
      }
      asking = false;
    };
    look();
    const stop = onTick(() => ++passed >= every / TICK_MS && look());
    return () => {
      over = true;
      stop();
      channel.close();
    };
  }, [phase, paused]);
  return state;
}

/** Draws the component again each `every` ms: for what is drawn from now on backwards. */
export function useNow(every) {
  const [, change] = useState(0);
  useEffect(() => {
    let passed = 0;
    return onTick(() => (passed += TICK_MS) % every === 0 && together(() => change((n) => n + 1)));
  }, [every]);
  return Date.now();
}
