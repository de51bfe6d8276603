/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/trials.h"

#include "actor/cell/follow.h"
#include "actor/cell/system.h"
#include "actor/turn/follow_turn.h"
#include "observe/slow_trees.h"

enum {
    TRIALS = 64, /* how many causal ids may be followed until the next request */
    /*
     * How many of these ids may be followed until their records are copied. A tree of 64 turns has
     * about 250 records, so the records of one step fit into the rings of two workers.
     */
    TRIALS_STEP = 8,
    /*
     * While slow turns are followed, each turn looks at a table. This is how many looks per second
     * are allowed, on average.
     */
    TURNS_FREE = 200000,
    /* slow turns are followed for at least 1 / TURNS_LEAST_SHARE of the time */
    TURNS_LEAST_SHARE = 400
};

#define LEASE_NS (6 * TR_SECOND)       /* how long one request counts; pages ask every 4 s */
#define STEP_NS (500 * TR_MILLISECOND) /* time between two copies of records */
/* how long slow turns are followed while it is not known how busy the program is */
#define FIRST_NS (500 * TR_MILLISECOND)
/* If no request comes for this time, the list of slow turns has no followed turn any more. */
#define TREES_NS ((SLOW_SECONDS + 6) * TR_SECOND)

/* Returns for how long to follow slow turns. It depends on how many messages were handled in the
 * time before. */
static tr_time window_of(uint64_t handled, tr_time passed_ns)
{
    double rate = (double)handled * TR_SECOND / (double)passed_ns;
    double share = rate > TURNS_FREE ? TURNS_FREE / rate : 1;
    share = share * TURNS_LEAST_SHARE < 1 ? 1.0 / TURNS_LEAST_SHARE : share;
    return (tr_time)(share * (double)LEASE_NS);
}

static uint64_t handled_of(const struct observer *observer)
{
    tr_counters counters;
    tr_system_counters(observer->system, &counters);
    return counters.handled;
}

/* Allows the trials of one step. */
static void step_begin(struct observer *observer, tr_time now_ns)
{
    struct observer_trials *trials = &observer->trials;
    uint32_t count = trials->left < TRIALS_STEP ? trials->left : TRIALS_STEP;
    trials->left -= count;
    trials->next_ns = now_ns + STEP_NS;
    tr__follow_trials_allow(observer->system->follow, count);
}

/* Copies the records of slow turns. Without memory for the list, does nothing. */
static void trees_keep(struct observer *observer)
{
    tr_system *system = observer->system;
    struct slow_row *rows =
        source_resize(observer->source, NULL, tr__slow_max(system) * sizeof *rows);
    if (rows)
        tr__slow_trees_keep(observer, rows, tr__slow_collect(system, rows));
    source_resize(observer->source, rows, 0);
}

tr_status tr__trials_begin(struct observer *observer)
{
    struct observer_trials *trials = &observer->trials;
    tr_time now_ns = tr__observer_now(observer);
    tr_time passed_ns = now_ns - trials->asked_ns;
    tr_status status = tr__slow_trees_begin(observer);
    if (status == TR_OK && !trials->until_ns)
        status = tr__follow_open(observer->system);
    if (status != TR_OK)
        return status;
    uint64_t handled = handled_of(observer);
    bool is_known = trials->asked_ns && passed_ns <= LEASE_NS && passed_ns >= TR_MILLISECOND;
    tr_time until_ns =
        now_ns + (is_known ? window_of(handled - trials->handled, passed_ns) : FIRST_NS);
    if (until_ns > trials->until_ns)
        trials->until_ns = until_ns;
    trials->is_first = !is_known;
    trials->handled = handled;
    trials->asked_ns = now_ns;
    trials->left = TRIALS;
    step_begin(observer, now_ns);
    return TR_OK;
}

/*
 * At the first request it was not known how busy the program is, so slow turns were followed for
 * FIRST_NS. Now it is known, and decides for how long slow turns are followed.
 */
static void window_extend(struct observer *observer, tr_time now_ns)
{
    struct observer_trials *trials = &observer->trials;
    tr_time passed_ns = now_ns - trials->asked_ns;
    if (!trials->is_first || passed_ns < TR_MILLISECOND)
        return;
    trials->is_first = false;
    trials->until_ns =
        trials->asked_ns + window_of(handled_of(observer) - trials->handled, passed_ns);
}

static int ms_until(tr_time time_ns, tr_time now_ns)
{
    return time_ns <= now_ns ? 0 : (int)((time_ns - now_ns) / TR_MILLISECOND) + 1;
}

int tr__trials_look(struct observer *observer)
{
    struct observer_trials *trials = &observer->trials;
    if (!trials->until_ns && !observer->trees)
        return -1;
    tr_time now_ns = tr__observer_now(observer);
    if (trials->until_ns && now_ns >= trials->until_ns)
        window_extend(observer, now_ns);
    if (trials->until_ns && now_ns >= trials->until_ns) {
        tr__trials_end(observer);
        trees_keep(observer);
    }
    if (!trials->until_ns) {
        tr_time end_ns = trials->asked_ns + TREES_NS;
        if (now_ns < end_ns)
            return ms_until(end_ns, now_ns);
        tr__slow_trees_free(observer);
        return -1;
    }
    if (now_ns >= trials->next_ns) {
        trees_keep(observer);
        step_begin(observer, now_ns);
    }
    return ms_until(trials->next_ns < trials->until_ns ? trials->next_ns : trials->until_ns,
                    now_ns);
}

void tr__trials_end(struct observer *observer)
{
    if (!observer->trials.until_ns)
        return;
    observer->trials.until_ns = 0;
    tr__follow_trials_allow(observer->system->follow, 0);
    tr__follow_close(observer->system);
}
