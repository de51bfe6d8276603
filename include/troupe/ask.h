/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Requests and replies, as plain C in the middle of a function.
 *
 *     const struct balance *left = tr_await(self, tr_ask(self, alice, withdraw, .cents = 5));
 *
 * A turn that waits is still one turn: its locals, its message, its scratch memory and the replies it
 * got are there until it ends. Its actor goes on meanwhile and handles other messages, so its state
 * may have changed when an await returns; a handler that cannot have that is marked
 * TR_ON(transfer, on_transfer, .is_barrier = true): no other request or message begins before it has
 * ended; with TR_ON_BARRIER_IF that is so for some messages. Nothing that belongs to the thread (a
 * lock, errno, the rounding mode) may be held over an await.
 *
 * Every ask has exactly one outcome, in every race: its reply, or one of
 *     TR_REFUSED      the other side said no (tr_refuse): code and words are in tr_ask_error
 *     TR_FAILED       its handler failed; of a durable actor whose data could not be stored or
 *                     read it is the status of the store, TR_STORE_FULL and so on
 *     TR_TIMEOUT      no answer in time: TR_ASK_NS, or what tr_ask_within said, and never later than the
 *                     request that this turn is about
 *     TR_STOPPED      it has stopped, or stopped before it answered
 *     TR_RESTARTED    it was restarted before it answered
 *     TR_NO_REPLY     its handler ended without a reply, or it is a client, which answers no requests
 *     TR_UNHANDLED    it does not know this request
 *     TR_MAILBOX_FULL there was no room for the request
 *     TR_ASK_CYCLE    it waits, as a barrier, for this very turn: the path is in tr_ask_error
 *     TR_CANCELLED    this actor is itself about to stop or to be restarted
 *     TR_NO_MEMORY, TR_TOO_LARGE: the request could not be sent
 *     TR_LIMIT        of a client: TR_CLIENT_ASKS_MAX of its asks were never awaited
 * A reply that comes after the outcome is a dead letter. So is one that was sent after the deadline, to
 * the millisecond, also when a client looks at it only then.
 *
 * An ask belongs to its turn: when that ends, nobody waits for the reply any more. Waiting is
 * possible in the handlers of messages and timers; in a set-up, tr_pre_start, tr_post_stop, a cleaner
 * or a defer it is TR_NOT_IN_A_TURN.
 */
#ifndef TROUPE_ASK_H
#define TROUPE_ASK_H

#include <troupe/self.h>

/** A request that is answered later; all zero is none. See tr_reply_later. */
typedef struct tr_later {
    uint64_t number;
} tr_later;

/**
 * Sends a request and returns at once, with a `withdraw_ask` to await:
 *     withdraw_ask asked = tr_ask(self, alice, withdraw, .cents = 5);
 *
 * What goes wrong is the outcome of the ask. From a client too.
 */
#define tr_ask(from, to, ...) TR_ASK_(from, 0, to, __VA_ARGS__)

/** As tr_ask, with a timeout of its own: tr_ask_within(self, 2 * TR_SECOND, alice, get_balance). */
#define tr_ask_within(from, timeout_ns, to, ...) TR_ASK_(from, timeout_ns, to, __VA_ARGS__)

/**
 * Waits for the reply and gives it, a `const struct balance *`, borrowed until the turn ends.
 *
 * Never NULL: without a reply the turn ends here. When the other side refused, this turn refuses in
 * the same words and its actor is well; anything else fails the turn.
 */
#define tr_await(self, ask) TR_AWAIT_(self, ask)

/**
 * Waits and says how it ended: TR_OK, and *reply is set; or one of the outcomes above, and tr_ask_error has
 * the words. TR_INVALID_ARGUMENT: an ask of another turn, or none. `reply` may be NULL.
 *
 * On a client's thread, which it blocks, the reply is borrowed until the next call on that client.
 */
#define tr_try_await(from, ask, reply)                                                             \
    (TR_AT_(from), TR_SPEAKER_(from, try_await)(from, (ask).any, TR_REPLY_OUT_(ask, reply)))

