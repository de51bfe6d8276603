/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The connection to the program: request lines of the control protocol over a WebSocket. An answer has the id of its
 * request: any number of parts, then ok or no. A connection handles its requests in order, so what may take long, or lasts
 * as long as a connection does (trace), gets one of its own.
 */
import { get, set } from './store.js';

const protocol = 'troupe-inspect-1';
const keyName = 'troupe-token';

/* ---- The token, which is only in the fragment and in this tab. ---- */

export function takeToken() {
  const found = /^#token=([0-9a-fA-F]{32})(.*)$/.exec(location.hash);
  if (found) {
    sessionStorage.setItem(keyName, found[1]);
    history.replaceState(null, '', location.pathname + '#' + (found[2].replace(/^&/, '') || '/tree'));
  }
  return sessionStorage.getItem(keyName);
}

/* ---- One connection. ---- */

export class Refusal extends Error {
  constructor(status, why) {
    super(why || status);
    this.status = status;
  }
}

/* Integers of 64 bits stay exact: those that a double cannot hold become BigInt. Not all browsers give a reviver the text of a
   number, so such a number first becomes a text with a mark that no program knows. */
const mark = crypto.getRandomValues(new Uint32Array(4)).join('-') + ':';
const pieces = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?/g;

export function parseLine(line) {
  if (!/\d{16}/.test(line)) return JSON.parse(line);
  const marked = line.replace(pieces, (text) => (/^-?\d{16,}$/.test(text) && !Number.isSafeInteger(+text) ? `"${mark}${text}"` : text));
  return JSON.parse(marked, (name, value) => (typeof value === 'string' && value.startsWith(mark) ? BigInt(value.slice(mark.length)) : value));
}

