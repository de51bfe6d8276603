// SPDX-License-Identifier: Apache-2.0
// The client when things go wrong: proxies, cut answers, limits, refused connections, gaps. The other side is played here, and
// timers run at once; what they were to wait is noted.
import assert from 'node:assert';
import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, test } from 'node:test';
import * as client from '../troupe.js';

const { ask, connect, TroupeError } = client;
const url = 'http://server.example/actors/room/lobby';
const realTimeout = globalThis.setTimeout;
let waits;

beforeEach(() => {
  waits = [];
  globalThis.setTimeout = (run, ms, ...rest) => (ms && waits.push(ms), realTimeout(run, 0, ...rest));
});
afterEach(() => { globalThis.setTimeout = realTimeout; });

// Until all that can happen without a timer has happened.
const settle = () => new Promise(done => realTimeout(done, 20));
const near = (waited, ms) => waited >= ms * 0.75 && waited <= ms * 1.25;

const json = (body, status = 200, headers = {}) => () => new Response(JSON.stringify(body), { status, headers });
const problem = (status, code, headers) => json({ error: { code, message: 'words', status } }, status, { 'X-Troupe-Causal': 'ab', ...headers });
const page = status => () => new Response('<html>Bad Gateway</html>', { status, headers: { 'Content-Type': 'text/html' } });
const cut = () => () => new Response(new ReadableStream({
  start: controller => { controller.enqueue(new TextEncoder().encode('{"value"')); controller.error(new Error('reset')); },
}));
const broken = () => () => { throw new TypeError('fetch failed'); };

// A server whose answers come one after the other; requests are noted.
function answers(...list) {
  const seen = [];
  return { seen, fetch: async (target, request) => (seen.push({ target: String(target), ...request }), list.shift()()) };
}

test('a keyed ask is sent again after a page of a proxy, a cut body, a lost connection and 503', async () => {
  const server = answers(page(502), cut(), broken(), problem(503, 'actor/stopping'), problem(408, 'actor/timeout'), json({ value: 7 }));
  assert.deepStrictEqual(await ask(url, 'count', { by: 1 }, { key: 'k', fetch: server.fetch }), { value: 7 });
  assert.strictEqual(server.seen.length, 6);
  for (const { target, method, headers, body } of server.seen) {
    assert.strictEqual(target, `${url}/count`);
    assert.deepStrictEqual([method, headers['Idempotency-Key'], body], ['POST', 'k', '{"by":1}']);
  }
  [250, 500, 1000, 2000, 4000].forEach((ms, i) => assert.ok(near(waits[i], ms), `${waits}`));
});

test('an ask without a key is sent once, and fails with a TroupeError', async () => {
  const fails = (answer, wanted) => assert.rejects(ask(url, 'count', {}, { fetch: answers(answer).fetch }), error => {
    assert.ok(error instanceof TroupeError);
    for (const name in wanted) assert.strictEqual(error[name], wanted[name]);
    return true;
  });
  await fails(page(502), { code: 'connection/bad_answer', status: 502 });
  await fails(page(413), { code: 'connection/bad_answer', status: 413 });
  await fails(cut(), { code: 'connection/bad_answer', status: 200 });
  await fails(broken(), { code: 'connection/lost' });
  await fails(problem(503, 'actor/stopping'), { code: 'actor/stopping', status: 503, causal: 'ab' });
  await fails(json({ error: { code: 'actor/refused', message: 'full', status: 422, reason: 9 } }, 422), { code: 'actor/refused', reason: 9, message: 'full' });
  assert.deepStrictEqual(waits, []);
});

test('429 is waited for as Retry-After says, up to a minute; refusals are final', async () => {
  const server = answers(problem(429, 'request/too_many', { 'Retry-After': '3' }), json({ value: 1 }));
  assert.deepStrictEqual(await ask(url, 'count', {}, { key: 'k', fetch: server.fetch }), { value: 1 });
  assert.ok(waits[0] >= 3000 && waits[0] <= 3400, `${waits}`);
  await assert.rejects(ask(url, 'count', {}, { key: 'k', fetch: answers(problem(429, 'request/too_many', { 'Retry-After': '3600' })).fetch }),
    { code: 'request/too_many', after: 3600 });
  for (const [status, code] of [[400, 'request/bad_json'], [401, 'request/unauthorized'], [409, 'request/key_differs'], [422, 'actor/refused']])
    await assert.rejects(ask(url, 'count', {}, { key: 'k', fetch: answers(problem(status, code)).fetch }), { code });
});

test('after eight attempts, or as many as are allowed, the last error is thrown', async () => {
  const eight = answers(...Array.from({ length: 9 }, () => page(504)));
  await assert.rejects(ask(url, 'count', {}, { key: 'k', fetch: eight.fetch }), { code: 'connection/bad_answer', status: 504 });
  assert.strictEqual(eight.seen.length, 8);
  assert.ok(near(waits[6], 8000), `${waits}`);
  const two = answers(broken(), broken(), broken());
  await assert.rejects(ask(url, 'count', {}, { key: 'k', tries: 2, fetch: two.fetch }), { code: 'connection/lost' });
  assert.strictEqual(two.seen.length, 2);
});

