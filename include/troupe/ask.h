/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Requests and replies: a handler asks another actor and waits for the reply, in plain C.
 *
 * ```c
 * #include <troupe/troupe.h>
 *
 * TR_MESSAGE(balance, (u64, cents));
 * TR_REQUEST(withdraw, balance, (u64, cents));
 * TR_ACTOR(account, withdraw);
 *
 * static tr_next on_withdraw(tr_self *self, const struct withdraw *message)
 * {
 *     if (message->cents > 100)
 *         return tr_refuse(self, 1, "only 100 cents are left");
 *     return tr_reply(self, balance, .cents = 100 - message->cents);
 * }
 *
 * TR_BEHAVIOR(account, void, TR_ON(withdraw, on_withdraw));
 *
 * static tr_next on_args(tr_self *self)
 * {
 *     account_ref alice = tr_spawn(self, account, "alice");
 *     const struct balance *left = tr_await(self, tr_ask(self, alice, withdraw, .cents = 5));
 *     withdraw_ask asked = tr_ask(self, alice, withdraw, .cents = left->cents + 6);
 *     if (tr_try_await(self, asked, &left) == TR_REFUSED)
 *         tr_log_info(self, "%s", tr_ask_error(self, asked)->text);
 *     return TR_STOP;
 * }
 *
 * TR_BEHAVIOR(bank, void, TR_ON(tr_args, on_args));
 *
 * int main(int argc, char **argv)
 * {
 *     return tr_app_main(argc, argv, bank);
 * }
 * ```
 *
 * A turn that waits is still one turn: its locals, its message, its scratch memory and the replies
 * it got stay valid until it ends. Meanwhile its actor handles other messages, so the state may
 * have changed when the wait ends. To prevent that, make the handler a barrier: TR_ON(transfer,
 * on_transfer, .is_barrier = true). Then the actor begins no other request or message before the
 * handler's turn has ended. With TR_ON_BARRIER_IF a handler is a barrier for some messages only. Do
 * not keep over a wait what belongs to the thread: a lock, errno, the rounding mode.
 *
 * Every ask has exactly one outcome: its reply, which is TR_OK, or one of
 *     TR_REFUSED      the receiver refused with tr_refuse; tr_ask_error has the code and the text
 *     TR_FAILED       the receiver's handler failed. If a durable actor could not store or read its
 *                     data, the outcome is the status of the store instead: TR_STORE_FULL and so on
 *     TR_TIMEOUT      no reply within TR_ASK_NS, or within the time of tr_ask_within. The ask also times out at the
 *                     deadline of the request that this turn handles, if that comes first
 *     TR_STOPPED      the receiver was stopped already, or stopped before it replied
 *     TR_RESTARTED    the receiver was restarted before it replied
 *     TR_NO_REPLY     the receiver's handler ended without a reply, or the receiver is a client,
 *                     which cannot reply
 *     TR_UNHANDLED    the receiver has no handler for this request
 *     TR_MAILBOX_FULL the receiver's mailbox is full
 *     TR_ASK_CYCLE    the receiver is in a barrier that waits for the asking turn, so neither could
 *                     end; tr_ask_error has the path
 *     TR_CANCELLED    the asking actor is about to stop or to be restarted, or called tr_ask_cancel
 *     TR_NO_MEMORY, TR_TOO_LARGE: the request could not be sent
 *     TR_LIMIT        the asker is a client, and TR_CLIENT_ASKS_MAX of its asks were never awaited
 * A reply that comes after the outcome is a dead letter. A reply that was sent after the deadline
 * is a dead letter too, even if the asker has not noticed the timeout yet. Deadlines are exact to
 * the millisecond.
 *
 * An ask belongs to its turn: when the turn ends, its reply is no longer awaited. A turn can wait
 * in the handlers of messages and timers. In a set-up, tr_pre_start, tr_post_stop, a function of
 * tr_at_end and a function of tr_defer, a wait ends at once with TR_NOT_IN_A_TURN.
 */
#ifndef TROUPE_ASK_H
#define TROUPE_ASK_H

#include <troupe/self.h>

/** A request that a later turn answers; see tr_reply_later. All zero: no request. */
typedef struct tr_later {
    uint64_t number;
} tr_later;

/**
 * Sends a request and returns a `withdraw_ask`, to be awaited:
 *     withdraw_ask asked = tr_ask(self, alice, withdraw, .cents = 5);
 * In a turn, or client's thread. May wait: as tr_tell does, only if the mailbox is full and has
 * TR_PARK.
 *
 * If something goes wrong, the outcome of the ask says so. The request is copied.
 */
#define tr_ask(from, to, ...) TR_ASK_(from, 0, to, __VA_ARGS__, )

