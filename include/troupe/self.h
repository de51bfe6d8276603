/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The verbs: the functions and macros that an actor can call in a turn. A client on another thread can call some of
 * them.
 *
 * ```c
 * #include <troupe/troupe.h>
 *
 * TR_MESSAGE(balance, (u64, cents));
 * TR_MESSAGE(deposit, (u64, cents));
 * TR_ACTOR(account, deposit);
 *
 * struct account {
 *     uint64_t cents;
 * };
 *
 * static tr_next on_deposit(tr_self *self, struct account *account, const struct deposit *message)
 * {
 *     account->cents += message->cents;
 *     return tr_reply(self, balance, .cents = account->cents);
 * }
 *
 * TR_BEHAVIOR(account, struct account, TR_ON(deposit, on_deposit));
 *
 * static tr_next on_args(tr_self *self)
 * {
 *     account_ref alice = tr_spawn(self, account, "alice");
 *     tr_tell(self, alice, deposit, .cents = 5);
 *     return TR_SAME;
 * }
 *
 * static tr_next on_balance(tr_self *self, const struct balance *message)
 * {
 *     tr_log_info(self, "%s has %d cents", tr_path(self), (int)message->cents);
 *     return TR_STOP;
 * }
 *
 * TR_BEHAVIOR(bank, void, TR_ON(tr_args, on_args), TR_ON(balance, on_balance));
 *
 * int main(int argc, char **argv)
 * {
 *     return tr_app_main(argc, argv, bank);
 * }
 * ```
 *
 * The first argument of a verb is its caller: `self` in a turn, a `tr_client *` on another thread. A message comes
 * last, as its name and its fields.
 *
 * Failures. A verb that cannot do what it says ends the turn: it does not return. So a short program is correct without
 * checks. For each such verb there is another that begins with tr_try_ and returns a status instead. A turn that ends
 * inside a verb fails as with tr_fail: the code after the verb does not run, the functions of tr_defer run, scratch
 * memory is freed, and the supervisor decides about the actor (supervision.h). In C++ the frames are unwound and
 * destructors run, except where tr_at_end, tr_defer or tr_buffer_of_turn end the turn. In C the stack frames are
 * dropped. So register what must be released with tr_defer (at the end of the turn) or tr_at_end (at the end of the
 * incarnation), and do not hold a lock across a verb that can end the turn.
 *
 * If an argument that is needed is NULL, a verb that returns a status returns TR_INVALID_ARGUMENT, one that returns a
 * ref returns TR_NOBODY, and others do nothing. A verb that must return something else ends the turn. If `self` is
 * NULL, the verb aborts the process.
 */
#ifndef TROUPE_SELF_H
#define TROUPE_SELF_H

#include <troupe/behavior.h>

/** Lets a thread that is no worker use a system; see system.h. */
typedef struct tr_client tr_client;
/** A set of workers with their actors; see system.h. */
typedef struct tr_system tr_system;

/** Names a timer without a key. All zero: none. */
typedef struct tr_timer {
    uint64_t number;
} tr_timer;

/** What a cancel has found: the state of the timer at that moment. */
typedef enum tr_timer_end {
    /* there was no such timer: it was never started, or its message was handled */
    TR_TIMER_NONE,
    TR_TIMER_CANCELLED, /* the timer had not fired, and will not */
    TR_TIMER_TAKEN_BACK /* the timer had fired; its message was removed from the mailbox */
} tr_timer_end;

/** What an actor uses. The comment of tr_options says what counts. */
typedef struct tr_usage {
    size_t bytes;      /* bytes of the actor alone, with or without a budget */
    size_t tree_bytes; /* bytes of the actor and all below it; 0 if the actor has no tree budget */
    /* CPU time of the actor alone, this turn included; 0 if the actor has no budget of CPU time */
    tr_time cpu_ns;
    /*
     * CPU time of the actor and all below it; 0 if it has no tree budget, or no budget of CPU time
     */
    tr_time tree_cpu_ns;
} tr_usage;

typedef enum tr_timer_kind {
    TR_TIMER_ONCE,
    TR_TIMER_FIXED_RATE,
    TR_TIMER_FIXED_DELAY
} tr_timer_kind;

