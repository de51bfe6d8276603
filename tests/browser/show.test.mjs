// SPDX-License-Identifier: Apache-2.0
// The page of make run: accounts, a transfer, a handler that fails, one that blocks, and a process that is killed.
import { join } from 'node:path';
import { addressOf, shows } from './inspect.mjs';
import { assert, test, until } from './support.mjs';

test('the_bank_heals_before_the_eyes_of_its_visitor', 'H-02 K-09', async ({ start, open }) => {
  const server = await start('examples/42_bank_online', ['--listen', '127.0.0.1:0', '--rate', '0']);
  const [, url] = await server.line(/^open {3}(\S+)$/);
  const page = await open(url);
  const amount = name => page.textContent(`#accounts button[data-name=${name}] span`);
  const shows = (name, money) => until(page, ([name, money]) =>
    document.querySelector(`#accounts button[data-name=${name}] span`)?.textContent === money, [name, money]);
  const exact = async () => {
    assert.equal(await page.textContent('#sum'), '32000.00');
    assert.match(await page.textContent('#verdict'), /^in all accounts, to the cent/);
  };

  // All accounts, live.
  await until(page, () => document.querySelectorAll('#accounts button').length === 32);
  await until(page, () => document.getElementById('state').textContent === 'live');
  await exact();

  // A transfer changes two of them.
  await page.selectOption('#from', 'anna');
  await page.selectOption('#to', 'ben');
  await page.fill('#cents', '1234');
  await page.click('#transfer button');
  await shows('anna', '987.66');
  await shows('ben', '1012.34');
  assert.equal(await amount('cleo'), '1000.00');
  await until(page, () => /^anna has paid 12.34 to ben/.test(document.getElementById('said').textContent));
  await exact();

  // One that is too large is refused, and says why.
  await page.fill('#cents', '9999999');
  await page.click('#transfer button');
  await until(page, () => /from 1 to 98766 cents can be paid/.test(document.getElementById('said').textContent));

  // A handler fails in the middle of a change: the actor is restarted, with its money.
  await page.click('#accounts button[data-name=ben]');
  assert.equal(await page.textContent('#victim'), 'ben');
  await page.click('#fail');
  await until(page, () => Number(document.getElementById('restarts').textContent) >= 1);
  await until(page, () => /ben failed in fail: somebody has pressed the button/.test(document.getElementById('incidents').textContent));
  await shows('ben', '1012.34');
  await exact();

  // Restarts follow at once, but the fourth failure in a minute is one too many: it rests, asleep, until its back-off is over.
  let pause;
  for (let failures = 2; failures <= 4; failures++) {
    await page.click('#fail');
    await until(page, count => Number(document.getElementById('failures').textContent) === count, failures);
    await until(page, () => /^ben: .*; after \d+ ms it answers again/.test(document.getElementById('said').textContent));
    pause = Number((await page.textContent('#said')).match(/after (\d+) ms/)[1]);
  }
  assert(pause >= 50, `it answered after ${pause} ms`);
  assert.equal(await page.textContent('#restarts'), '3');
  await shows('ben', '1012.34');
  await exact();

  // The process is killed. The page connects again, to a process that has checked its books.
  const before = await page.textContent('#pid');
  await page.click('#kill');
  await until(page, () => document.getElementById('state').textContent === 'connecting again');
  await until(page, before => document.getElementById('pid').textContent !== before, before);
  await until(page, () => document.getElementById('starts').textContent === '2');
  await shows('anna', '987.66');
  await shows('ben', '1012.34');
  await exact();

  // It can be used at once; and a handler that blocks is named, while another account pays.
  await page.click('#accounts button[data-name=cleo]');
  await page.click('#block');
  await until(page, () => /cleo stands in on_block for \d+ ms/.test(document.getElementById('incidents').textContent));
  await page.selectOption('#from', 'ben');
  await page.selectOption('#to', 'anna');
  await page.fill('#cents', '1234');
  await page.click('#transfer button');
  await shows('anna', '1000.00');
  assert(Number(await page.textContent('#stalls')) >= 1);
  await exact();
});

// What the terminal prints behind "#" makes a link of the page, and the process gets none of it. Both pages stay open over kill -9.
test('the_inspector_is_one_link_away_and_comes_back_with_the_bank', 'IP-04', async ({ start, open, directory }) => {
  const server = await start('examples/42_bank_online', ['--listen', '127.0.0.1:0', '--rate', '50', '--inspect-token', join(directory, 'token')]);
  const [, url] = await server.line(/^open {3}(\S+)$/);
  assert.ok(!url.includes('#'), 'a file gets no token');
  const inspector = await addressOf(server);
  const [, port, token] = /:(\d+)\/#token=([0-9a-f]{32})$/.exec(inspector);
  const page = await open(url);
  assert.match(await page.textContent('#inspector'), /in the terminal/);
  assert.equal(await page.locator('#inspector a').count(), 0);
  const requests = [];
  page.on('request', request => requests.push(request.url()));
  await page.evaluate(hash => { location.hash = hash; }, `#inspect=${port}/${token}`);
  const link = page.locator('#inspector a');
  await link.waitFor();
  assert.deepEqual([await link.getAttribute('href'), await link.getAttribute('rel'), await page.evaluate(() => location.hash)], [inspector, 'noreferrer', '']);
  await page.reload();
  await link.waitFor();
  assert.ok(!requests.some(request => request.includes(token)), 'the token is in no request');
  const opened = page.context().waitForEvent('page');
  await link.click();
  const other = await opened;
  await shows(other, '.live', 'live');
  assert.equal(await other.evaluate(() => document.referrer), '');
  await page.click('#kill');
  await shows(other, '.notice', 'was started again');
  await shows(other, '.live', 'live');
  await until(page, () => document.getElementById('starts').textContent === '2');
  // Nothing that is no port and token becomes a link.
  await page.evaluate(() => sessionStorage.clear());
  for (const wrong of [`#inspect=evil.example/${token}`, `#inspect=${port}/${token}0`, '#inspect=1/javascript:alert(1)']) {
    await page.goto('about:blank');
    await page.goto(url + wrong);
    await until(page, () => document.getElementById('state').textContent === 'live');
    assert.equal(await page.locator('#inspector a').count(), 0, wrong);
  }
});
