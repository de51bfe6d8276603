// SPDX-License-Identifier: Apache-2.0
// Runs the cases of tests/browser/*.test.mjs; tests/browser/run calls it.
//     node cases.mjs BUILD PACKAGES [part of the name of a case]
// Several cases run side by side (TROUPE_BROWSER_JOBS, 2): most of their time is that of pages, which ask each two seconds. What a case
// needs is its own, so none knows of the others. They share the browser, as tabs of one would.
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { cases, launch, runCase } from './support.mjs';

const [build, packages, only = ''] = process.argv.slice(2);
for (const file of readdirSync(import.meta.dirname ?? new URL('.', import.meta.url)).sort())
  if (file.endsWith('.test.mjs')) await import(`./${file}`);

const browser = await launch(resolve(packages));
const chosen = cases.filter(({ name }) => name.includes(only));
const rows = chosen.map(({ name, ids }) => ['browser', name, ids, 'fail']);
let next = 0;
const work = async () => {
  while (next < chosen.length) {
    const at = next++;
    const begin = performance.now();
    const failure = await runCase(chosen[at], browser, resolve(build));
    rows[at][3] = failure ? 'fail' : 'pass';
    if (failure) console.log(failure);
    console.log(rows[at][3], chosen[at].name, `${((performance.now() - begin) / 1000).toFixed(1)} s`);
  }
};
await Promise.all(Array.from({ length: Number(process.env.TROUPE_BROWSER_JOBS || 2) }, work));
await browser.close();

const results = process.env.TROUPE_RESULTS_DIR;
if (results && !only) {
  mkdirSync(results, { recursive: true });
  writeFileSync(join(results, 'browser.tsv'), rows.map(row => `${row.join('\t')}\n`).join(''));
}
const failed = rows.filter(row => row[3] === 'fail').length;
console.log(`${rows.length - failed} passed, ${failed} failed`);
process.exitCode = failed || !rows.length ? 1 : 0;
