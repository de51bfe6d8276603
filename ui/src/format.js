/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers as text. Each has a unit, here or in the head of its column. */

const grouped = new Intl.NumberFormat('en-US');

/** 1234567 -> "1,234,567" */
export const count = (n) => (n == null ? '–' : grouped.format(n));

/** 1234567 -> "1.23 M" */
export function short(n) {
  if (n == null || !isFinite(n)) return '–';
  const size = Math.abs(n);
  for (const [limit, unit] of [[1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e4, 'k']]) {
    if (size >= limit) return digits(n / (limit === 1e4 ? 1e3 : limit)) + ' ' + unit;
  }
  return size >= 100 || Number.isInteger(n) ? grouped.format(Math.round(n)) : digits(n);
}

function digits(n) {
  const size = Math.abs(n);
  return n.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : 2);
}

/** "12.3 k/s": how many in a second. */
export const rate = (n) => short(n) + '/s';

/** A length of time, from nanoseconds. */
export function ns(n) {
  if (n == null || !isFinite(n)) return '–';
  if (n < 0) return '-' + ns(-n);
  if (n < 1e3) return Math.round(n) + ' ns';
  if (n < 1e6) return digits(n / 1e3) + ' µs';
  if (n < 1e9) return digits(n / 1e6) + ' ms';
  if (n < 120e9) return digits(n / 1e9) + ' s';
  const s = Math.round(n / 1e9);
  if (s < 7200) return Math.floor(s / 60) + ' min ' + (s % 60) + ' s';
  if (s < 172800) return Math.floor(s / 3600) + ' h ' + Math.floor((s % 3600) / 60) + ' min';
  return Math.floor(s / 86400) + ' d ' + Math.floor((s % 86400) / 3600) + ' h';
}

export const ms = (n) => (n == null ? '–' : n === 0 ? '0 ms' : ns(n * 1e6));
export const us = (n) => (n == null ? '–' : n === 0 ? '0 µs' : ns(n * 1e3));

/** "4.0 KiB" */
export function bytes(n) {
  if (n == null) return '–';
  if (n < 1024) return n + ' B';
  let at = -1;
  let size = n;
  do {
    size /= 1024;
    at++;
  } while (size >= 1024 && at < 4);
  return digits(size) + ' ' + ['KiB', 'MiB', 'GiB', 'TiB', 'PiB'][at];
}

export const percent = (part) => (isFinite(part) ? (part * 100).toFixed(part < 0.1 ? 1 : 0) + ' %' : '–');

const pad = (n, width = 2) => String(n).padStart(width, '0');

/** The time of day, with milliseconds. */
export function clock(unixMs) {
  if (unixMs == null) return '–';
  const d = new Date(unixMs);
  return `${pad(d.getHours())}:${pad(d.getMinutes())}:${pad(d.getSeconds())}.${pad(d.getMilliseconds(), 3)}`;
}

export function date(unixMs) {
  if (unixMs == null) return '–';
  const d = new Date(unixMs);
  return `${d.getFullYear()}-${pad(d.getMonth() + 1)}-${pad(d.getDate())} ${clock(unixMs).slice(0, 8)}`;
}

/** Short enough for one line. */
export const cut = (text, most) => (text && text.length > most ? text.slice(0, most - 1) + '…' : text);

export const plural = (n, one, many) => `${count(n)} ${n === 1 ? one : many || one + 's'}`;

/** A value as JSON in lines. Integers of 64 bits (BigInt) are exact. */
export function write(value, indent = '') {
  if (typeof value === 'bigint') return String(value);
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const isList = Array.isArray(value);
  const inner = indent + '  ';
  const rows = Object.entries(value).map(([name, item]) => inner + (isList ? '' : JSON.stringify(name) + ': ') + write(item, inner));
  const [open, close] = isList ? '[]' : '{}';
  return rows.length ? `${open}\n${rows.join(',\n')}\n${indent}${close}` : open + close;
}
