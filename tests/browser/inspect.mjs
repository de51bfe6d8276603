// SPDX-License-Identifier: Apache-2.0
// What the tests of the inspector share: a program (tests/browser/inspector.c), its page, and its control socket.
import { execFileSync } from 'node:child_process';
import { closeSync, open } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { assert, until, WAIT_MS, within } from './support.mjs';

export const SHOP = '/user/shop';

// Starts the program and a page. Returns {program, address, page, say, ask, requests}.
export async function begin(stage, { tellers = 300, given = ['--inspect-allow'], options = {}, view = '/tree', prepare, environment, isFast = true } = {}) {
  const socket = join(stage.directory, 'socket');
  const program = await stage.start('tests/inspector_target',
    [String(tellers), '--control', socket, '--store', join(stage.directory, 'store'), '--inspect', '127.0.0.1:0', ...given], environment);
  await program.line(/^ready$/);
  const address = await addressOf(program);
  const page = await stage.open(null, { viewport: { width: 1280, height: 800 }, ...options });
  const requests = [];
  page.on('request', request => requests.push(request.url()));
  // A program that is gone refuses connections, which the browser writes to its console.
  page.on('console', message => message.type() === 'error' && !/^WebSocket connection|ERR_CONNECTION_REFUSED/.test(message.text()) && stage.problems.push(new Error(message.text())));
  // A case that has a clock of its own, or counts frames, wants the usual one.
  if (!prepare && isFast) await hurry(page);
  if (prepare) await prepare(page);
  await page.goto(address + view);
  await page.waitForSelector('.tile');
  return { program, address, page, requests, socket };
}

// Lets a page ask twice as often as it does for people.
export const hurry = page => page.addInitScript(() => {
  const usual = window.setInterval;
  window.setInterval = (run, ms) => usual(run, ms === 2000 ? 1000 : ms);
});

// The address that the program has printed.
export async function addressOf(program) {
  const end = Date.now() + WAIT_MS;
  for (;;) {
    const found = /inspector: (https?:\/\/\S+)/.exec(program.said());
    if (found) return found[1];
    assert.ok(Date.now() < end, program.said());
    await new Promise(done => setTimeout(done, 20));
  }
}

// One request of the control protocol. Returns {ok, parts}.
export function ask(socket, verb, members = {}) {
  return within(new Promise((done, failed) => {
    const connection = connect(socket);
    const parts = [];
    let rest = '';
    connection.on('error', failed);
    connection.on('data', bytes => {
      const lines = (rest + bytes).split('\n');
      rest = lines.pop();
      for (const line of lines.map(text => JSON.parse(text))) {
        if (line.troupe) connection.write(`${JSON.stringify({ id: 1, do: verb, ...members })}\n`);
        else if (line.part) parts.push(line.part);
        else {
          connection.destroy();
          if (line.no) failed(new Error(`${verb}: ${line.no} ${line.why}`));
          else done({ ok: line.ok, parts });
        }
      }
    });
  }), `the answer to ${verb}`);
}

// The first line of the control socket.
export const greeting = socket => within(new Promise((done, failed) => {
  let text = '';
  const connection = connect(socket).on('error', failed).on('data', bytes => {
    text += bytes;
    if (!text.includes('\n')) return;
    connection.destroy();
    done(JSON.parse(text.split('\n')[0]));
  });
}), 'the greeting');

export const text = (page, selector) => page.locator(selector).first().innerText();
// Returns when the view of the new link is drawn, so that nothing is read from the view before it.
export const go = (page, hash) => page.evaluate(to => new Promise(done => {
  if (location.hash === to) return done();
  const drawn = () => requestAnimationFrame(() => requestAnimationFrame(done));
  addEventListener('hashchange', drawn, { once: true });
  location.hash = to;
}), hash);
// Waits until a selector shows a text.
export const shows = (page, selector, part) => until(page, ([where, what]) =>
  [...document.querySelectorAll(where)].some(element => element.textContent.includes(what)), [selector, part]);
// The lines between a page and its server. answers(verb, text) returns the text that the page gets for a line, or null: then it
// gets none until release().
export async function intercept(page) {
  const lines = { answers: (verb, text) => text, kept: [], sent: [] };
  lines.release = () => lines.kept.splice(0).forEach(send => send());
  await page.routeWebSocket(/\/ws$/, socket => {
    const verbs = new Map();
    const server = socket.connectToServer();
    socket.onMessage(text => {
      const request = JSON.parse(text);
      verbs.set(request.id, request.do);
      lines.sent.push(request.do);
      server.send(text);
    });
    server.onMessage(message => message.split('\n').forEach(text => {
      const given = lines.answers(verbs.get(JSON.parse(text).id), text);
      if (given === null) lines.kept.push(() => socket.send(text));
      else socket.send(given);
    }));
  });
  return lines;
}

// Lets the mill stand in a handler. Returns a function that lets it continue.
export async function block(stage, socket) {
  const pipe = join(stage.directory, `pipe-${stage.pipes = (stage.pipes ?? 0) + 1}`);
  execFileSync('mkfifo', [pipe]);
  await ask(socket, 'tell', { path: `${SHOP}/mill`, message: 'block', json: JSON.stringify({ until: pipe }), may: true });
  return async () => closeSync(await within(promisify(open)(pipe, 'w'), 'the handler at the other end of the pipe'));
}

// Presses the button of an act, then the one of its question, whose title must have the words of the button. On a machine with much to
// do, a handler may hold its worker for so long that the act is not sent: then the page says so, and the button is pressed again.
export async function act(page, button, { picture, line, title } = {}) {
  await page.locator(button).first().click();
  await page.waitForSelector('dialog[open]');
  if (title) assert.ok((await text(page, 'dialog h2')).startsWith(title), await text(page, 'dialog h2'));
  if (line) await shows(page, 'dialog pre', line);
  if (picture) await picture();
  for (let refused = null; refused !== 'closed';) {
    await page.click('dialog[open] button[type=submit]');
    const answer = await until(page, before => {
      const said = document.querySelector('dialog[open]')?.innerText;
      return said === undefined ? 'closed' : said.includes('TR_TIMEOUT not sent') && said !== before && said;
    }, refused);
    refused = await answer.jsonValue();
  }
}