test('a token is a header of asks, and a parameter of connections', async () => {
  const server = answers(json({}));
  await ask(url, 'count', {}, { token: 't', fetch: server.fetch });
  assert.strictEqual(server.seen[0].headers.Authorization, 'Bearer t');
  const { sockets, WebSocket } = stage();
  connect(url, { WebSocket, token: 't' });
  assert.strictEqual(sockets[0].url, 'ws://server.example/actors/room/lobby?token=t');
});

// A WebSocket that the test plays.
function stage() {
  const sockets = [];
  class WebSocket {
    constructor(target) { this.url = String(target); this.sent = []; sockets.push(this); }
    send(text) { this.sent.push(JSON.parse(text)); }
    close(code) { this.closed = code; this.end(code); }
    end(code = 1006, reason = '') { this.onclose?.({ code, reason }); this.onclose = null; }
    say(message) { this.onmessage({ data: JSON.stringify(message) }); }
    open(event = 0, gap = false) { this.say({ open: { event, gap } }); }
  }
  return { sockets, WebSocket };
}

test('a connection that is refused for good ends, and the program learns why', async () => {
  for (const [status, code] of [[401, 'request/unauthorized'], [403, 'request/forbidden'], [404, 'actor/unknown_kind']]) {
    const { sockets, WebSocket } = stage(), server = answers(problem(status, code));
    const room = connect(url, { WebSocket, fetch: server.fetch, token: 'x' });
    const closed = new Promise(done => { room.onclose = (...all) => done(all); });
    const asked = room.say({ text: 'hi' }), keyed = room.once('say');
    sockets[0].end();
    const [number, , error] = await closed;
    assert.deepStrictEqual([number, error.code, error.status], [1006, code, status]);
    await assert.rejects(asked, { code });
    await assert.rejects(keyed, { code });
    await assert.rejects(room.say(), { code });
    await settle();
    assert.strictEqual(sockets.length, 1);
    assert.strictEqual(server.seen[0].target, 'http://server.example/actors/room/lobby?token=x');
  }
});

test('one that fails for another reason is made again, later and later', async () => {
  const { sockets, WebSocket } = stage();
  const server = answers(problem(426, 'request/no_websocket'), page(502), broken(), problem(429, 'request/too_many'), problem(426, ''), problem(426, ''), problem(426, ''));
  const room = connect(url, { WebSocket, fetch: server.fetch });
  const closes = [];
  room.onclose = (code, reason, error) => closes.push(error);
  for (let i = 0; i < 7; i++) {
    sockets[i].end();
    await settle();
  }
  assert.strictEqual(sockets.length, 8);
  assert.deepStrictEqual(closes, Array(7).fill(undefined));
  const dials = waits.filter(ms => ms !== 10000);
  [250, 500, 1000, 2000, 4000, 8000, 8000].forEach((ms, i) => assert.ok(near(dials[i], ms), `${dials}`));
  sockets[7].open();
  sockets[7].end();
  assert.ok(near(waits.at(-1), 250), `${waits}`); // it was open: from the beginning
  room.close();
});

test('a WebSocket that fails without a close, as that of Node 20, is made again', async () => {
  const { sockets, WebSocket } = stage();
  const room = connect(url, { WebSocket, fetch: answers(broken(), broken()).fetch });
  const codes = [];
  room.onclose = code => codes.push(code);
  sockets[0].onerror();
  await settle();
  sockets[1].onerror(); // and one with a close
  sockets[1].end(1006);
  await settle();
  assert.deepStrictEqual([sockets.length, codes], [3, [1006, 1006]]);
  room.close();
});

test('a keyed call on a connection is sent again after 503 and 429, others fail', async () => {
  const { sockets, WebSocket } = stage();
  const room = connect(url, { WebSocket });
  const [socket] = sockets;
  socket.open();
  const kept = room.once('say', { text: 'a' }, 'k'), plain = room.say({ text: 'b' });
  socket.say({ id: 2, error: { code: 'actor/stopping', message: '', status: 503 }, causal: '1' });
  await assert.rejects(plain, { code: 'actor/stopping', causal: '1' });
  socket.say({ id: 1, error: { code: 'actor/stopping', message: '', status: 503 } });
  await settle();
  socket.say({ id: 1, error: { code: 'request/too_many', message: '', status: 429 } });
  await settle();
  assert.deepStrictEqual(socket.sent.filter(({ id }) => id === 1), Array(3).fill({ id: 1, ask: 'say', with: { text: 'a' }, key: 'k' }));
  assert.ok(near(waits[0], 250) && near(waits[1], 500), `${waits}`);
  socket.end(1001);
  await settle();
  sockets[1].open();
  assert.strictEqual(sockets[1].sent[0].key, 'k');
  sockets[1].say({ id: 1, reply: { done: true } });
  assert.deepStrictEqual(await kept, { done: true });
  const refused = room.once('say');
  sockets[1].say({ id: 3, error: { code: 'actor/refused', message: 'no', status: 422, reason: 1 } });
  await assert.rejects(refused, { code: 'actor/refused', reason: 1 });
  const patient = assert.rejects(room.once('say'), { code: 'actor/start_failed' });
  for (let i = 0; i < 8; i++) {
    sockets[1].say({ id: 4, error: { code: 'actor/start_failed', message: '', status: 503 } });
    await settle();
  }
  await patient;
});

