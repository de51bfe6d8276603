/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What an actor can do inside a turn.
 *
 * Every verb names first who speaks: `self` in a handler, a `tr_client *` on any other thread.
 * Where a message is given it comes last, as its name and its fields:
 *
 *     tr_tell(self, alice, deposit, .amount = 5, .memo = "rent");
 *     return tr_reply(self, balance, .cents = 5);
 *
 * Failures. A verb does what it says or ends the turn: a spawn that cannot spawn and memory that
 * cannot be had do not return. The short program is therefore right without one `if`. Such a verb
 * has a tr_try_ twin that returns instead. A turn that ends so fails, as by tr_fail: nothing after
 * the verb runs, what tr_defer registered runs, scratch memory is freed, and the supervisor decides
 * what becomes of the actor (supervision.h). In C++ the frames are unwound and destructors run (in
 * tr_at_end, tr_defer and tr_buffer_of_turn they are not); in C they are dropped, so what must be
 * given back is given to tr_defer (for the turn) or tr_at_end (for the incarnation), and no lock is
 * held across a verb that can end the turn.
 *
 * A NULL where something is needed is TR_INVALID_ARGUMENT, nobody, or nothing is done; a verb that
 * has no way to say so ends the turn, and aborts the process when there is no self and so no turn.
 *
 * With a self: in a handler only, on the thread that runs it. With a client: any thread, one at a
 * time per client. "Handler" includes set-ups and the handlers of signals.
 *
 * Every macro here is a thin layer over functions that are exported too; they are at the end.
 */
#ifndef TROUPE_SELF_H
#define TROUPE_SELF_H

#include <troupe/behavior.h>

/** How a thread that runs no actors talks to a system; see system.h. */
typedef struct tr_client tr_client;
/** A set of workers with their actors; see system.h. */
typedef struct tr_system tr_system;

/** A timer without a key; all zero is none. */
typedef struct tr_timer {
    uint64_t number;
} tr_timer;

/** What became of a timer that was taken back. */
typedef enum tr_timer_end {
    TR_TIMER_NONE,      /* there is none: never started, or its message was handled */
    TR_TIMER_CANCELLED, /* it had not fired */
    TR_TIMER_TAKEN_BACK /* it had fired; its message waited and will not be handled */
} tr_timer_end;

/** What an actor uses; tr_options says what counts. */
typedef struct tr_usage {
    size_t bytes;        /* of the actor alone, whether it has a budget or not */
    size_t tree_bytes;   /* of its tree; 0 unless it has a budget for its tree */
    tr_time cpu_ns;      /* of the actor alone, this turn included; 0 unless a budget is for time */
    tr_time tree_cpu_ns; /* of its tree; 0 unless it has a budget for its tree, and one for time */
} tr_usage;

typedef enum tr_timer_kind {
    TR_TIMER_ONCE,
    TR_TIMER_FIXED_RATE,
    TR_TIMER_FIXED_DELAY
} tr_timer_kind;

/* ---- Messages. ---- */

/**
 * Sends a message: tr_tell(self, to, deposit, .amount = 5).
 *
 * TR_OK: it was taken, which is not yet handled. TR_STOPPED (also for nobody),
 * TR_TOO_LARGE (also for a malformed one), TR_NO_MEMORY: it was not, and is a dead letter.
 * TR_INVALID_ARGUMENT: there was no message. May be ignored. TR_MAILBOX_FULL: as the receiver's
 * `overflow` says.
 *
 * It waits in one case only: the receiver has TR_PARK and no room, or another turn of this actor waits
 * for room there. Then the turn waits as a barrier for at most TR_PARK_NS, a client's thread blocks;
 * TR_CANCELLED: the actor ends meanwhile. Where a turn cannot wait (a set-up, a signal, a defer, a ring of
 * actors that wait for each other) it is TR_MAILBOX_FULL at once.
 *
 * Messages of one sender to one receiver arrive in the order of the calls, whichever of its turns calls.
 */
