/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Durable actors that keep what happened: events, from which their state is made.
 *
 *     TR_MESSAGE(deposited, (u64, cents));                                 an event, declared as a message
 *     TR_MESSAGE(account_state, (u64, cents));
 *
 *     static void apply_deposited(struct account_state *account, const struct deposited *event)
 *     {
 *         account->cents += event->cents;
 *     }
 *
 *     static tr_next on_deposit(tr_self *self, const struct account_state *account,
 *                               const struct deposit *message)
 *     {
 *         tr_persist(self, deposited, .cents = message->cents);            account->cents is more now
 *         return tr_reply(self, balance, .cents = account->cents);         leaves when the event is on disk
 *     }
 *
 *     TR_BEHAVIOR(account, const struct account_state, TR_ON(deposit, on_deposit));
 *     TR_EVENTS(account_events, account_state, TR_APPLY(deposited, apply_deposited));
 *     TR_DURABLE(account, account_state, .events = &account_events);
 *
 * tr_persist adds an event to the journal of the actor and applies it to the state at once. Events have
 * numbers from 1, without holes, and none is ever given out twice. They are part of their stretch: stored with
 * all else that it does, or not at all; a stretch that fails leaves neither its events nor what they did to the
 * state. What the stretch sends is held until they are on disk, as durability says.
 *
 * When the actor starts its state is made anew: from the newest snapshot, and from the events after it, in
 * their order, before anything else. So an apply function gives the same for the same state and event: it has
 * no self, asks no clock, and does not fail. What may be refused is refused before tr_persist.
 *
 * Handlers get a const state, and TR_BEHAVIOR says so: nothing but an event changes it. What somebody changes all
 * the same, by a cast, is there until the actor sleeps, and gone afterwards, or else in the next snapshot.
 *
 * Snapshots are made by themselves, see TR_SNAPSHOTS; a start without one, or with a damaged one, takes an older
 * one or all events. An event that the code does not know, or cannot read, keeps the actor from starting, and the log
 * names it; nothing is lost by that.
 *
 * A kind that has had a state before it had events begins with that state. The way back is none: an actor with
 * events does not start as one of a kind without.
 */
#ifndef TROUPE_EVENT_H
#define TROUPE_EVENT_H

#include <troupe/self.h>

struct tr_migration;

/**
 * Where an apply function keeps what the state is to point to; an event is there only for the call. It lives as
 * long as this life of the actor.
 */
typedef struct tr_memory tr_memory;

/** An event as stored, and where in the journal. Zero is before the first. */
typedef struct tr_event {
    uint64_t sequence TR_ZERO;   /* its number */
    const tr_type *type TR_ZERO; /* &tr_type_deposited: see TR_EVENT_AS */
    const void *data
        TR_ZERO; /* a struct deposited; until the next tr_event_next, or the next wait */
} tr_event;

/** Members of TR_SNAPSHOTS; all zero is the default. */
typedef struct tr_snapshots {
    uint32_t every
        TR_ZERO; /* events; 0: TR_SNAPSHOT_EVERY; TR_NO_SNAPSHOTS: with tr_snapshot only */
    uint32_t kept TR_ZERO;     /* the newest so many; 0: 2; at most TR_SNAPSHOTS_MAX */
    bool drops_events TR_ZERO; /* events up to the oldest snapshot that is kept go */
} tr_snapshots;
/** Of tr_snapshots.every: only tr_snapshot makes one. */
#define TR_NO_SNAPSHOTS UINT32_MAX

/**
 * Defines what can happen to a kind of actors, a `static const tr_events`: TR_EVENTS(account_events, account_state,
 * clauses...), with the state as in TR_DURABLE.
 */
#define TR_EVENTS(name, ...) TR_EVENTS_(name, __VA_ARGS__, )
/**
 * TR_APPLY(event, function): what the event does to the state. The function takes (state *), (state *, const struct
 * <event> *) or (state *, const struct <event> *, tr_memory *), and returns nothing.
 *
 * TR_APPLY(event, function, .version = 2, .migrations = TR_MIGRATIONS(deposited_1)): the event has changed. Fields
 * may be added at its end without; an older event has zeros there. For all else each earlier version that the
 * next one cannot read has a TR_MIGRATION, from the event of that version to the next; as for states, each has the
 * fields of what comes after it. An event that is newer than the code keeps the actor from starting: TR_STALE; so
 * does one whose fields were moved, renamed or retyped without a version: TR_WRONG_SHAPE.
 */
