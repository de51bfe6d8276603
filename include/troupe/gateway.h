/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The gateway: durable actors for browsers, curl and everybody else who speaks HTTP.
 *
 * ```c
 * #include <troupe/troupe.h>
 *
 * TR_MESSAGE(changed, (u64, value));
 * TR_REQUEST(count, changed, (u32, by));
 * TR_ACTOR(counter, count);
 * TR_MESSAGE(counter_state, (u64, value));
 *
 * static tr_next on_count(tr_self *self, struct counter_state *counter, const struct count *message)
 * {
 *     counter->value += message->by;
 *     return tr_reply(self, changed, .value = counter->value);
 * }
 *
 * TR_BEHAVIOR(counter, struct counter_state, TR_ON(count, on_count));
 * TR_DURABLE(counter, counter_state);
 * TR_EXPOSE(counter, count); // what strangers may ask; nothing else
 *
 * static tr_next on_args(tr_self *self)
 * {
 *     tr_listener_ref listener;
 *     // curl -d '{"by":2}' localhost:8080/actors/counter/visits/count gives {"value":2}
 *     tr_status status = tr_try_gateway(self, &listener, TR_HTTP("127.0.0.1:0"), counter);
 *     return status == TR_OK || status == TR_NOT_SUPPORTED ? TR_STOP : TR_SAME;
 * }
 *
 * TR_BEHAVIOR(app, void, TR_ON(tr_args, on_args));
 *
 * int main(int argc, char **argv)
 * {
 *     return tr_app_main(argc, argv, app, .durable = TR_DURABLES(counter));
 * }
 * ```
 *
 *     POST /actors/{kind}/{key}/{message}      fields as JSON; the answer is the reply, as JSON
 *     GET  /actors/{kind}/{key}/{message}      the same for messages in TR_BY_GET, with fields from the query
 *     GET  /actors/{kind}/{key}/events         what the actor broadcasts, as text/event-stream; Last-Event-ID, or ?last=, is
 *                                              the number of the last event that the client has seen.
 *                                              The first event is tr_open, or tr_gap if some events are missing
 *     GET  /actors/{kind}/{key}                a WebSocket: {"id":1,"ask":"say","with":{...}} is answered by
 *                                              {"id":1,"reply":{...}} or {"id":1,"error":{...}}; without an id there is no
 *                                              answer. "key" is as Idempotency-Key. Events are
 *                                              {"event":"said","number":7,"with":{...}}. The first message is
 *                                              {"open":{"event":6,"gap":false}}, with the number of the last event.
 *                                              With ?last=4 in the path, events 5 and 6 follow, or "gap" is true and
 *                                              some events may be missing. The requests of a WebSocket are handled one
 *                                              after the other
 *     GET  /actors/troupe.js                   the client for browsers (clients/js)
 * A key is percent-encoded, and has 1 to TR_KEY_MAX bytes of UTF-8. Without a body all fields are
 * zero. A request wakes an actor that sleeps, as tr_ask_key does. The answer leaves when the
 * changes that it depends on are on disk.
 *
 * Idempotency-Key: a POST with this header is sent as tr_ask_once does. The request takes effect once, and each repeat
 * gets the stored answer. The key, together with the caller, has at most TR_REQUEST_ID_MAX bytes.
 *
 * Connections. A WebSocket, or a stream of events, is a connection of the actor. The actor may
 * sleep meanwhile: the gateway keeps the socket, and a message from the socket wakes the actor. A
 * connection outlives any number of sleeps. It ends with its socket, or with the process.
 *
 * Errors are {"error":{"code":"actor/destroying","message":"...","status":409}}: codes are stable,
 * message texts are not.
 *     400 request/bad_json       the body is no JSON, or does not fit the message; the text
 *                                names the field
 *         request/bad_field      a field of the query is wrong
 *         request/bad_key        the key of the actor, or of Idempotency-Key, is empty or too long
 *         request/malformed      the body cannot be read, or the handshake of a WebSocket is wrong
 *     401 request/unauthorized   403 request/forbidden   the guard says so
 *     403 request/bad_origin     the page is of an origin that is not listed in .origins of tr_http_options
 *     404 actor/unknown_kind     actor/unknown_message
 *     405 request/bad_method
 *     408 actor/timeout          request/timeout: the body came too slowly
 *     409 actor/destroying       request/key_differs: this Idempotency-Key was used for something else
 *         request/key_begun      the first request with this key has stored a part of its changes,
 *                                and has no answer
 *     413 request/too_large      415 request/bad_encoding: a Content-Encoding that is not read
 *     422 actor/refused          the actor called tr_refuse; "reason" has its code, and "message" its text
 *     426 request/no_websocket   a request for the path of a WebSocket asks for another version of the protocol, or for
 *                                no upgrade. For a request without an upgrade it comes only if the guard allows it
 *     429 actor/mailbox_full     actor/limit   request/too_many: see tr_principal; Retry-After says when
 *     500 actor/failed           without a message text
 *     503 actor/stopping         actor/start_failed   actor/store_failed   guard/failed   server/busy: out of memory
 * Every answer has the header X-Troupe-Causal, a number in hexadecimal: the tr_causal_id of all messages that the
 * request has caused. These errors and this header are for every request whose path is below /actors. A request whose
 * head cannot be read has no path; its error has the form of all other HTTP errors.
 *
 * Pages of other origins. A request is refused if its Origin is neither its own Host nor listed in
 * .origins of tr_http_options. Pages of the listed origins may read answers (CORS), and their
 * preflights are answered.
 */
