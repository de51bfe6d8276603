/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Counts the actors of each behavior from time to time. This finds behaviors whose actors are started again and again
 * and never end.
 */
#ifndef OBSERVE_POPULATION_H
#define OBSERVE_POPULATION_H

#include <troupe/behavior.h>
#include <troupe/status.h>

#include "observe/actors.h"

enum {
    POPULATION_MAX = 64, /* behaviors that have a row; behaviors that come later have none */
    /* how many windows there are; growth is looked for over the time of each window */
    POPULATION_WINDOWS = 2,
    /* How many more actors count as growth. The number must also have increased by a twentieth. */
    POPULATION_LEAST = 20
};

struct population {
    struct population_row {
        const tr_behavior *behavior; /* NULL: this row and all rows behind it are not used */
        uint64_t live;
        uint64_t counted;                       /* actors that the present count has found so far */
        uint64_t before[POPULATION_WINDOWS][2]; /* numbers of actors at the times in before_ns */
    } rows[POPULATION_MAX];
    /* For each window: when its last two counts were made, the newer first. 0: not made yet. */
    tr_time before_ns[POPULATION_WINDOWS][2];
    tr_time look_ns;             /* when the actors are counted again */
    struct population_row *last; /* the row of the actor that was counted last; NULL: none */
};

/** Whether the time for a count has come: every few seconds, or less often if counting takes long. */
bool tr__population_is_due(const struct population *population, tr_time now_ns);
/** Begins a count. The thread of the socket only, as the next two. */
void tr__population_begin(struct population *population);
/** Counts an actor. */
void tr__population_take(struct population *population, const struct actor_glance *glance);
/** Ends a count that began at `now_ns` and has taken took_ns of the thread's time. */
void tr__population_end(struct population *population, tr_time now_ns, tr_time took_ns);
/**
 * Whether the number of a behavior's actors grows. It must be greater than at the beginning of the first window, and
 * much greater than at the beginning of at least one window. If so, sets *since_ns to the beginning of that window, and
 * *before to the number at that time. The thread of the socket only.
 */
bool tr__population_grows(const struct population *population, const struct population_row *row,
                          tr_time now_ns, uint64_t *before, tr_time *since_ns);

#endif