/**
 * Sends a request as tr_ask does, with a timeout: tr_ask_within(self, 2 * TR_SECOND, alice,
 * get_balance).
 * In a turn, or client's thread. May wait: as tr_ask does.
 */
#define tr_ask_within(from, timeout_ns, to, ...) TR_ASK_(from, timeout_ns, to, __VA_ARGS__, )

/**
 * Waits for the reply and returns it, a `const struct balance *`, borrowed until the turn ends.
 * Never returns NULL. In a turn. May wait.
 *
 * Without a reply the turn ends here. If the outcome is TR_REFUSED, this turn refuses its own
 * request with the same code and text, and its actor does not fail. With any other outcome the turn
 * fails.
 */
#define tr_await(self, ask) TR_AWAIT_(self, ask)

/**
 * Waits for the outcome of an ask and returns it. On TR_OK *reply is set; otherwise tr_ask_error
 * has the text.
 * In a turn, or client's thread. May wait.
 *
 * TR_INVALID_ARGUMENT: `ask` belongs to another turn, or is no ask. `reply` may be NULL. For a
 * client the reply is borrowed until the next call on that client.
 */
#define tr_try_await(from, ask, reply)                                                             \
    (TR_AT_(from), TR_SPEAKER_(from, try_await)(from, (ask).any, TR_REPLY_OUT_(ask, reply)))

/**
 * Waits until all of these asks have an outcome: tr_await_all(self, a, b, c).
 * In a turn. May wait.
 *
 * Returns TR_OK if all were answered. Otherwise returns the outcome of the first argument whose ask
 * was not answered. Afterwards tr_try_await of any of these asks does not wait.
 */
#define tr_await_all(self, ...) TR_AWAIT_MANY_(all, self, __VA_ARGS__)
/**
 * Waits until one of these asks has an outcome, and writes its index: tr_await_any(self, &first, a,
 * b, c), with a `size_t first`.
 * In a turn. May wait.
 *
 * If several asks have an outcome already, the index is that of the first of them in this order.
 * Returns TR_OK if an ask has an outcome, whatever the outcome is; else TR_CANCELLED,
 * TR_NOT_IN_A_TURN, TR_INVALID_ARGUMENT or TR_NO_MEMORY.
 */
#define tr_await_any(self, index, ...) TR_AWAIT_ANY_(self, index, __VA_ARGS__)

/**
 * Waits as tr_await_all does, for an array of asks of one type, of any length: withdraw_ask
 * asked[8]; ... tr_await_all_of(self, asked, 8). With a `count` of 0, returns TR_OK at once.
 * In a turn. May wait.
 */
#define tr_await_all_of(self, asks, count) TR_AWAIT_ALL_OF_(self, asks, count)
/**
 * Waits as tr_await_any does, for an array of asks of one type: tr_await_any_of(self, &first,
 * asked, 8). To wait for the others afterwards, exchange asked[first] with the last ask of the
 * array and call again with a count of 7.
 * In a turn. May wait.
 */
#define tr_await_any_of(self, index, asks, count) TR_AWAIT_ANY_OF_(self, index, asks, count)

/**
 * Cancels an ask that has no outcome yet: its outcome is TR_CANCELLED, at once.
 * In a turn, or client's thread. Does not wait.
 *
 * The request itself is not cancelled: the receiver may handle it, and its reply is then a dead
 * letter. A client forgets the cancelled ask: tr_try_await of this ask then returns
 * TR_INVALID_ARGUMENT. Returns TR_OK; TR_NOT_FOUND: the ask has an outcome already, and keeps it;
 * TR_INVALID_ARGUMENT: `ask` belongs to another turn, or is no ask. The status may be ignored.
 */
#define tr_ask_cancel(from, ask) TR_SPEAKER_(from, ask_cancel)(from, (ask).any)

/**
 * Returns how an ask ended, a `const tr_error *`, borrowed until the turn ends.
 * In a turn, or client's thread. Does not wait.
 *
 * A client has the error of one ask only, which is the ask that it awaited last. This error is
 * borrowed until the next call on the client.
 */
#define tr_ask_error(from, ask) TR_SPEAKER_(from, ask_error)(from, (ask).any)

/**
 * Makes the turn end as tr_await would end it: return tr_give_up(self, asked);
 * In a turn. Does not wait.
 *
 * Use it for outcomes of tr_try_await that the handler does not handle itself. Returns what the
 * handler must return.
 */
#define tr_give_up(self, ask) tr_self_give_up(self, (ask).any)

/**
 * Answers a request of an earlier turn: tr_reply_to(self, later, balance, .cents = 5).
 * In a turn. Does not wait.
 *
 * TR_OK; TR_NOT_FOUND: the request was answered before, or `later` is no request; TR_WRONG_TYPE:
 * the request declares another reply; and all statuses of tr_tell.
 */
