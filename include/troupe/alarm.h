/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Alarms of durable actors: messages at a time of the wall clock, which survive sleep, crashes and
 * the end of the process.
 *
 * ```c
 * #include <troupe/troupe.h>
 *
 * TR_REQUEST(open_cart, tr_done);
 * TR_MESSAGE(expire);
 * TR_ACTOR(cart, open_cart); // not expire, which only its own alarm sends
 * TR_MESSAGE(cart_state, (bool, is_open));
 *
 * static tr_next on_open_cart(tr_self *self, struct cart_state *cart)
 * {
 *     cart->is_open = true;
 *     tr_alarm_after(self, "expire", 30 * TR_MINUTE, expire); // stored with the state
 *     return tr_reply(self, tr_done);
 * }
 *
 * static tr_next on_expire(struct cart_state *cart)
 * {
 *     cart->is_open = false;
 *     return TR_SAME;
 * }
 *
 * TR_BEHAVIOR(cart, struct cart_state, TR_ON(open_cart, on_open_cart), TR_ON(expire, on_expire));
 * TR_DURABLE(cart, cart_state);
 *
 * static tr_next on_args(tr_self *self)
 * {
 *     tr_await(self, tr_ask(self, tr_durable(self, cart, "user-42"), open_cart));
 *     return TR_STOP;
 * }
 *
 * TR_BEHAVIOR(shop, void, TR_ON(tr_args, on_args));
 *
 * int main(int argc, char **argv)
 * {
 *     return tr_app_main(argc, argv, shop, .durable = TR_DURABLES(cart));
 * }
 * ```
 *
 * An alarm has a name; a new alarm with the same name replaces it. The alarm is stored with the
 * commit of the stretch that sets it (durable.h), and wakes the actor when it is due. The message
 * of the alarm goes to the handler in TR_ON, as if the actor had sent the message to itself. While
 * that handler runs, an alarm that fires once is already gone, and a repeated alarm has its next
 * time already. The handler may set the alarm again.
 *
 * By default an alarm fires at least once: the fact that it was handled is stored with the last
 * stretch of the handler. If the handler fails, or the process ends before that, the alarm fires
 * again, and tr_alarm_fired returns the same mark except for its `failures`. The delays before the
 * retries are 2 s, 4 s, and so on up to 5 min; up to a quarter is added to each delay. A handler
 * that does not wait has one stretch, so its change of the state is stored once. A handler that
 * waits has several stretches. If a later stretch fails, the changes of the earlier ones are stored
 * already, and the retry makes them again. To prevent that, change the state after the last wait,
 * or keep the mark in the state. After 20 retries the alarm is given up: the actor gets a
 * tr_alarm_given_up, and a repeated alarm continues with its next time. The retry policy is an
 * option of the kind (alarm_retry) and of the alarm (tr_alarm.retry). With is_at_most_once an alarm
 * fires at most once: the fact that it was handled is stored before the handler runs.
 *
 * No alarm fires while the actor falls asleep or the system stops. An alarm that becomes due
 * meanwhile fires later. docs/guide/alarms.md has the rules for clocks, cron and daylight saving.
 */
#ifndef TROUPE_ALARM_H
#define TROUPE_ALARM_H

#include <troupe/retry.h>
#include <troupe/self.h>

/** To a durable actor: the handler of this alarm has failed too often. */
TR_MESSAGE(tr_alarm_given_up, (str, name), (u64, id), (u64, occurrence), (u32, failures));

typedef enum tr_alarm_kind {
    TR_ALARM_AT = 1, /* fires at the time `ns` */
    TR_ALARM_AFTER,  /* fires when `ns` nanoseconds have passed */
    /* fires every `ns` nanoseconds (at least 5 s), counted from the time when the alarm was set */
    TR_ALARM_EVERY,
    TR_ALARM_CRON /* fires when the cron expression matches */
} tr_alarm_kind;