#ifndef TROUPE_GATEWAY_H
#define TROUPE_GATEWAY_H

#include <troupe/durable.h>
#include <troupe/http.h>

/* ---- Callers. ---- */

/**
 * The reply of a guard, which names the caller. The name of a caller may be empty. More than
 * `per_minute` requests of one name in a minute are refused with 429; 0: no limit. A guard that
 * does not decide by the message may set `is_for_connection`: the guard is not asked again for the
 * messages of the WebSocket that it has allowed.
 */
TR_MESSAGE(tr_principal, (str, caller), (u32, per_minute), (bool, is_for_connection));
/**
 * What a guard is asked before an actor wakes: it replies with a tr_principal, or refuses. A
 * refusal with the code 401 is answered with 401, any other with 403. `message` is the message that
 * the path names, "events" for a stream of events, and "" for a WebSocket that begins. The guard is
 * also asked for each message of a WebSocket, with the name of the message and the headers with
 * which the WebSocket began. The caller stays the same for all messages of a WebSocket: it is the
 * one that began the WebSocket. `authorization` and `cookie` are the headers of these names, or
 * NULL. If the header Authorization is missing, the parameter "token" of the query takes its place,
 * as "Bearer ...".
 */
TR_REQUEST(tr_authorize, tr_principal, (str, kind), (str, key), (str, message),
           (str, authorization), (str, cookie), (address, peer));
TR_ACTOR(tr_guard, tr_authorize);

/* ---- Connections. ---- */

/**
 * A connection of a durable actor. Its number is never used again, not even in the next process.
 * All zero: none.
 */
typedef struct tr_connection_id {
    uint64_t number;
} tr_connection_id;
#define TR_FIELD_TYPE_connection TR_SCALAR_(tr_connection_id, U64)

/**
 * Somebody has connected. `caller` is the name that the guard has given, or NULL. `query` is the part of the path
 * behind '?', not decoded, or NULL. tr_refuse refuses the connection, with 422. Without a handler for this message, all
 * connections are accepted.
 * What the handler changes is stored once, all of it together, when the handler has ended. A crash does not change
 * that. So the handler must not wait after it has changed anything that is stored: state, keys, alarms, queues, events,
 * tables, and what is kept with a connection. After a change, verbs that wait return TR_INVALID_TRANSITION, or end the
 * turn with it, and the log says so. If the process ends while the handler waits, the connection is lost. When the
 * actor next wakes, the handler runs again, and tr_send to the connection returns TR_CLOSED; then tr_disconnected
 * comes. If the handler fails after a wait, tr_disconnected comes, and the handler does not run again.
 */
TR_MESSAGE(tr_connected, (connection, connection), (str, caller), (str, query));
/**
 * A connection has ended. Comes once for each tr_connected that was not refused. `code` is the code
 * of the close: 1000 or 1001 if the client closed the connection, 1006 if the connection was lost.
 * If the process ends, its connections are lost: the actor gets this message for each of them when
 * it next wakes, before other mail. What was kept with the connection can still be read. If a crash interrupts the
 * handler, the handler runs again. What it changes is stored once: as for tr_connected, the handler may wait only before
 * it has changed anything that is stored.
 */
TR_MESSAGE(tr_disconnected, (connection, connection), (i32, code));

/* ---- What is exposed. ---- */

typedef struct tr_exposed_message {
    const tr_type *type; /* NULL ends the table */
    bool is_by_get;
} tr_exposed_message;

/** What TR_EXPOSE defines: the messages of a kind that may come from outside. */
typedef struct tr_exposed {
    size_t size; /* sizeof(tr_exposed) */
    const tr_durable_kind *kind;
    const tr_exposed_message *messages;
} tr_exposed;

/**
 * Says which requests may come from outside: TR_EXPOSE(cart, add_item, checkout, TR_BY_GET(show)).
 * The requests are those of TR_ACTOR(cart, ...). TR_EXPOSE stands in the file of TR_DURABLE, or in
 * a file with TR_DURABLE_DECLARE. At file scope.
 */
#define TR_EXPOSE(actor, ...) TR_EXPOSE_(actor, __VA_ARGS__)
/**
 * An item of TR_EXPOSE: a request that may also come by GET, with fields from the query. Its
 * handler must not change anything. At file scope.
 */
#define TR_BY_GET(message) (message)

/**
 * TR_GATEWAY(cart): the sessions of this behavior answer requests for the paths below /actors/cart. There is one such
 * clause for each kind, beside TR_GET and similar clauses. TR_GATEWAY(cart, find_guard): `tr_guard_ref
 * find_guard(tr_self *self, state *state)` returns the guard, which is asked before each request.
 * A clause of TR_BEHAVIOR.
 */