/* ---- Messages. ---- */

/**
 * Sends a message: tr_tell(self, to, deposit, .amount = 5). In a turn, or client's thread. May wait: if the mailbox is
 * full and has TR_PARK.
 *
 * Returns TR_OK if the receiver's mailbox has accepted the message; it is not handled yet. TR_STOPPED (also for
 * TR_NOBODY), TR_TOO_LARGE (also for a malformed message), TR_NO_MEMORY: the message was not accepted, and is a dead
 * letter. TR_MAILBOX_FULL: see the receiver's tr_overflow. TR_INVALID_ARGUMENT: there is no message. The status may be
 * ignored. The message is copied.
 *
 * With TR_PARK the call waits while the mailbox is full, or while another turn of this actor waits for that mailbox, at
 * most TR_PARK_NS. A turn waits as a barrier; a client's thread blocks. TR_CANCELLED: the sending actor ends meanwhile.
 * Where a turn cannot wait (a set-up, a signal, a defer, a cycle of actors that wait for each other), the status is
 * TR_MAILBOX_FULL at once.
 *
 * Messages of one sender to one receiver arrive in the order of the calls, also if the calls are in different turns.
 */
#define tr_tell(from, to, ...) TR_TELL_(from, to, __VA_ARGS__, )

/**
 * Sends a struct that exists: tr_tell_copy(self, to, deposit, &my_deposit). Otherwise as tr_tell. In a turn, or
 * client's thread. May wait: as tr_tell does.
 */
#define tr_tell_copy(from, to, m, pointer) TR_TELL_COPY_(from, to, m, pointer)

/**
 * Answers the sender of the message of this turn: return tr_reply(self, balance, .cents = 5);
 * In a turn. May wait: as tr_tell does, if the message was sent by tr_tell; a reply to a request does not
 * wait.
 *
 * Returns TR_SAME. A reply is a dead letter if it cannot be delivered, or if nobody waits for it.
 */
#define tr_reply(self, ...) TR_REPLY_(reply, self, __VA_ARGS__, )

/**
 * Answers as tr_reply does, and returns the status.
 * In a turn. May wait: as tr_reply does.
 *
 * TR_OK; TR_NO_SENDER: the message has no sender; and all statuses of tr_tell.
 */
#define tr_try_reply(self, ...) TR_REPLY_(try_reply, self, __VA_ARGS__, )

/**
 * Passes the message of this turn on to another actor: return tr_forward(self, other);
 * In a turn. May wait: as tr_tell does.
 *
 * The other actor sees the original sender and causal id. If the message is a request, the other actor answers it.
 * Returns TR_SAME. A message that cannot be delivered is a dead letter.
 */
#define tr_forward(self, to) tr_self_forward(self, tr_any(to))

/* ---- Actors. ---- */

/**
 * Starts a child and returns its ref, an `account_ref`:
 *     tr_spawn(self, account, "alice")                                NULL: a name is made up
 *     tr_spawn(self, account, "alice", open_account, .cents = 100)    with its set-up message
 * In a turn. Does not wait.
 *
 * The name and the message are copied. The child lives on this worker. Its set-up and its tr_pre_start have run when
 * the call returns. If tr_try_spawn would return an error, ends the turn instead. If the tr_pre_start fails, this is no
 * error of the spawn: the child is restarted as its supervision says.
 */
#define tr_spawn(self, actor, ...) TR_SPAWN_(self, -1, actor, __VA_ARGS__, )

/**
 * Starts a child on a worker: tr_spawn_at(self, 1, account, "alice"). Otherwise as tr_spawn.
 * In a turn. Does not wait.
 *
 * If this is another worker than the caller's, the set-up has not run when the call returns; messages that are sent to
 * the child meanwhile wait until it has.
 */
#define tr_spawn_at(self, worker, actor, ...) TR_SPAWN_(self, worker, actor, __VA_ARGS__, )

