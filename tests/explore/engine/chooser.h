/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Decides at a choice point: at random, by priorities (PCT), or by going through all (DFS).
 *
 * A schedule of the first two is a function of its seed; one of DFS of its list of choices.
 */
#ifndef ENGINE_CHOOSER_H
#define ENGINE_CHOOSER_H

#include "explore/model.h"

#include <stddef.h>

enum strategy { STRATEGY_RANDOM, STRATEGY_PCT2, STRATEGY_PCT3, STRATEGY_DFS, STRATEGY_COUNT };

enum {
    CHOICES_MAX = 8192,     /* of one schedule; more than its steps with their values */
    PREEMPTIONS_MAX = 2,    /* of one schedule of DFS */
    STALE_READS_MAX = 8,    /* of one schedule that reads the history */
    STALE_READS_DFS_MAX = 1 /* the same under DFS */
};

struct chooser {
    enum strategy strategy;
    uint64_t random;
    /* PCT: the thread with the highest priority runs; at a change point it falls to the last. */
    unsigned steps_expected;
    int priorities[EXPLORE_THREADS_MAX];
    int priority_lowest;
    unsigned changes[2];
    /* DFS: the way down to the present leaf. */
    unsigned depth;
    unsigned depth_known;
    unsigned preemptions;
    uint8_t chosen[CHOICES_MAX];
    uint8_t counts[CHOICES_MAX];
};

const char *chooser_strategy_name(enum strategy strategy);

/** Before the first schedule. `steps_expected` is the length of a schedule, for PCT. */
void chooser_init(struct chooser *chooser, enum strategy strategy, unsigned steps_expected);
/** Before each schedule. */
void chooser_begin(struct chooser *chooser, uint64_t seed, int threads);
/** After a schedule of DFS: goes to the next. False when there is none. */
bool chooser_next(struct chooser *chooser);
/** DFS: begins at the schedule that `text` describes, as chooser_print wrote it. */
bool chooser_parse(struct chooser *chooser, const char *text);
void chooser_print(const struct chooser *chooser, char *text, size_t size);

/**
 * Which thread of the set `enabled` continues. `current` is in the set when it could continue, and
 * `step` counts the choice points of the schedule.
 */
int chooser_thread(struct chooser *chooser, unsigned enabled, int current, unsigned step);
/** The current thread gives way. */
void chooser_yield(struct chooser *chooser, int current);
/** A number below `count`, all alike. */
unsigned chooser_value(struct chooser *chooser, unsigned count);
/** A number below `count`, 0 in half of the cases. */
unsigned chooser_value_mostly_0(struct chooser *chooser, unsigned count);

#endif