/**
 * Waits until all of these have ended: tr_await_all(self, a, b, c). TR_OK when all were answered,
 * else the outcome of the first, in this order, that was not. Then tr_try_await does not wait.
 */
#define tr_await_all(self, ...) TR_AWAIT_MANY_(all, self, __VA_ARGS__)
/**
 * Waits until one of these has ended and writes its index: tr_await_any(self, &first, a, b, c), with a
 * `size_t first`. One that had ended before counts, the first of them. TR_OK, whatever its outcome;
 * TR_CANCELLED, TR_NOT_IN_A_TURN, TR_INVALID_ARGUMENT, TR_NO_MEMORY.
 */
#define tr_await_any(self, index, ...) TR_AWAIT_ANY_(self, index, __VA_ARGS__)

/**
 * How an ask ended, with its story: a `const tr_error *`, borrowed until the turn ends. Of a client: of
 * the ask that it waited for last, borrowed until the next call on that client.
 */
#define tr_ask_error(from, ask) TR_SPEAKER_(from, ask_error)(from, (ask).any)

/**
 * Ends the turn as tr_await would have: return tr_give_up(self, asked); For the outcomes of
 * tr_try_await that a handler does not care to handle.
 */
#define tr_give_up(self, ask) tr_self_give_up(self, (ask).any)

/** Answers a request that was put off: tr_reply_to(self, later, balance, .cents = 5). */
#define tr_reply_to(self, later, ...) TR_REPLY_TO_(self, later, __VA_ARGS__)

/**
 * Sends a request and returns at once; when it has ended, a function is called as a turn of this actor:
 *
 *     static tr_next on_left(tr_self *self, struct teller *teller, const withdraw_answer *answer)
 *     {
 *         if (answer->status == TR_OK)
 *             teller->cents = answer->reply->cents;
 *         return TR_SAME;
 *     }
 *     TR_THEN(left, withdraw, struct teller, on_left);
 *     ...
 *     tr_ask_then(self, left, NULL, alice, withdraw, .cents = 5);
 *
 * For an actor that would rather go on than wait. `context`, a `void *`, comes back in the answer; what
 * it points to must be there then: memory of tr_alloc, or of the state. The function is called exactly
 * once, never before this turn has waited or ended, in the order of outcomes and before other messages;
 * unless the actor ends before, or has become a behavior with another state (then it is a dead letter).
 * A poison pill waits for it. It is a turn like any other: it may await, fail, become, and its result
 * counts. The answer and its reply are borrowed until it ends.
 *
 * Where tr_await could not wait this can ask: in a set-up and tr_pre_start too. A mailbox without
 * room is the outcome TR_MAILBOX_FULL at once. tr_ask_then ends the turn when it cannot remember
 * the ask; tr_try_ask_then says why: TR_NO_MEMORY, TR_CANCELLED, TR_STOPPING (in tr_post_stop),
 * TR_INVALID_ARGUMENT.
 */
#define tr_ask_then(self, then, context, to, ...)                                                  \
    TR_ASK_THEN_(ask_then, self, then, context, 0, to, __VA_ARGS__)
/** As tr_ask_then, and returns in any case. */
#define tr_try_ask_then(self, then, context, to, ...)                                              \
    TR_ASK_THEN_(try_ask_then, self, then, context, 0, to, __VA_ARGS__)
/** As tr_ask_then, with a timeout of its own. */
#define tr_ask_then_within(self, timeout_ns, then, context, to, ...)                               \
    TR_ASK_THEN_(ask_then, self, then, context, timeout_ns, to, __VA_ARGS__)
/**
 * Declares `name` for tr_ask_then: the request, the state of the actors that ask, and the function.
 * Its parameters are those of a handler, (tr_self *, state *, const request_answer *), any of which may
 * be left out. The answer has
 *     status   TR_OK, or one of the outcomes above
 *     reply    a `const struct balance *`; NULL unless TR_OK
 *     why      the story, as tr_ask_error gives it
 *     context  what tr_ask_then was given
 */
#define TR_THEN(name, request, state, handler) TR_THEN_(name, request, state, handler)

/**
 * Whether an ask has ended, so that tr_try_await would not wait. Of a client's ask too: for a thread
 * that has a loop of its own and looks now and then.
 */
