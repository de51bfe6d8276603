// SPDX-License-Identifier: Apache-2.0
// What the tests in browsers share.
//
// How to use it: write tests/browser/<subject>.test.mjs with cases like this one, and tests/browser/run finds it.
//
//     import { assert, test } from './support.mjs';
//
//     test('a_window_shows_what_was_said', 'H-02 H-03', async ({ start, open }) => {
//       const server = await start('examples/41_room', ['127.0.0.1:0']);   // path below the build directory
//       const [, address] = await server.line(/^open at (\S+)$/);          // waits for a line of its output
//       const page = await open(`http://${address}/#lobby/anna`);          // a page of a browser of its own
//       await page.fill('#text', 'hello');
//       await page.press('#text', 'Enter');
//       await until(page, () => document.querySelector('li')?.textContent === 'anna: hello');
//       await server.kill('SIGKILL');
//       await server.again(['127.0.0.1:' + port]);                         // in the same directory: the same store
//     });
//
// The name of a case has the form of the names of C; the ids are those of docs/contract.md that it proves. A case gets
// functions: start(program, arguments, environment), open(url, options of a context of Playwright), tool(arguments) for
// build/bin/troupe, and `directory`, where its programs run. Pages are Playwright's. Everything is ended behind the case.
// An exception in a page fails it; so does a wait of more than 10 s, which says for what it was.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

export { assert };
export const WAIT_MS = 10000;
export const cases = [];
export function test(name, ids, run) {
  cases.push({ name, ids, run });
}

// Waits for a promise, at most WAIT_MS. `what` is a text, or a function that returns one.
export function within(promise, what) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`took too long: ${typeof what === 'function' ? what() : what}`)), WAIT_MS);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

// Waits until a function is true, which runs in the page with an argument that can be written as JSON.
export async function until(page, isTrue, argument) {
  try {
    return await page.waitForFunction(isTrue, argument, { timeout: WAIT_MS });
  } catch (error) {
    const text = await page.evaluate(() => document.body?.innerText).catch(() => 'no page');
    throw new Error(`${isTrue} is not true with ${JSON.stringify(argument)} in a page that says:\n${text}`, { cause: error });
  }
}

// A program, and the lines that it has written to its standard output.
class Program {
  constructor(path, directory, environment) {
    Object.assign(this, { path, directory, environment, lines: [], errors: '', lookers: new Set() });
  }

  // Starts it, again if need be; its lines are those since then.
  async again(given = this.given) {
    this.given = given;
    this.lines = [];
    const child = spawn(this.path, given, {
      cwd: this.directory, env: { ...process.env, ...this.environment }, stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.child = child;
    this.ended = new Promise(done => child.once('close', (code, signal) => done({ code, signal })));
    let rest = '';
    child.stdout.setEncoding('utf8').on('data', text => {
      const parts = (rest + text).split('\n');
      rest = parts.pop();
      this.lines.push(...parts);
      for (const look of this.lookers) look();
    });
    child.stderr.setEncoding('utf8').on('data', text => { this.errors += text; });
    await within(new Promise((started, failed) => child.once('spawn', started).once('error', failed)), `start of ${this.path}`);
  }

  // Waits for a line that matches, and returns the match.
  async line(pattern) {
    let look;
    const found = new Promise((resolve, reject) => {
      look = () => {
        const line = this.lines.find(line => pattern.test(line));
        if (line !== undefined) resolve(pattern.exec(line));
      };
      this.ended.then(({ code, signal }) => reject(new Error(`${this.path} has ended with ${code ?? signal}:\n${this.said()}`)));
    });
    this.lookers.add(look);
    look();
    return within(found, () => `a line ${pattern} of ${this.path}:\n${this.said()}`).finally(() => this.lookers.delete(look));
  }

  said() {
    return `${this.lines.join('\n')}\n${this.errors}`;
  }

  // Sends a signal, and waits for the end. Returns {code, signal}.
  async kill(signal = 'SIGTERM') {
    this.child.kill(signal);
    return within(this.ended, () => `end of ${this.path} by ${signal}:\n${this.said()}`);
  }
}

// What one case has: pages and programs, which end with it.
class Stage {
  constructor(browser, build) {
    Object.assign(this, { browser, build, contexts: [], programs: [], problems: [] });
    this.directory = mkdtempSync(join(tmpdir(), 'troupe-browser-'));
    for (const name of ['start', 'open', 'tool']) this[name] = this[name].bind(this);
  }

  async start(path, given = [], environment = {}) {
    const program = new Program(resolve(this.build, path), this.directory, environment);
    this.programs.push(program);
    await program.again(given);
    return program;
  }

  async open(url, options = {}) {
    const context = await this.browser.newContext(options);
    this.contexts.push(context);
    const page = await context.newPage();
    page.setDefaultTimeout(WAIT_MS);
    page.on('pageerror', error => this.problems.push(error));
    if (url) await page.goto(url);
    return page;
  }

  // Runs the tool troupe; returns what it prints.
  async tool(...given) {
    const run = promisify(execFile)(join(this.build, 'bin/troupe'), given, { cwd: this.directory });
    return (await within(run, `troupe ${given.join(' ')}`)).stdout;
  }

  async end() {
    await Promise.allSettled(this.contexts.map(context => context.close()));
    for (const { child } of this.programs) child?.kill('SIGKILL');
    await Promise.all(this.programs.map(program => program.ended));
    rmSync(this.directory, { recursive: true, force: true });
    if (this.problems.length) throw this.problems[0];
  }
}

// Starts Debian's chromium, without a window.
export async function launch(packages) {
  const { chromium } = createRequire(join(packages, 'package.json'))('playwright-core');
  return chromium.launch({ executablePath: process.env.TROUPE_CHROMIUM || '/usr/bin/chromium', timeout: 3 * WAIT_MS });
}

export async function runCase({ run }, browser, build) {
  const stage = new Stage(browser, build);
  let failure;
  try {
    await run(stage);
  } catch (error) {
    failure = error;
  }
  try {
    await stage.end();
  } catch (error) {
    failure ??= error;
  }
  return failure;
}