/**
 * Starts an actor as tr_spawn does, and writes its ref to *ref, an `account_ref *`, on TR_OK only. In a turn, or
 * client's thread. Does not wait.
 *
 * TR_OK, also if the set-up returned TR_STOP: the actor has ended without an error. TR_NAME_EXISTS; TR_NAME_INVALID;
 * TR_INIT_FAILED: the set-up failed, and the name is free again; TR_WRONG_TYPE: the set-up takes another message, or no
 * message; TR_STOPPING; TR_TOO_DEEP; TR_LIMIT: too many actors, or too long a path; TR_INVALID_ARGUMENT: there is no
 * such worker, or the behavior is malformed or of another ABI; TR_TOO_LARGE; TR_NO_MEMORY.
 *
 * An actor that a client spawns is a child of /user on worker 0. That worker runs the set-up later: tr_spawn_wait waits
 * until it has. If a set-up fails on another worker than the parent's, the parent gets a tr_child_failed with
 * TR_STOP_CHILD; the set-up is not repeated.
 */
#define tr_try_spawn(from, ref, actor, ...) TR_TRY_SPAWN_(from, ref, NULL, -1, actor, __VA_ARGS__)
/**
 * Starts an actor on a worker. Otherwise as tr_try_spawn.
 * In a turn, or client's thread. Does not wait.
 */
#define tr_try_spawn_at(from, ref, worker, actor, ...)                                             \
    TR_TRY_SPAWN_(from, ref, NULL, worker, actor, __VA_ARGS__)
/**
 * Starts an actor as tr_try_spawn does, and on failure describes it in *error, a `tr_error *`. In a turn, or client's
 * thread. Does not wait.
 */
#define tr_try_spawn_error(from, ref, error, actor, ...)                                           \
    TR_TRY_SPAWN_(from, ref, error, -1, actor, __VA_ARGS__)

/**
 * Returns the living child with that name, an `account_ref`, or TR_NOBODY if there is no such child. In a turn. Does
 * not wait.
 */
#define tr_child(self, actor, name) actor##_ref_of(tr_self_child(self, name))
/**
 * Returns the living actor with a path, "/user/bank/alice", as an `account_ref`, or TR_NOBODY if there is no such
 * actor. In a turn, or client's thread. Does not wait.
 */
#define tr_find(from, actor, path) actor##_ref_of(TR_SPEAKER_(from, find)(from, path))

/**
 * Sends a poison pill, which stops an actor when it has handled the messages that came before. Every actor and client
 * that has the ref may do this. In a turn, or client's thread. Does not wait.
 *
 * TR_OK; TR_STOPPED: the actor has stopped before; TR_NO_MEMORY, TR_CANCELLED. The status may be ignored.
 */
#define tr_stop(from, ref) TR_SPEAKER_(from, stop)(from, tr_any(ref))
/**
 * Stops an actor after its current turn. Messages that it has not handled are dead letters.
 * In a turn, or client's thread. Does not wait.
 *
 * The statuses are those of tr_stop. If the actor is already stopping, only a kill of its parent has an effect.
 */
#define tr_kill(from, ref) TR_SPEAKER_(from, kill)(from, tr_any(ref))
/**
 * Starts a timer that sends a message to this actor once, after `delay_ns`:
 *     tr_timer_once(self, "retry", TR_SECOND, retry, .attempt = 2);
 * In a turn. Does not wait.
 *
 * Returns a tr_timer. A timer with the same key is replaced. If `key` is NULL, the timer has no key, and tr_timer_stop
 * can stop it with the tr_timer. A timer ends with the incarnation. It never fires early, has at most one message
 * waiting, and jumps of the wall clock do not move it.
 *
 * Ends the turn with TR_INVALID_ARGUMENT (a negative time, a period of 0, an empty key, or one of more than
 * TR_TIMER_KEY_MAX bytes), TR_LIMIT (TR_TIMERS_MAX), TR_STOPPING, TR_TOO_LARGE or TR_NO_MEMORY; tr_try_timer_once
 * returns a status instead.
 */
#define tr_timer_once(self, key, delay_ns, ...)                                                    \
    TR_TIMER_(self, key, TR_TIMER_ONCE, delay_ns, __VA_ARGS__, )
/**
 * Starts a timer that sends a message at each period. Otherwise as tr_timer_once.
 * In a turn. Does not wait.
 *
 * The times are multiples of the period from the start on, so they do not drift. If several times were missed, one
 * message is sent for all of them.
 */
