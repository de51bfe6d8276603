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
 * Schedules that are due at the same time fire in the order in which they were made. Schedules
 * neither keep a system alive nor delay its end: a schedule that has not fired when a shutdown
 * begins never fires.
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
 * The function of tr_schedule_call. Each call is a turn of an actor that belongs to the schedule,
 * so the function may call everything that a handler may. If it returns TR_STOP or fails, the
 * schedule ends; such a failure concerns no other actor. With any other result the schedule
 * continues.
 */
typedef tr_next tr_schedule_function(tr_self *self, void *argument);

/**
 * Sends a message once, after `delay_ns`:
 *     tr_schedule_once(system, &schedule, TR_SECOND, to, deposit, .amount = 5)
 * Any thread. Does not wait.
 *
 * The message is copied at the call and has no sender. On TR_OK writes *schedule; `schedule`, a
 * `tr_schedule *`, may be NULL. TR_INVALID_ARGUMENT: the time is negative, the period is 0, or an
 * argument is NULL; TR_STOPPED: the receiver has stopped; TR_STOPPING: the system is stopping;
 * TR_LIMIT (TR_SCHEDULES_MAX); TR_TOO_LARGE, TR_NO_MEMORY. A message that cannot be delivered at
 * its time is a dead letter. If there is no memory for the message at that time, it is sent later.
 */
#define tr_schedule_once(system, schedule, delay_ns, to, ...)                                      \
    TR_SCHEDULE_(system, schedule, TR_TIMER_ONCE, delay_ns, to, __VA_ARGS__, )
/**
 * Sends a message at the end of each period. Otherwise as tr_schedule_once.
 * Any thread. Does not wait.
 *
 * The times are multiples of the period from the start on, so they do not drift. If several times
 * were missed, one message is sent for all of them. The schedule ends when the receiver has
 * stopped. If the receiver is slower than the schedule, messages accumulate in its mailbox.
 */
#define tr_schedule_fixed_rate(system, schedule, period_ns, to, ...)                               \
    TR_SCHEDULE_(system, schedule, TR_TIMER_FIXED_RATE, period_ns, to, __VA_ARGS__, )
/**
 * Sends a message repeatedly, each time when a period has passed since the last message was sent.
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
 * `argument` is borrowed until the schedule ends. With a fixed rate at most one turn waits to run;
 * a fixed delay counts from the end of the last turn. The statuses are those of tr_schedule_once;
 * TR_LIMIT also has the reasons of tr_try_spawn.
 */
TR_MUST_CHECK tr_status tr_schedule_call(tr_system *system, tr_schedule *schedule,
                                         tr_timer_kind kind, tr_time ns,
                                         tr_schedule_function *function, void *argument);

/**
 * Ends a schedule, which then sends and calls nothing more.
 * Any thread. Does not wait.
 *
 * Returns TR_TIMER_CANCELLED if the schedule had not fired, or would have fired again; a call that
 * runs now finishes its turn. Returns TR_TIMER_TAKEN_BACK if a call was due and waited for its
 * turn. Returns TR_TIMER_NONE if there is no such schedule, or if it has ended.
 */
tr_timer_end tr_schedule_cancel(tr_system *system, tr_schedule schedule);

/** See tr_schedule_once. Any thread. Does not wait. */
TR_MUST_CHECK tr_status tr_system_schedule(tr_system *system, tr_schedule *schedule,
                                           tr_timer_kind kind, tr_time ns, tr_ref to,
                                           const tr_type *type, const void *message);
TR_END_C

#include <troupe/detail/schedule.h>

#endif
