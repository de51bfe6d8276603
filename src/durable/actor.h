/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A durable actor: the record of one generation, from its set-up to its end.
 *
 * Which file does what. A file calls files below it in this list. It calls upward in these cases only: to drive, when
 * a change may be the reason for the next step of the sleep machine; to turn, when it begins a turn itself; and where
 * "->" names the file.
 *
 *     drive           performs the steps of the sleep machine (sleep/sleep.h); ends a generation
 *     host            has the store and the kinds of a system; wakes the actor of a key
 *     kind            makes the handler table of a kind
 *     setup           begins a generation, and frees what it had
 *     turn            calls the handlers of the application
 *     verbs, kv       what a handler can call
 *     why             what tr_actor_why reports
 *     pressure        limits the actors that are awake                           -> setup
 *     queue           queues, and the run handler
 *     alarm           alarms of an awake actor; alarm_move: after a clock change
 *     events          events of an awake actor
 *     event_next      what a handler can read of its journal
 *     event_load      recovers a state: journal (the rules), event_page, event_read
 *     commit          stores what a part of a turn has changed                   -> events
 *     sql             tables of an actor                                         -> commit
 *     changed         calls tr_state_changed
 *     work            tells the sleep machine about mail and owed replies
 *     clock           wakes actors whose alarms are due; hints: which it told    -> host
 *     waker           wakes actors that have items in their queues
 *     retry_backoff   delays the next generation of a key after a failure        -> host, clock
 *     overlay         keys that a commit has changed and that are not on disk
 *     state           how a state is packed, read and migrated
 *     shapes          the shapes of what is stored
 *
 * What a turn writes. While a turn runs, worker->outbox is the outbox of the actor, and its changes go into the batch of
 * the open commit (durable/commit.h).
 *
 * How the actor sleeps. It tells the sleep machine about everything that happens, and durable/drive.c performs the steps
 * that the machine returns. A turn that runs or waits is a wake lock of the machine.
 *
 * Owner only, except for what the store's thread does with a submitted commit.
 */
#ifndef DURABLE_ACTOR_H
#define DURABLE_ACTOR_H

#include "actor/mail/outbox.h"
#include "durable/host.h"
#include "durable/state.h"
#include "sleep/authority.h"
#include "store/store.h"

struct alarm;
struct overlay_table;
struct store_sql;

/** Work that no turn has, as the sleep machine counts it; see durable/work.c. */
enum work { WORK_MAIL, WORK_LATERS, WORK_STASH, WORK_COUNT };

enum { RUN_QUEUES_MAX = 4 };

struct durable_actor {
    struct durable durable; /* first */
    struct durable_kind *kind;
    struct store_entry *entry; /* NULL: it has none, or has left the store */
    struct sleep_machine machine;
    struct note_end end;        /* of the actor, */
    struct authority authority; /* and of its host */
    struct list awake;          /* at the context of its worker */
    struct list leaving;        /* in the host's list of those that end, by key */
    struct cell *successor; /* the next generation, waiting for this one's end; the host's lock */
    bool is_leaving;        /* it is in that list */
    bool is_destroying;     /* for those who look there */

    /* What runs, and what is on its way. */
    struct outbox outbox;
    struct store_batch *batch; /* of the commit that runs, NULL: nothing was put by */
    struct list commits;
    struct list overlays;                /* keys that are not on disk yet: durable/overlay.h */
    struct overlay_table *overlay_table; /* of these; NULL: they are few */
    size_t overlay_count;
    struct store_sql *sql;               /* its tables; NULL: this life has not used them */
    struct list alarms;                  /* of struct alarm */
    struct list queued;                  /* of struct queue_item */
    struct list takers;                  /* of struct durable_frame: turns that wait on a queue */
    uint64_t run_queues[RUN_QUEUES_MAX]; /* hashes of those that the run handler takes from */
    uint32_t run_queue_count;
    bool takes_any;          /* there are more of them */
    bool has_run;            /* the run handler has returned, and was not told to */
    bool has_queue_moved;    /* something was pushed or removed in this generation */
    uint64_t queue_last;     /* id of the item that was pushed last */
    uint64_t queue_reserved; /* ids up to this one are used, or will be by this generation */
    tr_time alarm_ns;        /* the earliest that the commit that runs has set, else TR_NEVER */
    uint64_t alarm_last;     /* id of the alarm that was set last */
    uint64_t commit_last;    /* number of the last commit submitted */
    tr_status broken;        /* something could not be stored: it is to begin anew */
    bool is_new;             /* nothing is stored of it */
    bool is_creating;        /* its first start is not over */
    bool is_half;            /* that is what the store has of it: STATE_HALF */
    bool is_evicted;         /* to sleep, to make room */
    bool has_served;         /* it has had a turn in this life, besides its first hooks */
    bool is_destroy_wanted;  /* by the commit that runs */
    bool is_doomed;          /* a commit with the mark that it is to be destroyed was submitted */
    bool has_remains;        /* what the store has of it is a generation's that was destroyed */
    bool is_erased;          /* the removal of all that is stored was submitted, or tried: */
    tr_status erased;        /* what became of that */
    bool is_drive_posted;    /* a message to drive the machine is on its way */
    bool is_aborted;         /* the soft signal was given */
    bool is_deadline_over;   /* the hard one was */
    bool is_stored_awaited;  /* the machine waits for the last commit */
    bool is_dirty;           /* of TR_SAVE_INTERVAL and TR_SAVE_ON_DEMAND: see `finished` */
    uint32_t barriers;       /* turns that run or wait and let no hook begin */
    struct tr_self *hook;    /* the turn of on_sleep or on_destroy while it waits for others */
    struct wake_lock work[WORK_COUNT];
    tr_time start_ns; /* when its set-up began */
    tr_time save_ns;
    tr_time due_ns;  /* of the machine's timer */
    tr_time look_ns; /* when the work that no turn has is to be looked at again */
    uint64_t hold_last;
    unsigned char *stored; /* the state as it was submitted last */
    size_t stored_size;
    size_t stored_capacity;
    /* With is_dirty: what the commits that have ended since then have left, for when the one that runs fails. */
    struct finished {
        unsigned char *state;
        size_t size;
        size_t capacity;
        struct store_batch_mark batch; /* what of `batch` is theirs */
        tr_time alarm_ns;              /* as alarm_ns, of them */
        uint64_t event;                /* the last of their events */
    } finished;
    unsigned char *shown; /* the state as tr_state_changed knows it, NULL: no handler for it */
    size_t shown_size;
    size_t shown_capacity;
    struct state_block block;
    struct event_log *events; /* NULL: its kind has none; see durable/events.h */
    size_t weight;            /* its memory, as its context has counted it */
    char *warning;            /* who held the grace up; for the log */
    size_t key_size;
    char key[]; /* ends with a NUL that does not count */
};

/** The durable actor of a turn; NULL: it is none. */
static inline struct durable_actor *durable_of(const struct tr_self *self)
{
    return (struct durable_actor *)(void *)cell_durable(self->cell);
}

static inline tr_bytes actor_key(const struct durable_actor *actor)
{
    return (tr_bytes){actor->key, actor->key_size};
}

#endif