#define tr_timer_fixed_rate(self, key, period_ns, ...)                                             \
    TR_TIMER_(self, key, TR_TIMER_FIXED_RATE, period_ns, __VA_ARGS__, )
/**
 * Starts a timer that sends a message repeatedly, each time when a period has passed since the last message was
 * handled. Otherwise as tr_timer_once.
 * In a turn. Does not wait.
 */
#define tr_timer_fixed_delay(self, key, period_ns, ...)                                            \
    TR_TIMER_(self, key, TR_TIMER_FIXED_DELAY, period_ns, __VA_ARGS__, )
/**
 * As tr_timer_once, but returns the status instead of ending the turn. The status may also be TR_CANCELLED. On TR_OK,
 * if `key` is NULL and `timer` is not, sets *timer to the new timer.
 * In a turn. Does not wait.
 */
#define tr_try_timer_once(self, timer, key, delay_ns, ...)                                         \
    TR_TRY_TIMER_(self, timer, key, TR_TIMER_ONCE, delay_ns, __VA_ARGS__, )
/** As tr_timer_fixed_rate, with the result of tr_try_timer_once. In a turn. Does not wait. */
#define tr_try_timer_fixed_rate(self, timer, key, period_ns, ...)                                  \
    TR_TRY_TIMER_(self, timer, key, TR_TIMER_FIXED_RATE, period_ns, __VA_ARGS__, )
/** As tr_timer_fixed_delay, with the result of tr_try_timer_once. In a turn. Does not wait. */
#define tr_try_timer_fixed_delay(self, timer, key, period_ns, ...)                                 \
    TR_TRY_TIMER_(self, timer, key, TR_TIMER_FIXED_DELAY, period_ns, __VA_ARGS__, )

/**
 * Suspends an actor: it keeps its messages and handles none until tr_resume.
 * In a turn, or client's thread. Does not wait.
 *
 * Suspends are not counted: one tr_resume ends any number of them. The statuses are those of tr_stop.
 */
#define tr_suspend(from, ref) TR_SPEAKER_(from, suspend)(from, tr_any(ref))
/**
 * Lets an actor continue that tr_suspend has suspended. Does not end a suspension that a failure has caused. In a turn,
 * or client's thread. Does not wait.
 *
 * The statuses are those of tr_stop.
 */
#define tr_resume(from, ref) TR_SPEAKER_(from, resume)(from, tr_any(ref))
/**
 * Asks for a tr_terminated when an actor has stopped, for whatever reason. In a turn, or client's thread. Does not
 * wait.
 *
 * The tr_terminated comes once, after all messages that the watched actor has sent to this one, and after its name,
 * timers and memory were released. If the watched actor has stopped before, the tr_terminated comes at once. It takes
 * no capacity of the mailbox and does not reset the receive timeout. Without a handler it is ignored. A restart of
 * either actor does not end the watch. A second watch of the same actor changes nothing. An actor that watches itself
 * gets TR_OK, but never a tr_terminated.
 *
 * An error ends the turn: TR_INVALID_ARGUMENT (for TR_NOBODY), TR_STOPPING, TR_CANCELLED or TR_NO_MEMORY. For a client
 * the call returns the status, and tr_receive returns the tr_terminated.
 */
#define tr_watch(from, ref) TR_SPEAKER_(from, watch)(from, tr_any(ref))
/**
 * Watches an actor as tr_watch does, and returns the status.
 * In a turn, or client's thread. Does not wait.
 */
#define tr_try_watch(from, ref) TR_SPEAKER_(from, try_watch)(from, tr_any(ref))
/**
 * Ends a watch: after this call no tr_terminated of the watched actor is handled, not even one that waits already. In a
 * turn, or client's thread. Does not wait.
 *
 * TR_OK, also if the actor was not watched; TR_INVALID_ARGUMENT, TR_CANCELLED. The status may be ignored.
 */
#define tr_unwatch(from, ref) TR_SPEAKER_(from, unwatch)(from, tr_any(ref))
/**
 * Stops a child, as tr_stop does.
 * In a turn. Does not wait.
 *
 * The statuses are those of tr_stop, and TR_NOT_FOUND: the ref names no child of this actor. The status may be ignored.
 */
#define tr_stop_child(self, ref) tr_self_stop_child(self, tr_any(ref))

