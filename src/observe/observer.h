/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The observer: what the thread that looks into a system remembers between two requests. Only that
 * thread uses it.
 *
 * It has a client, for what only workers know, a reader of the store, and two small tables of fixed
 * size:
 *   - marks: which message was the oldest in a mailbox, and when it was first seen there. Messages
 *     do not contain a time, so the age of a message is the time since it was first seen as the
 *     oldest. The thread looks at the fullest mailboxes each second, even if no client asks. So it
 *     knows ages to within a second;
 *   - samples: which handlers were found running, while a client watches.
 */
#ifndef OBSERVE_OBSERVER_H
#define OBSERVE_OBSERVER_H

#include <troupe/observe.h>

#include "observe/population.h"

enum {
    OBSERVER_MARKS = 64,
    OBSERVER_LOOKED_AT = 5, /* mailboxes that are looked at each second */
    OBSERVER_GROWTHS = 16,  /* mailboxes of which it is remembered whether they grow */
    OBSERVER_SAMPLES = 128,
    OBSERVER_SAMPLE_MS = 2,  /* time between two looks at the workers, while a client watches */
    OBSERVER_STUCK_MS = 20,  /* a worker that has been in one turn for this time is not asked */
    OBSERVER_WATCH_MS = 3000 /* time after a request for which samples are taken */
};

struct schema_source;
struct backup;

struct observer_mark {
    uint64_t ref;
    uint64_t mark;
    tr_time seen_ns;
    tr_time checked_ns; /* when the message was last found to be the oldest */
};

/**
 * A mailbox that is, or was, among the fullest ones. The entry begins again when the mailbox has
 * fewer messages than it had when the entry began (since_queued).
 */
struct observer_growth {
    uint64_t ref; /* ref of the actor; 0: this entry is not used */
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
    tr_system *system; /* NULL: no program runs, only a store is read; see observe/offline.h */
    const struct memory_source
        *source; /* memory of the system, if there is one; tr__visitor_open sets it */
    tr_client *client;
    const char *app;
    struct store_reader *reader;        /* a reader of the store; NULL: none yet */
    const struct schema_source *schema; /* NULL: the schema is not known */
    struct observer_mark marks[OBSERVER_MARKS];
    struct observer_sample samples[OBSERVER_SAMPLES];
    uint64_t looks;            /* number of looks at each worker since sampling began */
    uint64_t busy;             /* looks that found a handler running, over all workers */
    uint64_t samples_left_out; /* samples that were left out because the table was full */
    struct observer_flame {    /* as `samples`, but never reset; see observe/flame.h */
        struct observer_sample samples[OBSERVER_SAMPLES];
        uint64_t looks;
        uint64_t busy;
        uint64_t left_out;
        tr_time since_ns; /* when a client first asked for these; 0: never */
    } flame;
    tr_time watched_ns; /* when a client last asked for samples; 0: never */
    tr_time look_ns;    /* when to look at the fullest mailboxes again; 0: no look so far */
    uint64_t moved;     /* number of messages that were sent or handled before the last look */
    struct observer_growth growths[OBSERVER_GROWTHS];
    struct population population;
    uint64_t letters[2]; /* dead letters at two times, the newer one first */
    tr_time letters_ns[2];
    bool is_dozing;      /* all workers sleep; see sched/doorbell.h */
    uint32_t page_count; /* number of clients that are pages of an inspector; see observe/page.h */
    struct stack_texts
        *stacks; /* what stacks of long turns say; NULL: none yet; see observe/stacks.h */
    struct observer_trials {
        tr_time until_ns; /* slow turns are followed until then; 0: they are not */
        tr_time asked_ns; /* when a client last asked for that; 0: never */
        uint64_t handled; /* messages that were handled before */
    } trials;             /* see observe/trials.h */
    struct backup *left;  /* backups whose clients have gone; see observe/store_backup.h */
};

/** Returns the time, as tr_now does. */
tr_time tr__observer_now(const struct observer *observer);
/** Whether samples must be taken now. */
bool tr__observer_is_watched(const struct observer *observer);
/** Takes one sample: looks at what each worker runs. */
void tr__observer_sample(struct observer *observer);
/** Drops all samples, and takes new ones for a while. */
void tr__observer_watch(struct observer *observer);

/** Takes further samples for a while, in addition to the present ones. */
void tr__observer_watch_on(struct observer *observer);

/**
 * Returns for how long a message has been seen as the oldest of its actor, or 0 if it is seen for
 * the first time.
 */
tr_time tr__observer_age(struct observer *observer, tr_ref actor, uint64_t mark);

/**
 * As tr__observer_age, for an actor whose worker has been stuck for `stuck_ns` and cannot say which
 * message is the oldest. The oldest message has not changed since then. The mailbox must not be
 * empty.
 */
tr_time tr__observer_age_stuck(struct observer *observer, tr_ref actor, tr_time stuck_ns);

/**
 * Looks at the fullest mailboxes if it is time for that: once a second, or less often if a look
 * takes long. Returns the milliseconds until the next call, or -1 if all workers sleep: then call
 * it when the doorbell of the system rings.
 */
int tr__observer_look(struct observer *observer);

/**
 * Whether the worker of an actor is stuck in a turn. If so, fills in *info about that turn. The
 * worker -1 is never stuck.
 */
bool tr__observer_is_stuck(struct observer *observer, int worker, tr_worker_info *info);

/**
 * Returns the time since which the mailbox of an actor has always had at least *since_queued
 * messages. Sets *most_queued to the most that it had. Returns 0 if the mailbox was not among the
 * fullest ones.
 */
tr_time tr__observer_grows(const struct observer *observer, tr_ref actor, uint32_t *since_queued,
                           uint32_t *most_queued);

/** Describes an actor without asking its worker. Returns false if the actor has ended. */
bool tr__observer_find(struct observer *observer, tr_ref actor, tr_actor_info *info);

/**
 * Finds the actors with the fullest mailboxes, the fullest first. Returns their number, at most
 * `max`.
 */
size_t tr__observer_deepest(struct observer *observer, uint32_t queued_min, tr_actor_info *infos,
                            size_t max);

#endif
