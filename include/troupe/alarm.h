/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Alarms of durable actors: messages at a time, which outlive sleep, crashes and the process.
 *
 *     tr_alarm_after(self, "expire", 30 * TR_MINUTE, expire);
 *     tr_alarm_every(self, "bill", 24 * TR_HOUR, make_bill, .year = 2026);
 *     tr_alarm_cron(self, "morning", "0 9 * * MON-FRI Europe/Berlin", wake_up);
 *
 * An alarm has a name; one of the same name is replaced. It is stored with what else its stretch changed, and
 * wakes the actor when it is due. Its message goes to the handler in TR_ON, as if this actor had sent it; while
 * that runs the alarm is gone (or at its next time) unless the handler sets it again.
 *
 * At least once: what the last stretch of the handler changed and the end of the alarm are stored together. If it fails,
 * or the process ends before, the alarm fires again with the same mark: after 2 s, 4 s, ... 5 min, and up to a
 * quarter more. A handler that does not wait has one stretch, and changes the state once. Of one that waits the stretches
 * before its last wait were stored, and are repeated: change the state behind the last wait, or keep the mark in it. After 20 retries it is given up: the actor gets a tr_alarm_given_up, and what repeats goes
 * on with its next time. At most once (is_at_most_once): its end is stored before the handler runs.
 *
 * None fires from the moment on that the actor falls asleep, or the system stops; they fire later. Times are
 * those of the wall clock; docs/guide/alarms.md has the rules of clocks, cron and daylight saving.
 */
#ifndef TROUPE_ALARM_H
#define TROUPE_ALARM_H

#include <troupe/self.h>

/** An alarm has failed too often. */
TR_MESSAGE(tr_alarm_given_up, (str, name), (u64, id), (u64, occurrence), (u32, failures));

typedef enum tr_alarm_kind {
    TR_ALARM_AT = 1, /* at ns */
    TR_ALARM_AFTER,  /* after ns */
    TR_ALARM_EVERY,  /* at each period of ns, 5 s at least, from the time it was set */
    TR_ALARM_CRON    /* when the expression says */
} tr_alarm_kind;

/** What an alarm is; borrowed for the call. */
typedef struct tr_alarm {
    const char *name; /* 1 to TR_ALARM_NAME_MAX bytes */
    tr_alarm_kind kind;
    tr_time ns;           /* nanoseconds since 1970 (UTC), or a duration */
    const char *cron;     /* of TR_ALARM_CRON, as "30 9 * * MON-FRI Europe/Berlin" */
    bool is_at_most_once; /* it never fires again, also if its handler failed */
} tr_alarm;

/** Which alarm a handler is called for. */
typedef struct tr_alarm_mark {
    const char *name;    /* borrowed for the turn; NULL: the turn is not for an alarm */
    uint64_t id;         /* another one each time an alarm is set; */
    uint64_t occurrence; /* from 0: the same in each retry */
    uint32_t failures;   /* how often this occurrence has failed so far */
} tr_alarm_mark;

/**
 * Sets an alarm: tr_alarm_at(self, "deadline", tr_wall_now(self) + TR_HOUR, remind, .who = "anna").
 *
 * Ends the turn with TR_INVALID_ARGUMENT (no name, a negative time, a period below 5 s, no cron expression),
 * TR_LIMIT (TR_ALARMS_MAX, more than a hundred years ahead), TR_NOT_FOUND (a zone that is not known, a cron
 * expression that never matches), TR_TOO_LARGE, TR_NO_MEMORY, TR_NOT_SUPPORTED (no handler for this message,
 * or not a durable actor); tr_self_try_alarm gives a status.
 */
#define tr_alarm_at(self, name, wall_ns, ...)                                                      \
    TR_ALARM_(self, name, TR_ALARM_AT, wall_ns, NULL, __VA_ARGS__)
#define tr_alarm_after(self, name, delay_ns, ...)                                                  \
    TR_ALARM_(self, name, TR_ALARM_AFTER, delay_ns, NULL, __VA_ARGS__)
#define tr_alarm_every(self, name, period_ns, ...)                                                 \
    TR_ALARM_(self, name, TR_ALARM_EVERY, period_ns, NULL, __VA_ARGS__)
#define tr_alarm_cron(self, name, cron, ...)                                                       \
    TR_ALARM_(self, name, TR_ALARM_CRON, 0, cron, __VA_ARGS__)

TR_BEGIN_C
/** Takes an alarm back; false when there is none of that name. Stored with what else the stretch changed. */
bool tr_alarm_cancel(tr_self *self, const char *name);
/** When an alarm is due next, in nanoseconds since 1970; 0 when there is none. Within its handler: see above. */
tr_time tr_alarm_due(tr_self *self, const char *name);
/** For which alarm this turn is. */
tr_alarm_mark tr_alarm_fired(const tr_self *self);

/* What the macros above call. */
TR_MUST_CHECK tr_status tr_self_try_alarm(tr_self *self, const tr_alarm *alarm, const tr_type *type,
                                          const void *message);
void tr_self_alarm(tr_self *self, const tr_alarm *alarm, const tr_type *type, const void *message);
TR_END_C

#include <troupe/detail/alarm.h>

#endif
