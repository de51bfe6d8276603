/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Durable actors that store events: their state is made from what happened.
 *
 * ```c
 * #include <troupe/troupe.h>
 *
 * TR_MESSAGE(balance, (u64, cents));
 * TR_REQUEST(deposit, balance, (u64, cents));
 * TR_ACTOR(account, deposit);
 * TR_MESSAGE(deposited, (u64, cents)); // an event is declared as a message
 * TR_MESSAGE(account_state, (u64, cents));
 *
 * static void apply_deposited(struct account_state *account, const struct deposited *event)
 * {
 *     account->cents += event->cents;
 * }
 *
 * static tr_next on_deposit(tr_self *self, const struct account_state *account,
 *                           const struct deposit *message)
 * {
 *     tr_persist(self, deposited, .cents = message->cents); // account->cents is more now
 *     return tr_reply(self, balance, .cents = account->cents); // leaves when the event is on disk
 * }
 *
 * TR_BEHAVIOR(account, const struct account_state, TR_ON(deposit, on_deposit));
 * TR_EVENTS(account_events, account_state, TR_APPLY(deposited, apply_deposited));
 * TR_DURABLE(account, account_state, .events = &account_events);
 *
 * static tr_next on_args(tr_self *self)
 * {
 *     tr_await(self, tr_ask(self, tr_durable(self, account, "alice"), deposit, .cents = 5));
 *     return TR_STOP;
 * }
 *
 * TR_BEHAVIOR(bank, void, TR_ON(tr_args, on_args));
 *
 * int main(int argc, char **argv)
 * {
 *     return tr_app_main(argc, argv, bank, .durable = TR_DURABLES(account));
 * }
 * ```
 *
 * tr_persist adds an event to the journal of the actor and applies it to the state at once. Events
 * have numbers from 1, without gaps, and no number is used twice. Events are part of their stretch
 * (durable.h): they are stored with its commit, or not at all. A stretch that fails leaves neither
 * its events nor what they did to the state.
 *
 * When the actor starts, its state is made again, before anything else: from the newest snapshot
 * and the events after it, in their order. So an apply function must give the same result for the
 * same state and event: it has no self, reads no clock, and does not fail. An apply function cannot
 * refuse an event, so check before tr_persist whether the event is allowed.
 *
 * Handlers get a const state, and TR_BEHAVIOR says so: only an event changes it. A change by a cast
 * is lost when the actor sleeps, or ends up in the next snapshot.
 *
 * Snapshots are made automatically, see TR_SNAPSHOTS. If the newest snapshot is damaged, a start
 * uses an older one. Without a snapshot it uses all events. If there is an event that the code does
 * not know or cannot read, the actor does not start, and the log names the event; nothing is lost.
 *
 * If a kind stored its state before it had events, its actors begin with the stored state. There is
 * no way back: an actor that has stored events does not start if its kind no longer has `events`.
 */
#ifndef TROUPE_EVENT_H
#define TROUPE_EVENT_H

#include <troupe/self.h>

struct tr_migration;

/**
 * Gives an apply function memory for what the state points to, because the event itself is valid
 * only for the call. The memory lives as long as the incarnation.
 */
typedef struct tr_memory tr_memory;

/**
 * An event of the journal. For tr_event_next, a tr_event that is all zero stands before the first
 * event.
 */
typedef struct tr_event {
    uint64_t sequence TR_ZERO;   /* the number of the event */
    const tr_type *type TR_ZERO; /* &tr_type_deposited: see TR_EVENT_AS */
    const void *data TR_ZERO;    /* valid until the next tr_event_next or wait */
} tr_event;

/** When snapshots are made: the members of TR_SNAPSHOTS. All zero is the default. */
typedef struct tr_snapshots {
    uint32_t every TR_ZERO;    /* events between two snapshots; 0: TR_SNAPSHOT_EVERY */
    uint32_t kept TR_ZERO;     /* how many snapshots are kept; 0: 2; at most TR_SNAPSHOTS_MAX */
    bool drops_events TR_ZERO; /* events up to the oldest snapshot are removed */
} tr_snapshots;
/** For tr_snapshots.every: only tr_snapshot makes snapshots. */
#define TR_NO_SNAPSHOTS UINT32_MAX

/**
 * Defines the events of a kind, a `static const tr_events`: TR_EVENTS(account_events,
 * account_state, clauses...), with the state message of TR_DURABLE.
 * At file scope.
 */
#define TR_EVENTS(name, ...) TR_EVENTS_(name, __VA_ARGS__, )
/**
 * TR_APPLY(event, function): what the event does to the state.
 * A clause of TR_EVENTS.
 *
 * The function's parameters are (state *), (state *, const struct <event> *) or (state *, const
 * struct <event> *, tr_memory *). It returns nothing.
 *
 * TR_APPLY(event, function, .version = 2, .migrations = TR_MIGRATIONS(deposited_1)): the struct of
 * the event has changed. Fields may be added at its end without a new version; older events have
 * zeros there. Any other change needs a new version, and a TR_MIGRATION from the version before. If
 * an event is newer than the code, the actor does not start, and the status is TR_STALE. If fields
 * were moved, renamed or retyped without a new version, the actor does not start, and the status is
 * TR_WRONG_SHAPE.
 */