#define TR_APPLY(event, ...) (TR_CLAUSE_APPLY, event, __VA_ARGS__, )
/**
 * TR_ON_STORED(event, handler): called when such an event is on disk, once, and never for one that is replayed. The
 * handler is as one of TR_ON, with a const state, which may be that after later events; it is a turn of its
 * own, which may begin while another turn of the actor waits. They come in the order of their events, one after
 * the other. At most once: it does not come if the process or the actor ends before. What must not be left out
 * is an alarm, or in a queue, set beside tr_persist.
 */
#define TR_ON_STORED(event, ...) (TR_CLAUSE_STORED, event, __VA_ARGS__, )
/** TR_SNAPSHOTS(.every = 500, .kept = 3): members of tr_snapshots. */
#define TR_SNAPSHOTS(...) (TR_CLAUSE_SNAPSHOTS, __VA_ARGS__)

/**
 * Adds an event to the journal and applies it: tr_persist(self, deposited, .cents = 5). Gives its number.
 *
 * In a handler only. Ends the turn with TR_WRONG_TYPE: not an event of this kind; TR_TOO_LARGE: more than
 * TR_EVENT_MAX bytes; TR_LIMIT: too much is not on disk yet, TR_EVENTS_HELD_BYTES_MAX; TR_BAD_DATA: it cannot
 * be packed; TR_NO_MEMORY, TR_NOT_SUPPORTED, TR_NOT_IN_A_TURN, TR_CANCELLED.
 */
#define tr_persist(self, ...) TR_PERSIST_(self, __VA_ARGS__)
/** As tr_persist, and gives the status; if that is not TR_OK there is no event. */
#define tr_try_persist(self, ...) TR_TRY_PERSIST_(self, __VA_ARGS__)

/** The data of a tr_event as a `const struct <event> *`, or NULL if it is another event. */
#define TR_EVENT_AS(event, m) TR_EVENT_AS_(event, m)

/**
 * Adds an item to a list of the state, in an apply function: as tr_append. What the item points to is kept with
 * tr_memory_strdup.
 */
#define tr_memory_append(memory, list, item) TR_APPEND_(tr_memory_append_, memory, list, item)

TR_BEGIN_C
/**
 * The event behind `event`, which is one that this call gave, or zero: true, and it is in *event. False: there is no
 * further one. To begin elsewhere: tr_event event = {.sequence = from - 1}.
 *
 * It gives what is persisted, on disk or not, and begins with the first that was not dropped. It reads from the
 * disk if it must, while the worker waits. Ends the turn as tr_kv_get does, with TR_WRONG_TYPE for an event that
 * the code does not know, and TR_STALE for a newer one.
 */
bool tr_event_next(tr_self *self, tr_event *event);
/** The number of the last event, dropped ones counted; 0: none yet. It never falls but by tr_destroy. */
uint64_t tr_event_last(tr_self *self);
/**
 * Makes a snapshot of the state as it is now, stored with this stretch; nothing if there is no event since the last
 * one. Ends the turn with TR_TOO_LARGE: TR_STATE_MAX; TR_BAD_DATA, TR_NO_MEMORY.
 */
void tr_snapshot(tr_self *self);

/** A copy of a string, NULL of NULL. Ends the turn, or the start, when there is no memory. In an apply function. */
char *tr_memory_strdup(tr_memory *memory, const char *string);
/** Zeroed bytes, aligned for any type. As above. */
void *tr_memory_alloc(tr_memory *memory, size_t size) TR_NON_NULL;

/* What the macros above call. */
const void *tr_memory_append_(tr_memory *memory, const void *items, size_t count, size_t size,
                              const void *item);
uint64_t tr_self_persist(tr_self *self, const tr_type *type, const void *event);
TR_MUST_CHECK tr_status tr_self_try_persist(tr_self *self, const tr_type *type, const void *event);
const void *tr_event_data(const tr_event *event, const tr_type *type);
TR_END_C

/** A row of what TR_EVENTS makes: TR_APPLY has `apply`, TR_ON_STORED has `stored`. */
typedef struct tr_event_row {
    const tr_type *type;
    void (*apply)(void *state, const void *event, tr_memory *memory);
    tr_next (*stored)(tr_self *self, void *state, const void *event);
    const char *name;         /* of the function */
    uint32_t version TR_ZERO; /* 0: 1 */
    const struct tr_migration *const *migrations TR_ZERO;
} tr_event_row;

/** What TR_EVENTS makes. */
typedef struct tr_events {
    size_t size; /* sizeof(tr_events) */
    const tr_type *state;
    const tr_event_row *rows;
    size_t row_count;
    tr_snapshots snapshots TR_ZERO;
} tr_events;

#include <troupe/detail/event.h>

#endif
