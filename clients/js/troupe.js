// SPDX-License-Identifier: Apache-2.0
// The client of a Troupe gateway, for browsers and Node. No dependencies; README.md has examples.
export class TroupeError extends Error {
  constructor({ code, message, reason, status }, causal) {
    super(message);
    Object.assign(this, { name: 'TroupeError', code, reason, status, causal });
  }
}
const lost = () => new TroupeError({ code: 'connection/lost', message: 'the connection was lost' });
const base = url => new URL(url, globalThis.location?.href);
const random = () => globalThis.crypto?.randomUUID?.() ?? Math.random().toString(36).slice(2) + Date.now().toString(36);

// Asks once by POST. With a key it takes effect once, and is sent again until there is an answer.
export async function ask(url, message, fields = {}, { key, token, tries = key ? 8 : 1, fetch = globalThis.fetch } = {}) {
  const headers = { 'Content-Type': 'application/json' };
  if (key) headers['Idempotency-Key'] = key;
  if (token) headers.Authorization = `Bearer ${token}`;
  const target = base(url);
  target.pathname += `/${message}`;
  for (let wait = 250; ; wait = Math.min(wait * 2, 8000)) {
    let answer;
    try {
      answer = await fetch(target, { method: 'POST', headers, body: JSON.stringify(fields) });
    } catch {
      if (--tries < 1) throw lost();
    }
    if (answer) {
      const body = await answer.json(), causal = answer.headers.get('X-Troupe-Causal');
      if (answer.ok) return body;
      if (answer.status < 500 || --tries < 1) throw new TroupeError(body.error, causal);
    }
    await new Promise(done => setTimeout(done, wait * (0.75 + Math.random() / 2)));
  }
}

// Connects to an actor. Lost connections are made again, later and later; events that were missed come then.
export function connect(url, { WebSocket = globalThis.WebSocket, token, last, ask: defaults } = {}) {
  const target = base(url);
  target.protocol = target.protocol.replace('http', 'ws');
  if (token) target.searchParams.set('token', token);
  const listeners = new Map(), open = new Map();
  let socket, number = 0, wait = 250, timer, closed = false, greeted = false;
  const transmit = ([id, item]) => {
    item.sent = true;
    socket.send(JSON.stringify({ id, ask: item.ask, with: item.fields, key: item.key }));
  };
  const greet = ({ event, gap }) => {
    const resumed = last !== undefined && !gap;
    if (!resumed) last = event;
    greeted = true;
    wait = 250;
    own.onopen?.({ resumed, gap });
    for (const item of open) if (!item[1].sent) transmit(item);
  };
  const dial = () => {
    if (last !== undefined) target.searchParams.set('last', last);
    socket = new WebSocket(target);
    socket.onmessage = ({ data }) => {
      const { id, reply, error, causal, event, number: seen, with: fields, open: hello } = JSON.parse(data);
      if (hello) return greet(hello);
      if (event) {
        if (seen) last = seen;
        return listeners.get(event)?.forEach(listener => listener(fields, seen));
      }
      const item = open.get(id);
      open.delete(id);
      if (item) error ? item.reject(new TroupeError(error, causal)) : item.resolve(reply);
    };
    socket.onclose = ({ code, reason }) => {
      greeted = false;
      for (const [id, item] of open) {
        if (item.key && !closed) item.sent = false; // it is safe to send it again
        else if (item.sent || closed) open.delete(id), item.reject(lost());
      }
      own.onclose?.(code, reason);
      if (!closed) timer = setTimeout(dial, wait * (0.75 + Math.random() / 2)), wait = Math.min(wait * 2, 8000);
    };
    socket.onerror = () => {};
  };
  const call = (ask, fields, { key = defaults?.once && random() } = {}) => new Promise((resolve, reject) => {
    const item = [++number, { ask, fields, key: key || undefined, resolve, reject }];
    if (closed) return reject(lost());
    open.set(...item);
    if (greeted) transmit(item);
  });
  const own = {
    call, onopen: null, onclose: null,
    get last() { return last; },
    on: (event, listener) => (listeners.get(event) ?? listeners.set(event, new Set()).get(event)).add(listener),
    off: (event, listener) => listeners.get(event)?.delete(listener),
    once: (ask, fields, key = random()) => call(ask, fields, { key }),
    close: () => { closed = true; clearTimeout(timer); socket.close(1000); },
  };
  dial();
  return new Proxy(own, {
    get: (own, name) => name in own || typeof name === 'symbol' || name === 'then' ? own[name] : (fields, options) => call(name, fields, options),
  });
}