#define tr_tell(from, to, ...) TR_TELL_(from, to, __VA_ARGS__)

/** As tr_tell, of a struct that exists: tr_tell_copy(self, to, deposit, &my_deposit). */
#define tr_tell_copy(from, to, m, pointer) TR_TELL_COPY_(from, to, m, pointer)

/**
 * Answers who sent the message of this turn: return tr_reply(self, balance, .cents = 5);
 *
 * Gives TR_SAME. An answer that cannot be delivered, or that nobody waits for, is a dead letter.
 */
#define tr_reply(self, ...) TR_REPLY_(reply, self, __VA_ARGS__)

/**
 * As tr_reply, and says how it went: TR_OK, TR_NO_SENDER (the message has none), and all that
 * tr_tell gives.
 */
#define tr_try_reply(self, ...) TR_REPLY_(try_reply, self, __VA_ARGS__)

/**
 * Passes the message of this turn on: return tr_forward(self, other);
 *
 * The other sees the original sender and causal id. Gives TR_SAME; what cannot be delivered is a
 * dead letter.
 */
#define tr_forward(self, to) tr_self_forward(self, tr_any(to))

/* ---- Actors. ---- */

/**
 * Starts a child and gives its ref, an `account_ref`:
 *     tr_spawn(self, account, "alice")                                NULL for a made-up name
 *     tr_spawn(self, account, "alice", open_account, .cents = 100)    with its set-up message
 *
 * The name and the message are copied. The child lives on this worker; its set-up and its
 * tr_pre_start have run when this returns. Ends the turn where tr_try_spawn would give an error.
 */
#define tr_spawn(self, actor, ...) TR_SPAWN_(self, -1, actor, __VA_ARGS__)

/**
 * As tr_spawn, on a worker: tr_spawn_at(self, 1, account, "alice"). On another worker than this
 * one the set-up has not run yet when this returns; what is sent meanwhile waits.
 */
#define tr_spawn_at(self, worker, actor, ...) TR_SPAWN_(self, worker, actor, __VA_ARGS__)

/**
 * As tr_spawn, into *ref, an `account_ref *`, which is written on TR_OK only.
 *
 * TR_OK also when the set-up answered with TR_STOP: the actor has ended, and nothing went wrong.
 * TR_NAME_EXISTS, TR_NAME_INVALID, TR_INIT_FAILED (the set-up failed; the name is free again),
 * TR_WRONG_TYPE (another set-up message is wanted, or none), TR_STOPPING, TR_TOO_DEEP, TR_LIMIT
 * (too many actors, too long a path), TR_INVALID_ARGUMENT (no such worker; the behavior is
 * malformed or of another ABI), TR_TOO_LARGE, TR_NO_MEMORY.
 *
 * From a client the actor is a child of /user, lives on worker 0, and is set up by that worker
 * later: tr_spawn_wait waits for it. A set-up that fails on another worker than its parent's is
 * told to the parent: tr_child_failed with TR_STOP_CHILD. It is not tried again.
 */
#define tr_try_spawn(from, ref, actor, ...) TR_TRY_SPAWN_(from, ref, NULL, -1, actor, __VA_ARGS__)
/** As tr_try_spawn, on a worker. */
#define tr_try_spawn_at(from, ref, worker, actor, ...)                                             \
    TR_TRY_SPAWN_(from, ref, NULL, worker, actor, __VA_ARGS__)
/** As tr_try_spawn, with the story in *error, a `tr_error *`, when it fails. */
#define tr_try_spawn_error(from, ref, error, actor, ...)                                           \
    TR_TRY_SPAWN_(from, ref, error, -1, actor, __VA_ARGS__)

/** The living child of that name, an `account_ref`; nobody when there is none. */
#define tr_child(self, actor, name) actor##_ref_of(tr_self_child(self, name))
/** The living actor at "/user/bank/alice", an `account_ref`; nobody when there is none. */
#define tr_find(from, actor, path) actor##_ref_of(TR_SPEAKER_(from, find)(from, path))