#define TR_APPLY(event, ...) (TR_CLAUSE_APPLY, event, __VA_ARGS__, )
/**
 * TR_ON_STORED(event, handler): the handler is called once for each such event, when the event is
 * on disk. It is not called when the event is replayed at a later start.
 * A clause of TR_EVENTS.
 *
 * The handler is like a handler of TR_ON, with a const state, which may include later events. Each
 * call is a turn of its own, which may begin while another turn of the actor waits. The calls come
 * in the order of the events, one after the other. If the process or the actor ends first, the call
 * never comes. If the work must not be lost, set an alarm or push it to a queue beside tr_persist.
 */
#define TR_ON_STORED(event, ...) (TR_CLAUSE_STORED, event, __VA_ARGS__, )
/** TR_SNAPSHOTS(.every = 500, .kept = 3): members of tr_snapshots. A clause of TR_EVENTS. */
#define TR_SNAPSHOTS(...) (TR_CLAUSE_SNAPSHOTS, __VA_ARGS__)

/**
 * Adds an event to the journal and applies it: tr_persist(self, deposited, .cents = 5). Returns the
 * number of the event.
 * In a turn. Does not wait.
 *
 * The event is copied. Ends the turn with TR_WRONG_TYPE: the message is no event of this kind;
 * TR_TOO_LARGE: the event has more than TR_EVENT_MAX bytes; TR_LIMIT: the events that are not on
 * disk yet have more than TR_EVENTS_HELD_BYTES_MAX bytes; TR_BAD_DATA: the event cannot be packed;
 * TR_NO_MEMORY, TR_NOT_SUPPORTED, TR_NOT_IN_A_TURN, TR_CANCELLED.
 */
#define tr_persist(self, ...) TR_PERSIST_(self, __VA_ARGS__, )
/**
 * Adds an event as tr_persist does, and returns the status. With any status but TR_OK, no event was
 * added.
 * In a turn. Does not wait.
 */
#define tr_try_persist(self, ...) TR_TRY_PERSIST_(self, __VA_ARGS__, )

/**
 * Returns the data of a tr_event as a `const struct <event> *`, or NULL if it is an event of
 * another type.
 * Any thread. Does not wait.
 */
#define TR_EVENT_AS(event, m) TR_EVENT_AS_(event, m)

/**
 * Adds an item to a list of the state as tr_append does, but in an apply function. Copy what the
 * item points to with tr_memory_strdup.
 * In a turn. Does not wait.
 */
#define tr_memory_append(memory, list, item) TR_APPEND_(tr_memory_append_, memory, list, item)

TR_BEGIN_C
/**
 * Reads the event after *event, which an earlier call has written, or which is all zero. Returns
 * true and overwrites *event with the event that it read, or returns false if there is no later
 * event. In a turn. May wait: if the event must be read from the disk, which blocks the worker's
 * thread.
 *
 * To begin after the event with a certain number: tr_event event = {.sequence = number}. All
 * persisted events can be read, on disk or not, from the first that was not dropped. Ends the turn
 * as tr_kv_get does, and with TR_WRONG_TYPE: an event that the code does not know, or TR_STALE: an
 * event that is newer than the code.
 */
bool tr_event_next(tr_self *self, tr_event *event);
/**
 * Returns the number of the last event, or 0 if there was never an event. Events that were dropped
 * count. Only tr_destroy makes the number smaller.
 * In a turn. Does not wait.
 */
uint64_t tr_event_last(tr_self *self);
/**
 * Makes a snapshot of the present state, which is stored with the commit of this stretch. Does
 * nothing if there is no event since the last snapshot.
 * In a turn. Does not wait.
 *
 * Ends the turn with TR_TOO_LARGE (TR_STATE_MAX), TR_BAD_DATA or TR_NO_MEMORY.
 */
void tr_snapshot(tr_self *self);

/**
 * Returns a copy of a string for an apply function, or NULL for NULL. If there is no memory, ends
 * the turn, or the start of the actor. In a turn. Does not wait.
 */
char *tr_memory_strdup(tr_memory *memory, const char *string);
/**
 * Returns zeroed memory for an apply function, aligned for any type. If there is no memory, ends
 * the turn, or the start of the actor. In a turn. Does not wait.
 */
void *tr_memory_alloc(tr_memory *memory, size_t size) TR_NON_NULL;

/** See tr_memory_append. In a turn. Does not wait. */
const void *tr_memory_append_(tr_memory *memory, const void *items, size_t count, size_t size,
                              const void *item);
/** These are the functions of tr_persist and tr_try_persist. In a turn. Does not wait. */
uint64_t tr_self_persist(tr_self *self, const tr_type *type, const void *event);
TR_MUST_CHECK tr_status tr_self_try_persist(tr_self *self, const tr_type *type, const void *event);
/** See TR_EVENT_AS. Any thread. Does not wait. */
const void *tr_event_data(const tr_event *event, const tr_type *type);
TR_END_C

/** An entry of tr_events. TR_APPLY sets `apply`, and TR_ON_STORED sets `stored`. */
typedef struct tr_event_row {
    const tr_type *type;
    void (*apply)(void *state, const void *event, tr_memory *memory);
    tr_next (*stored)(tr_self *self, void *state, const void *event);
    const char *name;         /* name of the function */
    uint32_t version TR_ZERO; /* 0: 1 */
    const struct tr_migration *const *migrations TR_ZERO;
} tr_event_row;

/** What TR_EVENTS defines: the events of a kind. */
typedef struct tr_events {
    size_t size; /* sizeof(tr_events) */
    const tr_type *state;
    const tr_event_row *rows;
    size_t row_count;
    tr_snapshots snapshots TR_ZERO;
} tr_events;

#include <troupe/detail/event.h>

#endif
