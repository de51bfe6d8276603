// SPDX-License-Identifier: Apache-2.0
// What the page of the inspector changes, and what it does with answers that are late, wrong or giant.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { connect as secure } from 'node:tls';
import { promisify } from 'node:util';
import { readFileSync } from 'node:fs';
import { act, ask, begin, go, intercept, SHOP, shows, text } from './inspect.mjs';
import { assert, test, until, within } from './support.mjs';

const audit = async (socket, verb) => (await ask(socket, 'log tail', { text: `control: ${verb} ` })).parts;

// Waits for something outside of the page.
async function eventually(question, what) {
  let over = false;
  const look = async () => {
    while (!over) {
      const answer = await question();
      if (answer) return answer;
      await new Promise(done => setTimeout(done, 5));
    }
    return null;
  };
  return within(look(), what).finally(() => { over = true; });
}

// The answer of a second that is drawn later must not undo what an act has made of the page since.
test('an_older_answer_does_not_undo_an_act', 'IP-03', async stage => {
  const path = `${SHOP}/guest`;
  let lines;
  const { page, socket } = await begin(stage, { view: `/tree${path}`, prepare: async page => {
    await page.clock.install();
    lines = await intercept(page);
  } });
  await page.waitForSelector('[data-act=suspend]');
  const button = await page.$('[data-act=suspend]');
  await page.clock.pauseAt(Date.now() + 3600000); // from now on the time of the page passes by runFor alone
  const pass = ms => page.clock.runFor(ms);
  const drawn = name => eventually(async () => { await pass(1); return page.$(`[data-act=${name}]`); }, `the button ${name}`);
  lines.release();
  // The answer of a second comes after what this second changes was drawn: it waits for the next second.
  lines.answers = (verb, text) => (verb === 'show' ? null : text);
  lines.sent.length = 0;
  await eventually(async () => { await pass(20); return lines.kept.length; }, 'a request of the next second');
  await pass(300);
  lines.answers = (verb, text) => (verb === 'suspend' ? null : text);
  lines.release();
  await page.click('[data-act=suspend]');
  await eventually(async () => { await pass(1); return page.$('dialog[open]'); }, 'the question');
  await page.click('dialog[open] button[type=submit]');
  await eventually(async () => (await ask(socket, 'show', { path })).ok.state === 'Suspended', 'the actor to be suspended');
  await eventually(() => lines.kept.length, 'the answer to suspend');
  lines.release();
  await drawn('resume');
  assert.ok(!(await button.evaluate(element => element.isConnected)), 'the button under the pointer became another one');
  // The next second draws what waited. What it asks for is kept, so that nothing newer hides a mistake.
  lines.answers = (verb, text) => (verb === 'show' ? null : text);
  await eventually(async () => { await pass(20); return lines.kept.length; }, 'a request of the second after');
  await pass(300);
  assert.ok(await page.$('[data-act=resume]'), 'an older answer was drawn');
  assert.equal((await audit(socket, 'suspend')).length, 1);
});

test('a_line_that_cannot_be_read_is_said', 'IP-02', async stage => {
  let lines;
  const { page } = await begin(stage, { view: '/mailboxes', prepare: async page => {
    lines = await intercept(page);
    lines.answers = (verb, text) => (verb === 'ls' && /"ok"/.test(text) ? text.slice(0, 20) : text);
  } });
  await shows(page, '.problem', 'it is no JSON');
  lines.answers = (verb, text) => text;
  await shows(page, 'td', 'desk');
  await until(page, () => !document.querySelector('.problem'));
});

test('a_page_without_its_program_says_why', 'IP-04', async stage => {
  const { socket, program, page: first } = await begin(stage, { tellers: 1 });
  await first.close();
  const tool = await stage.start('bin/troupe', ['inspect', '-p', socket]);
  const address = (await eventually(() => /inspector: (http:\/\/\S+)/.exec(tool.said()), 'the address of the tool'))[1];
  await program.kill('SIGKILL');
  const page = await stage.open(address);
  await shows(page, '.notice', 'The program does not answer: ');
  await program.again();
  await program.line(/^ready$/);
  await shows(page, '.live', 'live');
});

