/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Asks with a callback, for threads that have a loop of their own and must not block.
 *
 * ```c
 * #include <troupe/troupe.h>
 *
 * TR_REQUEST(ping, tr_done);
 * TR_ACTOR(echo, ping);
 *
 * static tr_next on_ping(tr_self *self)
 * {
 *     return tr_reply(self, tr_done);
 * }
 * TR_BEHAVIOR(echo, void, TR_ON(ping, on_ping));
 *
 * static void on_answer(int *count, const ping_answer *answer)
 * {
 *     *count += answer->status == TR_OK;
 * }
 * TR_CALLBACK(answer, ping, int, on_answer);
 *
 * int main(void)
 * {
 *     tr_system *system;
 *     tr_client *client;
 *     echo_ref echo;
 *     int count = 0;
 *     if (tr_system_new(NULL, &system) != TR_OK || tr_system_start(system) != TR_OK ||
 *         tr_client_new(system, &client) != TR_OK ||
 *         tr_try_spawn(client, &echo, echo, "echo") != TR_OK ||
 *         tr_ask_callback(client, answer, &count, echo, ping) != TR_OK)
 *         return 1;
 *     while (count == 0)
 *         tr_client_poll(client, TR_SECOND); // calls on_answer
 *     tr_client_free(client);
 *     tr_system_shutdown(system, TR_SECOND);
 *     tr_status status = tr_system_wait(system);
 *     tr_system_free(system);
 *     return status == TR_OK ? 0 : 1;
 * }
 * ```
 *
 * A callback runs on the client's own thread, inside tr_client_poll. So a callback needs no lock
 * for what that thread owns, and no actor waits for it. Each callback is called exactly once, with
 * one of the outcomes of ask.h: the reply, an error, TR_TIMEOUT at the deadline of the ask, or
 * TR_STOPPED if the system has ended. If the client is freed first, tr_client_free calls the
 * callback with TR_CANCELLED.
 *
 * A client that wants no callback uses tr_ask. It then looks with tr_is_answered, or waits with
 * tr_try_await.
 */
#ifndef TROUPE_CALLBACK_H
#define TROUPE_CALLBACK_H

#include <troupe/ask.h>

/**
 * Sends a request and returns a tr_status; when the ask has an outcome, tr_client_poll calls the
 * callback.
 * Client's thread. Does not wait.
 *
 * TR_OK: the callback will be called. TR_NO_MEMORY, TR_INVALID_ARGUMENT, TR_LIMIT
 * (TR_CLIENT_ASKS_MAX), TR_STOPPING (inside tr_client_free): the callback will not be called.
 * All other errors come as the outcome of the ask: for instance TR_MAILBOX_FULL if the receiver's
 * mailbox is full, also with TR_PARK. `context` is the pointer that the callback gets; what it
 * points to must be valid when the callback is called. A callback may itself call tr_ask_callback.
 */
#define tr_ask_callback(client, callback, context, to, ...)                                        \
    TR_ASK_CALLBACK_(client, callback, context, 0, to, __VA_ARGS__, )

/**
 * Sends a request as tr_ask_callback does, with a timeout. If the timeout is negative, the outcome
 * is TR_TIMEOUT at once.
 * Client's thread. Does not wait.
 */
#define tr_ask_callback_within(client, timeout_ns, callback, context, to, ...)                     \
    TR_ASK_CALLBACK_(client, callback, context, timeout_ns, to, __VA_ARGS__, )

/**
 * Declares `name` for tr_ask_callback: the request, the type that the context points to (`void` for
 * any), and the function, void function(context *, const request_answer *).
 * At file scope.
 *
 * The answer has the members of TR_THEN: status, reply (NULL unless the status is TR_OK), why and
 * context. It is borrowed until the function returns.
 */
#define TR_CALLBACK(name, request, context, function) TR_CALLBACK_(name, request, context, function)

/** What TR_CALLBACK defines: a callback for tr_ask_callback. */
typedef struct tr_callback {
    const tr_type *type; /* type of the request */
    void (*call)(void *context, const tr_answer *answer);
} tr_callback;

TR_BEGIN_C
/**
 * Calls the callbacks whose asks have an outcome, in the order of the outcomes. If no ask has an
 * outcome yet, waits at most `wait_ns` for the first outcome. If `wait_ns` is 0, does not wait.
 * Client's thread. May wait.
 *
 * Returns how many callbacks were called. Returns 0 if no ask had an outcome in time, and returns 0
 * at once if there is no ask with a callback. A callback may do all that the client's thread may
 * do. It may call tr_client_poll, but must not free the client.
 */
size_t tr_client_poll(tr_client *client, tr_time wait_ns);

/**
 * Returns a descriptor for a loop (poll, epoll, libuv). It is readable while there is something to
 * do for the client.
 * Client's thread. Does not wait.
 *
 * There is something to do if an ask with a callback has an outcome (also a timeout), if a message
 * has arrived and was not received, or if the system has ended. So a loop waits for the descriptor
 * without a timeout, and then calls tr_client_poll(client, 0) and tr_receive(client, ..., 0) until
 * it returns NULL.
 *
 * A message keeps the descriptor readable until it is received, or until the second tr_client_poll
 * after its arrival. So a message of a type that the loop never receives does not keep the
 * descriptor readable forever. A loop may poll and receive in any order and misses no message. A
 * loop that receives all messages need not call tr_client_poll. The descriptor may once be readable
 * although there is nothing to do.
 *
 * Returns -1 if there is no descriptor: the client is in a kit, or the process has no descriptor
 * left. The descriptor is borrowed until the client is freed; do not read from it.
 */
int tr_client_fd(tr_client *client);
/**
 * Returns in how many nanoseconds tr_client_poll has something to do even if no message comes.
 * Returns 0 if there is something to do now, and TR_NEVER if there is nothing to do until a message
 * comes. A loop that does not use the descriptor needs this function. Client's thread. Does not
 * wait.
 */
tr_time tr_client_timeout(tr_client *client);

/** See tr_ask_callback. timeout_ns is as in tr_self_ask. Client's thread. Does not wait. */
TR_MUST_CHECK tr_status tr_client_ask_callback(tr_client *client, const tr_callback *callback,
                                               void *context, tr_ref to, const void *message,
                                               tr_time timeout_ns);
TR_END_C

#include <troupe/detail/callback.h>

#endif
