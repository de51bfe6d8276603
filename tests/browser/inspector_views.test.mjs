// SPDX-License-Identifier: Apache-2.0
// What single views of the inspector's page say: numbers that agree, pages of lists, what was lost, and what ends while it is looked at.
import { connect } from 'node:net';
import { addressOf, ask, begin, go, intercept, SHOP, shows, text } from './inspect.mjs';
import { assert, test, until, WAIT_MS } from './support.mjs';

// Turns that wait have left their mailbox: they are pending, and in no mailbox.
test('the_sum_of_all_mailboxes_is_that_of_the_table', 'IP-02', async stage => {
  const { page, socket } = await begin(stage, { tellers: 1, view: '/mailboxes' });
  await shows(page, 'td', 'desk');
  await ask(socket, 'suspend', { path: SHOP, may: true });
  await ask(socket, 'kill', { path: `${SHOP}/desk`, may: true });
  await ask(socket, 'suspend', { path: `${SHOP}/guest`, may: true });
  for (let i = 0; i < 7; i++) await ask(socket, 'tell', { path: `${SHOP}/guest`, message: 'deposit', json: '{"cents":1}', may: true });
  // The others handle what they have.
  const figures = async () => {
    const { ok } = await ask(socket, 'behaviors');
    return [ok.behaviors.reduce((sum, row) => sum + row.queued, 0), (await ask(socket, 'info')).ok.counters.queued];
  };
  const end = Date.now() + WAIT_MS;
  let [before, now] = [[], await figures()];
  while (`${before}` !== `${now}` && Date.now() < end) {
    await page.waitForTimeout(200);
    [before, now] = [now, await figures()];
  }
  assert.ok(now[0] >= 7 && now[1] >= now[0] + 2, `${now[0]} in mailboxes, ${now[1]} pending: the turns of clerk and mute wait`);
  await until(page, ([inMailboxes, pending]) => {
    const rows = [...document.querySelectorAll('tbody tr')].map(row => Number(row.cells[2].innerText.replace(/\D/g, '')));
    const said = /([\d,]+) messages? (is|are) pending/.exec(document.querySelector('main').innerText);
    return Number(document.querySelector('main .panel .extra b')?.innerText) === inMailboxes && Number(said?.[1]) === pending && rows.reduce((sum, n) => sum + n, 0) === inMailboxes;
  }, now);
  assert.equal(await page.locator('.mail-heat a').count(), await page.locator('tbody tr').count());
  await page.locator(`.mail-heat a[aria-label="${SHOP}/guest"]`).click();
  await until(page, path => new URLSearchParams(location.hash.split('?')[1]).get('path') === path, `${SHOP}/guest`);
});

test('keys_values_and_items_are_read_in_pages', 'IP-02 O-20', async stage => {
  const { page, socket } = await begin(stage, { tellers: 1, view: '/durable/shelf/row-05?tab=kv' });
  await shows(page, 'td', 'raw');
  await shows(page, 'td', '/wA='); // bytes that are no text
  await ask(socket, 'tell', { path: '/system/durable/shelf/row-05', message: 'fill', json: '{"count":130}', may: true });
  await shows(page, 'td', 'key-0000');
  await shows(page, '.more', 'Page 1, 100 rows; there are more');
  await page.locator('.more button', { hasText: 'Next page' }).click();
  await until(page, () => document.querySelector('tbody tr td')?.textContent === 'key-0100');
  await shows(page, '.more', 'Page 2, 32 rows');
  await page.fill('main input[name=filter]', 'key-012');
  await until(page, () => document.querySelectorAll('tbody tr').length === 10);
  await page.locator('tbody tr', { hasText: 'key-0125' }).click();
  await shows(page, '.detail pre', '<b>value</b>');
  await go(page, '#/durable/shelf/row-05?tab=queues&queue=fills');
  await until(page, () => [...document.querySelectorAll('td')].some(cell => /"count": *0\b/.test(cell.textContent)));
  await page.locator('.more button', { hasText: 'Next page' }).click();
  await until(page, () => [...document.querySelectorAll('td')].some(cell => /"count": *100\b/.test(cell.textContent)));
  // A key of bytes that are no text.
  await go(page, '#/durable/shelf?q=bytes');
  await page.locator('td a', { hasText: 'bytes%ff' }).click();
  await shows(page, '.json', '<i>left</i>');
  await shows(page, '.more', 'Stored as shelf version 1');
  await shows(page, '.more code', 'pin: str, secret');
  await go(page, `#/tree${SHOP}/desk?tab=mail`);
  await shows(page, 'td', '"seal":"/wD+"');
});

