/* SPDX-License-Identifier: Apache-2.0 */
/** Many schedules of one model with one strategy in one memory, until one fails. */
#ifndef ENGINE_SEARCH_H
#define ENGINE_SEARCH_H

#include "engine/machine.h"

struct search {
    const struct explore_model *model;
    enum strategy strategy;
    bool is_weak;
    uint64_t seed; /* of the first schedule; the next ones count up */
    uint64_t schedules_max;
    const char *choices; /* DFS: where to begin; NULL for the start */
    /* What came out. */
    uint64_t schedules;
    double seconds; /* of CPU */
    bool is_exhausted;
    bool is_failed;
    uint64_t seed_failed;
    char failure[FAILURE_SIZE_MAX];
    char choices_failed[CHOICES_MAX + 1];
};

void search_run(struct search *search);
/** Runs the schedule that failed, or else the first one, once more and prints its trace. */
void search_trace(const struct search *search);
/** Prints the command that repeats the failed schedule. */
void search_print_replay(const struct search *search);

/** The models, by name; NULL at the end. */
const struct explore_model *search_models(void);

#endif
