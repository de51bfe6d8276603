// SPDX-License-Identifier: Apache-2.0
// What the page of the inspector costs: rows with the figure, its aim, and whether it is met. Medians of INSPECT_ROUNDS, 5.
//
// bank: messages that bench/operate/load.c handles at full load on all cores, with something open over those without. A round is INSPECT_PAIRS,
//     3, runs with and as many without, in turns (with, without, without, with, ...), because single runs differ by more than the aim. A run has 3 s
//     before, in which a page is opened and drawn for the first time, and 4 s that count:
//     requests       the requests of a page, each two seconds as it sends them, and no browser
//     idle browser   chromium with the page, which gets only time of processors that nothing else wants (SCHED_IDLE): what a page costs
//                    the program whose browser is on another machine, or has a processor. The answers that it got are printed, because a
//                    browser that gets no time asks nothing
//     per CPU        the same runs: messages for each second of processor time that the process has used, its inspector included
//     usual browser  chromium as it is, which takes its time of the processors from the bank, on the same machine. How much of a processor it
//                    takes is printed
// many: 100,000 actors: how long until the first view is complete, until the first paint (first-contentful-paint), how much of a second
// the main thread of the page works on each view, and how much memory the inspector takes: what the program has with it after all pages, less
// what the same program had that was started without --inspect, a second after its start. So it also has what mailboxes have grown
// meanwhile. The part before the first page is printed too. The target (tests/browser/inspector.c) works meanwhile: counters, mailboxes and times change.
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { launch } from '../../tests/browser/support.mjs';

const build = resolve(process.argv[2] || 'build');
const what = process.argv.length > 3 ? process.argv.slice(3) : ['bank', 'many'];
const rounds = Number(process.env.INSPECT_ROUNDS || 5);
const pairs = Number(process.env.INSPECT_PAIRS || 3);
const median = list => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];
const sleep = ms => new Promise(done => setTimeout(done, ms));
let failed = 0;

function row(name, value, unit, aim, isMet) {
  failed += !isMet;
  console.log(`${name.padEnd(44)} ${value.padStart(8)} ${unit.padEnd(8)} aim ${aim.padEnd(8)} ${isMet ? 'met' : 'not met'}`);
}

// A program and what it says.
class Program {
  constructor(path, given, isInspected = true) {
    this.directory = mkdtempSync(join(tmpdir(), 'troupe-inspect-'));
    this.socket = join(this.directory, 'socket');
    const flags = ['--control', this.socket, '--store', join(this.directory, 'store'), ...(isInspected ? ['--inspect', '127.0.0.1:0'] : [])];
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

// Seconds of processor time that the threads of a process have used, to the nanosecond: /proc/PID/stat counts in steps of 10 ms.
function cpu(pid) {
  return readdirSync(`/proc/${pid}/task`).reduce((sum, task) => sum + Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]), 0) / 1e9;
}

// The requests of a page on /time, as often as it sends them.
function asker(socket) {
  const mix = [{ do: 'info' }, { do: 'samples' }, { do: 'handlers' }, { do: 'slow', limit: 64, follow: true }, { do: 'ls', sorted: true, limit: 8, queued: 50 }, { do: 'store' }];
  const connection = connect(socket).on('error', () => {});
  connection.resume();
  connection.write(`${JSON.stringify({ id: 0, do: 'session', text: 'bench', reads_only: true })}\n`);
  const ask = () => mix.forEach((request, id) => connection.write(`${JSON.stringify({ id: id + 1, ...request })}\n`));
  const timer = setInterval(ask, 2000);
  ask();
  return () => {
    clearInterval(timer);
    connection.destroy();
  };
}

// A page, and how many messages it gets.
async function open(browser, address) {
  const context = await browser.newContext();
  const page = await context.newPage();
  const seen = { messages: 0 };
  page.on('websocket', socket => socket.on('framereceived', () => { seen.messages++; }));
  await page.goto(address);
  return { seen, close: () => context.close() };
}