/**
 * Makes the actor continue with another behavior:
 *     return tr_become(self, open);
 *     return tr_become(self, open, open_with, .rows = 3);
 * In a turn. Does not wait.
 *
 * Returns what the handler must return: without the `return` nothing changes, and the compiler warns. The behavior
 * changes when the turn has ended, after the functions of tr_defer have run.
 *
 * If both behaviors have the same state type, the state is kept; otherwise the new state begins as zeros. A TR_SETUP of
 * the new behavior runs each time. A TR_SETUP_WITH runs if its message is given, as in the second form. Without the
 * message it does not run, which is allowed only if the state types are the same. If a message is missing, has the
 * wrong type, or is given to a behavior that takes none, the turn fails with TR_WRONG_TYPE.
 *
 * A set-up that fails is a failure of the actor, and the new behavior gets the signals that follow. A restart begins
 * with the behavior of tr_spawn.
 */
#define tr_become(self, ...) TR_BECOME_(self, __VA_ARGS__, )

TR_BEGIN_C
/**
 * Fails the actor: return tr_fail(self, TR_BAD_DATA, "row %d", n);
 * In a turn. Does not wait.
 *
 * Returns what the handler must return: without the `return` nothing happens, and the compiler warns. The supervisor
 * decides about the actor (supervision.h); by default it is restarted. The text is copied; if it is longer than
 * tr_error.text, it is cut.
 */
TR_MUST_RETURN tr_next tr_fail(tr_self *self, tr_status status, const char *format, ...)
    TR_PRINTF(3, 4);
/**
 * Fails the actor from any depth of calls, as tr_fail does, and does not return.
 * In a turn. Does not wait.
 */
TR_NO_RETURN void tr_crash(tr_self *self, tr_status status, const char *format, ...)
    TR_PRINTF(3, 4);

/* ---- Timers: see also tr_timer_once. ---- */

/** Cancels the timer with this key, and removes its message if that waits. In a turn. Does not wait. */
tr_timer_end tr_timer_cancel(tr_self *self, const char *key);
/** Cancels a timer without a key, and removes its message if that waits. In a turn. Does not wait. */
tr_timer_end tr_timer_stop(tr_self *self, tr_timer timer);
/**
 * Asks for a tr_receive_timeout when no message has come for this long. With 0, no tr_receive_timeout comes any more.
 * In a turn. Does not wait.
 *
 * Only messages from others count, not timers and signals. The tr_receive_timeout comes once, and after the next
 * message it can come again. Time in which the actor is suspended does not count. Ends the turn with
 * TR_INVALID_ARGUMENT (a negative time) or TR_NO_MEMORY.
 */
void tr_set_receive_timeout(tr_self *self, tr_time idle_ns);

/* ---- Stash. ---- */

/**
 * Stashes the message of this turn, for a later tr_unstash: return tr_stash(self);
 * In a turn. Does not wait.
 *
 * Returns what the handler must return: without the `return` nothing is stashed, and the compiler warns. tr_stash can
 * itself be a handler: TR_ON_ANY(tr_stash). The turn fails with TR_STASH_FULL if the stash would have more than
 * TR_STASH_MAX messages or TR_STASH_BYTES_MAX bytes. Messages that are stashed when the incarnation ends are dead
 * letters.
 */
TR_MUST_RETURN tr_next tr_stash(tr_self *self);
/**
 * Puts up to `max` stashed messages back into the mailbox, before all others, the oldest first. In a turn. Does not
 * wait.
 *
 * If one of these messages is stashed again, it waits for the next call. Returns how many messages it has put back.
 */
size_t tr_unstash(tr_self *self, size_t max);
/** Returns how many messages are stashed. In a turn. Does not wait. */
size_t tr_stash_count(const tr_self *self);

/* ---- This actor. ---- */