/** What tr_self_try_alarm sets; borrowed for the call. */
typedef struct tr_alarm {
    size_t size TR_ZERO; /* sizeof(tr_alarm); 0 means the size that the library was compiled with */
    const char *name;    /* 1 to TR_ALARM_NAME_MAX bytes */
    tr_alarm_kind kind;
    tr_time ns;           /* nanoseconds since 1970 (UTC) for TR_ALARM_AT, else a duration */
    const char *cron;     /* for TR_ALARM_CRON: "30 9 * * MON-FRI Europe/Berlin" */
    bool is_at_most_once; /* the alarm does not fire again if its handler fails */
    /* how the alarm is retried; all zeros: as alarm_retry of the kind says, else the default */
    tr_retry retry;
} tr_alarm;

/** Names one occurrence of an alarm; see tr_alarm_fired. */
typedef struct tr_alarm_mark {
    const char *name;    /* borrowed until the turn ends; NULL: the turn is not for an alarm */
    uint64_t id;         /* a new number each time that an alarm is set */
    uint64_t occurrence; /* counts from 0; all attempts at one occurrence have the same number */
    uint32_t failures;   /* how often this occurrence has failed */
} tr_alarm_mark;

/**
 * These set an alarm: tr_alarm_at(self, "deadline", tr_wall_now(self) + TR_HOUR, remind, .name =
 * "anna") for a time of the wall clock, tr_alarm_after for the end of a delay, tr_alarm_every for
 * each end of a period, tr_alarm_cron for the times of a cron expression.
 * In a turn. Does not wait.
 *
 * The message is copied. On an error these macros end the turn; tr_self_try_alarm returns the
 * status instead. TR_INVALID_ARGUMENT: no name, a name that begins with the byte 1, a negative
 * time, a period below 5 s, or no cron expression. TR_LIMIT: the actor has TR_ALARMS_MAX alarms, or
 * the time is more than a hundred years ahead. TR_NOT_FOUND: an unknown zone, or a cron expression
 * that never matches. TR_NOT_SUPPORTED: the actor has no handler for this message, or is not
 * durable. Also TR_TOO_LARGE, TR_NO_MEMORY.
 */
#define tr_alarm_at(self, name, wall_ns, ...)                                                      \
    TR_ALARM_(self, name, TR_ALARM_AT, wall_ns, NULL, __VA_ARGS__, )
#define tr_alarm_after(self, name, delay_ns, ...)                                                  \
    TR_ALARM_(self, name, TR_ALARM_AFTER, delay_ns, NULL, __VA_ARGS__, )
#define tr_alarm_every(self, name, period_ns, ...)                                                 \
    TR_ALARM_(self, name, TR_ALARM_EVERY, period_ns, NULL, __VA_ARGS__, )
#define tr_alarm_cron(self, name, cron, ...)                                                       \
    TR_ALARM_(self, name, TR_ALARM_CRON, 0, cron, __VA_ARGS__, )

TR_BEGIN_C
/**
 * Cancels an alarm. The removal is stored with the commit of this stretch. Returns false if there
 * is no alarm with that name.
 * In a turn. Does not wait.
 */
bool tr_alarm_cancel(tr_self *self, const char *name);
/**
 * Returns the time at which an alarm is due next, in nanoseconds since 1970. Returns 0 if there is
 * no alarm with that name. While the alarm's handler runs, returns the next time if the alarm is a
 * repeated one, and 0 if it fires once. In a turn. Does not wait.
 */
tr_time tr_alarm_due(tr_self *self, const char *name);
/**
 * Returns the alarm that this turn is for. If the turn is not for an alarm, the `name` of the
 * result is NULL. In a turn. Does not wait.
 */
tr_alarm_mark tr_alarm_fired(const tr_self *self);

/**
 * Sets an alarm as tr_alarm_at does, but returns the status instead of ending the turn. `alarm` may
 * also set is_at_most_once and a retry policy.
 * In a turn. Does not wait.
 */
TR_MUST_CHECK tr_status tr_self_try_alarm(tr_self *self, const tr_alarm *alarm, const tr_type *type,
                                          const void *message);
/** See tr_alarm_at. In a turn. Does not wait. */
void tr_self_alarm(tr_self *self, const tr_alarm *alarm, const tr_type *type, const void *message);
TR_END_C

#include <troupe/detail/alarm.h>

#endif