// Seconds of processor time of all processes of chromium. One that ends meanwhile is left out.
function taken() {
  return readdirSync('/proc').filter(name => /^\d+$/.test(name)).reduce((sum, pid) => {
    try {
      return sum + (/^\d+ \(chrom/.test(readFileSync(`/proc/${pid}/stat`, 'utf8')) ? cpu(pid) : 0);
    } catch {
      return sum;
    }
  }, 0);
}

// One run of the bank. Returns {count, used, messages, share}.
async function handled(browser, look) {
  const program = new Program('operate/load', flags => [...flags, '--', 'bank', '4', '3']);
  const address = await program.address();
  await program.find(/(ready)/);
  const leave = look === 'asks' ? asker(program.socket) : null;
  const page = look && !leave ? await open(browser, address + look) : null;
  await program.find(/(counting)/);
  const before = { used: cpu(program.child.pid), messages: page?.seen.messages, taken: page ? taken() : 0 };
  let used = 0;
  const looks = setInterval(() => {
    try {
      used = Math.max(used, cpu(program.child.pid) - before.used); /* threads that end take their time with them */
    } catch { /* it has ended */ }
  }, 20);
  const count = Number(await program.find(/^(\d+)$/m));
  clearInterval(looks);
  const messages = page ? page.seen.messages - before.messages : 0;
  const share = page ? (taken() - before.taken) / 4 : 0;
  if (leave) leave();
  if (page) await page.close();
  await program.end();
  return { count, used, messages, share };
}

// Runs with and without, in an order that a drift of the machine does not favour. Returns {ratio, perCpu, messages, share}.
async function round(by, look) {
  const sum = { with: { count: 0, used: 0 }, without: { count: 0, used: 0 } };
  let messages = 0;
  let share = 0;
  for (let i = 0; i < 2 * pairs; i++) {
    const isWith = i % 4 === 0 || i % 4 === 3;
    const run = await handled(isWith ? by : null, isWith ? look : null);
    const side = isWith ? sum.with : sum.without;
    side.count += run.count;
    side.used += run.used;
    side.runs = (side.runs || 0) + 1;
    messages = run.messages || messages;
    share = run.share || share;
  }
  return {
    ratio: sum.with.count / sum.with.runs / (sum.without.count / sum.without.runs),
    perCpu: sum.with.count / sum.with.used / (sum.without.count / sum.without.used), messages, share,
  };
}

async function bank(browser, idle, only) {
  for (const [by, look, name] of [[null, 'asks', 'requests, no browser'], [idle, '/tree', 'idle browser on /tree'], [idle, '/time', 'idle browser on /time'],
    [browser, '/tree', 'usual browser on /tree'], [browser, '/time', 'usual browser on /time']].filter(entry => entry[2].startsWith(only))) {
    const found = [];
    for (let i = 0; i < rounds; i++) found.push(await round(by, look));
    for (const [text, of] of [['', entry => entry.ratio], [', per CPU', entry => entry.perCpu]]) {
      const list = found.map(of);
      row(`bank: ${name}${text}`, median(list).toFixed(3), 'x', '>= 0.98', median(list) >= 0.98);
      console.log(`#   rounds: ${list.map(value => value.toFixed(3)).join(' ')}`);
    }
    if (by) console.log(`# ${name}: the page got ${median(found.map(entry => entry.messages))} messages in 4 s; chromium took ${(100 * median(found.map(entry => entry.share))).toFixed(1)} % of a processor`);
  }
}

// How much of a second the main thread of a page works, over 4 s of each round, in a page that has been open for 2 s.
async function mainThread(browser, address, view) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  await page.goto(address + view);
  await page.waitForSelector('main .panel');
  const session = await context.newCDPSession(page);
  await session.send('Performance.enable');
  const figures = async () => Object.fromEntries((await session.send('Performance.getMetrics')).metrics.map(entry => [entry.name, entry.value]));
  const each = [];
  await sleep(2000);
  for (let i = 0; i < rounds; i++) {
    const before = await figures();
    await sleep(4000);
    const after = await figures();
    each.push(1000 * (after.ThreadTime - before.ThreadTime) / (after.Timestamp - before.Timestamp));
  }
  await context.close();
  row(`main thread, ${view}`, median(each).toFixed(1), 'ms/s', '<= 5', median(each) <= 5);
}

// A program with very many actors, when it has started them.
async function crowd(isInspected) {
  const program = new Program('tests/inspector_target', flags => ['100000', ...flags], isInspected);
  await program.find(/^(ready)$/m);
  await sleep(1000);
  return program;
}

async function many(browser) {
  const plain = await crowd(false);
  const base = plain.memory();
  await plain.end();
  const program = await crowd(true);
  const address = await program.address();
  const begun = program.memory() - base;
  const first = [];
  const paint = [];
  for (let i = 0; i < rounds; i++) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    const page = await context.newPage();
    await page.goto(address);
    await page.waitForFunction(() => [...document.querySelectorAll('.twig')].some(twig => twig.textContent.includes('100 k')
      || twig.textContent.includes('100,000') || twig.textContent.includes('hall')) && document.querySelector('td'));
    first.push(await page.evaluate(() => performance.now()));
    paint.push(await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN));
    await context.close();
  }
  row('100,000 actors: first view', median(first).toFixed(0), 'ms', '<= 1000', median(first) <= 1000);
  row('100,000 actors: first paint', median(paint).toFixed(0), 'ms', '<= 200', median(paint) <= 200);
  for (const view of ['/tree', '/time', '/mailboxes', '/trace?path=/user/shop/guest', '/durable', '/connections', '/failures', '/store', '/log', '/tree/user/shop/guest'])
    await mainThread(browser, address, view);
  const grown = (program.memory() - base) / 1048576;
  console.log('100,000 actors: memory before the first page'.padEnd(44), (begun / 1048576).toFixed(1).padStart(8), 'MiB');
  row('100,000 actors: memory of the inspector', grown.toFixed(1), 'MiB', '<= 8', grown <= 8);
  await program.end();
}

// Chromium that runs only when nothing else wants to.
async function idleBrowser() {
  const directory = mkdtempSync(join(tmpdir(), 'troupe-chromium-'));
  const wrapper = join(directory, 'chromium');
  writeFileSync(wrapper, `#!/bin/sh\nexec chrt --idle 0 ${process.env.TROUPE_CHROMIUM || '/usr/bin/chromium'} "$@"\n`, { mode: 0o755 });
  const before = process.env.TROUPE_CHROMIUM;
  process.env.TROUPE_CHROMIUM = wrapper;
  const started = await launch(resolve('build/browser'));
  if (before) process.env.TROUPE_CHROMIUM = before;
  else delete process.env.TROUPE_CHROMIUM;
  return { started, close: () => started.close().then(() => rmSync(directory, { recursive: true })) };
}

const browser = await launch(resolve('build/browser'));
for (const entry of what.filter(text => text.startsWith('bank'))) {
  const idle = await idleBrowser();
  await bank(browser, idle.started, entry.slice('bank'.length + 1));
  await idle.close();
}
if (what.includes('many')) await many(browser);
await browser.close();
process.exitCode = failed ? 1 : 0;
