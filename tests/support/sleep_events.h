/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Random events for a sleep machine: chosen, and told.
 */
#ifndef TROUPE_TESTS_SUPPORT_SLEEP_EVENTS_H
#define TROUPE_TESTS_SUPPORT_SLEEP_EVENTS_H

#include "base/rng.h"
#include "sleep/why.h"

enum { WORKS = 12 };

/* Each with how often it is chosen, so that lives are long and reach all places. */
#define SLEEP_EVENTS(X)                                                                            \
    X(STARTED, 8)                                                                                  \
    X(START_FAILED, 1)                                                                             \
    X(RAISE, 20)                                                                                   \
    X(DROP, 25)                                                                                    \
    X(MOVE, 8)                                                                                     \
    X(ASK_SLEEP, 2)                                                                                \
    X(ASK_DESTROY, 1)                                                                              \
    X(EVICT, 1)                                                                                    \
    X(STOP_SLEEP, 3)                                                                               \
    X(STOP_DESTROY, 2)                                                                             \
    X(SHUT_DOWN, 1)                                                                                \
    X(TIMER, 20)                                                                                   \
    X(END_ON_SLEEP, 5)                                                                             \
    X(END_ON_DESTROY, 5)                                                                           \
    X(SERIALIZED, 5)                                                                               \
    X(WRITTEN, 5)                                                                                  \
    X(CRASH, 1)

#define SLEEP_EVENT_ENUM(name, weight) name,
enum event { SLEEP_EVENTS(SLEEP_EVENT_ENUM) EVENTS };
#undef SLEEP_EVENT_ENUM

/* An event with all that it says; `work` is one of the wake_locks of the teller. */
struct told {
    enum event event;
    int work;
    enum sleep_counter counter;
    tr_time span;
    tr_status status;
    tr_time now;
};

struct teller {
    struct rng *rng;
    struct sleep_options options;
    struct sleep_machine machine;
    struct wake_lock works[WORKS];
    tr_time now;
};

static inline bool teller_chance(struct teller *teller, unsigned percent)
{
    return rng_below(teller->rng, 100) < percent;
}

static inline void teller_init(struct teller *teller, struct rng *rng)
{
    *teller = (struct teller){.rng = rng, .now = (tr_time)rng_below(rng, TR_HOUR)};
    for (int i = 0; i < WORKS; i++)
        teller->works[i].what = "work";
    teller->options = (struct sleep_options){
        .idle_ns = teller_chance(teller, 50) ? 0 : (tr_time)rng_below(rng, 5 * TR_SECOND),
        .grace_ns = teller_chance(teller, 50) ? 0 : (tr_time)rng_below(rng, 5 * TR_SECOND),
        .no_sleep = teller_chance(teller, 10),
        .has_on_sleep = teller_chance(teller, 50),
        .has_on_destroy = teller_chance(teller, 50),
    };
    tr__sleep_init(&teller->machine, &teller->options, teller->now);
}

static inline enum event teller_choose_event(struct teller *teller)
{
#define SLEEP_EVENT_WEIGHT(name, weight) weight,
    static const unsigned char weights[] = {SLEEP_EVENTS(SLEEP_EVENT_WEIGHT)};
#undef SLEEP_EVENT_WEIGHT
    unsigned sum = 0;
    for (int i = 0; i < EVENTS; i++)
        sum += weights[i];
    unsigned at = (unsigned)rng_below(teller->rng, sum);
    int event = 0;
    while (at >= weights[event])
        at -= weights[event++];
    return (enum event)event;
}

/* The time goes on a little with each event; a timer fires early, in time, or late. */
static inline struct told teller_choose(struct teller *teller)
{
    struct told told = {
        .event = teller_choose_event(teller),
        .work = (int)rng_below(teller->rng, WORKS),
        .counter = (enum sleep_counter)rng_below(teller->rng, COUNTER_COUNT),
        .span = teller_chance(teller, 50) ? 0 : (tr_time)rng_below(teller->rng, 30 * TR_SECOND),
        .status = teller_chance(teller, 70) ? TR_OK : TR_FAILED,
    };
    tr_time due = teller->machine.due;
    if (told.event == TIMER && due != SLEEP_NEVER && due > teller->now && teller_chance(teller, 80))
        teller->now = due;
    else if (teller_chance(teller, 50))
        teller->now += (tr_time)rng_below(teller->rng, 300 * TR_MILLISECOND);
    told.now = teller->now;
    return told;
}

/* Those that say nothing say TR_OK; an eviction that does not happen says TR_REFUSED. */
static inline tr_status teller_tell(struct teller *teller, const struct told *told)
{
    struct sleep_machine *machine = &teller->machine;
    struct wake_lock *work = &teller->works[told->work];
    switch (told->event) {
    case STARTED:
        return tr__sleep_started(machine, told->now);
    case START_FAILED:
        return tr__sleep_start_failed(machine, TR_FAILED);
    case RAISE:
        return tr__sleep_raise(machine, work, told->counter, told->now);
    case DROP:
        tr__sleep_drop(machine, work, told->now);
        return TR_OK;
    case MOVE:
        tr__sleep_move(machine, work, told->counter, told->now);
        return TR_OK;
    case ASK_SLEEP:
        return tr__sleep_ask(machine, SLEEP_REASON_SLEEP, told->now);
    case ASK_DESTROY:
        return tr__sleep_ask(machine, SLEEP_REASON_DESTROY, told->now);
    case EVICT:
        return tr__sleep_evict(machine) ? TR_OK : TR_REFUSED;
    case STOP_SLEEP:
        return tr__sleep_stop(machine, SLEEP_REASON_SLEEP, told->span, told->now);
    case STOP_DESTROY:
        return tr__sleep_stop(machine, SLEEP_REASON_DESTROY, told->span, told->now);
    case SHUT_DOWN:
        tr__sleep_shut_down(machine, told->span, told->now);
        return TR_OK;
    case TIMER:
        tr__sleep_timer(machine, told->now);
        return TR_OK;
    case END_ON_SLEEP:
        return tr__sleep_hook_end(machine, SLEEP_REASON_SLEEP, told->now);
    case END_ON_DESTROY:
        return tr__sleep_hook_end(machine, SLEEP_REASON_DESTROY, told->now);
    case SERIALIZED:
        return tr__sleep_serialized(machine, told->status);
    case WRITTEN:
        return tr__sleep_written(machine, told->status);
    case CRASH:
    case EVENTS:
        break;
    }
    return tr__sleep_crash(machine, TR_FAULT);
}

#endif