test('the_page_changes_what_is_stored', 'IP-03', async stage => {
  const { page, socket } = await begin(stage, { tellers: 1, view: '/durable/shelf/row-03' });
  const stored = () => stage.tool('-p', socket, 'durable', 'get', 'shelf', 'row-03', '--json');
  const change = async to => {
    await page.click('[data-change]');
    const before = await page.inputValue('textarea[name=state]');
    await page.fill('textarea[name=state]', to(before));
    await act(page, '[data-act="durable set"]');
    await page.waitForSelector('[data-change]');
    return before;
  };
  await act(page, '[data-act=sleep]');
  await page.waitForSelector('[data-act=wake]');
  assert.ok(!(await change(before => before.replace('"count": 1', '"count": 18446744073709551615'))).includes('pin'), 'a secret is in the form');
  assert.match(await stored(), /"count":18446744073709551615/);
  await shows(page, '.json', '18446744073709551615');
  await change(before => before.replace('<i>left</i>', 'right')); // what is not touched stays, of 64 bits and secret
  assert.match(await stored(), /"count":18446744073709551615.*"label":"right"/);
  const file = join(stage.directory, 'shelf.jsonl');
  await stage.tool('-p', socket, 'durable', 'export', 'shelf', 'row-03', '--secrets', '-o', file);
  assert.match(readFileSync(file, 'utf8'), /"pin":"1234"/);
  await go(page, '#/durable/shelf/row-03?tab=sql');
  await page.check('.sql input[type=checkbox]');
  await page.fill('textarea[name=sql]', "UPDATE book SET title = 'Middlemarch'");
  await act(page, '.sql button', { title: 'Change its tables' });
  await shows(page, '.calm-text', 'is stored');
  await page.uncheck('.sql input[type=checkbox]');
  await page.fill('textarea[name=sql]', 'SELECT title FROM book');
  await page.click('.sql button');
  await shows(page, 'td', 'Middlemarch');
  await go(page, `#/tree${SHOP}/guest`);
  await act(page, '[data-act=stop]', { title: 'Stop' });
  await shows(page, '.problem', 'This actor is not there');
  for (const verb of ['sleep', 'durable set', 'sql', 'stop']) assert.ok((await audit(socket, verb)).length, `a line of the log about ${verb}`);
});

test('giant_states_are_said_to_be_too_large', 'IP-02', async stage => {
  const { page, socket } = await begin(stage, { tellers: 1, view: `/tree${SHOP}/attic` });
  await shows(page, '.empty', 'larger than the 8 KiB');
  await ask(socket, 'tell', { path: '/system/durable/shelf/row-04', message: 'swell', json: '{"kib":6000}', may: true });
  await go(page, '#/durable/shelf/row-04');
  await shows(page, '.empty', 'is not shown here');
  await shows(page, '.live', 'live');
});

test('figures_are_those_of_the_socket', 'IP-02', async stage => {
  const path = `${SHOP}/guest`;
  const { page, socket } = await begin(stage, { tellers: 1, view: '/mailboxes' });
  await ask(socket, 'suspend', { path, may: true });
  for (let i = 0; i < 7; i++) await ask(socket, 'tell', { path, message: 'deposit', json: '{"cents":1}', may: true });
  const cells = part => page.locator('tr', { hasText: part }).first().locator('td').allInnerTexts();
  await shows(page, 'td', 'guest');
  const [row] = (await ask(socket, 'ls', { sorted: true, limit: 100, queued: 1 })).parts.filter(entry => entry.path === path);
  assert.equal(row.queued, 7);
  await eventually(async () => (await cells(path)).includes('7'), 'the row of the mailbox with 7 messages');
  await go(page, '#/store');
  const { ok } = await ask(socket, 'store stats');
  await shows(page, '.facts', `${(ok.database_bytes / 1024).toFixed(ok.database_bytes >= 102400 ? 0 : 1)} KiB`);
  await go(page, '#/log?q=shop%20is%20open');
  const [line] = (await ask(socket, 'log tail', { text: 'the shop is open' })).parts;
  await shows(page, 'td', line.text);
});