const head = /^\{"id":(\d+),"(part|ok)":/;
const noJson = () => new Refusal('NO_JSON', 'the answer of the program cannot be read: it is no JSON');

export class Channel {
  constructor(token, on = {}) {
    this.waiting = new Map();
    this.queue = [];
    this.nextId = 1;
    this.ready = false;
    this.on = on;
    const scheme = location.protocol === 'https:' ? 'wss:' : 'ws:';
    this.socket = new WebSocket(`${scheme}//${location.host}/ws`, [protocol, 'token.' + token]);
    this.socket.onmessage = (event) => {
      for (const line of event.data.split('\n')) if (line) this.take(line);
    };
    this.socket.onclose = (event) => this.end(event);
  }

  take(line) {
    const [, id, what] = head.exec(line) || [];
    const one = id && this.waiting.get(+id);
    if (one && what === 'part' && !one.onPart) {
      one.lines.push(line);
      return;
    }
    if (one && what === 'ok') {
      this.waiting.delete(+id);
      one.lines.push(line);
      this.finish(one);
      return;
    }
    let answer;
    try {
      answer = parseLine(line);
    } catch {
      this.spoil();
      return;
    }
    if (answer.inspect) {
      this.inspect = answer.inspect;
      return;
    }
    if (answer.troupe) {
      this.hello = answer;
      this.ready = true;
      if (this.on.open) this.on.open(this);
      for (const text of this.queue.splice(0)) this.socket.send(text);
      return;
    }
    const asked = this.waiting.get(answer.id);
    if (!asked) {
      if (this.on.other) this.on.other(answer);
      return;
    }
    if (answer.part) {
      if (asked.onPart) asked.onPart(answer.part);
      return;
    }
    this.waiting.delete(answer.id);
    asked.reject(new Refusal(answer.no, answer.why));
  }

  /* All lines of an answer are there. If they are those that are known already, apart from their ids, they are not read again. */
  finish(asked) {
    if (asked.known === true) {
      asked.resolve();
      return;
    }
    const text = asked.lines.map((line) => line.slice(line.indexOf(','))).join('');
    const answer = { text, at: Date.now(), took: performance.now() - asked.begin };
    if (text === asked.known) {
      asked.resolve({ ...answer, isSame: true });
      return;
    }
    try {
      const lines = asked.lines.map(parseLine);
      asked.resolve({ ...answer, ok: lines.pop().ok, parts: lines.map((line) => line.part) });
    } catch {
      asked.reject(noJson());
    }
  }

  /* A line that is no JSON came. Answers come in order, so it belongs to the oldest request, which would otherwise wait forever. */
  spoil() {
    const [id, asked] = this.waiting.entries().next().value || [];
    if (!asked) return;
    this.waiting.delete(id);
    asked.reject(noJson());
  }

  /**
   * Sends one request. Returns a promise of {ok, parts, at, text}, where `text` is the answer as it came. If that is `known`,
   * it is {isSame: true, at} instead. If `known` is true, nobody reads the answer, and it is undefined.
   */
  ask(verb, args, onPart, known) {
    return new Promise((resolve, reject) => {
      if (this.over) {
        reject(new Refusal('LOST', 'the connection is lost'));
        return;
      }
      const id = this.nextId++;
      const { after, ...rest } = args || {};
      let text = JSON.stringify({ id, do: verb, ...rest });
      if (after != null) text = `${text.slice(0, -1)},"after":${typeof after === 'string' ? JSON.stringify(after) : after}}`; /* it may be a BigInt */
      this.waiting.set(id, { resolve, reject, onPart, known, lines: [], begin: performance.now() });
      if (this.ready) this.socket.send(text);
      else this.queue.push(text);
    });
  }

  end(event) {
    if (this.over) return;
    this.over = true;
    for (const asked of this.waiting.values()) asked.reject(new Refusal('LOST', (event && event.reason) || 'the connection is lost'));
    this.waiting.clear();
    if (this.on.close) this.on.close(this, event);
  }

  close() {
    this.on.close = null;
    this.end();
    this.socket.close();
  }
}

/* ---- The connection of the page, made again when it is lost. ---- */

let token = null;
let main = null;
let tries = 0;
let lostAt = 0;

function opened(channel) {
  const before = get('hello');
  const was = lostAt ? (Date.now() - lostAt) / 1000 : 0;
  let notice = null;
  if (before && before.pid !== channel.hello.pid) {
    notice = {
      kind: 'warn',
      text: `The program was started again: process ${before.pid} has ended, this is process ${channel.hello.pid}. What was shown before is gone.`,
    };
  } else if (before && channel.inspect && channel.inspect.dropped > get('inspect').dropped) {
    notice = { kind: 'warn', text: 'The connection was ended, because this page or another one did not read for 5 s. It is back; what was shown may have gaps.' };
  } else if (was > 2) {
    notice = { kind: 'note', text: `The connection was lost for ${was.toFixed(0)} s and is back.` };
  }
  tries = 0;
  lostAt = 0;
  set({ phase: 'open', reason: null, hello: channel.hello, inspect: channel.inspect || { allowed: false }, notice });
}

/* Whether somebody serves the page here although the WebSocket was refused: then the token is not the right one. */
async function isServed() {
  try {
    const answer = await fetch('/', { cache: 'no-store', credentials: 'omit' });
    return answer.ok;
  } catch {
    return false;
  }
}

async function closed(channel, event) {
  if (channel !== main) return;
  main = null;
  if (!lostAt) lostAt = Date.now();
  if (get('phase') !== 'moved') set({ phase: 'lost', reason: (event && event.reason) || null });
  /* Refused before it was open, by a server that is there: another token is needed. */
  if (event && event.code === 1006 && !channel.inspect && (await isServed())) {
    set({ phase: 'moved' });
    setTimeout(connect, 5000);
    return;
  }
  setTimeout(connect, Math.min(250 * 2 ** tries++, 4000));
}

export function connect() {
  token = takeToken();
  if (!token) {
    set({ phase: 'keyless' });
    return;
  }
  if (main) return;
  main = new Channel(token, { open: opened, close: closed });
}

/** Uses another token, which somebody has typed. */
export function useToken(text) {
  const found = /[0-9a-fA-F]{32}/.exec(text);
  if (!found) return false;
  sessionStorage.setItem(keyName, found[0]);
  set({ phase: 'starting' });
  connect();
  return true;
}

/** The address of a view with the token, which opens in any tab of this machine. */
export const addressOf = (hash) => `${location.origin}/#token=${token}${hash.replace(/^#/, '')}`;

export const has = (verb) => !!get('hello') && get('hello').verbs.includes(verb);
export const may = () => !!get('inspect') && !!get('inspect').allowed;

/** Asks on the connection of the page. */
export function ask(verb, args, onPart, known) {
  if (!main) return Promise.reject(new Refusal('LOST', 'the connection is lost'));
  return main.ask(verb, args, onPart, known);
}

/** Asks on a connection of its own, which ends with the answer: for what may take long. */
export async function askApart(verb, args, onPart) {
  const channel = new Channel(token);
  try {
    return await channel.ask(verb, args, onPart);
  } finally {
    channel.close();
  }
}

/** A connection that lasts until it is closed. */
export const open = (on) => new Channel(token, on);
