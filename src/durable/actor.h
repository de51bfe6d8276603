/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A durable actor: one generation of it, from its set-up to its end.
 *
 * What a turn writes. While a turn of it runs, self->outbox is the actor's outbox, and what it puts by goes
 * into its batch. A commit ends where the turn waits or returns (durable/commit.c): if the state has
 * changed or something was put by, all of that becomes one batch of the store, and what was sent waits with
 * it. Stretches that are on their way to the disk are in a list, oldest first; they come back in that order
 * as an ENVELOPE_STORED, and until the last one has the cell neither ends nor is restarted.
 *
 * How it sleeps. The sleep machine (sleep/sleep.h) is told of everything and says what to do;
 * durable/drive.c does it. A turn that runs, or waits, is a wake_lock of the machine; it is in the turn's frame.
 *
 * Owner only, but for what the store's thread does with a commit.
 */
#ifndef DURABLE_ACTOR_H
#define DURABLE_ACTOR_H

#include <troupe/durable.h>
#include <troupe/wire.h>

#include "actor/mail/outbox.h"
#include "calendar/alarm_plan.h"
#include "sleep/authority.h"
#include "durable/host.h"
#include "store/batch.h"
#include "wire/tail.h"

struct alarm;
struct overlay_table;
struct store_sql;

/**
 * In the version of a state that is stored before the first start of its key is over: if that fails, or the process
 * ends, all that it has stored is removed, and it is created anew.
 */
#define STATE_HALF UINT32_C(0x80000000)

/** A commit whose changes are on their way to the disk. */
struct commit {
    struct list link; /* of its actor, oldest first */
    struct durable_actor *actor;
    struct outbox outbox; /* what it sent */
    struct store_batch *batch;
    struct envelope *envelope; /* how its end is told */
    struct list savers;        /* of struct durable_frame: turns in tr_save */
    uint64_t number;
    tr_time alarm_ns; /* the earliest alarm that it has set, else TR_NEVER */
    bool has_shapes;  /* its batch has those of its kind */
    struct wake_lock
        wake_lock;    /* raised while there are messages to the actor itself in the outbox */
    tr_status status; /* written by the store's thread before the envelope is sent */
};

/** A hold of TR_KEEP_AWAKE or TR_WAIT_UNTIL. */
struct durable_hold {
    struct list link; /* of its turn */
    struct wake_lock wake_lock;
    uint64_t number;
};

/** What a turn of a durable actor has. Not on its stack, which is gone when it has crashed. */
struct durable_frame {
    struct tr_self *self;
    struct list saver;          /* of the commit that it waits for */
    struct wake_lock wake_lock; /* it runs, or waits */
    struct list holds;
    uint32_t lenient;       /* blocks of TR_WAIT_UNTIL that it is in */
    bool is_hook;           /* on_sleep or on_destroy: told to the machine by other means */
    enum sleep_reason hook; /* which of them; 0: none */
    bool is_run;            /* the run handler: no request */
    bool is_barrier;        /* no hook begins before it has ended */
    struct list taker;      /* of the actor, while it waits on a queue */
    /* Of a turn for an alarm. */
    bool has_alarm;
    char alarm[TR_ALARM_NAME_MAX + 1];
    struct alarm_mark mark;
    struct alarm_plan plan; /* as it was when its handler began */
    struct alarm *kept;     /* a copy of it, as the handler may replace it and then fail */
    bool is_alarm_gone;     /* an earlier commit of the handler has replaced it, or taken it back */
    void *message;
    const tr_type *message_type;
};

/** Work that no turn has, as the sleep machine counts it; see durable/work.c. */
enum work { WORK_MAIL, WORK_LATERS, WORK_STASH, WORK_COUNT };

/**
 * What a state was read into; data NULL: nothing. Fields at its end that the code does not know are in `tail`, which
 * the block owns, and are stored again with the state.
 */
