/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Following messages through the system: what `troupe trace` shows.
 *
 * An actor is marked. Each message that it handles from then on is followed: its causal id is noted, and every turn that
 * has this id leaves records, on all workers: when it began and ended, what it sent, whom it started. All that a turn
 * sends has the causal id of its message, so that the records of one id are one tree.
 *
 * Nothing of this costs a message anything while nobody follows. While somebody does, each worker runs another copy of
 * the functions that call handlers (actor/turn/run.c, CALL_FOLLOWING), which looks at the causal id of each turn. In a
 * turn that is followed worker->outbox_turn is set, as in a turn of a durable actor, so that no fast path sends and
 * tr__outbox_send sees each message (docs/design/message-trace.md).
 *
 * Records are in a ring for each worker. Rules:
 *   1. A record is written under the lock of its ring, and gets its number there. A reader takes the locks of all rings,
 *      in their order, so that it sees all records up to the highest number.
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
    FOLLOW_CAUSALS = 1024,  /* causal ids that are followed at once: a table without chains */
    FOLLOW_ALL_MAX = 16384, /* records of all rings together */
    FOLLOW_LEAST = 128,     /* records of a ring */
};

enum follow_what { FOLLOW_BEGAN, FOLLOW_ENDED, FOLLOW_SENT, FOLLOW_SPAWNED, FOLLOW_COUNT };

struct follow_event {
    uint64_t number; /* from 1, over all rings */
    tr_time time_ns; /* as tr_now */
    uint64_t causal;
    uint64_t turn;        /* number of the turn; never 0 */
    uint64_t actor;       /* of the turn */
    uint64_t other;       /* BEGAN: sender; SENT: receiver; SPAWNED: child. 0: none */
    const tr_type *type;  /* of the message */
    const char *handler;  /* BEGAN: its name */
    const char *behavior; /* BEGAN: of the actor; SPAWNED: of the child */
    uint32_t count;       /* SPAWNED: how many children the turn has started */
    tr_status status;     /* ENDED: of a failure; SENT: why it was refused */
    uint16_t worker;
    uint8_t what;                         /* enum follow_what */
    uint8_t kind;                         /* BEGAN, SENT: enum envelope_kind */
    char path[FOLLOW_PATH_MAX + 1];       /* of the actor; the beginning of a long one is cut */
    char other_path[FOLLOW_PATH_MAX + 1]; /* "" if there is no other */
};

struct follow_ring {
    struct lock lock;
    uint32_t capacity;
    uint64_t written;
    struct follow_event events[];
};

/** The trace of a request that came from outside, by W3C Trace Context: 128 bits, and the span that has sent it. */
struct follow_context {
    uint64_t causal; /* of the turn that handles the request */
    uint64_t trace_high;
    uint64_t trace_low;
    uint64_t span; /* 0: the trace began here */
};

/** Spans are exported: src/observe/otlp.h. */
struct follow_export {
    uint64_t seed; /* traces that begin here are seed and causal id */
    uint32_t
        every; /* one of so many causal ids is followed; 0: only those of requests that want it */
    struct lock lock;
    struct follow_context contexts[FOLLOW_CAUSALS]; /* under the lock: a table without chains */
    atom64 sent;                                    /* spans that a collector has taken */
    atom64 dropped;                                 /* spans that none has */
};

/**
 * The upper bits of a causal id that is never chosen by follow_export.every: what the export itself does, and requests
 * whose sender does not want spans.
 */
#define FOLLOW_UNSAMPLED (UINT64_C(0xffffff) << 40)

/** Part of struct tr_system. All zero: nobody follows. */
struct follow {
    struct lock lock; /* for users and for changes of marks */
    uint32_t users;
    atom32 is_on;                  /* users is not 0 */
    atomptr exports;               /* struct follow_export; NULL: no spans are exported */
    atomptr rings;                 /* struct follow_ring *[worker_count]; NULL: never used */
    atom64 number;                 /* of the last record; changed under the lock of a ring */
    atom64 turn;                   /* number of the last turn that was followed */
    atom64 given_up;               /* causal ids that were replaced in `causals` by another one */
    atom32 mark_count;             /* places of `marks` that may be in use */
    atom64 marks[TR_FOLLOWED_MAX]; /* refs; 0: free */
    uint32_t mark_users[TR_FOLLOWED_MAX];
    atom64 causals[FOLLOW_CAUSALS];
};

void tr__follow_init(struct follow *follow);
void tr__follow_deinit(struct tr_system *system);
/** Allocates the rings. TR_NO_MEMORY. Under follow->lock. */
TR_MUST_CHECK tr_status tr__follow_rings_make(struct tr_system *system);

/** Notes that messages with this causal id are followed. Any thread. */
void tr__follow_causal(struct follow *follow, uint64_t causal);
/** Whether a turn with this causal id, of this actor, is followed; notes its causal id. Any thread. */
bool tr__follow_wants(struct follow *follow, uint64_t causal, uint64_t actor);

/** Adds a record. number, worker and path are filled in; time_ns if it is 0; `other_path` unless `other` is 0. Worker only. */
void tr__follow_record(struct worker *worker, const struct cell *cell, struct follow_event *event);
/** Records that the turn worker->outbox_turn has sent a message, or that it was refused. Worker only. */
void tr__follow_sent(struct worker *worker, const struct follow_event *sent, tr_status status);

/**
 * Copies records with numbers above `after`, the oldest first, at most `max`. Returns how many. *missed is how many are
 * gone between `after` and the first one. Any thread.
 */
size_t tr__follow_read(struct tr_system *system, uint64_t after, struct follow_event *events,
                       size_t max, uint64_t *missed);

/** Follows one of `every` causal ids from now on, for an export. TR_NO_MEMORY. Once, before the system runs. */
TR_MUST_CHECK tr_status tr__follow_export_make(struct tr_system *system, uint32_t every);
/** Returns the export; NULL: there is none. Any thread. */
static inline struct follow_export *follow_export_of(const struct follow *follow)
{
    return atomptr_load(&follow->exports, ATOM_ACQUIRE); /* partner: tr__follow_export_make */
}
/** Notes the trace of a request. Any thread. */
void tr__follow_adopt(struct follow_export *export, const struct follow_context *context);
/** Returns the trace that a causal id belongs to. Any thread. */
struct follow_context tr__follow_context(struct follow_export *export, uint64_t causal);
/** Returns the id of the span of a turn: not 0. Any thread. */
uint64_t tr__follow_span(const struct follow_export *export, uint64_t turn);

#endif
