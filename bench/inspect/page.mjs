// SPDX-License-Identifier: Apache-2.0
// What the page of the inspector costs: rows with the figure, its aim, and whether it is met. Medians of INSPECT_ROUNDS, 5.
//
// bank: messages that bench/operate/load.c handles in 5 s with something open, over those without, in turns: with the requests of a
// page once a second and no browser (the share of the program), and with chromium on the views tree and time, which needs processors
// itself: on a machine with few of them that row says more about chromium.
// many: 100,000 actors: how long until the first view is complete, until the first paint, how much of a second the main thread of the
// page works, and by how much the memory of the program grows, from before the first page, the second system not counted.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { launch } from '../../tests/browser/support.mjs';

const build = resolve(process.argv[2] || 'build');
const what = process.argv.length > 3 ? process.argv.slice(3) : ['bank', 'many'];
const rounds = Number(process.env.INSPECT_ROUNDS || 5);
const median = list => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];
const sleep = ms => new Promise(done => setTimeout(done, ms));
let failed = 0;

function row(name, value, unit, aim, isMet) {
  failed += !isMet;
  console.log(`${name.padEnd(44)} ${value.padStart(8)} ${unit.padEnd(8)} aim ${aim.padEnd(8)} ${isMet ? 'met' : 'not met'}`);
}

// A program and what it says.
class Program {
  constructor(path, given) {
    this.directory = mkdtempSync(join(tmpdir(), 'troupe-inspect-'));
    this.socket = join(this.directory, 'socket');
    const flags = ['--control', this.socket, '--store', join(this.directory, 'store'), '--inspect', '127.0.0.1:0'];
    this.child = spawn(join(build, path), given(flags), { stdio: ['ignore', 'pipe', 'pipe'] });
    this.text = '';
    for (const stream of [this.child.stdout, this.child.stderr]) stream.on('data', bytes => { this.text += bytes; });
    this.ended = new Promise(done => this.child.once('close', done));
  }

  async find(pattern) {
    while (!pattern.test(this.text)) {
      if (this.child.exitCode !== null) throw new Error(this.text);
      await sleep(5);
    }
    return pattern.exec(this.text)[1];
  }

  address() { return this.find(/inspector: (http:\/\/\S+)/); }

  memory() { return Number(/RssAnon:\s+(\d+)/.exec(readFileSync(`/proc/${this.child.pid}/status`, 'utf8'))[1]) * 1024; }

  async end() {
    this.child.kill('SIGKILL');
    await this.ended;
    rmSync(this.directory, { recursive: true, force: true });
  }
}

// The requests of a page on /time, each second.
function asker(socket) {
  const mix = [{ do: 'info' }, { do: 'samples' }, { do: 'handlers' }, { do: 'slow', limit: 64 }, { do: 'ls', sorted: true, limit: 8, queued: 50 }, { do: 'store' }];
  const connection = connect(socket).on('error', () => {});
  connection.resume();
  connection.write(`${JSON.stringify({ id: 0, do: 'session', text: 'bench', reads_only: true })}\n`);
  const ask = () => mix.forEach((request, id) => connection.write(`${JSON.stringify({ id: id + 1, ...request })}\n`));
  const timer = setInterval(ask, 1000);
  ask();
  return () => {
    clearInterval(timer);
    connection.destroy();
  };
}

async function handled(browser, look) {
  const program = new Program('operate/load', flags => [...flags, '--', 'bank', '5']);
  const address = await program.address();
  await program.find(/(ready)/);
  const leave = look === 'asks' ? asker(program.socket) : null;
  const context = look && !leave ? await browser.newContext() : null;
  if (context) await (await context.newPage()).goto(`${address}${look}`);
  const count = Number(await program.find(/^(\d+)$/m));
  if (leave) leave();
  if (context) await context.close();
  await program.end();
  return count;
}

async function bank(browser) {
  for (const [look, name] of [['asks', 'a page\'s requests, no browser'], ['/tree', 'chromium on /tree'], ['/time', 'chromium on /time']]) {
    const ratios = [];
    for (let i = 0; i < rounds; i++) {
      const without = await handled(browser, null);
      ratios.push(await handled(browser, look) / without);
    }
    row(`bank: ${name}`, median(ratios).toFixed(3), 'x', '>= 0.98', median(ratios) >= 0.98);
  }
}

async function many(browser) {
  const program = new Program('tests/inspector_target', flags => ['100000', ...flags]);
  const address = await program.address();
  await program.find(/^(ready)$/m);
  await sleep(1000);
  const memory = program.memory();
  const first = [];
  const paint = [];
  const main = [];
  for (let i = 0; i < rounds; i++) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    const page = await context.newPage();
    await page.goto(address);
    await page.waitForFunction(() => [...document.querySelectorAll('.twig')].some(twig => twig.textContent.includes('100 k')
      || twig.textContent.includes('100,000') || twig.textContent.includes('hall')) && document.querySelector('td'));
    first.push(await page.evaluate(() => performance.now()));
    paint.push(await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN));
    const session = await context.newCDPSession(page);
    await session.send('Performance.enable');
    const figures = async () => Object.fromEntries((await session.send('Performance.getMetrics')).metrics.map(entry => [entry.name, entry.value]));
    await sleep(1000);
    const before = await figures();
    await sleep(4000);
    const after = await figures();
    main.push(1000 * (after.ThreadTime - before.ThreadTime) / (after.Timestamp - before.Timestamp));
    await context.close();
  }
  row('100,000 actors: first view', median(first).toFixed(0), 'ms', '<= 1000', median(first) <= 1000);
  row('100,000 actors: first paint', median(paint).toFixed(0), 'ms', '<= 200', median(paint) <= 200);
  row('100,000 actors: main thread, /tree', median(main).toFixed(1), 'ms/s', '<= 5', median(main) <= 5);
  const grown = (program.memory() - memory) / 1048576;
  row('100,000 actors: memory for the pages', grown.toFixed(1), 'MiB', '<= 8', grown <= 8);
  await program.end();
}

const browser = await launch(resolve('build/browser'));
if (what.includes('bank')) await bank(browser);
if (what.includes('many')) await many(browser);
await browser.close();
process.exitCode = failed ? 1 : 0;