struct state_block {
    void *data;
    const tr_type *type;
    size_t size; /* of the bytes it was read from */
    size_t data_size;
    struct tail tail;
    bool
        has_shape; /* it has more fields than the code, and is stored with the shape that it had: */
    uint64_t shape; /* the hash of that; 0: it had none */
};

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
    bool takes_any;         /* there are more of them */
    bool has_run;           /* the run handler has returned, and was not told to */
    bool has_queue_moved;   /* something was pushed or removed in this generation */
    uint64_t queue_last;    /* id of the item that was pushed last */
    uint64_t queue_put_by;  /* ids up to this one are used, or will be by this generation */
    tr_time alarm_ns;       /* the earliest that the commit that runs has set, else TR_NEVER */
    uint64_t alarm_last;    /* id of the alarm that was set last */
    uint64_t commit_last;   /* number of the last commit submitted */
    tr_status broken;       /* something could not be stored: it is to begin anew */
    bool is_new;            /* nothing is stored of it */
    bool is_creating;       /* its first start is not over */
    bool is_half;           /* that is what the store has of it: STATE_HALF */
    bool is_asked;          /* to sleep, to make room */
    bool has_served;        /* it has had a turn in this life, besides its first hooks */
    bool is_destroy_wanted; /* by the commit that runs */
    bool is_doomed;         /* a commit with the mark that it is to be destroyed was submitted */
    bool has_remains;       /* what the store has of it is a generation's that was destroyed */
    bool is_erased;         /* the removal of all that is stored was submitted, or tried: */
    tr_status erased;       /* what became of that */
    bool is_told;           /* a message to drive the machine is on its way */
    bool is_aborted;        /* the soft signal was given */
    bool is_deadline_over;  /* the hard one was */
    bool is_stored_awaited; /* the machine waits for the last commit */
    bool has_dirt;          /* of TR_SAVE_INTERVAL and TR_SAVE_ON_DEMAND: see `finished` */
    uint32_t barriers;      /* turns that run or wait and let no hook begin */
    struct tr_self *hook;   /* the turn of on_sleep or on_destroy while it waits for others */
    struct wake_lock work[WORK_COUNT];
    tr_time start_ns; /* when its set-up began */
    tr_time save_ns;
    tr_time due_ns;  /* of the machine's timer */
    tr_time look_ns; /* when the work that no turn has is to be looked at again */
    uint64_t hold_last;
    unsigned char *stored; /* the state as it was submitted last */
    size_t stored_size;
    size_t stored_room;
    /* With has_dirt: what the commits that have ended since then have left, for when the one that runs fails. */
    struct finished {
        unsigned char *state;
        size_t size;
        size_t room;
        struct store_batch_mark batch; /* what of `batch` is theirs */
        tr_time alarm_ns;              /* as alarm_ns, of them */
        uint64_t event;                /* the last of their events */
    } finished;
    unsigned char *shown; /* the state as tr_state_changed knows it, NULL: no handler for it */
    size_t shown_size;
    size_t shown_room;
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

extern const struct durable_hooks tr__durable_hooks;

/* ---- durable/load.c ---- */

/** The set-up of all kinds: makes the actor, enters the store, reads the state. */
tr_next tr__durable_setup(tr_self *self, void *state, const void *message);
/**
 * From the bytes of an earlier version, or this one, to a state; what it points to is in *block or memory of the
 * application. Else *error says why. The bytes are not needed when a migration is called.
 */
TR_MUST_CHECK tr_status tr__durable_state_read(tr_self *self, const struct durable_actor *actor,
                                               uint32_t stored_version, tr_bytes bytes, void *state,
                                               struct state_block *block, tr_wire_error *error);
void tr__state_block_free(struct worker *worker, struct state_block *block);
/** durable_hooks.has_loaded. */
bool tr__durable_has_loaded(const struct durable *durable, const void *memory);
/** Frees what a generation had; the store's entry too. */
void tr__durable_drop(struct worker *worker, struct durable_actor *actor);

