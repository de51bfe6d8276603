// SPDX-License-Identifier: Apache-2.0
// Makes a picture of a page small: a PNG of chromium (8 bits, RGB or RGBA) with at most 128 colours.
import * as zlib from 'node:zlib';

const { deflateSync, inflateSync } = zlib;

const COLORS = 128;
const FREQUENT = 80; // of these colours are the most frequent ones; the others are those that are farthest from all chosen ones

function chunks(png) {
  const found = {};
  for (let at = 8; at < png.length;) {
    const size = png.readUInt32BE(at);
    const type = png.toString('latin1', at + 4, at + 8);
    (found[type] ??= []).push(png.subarray(at + 8, at + 8 + size));
    at += size + 12;
  }
  return found;
}

const paeth = (a, b, c) => {
  const p = a + b - c;
  const [x, y, z] = [Math.abs(p - a), Math.abs(p - b), Math.abs(p - c)];
  return x <= y && x <= z ? a : y <= z ? b : c;
};

// Undoes the filters of the lines, in place. Returns the lines without their first byte.
function unfilter(bytes, width, height, step) {
  const line = width * step;
  const out = Buffer.alloc(line * height);
  for (let y = 0; y < height; y++) {
    const kind = bytes[y * (line + 1)];
    for (let x = 0; x < line; x++) {
      const at = y * line + x;
      const a = x >= step ? out[at - step] : 0;
      const b = y ? out[at - line] : 0;
      const c = x >= step && y ? out[at - line - step] : 0;
      const add = [0, a, b, (a + b) >> 1, paeth(a, b, c)][kind];
      out[at] = bytes[y * (line + 1) + 1 + x] + add;
    }
  }
  return out;
}

// Frequent and distant colours, and for each colour the nearest of them. A mark of a few pixels would get another colour if only
// frequent ones were kept.
function palette(colors) {
  const parts = color => [color >> 16, (color >> 8) & 255, color & 255];
  const best = [];
  const near = new Map([...colors.keys()].map(color => [color, [0, Infinity]])); // the index of the nearest one, and how far it is
  const choose = color => {
    const [x, y, z] = parts(color);
    for (const [other, found] of near) {
      const [r, g, b] = parts(other);
      const far = (r - x) ** 2 + (g - y) ** 2 + (b - z) ** 2;
      if (far < found[1]) near.set(other, [best.length, far]);
    }
    best.push(color);
  };
  for (const [color] of [...colors].sort((a, b) => b[1] - a[1]).slice(0, FREQUENT)) choose(color);
  while (best.length < COLORS) {
    const [color, [, far]] = [...near].reduce((one, other) => (other[1][1] > one[1][1] ? other : one));
    if (!far) break;
    choose(color);
  }
  return { bytes: Buffer.from(best.flatMap(parts)), nearest: new Map([...near].map(([color, [at]]) => [color, at])) };
}

function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(data.length, 0);
  frame.writeUInt32BE(crc(body), 4);
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
}

function crc(bytes) {
  if (zlib.crc32) return zlib.crc32(bytes);
  let sum = ~0;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit++) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
  }
  return ~sum >>> 0;
}

/** Returns the smaller PNG. */
export function smaller(png) {
  const { IHDR: [head], IDAT } = chunks(png);
  const [width, height, step] = [head.readUInt32BE(0), head.readUInt32BE(4), head[9] === 6 ? 4 : 3];
  const pixels = unfilter(inflateSync(Buffer.concat(IDAT)), width, height, step);
  const colors = new Map();
  const color = at => (pixels[at] << 16) | (pixels[at + 1] << 8) | pixels[at + 2];
  for (let at = 0; at < pixels.length; at += step) colors.set(color(at), (colors.get(color(at)) ?? 0) + 1);
  const { bytes, nearest } = palette(colors);
  const lines = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) lines[y * (width + 1) + 1 + x] = nearest.get(color((y * width + x) * step));
  const front = Buffer.from(head);
  front[9] = 3;
  return Buffer.concat([png.subarray(0, 8), chunk('IHDR', front), chunk('PLTE', bytes), chunk('IDAT', deflateSync(lines, { level: 9 })), chunk('IEND', Buffer.alloc(0))]);
}
