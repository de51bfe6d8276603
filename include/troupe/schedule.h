/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Schedules of a system: messages and calls that happen later, once or repeatedly.
 *
 * ```c
 * #include <troupe/troupe.h>
 *
 * TR_MESSAGE(tick);
 * TR_ACTOR(clock, tick);
 *
 * static tr_next on_args(tr_self *self)
 * {
 *     clock_ref me = clock_ref_of(tr_me(self));
 *     tr_status status =
 *         tr_schedule_once(tr_system_of(self), NULL, 10 * TR_MILLISECOND, me, tick);
 *     return status == TR_OK ? TR_SAME : tr_fail(self, status, "no schedule");
 * }
 *
 * static tr_next on_tick(void)
 * {
 *     return TR_STOP;
 * }
 *
 * TR_BEHAVIOR(clock, void, TR_ON(tr_args, on_args), TR_ON(tick, on_tick));
 *
 * int main(int argc, char **argv)
 * {
 *     return tr_app_main(argc, argv, clock);
 * }
 * ```
 *
 * For what concerns one actor only, use its timers (tr_timer_once): they end with the actor, and
 * their message can be removed from the mailbox.
 *
 * Schedules are as exact as timers: never early, and jumps of the wall clock do not move them.
 * Schedules that are due at the same time fire in the order in which they were made. They neither
 * keep a system alive nor delay its end: a schedule that has not fired when a shutdown begins never
 * does.
 */
#ifndef TROUPE_SCHEDULE_H
#define TROUPE_SCHEDULE_H

#include <troupe/limits.h>
#include <troupe/self.h>

/** Names a schedule. All zero: none. It may be copied. */
typedef struct tr_schedule {
    uint64_t number;
} tr_schedule;

/**
 * The function of tr_schedule_call. It is called as a turn of an actor of its own, so it may use
 * every verb. TR_STOP ends the schedule, and so does a failure, which concerns no other actor. With
 * any other result the schedule continues.
 */
typedef tr_next tr_schedule_function(tr_self *self, void *argument);

/**
 * Sends a message once, after `delay_ns`:
 *     tr_schedule_once(system, &schedule, TR_SECOND, to, deposit, .amount = 5)
 * Any thread. Does not wait.
 *
 * The message is copied now and has no sender. *schedule, a `tr_schedule *` or NULL, is written on
 * TR_OK. TR_INVALID_ARGUMENT: a negative time, a period of 0, an argument is NULL; TR_STOPPED: the
 * receiver has stopped; TR_STOPPING: the system is stopping; TR_LIMIT (TR_SCHEDULES_MAX);
 * TR_TOO_LARGE, TR_NO_MEMORY. A message that cannot be delivered at its time is a dead letter. If
 * there is no memory for the message at that time, it is sent later.
 */
#define tr_schedule_once(system, schedule, delay_ns, to, ...)                                      \
    TR_SCHEDULE_(system, schedule, TR_TIMER_ONCE, delay_ns, to, __VA_ARGS__, )
/**
 * Sends a message at each period. Otherwise as tr_schedule_once.
 * Any thread. Does not wait.
 *
 * The times are on a grid that does not drift. Several missed ticks become one. The schedule ends
 * when the receiver has stopped. If the receiver is slower than the schedule, its messages
 * accumulate.
 */
#define tr_schedule_fixed_rate(system, schedule, period_ns, to, ...)                               \
    TR_SCHEDULE_(system, schedule, TR_TIMER_FIXED_RATE, period_ns, to, __VA_ARGS__, )
/**
 * Sends a message, and again each time that a period has passed since the last one was sent.
 * Otherwise as tr_schedule_fixed_rate.
 * Any thread. Does not wait.
 */
#define tr_schedule_fixed_delay(system, schedule, period_ns, to, ...)                              \
    TR_SCHEDULE_(system, schedule, TR_TIMER_FIXED_DELAY, period_ns, to, __VA_ARGS__, )

TR_BEGIN_C
/**
 * Calls a function instead of sending a message: each call is a turn of an actor of the schedule,
 * on worker 0.
 * Any thread. Does not wait.
 *
 * `argument` is borrowed until the schedule ends. With a fixed rate at most one turn waits; a fixed
 * delay counts from the end of the last turn. The statuses are those of tr_schedule_once; TR_LIMIT
 * also as in tr_try_spawn.
 */
TR_MUST_CHECK tr_status tr_schedule_call(tr_system *system, tr_schedule *schedule,
                                         tr_timer_kind kind, tr_time ns,
                                         tr_schedule_function *function, void *argument);

/**
 * Ends a schedule: it sends and calls nothing after this.
 * Any thread. Does not wait.
 *
 * TR_TIMER_CANCELLED: it had not fired, or would have fired again; a call that runs now finishes
 * its turn. TR_TIMER_TAKEN_BACK: its call was due and waited for its turn. TR_TIMER_NONE: no such
 * schedule, or it has ended.
 */
tr_timer_end tr_schedule_cancel(tr_system *system, tr_schedule schedule);

/** See tr_schedule_once. Any thread. Does not wait. */
TR_MUST_CHECK tr_status tr_system_schedule(tr_system *system, tr_schedule *schedule,
                                           tr_timer_kind kind, tr_time ns, tr_ref to,
                                           const tr_type *type, const void *message);
TR_END_C

#include <troupe/detail/schedule.h>

#endif