/**
 * Stops an actor when it has handled what it has: a poison pill. Anybody who has the ref may.
 * TR_OK, or TR_STOPPED: it has already, which does no harm. May be ignored.
 */
#define tr_stop(from, ref) TR_SPEAKER_(from, stop)(from, tr_any(ref))
/**
 * Stops an actor after its current turn; what it has not handled is dead letters. As tr_stop: one
 * that is stopping already goes on as it began, unless its parent is killed.
 */
#define tr_kill(from, ref) TR_SPEAKER_(from, kill)(from, tr_any(ref))
/**
 * Starts a timer that sends a message to this actor, once, after `delay_ns`:
 *     tr_timer_once(self, "retry", TR_SECOND, retry, .attempt = 2);
 *
 * A timer of the same key is replaced; key NULL is a timer without one, and the tr_timer that this
 * returns takes it back. Timers end with the incarnation. A timer never fires early; it has at most
 * one message waiting; wall-clock jumps do not move it. Ends the turn with TR_INVALID_ARGUMENT (a
 * negative time, a period of 0, an empty key or one of more than TR_TIMER_KEY_MAX bytes), TR_LIMIT
 * (TR_TIMERS_MAX), TR_STOPPING, TR_TOO_LARGE, TR_NO_MEMORY; tr_self_try_timer gives a status.
 */
#define tr_timer_once(self, key, delay_ns, ...)                                                    \
    TR_TIMER_(self, key, TR_TIMER_ONCE, delay_ns, __VA_ARGS__)
/** ... at each period, on a grid that does not drift; ticks that were missed are one tick. */
#define tr_timer_fixed_rate(self, key, period_ns, ...)                                             \
    TR_TIMER_(self, key, TR_TIMER_FIXED_RATE, period_ns, __VA_ARGS__)
/** ... a period after the last one was handled. */
#define tr_timer_fixed_delay(self, key, period_ns, ...)                                            \
    TR_TIMER_(self, key, TR_TIMER_FIXED_DELAY, period_ns, __VA_ARGS__)

/**
 * Suspends an actor, which keeps its mail and handles none until tr_resume. Not counted: one resume
 * ends any number of suspends. As tr_stop.
 */
#define tr_suspend(from, ref) TR_SPEAKER_(from, suspend)(from, tr_any(ref))
/** Lets an actor go on that tr_suspend had suspended; no other reason is taken away. As tr_stop. */
#define tr_resume(from, ref) TR_SPEAKER_(from, resume)(from, tr_any(ref))
/**
 * Asks for a tr_terminated when an actor has stopped, whatever the reason: once, after all messages
 * that it sent here, when its name, timers and memory are released. It is a message like those that
 * others send, but takes no room and resets no receive timeout; where nobody handles it, it is
 * ignored. One that has stopped already gives it at once. A restart of either side is no end. To
 * watch the same one again changes nothing; to watch oneself is TR_OK, and nothing comes of it.
 *
 * In a turn it ends the turn with TR_INVALID_ARGUMENT (nobody), TR_STOPPING, TR_CANCELLED,
 * TR_NO_MEMORY. A client gets the status, and the message by tr_receive.
 */
#define tr_watch(from, ref) TR_SPEAKER_(from, watch)(from, tr_any(ref))
/** As tr_watch, and gives the status. */
#define tr_try_watch(from, ref) TR_SPEAKER_(from, try_watch)(from, tr_any(ref))
/**
 * No longer: from now on there comes no tr_terminated of this actor, not even one that was sent
 * before. TR_OK also for one that is not watched; TR_INVALID_ARGUMENT, TR_CANCELLED. May be ignored.
 */
#define tr_unwatch(from, ref) TR_SPEAKER_(from, unwatch)(from, tr_any(ref))
/** As tr_stop, of a child; TR_NOT_FOUND when it is no child of this actor. May be ignored. */
#define tr_stop_child(self, ref) tr_self_stop_child(self, tr_any(ref))