#define tr_reply_to(self, later, ...) TR_REPLY_TO_(self, later, __VA_ARGS__, )

/**
 * Sends a request; when it has an outcome, a function is called as a turn of this actor.
 * In a turn. Does not wait.
 *
 * ```c
 * struct teller {
 *     uint64_t cents;
 * };
 * static tr_next on_left(tr_self *self, struct teller *teller, const withdraw_answer *answer)
 * {
 *     if (answer->status == TR_OK)
 *         teller->cents = answer->reply->cents;
 *     return teller->cents ? TR_SAME : tr_fail(self, TR_FAILED, "no money");
 * }
 * TR_THEN(left, withdraw, struct teller, on_left);
 *
 * static tr_next on_start(tr_self *self, const account_ref *alice)
 * {
 *     tr_ask_then(self, left, NULL, *alice, withdraw, .cents = 5);
 *     return TR_SAME;
 * }
 * ```
 *
 * The actor can do something else meanwhile. `context`, a `void *`, is a member of the answer. What
 * it points to must still be valid when the function is called: use memory of tr_alloc or of the
 * state. The function is called once. The call comes after the ask has its outcome, at the earliest
 * when this turn waits or has ended, and before the actor handles other messages. Several functions
 * are called in the order of the outcomes. If the actor has ended, or has become a behavior with
 * another state type, the function is not called, and the answer is a dead letter. A poison pill
 * stops the actor only after the function was called. The call is a turn like any other: the
 * function may await, fail and become, and its result counts. The answer and its reply are borrowed
 * until the function returns.
 *
 * tr_ask_then may also be called where a turn cannot wait: in a set-up and in tr_pre_start. If the
 * receiver's mailbox is full, the outcome is TR_MAILBOX_FULL, also with TR_PARK. If the ask cannot
 * be made, tr_ask_then ends the turn with a status of tr_try_ask_then.
 */
#define tr_ask_then(self, then, context, to, ...)                                                  \
    TR_ASK_THEN_(ask_then, self, then, context, 0, to, __VA_ARGS__, )
/**
 * Sends a request as tr_ask_then does, but returns a status instead of ending the turn.
 * In a turn. Does not wait.
 *
 * TR_OK; TR_NO_MEMORY; TR_CANCELLED; TR_STOPPING, which means that the turn is tr_post_stop;
 * TR_INVALID_ARGUMENT. The function is called only if the status is TR_OK.
 */
#define tr_try_ask_then(self, then, context, to, ...)                                              \
    TR_ASK_THEN_(try_ask_then, self, then, context, 0, to, __VA_ARGS__, )
/** Sends a request as tr_ask_then does, with a timeout. In a turn. Does not wait. */
#define tr_ask_then_within(self, timeout_ns, then, context, to, ...)                               \
    TR_ASK_THEN_(ask_then, self, then, context, timeout_ns, to, __VA_ARGS__, )
/**
 * Declares `name` for tr_ask_then: the request, the state of the actors that ask, and the function.
 * At file scope.
 *
 * The function has the parameters of a handler, (tr_self *, state *, const request_answer *), and
 * may leave out any of them. The answer has
 *     status   TR_OK, or one of the outcomes above
 *     reply    a `const struct balance *`; NULL unless TR_OK
 *     why      the error, as tr_ask_error returns it
 *     context  what tr_ask_then was given
 */
#define TR_THEN(name, request, state, handler) TR_THEN_(name, request, state, handler)

/**
 * Returns whether an ask has its outcome. If it has, tr_try_await does not wait.
 * In a turn, or client's thread. Does not wait.
 */
#define tr_is_answered(from, ask) TR_SPEAKER_(from, is_answered)(from, (ask).any)

/** How a request of any type ended. TR_THEN explains the members. */
typedef struct tr_answer {
    tr_status status;
    const void *reply;
    const tr_error *why;
    void *context;
} tr_answer;

/** What TR_THEN defines: the function for the answers of tr_ask_then. */
typedef struct tr_then {
    const char *state_name;
    size_t state_size;
    tr_handler handler; /* its type is the type of the request */
} tr_then;

/**
 * Waits for this long: tr_sleep(self, TR_SECOND). The actor handles other messages meanwhile.
 * In a turn. May wait.
 *
 * TR_OK; TR_INVALID_ARGUMENT: a negative time; TR_CANCELLED, TR_NOT_IN_A_TURN, TR_NO_MEMORY.
 */
#define tr_sleep(self, ns) tr_self_sleep(self, ns, TR_HERE_)