test('ten_pages_are_open_at_once', 'IP-05', async stage => {
  const { page, address } = await begin(stage, { tellers: 1000 });
  const views = ['tree', 'time', 'mailboxes', `trace?path=${SHOP}/guest`, 'durable', 'connections', 'failures', 'store', 'log'];
  const pages = [page, ...await Promise.all(views.map(view => stage.open(`${address}/${view}`)))];
  for (const each of pages) {
    await shows(each, '.live', 'live');
    await each.waitForSelector('main .panel');
    assert.equal(await each.locator('text=This view has failed').count(), 0);
  }
});

test('a_connection_with_tls_is_described', 'IP-02 I-08', async stage => {
  const files = join(stage.directory, 'echo');
  await promisify(execFile)('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '1', '-subj', '/CN=localhost',
    '-keyout', `${files}.key`, '-out', `${files}.pem`]);
  const { page, program, socket } = await begin(stage, { tellers: 1, view: '/connections', environment: { INSPECTOR_TLS: files } });
  const [, port] = await program.line(/^secure at \S+:(\d+)$/);
  const peer = secure({ port: Number(port), host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] }, () => peer.write('hello'));
  peer.on('error', () => {});
  await within(new Promise(done => peer.once('data', done)), 'the echo');
  await shows(page, 'td', 'TLS 1.3 http/1.1');
  const [row] = (await ask(socket, 'channels')).parts.filter(entry => entry.tls_version);
  assert.match(row.tls_cipher, /^TLS_(AES|CHACHA20)/);
  assert.deepEqual([row.tls_version, row.tls_alpn, row.tls_resumed, row.tls_peer_verified], ['1.3', 'http/1.1', false, false]);
  peer.destroy();
});

test('what_an_actor_waits_for_is_listed', 'IP-02 I-13', async stage => {
  const { page, socket } = await begin(stage, { tellers: 1, view: `/tree${SHOP}/clerk?tab=waits` });
  const cells = async (kind, parts) => {
    const row = page.locator('main tr', { hasText: kind }).first();
    await row.waitFor();
    const text = await row.textContent();
    for (const part of parts) assert.ok(part instanceof RegExp ? part.test(text) : text.includes(part), `${part} in ${text}`);
  };
  await cells('asks', ['/clerk/mute', 'get_balance', 'inspector.c:']);
  await cells('timer', ['lunch', 'remind', /in (60 min 0 s|59 min)/]); // it was set to an hour
  await cells('watches', ['/guest']);
  // Its worker is not asked while that is in a long turn.
  const total = await eventually(async () => (await ask(socket, 'waits', { path: `${SHOP}/clerk` })).ok.total, 'what the clerk waits for');
  assert.deepEqual(total, { ask: 1, timer: 1, watches: 1, 'watched by': 0, sender: 0, owes: 0 });
  await go(page, `#/tree${SHOP}/guest?tab=waits`);
  await cells('watched by', ['/clerk']);
  await go(page, `#/tree${SHOP}?tab=waits`);
  await cells('timer', ['tick', 'each 20']);
});

test('the_search_finds_an_actor_of_many_and_links_can_be_sent', 'IP-01', async stage => {
  const { page, address } = await begin(stage, { tellers: 3000 });
  await page.keyboard.press('/');
  await page.keyboard.type('teller-2999');
  await shows(page, '.search li', '/user/shop/hall/teller-2999');
  await page.keyboard.press('Escape');
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await go(page, '#/failures?tab=letters');
  await page.click('text=Copy link');
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  assert.equal(copied, `${address}/failures?tab=letters`);
  const other = await stage.open(copied);
  await shows(other, '.live', 'live');
  await until(other, () => location.hash === '#/failures?tab=letters');
});