/**
 * Goes on as another behavior:
 *     return tr_become(self, open);
 *     return tr_become(self, open, open_with, .rows = 3);
 *
 * A behavior of the same state type keeps the state; one of another type begins with a state of
 * its own, zeros. A TR_SETUP runs each time that its behavior is adopted. A TR_SETUP_WITH runs when
 * its message is given, as in the second form; without a message it does not run where the state
 * type is the same, and the actor goes on with the state it has; where the type differs the message
 * is required. A message of another type, one that nobody wants, or one that is missing fails the
 * turn with TR_WRONG_TYPE. The behavior changes when the turn has ended, its defers included; a
 * set-up that fails then is a failure of the actor, and it is the new behavior that hears of what
 * follows. A restart begins with the behavior of tr_spawn. Without the `return` nothing changes, and the
 * compiler warns.
 */
#define tr_become(self, ...) TR_BECOME_(self, __VA_ARGS__)

TR_BEGIN_C
/**
 * This actor is broken: return tr_fail(self, TR_BAD_DATA, "row %d", n); Its supervisor decides what
 * becomes of it (supervision.h); where nothing is said it is restarted. Gives what the handler
 * must return; a result that is not returned is nothing, and the compiler warns. The text is copied, and cut when it is longer than tr_error.text.
 */
TR_MUST_RETURN tr_next tr_fail(tr_self *self, tr_status status, const char *format, ...)
    TR_PRINTF(3, 4);
/** The same from any depth of calls: does not return. */
TR_NO_RETURN void tr_crash(tr_self *self, tr_status status, const char *format, ...)
    TR_PRINTF(3, 4);

/* ---- Timers: see tr_timer_once and its kin. ---- */

/** Takes a timer back, and its message if that waits to be handled. */
tr_timer_end tr_timer_cancel(tr_self *self, const char *key);
/** The same of a timer without a key. */
tr_timer_end tr_timer_stop(tr_self *self, tr_timer timer);
/**
 * Asks for tr_receive_timeout when no message has come for this long. Only what others send counts,
 * not timers and signals. It comes once, and again after the next message; 0 ends it. It is not
 * counted while the actor is suspended. Ends the turn with TR_INVALID_ARGUMENT when negative, or
 * with TR_NO_MEMORY.
 */
void tr_set_receive_timeout(tr_self *self, tr_time idle_ns);

/* ---- Stash. ---- */

/**
 * Sets the message of this turn aside: return tr_stash(self); It is also a handler by itself, as in
 * TR_ON_ANY(tr_stash). The turn fails with TR_STASH_FULL when TR_STASH_MAX wait already, or with
 * this one more than TR_STASH_BYTES_MAX. What is left when the incarnation ends is dead letters. Without the
 * `return` nothing is set aside, and the compiler warns.
 */
TR_MUST_RETURN tr_next tr_stash(tr_self *self);
/**
 * Brings back up to `max` of what was set aside, the oldest first, before all other mail. What is
 * stashed again meanwhile waits for the next call. Returns how many.
 */
size_t tr_unstash(tr_self *self, size_t max);
/** How many messages are set aside. */
size_t tr_stash_count(const tr_self *self);

/* ---- Who and where. ---- */

/** This actor. */
tr_ref tr_me(const tr_self *self);
/** Who spawned this actor; nobody at the top. */
tr_ref tr_parent(const tr_self *self);
/** Who sent the message of this turn; nobody when it has no sender. */
tr_ref tr_sender(const tr_self *self);
/** "/user/bank/alice", borrowed until the turn ends. */
const char *tr_path(const tr_self *self) TR_NON_NULL;
/** "alice", borrowed until the turn ends. */
const char *tr_name(const tr_self *self) TR_NON_NULL;
/** Copies up to `max` refs of living children, oldest first; gives how many there are. */
size_t tr_children(const tr_self *self, tr_ref *children, size_t max);
/** The worker that runs this turn, from 0. */
int tr_worker(const tr_self *self);
/** The system of this actor, borrowed. */
tr_system *tr_system_of(const tr_self *self);
/** The id that all messages share which were caused, however indirectly, by the same outer one. */
uint64_t tr_causal_id(const tr_self *self);

