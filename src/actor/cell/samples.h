/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What a worker knows about turns that it has timed: actor/turn/samples.h.
 */
#ifndef ACTOR_CELL_SAMPLES_H
#define ACTOR_CELL_SAMPLES_H

#include <troupe/behavior.h>

#include "os/atomic.h"
#include "os/lock.h"
#include "sched/loop.h"

enum {
    SAMPLE_HANDLERS = 256, /* the most handlers whose times a worker keeps */
    /* counts of turns below 1 us, 4 us, 16 us, ... 1.05 s, and of the rest */
    SAMPLE_BUCKETS = 12,
    SAMPLE_FIRST_NS = 1000,
    SAMPLE_FACTOR = 4,
    SLOW_TURNS = 32,  /* slow turns that each worker keeps */
    SLOW_SECONDS = 60 /* a slow turn that is older than this is replaced by another one */
};

/** Turns of one handler that one worker has timed. Written by the worker, read by any thread. */
struct turn_sample {
    atomptr handler; /* const tr_handler; NULL: this entry is not used. Written last */
    const tr_behavior *behavior;
    atom64 count;
    atom64 sum_ns;
    atom64 longest_ns;
    atom64 buckets[SAMPLE_BUCKETS];
};

/** One turn that took long. */
struct slow_turn {
    uint64_t number; /* number of the turn on its worker, from 1; 0: this entry is not used */
    uint64_t ref;
    uint64_t causal;
    const tr_behavior *behavior;
    const tr_handler *handler;
    tr_time ended_ns;
    tr_time took_ns;
};

/**
 * The slowest of the turns that one worker has timed. The worker takes the lock only for a turn
 * that belongs here. If another thread has the lock, it leaves the turn out: it never waits.
 */
struct slow_turns {
    struct lock lock;
    uint64_t last; /* number of the turn that was added last */
    struct slow_turn turns[SLOW_TURNS];
};

struct worker_samples {
    struct loop_hooks hooks;        /* the hooks of the loop, with another `run` */
    const struct loop_hooks *usual; /* the usual hooks of the loop */
    atomptr table;                  /* SAMPLE_HANDLERS of struct turn_sample; NULL: none yet */
    struct slow_turns slow;         /* valid if there is a table */
    atom64 left_out;                /* samples of handlers for which the table has no place */
};

#endif