/* ---- durable/commit.c ---- */

/** Packs the state, and the tail of what it was read from, at the worker's context; gives its size. 0: it cannot be packed, and *status says why. */
size_t tr__durable_state_pack(struct worker *worker, struct durable_actor *actor,
                              tr_status *status);
/** A copy of a packed state in memory of the batch, as it is stored: with the front that names its shape. TR_NO_MEMORY. */
TR_MUST_CHECK tr_status tr__durable_state_copy(const struct durable_actor *actor,
                                               struct store_batch *batch, tr_bytes packed,
                                               tr_bytes *copy);
/** What is packed there is what the store has of the state. False: no memory. */
TR_MUST_CHECK bool tr__durable_state_is_stored(struct worker *worker, struct durable_actor *actor,
                                               size_t size);
/** The batch of the commit that runs, made if need be. NULL: no memory. */
struct store_batch *tr__commit_batch(struct durable_actor *actor);
/**
 * The commit that runs is over. If it changed something, and it is time for that or `must`, that is
 * submitted; what it sent waits for all that was. Else what it sent leaves. Not TR_OK: nothing of it leaves.
 */
TR_MUST_CHECK tr_status tr__commit_end(struct worker *worker, struct durable_actor *actor,
                                       bool must);
/** The batch becomes a commit, with what is in the outbox. */
TR_MUST_CHECK tr_status tr__commit_submit(struct worker *worker, struct durable_actor *actor);
/** The commit failed, and the actor starts again: what ended before it and was to be stored later is submitted. */
void tr__commit_fail(struct worker *worker, struct durable_actor *actor, tr_status reason);
/** Nothing is kept of it, nor of what was to be stored later. */
void tr__commit_drop(struct worker *worker, struct durable_actor *actor, tr_status reason);
/** The actor is to begin anew, because of this. */
void tr__durable_break(struct worker *worker, struct durable_actor *actor, tr_status why);
void tr__commit_stored(struct worker *worker, struct cell *cell, struct envelope *envelope);

/* ---- durable/overlay.c ---- */

/** All overlays up to a commit go; UINT64_MAX: all. */
void tr__overlays_drop(struct worker *worker, struct durable_actor *actor, uint64_t commit);
/** Those of the commit that runs go. */
void tr__overlays_undo(struct worker *worker, struct durable_actor *actor);

/* ---- durable/changed.c ---- */

/** The state as it is now is known to the application. False: no memory. */
TR_MUST_CHECK bool tr__durable_show(struct worker *worker, struct durable_actor *actor);
/**
 * The handler of a turn has returned `next`, and its last commit is still open: calls that of
 * tr_state_changed if there is one and the state has changed. Gives what becomes of the turn.
 */
tr_next tr__durable_changed(struct tr_self *self, struct tr_self *verb, struct durable_actor *actor,
                            tr_next next);
void tr__durable_show_drop(struct worker *worker, struct durable_actor *actor);

/* ---- durable/sql.c; all of them also for an actor that does not use SQL ---- */

/** Whether the commit that runs, or one that is to be stored later, has changed its tables. */
bool tr__durable_sql_has_changed(const struct durable_actor *actor);
/** The commit that runs has ended well, and is to be stored later. */
void tr__durable_sql_finish(struct durable_actor *actor);
/** Adds that to the batch. TR_NO_MEMORY. */
TR_MUST_CHECK tr_status tr__durable_sql_put(struct durable_actor *actor);
/** The batch was submitted as this commit. */
void tr__durable_sql_submitted(struct durable_actor *actor, uint64_t commit);
/** It is on disk. */
void tr__durable_sql_stored(struct durable_actor *actor, uint64_t commit);
/** The commit that runs has failed. */
void tr__durable_sql_undo(struct durable_actor *actor);
/** The generation is over; nothing is on its way. */
void tr__durable_sql_drop(struct durable_actor *actor);

