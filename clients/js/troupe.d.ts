// SPDX-License-Identifier: Apache-2.0

/** Why an ask has failed. The codes are those of troupe/gateway.h, 'connection/lost' and 'connection/bad_answer'. */
export class TroupeError extends Error {
  constructor(error: { code: string; message: string; reason?: number; status?: number; after?: number }, causal?: string, after?: number);
  /** Stable: 'actor/refused', 'request/bad_json', 'connection/lost', ... 'connection/bad_answer': that of a proxy, or cut. */
  code: string;
  /** Of 'actor/refused': the code of tr_refuse. */
  reason?: number;
  /** The status of HTTP. */
  status?: number;
  /** The id of the cause, which is in the log of the server. */
  causal?: string;
  /** After how many seconds to ask again: Retry-After, or what the answer on a connection says. */
  after?: number;
}

export interface AskOptions {
  /**
   * An idempotency key: the ask takes effect once, and is sent again until there is an answer. 408, 429 and 5xx are none; one
   * that wants more than a minute of patience is.
   */
  key?: string;
  token?: string;
  /** How often it is sent at most; 1 without a key, else 8. */
  tries?: number;
  fetch?: typeof fetch;
}

/** Asks an actor by POST: ask('/actors/counter/visits', 'count', {by: 2}). */
export function ask<Reply = any>(url: string, message: string, fields?: object, options?: AskOptions): Promise<Reply>;

export interface ConnectOptions {
  /** The constructor, where there is no global one. */
  WebSocket?: any;
  /** Finds out why a WebSocket was refused. */
  fetch?: typeof fetch;
  /** For the guard: it is sent as the parameter "token". */
  token?: string;
  /** The number of the last event that was seen, from an earlier connection. */
  last?: number;
  /** { once: true }: every ask has a key of its own. */
  ask?: { once?: boolean };
}

/** Asks by the name of the message: room.say({text: 'hi'}). */
export type Asks = { [message: string]: (fields?: object, options?: { key?: string }) => Promise<any> };

export interface Connection {
  /** Asks. An ask without a key that was under way when the connection was lost fails with 'connection/lost'. */
  call<Reply = any>(message: string, fields?: object, options?: { key?: string }): Promise<Reply>;
  /** Asks with a key: it takes effect once, and is sent again after a lost connection, 408, 429 and 5xx, as ask() does. */
  once<Reply = any>(message: string, fields?: object, key?: string): Promise<Reply>;
  /** Calls a function for each event of this name. */
  on(event: string, listener: (fields: any, number?: number) => void): void;
  off(event: string, listener: (fields: any, number?: number) => void): void;
  /** The number of the last event that was seen. */
  readonly last: number | undefined;
  /** Is called for each connection. resumed: nothing was missed since the last one. gap: something was. */
  onopen: ((state: { resumed: boolean; gap: boolean }) => void) | null;
  /**
   * Is called when a connection has ended, or was refused. Without an error it is made again. With one it is not, and all asks
   * fail with that error: 'request/unauthorized', 'request/forbidden', 'actor/unknown_kind', ...
   */
  onclose: ((code: number, reason: string, error?: TroupeError) => void) | null;
  /** Ends it. Asks without an answer fail with 'connection/lost'. */
  close(): void;
}

/** Connects to an actor: connect('/actors/room/lobby'). A lost connection is made again, later and later. */
export function connect(url: string, options?: ConnectOptions): Connection & Asks;