test('other_machines_get_the_page_by_https', 'I-02 IP-01', async stage => {
  const files = join(stage.directory, 'inspector');
  await promisify(execFile)('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '1', '-subj', '/CN=localhost',
    '-keyout', `${files}.key`, '-out', `${files}.pem`]);
  const { page, address, requests } = await begin(stage, { tellers: 1, options: { ignoreHTTPSErrors: true },
    given: ['--inspect', '0.0.0.0:0', '--inspect-anywhere', '--inspect-certificate', `${files}.pem`, '--inspect-key', `${files}.key`] });
  assert.match(address, /^https:\/\/localhost:\d+\/#token=/);
  await shows(page, '.live', 'live');
  await shows(page, 'td', 'teller');
  assert.deepEqual([...new Set(requests.filter(url => !url.startsWith('data:')).map(url => new URL(url).origin))], [new URL(address).origin]);
});

// The rates are estimates from samples: their sum is near what the counters say, and the strongest flows are those of the program.
test('the_flow_of_the_whole_program_is_a_graph_with_rates', 'IP-02 I-14', async stage => {
  const { page, socket } = await begin(stage, { tellers: 10, view: '/trace', isFast: false });
  await until(page, () => document.querySelectorAll('svg.flow .node').length >= 3);
  const rows = await until(page, () => {
    const list = [...document.querySelectorAll('tbody tr')].map(row => [...row.cells].map(cell => cell.innerText));
    return list.some(([from, to, , which]) => from === 'shop' && to === 'mill' && /grind \S+\/s/.test(which)) && list.some(([from, to]) => from === 'timers' && to === 'shop') ? list : null;
  });
  const number = text => parseFloat(text.replace(/,/g, '')) * (/k\/s/.test(text) ? 1000 : 1);
  const sum = (await rows.jsonValue()).reduce((total, row) => total + number(row[2]), 0);
  const handled = async () => (await ask(socket, 'info')).ok.counters.handled;
  const [before, from] = [await handled(), Date.now()];
  await eventually(() => Date.now() - from > 2000, 'two seconds');
  const real = (1000 * (await handled() - before)) / (Date.now() - from);
  assert.ok(sum > 0.5 * real && sum < 2 * real, `${sum} messages a second in the graph, ${real} by the counters`);
  // Each tick sends one grind, which runs behind the first runs of its round: these must not be the only ones that are seen.
  await until(page, () => {
    const rate = (from, to) => {
      const row = [...document.querySelectorAll('tbody tr')].find(({ cells }) => cells[0].innerText === from && cells[1].innerText === to);
      return row ? parseFloat(row.cells[2].innerText.replace(/,/g, '')) : 0;
    };
    const [grinds, ticks] = [rate('shop', 'mill'), rate('timers', 'shop')];
    return grinds > 0.3 * ticks && grinds < 3 * ticks;
  });
  await page.locator('svg.flow .node', { hasText: 'mill' }).focus();
  await page.keyboard.press('Enter');
  await until(page, () => [...document.querySelectorAll('tbody tr')].every(row => row.innerText.includes('mill')));
});

// The frame of the page stands in index.html, and is drawn before the script has come.
test('the_frame_is_drawn_before_the_script_runs', 'IP-05', async stage => {
  const { page, address } = await begin(stage, { tellers: 1 });
  // Without the marks of what needs attention, which the program says later.
  const labels = async one => one.locator('nav a').evaluateAll(list => list.map(link => `${link.getAttribute('href')} ${[...link.querySelectorAll('kbd, span')].map(part => part.innerText).join(' ')}`));
  const shown = await labels(page);
  assert.equal(shown.length, 9);
  const other = await stage.open(null, { viewport: { width: 1280, height: 800 } });
  let release;
  const held = new Promise(done => { release = done; });
  await other.route('**/app.js', async route => {
    await held;
    await route.continue();
  });
  const loaded = other.goto(address);
  loaded.catch(() => {}); // if the case fails before it looks at this, the case says why
  await other.waitForSelector('nav a');
  await until(other, () => performance.getEntriesByName('first-contentful-paint').length === 1);
  assert.deepEqual(await labels(other), shown);
  const place = () => other.locator('nav a').evaluateAll(list => list.map(link => Math.round(link.getBoundingClientRect().top)));
  release();
  await loaded;
  await shows(other, '.live', 'live');
  assert.equal((await place()).length, 9);
});