/** Returns this actor. In a turn. Does not wait. */
tr_ref tr_me(const tr_self *self);
/** Returns the actor that spawned this actor, or TR_NOBODY for a top-level actor. In a turn. Does not wait. */
tr_ref tr_parent(const tr_self *self);
/** Returns the sender of the message of this turn, or TR_NOBODY if it has none. In a turn. Does not wait. */
tr_ref tr_sender(const tr_self *self);
/** Returns the path of this actor, "/user/bank/alice", borrowed until the turn ends. In a turn. Does not wait. */
const char *tr_path(const tr_self *self) TR_NON_NULL;
/** Returns the name of this actor, "alice", borrowed until the turn ends. In a turn. Does not wait. */
const char *tr_name(const tr_self *self) TR_NON_NULL;
/**
 * Copies up to `max` refs of living children, the oldest first. Returns how many children there are.
 * In a turn. Does not wait.
 */
size_t tr_children(const tr_self *self, tr_ref *children, size_t max);
/** Returns the worker that runs this turn; the first is 0. In a turn. Does not wait. */
int tr_worker(const tr_self *self);
/** Returns the system of this actor, borrowed. In a turn. Does not wait. */
tr_system *tr_system_of(const tr_self *self);
/**
 * Returns the causal id of the message of this turn. A message from outside gets a new id; all messages that are sent
 * because of it, directly or by further actors, have the same id.
 * In a turn. Does not wait.
 */
uint64_t tr_causal_id(const tr_self *self);

/* ---- Memory. Sizes may be 0. ---- */

/**
 * Returns memory of this incarnation, zeroed, aligned for any type. Never NULL.
 * In a turn. Does not wait.
 *
 * Ends the turn with TR_NO_MEMORY or TR_OVER_BUDGET. The memory is freed with the incarnation, or by tr_free.
 */
void *tr_alloc(tr_self *self, size_t size) TR_NON_NULL;
/**
 * Changes the size of memory of tr_alloc, as realloc does. If `memory` is NULL, allocates. New bytes are zero. Never
 * returns NULL.
 * In a turn. Does not wait.
 *
 * Ends the turn as tr_alloc does, and with TR_INVALID_ARGUMENT for memory of a durable state that was loaded.
 */
void *tr_realloc(tr_self *self, void *memory, size_t size) TR_NON_NULL;
/**
 * Frees memory of tr_alloc before the incarnation ends.
 * In a turn. Does not wait.
 *
 * NULL does nothing. tr_free of memory of a durable state that was loaded does nothing: such memory is freed with the
 * incarnation.
 */
void tr_free(tr_self *self, void *memory);
/**
 * Returns memory as tr_alloc does, or NULL if there is no memory or if the block would exceed a budget. In a turn. Does
 * not wait.
 */
TR_MUST_CHECK void *tr_try_alloc(tr_self *self, size_t size);
/**
 * Changes the size as tr_realloc does. If tr_realloc would end the turn, returns NULL instead, and leaves the old block
 * unchanged.
 * In a turn. Does not wait.
 */
TR_MUST_CHECK void *tr_try_realloc(tr_self *self, void *memory, size_t size);
/**
 * Returns a copy of a string, allocated with tr_alloc; NULL for NULL. If there is no memory, ends the turn as tr_alloc
 * does.
 * In a turn. Does not wait.
 */
char *tr_strdup(tr_self *self, const char *string);

/**
 * Returns memory of this turn, zeroed, aligned for any type. Never returns NULL: if there is no memory, ends the turn
 * with TR_NO_MEMORY.
 * In a turn. Does not wait.
 */
void *tr_scratch(tr_self *self, size_t size) TR_NON_NULL;
/** Returns memory as tr_scratch does, or NULL if there is no memory. In a turn. Does not wait. */
TR_MUST_CHECK void *tr_try_scratch(tr_self *self, size_t size);
/** Returns a string as printf makes it, in memory of tr_scratch. In a turn. Does not wait. */
char *tr_format(tr_self *self, const char *format, ...) TR_PRINTF(2, 3) TR_NON_NULL;

/**
 * Returns a buffer that is released when the turn ends: tr_tell(self, to, chunk, .data = buffer). Never returns NULL:
 * if there is no memory, ends the turn with TR_NO_MEMORY. In a turn. Does not wait.
 */
tr_buffer *tr_buffer_of_turn(tr_self *self, size_t size) TR_NON_NULL;
/** Retains a buffer until the incarnation ends. NULL does nothing. In a turn. Does not wait. */
void tr_buffer_keep(tr_self *self, tr_buffer *buffer);