TR_BEGIN_C
/**
 * Refuses the request of this turn: return tr_refuse(self, NO_FUNDS, "only %d left", n);
 * In a turn. Does not wait.
 *
 * Returns TR_SAME. The actor does not fail. The ask ends with TR_REFUSED, this code and this text.
 * A text that is longer than tr_error.text is cut. If the message came by tr_tell, nobody gets the
 * refusal, and it is written to the log.
 */
tr_next tr_refuse(tr_self *self, int code, const char *format, ...) TR_PRINTF(3, 4);

/**
 * Puts the reply off: a later turn answers the request of this turn with tr_reply_to.
 * In a turn. Does not wait.
 *
 * The asker waits until that reply, until the timeout of its ask, or until this actor ends. Returns
 * all zero if this turn has no request to answer. If there is no memory, also returns all zero, and
 * the ask ends with TR_NO_MEMORY.
 */
tr_later tr_reply_later(tr_self *self);

/* ---- The functions behind the macros, for bindings and generated code. ---- */

/**
 * These are the functions of the macros above: tr_self_ask is tr_ask with a timeout. A timeout_ns
 * of 0 means TR_ASK_NS; with a negative one the outcome is TR_TIMEOUT at once. Each function has
 * the statuses and the ownership of its macro. In a turn. May wait: as its macro does.
 */
tr_pending tr_self_ask(tr_self *self, tr_ref to, const tr_type *type, const void *message,
                       tr_time timeout_ns);
TR_MUST_CHECK tr_status tr_self_try_await(tr_self *self, tr_pending ask, const void **reply);
const void *tr_self_await(tr_self *self, tr_pending ask) TR_NON_NULL;
TR_MUST_CHECK tr_status tr_self_await_all(tr_self *self, const tr_pending *asks, size_t count);
TR_MUST_CHECK tr_status tr_self_await_any(tr_self *self, size_t *index, const tr_pending *asks,
                                          size_t count);
const tr_error *tr_self_ask_error(tr_self *self, tr_pending ask) TR_NON_NULL;
/** See tr_ask_cancel. In a turn. Does not wait. */
tr_status tr_self_ask_cancel(tr_self *self, tr_pending ask);
/**
 * See tr_sleep. `where` is a constant text with the file and line of the call, or NULL if they are
 * not known. In a turn. May wait.
 */
tr_status tr_self_sleep(tr_self *self, tr_time ns, const char *where);
/** See tr_give_up. In a turn. Does not wait. */
TR_MUST_RETURN tr_next tr_self_give_up(tr_self *self, tr_pending ask);
/** See tr_reply_to. In a turn. Does not wait. */
tr_status tr_self_reply_to(tr_self *self, tr_later later, const tr_type *type, const void *message);

/**
 * Notes the place of the next wait, "bank.c:33", which the error of a timeout names. `where` is a
 * constant text.
 * In a turn. Does not wait.
 */
void tr_self_at(tr_self *self, const char *where);
/**
 * Does nothing. The macros call it for a client, where they call tr_self_at for a handler. Client's
 * thread. Does not wait.
 */
void tr_client_at(tr_client *client, const char *where);

/**
 * These are the functions of the macros above for a client: tr_client_ask is tr_ask with a timeout,
 * as tr_self_ask is. Client's thread. May wait: as its macro does.
 */
tr_pending tr_client_ask(tr_client *client, tr_ref to, const tr_type *type, const void *message,
                         tr_time timeout_ns);
TR_MUST_CHECK tr_status tr_client_try_await(tr_client *client, tr_pending ask, const void **reply);
const tr_error *tr_client_ask_error(tr_client *client, tr_pending ask) TR_NON_NULL;
/** See tr_ask_cancel. Client's thread. Does not wait. */
tr_status tr_client_ask_cancel(tr_client *client, tr_pending ask);

/** These are the functions of tr_ask_then and tr_try_ask_then. In a turn. Does not wait. */
void tr_self_ask_then(tr_self *self, const tr_then *then, void *context, tr_ref to,
                      const void *message, tr_time timeout_ns);
TR_MUST_CHECK tr_status tr_self_try_ask_then(tr_self *self, const tr_then *then, void *context,
                                             tr_ref to, const void *message, tr_time timeout_ns);
/** Returns the answer for which a function of TR_THEN is called. In a turn. Does not wait. */
tr_answer tr_self_answer(tr_self *self);
/** See tr_is_answered. In a turn. Does not wait. */
bool tr_self_is_answered(tr_self *self, tr_pending ask);
/** See tr_is_answered. Client's thread. Does not wait. */
bool tr_client_is_answered(tr_client *client, tr_pending ask);
TR_END_C

#include <troupe/detail/ask.h>

#endif