#define TR_GATEWAY(...) (TR_CLAUSE_GATEWAY, __VA_ARGS__, , )

/**
 * Opens a gateway for these kinds, and returns a tr_listener_ref: tr_gateway(self, TR_HTTP(":8080"), cart, counter).
 * If tr_try_gateway would return an error, ends the turn instead.
 * In a turn. Does not wait.
 */
#define tr_gateway(self, at, ...) TR_GATEWAY_OPEN_(self, at, TR_NOBODY, __VA_ARGS__)
/**
 * As tr_gateway, with a tr_guard_ref: the guard is asked before each request, and before each
 * message of a WebSocket. In a turn. Does not wait.
 */
#define tr_gateway_guarded(self, at, guard, ...)                                                   \
    TR_GATEWAY_OPEN_(self, at, tr_any(guard), __VA_ARGS__)
/**
 * As tr_gateway, but writes the ref to a tr_listener_ref * and returns a status, as tr_try_listen
 * does. In a turn. Does not wait.
 */
#define tr_try_gateway(self, ref, at, ...) TR_GATEWAY_TRY_(self, ref, at, TR_NOBODY, __VA_ARGS__)
/** As tr_try_gateway, with a guard. In a turn. Does not wait. */
#define tr_try_gateway_guarded(self, ref, at, guard, ...)                                          \
    TR_GATEWAY_TRY_(self, ref, at, tr_any(guard), __VA_ARGS__)

/* ---- In a handler of a durable actor. What is sent leaves when the stretch is on disk. ---- */

/**
 * Sends an event to all connections: tr_broadcast(self, said, .who = "anna", .text = "hi"). Events
 * are numbered, and the last TR_CONNECTION_EVENTS_KEPT events are stored: a client that connects
 * again gets the events that it has missed, or learns that some of them are no longer stored. An
 * event of more than TR_CONNECTION_EVENT_MAX bytes of JSON ends the turn with TR_TOO_LARGE. In a
 * turn. Does not wait.
 */
#define tr_broadcast(self, ...)                                                                    \
    TR_SEND_EVENT_(self, 0, TR_PP_HEAD(__VA_ARGS__), TR_PP_TAIL_BRACES(__VA_ARGS__))
/**
 * Sends an event to one connection: tr_send(self, connection, said, .text = "hi"). This event has no number, and is not
 * sent again. Returns TR_OK, or TR_CLOSED if there is no such connection.
 * In a turn. Does not wait.
 */
#define tr_send(self, connection, ...)                                                             \
    TR_SEND_EVENT_(self,                                                                           \
                   (connection).number ? (connection).number : UINT64_MAX,                         \
                   TR_PP_HEAD(__VA_ARGS__),                                                        \
                   TR_PP_TAIL_BRACES(__VA_ARGS__))
/**
 * Keeps a message with a connection, stored with the state: tr_connection_keep(self, tr_from(self), member, .name =
 * "anna"). The message replaces the one that was kept before. A message of more than TR_CONNECTION_KEPT_MAX bytes ends
 * the turn with TR_TOO_LARGE. Does nothing if the connection has ended.
 * In a turn. Does not wait.
 */
#define tr_connection_keep(self, connection, ...)                                                  \
    TR_CONNECTION_KEEP_(self, connection, TR_PP_HEAD(__VA_ARGS__), TR_PP_TAIL_BRACES(__VA_ARGS__))
/**
 * Returns the message that is kept with a connection, a `const struct member *`, borrowed until the turn ends. Returns
 * NULL if no message of that type is kept, or if the connection is gone.
 * In a turn. Does not wait.
 */
#define tr_connection_kept(self, connection, m)                                                    \
    ((const struct m *)tr_self_connection_kept(self, connection, &tr_type_##m))

TR_BEGIN_C
/**
 * Returns the connection from which the message of this turn came. Returns all zero if the message
 * came from an actor, or by POST or GET. In a turn. Does not wait.
 */
tr_connection_id tr_from(const tr_self *self);
/**
 * Copies up to `max` connections of this actor, the oldest first, and returns how many connections
 * it has. In a turn. Does not wait.
 */
size_t tr_connections(tr_self *self, tr_connection_id *connections, size_t max);
/**
 * Ends a connection, with a code of WebSocket: 1000, 1001, 1007 to 1014 or 3000 to 4999; any other
 * code ends the turn. The actor gets tr_disconnected when the connection has ended. In a turn. Does
 * not wait.
 */
void tr_disconnect(tr_self *self, tr_connection_id connection, int code, const char *words);
/**
 * Returns the name that the guard gave to the caller that sent the message of this turn, borrowed
 * until the turn ends. Returns NULL if the message came from no gateway, if no guard was asked, or
 * if the message was stashed. In a turn. Does not wait.
 */
const char *tr_caller(const tr_self *self);
TR_END_C

#include <troupe/detail/gateway.h>

#endif
