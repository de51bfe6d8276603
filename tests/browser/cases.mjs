// SPDX-License-Identifier: Apache-2.0
// Runs the cases of tests/browser/*.test.mjs; tests/browser/run calls it.
//     node cases.mjs BUILD PACKAGES [part of the name of a case]
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { cases, launch, runCase } from './support.mjs';

const [build, packages, only = ''] = process.argv.slice(2);
for (const file of readdirSync(import.meta.dirname ?? new URL('.', import.meta.url)).sort())
  if (file.endsWith('.test.mjs')) await import(`./${file}`);

const rows = [];
const browser = await launch(resolve(packages));
for (const item of cases.filter(({ name }) => name.includes(only))) {
  const failure = await runCase(item, browser, resolve(build));
  const verdict = failure ? 'fail' : 'pass';
  if (failure) console.log(failure);
  console.log(verdict, item.name);
  rows.push(['browser', item.name, item.ids, verdict]);
}
await browser.close();

const results = process.env.TROUPE_RESULTS_DIR;
if (results && !only) {
  mkdirSync(results, { recursive: true });
  writeFileSync(join(results, 'browser.tsv'), rows.map(row => `${row.join('\t')}\n`).join(''));
}
const failed = rows.filter(row => row[3] === 'fail').length;
console.log(`${rows.length - failed} passed, ${failed} failed`);
process.exitCode = failed || !rows.length ? 1 : 0;