#define tr_is_answered(from, ask) TR_SPEAKER_(from, is_answered)(from, (ask).any)

/** How a request of any type ended. */
typedef struct tr_answer {
    tr_status status;
    const void *reply;
    const tr_error *why;
    void *context;
} tr_answer;

/** What TR_THEN makes. */
typedef struct tr_then {
    const char *state_name;
    size_t state_size;
    tr_handler handler; /* its type is the request's */
} tr_then;

/**
 * Waits for this long; others' messages are handled meanwhile: tr_sleep(self, TR_SECOND). TR_OK, or as tr_await_any;
 * TR_INVALID_ARGUMENT for a negative time.
 */
#define tr_sleep(self, ns) tr_self_sleep(self, ns, TR_HERE_)

TR_BEGIN_C
/**
 * Says no to the request of this turn: return tr_refuse(self, NO_FUNDS, "only %d left", n); The actor
 * is well; who asked gets TR_REFUSED with this code and these words, which are cut as those of
 * tr_fail. Gives TR_SAME. Of a message that nobody asked it is a line of the log.
 */
tr_next tr_refuse(tr_self *self, int code, const char *format, ...) TR_PRINTF(3, 4);

/**
 * Puts the reply off: the request of this turn is answered by tr_reply_to, in a later turn. Until then,
 * or its timeout, or the end of this actor, who asked waits. All zero when there is nothing to answer,
 * or no memory to keep it in (who asked is then told TR_NO_MEMORY).
 */
tr_later tr_reply_later(tr_self *self);

/* ---- What the macros above call. ---- */

/** timeout_ns 0: TR_ASK_NS. Negative: over at once. */
tr_pending tr_self_ask(tr_self *self, tr_ref to, const tr_type *type, const void *message,
                       tr_time timeout_ns);
TR_MUST_CHECK tr_status tr_self_try_await(tr_self *self, tr_pending ask, const void **reply);
const void *tr_self_await(tr_self *self, tr_pending ask) TR_NON_NULL;
TR_MUST_CHECK tr_status tr_self_await_all(tr_self *self, const tr_pending *asks, size_t count);
TR_MUST_CHECK tr_status tr_self_await_any(tr_self *self, size_t *index, const tr_pending *asks,
                                          size_t count);
const tr_error *tr_self_ask_error(tr_self *self, tr_pending ask) TR_NON_NULL;
/** `where` is the file and line of the wait, a constant; NULL: not known. */
tr_status tr_self_sleep(tr_self *self, tr_time ns, const char *where);
TR_MUST_RETURN tr_next tr_self_give_up(tr_self *self, tr_pending ask);
/** TR_OK, TR_NOT_FOUND (answered already, or none), TR_WRONG_TYPE, and all that tr_tell gives. */
tr_status tr_self_reply_to(tr_self *self, tr_later later, const tr_type *type, const void *message);

/** Notes where the next wait stands, for the story of a timeout: "bank.c:33", a constant. */
void tr_self_at(tr_self *self, const char *where);
/** Does nothing. */
void tr_client_at(tr_client *client, const char *where);

tr_pending tr_client_ask(tr_client *client, tr_ref to, const tr_type *type, const void *message,
                         tr_time timeout_ns);
TR_MUST_CHECK tr_status tr_client_try_await(tr_client *client, tr_pending ask, const void **reply);
const tr_error *tr_client_ask_error(tr_client *client, tr_pending ask) TR_NON_NULL;

void tr_self_ask_then(tr_self *self, const tr_then *then, void *context, tr_ref to,
                      const void *message, tr_time timeout_ns);
TR_MUST_CHECK tr_status tr_self_try_ask_then(tr_self *self, const tr_then *then, void *context,
                                             tr_ref to, const void *message, tr_time timeout_ns);
/** In a turn of tr_ask_then: its answer. */
tr_answer tr_self_answer(tr_self *self);
bool tr_self_is_answered(tr_self *self, tr_pending ask);
bool tr_client_is_answered(tr_client *client, tr_pending ask);
TR_END_C

#include <troupe/detail/ask.h>

#endif
