/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The watch sleeps when all loops do; a loop that continues after sleep wakes it, and it rings for a thread that waits for
 * that (src/sched/doorbell.h).
 *
 * The source itself is included, because what sleeps is a static function of it.
 */
#include "models/office.h"

#include "sched/watch.c"

enum {
    RIGHT,
    RELAXED,         /* trap: the look at the watch is not bound to the store before */
    AFTER_PARK_ONLY, /* trap: a loop that only announced sleep does not rouse */
    WANTS_LATE       /* trap: the thread that looks reads is_quiet before it sets is_wanted */
};

enum { NAPS = 2 };

static struct watch watch;
static struct loop loop;
static struct loop *loops[] = {&loop};
static struct explore_parker parker;
static struct stack_node node;
static bool is_over;
static struct doorbell doorbell;
static struct explore_parker looker_parker;
static bool has_looked;

/* Implements sched/doorbell.h, where it calls on_ring under a lock. */
void tr__doorbell_ring(struct doorbell *rung)
{
    (void)rung;
    explore_unpark(&looker_parker);
}

static void fake_park(const tr_platform *platform, tr_parker *which, tr_time deadline)
{
    (void)platform;
    (void)deadline;
    explore_park((struct explore_parker *)(void *)which);
}

static void fake_wake(const tr_platform *platform, tr_parker *which)
{
    (void)platform;
    explore_unpark((struct explore_parker *)(void *)which);
}

static void setup(void)
{
    static const tr_platform platform = {.park = fake_park, .wake = fake_wake};
    watch = (struct watch){.platform = &platform,
                           .parker = (tr_parker *)(void *)&parker,
                           .loops = loops,
                           .loop_count = 1,
                           .report = {.doorbell = &doorbell}};
    parker = (struct explore_parker){.may_wake_early = true};
    atom32_init(&watch.is_asleep, 0);
    atom32_init(&watch.is_over, 0);
    ready_init(&loop.ready);
    ready_doze(&loop.ready);
    atom32_init(&loop.tick, 0);
    atom64_init(&loop.awake_ns, 0);
    explore_name(&watch.is_asleep, "watch asleep");
    explore_name(&watch.is_over, "watch over");
    explore_name(&loop.ready.posted, "ready");
    explore_name(&loop.ready.sleep, "sleep");
    explore_name(&loop.tick, "tick");
    explore_name(&parker, "watch");
    atom32_init(&doorbell.is_quiet, 0);
    atom32_init(&doorbell.is_wanted, 0);
    looker_parker = (struct explore_parker){.may_wake_early = false};
    explore_name(&doorbell.is_quiet, "quiet");
    explore_name(&doorbell.is_wanted, "wanted");
    explore_name(&looker_parker, "looker");
    is_over = false;
    has_looked = false;
}

static void watch_thread(int index)
{
    (void)index;
    for (int i = 0; i < NAPS; i++)
        watch_doze(&watch);
    is_over = true;
}

static void rouse(void)
{
    if (explore_variant() != RELAXED)
        watch_rouse(&watch);
    else if (atom32_load(&watch.is_asleep, ATOM_RELAXED))
        fake_wake(watch.platform, watch.parker);
}

static void loop_thread(int index)
{
    (void)index;
    ready_rise(&loop.ready);
    rouse();
    /* The watch may see the announcement even if the loop does not sleep after all. */
    bool is_asleep = ready_doze(&loop.ready);
    if (is_asleep)
        ready_rise(&loop.ready);
    if (is_asleep || explore_variant() != AFTER_PARK_ONLY)
        rouse();
    /* It is awake forever now: the watch must not be asleep. */
}

static void poster(int index)
{
    (void)index;
    ready_post(&loop.ready, &node);
}

/* Looks at the loops from outside, and waits if all of them sleep. */
static void looker(int index)
{
    (void)index;
    bool is_quiet = false;
    if (explore_variant() == WANTS_LATE) {
        is_quiet = atom32_load(&doorbell.is_quiet, ATOM_SEQ_CST);
        atom32_store(&doorbell.is_wanted, 1, ATOM_SEQ_CST);
    } else {
        is_quiet = doorbell_want(&doorbell);
    }
    if (is_quiet)
        explore_park(&looker_parker);
    has_looked = true;
}

static void check(void)
{
    EXPLORE_CHECK(has_looked, "nobody rings the bell, and a loop is awake");
    EXPLORE_CHECK(is_over, "the watch sleeps while a loop is awake");
}

#define THREADS                                                                                    \
    .threads = {                                                                                   \
        {"watch", watch_thread}, {"loop", loop_thread}, {"poster", poster}, {"looker", looker}}

EXPLORE_MODEL(watch, .about = "the watch never sleeps while a loop is awake", .ids = "",
              .setup = setup, .check = check, THREADS);
EXPLORE_MODEL(watch_relaxed, .about = "trap: the loop's look at the watch is relaxed", .ids = "",
              .is_wrong = true, .memory = EXPLORE_WEAK, .variant = RELAXED, .setup = setup,
              .check = check, THREADS);
EXPLORE_MODEL(watch_after_park, .about = "trap: only a loop that has parked rouses the watch",
              .ids = "", .is_wrong = true, .variant = AFTER_PARK_ONLY, .setup = setup,
              .check = check, THREADS);
EXPLORE_MODEL(watch_wants_late, .about = "trap: the bell is wanted after the look at is_quiet",
              .ids = "", .is_wrong = true, .variant = WANTS_LATE, .setup = setup, .check = check,
              THREADS);
