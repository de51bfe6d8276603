/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Following messages through the system: what `troupe trace` shows.
 *
 * Somebody marks an actor. Each message that a marked actor handles is followed: the causal id of
 * the message is noted, and every turn with this id leaves records, on all workers. The records say
 * when the turn began and ended, what it sent, and which actors it started. All that a turn sends
 * has the causal id of the turn's message, so the records of one id are one tree.
 *
 * While nobody follows, a message costs nothing more. While somebody follows, each worker runs a
 * second copy of the functions that call handlers (actor/turn/run.c, CALL_FOLLOWING). This copy
 * looks at the causal id of each turn. In a turn that is followed, worker->outbox_turn is set, as
 * in a turn of a durable actor. So no fast path sends, and tr__outbox_send sees each message
 * (docs/design/message-trace.md).
 *
 * Records are in a ring for each worker. Rules:
 *   1. A record is written under the lock of its ring, and gets its number while the lock is held. A reader takes the
 *      locks of all rings, in their order, so that it sees all records up to the highest number.
 *   2. The newest records replace the oldest. Numbers have no gaps, so that a reader knows how many it has missed.
 */
#ifndef ACTOR_CELL_FOLLOW_H
#define ACTOR_CELL_FOLLOW_H

#include <troupe/limits.h>
#include <troupe/message.h>

#include "os/atomic.h"
#include "os/lock.h"

struct cell;
struct envelope;
struct memory_source;
struct tr_self;
struct tr_system;
struct worker;

enum {
    FOLLOW_PATH_MAX = 95,
    /* number of places in the hash table of followed causal ids; the table has no chains */
    FOLLOW_CAUSALS = 1024,
    FOLLOW_ALL_MAX = 16384, /* all rings together have at most this many records */
    FOLLOW_LEAST = 128,     /* the least number of records of a ring */
    /*
     * number of places in the hash table of causal ids on trial, see struct follow_trial; the table
     * has no chains
     */
    FOLLOW_TRIALS = 256,
    FOLLOW_TRIAL_TURNS = 64 /* how many turns of a causal id on trial are followed */
};

enum follow_what { FOLLOW_BEGAN, FOLLOW_ENDED, FOLLOW_SENT, FOLLOW_SPAWNED, FOLLOW_COUNT };

struct follow_event {
    uint64_t number; /* number of the record, counted from 1 over all rings */
    tr_time time_ns; /* the time, as tr_now returns it */
    uint64_t causal;
    uint64_t turn;  /* number of the turn; never 0 */
    uint64_t actor; /* the actor whose turn it is */
    /* for BEGAN: the sender; SENT: the receiver; SPAWNED: the child; 0: none */
    uint64_t other;
    const tr_type *type;  /* type of the message */
    const char *handler;  /* for BEGAN: name of the handler */
    const char *behavior; /* for BEGAN: behavior of the actor; SPAWNED: behavior of the child */
    uint32_t count;       /* for SPAWNED: how many children the turn has started */
    tr_status status;     /* for ENDED: status of a failure; SENT: why the message was refused */
    uint16_t worker;
    uint8_t what; /* enum follow_what */
    uint8_t kind; /* for BEGAN and SENT: enum envelope_kind */
    /* path of the actor; of a path that is too long, the end */
    char path[FOLLOW_PATH_MAX + 1];
    char other_path[FOLLOW_PATH_MAX + 1]; /* path of `other`; "" if there is none */
};

struct follow_ring {
    struct lock lock;
    uint32_t capacity;
    uint64_t written;
    struct follow_event events[];
};

/**
 * The trace of a request that came from outside, as in W3C Trace Context: a trace id of 128 bits,
 * and the span of the sender.
 */
struct follow_context {
    uint64_t causal; /* causal id of the turn that handles the request */
    uint64_t trace_high;
    uint64_t trace_low;
    uint64_t span; /* span of the sender; 0: the trace began here */
};

/** The export of spans. See src/observe/otlp.h. */
struct follow_export {
    /* the upper half of the id of each trace that begins here; the causal id is the lower half */
    uint64_t seed;
    /*
     * one of `every` causal ids is followed; 0: only requests whose sender wants spans are followed
     */
    uint32_t every;
    struct lock lock;
    /* a hash table without chains, by causal id; under the lock */
    struct follow_context contexts[FOLLOW_CAUSALS];
    atom64 sent; /* number of spans that the collector has accepted */
    /* number of spans that were given up */
    atom64 dropped;
};

/**
 * Causal ids with these upper bits are never chosen by follow_export.every. They are for the
 * export's own work, and for requests whose sender does not want spans.
 */
#define FOLLOW_UNSAMPLED (UINT64_C(0xffffff) << 40)

/**
 * A causal id on trial: it is followed because one of its turns may be slow. Only a few of its
 * turns are followed, because nobody has asked for this id, and there may be turns with this id
 * forever.
 */
