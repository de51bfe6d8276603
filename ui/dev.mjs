// SPDX-License-Identifier: Apache-2.0
// For work on the page: serves ui/dist, and passes the lines of a WebSocket to a control socket, as the inspector does.
//     node ui/dev.mjs SOCKET [port, 8090] [act]
// Prints the address. With "act", verbs that change something are allowed. Not for anything else: the token is fixed.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect } from 'node:net';

const [control, port = '8090', act] = process.argv.slice(2);
const token = '0123456789abcdef0123456789abcdef';
const files = { '/': ['index.html', 'text/html'], '/app.js': ['app.js', 'text/javascript'], '/app.css': ['app.css', 'text/css'] };
const csp = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const since = Date.now();

const server = createServer((request, response) => {
  const file = files[request.url];
  if (!file) {
    response.writeHead(404).end();
    return;
  }
  response.writeHead(200, { 'Content-Type': file[1] + '; charset=utf-8', 'Content-Security-Policy': csp, 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' });
  response.end(readFileSync(new URL('dist/' + file[0], import.meta.url)));
});

/* One text message as a frame of a server. */
function frame(text, opcode = 1) {
  const body = Buffer.from(text);
  const head = body.length < 126 ? Buffer.from([0x80 | opcode, body.length])
    : body.length < 65536 ? Buffer.from([0x80 | opcode, 126, body.length >> 8, body.length & 255])
      : Buffer.concat([Buffer.from([0x80 | opcode, 127]), (() => { const size = Buffer.alloc(8); size.writeBigUInt64BE(BigInt(body.length)); return size; })()]);
  return Buffer.concat([head, body]);
}

/* Takes whole frames of a client out of a buffer. Returns the rest. */
function frames(buffer, onFrame) {
  for (;;) {
    if (buffer.length < 6) return buffer;
    let size = buffer[1] & 127;
    let at = 2;
    if (size === 126) [size, at] = [buffer.readUInt16BE(2), 4];
    else if (size === 127) [size, at] = [Number(buffer.readBigUInt64BE(2)), 10];
    if (buffer.length < at + 4 + size) return buffer;
    const body = Buffer.from(buffer.subarray(at + 4, at + 4 + size));
    for (let i = 0; i < size; i++) body[i] ^= buffer[at + (i & 3)];
    onFrame(buffer[0] & 15, body);
    buffer = buffer.subarray(at + 4 + size);
  }
}

function closeFrame(code, reason) {
  const body = Buffer.alloc(2);
  body.writeUInt16BE(code);
  return frame(Buffer.concat([body, Buffer.from(reason)]), 8);
}

server.on('upgrade', (request, socket) => {
  const offered = (request.headers['sec-websocket-protocol'] || '').split(/, */);
  if (request.url !== '/ws' || !offered.includes('token.' + token)) {
    socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n');
    return;
  }
  const accept = createHash('sha1').update(request.headers['sec-websocket-key'] + '258EAFA5-E914-47DA-95CA-C5AB0DC85B11').digest('base64');
  socket.write(`HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\nSec-WebSocket-Protocol: troupe-inspect-1\r\n\r\n`);
  const program = connect(control);
  let rest = '';
  program.setEncoding('utf8');
  program.on('data', (text) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop();
    if (!lines.length) return;
    if (lines[0].startsWith('{"troupe"')) {
      const { app, pid } = JSON.parse(lines[0]);
      socket.write(frame(JSON.stringify({ inspect: { allowed: !!act, pid, program: app, since_unix_ms: since, by: 'tool', pages: 1, pages_max: 16, dropped: 0 } })));
    }
    socket.write(frame(lines.join('\n')));
  });
  program.on('error', () => socket.end(closeFrame(4001, 'the program is not there')));
  program.on('close', () => socket.end(closeFrame(4001, 'the program has ended')));
  let buffer = Buffer.alloc(0);
  socket.on('data', (data) => {
    buffer = frames(Buffer.concat([buffer, data]), (opcode, body) => {
      if (opcode === 1) program.write(body.toString() + '\n');
      else if (opcode === 8) socket.end(frame(body, 8));
    });
  });
  socket.on('close', () => program.destroy());
  socket.on('error', () => program.destroy());
});

server.listen(+port, '127.0.0.1', () => console.log(`inspector: http://127.0.0.1:${server.address().port}/#token=${token}`));
