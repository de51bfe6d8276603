/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The observer. It has what the thread that looks into a system keeps between two requests. Only
 * that thread uses it.
 *
 * It has a client, with which it asks workers, a reader of the store, and tables of fixed
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
#include "observe/scan.h"

enum {
    OBSERVER_MARKS = 256,
    OBSERVER_TYPE_MARKS = 512, /* as many as one look of the verb "handlers" makes */
    OBSERVER_LOOKED_AT = 5,    /* mailboxes that are looked at each second */
    OBSERVER_GROWTHS = 16,     /* mailboxes of which the growth is noted */
    OBSERVER_SAMPLES = 128,
    /* while a client watches: time between two samples of what workers run */
    OBSERVER_SAMPLE_MS = 2,
    OBSERVER_STUCK_MS = 20,  /* a worker that has been in one turn for this long is not asked */
    OBSERVER_WATCH_MS = 3000 /* for how long samples are taken after a request */
};

struct schema_source;
struct backup;
struct slow_trees;

struct observer_mark {
    uint64_t ref;
    const tr_type *type; /* the oldest message of this type; NULL: of all */
    uint64_t mark;
    tr_time seen_ns;
    tr_time checked_ns; /* when the message was last found to be the oldest */
};

/**
 * The growth of a mailbox that is, or was, among the fullest mailboxes. When the mailbox has fewer
 * messages than `since_queued`, the entry is reset.
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
    tr_system *system; /* NULL: no program runs, and only a store is read (observe/offline.h) */
    const struct memory_source *source; /* memory of the system; tr__visitor_open sets it */
    tr_client *client;
    const char *app;
    struct store_reader *reader;                /* reader of the store; NULL: none was needed yet */
    const struct schema_source *schema;         /* NULL: the schema is not known */
    struct observer_mark marks[OBSERVER_MARKS]; /* marks of the oldest message of any type */
    /*
     * marks of the oldest message of one type; in another table, so that they do not replace the
     * marks above
     */
    struct observer_mark type_marks[OBSERVER_TYPE_MARKS];
    struct observer_sample samples[OBSERVER_SAMPLES];
    uint64_t looks; /* how often each worker was looked at since sampling began */
    /* how many of these looks found a handler running, over all workers */
    uint64_t busy;
    uint64_t samples_left_out; /* how many samples were left out because the table was full */
    /* as samples, looks, busy and samples_left_out above, but never reset; see observe/flame.h */
    struct observer_flame {
        struct observer_sample samples[OBSERVER_SAMPLES];
        uint64_t looks;
        uint64_t busy;
        uint64_t left_out;
        tr_time since_ns; /* when a client first asked for these counts; 0: never */
    } flame;
    tr_time watched_ns;    /* when a client last asked for samples; 0: never */
    tr_time look_ns;       /* when to look at the fullest mailboxes again; 0: no look so far */
    struct observer_look { /* the present look; see tr__observer_look */
        bool is_on;
        bool counts; /* the actors are counted by behavior, too */
        tr_time begin_ns;
        tr_time took_ns; /* how long its steps have taken so far */
        struct scan scan;
        struct fullest fullest;
        bool has_scanned;
        /* how many of the fullest mailboxes were asked for their oldest message */
        uint32_t asked;
        tr_time oldest_ns; /* the greatest age that these mailboxes have answered; -1: none */
    } look;
    uint64_t moved; /* number of messages that were sent or handled before the last look */
    struct observer_growth growths[OBSERVER_GROWTHS];
    struct population population;
    uint64_t letters[2]; /* numbers of dead letters at two times, the newer first */
    tr_time letters_ns[2];
    bool is_dozing;      /* all workers are asleep; see sched/doorbell.h */
    uint32_t page_count; /* how many clients are pages of an inspector; see observe/page.h */
    struct stack_texts
        *stacks; /* texts of the stacks of long turns, see observe/stacks.h; NULL: none yet */
    struct observer_trials {
        tr_time until_ns; /* until when slow turns are followed; 0: they are not followed */
        tr_time asked_ns; /* when a client last asked to follow slow turns; 0: never */
        tr_time next_ns;  /* when to copy records the next time */
        uint64_t handled; /* how many messages had been handled at the time of the request */
        uint32_t left;    /* how many more causal ids may be followed until the next request */
        bool is_first;    /* at the last request it was not known how busy the program is */
    } trials;             /* see observe/trials.h */
    struct slow_trees
        *trees; /* what slow turns have led to; NULL: nothing yet; see observe/slow_trees.h */
    struct backup *left; /* backups that no visitor uses any more; see observe/store_backup.h */
};

/** Returns the time, as tr_now does. */
tr_time tr__observer_now(const struct observer *observer);
/** Whether the thread must take samples now. */
bool tr__observer_is_watched(const struct observer *observer);
/** Takes one sample: notes what each worker runs now. */
void tr__observer_sample(struct observer *observer);
/** Drops all samples, and begins to take new ones for a while. */
void tr__observer_watch(struct observer *observer);

/** Continues to take samples for a while, and keeps the samples so far. */
void tr__observer_watch_on(struct observer *observer);

/**
 * Returns how long ago a message was first seen as the oldest of its actor. Returns 0 if this is
 * the first time.
 */
tr_time tr__observer_age(struct observer *observer, tr_ref actor, uint64_t mark);

/** As tr__observer_age, for the oldest message of one type. */
tr_time tr__observer_age_of(struct observer *observer, tr_ref actor, const tr_type *type,
                            uint64_t mark);

/**
 * Returns what tr__observer_age would, for an actor whose worker has been stuck for `stuck_ns`. The
 * worker cannot say which message is the oldest, but that message has not changed since the worker
 * got stuck. The mailbox must not be empty.
 */
tr_time tr__observer_age_stuck(struct observer *observer, tr_ref actor, tr_time stuck_ns);

/**
 * Looks at the fullest mailboxes if it is time for that: once a second, or less often if a look
 * takes long. A look is done in steps, so that clients need not wait for it; one call does one step. Returns the
 * milliseconds until the next call, or -1 if all workers sleep: then call it when the doorbell of
 * the system rings.
 */
int tr__observer_look(struct observer *observer);

/**
 * Whether the worker of an actor is stuck in a turn. If so, describes that turn in *info. If
 * `worker` is -1, returns false.
 */
bool tr__observer_is_stuck(struct observer *observer, int worker, tr_worker_info *info);

/**
 * Returns the time from which on the mailbox of an actor has always had at least *since_queued
 * messages. Sets *most_queued to the most that it had since then. Returns 0 if the mailbox was not
 * among the fullest.
 */
tr_time tr__observer_grows(const struct observer *observer, tr_ref actor, uint32_t *since_queued,
                           uint32_t *most_queued);

/** Describes an actor without asking the actor's worker. Returns false if the actor has ended. */
bool tr__observer_find(struct observer *observer, tr_ref actor, tr_actor_info *info);

#endif
