// SPDX-License-Identifier: Apache-2.0
// The client of a Troupe gateway, for browsers and Node. No dependencies; README.md has examples.
export class TroupeError extends Error {
  constructor({ code, message, reason, status, after: seconds }, causal, after = seconds) {
    super(message);
    Object.assign(this, { name: 'TroupeError', code, reason, status, causal, after });
  }
}
const lost = () => new TroupeError({ code: 'connection/lost', message: 'the connection was lost' });
const base = url => new URL(url, globalThis.location?.href);
const random = () => globalThis.crypto?.randomUUID?.() ?? Math.random().toString(36).slice(2) + Date.now().toString(36);
const longer = wait => Math.min(wait * 2, 8000);
const jitter = wait => wait * (0.75 + Math.random() / 2);
// Whether the same request may have another answer later.
const passes = ({ status, after }) => (!(status >= 300 && status < 500) || status === 408 || status === 429) && !(after > 60);

// Reads an answer of HTTP: returns its JSON, or throws. A proxy may have answered with a page, and a body may be cut.
async function read(answer) {
  const { status, headers } = answer, body = await answer.json().catch(() => {});
  if (answer.ok && body) return body;
  const error = body?.error?.code ? body.error : { code: 'connection/bad_answer', message: `status ${status} without the JSON of a gateway`, status };
  throw new TroupeError(error, headers.get('X-Troupe-Causal') ?? undefined, +headers.get('Retry-After') || undefined);
}

// Asks once by POST. With a key it takes effect once, and is sent again until there is an answer.
export async function ask(url, message, fields = {}, { key, token, tries = key ? 8 : 1, fetch = globalThis.fetch } = {}) {
  const headers = { 'Content-Type': 'application/json' }, body = JSON.stringify(fields);
  if (key) headers['Idempotency-Key'] = key;
  if (token) headers.Authorization = `Bearer ${token}`;
  const target = base(url);
  target.pathname += `/${message}`;
  for (let wait = 250; ; wait = longer(wait)) {
    let error;
    try {
      return await read(await fetch(target, { method: 'POST', headers, body }));
    } catch (thrown) {
      error = thrown instanceof TroupeError ? thrown : lost();
    }
    if (--tries < 1 || !passes(error)) throw error;
    await new Promise(done => setTimeout(done, (error.after ?? 0) * 1000 + jitter(wait)));
  }
}

// Connects to an actor. Lost connections are made again, later and later; events that were missed come then.
export function connect(url, { WebSocket = globalThis.WebSocket, fetch = globalThis.fetch, token, last, ask: defaults } = {}) {
  const target = base(url);
  target.protocol = target.protocol.replace('http', 'ws');
  if (token) target.searchParams.set('token', token);
  const listeners = new Map(), open = new Map();
  let socket, number = 0, wait = 250, timer, closed, greeted = false;
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
  // It ends for good: every ask that is open fails.
  const finish = error => {
    closed = error;
    clearTimeout(timer);
    for (const [id, item] of open) open.delete(id), item.reject(error);
  };
  // A WebSocket was refused, and browsers do not say why: the path of it does, to a plain GET. Gives the reason if it is final.
  const refusal = async () => {
    const plain = new URL(target);
    plain.protocol = plain.protocol.replace('ws', 'http');
    try {
      await read(await fetch(plain, { signal: AbortSignal.timeout?.(10000) }));
    } catch (error) {
      if (error instanceof TroupeError && error.status !== 426 && !passes(error)) return error;
    }
  };
  const answered = (id, reply, error) => {
    const item = open.get(id);
    if (!item) return;
    if (item.key && error && passes(error) && --item.tries > 0) {
      item.sent = false;
      setTimeout(() => greeted && !item.sent && open.has(id) && transmit([id, item]), (error.after ?? 0) * 1000 + jitter(item.wait));
      item.wait = longer(item.wait);
      return;
    }
    open.delete(id);
    error ? item.reject(error) : item.resolve(reply);
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
      answered(id, reply, error && new TroupeError(error, causal));
    };
    const mine = socket;
    const ended = async ({ code = 1006, reason = '' }) => {
      if (!mine.onclose) return;
      mine.onclose = mine.onmessage = null;
      const unanswered = !greeted && !closed && fetch;
      greeted = false;
      for (const [id, item] of open) {
        if (!item.sent) continue;
        if (item.key && --item.tries > 0) item.sent = false; // it is safe to send it again
        else open.delete(id), item.reject(lost());
      }
      const error = unanswered ? await refusal() : undefined;
      if (error) finish(error);
      own.onclose?.(code, reason, error);
      if (!closed) timer = setTimeout(dial, jitter(wait)), wait = longer(wait);
    };
    mine.onclose = ended;
    mine.onerror = () => greeted || setTimeout(ended, 0, {}); // Node 20 has no close behind it
  };
  const call = (ask, fields, { key = defaults?.once && random() } = {}) => new Promise((resolve, reject) => {
    const item = [++number, { ask, fields, key: key || undefined, resolve, reject, tries: 8, wait: 250 }];
    if (closed) return reject(closed);
    open.set(...item);
    if (greeted) transmit(item);
  });
  const own = {
    call, onopen: null, onclose: null,
    get last() { return last; },
    on: (event, listener) => (listeners.get(event) ?? listeners.set(event, new Set()).get(event)).add(listener),
    off: (event, listener) => listeners.get(event)?.delete(listener),
    once: (ask, fields, key = random()) => call(ask, fields, { key }),
    close: () => { finish(lost()); socket.close(1000); },
  };
  dial();
  return new Proxy(own, {
    get: (own, name) => name in own || typeof name === 'symbol' || name === 'then' ? own[name] : (fields, options) => call(name, fields, options),
  });
}