// An answer that is the one before draws nothing, and its age still says when it was read.
test('what_has_not_changed_is_not_drawn_again', 'IP-05', async stage => {
  const { page } = await begin(stage, { tellers: 1, view: '/durable/shelf', isFast: false });
  await shows(page, 'td', 'row-00');
  await until(page, () => document.querySelector('.panel .age')?.textContent !== 'reading …');
  await page.evaluate(() => {
    window.changes = 0;
    window.reads = 0;
    new MutationObserver(list => { window.changes += list.length; }).observe(document.querySelector('main .table'), { subtree: true, childList: true, characterData: true, attributes: true });
    const age = document.querySelector('main .panel .age');
    let before = age.textContent;
    new MutationObserver(() => {
      window.reads += age.textContent === 'now' && before !== 'now';
      before = age.textContent;
    }).observe(age, { subtree: true, childList: true, characterData: true });
  });
  await until(page, () => window.reads >= 1);
  assert.equal(await page.evaluate(() => window.changes), 0);
});

test('the_store_says_how_large_groups_are_and_how_long_commits_take', 'IP-02', async stage => {
  const { page, socket } = await begin(stage, { tellers: 1, view: '/store' });
  const { ok } = await ask(socket, 'store');
  assert.ok(ok.commits > 0 && ok.changes >= ok.commits && ok.commits_ns > 0, JSON.stringify(ok));
  await shows(page, '.facts', 'changes in a commit');
  await shows(page, '.facts', `${ok.commits.toLocaleString('en-US')} in all`);
  await page.locator('.chips button', { hasText: 'Group size' }).click();
  await until(page, () => location.hash === '#/store?chart=group');
  await shows(page, '.chart', 'changes of actors in a commit');
});

// Dark and light: all text that is on the screen has enough contrast, measured by the colours that the browser has computed.
test('text_is_readable_in_both_colour_schemes', 'IP-01', async stage => {
  const { page } = await begin(stage, { tellers: 20 });
  for (const colorScheme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme });
    for (const view of ['tree', 'time', 'mailboxes', 'trace', 'durable', 'connections', 'failures', 'store', 'log']) {
      await go(page, `#/${view}`);
      await page.waitForSelector('main .panel');
      const weak = await page.evaluate(() => {
        const parts = text => (text.match(/[\d.]+/g) || []).map(Number);
        const light = ([r, g, b]) => [r, g, b].map(part => part / 255).map(part => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)).reduce((sum, part, i) => sum + part * [0.2126, 0.7152, 0.0722][i], 0);
        const behind = element => {
          for (let at = element; at; at = at.parentElement) {
            const color = parts(getComputedStyle(at).backgroundColor);
            if (color.length === 3 || color[3] === 1) return color;
          }
          return [255, 255, 255];
        };
        return [...document.querySelectorAll('main *, nav *, .top *')].filter(element => [...element.childNodes].some(node => node.nodeType === 3 && node.data.trim()) && element.offsetParent && !element.closest('svg, :disabled'))
          .map(element => {
            const [a, b] = [light(parts(getComputedStyle(element).color)), light(behind(element))];
            return [(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), element.className, element.textContent.trim().slice(0, 30)];
          }).filter(([ratio]) => ratio < 4.5).map(([ratio, ...rest]) => `${ratio.toFixed(2)} ${rest.join(' ')}`);
      });
      assert.deepEqual([...new Set(weak)], [], `${view}, ${colorScheme}`);
    }
  }
});

