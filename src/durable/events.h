/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The events of a durable actor: durable_actor.events, of a kind that has events.
 *
 * From tr_persist until it is on disk, an event is an item in `items`. The batch of its commit
 * borrows the item's bytes, and a reader of the journal finds the event there. An event with a hook
 * (TR_ON_STORED) then waits in `ready` until its hook was called.
 *
 * The stored form of an event is the name of its type with the NUL, its version (4 bytes, low byte
 * first), the hash of its shape (wire/shape.h; events of earlier versions of the library have
 * none), and the event as MessagePack.
 *
 * 1. The journal (durable/journal.h) counts all events of tr_persist, on disk or not. Its count
 *    never goes back: an actor that fails restarts with what is on disk.
 * 2. Items are in the order of their sequence numbers, without gaps. All events before the first
 *    item are on disk.
 * 3. No function of the application runs while a reader of the store is in use, because that
 *    function may never return.
 * 4. Hooks in `ready` survive a restart. Nothing else here does.
 */
#ifndef DURABLE_EVENTS_H
#define DURABLE_EVENTS_H

#include "durable/actor.h"
#include "durable/event_page.h"
#include "durable/event_read.h"
#include "durable/journal.h"
#include "durable/state.h"

/** An event that is not on disk, or whose hook was not called yet. */
struct event_item {
    struct list link;
    uint64_t commit; /* number of its commit */
    uint64_t sequence;
    const tr_event_row *hook; /* row of TR_ON_STORED; NULL: no hook */
    size_t size;
    unsigned char bytes[]; /* the event in its stored form */
};

struct event_log {
    struct journal journal;
    struct journal_policy policy;
    struct list items;
    struct list ready;
    struct event_item *at;  /* item that a reader has got last; NULL: none */
    size_t held;            /* sum of the bytes of `items` */
    uint32_t hooks_waiting; /* items with a hook that are not submitted */
    uint32_t hooks_sent;    /* items with a hook that are submitted */
    bool is_turn_posted;    /* a tr_durable_happened message is on its way */
    bool is_hooking;        /* a hook runs or waits */
    bool is_flushing; /* finished commits must be submitted now, because hooks wait for them */
    bool has_first;   /* journal.first has its value */
    bool has_looked;  /* the search for older snapshots is done */
    /* after a snapshot has failed: number of the event at which the next one is tried; 0: none has
     * failed */
    uint64_t again;
    struct wake_lock wake_lock; /* raised while hooks are still to be called */
    struct event_page page;     /* page of the reader */
    struct event_read event;    /* the event that was read last */
    struct state_block block;   /* block of the snapshot from which the state was read */
    void *base;                 /* during the start: the state before the first event */
};

/** To a durable actor: call the next hook, or submit the finished commits that a hook waits for. */
TR_MESSAGE(tr_durable_happened);

/** Returns an error text for the events of a kind, or NULL if they are valid. */
const char *tr__events_fault(const tr_durable_kind *kind);

/* ---- Notifications from commits. ---- */

/**
 * If `may_snapshot` and the policy wants a snapshot, adds one to the open commit, which is about to
 * be submitted.
 */
TR_MUST_CHECK tr_status tr__events_close(struct worker *worker, struct durable_actor *actor,
                                         bool may_snapshot);
void tr__events_submitted(struct worker *worker, struct durable_actor *actor);
/** Forgets the events that are not submitted, except those with numbers up to `kept`. */
void tr__events_dropped(struct worker *worker, struct durable_actor *actor, uint64_t kept);
/**
 * Takes the result of all commits with numbers up to `commit`: TR_OK if they are on disk, or the
 * status of their failure.
 */
void tr__events_stored(struct worker *worker, struct durable_actor *actor, uint64_t commit,
                       tr_status status);
/** Calls the hooks that are ready, because the actor has started or begins its grace. */
void tr__events_wake(struct worker *worker, struct durable_actor *actor);
/** Handles tr_durable_happened: calls a hook. */
tr_next tr__events_turn(tr_self *self, void *state, const void *message);
/**
 * Forgets the hooks of events of an earlier first start of this key that was not finished. Those
 * events are removed from the store.
 */
void tr__events_erased(struct worker *worker, struct durable_actor *actor);
/** Forgets everything except the hooks that are ready, because the generation has ended. */
void tr__events_reset(struct worker *worker, struct durable_actor *actor);
/** Frees the events of an actor that has ended. */
void tr__events_free(struct worker *worker, struct durable_actor *actor);

#endif
