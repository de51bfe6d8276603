// SPDX-License-Identifier: Apache-2.0
// An echo server of Node. It prints its port.
const server = require('net').createServer({ noDelay: true }, (socket) => {
  socket.on('data', (bytes) => socket.write(bytes));
  socket.on('error', () => {});
});
server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, () => console.log(server.address().port));