/**
 * Registers `release(resource)` to be called when the incarnation ends, however it ends.
 * In a turn. Does not wait.
 *
 * The function that was registered last is called first. The resource is taken: if it cannot be registered, it is
 * released at once, and the turn ends with TR_NO_MEMORY. If `release` is NULL, the turn ends with TR_INVALID_ARGUMENT.
 * The function must not use the actor.
 */
void tr_at_end(tr_self *self, void *resource, void (*release)(void *resource));
/**
 * Registers `release(resource)` to be called when the turn ends, however it ends.
 * In a turn. Does not wait.
 *
 * The function that was registered last is called first. A turn may register TR_DEFERS_MAX resources. One more is
 * released at once, and the turn ends with TR_LIMIT.
 */
void tr_defer(tr_self *self, void *resource, void (*release)(void *resource));

/** Returns what this actor and its tree use. The numbers of the tree are not exact. In a turn. Does not wait. */
tr_usage tr_budget_used(const tr_self *self);

/* ---- Time, random numbers and the log: all come from the platform. ---- */

/** Returns nanoseconds since some start; never goes back. In a turn. Does not wait. */
tr_time tr_now(const tr_self *self);
/** Returns nanoseconds since 1970 (UTC); may jump. In a turn. Does not wait. */
tr_time tr_wall_now(const tr_self *self);
/** Returns 64 random bits. They come from the system's seed and are not for secrets. In a turn. Does not wait. */
uint64_t tr_random(tr_self *self);
/** Writes a line to the system's log, with the path of this actor. In a turn. Does not wait. */
void tr_log(tr_self *self, tr_level level, const char *format, ...) TR_PRINTF(3, 4);
TR_END_C

/** These write a line to the log at their level, as tr_log does. In a turn. Does not wait. */
#define tr_log_debug(self, ...) tr_log(self, TR_LEVEL_DEBUG, __VA_ARGS__)
#define tr_log_info(self, ...) tr_log(self, TR_LEVEL_INFO, __VA_ARGS__)
#define tr_log_warn(self, ...) tr_log(self, TR_LEVEL_WARN, __VA_ARGS__)
#define tr_log_error(self, ...) tr_log(self, TR_LEVEL_ERROR, __VA_ARGS__)

/* ---- The functions behind the macros, for bindings and generated code. ---- */

/** The arguments of a spawn; all borrowed for the call. */
typedef struct tr_spawn_args {
    size_t size; /* sizeof(tr_spawn_args) */
    const tr_behavior *behavior;
    /* "deposit, get_balance, ": messages for which the behavior should have handlers; NULL: not checked */
    const char *protocol;
    const char *name; /* NULL: the runtime makes a name up */
    int worker;       /* -1: the worker of the caller, or worker 0 if the caller is a client */
    const tr_type *setup_type; /* NULL: no set-up message */
    const void *setup;
    tr_error *error; /* written on failure; may be NULL */
    /* how the parent treats the child; must live as long as the child; may be NULL */
    const tr_child_spec *spec;
} tr_spawn_args;

TR_BEGIN_C
/**
 * These are the functions of the macros above: tr_self_tell is tr_tell with a self. Each has the statuses and the
 * ownership of its macro. In a turn. May wait: as its macro does.
 */
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
/** See tr_become. If `setup_type` is NULL, there is no set-up message. In a turn. Does not wait. */
TR_MUST_RETURN tr_next tr_self_become(tr_self *self, const tr_behavior *behavior,
                                      const tr_type *setup_type, const void *setup);

/** See tr_try_timer_once. In a turn. Does not wait. */
TR_MUST_CHECK tr_status tr_self_try_timer(tr_self *self, const char *key, tr_timer_kind kind,
                                          tr_time ns, const tr_type *type, const void *message,
                                          tr_timer *timer);
/** See tr_timer_once. In a turn. Does not wait. */
tr_timer tr_self_timer(tr_self *self, const char *key, tr_timer_kind kind, tr_time ns,
                       const tr_type *type, const void *message);

/**
 * These are the functions of the macros above for a client: tr_client_tell is tr_tell. Each has the statuses and the
 * ownership of its macro. Client's thread. May wait: as its macro does.
 */
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
