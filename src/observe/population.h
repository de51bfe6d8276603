/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Counts the actors of each behavior from time to time, to find behaviors whose actors are started and never end.
 */
#ifndef OBSERVE_POPULATION_H
#define OBSERVE_POPULATION_H

#include <troupe/behavior.h>
#include <troupe/status.h>

struct tr_system;

enum {
    POPULATION_MAX = 64,    /* behaviors that are remembered; those that come later are not */
    POPULATION_WINDOWS = 2, /* how many windows: lengths of time over which growth is looked for */
    /* the smallest increase that counts as growth, in actors; it must also be a twentieth or more */
    POPULATION_LEAST = 20
};

struct population {
    struct population_row {
        const tr_behavior *behavior; /* NULL: this row and the next ones are not used */
        uint64_t live;
        uint64_t before[POPULATION_WINDOWS][2]; /* how many actors there were at before_ns */
    } rows[POPULATION_MAX];
    /* for each window, when its last two counts were made, the newer first; 0: not made yet */
    tr_time before_ns[POPULATION_WINDOWS][2];
    tr_time look_ns; /* when the actors are counted next */
};

/**
 * Counts the actors, if the time for that has come: every few seconds, or less often if counting takes long. The thread of
 * the socket only.
 */
void tr__population_look(struct population *population, struct tr_system *system, tr_time now_ns);
/**
 * Whether a behavior has more and more actors: more than at the beginning of the first window, and many more than at the
 * beginning of some window. If so, *before is how many it had then, and *since_ns the time of that count. The thread of the
 * socket only.
 */
bool tr__population_grows(const struct population *population, const struct population_row *row,
                          tr_time now_ns, uint64_t *before, tr_time *since_ns);

#endif
