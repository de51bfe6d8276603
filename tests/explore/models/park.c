/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How a worker sleeps: posts, and a nudge for something that is not in its ready inbox.
 *
 * A thread that posts while the worker goes to sleep either is seen by its last look or wakes it.
 */
#include "models/office.h"

enum { NODES = 2 };

static struct worker worker;
static struct stack_node nodes[2][NODES];
static int taken[2][NODES];
static atom32 flag; /* what the nudge is about */
static bool is_seen;

static void setup(void)
{
    static const char *const names[2][2] = {{"a0", "a1"}, {"b0", "b1"}};
    worker_init(&worker);
    memset(taken, 0, sizeof taken);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < NODES; j++)
            explore_name(&nodes[i][j], names[i][j]);
    atom32_init(&flag, 0);
    explore_name(&flag, "flag");
    is_seen = false;
}

static void poster(int index)
{
    for (int i = 0; i < NODES; i++) {
        explore_plain_write(&nodes[index][i]);
        if (ready_post(&worker.ready, &nodes[index][i]))
            explore_unpark(&worker.parker);
    }
}

static void on_node(struct stack_node *node)
{
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < NODES; j++)
            if (node == &nodes[i][j]) {
                EXPLORE_CHECK(!taken[i][j]++, "a node is taken twice");
                EXPLORE_CHECK(!j || taken[i][j - 1], "a node overtakes an older one");
            }
}

static void worker_thread(int index)
{
    (void)index;
    worker_run(&worker, NULL, on_node);
}

static void check(void)
{
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < NODES; j++)
            EXPLORE_CHECK(taken[i][j], "a node waits while the worker sleeps: a lost wake-up");
}

#if CANARY == 0
/* --- a nudge: the worker looks at a word that is not in its ready inbox */

static void nudger(int index)
{
    (void)index;
    atom32_store(&flag, 1, ATOM_RELAXED);
    bool is_asleep =
        explore_variant()
            ? atom32_exchange(&worker.ready.sleep, READY_AWAKE, ATOM_SEQ_CST) == READY_ASLEEP
            : ready_nudge(&worker.ready);
    if (is_asleep)
        explore_unpark(&worker.parker);
}

/* The look comes before sleep is announced, because it may be long. */
static void nudged_worker(int index)
{
    (void)index;
    while (!is_seen) {
        worker_take(&worker, on_node);
        if (atom32_load(&flag, ATOM_RELAXED))
            is_seen = true;
        if (is_seen || !worker_doze(&worker))
            continue;
        explore_park(&worker.parker);
        ready_rise(&worker.ready);
    }
    worker_run(&worker, NULL, on_node);
}

static void nudge_check(void)
{
    EXPLORE_CHECK(is_seen, "the worker sleeps and has not seen the word: a lost wake-up");
    check();
}

#define NUDGE_THREADS                                                                              \
    .threads = {                                                                                   \
        {"poster a", poster}, {"poster b", poster}, {"nudger", nudger}, {"worker", nudged_worker}}

EXPLORE_MODEL(park, .about = "post against doze and park: no lost wake-up",
              .ids = "WP-01 P-04 SG-14 L-08", .setup = setup, .check = check,
              .threads = {{"poster a", poster}, {"poster b", poster}, {"worker", worker_thread}});

EXPLORE_MODEL(ready_nudge, .about = "a nudged worker looks around once more before it sleeps",
              .ids = "WP-01", .setup = setup, .check = nudge_check, NUDGE_THREADS);

EXPLORE_MODEL(ready_nudge_forgotten, .about = "trap: a nudge leaves no trace in an awake worker",
              .ids = "WP-01", .is_wrong = true, .variant = 1, .setup = setup, .check = nudge_check,
              NUDGE_THREADS);
#elif CANARY == 1
EXPLORE_MODEL(canary1_no_recheck, .about = "canary 1: no second look before the worker parks",
              .ids = "WP-01", .is_wrong = true, .setup = setup, .check = check,
              .threads = {{"poster a", poster}, {"poster b", poster}, {"worker", worker_thread}});
#endif
