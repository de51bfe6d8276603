/* SPDX-License-Identifier: Apache-2.0 */
/* What changes the program. Each act asks once, says what it will do, and then what came of it. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { html } from './parts.js';
import { ask, askApart, has, may } from './link.js';
import { set, toast, useValue } from './store.js';

/* These may take long: they get a connection of their own. */
const slow = new Set(['ask', 'sleep', 'wake', 'durable rm', 'durable set', 'store backup', 'store restore', 'sql']);

/** The same as a command of the tool, which also says what will be done. */
export function command(verb, args) {
  const quote = (text) => (/^[\w/.:@$%-]+$/.test(text) ? text : `'${String(text).replace(/'/g, "'\\''")}'`);
  const words = ['troupe', ...verb.split(' ')];
  if (verb === 'replay') return `troupe dead-letters --replay ${args.after}`;
  for (const name of ['level', 'kind', 'key', 'path', 'message', 'json', 'text']) if (args[name]) words.push(quote(args[name]));
  return words.join(' ');
}

export async function perform(verb, args) {
  const send = slow.has(verb) ? askApart : ask;
  return send(verb, { ...args, may: true });
}

/**
 * Asks whether to do it, then does it. `done(answer)` is called afterwards. `grave`: what is done cannot be undone.
 */
export function act({ verb, args, title, text, grave, done }) {
  set({
    dialog: {
      title,
      text,
      grave,
      line: command(verb, args),
      run: async () => {
        const answer = await perform(verb, args);
        toast(`${title}: done`);
        if (done) done(answer);
      },
    },
  });
}

/** A button of an act; it is not there if the program does not know the verb, and says why it cannot be pressed. */
export function Act({ verb, args, label, title, text, grave, done, small }) {
  useValue('inspect');
  if (!has(verb)) return null;
  return html`<button class=${(grave ? 'grave' : '') + (small ? ' small' : '')} disabled=${!may()} data-act=${verb}
    title=${may() ? command(verb, args) : 'this page may only read; the program decides that'}
    onClick=${() => act({ verb, args, title: title || label, text, grave, done })}>${label}</button>`;
}

/** The one question of an act. */
export function Dialog() {
  const dialog = useValue('dialog');
  const box = useRef(null);
  const [error, fail] = useState(null);
  const [busy, work] = useState(false);
  useEffect(() => {
    fail(null);
    work(false);
    if (dialog && box.current && !box.current.open) box.current.showModal();
  }, [dialog]);
  if (!dialog) return null;
  const close = () => set({ dialog: null });
  const run = async (event) => {
    event.preventDefault();
    work(true);
    fail(null);
    try {
      await dialog.run();
      close();
    } catch (problem) {
      fail(problem);
      work(false);
    }
  };
  return html`<dialog ref=${box} onClose=${close} onClick=${(event) => event.target === box.current && close()}>
    <form onSubmit=${run}>
      <h2>${dialog.title}?</h2>
      ${dialog.text && html`<p>${dialog.text}</p>`}
      <pre>${dialog.line}</pre>
      <p class="muted">The program writes a line about it to its log.</p>
      ${error && html`<p class="problem"><b>${error.status}</b> ${error.message}</p>`}
      <div class="buttons">
        <button type="button" onClick=${close}>Cancel</button>
        <button type="submit" class=${dialog.grave ? 'grave main' : 'main'} disabled=${busy} autofocus>${busy ? 'Waiting …' : dialog.title}</button>
      </div>
    </form>
  </dialog>`;
}