test('a keyed call waits as long as the answer on its connection says', async () => {
  const { sockets, WebSocket } = stage();
  const room = connect(url, { WebSocket });
  sockets[0].open();
  const kept = room.once('say'), late = assert.rejects(room.once('say'), { code: 'request/too_many', after: 61 });
  sockets[0].say({ id: 1, error: { code: 'request/too_many', message: '', status: 429, after: 20 } });
  sockets[0].say({ id: 2, error: { code: 'request/too_many', message: '', status: 429, after: 61 } });
  await late;
  await settle();
  assert.ok(near(waits[0] - 20000, 250), `${waits}`);
  sockets[0].say({ id: 1, reply: { done: true } });
  assert.deepStrictEqual(await kept, { done: true });
  room.close();
});

test('a keyed call is sent on eight connections at most', async () => {
  const { sockets, WebSocket } = stage();
  const room = connect(url, { WebSocket });
  let outcome;
  room.once('say').catch(error => { outcome = error.code; });
  for (let i = 0; i < 9; i++) {
    sockets[i].open();
    sockets[i].end();
    await settle();
    assert.strictEqual(outcome, i < 7 ? undefined : 'connection/lost', `${i}`);
  }
  assert.strictEqual(sockets.filter(({ sent }) => sent.length).length, 8);
  room.close();
});

test('events are resumed, or there is a gap', async () => {
  const { sockets, WebSocket } = stage();
  const room = connect(url, { WebSocket });
  const opens = [], seen = [];
  room.onopen = state => opens.push(state);
  room.on('said', ({ text }, number) => seen.push([text, number]));
  sockets[0].open(6);
  sockets[0].say({ event: 'said', number: 7, with: { text: 'a' } });
  sockets[0].say({ event: 'said', with: { text: 'to me' } }); // has no number
  assert.strictEqual(room.last, 7);
  sockets[0].end();
  await settle();
  assert.match(sockets[1].url, /[?]last=7$/);
  sockets[1].open(8);
  sockets[1].say({ event: 'said', number: 8, with: { text: 'b' } });
  sockets[1].end();
  await settle();
  sockets[2].open(900, true); // the ring of the server does not have 9 any more
  assert.strictEqual(room.last, 900);
  assert.deepStrictEqual(opens, [{ resumed: false, gap: false }, { resumed: true, gap: false }, { resumed: false, gap: true }]);
  assert.deepStrictEqual(seen, [['a', 7], ['to me', undefined], ['b', 8]]);
  sockets[2].end();
  await settle();
  assert.match(sockets[3].url, /[?]last=900$/);
  const given = stage();
  connect(url, { WebSocket: given.WebSocket, last: 12 });
  assert.match(given.sockets[0].url, /[?]last=12$/);
});

test('asks that are open fail when it is closed, also between two connections', async () => {
  const { sockets, WebSocket } = stage();
  const room = connect(url, { WebSocket, fetch: answers(broken()).fetch });
  const plain = room.say(), keyed = room.once('say');
  sockets[0].end();
  room.close();
  await assert.rejects(plain, { code: 'connection/lost' });
  await assert.rejects(keyed, { code: 'connection/lost' });
  await assert.rejects(room.say(), { code: 'connection/lost' });
  await settle();
  assert.strictEqual(sockets.length, 1);
});

test('every export and every member has a type', () => {
  const types = readFileSync(new URL('../troupe.d.ts', import.meta.url), 'utf8');
  for (const name in client) assert.match(types, new RegExp(`export (class|function) ${name}\\b`));
  const room = connect(url, { WebSocket: stage().WebSocket });
  for (const name of Object.keys(room)) {
    const member = types.slice(types.indexOf('interface Connection'));
    assert.match(member, new RegExp(`^  (readonly )?${name}\\b`, 'm'));
  }
  const error = new TroupeError({ code: 'a', message: 'b' });
  for (const name of Object.keys(error).filter(name => name !== 'name')) assert.match(types, new RegExp(`^  ${name}\\??:`, 'm'));
  room.close();
});