/* ---- Memory. Sizes may be 0. ---- */

/**
 * Memory of this incarnation, zeroed, aligned for any type. Never NULL: ends the turn instead, with
 * TR_NO_MEMORY or TR_OVER_BUDGET.
 */
void *tr_alloc(tr_self *self, size_t size) TR_NON_NULL;
/**
 * Another size for what tr_alloc gave, or for NULL, as realloc; what is new is zeroed. Ends the turn with
 * TR_INVALID_ARGUMENT for memory of a durable state that was loaded.
 */
void *tr_realloc(tr_self *self, void *memory, size_t size) TR_NON_NULL;
/**
 * Gives back what tr_alloc gave before the incarnation ends. NULL does nothing, nor does memory of a durable state
 * that was loaded, which ends with the incarnation.
 */
void tr_free(tr_self *self, void *memory);
/** As tr_alloc, and NULL when out of memory or over budget. */
TR_MUST_CHECK void *tr_try_alloc(tr_self *self, size_t size);
/** As tr_realloc, and NULL where that ends the turn: the old block is then as it was. */
TR_MUST_CHECK void *tr_try_realloc(tr_self *self, void *memory, size_t size);
/** A copy of a string that lives as long as the incarnation; NULL of NULL. As tr_alloc. */
char *tr_strdup(tr_self *self, const char *string);

/** Memory of this turn, zeroed, aligned for any type. Never NULL: ends the turn instead. */
void *tr_scratch(tr_self *self, size_t size) TR_NON_NULL;
/** As tr_scratch, and NULL when out of memory. */
TR_MUST_CHECK void *tr_try_scratch(tr_self *self, size_t size);
/** A string of this turn, as printf makes it. As tr_scratch. */
char *tr_format(tr_self *self, const char *format, ...) TR_PRINTF(2, 3) TR_NON_NULL;

/** A buffer that is released when the turn ends: tr_tell(self, to, chunk, .data = buffer). */
tr_buffer *tr_buffer_of_turn(tr_self *self, size_t size) TR_NON_NULL;
/** Retains a buffer for as long as the incarnation lives. NULL does nothing. */
void tr_buffer_keep(tr_self *self, tr_buffer *buffer);

/**
 * Calls `release(resource)` when the incarnation ends, on every path; last registered first. The
 * resource is taken: when it cannot be registered, it is released at once and the turn ends with
 * TR_NO_MEMORY. `release` NULL ends the turn with TR_INVALID_ARGUMENT. A release must not use the
 * actor.
 */
void tr_at_end(tr_self *self, void *resource, void (*release)(void *resource));
/**
 * Calls `release(resource)` when the turn ends, on every path; last registered first. At most
 * TR_DEFERS_MAX in a turn: one more is released at once and the turn ends with TR_LIMIT.
 */
void tr_defer(tr_self *self, void *resource, void (*release)(void *resource));

/** What this actor uses, exact for itself; a tree on several workers may change meanwhile. */
tr_usage tr_budget_used(const tr_self *self);

/* ---- Time, chance, log: all from the platform, so that tests can own them. ---- */

/** Nanoseconds since some start, read at the call; never goes back. */
tr_time tr_now(const tr_self *self);
/** Nanoseconds since 1970 (UTC); may jump. */
tr_time tr_wall_now(const tr_self *self);
/** 64 random bits, not for secrets; the same for the same seed of the system. */
uint64_t tr_random(tr_self *self);
/** Writes a line to the log of the system, with the path of this actor. */
void tr_log(tr_self *self, tr_level level, const char *format, ...) TR_PRINTF(3, 4);
TR_END_C

