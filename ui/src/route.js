/* SPDX-License-Identifier: Apache-2.0 */
/* Deep links: #/view/rest?name=value. The rest of a link to an actor is its path. */
import { useEffect, useState } from 'preact/hooks';

export function parse(hash) {
  const text = hash.replace(/^#/, '') || '/tree';
  const mark = text.indexOf('?');
  const path = mark < 0 ? text : text.slice(0, mark);
  const parts = path.split('/').slice(1).map(decode);
  return { view: parts[0] || 'tree', rest: parts.slice(1), params: new URLSearchParams(mark < 0 ? '' : text.slice(mark + 1)) };
}

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function link(view, rest = [], params = {}) {
  const given = Object.entries(params).filter(([, value]) => value != null && value !== '' && value !== false);
  const query = given.length ? '?' + new URLSearchParams(given) : '';
  return '#/' + [view, ...rest].map(encodeURIComponent).join('/') + query;
}

/** The link to an actor, by its path. */
export const actorLink = (path) => link('tree', path.split('/').slice(1));
export const durableLink = (kind, key, tab) => link('durable', [kind, key], { tab });
export const traceLink = (what) => link('trace', [], what.startsWith('/') ? { path: what } : { causal: what });

export function go(to, replaces) {
  if (replaces) history.replaceState(null, '', to);
  else history.pushState(null, '', to);
  dispatchEvent(new HashChangeEvent('hashchange'));
}

/** Changes parameters of the current link. */
export function tune(changes) {
  const { view, rest, params } = parse(location.hash);
  go(link(view, rest, { ...Object.fromEntries(params), ...changes }), true);
}

export function useRoute() {
  const [route, change] = useState(() => parse(location.hash));
  useEffect(() => {
    const listener = () => change(parse(location.hash));
    addEventListener('hashchange', listener);
    return () => removeEventListener('hashchange', listener);
  }, []);
  return route;
}
