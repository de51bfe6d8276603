// SPDX-License-Identifier: Apache-2.0
// The site of make docs, opened as a file: the search, its keys, and links to other pages.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { assert, test, until } from './support.mjs';

test('the_site_is_searched_without_a_server', '', async ({ open, directory }) => {
  const root = new URL('../..', import.meta.url).pathname;
  await promisify(execFile)(join(root, 'tools/docs'), ['--output', join(directory, 'site')]);
  const page = await open(pathToFileURL(join(directory, 'site/index.html')).href);
  assert.match(await page.title(), /Troupe/);
  assert.equal(await page.isVisible('#found'), false);

  // A slash begins, and Enter goes to the first that was found: the name itself, in the reference.
  await page.keyboard.press('/');
  await page.keyboard.type('tr_permanent');
  await until(page, () => document.querySelector('#found a')?.href.endsWith('reference/supervision.html#TR_PERMANENT'));
  await page.keyboard.press('Enter');
  await page.waitForURL(url => url.pathname.endsWith('/reference/supervision.html') && url.hash === '#TR_PERMANENT');
  assert.equal(await page.isVisible('#TR_PERMANENT'), true);

  // From a page in a directory, an arrow and Enter; what nothing has is said.
  await page.fill('#search', 'growing delays');
  await until(page, () => document.querySelectorAll('#found a').length > 0);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.waitForURL(url => url.pathname.endsWith('/recipes.html'));
  await page.fill('#search', 'xyzzy');
  await until(page, () => document.getElementById('found').textContent === 'Nothing has all these words.');
  await page.keyboard.press('Escape');
  assert.equal(await page.isVisible('#found'), false);
});
