/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Schedules of a system: what is to happen later, or again and again, whoever asks for it.
 *
 *     static tr_next close_the_shop(tr_self *self, void *argument)
 *     {
 *         tr_system_shutdown(tr_system_of(self), 5 * TR_SECOND);
 *         return TR_STOP;
 *     }
 *
 *     tr_schedule reports;
 *     tr_schedule_fixed_rate(system, &reports, TR_MINUTE, printer, report, .is_short = true);
 *     tr_schedule_call(system, NULL, TR_TIMER_ONCE, 30 * TR_SECOND, close_the_shop, NULL);
 *     ...
 *     tr_schedule_cancel(system, reports);
 *
 * All of this may be done on any thread; a handler says tr_system_of(self) for the system. What
 * concerns one actor alone is better a timer of its own (tr_timer_once): that ends with the actor,
 * and its message can be taken back out of the mailbox.
 *
 * Schedules are as exact as timers: never early, not moved by jumps of the wall clock, in the order
 * of their making where they fall due at the same time. They neither keep a system alive nor hold
 * its end up: what has not fired when a shutdown begins never does.
 */
#ifndef TROUPE_SCHEDULE_H
#define TROUPE_SCHEDULE_H

#include <troupe/limits.h>
#include <troupe/self.h>

/** A schedule; all zero is none. It may be copied. */
typedef struct tr_schedule {
    uint64_t number;
} tr_schedule;

/**
 * What a schedule calls: a turn of an actor of its own, so that every verb may be used. TR_STOP ends
 * the schedule, and so does a failure, which is this actor's alone; with anything else it goes on.
 */
typedef tr_next tr_schedule_function(tr_self *self, void *argument);

/**
 * Sends a message once, after `delay_ns`:
 *     tr_schedule_once(system, &schedule, TR_SECOND, to, deposit, .amount = 5)
 *
 * The message is copied now and has no sender. *schedule, a `tr_schedule *` or NULL, is written on
 * TR_OK. TR_INVALID_ARGUMENT (a negative time, a period of 0, something is NULL), TR_STOPPED (the
 * receiver has), TR_STOPPING (the system is), TR_LIMIT (TR_SCHEDULES_MAX), TR_TOO_LARGE,
 * TR_NO_MEMORY. A message that cannot be delivered when its time has come is a dead letter; while
 * there is no memory for it, it is late. Any thread.
 */
#define tr_schedule_once(system, schedule, delay_ns, to, ...)                                      \
    TR_SCHEDULE_(system, schedule, TR_TIMER_ONCE, delay_ns, to, __VA_ARGS__)
/**
 * ... at each period, on a grid that does not drift; ticks that were missed are one tick. It ends
 * when the receiver has stopped. A receiver that is slower than the schedule collects its messages.
 */
#define tr_schedule_fixed_rate(system, schedule, period_ns, to, ...)                               \
    TR_SCHEDULE_(system, schedule, TR_TIMER_FIXED_RATE, period_ns, to, __VA_ARGS__)
/** ... a period after the last one was sent. */
#define tr_schedule_fixed_delay(system, schedule, period_ns, to, ...)                              \
    TR_SCHEDULE_(system, schedule, TR_TIMER_FIXED_DELAY, period_ns, to, __VA_ARGS__)

TR_BEGIN_C
/**
 * Calls a function instead, as a turn of an actor that the schedule has for itself, on worker 0,
 * until it ends. `argument` is borrowed as long. A fixed rate has at most one turn waiting; a fixed
 * delay counts from the end of the last turn. As tr_schedule_once; TR_LIMIT also as tr_try_spawn.
 */
TR_MUST_CHECK tr_status tr_schedule_call(tr_system *system, tr_schedule *schedule,
                                         tr_timer_kind kind, tr_time ns,
                                         tr_schedule_function *function, void *argument);

/**
 * Ends a schedule: nothing of it is sent or called afterwards. TR_TIMER_CANCELLED: it had not fired,
 * or would have again; a call that runs now ends its turn. TR_TIMER_TAKEN_BACK: its call was due and
 * waited for its turn. TR_TIMER_NONE: there is none; it has fired, or ended otherwise. Any thread.
 */
tr_timer_end tr_schedule_cancel(tr_system *system, tr_schedule schedule);

/** What the macros above call. */
TR_MUST_CHECK tr_status tr_system_schedule(tr_system *system, tr_schedule *schedule,
                                           tr_timer_kind kind, tr_time ns, tr_ref to,
                                           const tr_type *type, const void *message);
TR_END_C

#include <troupe/detail/schedule.h>

#endif
