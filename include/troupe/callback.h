/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Requests of threads that have a loop of their own and do not want to block: asks with a callback.
 *
 *     static void on_left(struct session *session, const withdraw_answer *answer)
 *     {
 *         if (answer->status == TR_OK)
 *             session->cents = answer->reply->cents;
 *     }
 *     TR_CALLBACK(left, withdraw, struct session, on_left);
 *     ...
 *     status = tr_ask_callback(client, left, session, alice, withdraw, .cents = 5);
 *     ...
 *     tr_client_poll(client, TR_SECOND);
 *
 * A callback runs on the client's own thread, inside tr_client_poll, and nowhere else; so it needs no
 * lock for what that thread owns, and may take as long as it likes. Each is called exactly once, with
 * one of the outcomes of ask.h: a reply or an error, TR_TIMEOUT at its deadline, TR_STOPPED when the
 * system has ended, and TR_CANCELLED out of tr_client_free when the client ends first.
 *
 * Who would rather hold on to an ask uses tr_ask, and tr_is_answered to look or tr_try_await to wait.
 */
#ifndef TROUPE_CALLBACK_H
#define TROUPE_CALLBACK_H

#include <troupe/ask.h>

/**
 * Sends a request and returns at once, with a tr_status: TR_OK, and the callback will be called;
 * TR_NO_MEMORY, TR_INVALID_ARGUMENT, TR_LIMIT (TR_CLIENT_ASKS_MAX), or TR_STOPPING (inside
 * tr_client_free), and it never will.
 *
 * Whatever else goes wrong is the outcome of the ask; where there is no room in a mailbox that is
 * TR_MAILBOX_FULL, since this does not wait. `context` is the pointer that the callback gets; what it
 * points to must be there then. Of a client, on its thread, also inside a callback.
 */
#define tr_ask_callback(client, callback, context, to, ...)                                        \
    TR_ASK_CALLBACK_(client, callback, context, 0, to, __VA_ARGS__)

/** As tr_ask_callback, with a timeout of its own: negative is over at once. */
#define tr_ask_callback_within(client, timeout_ns, callback, context, to, ...)                     \
    TR_ASK_CALLBACK_(client, callback, context, timeout_ns, to, __VA_ARGS__)

/**
 * Declares `name` for tr_ask_callback: the request, what the context points to (`void` if anything),
 * and the function, void function(context *, const request_answer *). The answer, as in tr_ask_then,
 * has status, reply (NULL unless TR_OK), why and context; it is borrowed until the function returns.
 */
#define TR_CALLBACK(name, request, context, function) TR_CALLBACK_(name, request, context, function)

/** What TR_CALLBACK makes. */
typedef struct tr_callback {
    const tr_type *type; /* of the request */
    void (*call)(void *context, const tr_answer *answer);
} tr_callback;

TR_BEGIN_C
/**
 * Calls the callbacks whose asks have ended, in the order of their ends, having waited for the first at
 * most `wait_ns` (0: not at all). Returns how many it called: 0 when none has ended in time, and at
 * once when there is none to wait for. A callback may do all that its thread may, another
 * tr_client_poll too, but not free the client.
 */
size_t tr_client_poll(tr_client *client, tr_time wait_ns);

/**
 * For a loop of one's own (poll, epoll, libuv): a descriptor that is readable while there is news for the
 * client: an ask with a callback has ended, by its timeout too; a message has arrived that was not
 * received; the system has ended. So a loop waits for it without a time limit:
 *
 *     poll(fds, count, -1);
 *     tr_client_poll(client, 0);
 *     while ((item = tr_receive(client, news_item, 0)) != NULL)
 *         ...
 *
 * A message is news until it is received, or until the second tr_client_poll after it arrived: so
 * messages of types for which the loop does not ask do not keep the descriptor readable, and in
 * whatever order a loop polls and receives it misses none. A loop that receives all that comes need not
 * call tr_client_poll. Now and then the descriptor is readable for nothing, once.
 *
 * -1: there is none (in a kit, or the process has no descriptor left). Borrowed until the client is
 * freed; do not read from it. The client's thread.
 */
int tr_client_fd(tr_client *client);
/**
 * For a loop that does not use the descriptor: nanoseconds until tr_client_poll has something to do without
 * a message: 0: now; TR_NEVER.
 */
tr_time tr_client_timeout(tr_client *client);

/* ---- What the macros above call. ---- */

/** timeout_ns as tr_client_ask. */
TR_MUST_CHECK tr_status tr_client_ask_callback(tr_client *client, const tr_callback *callback,
                                               void *context, tr_ref to, const void *message,
                                               tr_time timeout_ns);
TR_END_C

#include <troupe/detail/callback.h>

#endif