struct follow_trial {
    atom64 causal; /* 0: not used */
    atom32 left;   /* how many more turns with this causal id are followed */
};

/** What a system has for following messages. All zero: nobody follows. */
struct follow {
    struct lock lock; /* protects `users`, and changes of `marks` */
    uint32_t users;
    atom32 is_on;    /* whether `users` is not 0 */
    atomptr exports; /* a struct follow_export; NULL: no spans are exported */
    /* an array of worker_count pointers to struct follow_ring; NULL: nobody has followed yet */
    atomptr rings;
    atom64 number; /* number of the last record; changed under the lock of a ring */
    atom64 turn;   /* number of the last turn that was followed */
    /* how many causal ids lost their place in `causals` to another id */
    atom64 given_up;
    atom32 mark_count;             /* only the first `mark_count` places of `marks` may be in use */
    atom64 marks[TR_FOLLOWED_MAX]; /* refs; 0: free */
    uint32_t mark_users[TR_FOLLOWED_MAX];
    atom64 causals[FOLLOW_CAUSALS];
    atom32 trials_left; /* how many more trials may begin; see tr__follow_trials_allow */
    struct follow_trial trials[FOLLOW_TRIALS];
};

void tr__follow_init(struct follow *follow);
void tr__follow_deinit(struct tr_system *system);
/** Allocates the rings. Returns TR_OK or TR_NO_MEMORY. Under follow->lock. */
TR_MUST_CHECK tr_status tr__follow_rings_make(struct tr_system *system);

/** Notes that messages with this causal id are followed. Any thread. */
void tr__follow_causal(struct follow *follow, uint64_t causal);
/**
 * Whether a turn of this actor with this causal id is followed. If the actor is marked, also notes
 * the causal id, so that later turns with it are followed. Any thread.
 */
bool tr__follow_wants(struct follow *follow, uint64_t causal, uint64_t actor);

/**
 * Allows workers to begin `count` more trials. A worker begins a trial when it times a turn of a
 * handler that has been slow (actor/turn/samples.h). A trial follows that turn and what it leads
 * to, at most FOLLOW_TRIAL_TURNS turns. So the cost has a bound. Any thread.
 */
void tr__follow_trials_allow(struct follow *follow, uint32_t count);
/** Takes one of the trials that are allowed. Returns false if none is left. Any thread. */
bool tr__follow_trial_take(struct follow *follow);
/** Begins a trial: follows the next turns with this causal id. Any thread. */
void tr__follow_trial_begin(struct follow *follow, uint64_t causal);

/**
 * Adds a record. Fills in number, worker and path, also time_ns if it is 0, and other_path if
 * `other` is not 0. Worker only.
 */
void tr__follow_record(struct worker *worker, const struct cell *cell, struct follow_event *event);
/**
 * Records that the turn worker->outbox_turn has sent a message, or that the message was refused.
 * Worker only.
 */
void tr__follow_sent(struct worker *worker, const struct follow_event *sent, tr_status status);

/**
 * Copies records with numbers above `after`, the oldest first, at most `max`. Returns the number of
 * copied records. Sets *missed to the number of records after `after` that were replaced before
 * they could be copied. Any thread.
 */
size_t tr__follow_read(struct tr_system *system, uint64_t after, struct follow_event *events,
                       size_t max, uint64_t *missed);
/**
 * Calls `take` for each record, ring after ring. Holds the locks of all rings meanwhile. Workers
 * that write records wait for these locks, so `take` must be short. Sets *oldest to the number from
 * which on no record is missing: workers have replaced only records with lower numbers. Returns the
 * number of the last record. Any thread.
 */
uint64_t tr__follow_each(struct tr_system *system, uint64_t *oldest,
                         void (*take)(void *context, const struct follow_event *event),
                         void *context);
/**
 * Returns the number of the oldest record that the ring of a worker still has, or UINT64_MAX if it
 * has none. Any thread.
 */
uint64_t tr__follow_oldest(struct tr_system *system, uint32_t worker);

/**
 * Makes the export. From then on one of `every` causal ids is followed. Returns TR_OK or
 * TR_NO_MEMORY. Called at most once, before the system runs.
 */
TR_MUST_CHECK tr_status tr__follow_export_make(struct tr_system *system, uint32_t every);
/** Returns the export. Returns NULL if there is none. Any thread. */
static inline struct follow_export *follow_export_of(const struct follow *follow)
{
    return atomptr_load(&follow->exports, ATOM_ACQUIRE); /* pairs with tr__follow_export_make */
}
/** Notes the trace that a request from outside belongs to. Any thread. */
void tr__follow_adopt(struct follow_export *export, const struct follow_context *context);
/** Returns the trace that a causal id belongs to. Any thread. */
struct follow_context tr__follow_context(struct follow_export *export, uint64_t causal);
/** Returns the id of the span of a turn: not 0. Any thread. */
uint64_t tr__follow_span(const struct follow_export *export, uint64_t turn);

#endif
