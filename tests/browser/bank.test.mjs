// SPDX-License-Identifier: Apache-2.0
// The inspector beside the program of `make run`: each view shows its part of the bank, at 1024 pixels.
//
// With TROUPE_PICTURES=docs/guide/img the pictures of the guide are written there.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { addressOf, ask, go, hurry, shows } from './inspect.mjs';
import { smaller } from './picture.mjs';
import { assert, test, until } from './support.mjs';

const pictures = process.env.TROUPE_PICTURES;

test('each_view_shows_its_part_of_the_bank', 'IP-01 IP-02', async stage => {
  const socket = join(stage.directory, 'socket');
  const server = await stage.start('examples/42_bank_online', ['--listen', '127.0.0.1:0', '--rate', '100', '--control', socket,
    '--store', join(stage.directory, 'bank'), '--inspect', '127.0.0.1:0', '--inspect-allow']);
  const [, url] = await server.line(/^open {3}(\S+)$/);
  const visitor = await stage.open(url); // a connection to look at
  await until(visitor, () => document.querySelectorAll('#accounts button').length === 32);
  const [{ key: first }, { key: second }, { key: third }] = (await ask(socket, 'durable ls', { kind: 'account', limit: 3 })).parts;
  const path = key => `/system/durable/account/${key}`;
  const tell = (key, message, json) => ask(socket, 'tell', { path: path(key), message, json, may: true });
  for (const key of [first, second, third]) await ask(socket, 'wake', { kind: 'account', key, may: true });
  await ask(socket, 'ask', { path: path(second), message: 'fail', json: '{}', timeout_ms: 1000, may: true }).catch(() => {});
  await tell(third, 'block', '{"ms":900}').catch(() => ask(socket, 'ask', { path: path(third), message: 'block', json: '{"ms":900}', timeout_ms: 3000, may: true }).catch(() => {}));
  await ask(socket, 'wake', { kind: 'account', key: first, may: true });

  const page = await stage.open(null, { viewport: { width: 1024, height: 680 } });
  if (!pictures) await hurry(page);
  await page.goto(await addressOf(server));
  await page.waitForSelector('.tile');
  const shoot = async name => {
    assert.equal(await page.locator('text=This view has failed').count(), 0, name);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= page.viewportSize().width, `${name} is too wide`);
    if (!pictures) return;
    await page.waitForTimeout(5000); // rates and charts need some looks
    writeFileSync(join(pictures, `inspector-${name}.png`), smaller(await page.screenshot()));
  };
  const part = async (name, hash, selector, what) => {
    await go(page, `#${hash}`);
    await shows(page, selector, what);
    await shoot(name);
  };
  await part('tree', '/tree', 'td', 'customer');
  await part('time', '/time', 'td', 'on_credit');
  // Messages to accounts that are suspended wait in their mailboxes.
  for (const key of [first, second, third]) {
    await ask(socket, 'wake', { kind: 'account', key, may: true });
    await ask(socket, 'suspend', { path: path(key), may: true });
  }
  await part('mailboxes', '/mailboxes', 'td .state', 'Suspended');
  for (const key of [first, second, third]) await ask(socket, 'resume', { path: path(key), may: true });
  await part('flow', '/trace', 'svg.flow', 'auditor');
  await ask(socket, 'wake', { kind: 'account', key: first, may: true }); // it may sleep again by now
  await ask(socket, 'suspend', { path: path(first), may: true });
  await part('actor', `/tree${path(first)}`, '.who', 'Suspended');
  await ask(socket, 'resume', { path: path(first), may: true });
  // A payment: from a customer to an account, and from both to the books.
  const [{ path: customer }] = (await ask(socket, 'ls', { behavior: 'customer', limit: 1 })).parts;
  await go(page, `#/trace?path=${customer}`);
  await page.locator('main .chips button', { hasText: /^shop/ }).first().click(); // others were on their way before
  await shows(page, '.hop', 'debited');
  await shoot('trace');
  await part('durable', `/durable/account/${first}`, '.json', 'cents');
  await part('connections', '/connections', 'td', 'stream');
  await part('failures', '/failures', 'td', 'the button');
  await part('stalls', '/failures?tab=stalls', '.stack pre', 'on_block');
  await part('store', '/store', '.facts', 'changes in a commit');
  await part('log', '/log', 'td', 'control: ');
  await page.setViewportSize({ width: 390, height: 844 });
  await part('tree-phone', '/tree', '.map', 'customer');
  await page.setViewportSize({ width: 1024, height: 680 });
  await page.emulateMedia({ colorScheme: 'dark' });
  await part('dark', '/time', '.flame', 'account');
});
