/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Reminders that outlive the process: alarms of a durable actor.
 *
 *     21_reminder [number] [milliseconds]    that many reminders, spread over that time
 *
 * Kill it at any moment, as hard as you like, and start it again: it continues where it was, and in the end
 * each reminder has rung once. That is what "at least once" and "stored together" make: an alarm that was
 * cut short rings again, but what it had changed was not stored either.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <troupe/troupe.h>

TR_MESSAGE(summary, (u64, rung), (u64, planned), (u64, sum));
TR_REQUEST(plan, summary, (u64, count), (i64, over_ns));
TR_MESSAGE(remind, (u64, number));
TR_ACTOR(calendar, plan);

/* What is stored: how many are planned, how many rang, and the sum of their numbers. */
TR_MESSAGE(calendar_state, (u64, planned), (u64, rung), (u64, sum));

/* The actor that waits for the end; in this process only. */
static tr_later waiting;

static tr_next on_plan(tr_self *self, struct calendar_state *calendar, const struct plan *message)
{
    /* All of them are stored with the number, or none: a second call finds them. */
    for (; calendar->planned < message->count; calendar->planned++) {
        char name[32];
        uint64_t number = calendar->planned + 1;
        snprintf(name, sizeof name, "reminder-%" PRIu64, number);
        tr_time after_ns = message->over_ns / (tr_time)message->count * (tr_time)number;
        tr_alarm_after(self, name, after_ns, remind, .number = number);
    }
    if (calendar->rung < calendar->planned)
        waiting = tr_reply_later(self);
    else
        tr_reply(self,
                 summary,
                 .rung = calendar->rung,
                 .planned = calendar->planned,
                 .sum = calendar->sum);
    return TR_SAME;
}

static tr_next on_remind(tr_self *self, struct calendar_state *calendar,
                         const struct remind *message)
{
    calendar->rung++;
    calendar->sum += message->number;
    if (calendar->rung == calendar->planned)
        (void)!tr_reply_to(self,
                           waiting,
                           summary,
                           .rung = calendar->rung,
                           .planned = calendar->planned,
                           .sum = calendar->sum);
    return TR_SAME;
}

TR_BEHAVIOR(calendar, struct calendar_state, TR_ON(plan, on_plan), TR_ON(remind, on_remind));
TR_DURABLE(calendar, calendar_state, .never_sleeps = true);

static tr_next on_args(tr_self *self, const struct tr_args *args)
{
    uint64_t count = args->argv.count > 1 ? strtoull(args->argv.items[1], NULL, 10) : 20;
    long long milliseconds = args->argv.count > 2 ? atoll(args->argv.items[2]) : 200;
    calendar_ref calendar = tr_durable(self, calendar, "anna");
    plan_ask ask = tr_ask_within(self,
                                 TR_HOUR,
                                 calendar,
                                 plan,
                                 .count = count ? count : 1,
                                 .over_ns = milliseconds * TR_MILLISECOND);
    const struct summary *summary = tr_await(self, ask);
    printf("%" PRIu64 " of %" PRIu64 " reminders rang, the sum of their numbers is %" PRIu64 "\n",
           summary->rung,
           summary->planned,
           summary->sum);
    return TR_STOP;
}

TR_BEHAVIOR(reminder, void, TR_ON(tr_args, on_args));

int main(int argc, char **argv)
{
    return tr_app_main(argc, argv, reminder, .durable = TR_DURABLES(calendar));
}
