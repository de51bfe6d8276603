/* SPDX-License-Identifier: Apache-2.0 */
/* What all parts of the page know: one object, whose readers are called when it changes. */
import { useEffect, useState } from 'preact/hooks';

const values = {
  phase: 'starting', /* starting, open, lost, moved, keyless */
  hello: null, /* the greeting of the program */
  inspect: null, /* what the server says first */
  reason: null, /* why the connection has ended */
  help: false,
  notice: null, /* about the connection: {text, kind} */
  paused: false,
  head: null, /* rates and counters: see watch.js */
  findings: [], /* what needs attention */
  toasts: [],
  dialog: null,
};
const readers = new Set();

export const get = (name) => values[name];

export function set(changes) {
  Object.assign(values, changes);
  for (const reader of [...readers]) reader(changes);
}

/** Calls `reader` with what changes. */
export const onChange = (reader) => readers.add(reader);

/** The value of one name; the component is drawn again when it changes. */
export function useValue(name) {
  const [value, change] = useState(values[name]);
  useEffect(() => {
    const reader = (changes) => name in changes && change(() => changes[name]);
    readers.add(reader);
    change(() => values[name]);
    return () => readers.delete(reader);
  }, [name]);
  return value;
}

let toastId = 0;

/** Shows a line for some seconds. `kind`: good, bad. */
export function toast(text, kind = 'good') {
  const entry = { id: ++toastId, text, kind };
  set({ toasts: [...values.toasts.slice(-3), entry] });
  setTimeout(() => set({ toasts: values.toasts.filter((other) => other !== entry) }), kind === 'bad' ? 12000 : 6000);
}