/* ---- durable/turn.c ---- */

/**
 * Calls a handler of the application from a function of the runtime that is called as one. `verb` is what
 * TURN_VERB made there: while the handler runs its thread may be replaced, before and after it may not.
 */
tr_next tr__durable_user(struct tr_self *self, struct tr_self *verb, const tr_handler *row,
                         void *state, const void *message);
/** Begins a turn; false: no memory, and the turn is to fail with TR_NO_MEMORY. */
TR_MUST_CHECK bool tr__frame_begin(struct tr_self *self, struct durable_actor *actor,
                                   const char *what, bool is_hook);
/** Its handler has returned: the last commit ends. `must`: whether something has changed or not. */
tr_next tr__frame_done(struct tr_self *self, struct durable_actor *actor, tr_next next, bool must);
/** It is over, however it ended. */
void tr__frame_end(struct tr_self *self, struct durable_actor *actor);
/** Calls the handler of the application for a message. */
tr_next tr__durable_call(tr_self *self, void *state, const void *message);
/** The first turn of a generation: tr_created, tr_awake. */
tr_next tr__durable_begin(tr_self *self, void *state, const void *message);
/** It has started: the run handler begins. */
void tr__durable_started(struct worker *worker, struct durable_actor *actor);
/** tr_sleeping or tr_destroying. */
tr_next tr__durable_hook(tr_self *self, void *state, const void *message);
/** Drives the machine where nothing else of the actor runs. */
tr_next tr__durable_drive_turn(tr_self *self, void *state, const void *message);

/* ---- durable/drive.c ---- */

/** Does what the machine says. `is_apart`: no turn of the actor is on the stack but one of drive.c. */
void tr__durable_drive(struct worker *worker, struct durable_actor *actor, bool is_apart);
/** Tells the actor to drive itself, if nobody has. */
void tr__durable_nudge(struct worker *worker, struct durable_actor *actor);
/** A command of the authority, or what follows from an answer of it. */
void tr__durable_heed(struct worker *worker, struct durable_actor *actor,
                      const struct authority_answer *answer);
void tr__durable_stop(struct worker *worker, struct cell *cell);
void tr__durable_leave(struct worker *worker, struct cell *cell);
void tr__durable_skipped(struct worker *worker, struct cell *cell);
/** The end of a turn of the runtime that found nothing to do: one message less waits. Returns TR_SAME. */
tr_next tr__durable_skip(struct tr_self *self);
void tr__durable_wake_timer(struct worker *worker, struct cell *cell);
void tr__durable_end(struct worker *worker, struct cell *cell, struct durable *durable);
void tr__durable_why(struct worker *worker, struct cell *cell, struct tr_why_report *report);
/** Arms the actor's timer for what comes first. */
void tr__durable_arm(struct worker *worker, struct durable_actor *actor);

/* ---- durable/work.c ---- */

/** Resets the counters of such work, after tr__sleep_init. */
void tr__work_init(struct durable_actor *actor);
/** Tells the machine which work the actor has that no turn has. Before each of its decisions. */
void tr__work_look(struct worker *worker, struct durable_actor *actor);

/* ---- durable/pressure.c ---- */

void tr__pressure_init(struct worker_context *context);
/** Whether a new actor of this worker may be set up now; else it comes again when there is room. */
bool tr__pressure_admit(struct worker *worker, struct cell *cell);
/** An actor of this worker has become idle, larger, or has ended: lets those begin that wait, as there is room. */
void tr__pressure_serve(struct worker *worker, struct durable_host *host);
/** It is gone, or begins anew: it weighs nothing. */
void tr__durable_unweigh(struct worker *worker, struct durable_actor *actor);
/** Its memory may have changed. No turn of it is under way; tr__pressure_serve is to follow. */
void tr__durable_weigh(struct worker *worker, struct durable_actor *actor);

#endif
