// SPDX-License-Identifier: Apache-2.0
// The client against the real examples, which are in the directory TROUPE_EXAMPLES (build/examples).
import assert from 'node:assert';
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { ask, connect, TroupeError } from '../troupe.js';

const examples = resolve(process.env.TROUPE_EXAMPLES ?? '../../build/examples');

// Starts an example. The server has where, stop(signal) and again().
async function serve(name) {
  const directory = mkdtempSync(join(tmpdir(), 'troupe-client-'));
  const server = { at: '127.0.0.1:0' };
  server.again = () => new Promise((ready, failed) => {
    server.process = spawn(join(examples, name), [server.at], { cwd: directory, stdio: ['ignore', 'pipe', 'ignore'] });
    server.process.once('error', failed);
    server.process.stdout.once('data', data => {
      server.at = String(data).trim().split(' ').pop();
      ready();
    });
  });
  server.stop = signal => new Promise(done => {
    server.process.once('exit', done);
    server.process.kill(signal);
  });
  await server.again();
  server.url = path => `http://${server.at}/actors/${path}`;
  return server;
}

// A promise with its functions; waiting for it takes at most ten seconds.
function later() {
  const made = {};
  made.promise = new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('took too long')), 10000);
    made.resolve = value => (clearTimeout(timer), resolve(value));
  });
  return made;
}

test('it is small, and what the library serves', async () => {
  const source = readFileSync(new URL('../troupe.js', import.meta.url));
  assert.ok(gzipSync(source, { level: 9 }).length <= 4096);
  const server = await serve('40_gateway');
  const answer = await fetch(`http://${server.at}/actors/troupe.js`);
  assert.strictEqual(answer.headers.get('content-type'), 'text/javascript; charset=utf-8');
  assert.strictEqual(await answer.text(), String(source));
  await server.stop('SIGTERM');
});

test('asks by POST, with keys that take effect once over a kill -9', async () => {
  const server = await serve('40_gateway');
  const url = server.url('counter/visits');
  assert.deepStrictEqual(await ask(url, 'count', { by: 2 }), { value: 2 });
  assert.deepStrictEqual(await ask(url, 'count', { by: 3 }, { key: 'a' }), { value: 5 });
  await server.stop('SIGKILL');
  const asked = ask(url, 'count', { by: 3 }, { key: 'a' }); // is sent again until the server is back
  const begun = ask(url, 'count', { by: 1 }, { key: 'b' });
  await assert.rejects(ask(url, 'count', { by: 1 }), { code: 'connection/lost' });
  await server.again();
  assert.deepStrictEqual(await asked, { value: 5 });
  assert.deepStrictEqual(await begun, { value: 6 });
  await assert.rejects(ask(url, 'count', { by: 'x' }), error =>
    error instanceof TroupeError && error.code === 'request/bad_json' && error.status === 400 && /^[0-9a-f]+$/.test(error.causal));
  await server.stop('SIGTERM');
});

test('a room over sleep, kill -9 and restart: no line is lost or doubled', async () => {
  const server = await serve('41_room');
  const enter = name => {
    const seen = [], ready = later(), back = later();
    const room = connect(server.url('room/lobby'));
    let opened = 0;
    room.on('said', ({ who, text }) => seen.push(`${who}: ${text}`));
    room.onopen = async ({ resumed }) => {
      const { lines } = await room.join({ name });
      if (!resumed) lines.forEach(({ who, text }, i) => seen.splice(i, 0, `${who}: ${text}`));
      (++opened === 1 ? ready : back).resolve();
    };
    return { room, seen, ready: ready.promise, back: back.promise };
  };
  const anna = enter('anna');
  await anna.ready;
  const bob = enter('bob');
  await bob.ready;
  await anna.room.say({ text: 'one' });
  await bob.room.say({ text: 'two' });
  await assert.rejects(anna.room.join({}), { code: 'actor/refused', reason: 1 });
  await assert.rejects(anna.room.shout(), { code: 'actor/unknown_message' });
  await server.stop('SIGKILL');
  const asked = anna.room.once('say', { text: 'three' }); // waits, and is sent behind her join
  await server.again();
  await Promise.all([anna.back, bob.back]);
  await asked;
  await anna.room.once('say', { text: 'four' });
  const gone = later(), five = later();
  anna.room.on('said', ({ text }) => text === 'five' && five.resolve());
  await bob.room.say({ text: 'five' });
  await five.promise;
  anna.room.close();
  bob.room.on('said', ({ who, text }) => who === 'anna' && text === 'has gone' && gone.resolve());
  await gone.promise;
  const expected = [...anna.seen, 'anna: has gone'];
  assert.deepStrictEqual(bob.seen, expected);
  for (const text of ['one', 'two', 'three', 'four', 'five'])
    assert.strictEqual(expected.filter(line => line.endsWith(`: ${text}`)).length, 1);
  bob.room.close();
  await server.stop('SIGTERM');
});

test('tokens, and what the guard refuses, also on a connection', async () => {
  const server = await serve('39_guard');
  const refused = options => new Promise(done => {
    const diary = connect(server.url('diary/anna'), options);
    diary.onclose = (code, reason, error) => done(error);
  });
  assert.deepStrictEqual(await ask(server.url('diary/anna'), 'write', { text: 'a' }, { token: '5f3c' }), { lines: 1 });
  await assert.rejects(ask(server.url('diary/anna'), 'write', {}, { token: '81ab', key: 'k' }), { code: 'request/forbidden', status: 403 });
  const error = await refused({ token: 'wrong' });
  assert.deepStrictEqual([error.code, error.status], ['request/unauthorized', 401]);
  const bob = connect(server.url('diary/anna'), { token: '81ab' });
  assert.deepStrictEqual(await bob.count(), { lines: 1 });
  await assert.rejects(bob.write({ text: 'lies' }), { code: 'request/forbidden', status: 403 });
  bob.close();
  const none = connect(server.url('novel/anna'), { token: '5f3c' });
  await assert.rejects(none.once('count'), { code: 'actor/unknown_kind', status: 404 });
  await server.stop('SIGTERM');
});
