/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How many actors each behavior has had: so that one whose actors are started and never end is found.
 */
#ifndef OBSERVE_POPULATION_H
#define OBSERVE_POPULATION_H

#include <troupe/behavior.h>
#include <troupe/status.h>

struct tr_system;

enum {
    POPULATION_MAX = 64,    /* behaviors that are remembered; those that come later are not */
    POPULATION_WINDOWS = 2, /* the times over which growth is looked for */
    POPULATION_LEAST = 20   /* fewer actors more are no growth, nor is less than a twentieth */
};

struct population {
    struct population_row {
        const tr_behavior *behavior; /* NULL: this row and the next ones are not used */
        uint64_t live;
        uint64_t before[POPULATION_WINDOWS][2]; /* at two times, the newer one first */
    } rows[POPULATION_MAX];
    tr_time before_ns[POPULATION_WINDOWS][2]; /* 0: not known */
    tr_time look_ns;                          /* when to look next */
};

/** Counts the actors if it is time to: each few seconds, or less often if that takes long. The thread of the socket only. */
void tr__population_look(struct population *population, struct tr_system *system, tr_time now_ns);
/**
 * Whether a behavior has more and more actors: more than a short time ago, and many more than some time ago. Then *before is how many it had, and *since_ns when. The thread of the
 * socket only.
 */
bool tr__population_grows(const struct population *population, const struct population_row *row,
                          tr_time now_ns, uint64_t *before, tr_time *since_ns);

#endif
