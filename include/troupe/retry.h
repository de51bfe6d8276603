/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Retry policies for alarms (alarm.h) and items of queues (queue.h): how often a failed attempt is
 * repeated, and after which delays.
 *
 * ```c
 * #include <troupe/troupe.h>
 *
 * TR_REQUEST(open_account, tr_done);
 * TR_MESSAGE(bill);
 * TR_ACTOR(account, open_account, bill);
 * TR_MESSAGE(account_state, (u64, billed));
 *
 * static tr_next on_open_account(tr_self *self)
 * {
 *     tr_alarm_every(self, "bill", 24 * TR_HOUR, bill);
 *     return tr_reply(self, tr_done);
 * }
 *
 * static tr_next on_bill(struct account_state *account)
 * {
 *     account->billed++;
 *     return TR_SAME;
 * }
 *
 * TR_BEHAVIOR(account, struct account_state, TR_ON(open_account, on_open_account),
 *             TR_ON(bill, on_bill));
 * TR_DURABLE(account, account_state, .alarm_retry = {.attempts = 5, .first_ns = TR_MINUTE});
 *
 * static tr_next on_args(tr_self *self)
 * {
 *     tr_await(self, tr_ask(self, tr_durable(self, account, "anna"), open_account));
 *     return TR_STOP;
 * }
 *
 * TR_BEHAVIOR(shop, void, TR_ON(tr_args, on_args));
 *
 * int main(int argc, char **argv)
 * {
 *     return tr_app_main(argc, argv, shop, .durable = TR_DURABLES(account));
 * }
 * ```
 */
#ifndef TROUPE_RETRY_H
#define TROUPE_RETRY_H

#include <troupe/limits.h>
#include <troupe/ref.h>

#include <stdint.h>

/**
 * A retry policy. A member that is zero has its default. The first delay is first_ns. Each further
 * delay is twice as long as the one before, at most longest_ns. Up to a quarter is added to each
 * delay at random.
 */
typedef struct tr_retry {
    /* number of attempts, the first included; 0: TR_RETRY_ATTEMPTS; 1: no retry */
    uint32_t attempts TR_ZERO;
    tr_time first_ns TR_ZERO;   /* 0: TR_RETRY_FIRST_NS */
    tr_time longest_ns TR_ZERO; /* 0: TR_RETRY_LONGEST_NS */
} tr_retry;

#endif
