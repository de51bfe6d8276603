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
    SAMPLE_FLOWS = 512,    /* the most flows that a worker keeps */
    /* counts of turns below 1 us, 4 us, 16 us, ... 1.05 s, and of the rest */
    SAMPLE_BUCKETS = 12,
    SAMPLE_FIRST_NS = 1000,
    SAMPLE_FACTOR = 4,
    SAMPLE_ODDS_MIN = 1,    /* at the beginning of an open round, one of this many runs is timed */
    SAMPLE_ODDS_MAX = 1024, /* at least one of this many runs of an open round is timed */
    /* after this many samples the odds are doubled: only half as many runs are timed */
    SAMPLE_TAKEN_MAX = 8,
    /* if an open round has n times this many runs, about n - 1 rounds after it are left out */
    SAMPLE_RUNS = 64,
    SAMPLE_SCALE_MAX = 64, /* the greatest n of the line above */
    SLOW_TURNS = 32,       /* the most slow turns that are kept for each worker */
    SLOW_SECONDS = 60      /* after this time any other turn may replace a slow one */
};

/**
 * Turns of one handler that one worker has timed. Written by the worker, read by any thread. The weight of a timed turn is
 * the number of turns for which it counts: those that its run would have had, times the runs and rounds that were left out.
 */
struct turn_sample {
    atomptr handler; /* const tr_handler; NULL: this entry is not used. Written last */
    const tr_behavior *behavior;
    atom64 count;  /* number of turns that were timed, or were to be timed */
    atom64 weight; /* weight of the turns that were timed */
    atom64 waited; /* weight of the turns that were to be timed, but are not because they wait */
    atom64 sum_ns; /* sum of the times, each multiplied by its weight */
    atom64 longest_ns;
    atom64 buckets[SAMPLE_BUCKETS]; /* weights */
};

/** One turn that took long. */
struct slow_turn {
    uint64_t number; /* number of the turn on its worker, from 1; 0: this entry is not used */
    uint64_t ref;
    uint64_t causal;
    uint64_t record; /* a number that its first record has, or one below; 0: it was not followed */
    const tr_behavior *behavior;
    const tr_handler *handler;
    tr_time ended_ns;
    tr_time took_ns;
};

/**
 * The slowest of the turns that one worker has timed. The worker takes the lock only for a turn
 * that belongs here. If another thread has the lock, the worker leaves the turn out, because it
 * never waits.
 */
struct slow_turns {
    struct lock lock;
    uint64_t last; /* number of the turn that was added last */
    struct slow_turn turns[SLOW_TURNS];
};

/** For how long a worker had been awake in all, when the time was at_ns. */
struct awake_mark {
    tr_time at_ns;
    uint64_t awake_ns;
};

/** Where the message of a turn came from. */
enum flow_origin {
    FLOW_ACTOR,   /* an actor that was still there when its message was handled */
    FLOW_GONE,    /* an actor that had ended by then */
    FLOW_OUTSIDE, /* a client, the tool, or the runtime */
    FLOW_TIMER,
    FLOW_CHANNEL
};

/** Sampled turns by sender, receiver and message. Written by the worker, read by any thread. */
struct turn_flow {
    atomptr type;            /* const tr_type; NULL: this entry is not used. Written last */
    const tr_behavior *from; /* NULL, unless `origin` is FLOW_ACTOR */
    const tr_behavior *to;
    uint8_t origin; /* enum flow_origin */
    atom64 weight;  /* weight of the sampled turns; see struct turn_sample */
};

struct worker_samples {
    struct awake_mark awake[2];     /* the newer one first; under system_samples.lock */
    struct loop_hooks hooks;        /* a copy of the loop's hooks in which only `run` differs */
    const struct loop_hooks *usual; /* the usual hooks of the loop */
    atomptr table;                  /* SAMPLE_HANDLERS of struct turn_sample; NULL: none yet */
    struct slow_turns slow;         /* valid if there is a table */
    atom64 left_out;                /* samples of handlers for which the table has no place */
    atomptr flows;      /* SAMPLE_FLOWS of struct turn_flow; NULL: nobody has asked for them yet */
    atom64 flow_weight; /* weight of all turns whose sender was looked at */
    atom64 flow_left_out;  /* the part of flow_weight for which `flows` has no place */
    atom64 handled_before; /* messages that the worker had handled when the table was emptied */
    uint32_t generation;   /* generation of the figures in the table: struct system_samples */
    uint32_t skip;         /* runs to leave out before the next timed run */
    uint32_t odds;         /* one of this many runs is timed now */
    uint32_t taken;        /* samples of this round */
    uint32_t runs;         /* runs of this round */
    uint32_t gap;          /* rounds to leave out before the next one that is open */
    uint32_t scale;        /* how many rounds an open round counts for; 0: not known yet */
    const struct cell
        *rest;     /* the actor of the last timed run, if it has turns left of that run; or NULL */
    uint64_t last; /* number of the sample that was begun last */
    uint64_t random;
    /* About the turn that is timed: */
    bool is_timing;
    uint32_t weight;
    const tr_behavior *behavior;
    /*
     * Type, sender and kind of the message of that turn, if somebody asks for flows:
     * actor/turn/follow_turn.c. A type of NULL: the message was not looked at.
     */
    const tr_type *type;
    uint64_t sender;
    uint8_t kind;    /* enum envelope_kind */
    uint64_t record; /* as in struct slow_turn */
    uint64_t causal; /* the causal id of that turn, if `record` is not 0 */
};

#endif