// Between the list and the click other records come, many times more than are kept: the tree is there all the same.
test('a_slow_turn_has_the_tree_of_what_it_led_to', 'IP-02 I-11', async stage => {
  const { page, socket } = await begin(stage, { tellers: 1, view: '/time', options: { viewport: { width: 1280, height: 2400 } } });
  await ask(socket, 'suspend', { path: SHOP, may: true });
  const link = page.locator('tr', { hasText: 'on_bake' }).locator('a', { hasText: /^tree$/ }).first();
  const end = Date.now() + 2 * WAIT_MS;
  while (!await link.count()) {
    assert.ok(Date.now() < end, 'a turn of the mill has a tree');
    await ask(socket, 'tell', { path: `${SHOP}/mill`, message: 'bake', json: '{"us":20000}', may: true });
    await page.waitForTimeout(100);
  }
  const [row] = (await ask(socket, 'slow', { limit: 64 })).parts.filter(one => one.handler === 'on_bake' && one.followed);
  assert.match(row.causal, /^[0-9a-f]{16}$/);
  await page.keyboard.press('p'); // the list is not read again
  await shows(page, '.live', 'paused');
  await ask(socket, 'resume', { path: SHOP, may: true });
  const trace = connect(socket);
  trace.write(`${JSON.stringify({ id: 1, do: 'trace', path: SHOP })}\n`);
  trace.resume();
  const newest = async () => (await ask(socket, 'trace', { causal: '7', limit: 1 })).ok.last;
  const before = await newest();
  while (await newest() < before + 10000) await page.waitForTimeout(50);
  trace.destroy();
  await link.click();
  await shows(page, 'h2', 'causal id');
  await until(page, () => document.querySelectorAll('.hop').length === 2);
  const hops = (await page.locator('.hop').allInnerTexts()).map(hop => hop.replace(/\s+/g, ' '));
  assert.match(hops[0], /^ ?bake /);
  assert.match(hops[1], /^ ?└ ?deposit /);
});

test('why_names_who_holds_it', 'IP-02', async stage => {
  const { page } = await begin(stage, { tellers: 1, view: `/tree${SHOP}/clerk?tab=why` });
  await page.locator('.reasons a', { hasText: 'mute' }).click();
  await until(page, path => location.hash.startsWith(`#/tree${path}/clerk/mute`), SHOP);
  await shows(page, '.who', 'mute');
  await go(page, `#/tree${SHOP}/ward/breaker`);
  await shows(page, '.facts', 'restart');
  await go(page, '#/durable/order/o-1?tab=held');
  await shows(page, '.reasons', 'waits for its idle time');
});

