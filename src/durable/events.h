/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The events of a durable actor. They are in durable_actor.events if the actor's kind has events.
 *
 * From tr_persist until it is on disk, an event is an item in `items`. The batch of its commit
 * borrows the bytes of the item, and a reader of the journal finds the event in `items`. When the
 * event is on disk and has a hook (TR_ON_STORED), it waits in `ready` until its hook was called.
 *
 * The stored form of an event has four parts: the name of its type with the NUL, its version (4
 * bytes, low byte first), the hash of its shape (wire/shape.h), and the event as MessagePack.
 * Events of earlier versions of the library have no hash.
 *
 * 1. The journal (durable/journal.h) counts all events of tr_persist, on disk or not. Its count
 *    never goes back. When an actor fails, it restarts with the events that are on disk.
 * 2. Items are in the order of their sequence numbers, without gaps. All events before the first
 *    item are on disk.
 * 3. No function of the application runs while a reader of the store is in use, because that
 *    function may never return.
 * 4. Hooks in `ready` survive a restart of the actor. Everything else here is made again.
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
    uint64_t commit; /* number of the commit that stores the event */
    uint64_t sequence;
    /* the TR_ON_STORED row for this event, which has the hook; NULL: there is none */
    const tr_event_row *hook;
    size_t size;
    unsigned char bytes[]; /* the event in its stored form */
};

struct event_log {
    struct journal journal;
    struct journal_policy policy;
    struct list items;
    struct list ready;
    struct event_item *at;  /* the item that a reader has read last; NULL: none */
    size_t held;            /* sum of the sizes of `items`, in bytes */
    uint32_t hooks_waiting; /* number of items that have a hook and were not submitted */
    uint32_t hooks_sent;    /* number of items that have a hook and were submitted */
    bool is_turn_posted;    /* a tr_durable_happened message is on its way */
    bool is_hooking;        /* the turn of a hook runs or waits */
    bool is_flushing;       /* submit finished commits now, because hooks wait for them */
    bool has_first;         /* journal.first was read from the store */
    bool has_looked;        /* the search for older snapshots is done */
    /* The number of the event at which the next snapshot is tried, after one could not be made. 0:
     * none has failed. */
    uint64_t again;
    struct wake_lock wake_lock; /* raised while hooks must still be called */
    /* the stored events that a reader of the journal has read at once */
    struct event_page page;
    struct event_read event;  /* the event that was read last */
    struct state_block block; /* the snapshot from which the state was read */
    void *base;               /* during the start: the state before the first event */
};

/**
 * A message to a durable actor: call the next hook, or submit the finished commits for which a hook
 * waits.
 */
TR_MESSAGE(tr_durable_happened);

/** Returns an error text for the events of a kind. Returns NULL if they are valid. */
const char *tr__events_fault(const tr_durable_kind *kind);

/* ---- Notifications from commits. ---- */

/**
 * Adds a snapshot to the open commit if the policy wants one and `may_snapshot` is true. The caller
 * is about to submit the commit.
 */
TR_MUST_CHECK tr_status tr__events_close(struct worker *worker, struct durable_actor *actor,
                                         bool may_snapshot);
void tr__events_submitted(struct worker *worker, struct durable_actor *actor);
/** Forgets the events that were not submitted. Keeps the events with numbers up to `kept`. */
void tr__events_dropped(struct worker *worker, struct durable_actor *actor, uint64_t kept);
/**
 * Takes the result of all commits with numbers up to `commit`. The status is TR_OK if they are on
 * disk, otherwise the reason of their failure.
 */
void tr__events_stored(struct worker *worker, struct durable_actor *actor, uint64_t commit,
                       tr_status status);
/**
 * Calls the hooks that are ready. The caller does this when the actor has started, and when it
 * begins its grace.
 */
void tr__events_wake(struct worker *worker, struct durable_actor *actor);
/** Handles tr_durable_happened: calls one hook. */
tr_next tr__events_turn(tr_self *self, void *state, const void *message);
/**
 * Forgets the hooks of events of an earlier first start of this key. That start did not finish, so
 * its events are removed from the store.
 */
void tr__events_erased(struct worker *worker, struct durable_actor *actor);
/**
 * Forgets everything except the hooks that are ready. The caller does this when the generation has
 * ended.
 */
void tr__events_reset(struct worker *worker, struct durable_actor *actor);
/** Frees the events of an actor that has ended. */
void tr__events_free(struct worker *worker, struct durable_actor *actor);

#endif
