/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The thread that looks into a system for others: what it remembers between two requests. Used by that thread only.
 *
 * It has a client, for what only workers know, a reader of the store, and two small tables of fixed size:
 *   - marks: which message was the oldest in a mailbox, and when it was first seen there. Messages
 *     have no time of their own, so an age is at least the time since a look has seen the message.
 *     The thread looks at the fullest mailboxes each second, also when nobody asks. So when
 *     somebody asks, it knows the age to within a second;
 *   - samples: which handlers were found running, while somebody watches.
 */
#ifndef OBSERVE_OBSERVER_H
#define OBSERVE_OBSERVER_H

#include <troupe/observe.h>

#include "observe/population.h"

enum {
    OBSERVER_MARKS = 64,
    OBSERVER_LOOKED_AT = 5, /* how many mailboxes are looked at each second */
    OBSERVER_GROWTHS = 16,  /* of how many it is remembered whether they grow */
    OBSERVER_SAMPLES = 128,
    OBSERVER_SAMPLE_MS = 2,  /* between two looks at the workers, while somebody watches */
    OBSERVER_STUCK_MS = 20,  /* a worker that has been in one turn for so long is not asked */
    OBSERVER_WATCH_MS = 3000 /* samples are taken for so long after somebody asked */
};

struct schema_source;
struct backup;

struct observer_mark {
    uint64_t ref;
    uint64_t mark;
    tr_time seen_ns;
    tr_time checked_ns; /* when the message was last seen */
};

/** A mailbox that was among the fullest ones, since it last had fewer messages than at the beginning. */
struct observer_growth {
    uint64_t ref; /* 0: this entry is not used */
    tr_time since_ns;
    uint32_t since_queued;
    uint32_t most_queued;
    tr_time checked_ns;
};

struct observer_sample {
    const tr_behavior *behavior; /* NULL: this entry is not used */
    const tr_handler *handler;   /* NULL: not known */
    uint64_t count;
};

struct observer {
    tr_system *system; /* NULL: no program runs; see observe/offline.h */
    const struct memory_source
        *source; /* of the system, if there is one; tr__visitor_open sets it */
    tr_client *client;
    const char *app;
    struct store_reader *reader;        /* of the store; NULL: not used yet */
    const struct schema_source *schema; /* NULL: not known */
    struct observer_mark marks[OBSERVER_MARKS];
    struct observer_sample samples[OBSERVER_SAMPLES];
    uint64_t looks;            /* how often each worker was looked at since samples are taken */
    uint64_t busy;             /* looks that found a handler running, over all workers */
    uint64_t samples_left_out; /* samples that were left out because the table was full */
    struct observer_flame {    /* like `samples`, but never reset: observe/flame.h */
        struct observer_sample samples[OBSERVER_SAMPLES];
        uint64_t looks;
        uint64_t busy;
        uint64_t left_out;
        tr_time since_ns; /* when the first look was asked for; 0: never */
    } flame;
    tr_time watched_ns; /* when somebody last asked for samples; 0: never */
    tr_time look_ns;    /* when to look at the fullest mailboxes next; 0: nobody has looked */
    uint64_t moved;     /* messages that were sent or handled before the last look */
    struct observer_growth growths[OBSERVER_GROWTHS];
    struct population population;
    uint64_t letters[2]; /* dead letters at two times, the newer one first */
    tr_time letters_ns[2];
    bool is_dozing;      /* all workers sleep; see sched/doorbell.h */
    uint32_t page_count; /* clients that are pages of an inspector: observe/page.h */
    struct backup *left; /* backups whose clients have gone: observe/store_backup.h */
};

/** Returns the time, as tr_now does. */
tr_time tr__observer_now(const struct observer *observer);
/** Whether samples are to be taken now. */
bool tr__observer_is_watched(const struct observer *observer);
/** Looks once at what each worker runs. */
void tr__observer_sample(struct observer *observer);
/** Forgets the samples, and takes new ones for a while. */
void tr__observer_watch(struct observer *observer);

/** Takes samples for a while, and keeps the earlier ones. */
void tr__observer_watch_on(struct observer *observer);

/** Returns for how long a message has been seen as the oldest of its actor; 0: it is seen for the first time. */
tr_time tr__observer_age(struct observer *observer, tr_ref actor, uint64_t mark);

/**
 * Does what tr__observer_age does for an actor whose worker has been stuck for `stuck_ns` and cannot say which message
 * is the oldest. That message has not changed since then. The mailbox must not be empty.
 */
tr_time tr__observer_age_stuck(struct observer *observer, tr_ref actor, tr_time stuck_ns);

/**
 * Looks at the fullest mailboxes if it is time to: once a second, or less often if a look takes long. Returns in how
 * many milliseconds to call it again; -1: when the doorbell of the system rings, because all workers sleep.
 */
int tr__observer_look(struct observer *observer);

/**
 * Whether the worker of an actor is stuck in a turn; then *info says in which. -1 as `worker` is never stuck.
 */
bool tr__observer_is_stuck(struct observer *observer, int worker, tr_worker_info *info);

/**
 * Returns since when the mailbox of an actor has not had fewer than *since_queued messages; it had up to *most_queued. 0: it
 * was not among the fullest ones.
 */
tr_time tr__observer_grows(const struct observer *observer, tr_ref actor, uint32_t *since_queued,
                           uint32_t *most_queued);

/** Describes an actor without asking its worker. Returns false if it has ended. */
bool tr__observer_find(struct observer *observer, tr_ref actor, tr_actor_info *info);

/** Finds the actors with the fullest mailboxes, the fullest first. Returns how many; at most `max`. */
size_t tr__observer_deepest(struct observer *observer, uint32_t queued_min, tr_actor_info *infos,
                            size_t max);

#endif
