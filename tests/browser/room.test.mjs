// SPDX-License-Identifier: Apache-2.0
// The chat of examples/41_room in two browsers, over sleep, kill -9 and restart.
import { assert, test, until } from './support.mjs';

const ROOM = '/system/durable/room/lobby';

const shows = (page, text) => until(page, text => [...document.querySelectorAll('li')].some(line => line.textContent === text), text);
const lines = page => page.$$eval('li', all => all.map(line => line.textContent));

// Opens the room as somebody. Returns {page, say(text), numbers}: the numbers of all events that have come by its sockets.
async function enter(open, address, name) {
  const page = await open();
  const numbers = [];
  page.on('websocket', socket => socket.on('framereceived', ({ payload }) => {
    const { event, number } = JSON.parse(payload);
    if (event && number) numbers.push(number);
  }));
  await page.goto(`http://${address}/#lobby/${name}`);
  await shows(page, `${name}: has come`);
  const say = async text => {
    await page.fill('#text', text);
    await page.press('#text', 'Enter');
  };
  return { page, say, numbers };
}

async function startRoom({ start, directory }) {
  const control = ['--control', `${directory}/socket`];
  const server = await start('examples/41_room', ['127.0.0.1:0', ...control]);
  const [, address] = await server.line(/^open at (\S+)$/);
  const again = async () => {
    await server.again([address, ...control]);
    await server.line(/^open at /);
  };
  return { server, address, again };
}

const stored = async ({ tool, directory }) =>
  JSON.parse(await tool('-p', `${directory}/socket`, 'durable', 'get', 'room', 'lobby', '--json'));

// Lets the room sleep, and waits until it does. Returns the number of its generation.
async function sleep(stage) {
  await stage.tool('-p', `${stage.directory}/socket`, 'sleep', ROOM);
  for (;;) {
    const { awake, generation } = await stored(stage);
    if (!awake) return generation;
  }
}

// Each number is the next of the one before: nothing was lost or came twice.
function assertWhole(numbers) {
  numbers.forEach((number, i) => assert.equal(number, numbers[0] + i, `events ${numbers}`));
}

test('two_windows_share_a_room_over_sleep_kill_and_restart', 'H-02 H-03 H-05', async stage => {
  const { server, address, again } = await startRoom(stage);
  const anna = await enter(stage.open, address, 'anna');
  const bob = await enter(stage.open, address, 'bob');
  const both = text => Promise.all([shows(anna.page, text), shows(bob.page, text)]);
  await both('bob: has come');

  await anna.say('one');
  await both('anna: one');
  const before = await sleep(stage);
  await bob.say('two'); // wakes it
  await both('bob: two');
  const woken = await sleep(stage);
  assert.ok(woken > before, `generations ${before}, ${woken}`);
  await anna.say('three');
  await both('anna: three');

  await server.kill('SIGKILL');
  await bob.say('four'); // while nobody is there
  await again();
  await both('bob: four');
  await anna.say('five');
  await both('anna: five');
  await sleep(stage);
  await bob.say('six');
  await both('bob: six');

  const seen = await lines(bob.page);
  const texts = seen.filter(line => / (one|two|three|four|five|six)$/.test(line));
  assert.deepEqual(texts, ['anna: one', 'bob: two', 'anna: three', 'bob: four', 'anna: five', 'bob: six']);
  assert.equal(seen.filter(line => line.endsWith('has gone')).length, 2, `${seen}`); // both were lost by the crash, once each
  const hers = await lines(anna.page);
  assert.deepEqual(hers, seen);
  const late = await enter(stage.open, address, 'carl'); // what is stored is the same
  await both('carl: has come');
  assert.deepEqual(await lines(late.page), await lines(anna.page));
  assertWhole(anna.numbers);
  assertWhole(bob.numbers);
});

test('a_line_has_one_effect_wherever_the_server_is_killed', 'H-02 H-05', async stage => {
  const { server, address, again } = await startRoom(stage);
  const anna = await enter(stage.open, address, 'anna');
  const bob = await enter(stage.open, address, 'bob');
  const all = Array.from({ length: 40 }, (_, i) => `line ${i}`);
  // All are written at once; the server dies when some of them have been seen.
  await anna.page.evaluate(all => all.forEach(line => {
    text.value = line;
    text.onchange();
  }), all);
  await shows(bob.page, 'anna: line 5');
  await server.kill('SIGKILL');
  await again();
  await Promise.all([shows(anna.page, 'anna: line 39'), shows(bob.page, 'anna: line 39')]);
  for (const page of [anna.page, bob.page]) {
    const said = (await lines(page)).filter(line => line.startsWith('anna: line '));
    assert.deepEqual(said, all.map(line => `anna: ${line}`));
  }
  assertWhole(bob.numbers);
});
