// SPDX-License-Identifier: Apache-2.0
// The page of the inspector, against tests/browser/inspector.c under load: what it shows is what the control socket says.
import { connect } from 'node:net';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { act, addressOf, ask, begin, block, go, greeting, SHOP, shows, text } from './inspect.mjs';
import { assert, test, until } from './support.mjs';

test('the_page_makes_no_other_request_and_stays_small', 'IP-01', async stage => {
  const { page, address, requests } = await begin(stage);
  const origin = address.replace(/\/#.*/, '');
  for (const view of ['time', 'mailboxes', 'trace', 'durable', 'connections', 'failures', 'store', 'log']) {
    await go(page, `#/${view}`);
    await until(page, name => document.querySelector('nav [aria-current]')?.textContent.toLowerCase().includes(name), view);
  }
  const allowed = ['/', '/app.js', '/app.css'].map(path => origin + path);
  assert.deepEqual(requests.filter(url => !url.startsWith('data:')).map(url => url.replace(/#.*/, '')).sort(), allowed.sort());
  assert.ok(!page.url().includes('token'), 'the token stays out of the address');
  assert.equal(await page.evaluate(() => document.querySelectorAll('[style]').length > 0 && document.querySelectorAll('script:not([src])').length), 0);
});

test('tree_and_actor_show_what_the_socket_says', 'IP-02', async stage => {
  const { page, socket } = await begin(stage);
  await shows(page, 'td', 'teller');
  const { ok } = await ask(socket, 'behaviors');
  const teller = ok.behaviors.find(row => row.behavior === 'teller');
  const row = page.locator('tr', { has: page.locator('a', { hasText: /^teller$/ }) }).first();
  assert.ok((await row.innerText()).includes(String(teller.live)), await row.innerText());
  if (await page.locator('.twig').count()) await shows(page, '.twig', '300 × teller');
  await go(page, `#/tree${SHOP}/guest`);
  await shows(page, '.json', '18446744073709551608'); // of 64 bits, exact
  const shown = await text(page, 'main');
  assert.ok(shown.includes('<img src=x onerror='), 'hostile text is shown');
  assert.ok(!shown.includes('4111'), 'a secret is not');
  assert.equal(await page.evaluate(() => window.wasRun), undefined);
  await go(page, '#/tree/user/nobody');
  await shows(page, '.problem', 'This actor is not there');
});

test('a_stuck_handler_and_a_growing_mailbox_are_named', 'IP-02', async stage => {
  const { page, socket } = await begin(stage, { view: '/mailboxes' });
  await shows(page, 'td', 'desk');
  const release = await block(stage, socket);
  await shows(page, '.findings', 'on_block of /user/shop/mill');
  await page.locator('.findings a', { hasText: 'on_block' }).click();
  await shows(page, '.problem', 'Its worker is stuck');
  await go(page, '#/time');
  await shows(page, '.workers .bad', 'on_block');
  // It is one row while it runs and when it is over, with the time that it took.
  await go(page, '#/failures?tab=stalls');
  await shows(page, 'td', 'on_block');
  const turns = page.locator('tbody tr', { hasText: 'on_block' });
  assert.match(await turns.first().innerText(), /now/);
  await release();
  await until(page, () => [...document.querySelectorAll('tbody tr')].some(row => row.innerText.includes('on_block') && !row.innerText.includes('now')));
  assert.equal(await turns.count(), 1);
  assert.match(await turns.locator('td.num').first().innerText(), /^\d[\d.]* m?s$/);
  // In which functions it was, by names and lines, as the control socket has them.
  await turns.first().locator('td').first().click();
  assert.match(await text(page, '.stack h3'), /on_block of .*was here .* after its turn had begun/);
  const stack = (await text(page, '.stack pre')).trim().split('\n');
  const { ok } = await ask(socket, 'stalls');
  assert.deepEqual(stack, ok.past.find(row => row.handler === 'on_block').stack);
  assert.match(stack[0], /open/);
  assert.match(stack.at(-1), /^on_block \(inspector\.c:\d+\)$/);
});

test('failures_letters_and_stored_state_are_found', 'IP-02', async stage => {
  const { page, socket } = await begin(stage, { view: '/failures' });
  await shows(page, 'td', 'an anvil is too heavy');
  await go(page, '#/failures?tab=letters');
  await shows(page, 'td', 'count_one');
  const letters = await ask(socket, 'dead-letters');
  assert.ok(letters.ok.total > 0);
  await go(page, '#/durable/order/o-2');
  await shows(page, 'h2', 'o-2');
  await shows(page, 'td', 'an anvil is too heavy');
  await go(page, '#/durable/shelf?q=row-0');
  await until(page, () => document.querySelectorAll('tbody tr').length === 10);
  await go(page, `#/durable/shelf/${encodeURIComponent('<b>x</b> "\'&')}`);
  await shows(page, '.json', '<i>left</i>');
  assert.ok(!(await text(page, 'main')).includes('1234'), 'a secret is not shown');
  await go(page, '#/durable/shelf/row-00?tab=sql');
  await page.fill('textarea[name=sql]', 'SELECT title, pages FROM book');
  await page.click('.sql button');
  await shows(page, 'td', 'Emma');
  await go(page, '#/durable/shelf/row-00?tab=kv');
  await shows(page, 'td', 'last');
  assert.equal(await page.evaluate(() => window.wasRun), undefined);
});

test('acts_ask_once_and_change_the_program', 'IP-03', async stage => {
  const { page, socket } = await begin(stage, { view: `/tree${SHOP}/guest` });
  const offers = verb => until(page, name => document.querySelector(`[data-act=${name}]`), verb);
  const state = async path => (await ask(socket, 'show', { path })).ok.state;
  await act(page, '[data-act=suspend]', { title: 'Suspend' });
  await offers('resume');
  assert.equal(await state(`${SHOP}/guest`), 'Suspended');
  await act(page, '[data-act=resume]', { title: 'Resume' });
  await offers('suspend');
  await go(page, `#/tree${SHOP}/guest?tab=send`);
  await page.waitForSelector('select[name=message]');
  await page.selectOption('select[name=message]', 'deposit');
  await page.fill('input[name=cents]', '9007199254740993');
  await page.fill('input[name=note]', 'from the "page"');
  await act(page, '[data-send=tell]', { line: '"cents":9007199254740993' });
  await page.selectOption('select[name=message]', 'get_balance');
  await act(page, '[data-send=ask]');
  await shows(page, '.reply', '9007199254740993');
  await go(page, '#/durable/shelf/row-01');
  await act(page, '[data-act=sleep]');
  await page.waitForSelector('[data-act=wake]');
  await act(page, '[data-act=wake]');
  await page.waitForSelector('[data-act=sleep]');
  await act(page, '[data-act="durable rm"]');
  await until(page, () => location.hash === '#/durable/shelf');
  assert.ok(!(await ask(socket, 'durable ls', { kind: 'shelf', key: 'row-01' })).parts.length);
  // A letter that is sent again arrives: the shop sends no others meanwhile, so the mailbox of one message is empty.
  await until(page, () => document.querySelector('.tile'));
  const dead = async () => (await ask(socket, 'dead-letters')).ok.total;
  while (!await dead()) await page.waitForTimeout(20);
  await ask(socket, 'suspend', { path: SHOP, may: true });
  await ask(socket, 'suspend', { path: `${SHOP}/narrow`, may: true });
  while ((await ask(socket, 'show', { path: `${SHOP}/narrow` })).ok.queued) {
    await ask(socket, 'resume', { path: `${SHOP}/narrow`, may: true });
    await ask(socket, 'suspend', { path: `${SHOP}/narrow`, may: true });
  }
  const letters = await dead();
  await go(page, '#/failures?tab=letters');
  await page.waitForSelector('[data-act=replay]');
  await act(page, 'tr [data-act=replay]', { title: 'Send count_one' });
  const { ok: narrow } = await ask(socket, 'show', { path: `${SHOP}/narrow` });
  assert.deepEqual(narrow.mail, { count_one: 1 });
  assert.equal(await dead(), letters);
  await ask(socket, 'resume', { path: `${SHOP}/narrow`, may: true });
  await ask(socket, 'resume', { path: SHOP, may: true });
  const { parts: audit } = await ask(socket, 'log tail', { text: 'control: replay' });
  assert.ok(audit.length, 'the act left a line in the log');
  // Another level than the usual one: lines below it are left out.
  const balance = async () => (await ask(socket, 'ask', { path: `${SHOP}/guest`, message: 'get_balance', may: true })).ok.value.cents;
  const tour = async name => {
    const before = await balance();
    await ask(socket, 'tell', { path: SHOP, message: 'tour', json: `{"text":"${name}"}`, may: true });
    while (await balance() === before) await page.waitForTimeout(10);
    return (await ask(socket, 'log tail', { text: `a tour: ${name}` })).parts.length;
  };
  await go(page, '#/log');
  assert.equal(await tour('loud'), 1);
  await page.selectOption('[aria-label="level of the program"]', 'error');
  await act(page, '[data-act=log]', { line: 'troupe log error' });
  assert.equal(await tour('silent'), 0);
  await page.selectOption('[aria-label="level of the program"]', 'info');
  await act(page, '[data-act=log]');
  assert.equal(await tour('loud again'), 1);
  await go(page, '#/store');
  const backup = join(stage.directory, 'copy');
  // A minute later the page is drawn again, and proposes no other path to somebody who types.
  const proposed = await page.inputValue('input[name=backup]');
  const later = new Date(Date.now() + 120000);
  await page.clock.setFixedTime(later);
  await shows(page, '.panel', ` at ${later.toTimeString().slice(0, 8)}`);
  assert.equal(await page.inputValue('input[name=backup]'), proposed);
  await page.fill('input[name=backup]', backup);
  await act(page, '[data-act="store backup"]');
  await shows(page, '.panel', backup);
  assert.ok(readFileSync(join(backup, 'troupe.db')).length > 0);
  await go(page, `#/tree${SHOP}/narrow`);
  await act(page, '[data-act=kill]');
  await shows(page, '.problem', 'This actor is not there');
  await go(page, `#/tree${SHOP}/attic`);
  await act(page, '[data-act=stop]', { title: 'Stop' });
  await shows(page, '.problem', 'This actor is not there');
  // Each of these acts has left a line in the log, which names the page. The requests of this test have no page.
  const lines = (await ask(socket, 'log tail', { text: 'control: ', limit: 500 })).parts.map(line => line.text);
  for (const [verb, about] of [['suspend', ''], ['resume', ''], ['tell', ''], ['ask', ''], ['sleep', ''], ['wake', ''], ['durable rm', ''], ['replay', ''], ['log', 'error'], ['log', 'info'],
    ['store backup', backup], ['kill', ''], ['stop', '']]) {
    const found = lines.filter(line => line.startsWith(`control: ${verb} `) && line.includes(about) && / by user \d+, inspector 127\.0\.0\.1:\d+: TR_OK$/.test(line));
    assert.ok(found.length, `a line of the log about ${verb} ${about} from the page in:\n${lines.join('\n')}`);
  }
});

test('a_page_that_may_only_read_cannot_act', 'IP-03', async stage => {
  const { page } = await begin(stage, { given: [], view: `/tree${SHOP}/guest` });
  await shows(page, '.brand', 'read only');
  await page.waitForSelector('[data-act=kill]');
  assert.ok(await page.locator('[data-act=kill]').isDisabled());
});

test('keys_and_search_lead_to_views_and_actors', 'IP-01', async stage => {
  const { page } = await begin(stage);
  await page.keyboard.press('7');
  await until(page, () => location.hash === '#/failures');
  await page.keyboard.press('?');
  await page.waitForSelector('dialog.help[open]');
  await page.keyboard.press('Escape');
  await page.keyboard.press('/');
  await page.keyboard.type('/user/shop/hall/teller-29');
  await page.waitForSelector('.search li');
  await page.keyboard.press('Enter');
  await until(page, () => location.hash === '#/tree/user/shop/hall/teller-29');
  await shows(page, '.who', 'teller');
  await page.keyboard.press('u');
  await until(page, () => location.hash === '#/tree/user/shop/hall');
  await go(page, '#/durable/shelf');
  await page.locator('tbody tr.pick').first().focus();
  await page.keyboard.press('ArrowDown');
  await until(page, () => document.activeElement === document.querySelectorAll('tbody tr.pick')[1]);
  await page.keyboard.press('Enter');
  await until(page, () => location.hash.startsWith('#/durable/shelf/'));
  await page.keyboard.press('p');
  await shows(page, '.live', 'paused');
});

// What views show whose verbs a program may lack: then they say so.
test('each_view_shows_its_part_or_says_that_it_cannot', 'IP-02', async stage => {
  const { page, socket, program } = await begin(stage, { view: '/time', options: { viewport: { width: 1280, height: 2400 } } });
  const { verbs } = await greeting(socket);
  const echo = connect(Number(/echo at \S+:(\d+)/.exec(program.said())[1]), '127.0.0.1').on('error', () => {});
  echo.write('hello');
  const parts = [
    ['samples', '/time', '.flame', 'mill'],
    ['handlers', '/time', 'td', 'on_grind'],
    ['slow', '/time', 'td', SHOP],
    ['mail', `/tree${SHOP}/desk?tab=mail`, 'td', 'tea at five'],
    ['tree', '/tree', '.twig', 'hall'],
    ['channels', '/connections', 'td', 'listener'],
    ['channels', '/connections', 'td', 'stream'],
    ['log tail', '/log?q=shop%20is%20open', 'td', 'the shop is open: <script>'],
    ['log tail', '/log?q=ticks', 'td', 'ticks'],
    ['durable events', '/durable/ledger/cash?tab=events', '.changed', '6600'],
    ['records', '/failures?tab=records', 'td', 'troupe replay'],
    ['stalls', '/failures?tab=stalls', '.more', 'in all'],
    ['alarms', '/durable?all=alarms', 'td', 'dust'],
    ['queues', '/durable?all=queues', 'td', 'returns'],
  ];
  const lacking = new Set();
  for (const [verb, hash, selector, part] of parts) {
    await go(page, `#${hash}`);
    if (verbs.includes(verb)) await shows(page, selector, part);
    else {
      lacking.add(verb);
      await shows(page, '.empty', `does not answer ${verb}`);
    }
  }
  echo.destroy();
  assert.deepEqual([...lacking], [], 'verbs that the program lacks');
  assert.equal(await page.evaluate(() => window.wasRun), undefined);
});

test('a_message_is_followed_turn_by_turn', 'IP-02', async stage => {
  const { page, socket } = await begin(stage, { view: `/trace?path=${SHOP}/guest` });
  await shows(page, '.extra', 'following');
  await shows(page, '.empty', 'Waiting for the next message');
  await ask(socket, 'tell', { path: SHOP, message: 'tour', json: '{"text":"a <b>tour</b>"}', may: true });
  await shows(page, '.hop', 'get_balance');
  await page.locator('.chips button', { hasText: 'Flow' }).click();
  await page.waitForSelector('svg.flow');
  // A turn that waits for an answer is one row, and what it sends before and after the wait is below it.
  // By way of another view, so that the words below are those of this path.
  await go(page, '#/log');
  await page.waitForFunction(() => !document.querySelector('svg.flow') && !document.querySelector('.hop'));
  await go(page, `#/trace?path=${SHOP}/guide`);
  await shows(page, '.extra', 'following');
  await shows(page, '.empty', 'Waiting for the next message');
  await ask(socket, 'tell', { path: `${SHOP}/guide`, message: 'tour', json: '{"text":"again"}', may: true });
  await until(page, () => document.querySelectorAll('.hop').length === 3);
  const hops = await page.locator('.hop').allInnerTexts();
  assert.deepEqual(hops.map(hop => hop.replace(/\s+/g, ' ').trim().split(' ').slice(0, hop.includes('└') ? 2 : 1).join(' ')), ['tour', '└ get_balance', '└ deposit']);
});

// Messages that took long stay first while others come.
test('the_slowest_messages_stay_first', 'IP-02', async stage => {
  const { page } = await begin(stage, { tellers: 20, view: `/trace?path=${SHOP}/mill` });
  await shows(page, '.extra', 'following');
  await page.locator('input[name=slowest]').check();
  await until(page, () => document.querySelectorAll('main > .chips:last-of-type button .muted').length >= 5);
  const spans = await page.evaluate(() => [...document.querySelectorAll('main > .chips .muted')].map(element => / ([\d.]+) (\S+)$/.exec(element.textContent.trim()))
    .map(([, number, unit]) => Number(number) * { ns: 1, 'µs': 1e3, ms: 1e6, s: 1e9 }[unit]));
  assert.deepEqual(spans, [...spans].sort((a, b) => b - a), 'the slowest first');
  assert.equal(new URL(page.url()).hash, `#/trace?path=${encodeURIComponent(`${SHOP}/mill`)}&order=slow`);
});

// A group of actors unfolds into its first ones; the rest is a list in pages.
test('a_group_of_the_tree_unfolds_into_its_first_actors', 'IP-05', async stage => {
  const { page } = await begin(stage);
  const group = page.locator('.twig', { hasText: '300 × teller' });
  await group.locator('button').click();
  await shows(page, '.twig', 'and 280 more actors, in pages');
  const shown = await page.locator('.twig', { hasText: /^teller-\d/ }).allInnerTexts();
  // A teller that has only begun may have something queued, which stands below its name.
  assert.deepEqual(shown.map(line => line.trim().split('\n')[0]).sort((a, b) => a.localeCompare(b, 'en', { numeric: true })), Array.from({ length: 20 }, (_, i) => `teller-${i}`));
  await page.locator('.twig a', { hasText: 'more actors' }).click();
  await until(page, () => location.hash === '#/tree/user/shop/hall?group=teller');
});

test('each_view_has_a_filter_that_a_key_leads_to', 'IP-01', async stage => {
  const { page } = await begin(stage, { tellers: 5 });
  for (const view of ['tree', 'time', 'mailboxes', 'trace', 'durable', 'connections', 'failures', 'store', 'log']) {
    await go(page, `#/${view}`);
    await until(page, name => document.querySelector('nav [aria-current]')?.textContent.toLowerCase().includes(name) && document.querySelector('main .filter'), view);
    await page.keyboard.press('f');
    await until(page, () => document.activeElement.matches('main .filter'));
    await page.evaluate(() => document.activeElement.blur());
  }
  await go(page, '#/time?q=on_grind');
  await until(page, () => {
    const rows = [...document.querySelectorAll('tbody')][0]?.rows;
    return rows?.length === 1 && rows[0].innerText.includes('on_grind');
  });
  await go(page, '#/durable?q=shel');
  await until(page, () => document.querySelectorAll('tbody tr').length === 1 && document.querySelector('tbody').innerText.includes('shelf'));
  await go(page, '#/store?q=shel');
  await until(page, () => document.querySelectorAll('tbody tr').length === 1);
});

test('a_restart_is_said', 'IP-04', async stage => {
  const { page, program, address } = await begin(stage);
  const port = new URL(address).port;
  const given = program.given.map(word => (word === '127.0.0.1:0' ? `127.0.0.1:${port}` : word));
  await program.kill('SIGKILL');
  await shows(page, '.notice', 'does not answer');
  program.errors = '';
  await program.again(given);
  await program.line(/^ready$/);
  await shows(page, '.notice', 'The address has changed');
  await page.fill('.token input', await addressOf(program));
  await page.click('.token button');
  await shows(page, '.notice', 'was started again');
  await shows(page, '.live', 'live');
});

// The token is in a file, and the port is the same: the page is opened once.
test('a_page_comes_back_by_itself_after_a_kill_and_a_restart', 'I-05 IP-04', async stage => {
  const file = join(stage.directory, 'token');
  const { page, program, address, socket } = await begin(stage, { tellers: 1, given: ['--inspect-token', file], view: '/log' });
  assert.equal(readFileSync(file, 'utf8'), `${address.split('=')[1]}\n`);
  const { pid } = await greeting(socket);
  await program.kill('SIGKILL');
  await shows(page, '.notice', 'does not answer');
  program.errors = '';
  await program.again(program.given.map(word => (word === '127.0.0.1:0' ? new URL(address).host : word)));
  await program.line(/^ready$/);
  await shows(page, '.notice', `The program was started again: process ${pid} has ended, this is process ${(await greeting(socket)).pid}`);
  await shows(page, '.live', 'live');
  assert.equal(await addressOf(program), address);
  await until(page, () => location.hash === '#/log' && document.querySelector('main .panel td'));
});

test('a_hundred_thousand_actors_cost_the_page_little', 'IP-05', async stage => {
  const { page, address } = await begin(stage, { tellers: 100000, isFast: false });
  await page.goto('about:blank');
  const start = Date.now();
  await page.goto(address);
  await shows(page, 'td', 'teller');
  const first = Date.now() - start;
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable');
  const figures = async () => Object.fromEntries((await session.send('Performance.getMetrics')).metrics.map(entry => [entry.name, entry.value]));
  await page.waitForTimeout(1000);
  const before = await figures();
  await page.waitForTimeout(3000);
  const after = await figures();
  const each = name => (after[name] - before[name]) / (after.Timestamp - before.Timestamp);
  const rows = await page.evaluate(() => document.querySelectorAll('tr, li').length);
  // Times depend on what else the machine does, so they are only printed; one frame in a second does not.
  console.log(`# 100,000 actors: first view after ${first} ms; each second ${(1000 * each('ThreadTime')).toFixed(1)} ms of the main thread, ` +
    `${(1000 * each('ScriptDuration')).toFixed(1)} ms of script, ${each('LayoutCount').toFixed(1)} layouts; ${rows} rows`);
  assert.ok(rows < 300, `${rows} rows`);
  assert.ok(each('LayoutCount') < 2, `${each('LayoutCount')} layouts in a second`);
});

// At 1024 pixels and on a phone, where nothing may be wider than the screen.
async function everyViewFits(stage, width, height) {
  const { page, socket } = await begin(stage, { options: { viewport: { width, height } } });
  await new Promise(done => connect(Number(/echo at \S+:(\d+)/.exec(stage.programs[0].said())[1]), '127.0.0.1', done).write('hello'));
  const release = await block(stage, socket);
  while (!(await ask(socket, 'stalls')).ok.past.length) await page.waitForTimeout(20);
  await release();
  const list = [['tree', '/tree'], ['actor', `/tree${SHOP}/guest`], ['time', '/time'], ['mailboxes', `/mailboxes?path=${SHOP}/desk`], ['flow', '/trace'], ['trace', `/trace?path=${SHOP}/guest`], ['durable', '/durable/shelf/row-00'],
    ['events', '/durable/ledger/cash?tab=events'], ['connections', '/connections'], ['failures', '/failures'], ['store', '/store'], ['log', '/log'],
    ['waits', `/tree${SHOP}/clerk?tab=waits`], ['list', '/tree?behavior=teller'], ['letters', '/failures?tab=letters'], ['stalls', '/failures?tab=stalls'], ['alarms', '/durable?all=alarms']];
  for (const [name, hash] of list) {
    await go(page, `#${hash}`);
    await page.waitForSelector('main .panel, main > .empty');
    if (name === 'flow' && width > 1000) await page.waitForSelector('svg.flow');
    if (name === 'trace' && width === 1024) {
      await shows(page, '.empty', 'Waiting for the next message');
      await ask(socket, 'tell', { path: SHOP, message: 'tour', json: '{"text":"a tour"}', may: true });
    }
    await until(page, () => { // until what is asked for is there, and drawn
      const ages = [...document.querySelectorAll('main .panel .age')];
      return ages.length && ages.every(age => age.textContent !== 'reading …');
    });
    await page.evaluate(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))));
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(wide <= width, `${name} is ${wide} pixels wide on ${width}`);
    if (width < 720) assert.equal(await page.evaluate(() => document.querySelector('nav').getBoundingClientRect().bottom), height, 'the list of views is at the bottom');
    assert.equal(await page.locator('text=This view has failed').count(), 0, name);
    assert.ok(await page.locator('main .age').count(), `${name} does not say how old it is`);
    const cut = await page.evaluate(() => [...document.querySelectorAll('main th')].filter(head => head.scrollWidth > head.clientWidth + 1).map(head => head.innerText));
    assert.deepEqual(cut, [], `heads of columns are cut in ${name} at ${width}`);
    const short = await page.evaluate(() => [...document.querySelectorAll('main td.num')].filter(cell => {
      const whole = document.createRange();
      whole.selectNodeContents(cell);
      const { paddingLeft, paddingRight } = getComputedStyle(cell);
      return cell.clientWidth && !cell.querySelector('.bar') && whole.getBoundingClientRect().width > cell.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight) + 0.1;
    }).map(cell => cell.innerText));
    assert.deepEqual(short, [], `numbers are cut in ${name} at ${width}`);
  }
}

test('every_view_fits_a_phone', 'IP-01', stage => everyViewFits(stage, 390, 844));
test('every_view_fits_1024_pixels', 'IP-01', stage => everyViewFits(stage, 1024, 680));
test('every_view_fits_1280_pixels', 'IP-01', stage => everyViewFits(stage, 1280, 800));