#define tr_log_debug(self, ...) tr_log(self, TR_LEVEL_DEBUG, __VA_ARGS__)
#define tr_log_info(self, ...) tr_log(self, TR_LEVEL_INFO, __VA_ARGS__)
#define tr_log_warn(self, ...) tr_log(self, TR_LEVEL_WARN, __VA_ARGS__)
#define tr_log_error(self, ...) tr_log(self, TR_LEVEL_ERROR, __VA_ARGS__)

/* ---- What the macros above call: plain functions, for bindings and generated code. ---- */

/** What a spawn needs; all borrowed for the call. */
typedef struct tr_spawn_args {
    size_t size; /* sizeof(tr_spawn_args) */
    const tr_behavior *behavior;
    const char *protocol; /* "deposit, get_balance, ": must have handlers. NULL: not checked. */
    const char *name;     /* NULL: made up */
    int worker;           /* -1: where the spawner is; from outside worker 0 */
    const tr_type *setup_type; /* NULL: no set-up message */
    const void *setup;
    tr_error *error;           /* NULL, or written when it fails */
    const tr_child_spec *spec; /* NULL, or how its parent treats it; lives as long as the child */
} tr_spawn_args;

TR_BEGIN_C
tr_status tr_self_tell(tr_self *self, tr_ref to, const tr_type *type, const void *message);
tr_next tr_self_reply(tr_self *self, const tr_type *type, const void *message);
tr_status tr_self_try_reply(tr_self *self, const tr_type *type, const void *message);
tr_next tr_self_forward(tr_self *self, tr_ref to);
tr_ref tr_self_spawn(tr_self *self, const tr_spawn_args *args);
TR_MUST_CHECK tr_status tr_self_try_spawn(tr_self *self, const tr_spawn_args *args,
                                          uint64_t *ref_bits);
tr_ref tr_self_child(tr_self *self, const char *name);
tr_ref tr_self_find(tr_self *self, const char *path);
tr_status tr_self_stop(tr_self *self, tr_ref ref);
tr_status tr_self_kill(tr_self *self, tr_ref ref);
tr_status tr_self_suspend(tr_self *self, tr_ref ref);
tr_status tr_self_resume(tr_self *self, tr_ref ref);
tr_status tr_self_stop_child(tr_self *self, tr_ref ref);
tr_status tr_self_watch(tr_self *self, tr_ref ref);
TR_MUST_CHECK tr_status tr_self_try_watch(tr_self *self, tr_ref ref);
tr_status tr_self_unwatch(tr_self *self, tr_ref ref);
/** setup_type NULL: no set-up message. */
TR_MUST_RETURN tr_next tr_self_become(tr_self *self, const tr_behavior *behavior,
                                      const tr_type *setup_type, const void *setup);

/** key NULL: `timer`, unless NULL, says which it is. */
TR_MUST_CHECK tr_status tr_self_try_timer(tr_self *self, const char *key, tr_timer_kind kind,
                                          tr_time ns, const tr_type *type, const void *message,
                                          tr_timer *timer);
tr_timer tr_self_timer(tr_self *self, const char *key, tr_timer_kind kind, tr_time ns,
                       const tr_type *type, const void *message);

tr_status tr_client_tell(tr_client *client, tr_ref to, const tr_type *type, const void *message);
TR_MUST_CHECK tr_status tr_client_try_spawn(tr_client *client, const tr_spawn_args *args,
                                            uint64_t *ref_bits);
tr_ref tr_client_find(tr_client *client, const char *path);
tr_status tr_client_stop(tr_client *client, tr_ref ref);
tr_status tr_client_kill(tr_client *client, tr_ref ref);
tr_status tr_client_suspend(tr_client *client, tr_ref ref);
tr_status tr_client_resume(tr_client *client, tr_ref ref);
tr_status tr_client_watch(tr_client *client, tr_ref ref);
TR_MUST_CHECK tr_status tr_client_try_watch(tr_client *client, tr_ref ref);
tr_status tr_client_unwatch(tr_client *client, tr_ref ref);
TR_END_C

#include <troupe/detail/self.h>

#endif