// A handler on a thread of its own is in no worker, so only the list of long turns has it.
test('a_turn_that_was_handed_off_and_hangs_is_named', 'IP-02', async stage => {
  const row = { number: 1, age_ms: 9000, unix_ms: Date.now() - 9000, took_ms: 1000, over: false, handed_off: true, path: `${SHOP}/mill`, ref: '0x1', behavior: 'mill', handler: 'on_poll',
    message: 'poll', file: 'mill.c', line: 7, worker: 0 };
  const { page } = await begin(stage, { tellers: 1, view: '/failures?tab=stalls', prepare: async page => {
    const lines = await intercept(page);
    lines.answers = (verb, text) => (verb === 'info' ? text.replace(/"stalls":\d+/, '"stalls":1')
      : verb === 'stalls' ? text.replace(/"past":\[.*\]/, `"past":[${JSON.stringify(row)}]`) : text);
  } });
  await shows(page, '.findings', `on_poll of ${SHOP}/mill runs for 9.00 s, on a thread of its own`);
  await shows(page, 'td', 'on a thread of its own');
  assert.match(await text(page, 'tbody tr'), /now/);
});

// What is known of a turn that is over, whose messages nobody has followed: those of its turns that were slow.
test('a_slow_turn_that_is_over_leads_to_what_is_known_of_it', 'IP-02', async stage => {
  const causal = '00000000000000ab';
  const { page } = await begin(stage, { tellers: 1, view: '/time', options: { viewport: { width: 1280, height: 2400 } }, prepare: async page => {
    const lines = await intercept(page);
    lines.answers = (verb, text) => (verb === 'slow' ? text.replace(/"causal":(null|"[^"]*"),"followed":[a-z]+/g, `"causal":"${causal}","followed":false`) : text);
  } });
  const row = page.locator('tr', { hasText: 'on_grind' }).filter({ hasText: causal }).first();
  await row.waitFor();
  await row.locator('a', { hasText: 'no tree' }).click();
  await shows(page, 'h2', causal);
  await shows(page, 'td', 'grind');
  await shows(page, '.more', 'among the slowest of the last minute');
  const begins = (await page.locator('tbody tr td:nth-child(2)').allInnerTexts()).map(text => parseFloat(text) * (/ms/.test(text) ? 1 : 1000));
  assert.deepEqual(begins, [...begins].sort((a, b) => a - b), 'in the order in which they began');
  await go(page, '#/trace?causal=7');
  await until(page, () => !document.querySelector('tbody tr'));
  await shows(page, '.more', 'Nothing else is recorded of this id');
});

// A look has found it running, and no turn of it has been timed yet: the table has it all the same.
test('a_handler_without_times_stands_in_the_table', 'IP-02', async stage => {
  const { page } = await begin(stage, { tellers: 1, view: '/time', prepare: async page => {
    const lines = await intercept(page);
    lines.answers = (verb, text) => (verb === 'handlers' ? text.replace(/\{[^{}]*"handler":"on_grind"[^{}]*\},?/, '').replace(/,\]/, ']') : text);
  } });
  await until(page, () => {
    const row = document.querySelector('tbody tr');
    return row?.innerText.includes('on_grind') && row.innerText.includes('–') && parseFloat(row.cells[2].innerText) > 1;
  });
});

test('who_sends_and_who_waits_for_space_is_listed', 'IP-02', async stage => {
  let waits = false;
  const { page } = await begin(stage, { tellers: 1, view: `/mailboxes?path=${SHOP}/desk`, prepare: async page => {
    const lines = await intercept(page);
    const part = { kind: 'sender', who: '0x7', who_path: '/user/shop/<b>porter</b>', message: 'parcel', for_ms: 1500 };
    lines.answers = (verb, text) => (!waits ? text : verb === 'show' ? text.replace(/"senders_waiting":\d+/, '"senders_waiting":1')
      : verb === 'waits' && text.includes('"ok"') ? text.replace(/^(\{"id":\d+,)/, (all, id) => `${id}"part":${JSON.stringify(part)}}\n${all}`) : text);
  } });
  await until(page, () => /senders of the first \d+ messages?\s*\/user\/shop \d+ message/.test(document.querySelector('main').innerText));
  assert.ok(!(await text(page, 'main')).includes('porter'));
  waits = true;
  await shows(page, '.facts .warn', '/user/shop/<b>porter</b>');
  await shows(page, '.facts .warn', 'for 1.50 s parcel');
});