test('a_click_on_the_flame_or_on_a_row_shows_the_handler_over_time', 'IP-02', async stage => {
  const { page } = await begin(stage, { tellers: 1, view: '/time' });
  await page.locator('.flame button', { hasText: 'on_grind' }).first().click();
  await shows(page, 'h2', 'on_grind of mill, over time');
  const painted = () => page.evaluate(() => {
    const canvas = [...document.querySelectorAll('canvas')].find(one => /how long turns of on_grind/.test(one.ariaLabel || one.getAttribute('aria-label')));
    if (!canvas) return 0;
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    const colors = new Set();
    for (let i = 0; i < data.length; i += 4) colors.add((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
    return colors.size;
  });
  const end = Date.now() + WAIT_MS;
  while (await painted() < 4 && Date.now() < end) await page.waitForTimeout(100);
  assert.ok(await painted() >= 4, 'the heat map has marks');
  await page.locator('button', { hasText: 'Close' }).click();
  await until(page, () => ![...document.querySelectorAll('h2')].some(head => head.textContent.includes('over time')));
  await page.locator('tbody tr', { hasText: 'on_tick' }).first().click();
  await shows(page, 'h2', 'on_tick of shop, over time');
});

// The list of slow turns is below the screen. It is asked for, and drawn when somebody scrolls there.
test('what_is_not_on_the_screen_is_not_drawn', 'IP-05', async stage => {
  let lines;
  const { page } = await begin(stage, { tellers: 1, view: '/time', options: { viewport: { width: 1280, height: 500 } }, prepare: async page => {
    await page.clock.install();
    lines = await intercept(page);
  } });
  const slow = page.locator('.panel', { hasText: 'Slowest turns' }).last();
  const pass = async ms => {
    for (const end = Date.now() + 2 * WAIT_MS; ms > 0 && Date.now() < end; ms -= 500) {
      await page.clock.runFor(500);
      await page.waitForTimeout(20); // for answers, whose time is the real one
    }
  };
  await until(page, () => document.querySelector('#slow').getBoundingClientRect().top > innerHeight); // the handlers above it are there
  await pass(1000); // what was to be drawn before
  await slow.evaluate(panel => {
    window.changes = 0;
    const isAround = ({ target }) => (target.closest ? target : target.parentElement)?.closest('.age, thead');
    new MutationObserver(list => { window.changes += list.filter(change => !isAround(change)).length; })
      .observe(panel, { subtree: true, childList: true, characterData: true, attributes: true });
  });
  lines.sent.length = 0;
  await pass(12000);
  assert.ok(lines.sent.filter(verb => verb === 'slow').length >= 2, 'it is asked for');
  assert.equal(await page.evaluate(() => window.changes), 0);
  await slow.scrollIntoViewIfNeeded();
  const end = Date.now() + WAIT_MS;
  while (!await page.evaluate(() => window.changes) && Date.now() < end) await pass(500);
  assert.ok(await page.evaluate(() => window.changes), 'it is drawn when it is seen');
});

test('a_mark_on_the_time_line_says_what_happened', 'IP-02', async stage => {
  const { page } = await begin(stage, { tellers: 1, view: '/failures' });
  await shows(page, 'td', 'an anvil is too heavy');
  const box = await page.locator('.timeline canvas').boundingBox();
  const hint = () => text(page, 'main .hint');
  let said = await hint();
  assert.match(said, /Point at a mark/);
  for (let x = box.width - 1; x > 0 && /Point at/.test(said); x -= 3) {
    await page.mouse.move(box.x + x, box.y + 10);
    said = await hint();
  }
  assert.match(said, /^\d\d:\d\d:\d\d\.\d{3} failure: /);
});

test('what_needs_attention_is_said_above_each_view', 'IP-02', async stage => {
  const { page } = await begin(stage, { tellers: 1, view: '/connections', prepare: async page => {
    const lines = await intercept(page);
    lines.answers = (verb, line) => (verb === 'ls' ? line.replace(/"queued":\d+,"queued_max":\d+/, '"queued":57,"queued_max":60')
      : verb === 'store' ? line.replace('"status":"TR_OK"', '"status":"TR_STORE_FAILED"') : line);
  } });
  await shows(page, '.findings', 'Full mailbox: ');
  await shows(page, '.findings', ', 57 messages');
  await shows(page, '.findings', 'The store has failed: TR_STORE_FAILED');
  await shows(page, '.findings', 'in the last 30 s');
  await page.locator('.findings a', { hasText: 'Full mailbox' }).click();
  await until(page, () => location.hash.startsWith('#/mailboxes?path='));
});

test('a_mailbox_that_grows_is_named', 'IP-02', async stage => {
  let queued = 50;
  const { page } = await begin(stage, { tellers: 1, prepare: async page => {
    await page.clock.install();
    const lines = await intercept(page);
    lines.answers = (verb, line) => (verb === 'ls' ? line.replace(/"queued":\d+,/, () => `"queued":${queued += 10},`) : line);
  } });
  for (let i = 0; i < 12 && !await page.locator('.findings .mailbox').count(); i++) {
    await page.clock.runFor(2000);
    await page.waitForTimeout(100);
  }
  assert.match(await text(page, '.findings .mailbox'), /Growing mailbox: \/user\//);
});

test('nothing_is_asked_in_a_tab_that_is_hidden_or_paused', 'IP-05', async stage => {
  let lines;
  const { page } = await begin(stage, { tellers: 1, view: '/mailboxes', prepare: async page => {
    await page.clock.install();
    await page.addInitScript(() => Object.defineProperty(document, 'hidden', { get: () => !!window.isHidden }));
    lines = await intercept(page);
  } });
  await shows(page, 'td', 'desk');
  const asked = async () => {
    await page.clock.runFor(300); // what was on its way
    await page.waitForTimeout(100);
    lines.sent.length = 0;
    await page.clock.runFor(9000);
    await page.waitForTimeout(100);
    return [...lines.sent];
  };
  assert.ok((await asked()).length, 'it asks while it is seen');
  await page.evaluate(() => { window.isHidden = true; });
  assert.deepEqual(await asked(), [], 'hidden');
  await page.evaluate(() => { window.isHidden = false; });
  assert.ok((await asked()).length, 'seen again');
  await page.keyboard.press('p');
  assert.deepEqual(await asked(), [], 'paused');
  await page.keyboard.press('p');
  assert.ok((await asked()).length, 'resumed');
});

test('what_was_lost_or_dropped_is_said', 'IP-02 IP-04', async stage => {
  const { page } = await begin(stage, { tellers: 1, view: '/log', prepare: async page => {
    const lines = await intercept(page);
    lines.answers = (verb, line) => (verb === 'log tail' ? line.replace('"missed":0', '"missed":7')
      : verb === 'trace' ? line.replace(/"missed":\d+,"given_up":\d+/, '"missed":5,"given_up":1252') : line.replace('"dropped":0', '"dropped":3'));
  } });
  await shows(page, '.brand', '3 pages dropped');
  await shows(page, '.problem', 'came faster than they were read');
  await go(page, `#/trace?path=${SHOP}/mill`);
  await shows(page, '.problem-text', 'came faster than they were read and are lost');
  // It counts from the first look on: what another one has followed before does not belong to this page.
  assert.ok(!(await text(page, 'main')).includes('gave way'));
});

test('too_many_pages_are_said', 'IP-04', async stage => {
  const { address } = await begin(stage, { tellers: 1 });
  const page = await stage.open();
  await page.routeWebSocket(/\/ws$/, socket => socket.close({ code: 4003, reason: 'too many pages are open' }));
  await page.goto(address);
  await shows(page, '.notice', 'too many pages are open');
});

test('a_page_of_the_tool_finds_its_program_after_a_restart', 'IP-04', async stage => {
  const { socket, program } = await begin(stage, { tellers: 1 });
  const tool = await stage.start('bin/troupe', ['inspect', '-p', socket]);
  const page = await stage.open(await addressOf(tool));
  await shows(page, '.live', 'live');
  await program.kill('SIGKILL');
  await program.again();
  await program.line(/^ready$/);
  await shows(page, '.notice', 'was started again');
  await shows(page, '.live', 'live');
});

test('actors_that_end_while_they_are_looked_at_are_said_to_have_ended', 'IP-02', async stage => {
  const { page, socket } = await begin(stage, { tellers: 12 });
  const views = [path => `/mailboxes?path=${path}`, path => `/tree${path}?tab=waits`, path => `/tree${path}?tab=mail`, path => `/tree${path}?tab=send`,
    path => `/tree${path}?tab=why`, path => `/trace?path=${path}`];
  for (const [i, view] of views.entries()) {
    const path = `${SHOP}/hall/teller-${i}`;
    await go(page, `#${view(path)}`);
    await page.waitForSelector('main .panel');
    await ask(socket, 'kill', { path, may: true });
    if (!/^\/trace/.test(view(path))) await shows(page, '.problem', /tree/.test(view(path)) ? 'This actor is not there' : 'TR_');
    assert.equal(await page.locator('text=This view has failed').count(), 0, view(path));
    await shows(page, '.live', 'live');
  }
});

test('the_log_is_filtered_by_path_level_and_causal_id', 'IP-02', async stage => {
  const { page, socket } = await begin(stage, { tellers: 1, view: '/log' });
  await shows(page, 'td', 'ticks');
  const texts = () => page.locator('tbody tr td:nth-child(4)').allInnerTexts();
  await page.selectOption('[aria-label="least level shown"]', 'warn');
  await until(page, () => [...document.querySelectorAll('tbody tr:not(.space)')].length && [...document.querySelectorAll('tbody tr:not(.space)')].every(row => /warn|error/.test(row.cells[1].innerText)));
  await page.selectOption('[aria-label="least level shown"]', '');
  await page.fill('[aria-label="Path: it and below"]', `${SHOP}/ward`);
  await until(page, () => ![...document.querySelectorAll('tbody tr:not(.space)')].some(row => row.cells[3].innerText.includes('ticks')));
  await page.fill('[aria-label="Path: it and below"]', '');
  await shows(page, 'td', 'ticks');
  await ask(socket, 'tell', { path: SHOP, message: 'tour', json: '{"text":"by id"}', may: true });
  const end = Date.now() + WAIT_MS;
  let line;
  while (!line?.causal && Date.now() < end) [line] = (await ask(socket, 'log tail', { text: 'a tour: by id' })).parts;
  assert.ok(line?.causal, 'the line has a causal id');
  await page.fill('[aria-label="Causal id"]', line.causal);
  await until(page, () => [...document.querySelectorAll('tbody tr:not(.space)')].length === 1);
  assert.deepEqual(await texts(), ['a tour: by id']);
});

test('a_program_knows_the_address_of_its_page', 'I-01', async stage => {
  const { program, address } = await begin(stage, { tellers: 1 });
  assert.equal((await program.line(/^page (.*)$/))[1], address);
});
