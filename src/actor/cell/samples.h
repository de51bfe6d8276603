/* SPDX-License-Identifier: Apache-2.0 */
/** What a worker knows about turns that it has timed. See actor/turn/samples.h. */
#ifndef ACTOR_CELL_SAMPLES_H
#define ACTOR_CELL_SAMPLES_H

#include <troupe/behavior.h>

#include "os/atomic.h"
#include "os/lock.h"
#include "sched/loop.h"

enum {
    SAMPLE_HANDLERS = 256, /* a worker keeps the times of at most this many handlers */
    SAMPLE_FLOWS = 512,    /* a worker keeps at most this many flows */
    /*
     * number of buckets that count turns by their time. The first bucket is for turns below 1 us,
     * the next ones for up to 4 us, 16 us and so on, and the last one for turns above 1.05 s
     */
    SAMPLE_BUCKETS = 12,
    SAMPLE_FIRST_NS = 1000,
    SAMPLE_FACTOR = 4,
    /*
     * About one of `odds` runs of an open round is timed; see actor/turn/samples.h. These are the
     * odds at the beginning of an open round, and the highest odds.
     */
    SAMPLE_ODDS_MIN = 1,
    SAMPLE_ODDS_MAX = 1024,
    SAMPLE_TAKEN_MAX = 8, /* the odds double whenever an open round has taken this many samples */
    /*
     * After an open round with n times this many runs, n - 1 rounds are skipped on average. Here n
     * is a whole number, at least 1 and at most SAMPLE_SCALE_MAX.
     */
    SAMPLE_RUNS = 64,
    SAMPLE_SCALE_MAX = 64,
    SLOW_TURNS = 32,  /* a worker keeps at most this many slow turns */
    SLOW_SECONDS = 60 /* after this many seconds any other turn may replace a slow turn */
};

/**
 * Turns of one handler that one worker has timed. Written by the worker, read by any thread. Most runs and rounds are
 * not timed, so a timed turn stands for several turns. Their number is the weight of the timed turn: the turns of its
 * run, times the runs and rounds that one timed run stands for.
 */
struct turn_sample {
    /* a const tr_handler; NULL: this entry is not used. Written after the other members */
    atomptr handler;
    const tr_behavior *behavior;
    /* number of turns that the worker began to time, including those that it gave up */
    atom64 count;
    atom64 weight; /* weight of the turns that were timed */
    /* weight of the turns that the worker began to time and gave up, because they waited */
    atom64 waited;
    atom64 sum_ns; /* sum of the times, each multiplied by its weight */
    atom64 longest_ns;
    atom64 buckets[SAMPLE_BUCKETS]; /* weights */
};

/** One turn that took long. */
struct slow_turn {
    /* number of the turn on its worker, counted from 1; 0: this entry is not used */
    uint64_t number;
    uint64_t ref;
    uint64_t causal;
    /*
     * number of the first record of the turn, or a lower number; see actor/cell/follow.h. 0: the
     * turn was not followed
     */
    uint64_t record;
    const tr_behavior *behavior;
    const tr_handler *handler;
    tr_time ended_ns;
    tr_time took_ns;
};

/**
 * The slowest of the turns that one worker has timed. The worker takes the lock only for a turn
 * that is slow enough to be kept. If another thread has the lock, the worker does not keep the
 * turn, because a worker never waits for this lock.
 */
struct slow_turns {
    struct lock lock;
    uint64_t last; /* number of the turn that was added last */
    struct slow_turn turns[SLOW_TURNS];
};

/** At the time at_ns, the worker had been awake for awake_ns in all. */
struct awake_mark {
    tr_time at_ns;
    uint64_t awake_ns;
};

/** Where the message of a turn came from. */
enum flow_origin {
    FLOW_ACTOR,   /* an actor that had not ended when its message was handled */
    FLOW_GONE,    /* an actor that had ended when its message was handled */
    FLOW_OUTSIDE, /* a client, the tool, or the runtime */
    FLOW_TIMER,
    FLOW_CHANNEL
};

/** Sampled turns by sender, receiver and message. Written by the worker, read by any thread. */
struct turn_flow {
    /* a const tr_type; NULL: this entry is not used. Written after the other members */
    atomptr type;
    const tr_behavior *from; /* NULL, unless `origin` is FLOW_ACTOR */
    const tr_behavior *to;
    uint8_t origin; /* enum flow_origin */
    atom64 weight;  /* weight of the sampled turns; see struct turn_sample */
};

struct worker_samples {
    /* the two last marks, the newer one first; under system_samples.lock */
    struct awake_mark awake[2];
    /* the hooks of the loop while turns are timed: those of `usual` with another `run` */
    struct loop_hooks hooks;
    const struct loop_hooks *usual; /* the hooks of the loop while no turns are timed */
    /* an array of SAMPLE_HANDLERS struct turn_sample; NULL: not allocated yet */
    atomptr table;
    struct slow_turns slow; /* used only if `table` is not NULL */
    /* number of samples that were lost, because the table has no place for their handler */
    atom64 left_out;
    /* an array of SAMPLE_FLOWS struct turn_flow; NULL: nobody has asked for flows yet */
    atomptr flows;
    atom64 flow_weight; /* weight of all timed turns whose sender was looked at */
    /* the part of flow_weight that was lost, because `flows` has no place for it */
    atom64 flow_left_out;
    /* number of messages that the worker had handled when the table was last emptied */
    atom64 handled_before;
    uint32_t generation; /* generation of the figures in the table; see struct system_samples */
    uint32_t skip;       /* how many runs are not timed before the next timed run */
    uint32_t odds;       /* one of this many runs of the present round is timed */
    uint32_t taken;      /* number of samples of the present round so far */
    uint32_t runs;       /* number of runs of the present round so far */
    uint32_t gap;        /* how many rounds are not open before the next open round */
    uint32_t scale;      /* how many rounds one open round stands for; 0: not known yet */
    const struct cell
        *rest;     /* the actor of the last timed run, if turns of that run are left; else NULL */
    uint64_t last; /* number of the last sample that was begun */
    uint64_t random;
    /* The turn that is timed now: */
    bool is_timing;
    uint32_t weight;
    const tr_behavior *behavior;
    /*
     * While a tool asks for flows: type, sender and kind of the message of the turn that is timed
     * now; see actor/turn/follow_turn.c. If `type` is NULL, the message was not looked at.
     */
    const tr_type *type;
    uint64_t sender;
    uint8_t kind;    /* enum envelope_kind */
    uint64_t record; /* what slow_turn.record will be if the turn that is timed now is slow */
    uint64_t causal; /* causal id of the turn that is timed now; set only if `record` is not 0 */
};

#endif
