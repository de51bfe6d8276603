/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The events of a durable actor: what hangs from durable_actor.events of a kind that has some.
 *
 * An event is an item from tr_persist until it is on disk: its bytes are lent to the batch of its commit, and
 * who reads the journal finds it there. One with a hook (TR_ON_STORED) then waits in `ready` for its turn.
 *
 * What is stored of an event is the name of its type with the NUL, its version, 4 bytes, the lowest first, the front
 * that names its shape (wire/shape.h; events of earlier libraries have none), and the event as MessagePack.
 *
 * Rule 1: the journal (durable/journal.h) is that of all that was persisted, on disk or not. It is never put back:
 * who fails begins anew, with what is on disk.
 * Rule 2: items are in the order of their numbers, without holes, and all that is below the first is on disk.
 * Rule 3: no function of the application runs while a reader of the store is in use: it may not come back.
 * Rule 4: hooks that are ready outlive a restart, and nothing else here does.
 */
#ifndef DURABLE_EVENTS_H
#define DURABLE_EVENTS_H

#include "durable/actor.h"
#include "durable/event_page.h"
#include "durable/event_read.h"
#include "durable/journal.h"
#include "durable/state.h"

/** An event that is not on disk, or whose hook has not been called. */
struct event_item {
    struct list link;
    uint64_t commit; /* number of the commit that it belongs to */
    uint64_t sequence;
    const tr_event_row *hook; /* of TR_ON_STORED; NULL: none */
    size_t size;
    unsigned char bytes[]; /* as stored */
};

struct event_log {
    struct journal journal;
    struct journal_policy policy;
    struct list items;
    struct list ready;
    struct event_item *at;      /* of `items`: the last that was given to a reader; NULL: none */
    size_t held;                /* bytes of `items` */
    uint32_t hooks_waiting;     /* of `items`: with a hook, not submitted; */
    uint32_t hooks_sent;        /* and submitted */
    bool is_turn_posted;        /* the message that calls hooks is on its way */
    bool is_hooking;            /* a hook is being called, or waits */
    bool is_flushing;           /* what is to be stored later is to be stored now, for its hooks */
    bool has_first;             /* journal.first is known */
    bool has_looked;            /* for older snapshots */
    uint64_t again;             /* a snapshot could not be made: not before this event again */
    struct wake_lock wake_lock; /* raised as long as hooks are to come */
    struct event_page page;     /* of who reads */
    struct event_read event;    /* the last that was read */
    struct state_block block;   /* of the snapshot */
    void *base;                 /* while it starts: the state before the first event */
};

/** To a durable actor: a hook is to be called, or something to be stored for one. */
TR_MESSAGE(tr_durable_happened);

/** What is wrong with the events of a kind, or NULL. */
const char *tr__events_fault(const tr_durable_kind *kind);

/* ---- durable/events.c: what commits tell it. ---- */

/** The commit is about to be submitted: a snapshot goes with it if it is time for one. */
TR_MUST_CHECK tr_status tr__events_close(struct worker *worker, struct durable_actor *actor,
                                         bool may_snapshot);
void tr__events_submitted(struct worker *worker, struct durable_actor *actor);
/** What was not submitted never will be, but for events up to number `kept`. */
void tr__events_dropped(struct worker *worker, struct durable_actor *actor, uint64_t kept);
/** The commits up to this one are on disk, or never will be. */
void tr__events_stored(struct worker *worker, struct durable_actor *actor, uint64_t commit,
                       tr_status status);
/** The actor has started, or begins its grace: hooks that are due come. */
void tr__events_wake(struct worker *worker, struct durable_actor *actor);
/** Calls a hook. */
tr_next tr__events_turn(tr_self *self, void *state, const void *message);
/** What an earlier first start has persisted is removed: its hooks do not come. */
void tr__events_erased(struct worker *worker, struct durable_actor *actor);
/** The generation is over: all goes but hooks that are ready. */
void tr__events_reset(struct worker *worker, struct durable_actor *actor);
/** The actor is. */
void tr__events_free(struct worker *worker, struct durable_actor *actor);

#endif
