// SPDX-License-Identifier: Apache-2.0
// For a Node without WebSocket: that of the package ws, which tests/client/run has installed.
globalThis.WebSocket = require(require('node:path').join(__dirname, '../../build/client/node_modules/ws')).WebSocket;
