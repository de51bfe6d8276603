/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Durable actors: each has a kind and a key, its state is on disk, and it sleeps when idle.
 *
 * ```c
 * #include <stdio.h>
 * #include <troupe/troupe.h>
 *
 * TR_MESSAGE(visits, (u64, count));
 * TR_REQUEST(visit, visits);
 * TR_ACTOR(guest, visit);
 * TR_MESSAGE(guest_state, (u64, visits)); // the state is declared as a message
 *
 * static tr_next on_visit(tr_self *self, struct guest_state *guest)
 * {
 *     guest->visits++;
 *     return tr_reply(self, visits, .count = guest->visits); // leaves when the state is on disk
 * }
 *
 * TR_BEHAVIOR(guest, struct guest_state, TR_ON(visit, on_visit));
 * TR_DURABLE(guest, guest_state);
 *
 * static tr_next on_args(tr_self *self)
 * {
 *     guest_ref anna = tr_durable(self, guest, "anna");
 *     const struct visits *visits = tr_await(self, tr_ask(self, anna, visit));
 *     printf("anna has been here %d times\n", (int)visits->count); // one more in each process
 *     return TR_STOP;
 * }
 *
 * TR_BEHAVIOR(porch, void, TR_ON(tr_args, on_args));
 *
 * int main(int argc, char **argv)
 * {
 *     return tr_app_main(argc, argv, porch, .durable = TR_DURABLES(guest));
 * }
 * ```
 *
 * An actor of every kind and key always exists: tr_durable returns its ref, and wakes it if it
 * sleeps. At most one actor of a kind and key runs. The kinds are listed when the system is made:
 * tr_system_options.durable, tr_app.durable.
 *
 * State. The state is an ordinary struct that begins as zeros. Waits cut a turn into stretches: a
 * stretch begins at the start of the turn or after a wait, and ends at the next wait or at the end
 * of the turn. What a stretch has changed is stored as one commit, all of it or nothing: the state,
 * and what tr_kv_put, tr_sql and the other verbs below have changed. A stretch that fails stores
 * nothing, and the actor restarts with the state from before that stretch. So nobody ever sees half
 * a change. A stretch that changes nothing stores nothing, also after a migration, and also in a
 * new actor: a key that was only looked at is not stored. A key begins to exist with the first
 * change, with a set-up that changes the state, or when a handler for tr_created has run, even if
 * that handler changed nothing.
 *
 * What the state points to must live as long as the state: copy texts with tr_strdup. If the state
 * points into the message, a reply, memory of the turn (tr_scratch, tr_format) or the stack when a
 * stretch ends, the stretch fails with TR_BAD_DATA, and the error text names the field.
 *
 * What waits for the commit. With TR_SAVE_SYNC, the default, no message of a stretch leaves before
 * the changes of the stretch are on disk. So a reply proves that they are on disk. If the stretch
 * fails, its messages never leave. Many commits share one sync, and a stretch without changes waits
 * only for the earlier stretches of the same actor.
 *
 *     leaves with the commit, in the order of the calls
 *         tr_tell, tr_publish          the message. tr_tell gives TR_OK. If the mailbox is full or closed when the message
 *                                      leaves, the message is a dead letter, also with TR_PARK
 *         tr_ask, tr_ask_then          the request. Its timeout counts from the call
 *         tr_reply, tr_reply_to, tr_refuse, tr_forward
 *         tr_stop                      the poison pill
 *         tr_write, ..., tr_finish, tr_close, tr_reset, tr_send_to      on the actor's own channels
 *     is stored with the commit, and the actor itself sees it at once
 *         the state, tr_append         the end of the stretch compares them with what was stored last
 *         tr_kv_put, tr_kv_delete      tr_kv_get and tr_kv_list see it
 *         tr_sql                       later statements see it
 *         tr_persist                   the state has the event; TR_ON_STORED comes when the event is on disk
 *         tr_alarm_after, ..., tr_alarm_cancel     an alarm fires only when it is stored
 *         tr_queue_push, tr_queue_receive, tr_queue_done, ...     tr_queue_count sees it
 *         tr_snapshot
 *         tr_destroy                   what is sent after it waits for the commit, also without TR_SAVE_SYNC
 *     reads at once
 *         tr_kv_get, tr_kv_list, tr_sql, tr_event_next, tr_queue_count, tr_queue_list, tr_alarm_due
 *         tr_durable_list, tr_durable_exists      what is on disk
 *     acts at once, before what was sent earlier in the stretch, and also if the stretch fails
 *         tr_spawn, tr_pool_spawn, tr_durable, tr_kill, tr_suspend, tr_resume, tr_watch, tr_subscribe,
 *         timers (they end with the incarnation), tr_schedule_once, tr_blocking, tr_log
 *     ends the stretch: its commit is made, and the turn waits
 *         tr_await, tr_sleep, ...      does not wait for the disk
 *         tr_ask_key, tr_ask_once, tr_durable_destroy      as a tr_await
 *         tr_read, ..., a tr_write that waits, tr_connect       as a tr_await, if they have to wait
 *         tr_flush, tr_hand_over       wait until the commit is on disk and the bytes that it held back have left
 *         tr_save                      waits until the commit is on disk
 *     asks the runtime, which answers when the stretch has ended
 *         tr_go_to_sleep
 *
 * With TR_SAVE_INTERVAL and TR_SAVE_ON_DEMAND messages leave at once, except after tr_destroy.
 *
 * Turns. Every handler is a barrier: while it waits, the actor begins no other message, not even
 * one of a timer. A handler with TR_ON(message, handler, .interleaves = true) is no barrier.
 *
 * Sleep. An actor has work while a turn runs or waits, a message waits to be handled, a message is
 * stashed, or a reply is owed (tr_reply_later) and its ask has not timed out. After 30 s without
 * work (idle_ns) it goes to sleep: it gets a tr_sleeping and then has 15 s (grace_ns) to finish, in
 * which it still handles messages. Then its memory is freed, and its ref refers to a stopped actor.
 * So do not keep the ref: keep the key, and call tr_durable each time. A message that is sent while
 * the actor falls asleep is not lost: it is handled, or waits for the next start. But another
 * worker or thread may have got the ref just before the actor stopped. If it uses this ref
 * afterwards, the status is TR_STOPPED, and tr_durable gives the next ref. tr_ask_key (keys.h) gets
 * the ref and asks, and does both again if the actor has stopped in between. See
 * docs/guide/durable.md.
 *
 * Failures. The parent of a durable actor is /system/durable/<kind>, which restarts it. The actor
 * keeps its ref and its messages. A restart is a new generation. tr_kill ends the actor like a
 * crash: nothing is stored, and there is no tr_sleeping. tr_stop puts the actor to sleep.
 *
 * An actor that is not durable can use only tr_durable and tr_try_durable. The other verbs end its
 * turn with TR_NOT_SUPPORTED.
 */
#ifndef TROUPE_DURABLE_H
#define TROUPE_DURABLE_H

#include <troupe/alarm.h>
#include <troupe/event.h>
#include <troupe/queue.h>
#include <troupe/self.h>
#include <troupe/sql.h>

struct tr_durables;

/* ---- Messages of the runtime to a durable actor. Without a handler they are not sent. ---- */

/**
 * The first message to a key that did not exist. If the turn of tr_created fails, or the turn of
 * the tr_awake after it, everything that these two turns have stored is removed, and tr_created
 * comes again. The same happens if the process ends before both turns are over.
 */
TR_MESSAGE(tr_created);
/**
 * Comes at each start, after tr_created if that comes. Other messages wait until the handler of
 * tr_awake has ended.
 */
TR_MESSAGE(tr_awake, (u64, epoch), (u64, counter));
/**
 * The actor is about to sleep. What the handler of tr_sleeping changes is stored. tr_sleeping comes
 * as soon as no turn is a barrier, and before messages that wait. The handler of tr_sleeping is no
 * barrier: while it waits, the actor handles messages.
 */
TR_MESSAGE(tr_sleeping);
/**
 * The actor is about to be destroyed with all its stored data. The handler of tr_destroying can
 * still read these data, except the alarms. tr_destroying comes at most once: if the process ends
 * before the handler has ended, the key is gone nevertheless, and tr_destroying does not come
 * again. If some work must be done in any case, do it before the call of tr_destroy. While the
 * handler waits, the actor begins no other turn.
 */
TR_MESSAGE(tr_destroying);

/**
 * The state has changed since the last tr_state_changed, or since the actor woke. Comes once, at
 * the end of the turn that changed the state, however often that turn has waited. The handler
 * belongs to that turn. What it changes is stored with the turn's last stretch, and brings no
 * further tr_state_changed. What it sends leaves with that commit. If it fails, the turn fails.
 * tr_state_changed does not come after a turn that fails, nor after tr_destroying. The turn of
 * tr_run has no tr_state_changed of its own: what its handler changes is reported at the end of the
 * next other turn.
 */
TR_MESSAGE(tr_state_changed);

/**
 * When changes go to the disk. With TR_SAVE_INTERVAL and TR_SAVE_ON_DEMAND, replies do not wait for
 * the disk: a crash of the process or the machine, or a tr_kill, loses changes that are not on
 * disk. If a handler fails, only the changes of the stretch that failed are lost: the runtime
 * stores earlier stretches first.
 */
typedef enum tr_durability {
    TR_SAVE_SYNC, /* changes are stored before any message of the stretch leaves */
    /* changes are stored after interval_ns at most, before sleep, and when a stretch fails */
    TR_SAVE_INTERVAL,
    TR_SAVE_ON_DEMAND, /* changes are stored by tr_save, before sleep, and when a stretch fails */
} tr_durability;

/** How a state of one version becomes a state of the next version; TR_MIGRATION defines it. */
typedef struct tr_migration {
    uint32_t from; /* the old version; the new one is from + 1 */
    const tr_type *from_type;
    const tr_type *to_type;
    tr_status (*call)(tr_self *self, const void *from, void *to);
} tr_migration;

/** The options of a kind. All zero is the default. */
typedef struct tr_durable_options {
    uint32_t version TR_ZERO;         /* the version of the state; 0: 1 */
    tr_durability durability TR_ZERO; /* 0: TR_SAVE_SYNC */
    tr_time interval_ns TR_ZERO;      /* for TR_SAVE_INTERVAL; 0: 1 s */
    tr_time idle_ns TR_ZERO;          /* after this time without work an actor sleeps; 0: 30 s */
    tr_time grace_ns TR_ZERO;         /* the longest time from tr_sleeping to the stop; 0: 15 s */
    /* actors sleep only after tr_stop or tr_go_to_sleep, and when the system stops */
    bool never_sleeps TR_ZERO;
    /**
     * If a start of the actor has failed, or the actor has failed too often, the asks that wait for
     * the actor end with TR_START_FAILED. Later requests for the key wait until the next attempt to
     * start. The first delay before an attempt is retry_ns (0: 100 ms), and each further delay is
     * twice as long, at most retry_max_ns (0: 30 s). Up to a quarter is added to each delay at
     * random.
     */
    tr_time retry_ns TR_ZERO;
    tr_time retry_max_ns TR_ZERO;
    /**
     * TR_MIGRATIONS(cart_1): one migration for each version that the next version cannot read. A
     * version that only adds fields at the end can read the version before. If this member is NULL,
     * there are no migrations. The next migration reads the result of a migration, and after the
     * last one the state does. The struct that reads must begin with the fields of the result; its
     * further fields are zero. Otherwise tr_system_new gives TR_INVALID_ARGUMENT.
     *
     * If fields of a stored state were moved, renamed or retyped without a new version, the actor
     * does not start. The status is TR_WRONG_SHAPE, and the log has both shapes. Fields at the end
     * of the state that the code does not know are kept when the state is stored again. If a
     * message inside the state has such fields, the actor does not start, and the status is
     * TR_STALE.
     */
    const tr_migration *const *migrations TR_ZERO;
    /**
     * If this is set (&account_events), the state is made from events (event.h). The state type of
     * the behavior is then const, and `version` and `migrations` are about snapshots. NULL: the
     * state itself is stored.
     */
    const tr_events *events TR_ZERO;
    /**
     * Time to live: a key that has handled no message for this time is destroyed, and gets its
     * tr_destroying. 0: never. The time is that of the wall clock: it passes also while the actor
     * sleeps and while no process runs. The key is destroyed when this time has passed, or up to a
     * sixteenth of this time later. If no process has the store open then, the key is destroyed
     * when a process opens the store. The alarms and the run handler of the key do not count as
     * messages. A key with a message that waits, a turn that waits or an owed reply is not
     * destroyed. A key that was stored before its kind had a ttl_ns has no time to live until its
     * next message. A wall clock that is set forward by mistake makes keys end early.
     */
    tr_time ttl_ns TR_ZERO;
    /**
     * How long the answer to a request with an id is kept (tr_ask_once, keys.h), and how many bytes
     * of answers an actor keeps. 0: TR_ANSWERS_NS, TR_ANSWERS_BYTES_MAX.
     */
    tr_time answers_ns TR_ZERO;
    size_t answers_bytes_max TR_ZERO;
    const char *const *sql_schema TR_ZERO;  /* TR_SQL_SCHEMA(...), see sql.h; NULL: none */
    uint64_t sql_steps_max TR_ZERO;         /* steps of one statement; 0: TR_SQL_STEPS_MAX */
    const tr_queue_options *queues TR_ZERO; /* TR_QUEUES(...), see queue.h; NULL: the defaults */
    tr_retry alarm_retry TR_ZERO; /* for alarms without a policy of their own, see retry.h */
} tr_durable_options;

/** A kind of durable actors; TR_DURABLE defines it. */
typedef struct tr_durable_kind {
    size_t size; /* sizeof(tr_durable_kind) */
    const char *name;
    const tr_behavior *behavior;
    const tr_type *state;
    tr_durable_options options;
} tr_durable_kind;

/**
 * Makes an actor of this file a durable kind: TR_DURABLE(actor, state message, options...). At file
 * scope. An option is a member of tr_durable_options, such as `.version = 2`.
 *
 * The kind has the same name as the actor. The state of the actor's behavior is the state that is
 * stored.
 */
#define TR_DURABLE(actor, ...) TR_DURABLE_(actor, __VA_ARGS__, )
/** Declares a kind that another file defines. At file scope. */
#define TR_DURABLE_DECLARE(actor) TR_EXTERN_C const tr_durable_kind tr_durable_##actor

/**
 * Says how a state of one version becomes one of the next: TR_MIGRATION(cart_1, 1, cart_v1, cart,
 * grow), with
 *     static tr_status grow(tr_self *self, const struct cart_v1 *from, struct cart *to)
 * At file scope.
 *
 * Both states are messages. *to begins as zeros. It may point to memory of *from or of tr_alloc. If
 * the function returns another status than TR_OK, the actor does not start. Migrations run one
 * after the other, from the stored version to the newest.
 */
#define TR_MIGRATION(name, version, from, to, function)                                            \
    TR_MIGRATION_(name, version, from, to, function)
/**
 * The migrations of a kind: TR_DURABLE(cart, cart, .version = 3, .migrations =
 * TR_MIGRATIONS(cart_1, cart_2)).
 * At file scope.
 */
#define TR_MIGRATIONS(...) TR_MIGRATIONS_(__VA_ARGS__)

/** The kinds of a system: .durable = TR_DURABLES(cart, reminder). Any thread. Does not wait. */
#define TR_DURABLES(...) TR_DURABLES_(__VA_ARGS__)

/**
 * Returns the present ref of a durable actor, a `cart_ref`: tr_durable(self, cart, "user-42").
 * In a turn. Does not wait.
 *
 * If the actor sleeps, it wakes, and messages to it wait until it has started. If the actor never
 * existed, it is made. If tr_try_durable would return an error, ends the turn instead.
 */
#define tr_durable(self, actor, key) TR_DURABLE_REF_(self, actor, TR_DURABLE_KEY_(key))
/**
 * Writes the ref of a durable actor, as tr_durable returns it, to *ref, a `cart_ref *`, on TR_OK
 * only. In a turn, or client's thread. Does not wait.
 *
 * TR_INVALID_ARGUMENT: no key, or a key of more than TR_KEY_MAX bytes. TR_NOT_FOUND: the system
 * does not have this kind. TR_DESTROYING: the actor is being destroyed; afterwards the key can be
 * used again. TR_STOPPING: the actor sleeps and the system shuts down. In a turn this status comes
 * only after the shutdown has put durable actors to sleep (shutdown.h). Also returns TR_LIMIT,
 * TR_NO_MEMORY or TR_STORE_FAILED.
 */
#define tr_try_durable(from, ref, actor, key)                                                      \
    TR_SPEAKER_(from, try_durable)                                                                 \
    (from, &tr_durable_##actor, TR_DURABLE_KEY_(key), TR_REF_OUT_(ref, actor))
/**
 * Writes the ref as tr_try_durable does, for a key of any bytes, a tr_bytes.
 * In a turn, or client's thread. Does not wait.
 */
#define tr_try_durable_bytes(from, ref, actor, key)                                                \
    TR_SPEAKER_(from, try_durable)(from, &tr_durable_##actor, key, TR_REF_OUT_(ref, actor))

/**
 * These begin a block of a turn: TR_WAIT_UNTIL(self, "flush") { tr_await(self, asked); }
 * In a turn. Does not wait.
 *
 * A turn keeps its actor awake as long as it lasts, waits included. In a block of TR_WAIT_UNTIL the
 * turn does not keep its actor awake. The actor may begin to sleep, but does not stop before the
 * block has ended or the grace is over. Use such a block for work that is to be finished in the
 * grace. TR_KEEP_AWAKE(self, "receipt") { ... } gives a part of the turn a name, for tr_actor_why
 * and for the warning at the end of a grace. The effect of either macro ends with its block,
 * however the block ends.
 */
#define TR_KEEP_AWAKE(self, what) TR_HOLD_(self, true, what)
#define TR_WAIT_UNTIL(self, what) TR_HOLD_(self, false, what)

/**
 * Adds an item to a list of the state: tr_append(self, cart->items, item).
 * In a turn. Does not wait.
 *
 * The item is copied. What it points to must live as long as the state: use tr_strdup. A list that
 * tr_append has made is in a block with space to grow. When the block is full, the list moves to a
 * larger one, and the old block is freed. Any other list is copied into such a block first: a list
 * of the loaded state, of tr_alloc, or a constant. Ends the turn with TR_NO_MEMORY, TR_TOO_LARGE,
 * or TR_INVALID_ARGUMENT, which means that the count of the list is more than its block holds.
 */
#define tr_append(self, list, item) TR_APPEND_(tr_self_append, self, list, item)
/**
 * Replaces an item of a list of the state: tr_replace(self, cart->items, 2, item).
 * In a turn. Does not wait.
 *
 * A list that tr_append has not made is copied first, as by tr_append. The item is copied. What the
 * old item points to is not freed: give its strings to tr_free. Ends the turn as tr_append does,
 * and with TR_INVALID_ARGUMENT if the list has no item of that index.
 */
#define tr_replace(self, list, index, item) TR_REPLACE_(self, list, index, item)
/**
 * Removes an item of a list of the state: tr_remove(self, cart->items, 2). Later items move up. In
 * a turn. Does not wait.
 *
 * As with tr_replace, a list that tr_append has not made is copied first, and an error ends the
 * turn.
 */
#define tr_remove(self, list, index) TR_REMOVE_(self, list, index)

TR_BEGIN_C
/* ---- This actor. ---- */

/**
 * Returns the key of this actor, borrowed until the turn ends. A NUL follows the key in memory. In
 * a turn. Does not wait.
 */
tr_bytes tr_key(tr_self *self);
/**
 * Returns the number of this start of the actor; later starts have greater numbers. The result is
 * the `counter` of tr_awake, and the `epoch` of tr_awake is written to *epoch, unless `epoch` is
 * NULL.
 * In a turn. Does not wait.
 */
uint64_t tr_generation(tr_self *self, uint64_t *epoch);
/**
 * Returns whether the grace of the actor has begun: it was asked to sleep or to end.
 * In a turn. Does not wait.
 */
bool tr_is_aborted(const tr_self *self);
/**
 * Waits until the actor has to sleep or to end. A run handler (queue.h) keeps the actor awake
 * neither while it waits in this call, nor while it waits for an item of a queue.
 * In a turn. May wait: at most timeout_ns.
 *
 * TR_ABORTED: the grace has begun, and tr_is_aborted is true; TR_TIMEOUT; TR_CANCELLED,
 * TR_NO_MEMORY, TR_INVALID_ARGUMENT, TR_NOT_IN_A_TURN, TR_NOT_SUPPORTED.
 */
TR_MUST_CHECK tr_status tr_abort_wait(tr_self *self, tr_time timeout_ns);
/**
 * Returns whether the time of the grace is over. If a turn is waiting when the grace ends, its wait
 * returns TR_CANCELLED, as after a tr_kill. What a turn changes after the grace is not stored: the
 * turn can only clean up. A handler that computes during the grace can call this function from time
 * to time.
 * In a turn. Does not wait.
 */
bool tr_deadline_fired(const tr_self *self);
/**
 * Returns how often the grace of a durable actor of this system has ended at its deadline, before
 * all work was done. The log has a warning for each time.
 * Any thread. Does not wait.
 */
uint64_t tr_durable_timeouts(const tr_system *system);
/**
 * Returns how many commits the store of this system has made since the start. One commit stores what many actors have changed,
 * with one sync. Returns 0 if the system has no durable actors.
 * Any thread. Does not wait.
 */
uint64_t tr_durable_commits(const tr_system *system);

/* ---- Sleep and end. ---- */

/**
 * Asks the runtime to put this actor to sleep. The actor continues until the runtime answers, and
 * then has its grace.
 * In a turn. Does not wait.
 *
 * TR_OK, also for a second call, which changes nothing; TR_STARTING: the actor has not started;
 * TR_STOPPING: the actor is falling asleep, or is to be destroyed; TR_NOT_SUPPORTED, TR_CANCELLED.
 */
tr_status tr_go_to_sleep(tr_self *self);
/**
 * Requests that this actor ends and that all its stored data are removed. In a turn. Does not wait.
 *
 * The request is stored with the commit of this stretch: if the stretch fails, nothing is
 * destroyed. What is sent after this call leaves with that commit, also without TR_SAVE_SYNC. After
 * the commit no crash brings the data back. Then the actor has its grace, during which it refuses
 * new messages. After the grace the key can be used again.
 *
 * TR_OK; TR_STARTING: the actor has not started; TR_STOPPING: it is being destroyed already, or its
 * grace is over; TR_NOT_IN_A_TURN: the call is in a signal handler; TR_CANCELLED, TR_NOT_SUPPORTED.
 */
tr_status tr_destroy(tr_self *self);

/* ---- Storing changes, and pairs of keys and values beside the state. ---- */

/**
 * Stores what has changed, and waits until it is on disk. Ends the turn if that fails.
 * In a turn. May wait.
 *
 * With TR_SAVE_SYNC, tr_save is needed only before the turn does something outside the actor that
 * does not wait for the commit: calls a verb that acts at once, or writes a file itself.
 */
void tr_save(tr_self *self);
/**
 * Stores as tr_save does, and returns the status.
 * In a turn. May wait.
 *
 * TR_OK; TR_STORE_FULL, TR_STORE_FAILED and other statuses of the store; TR_BAD_DATA: the state
 * points into memory of the turn; TR_CANCELLED, TR_NOT_IN_A_TURN, TR_NOT_SUPPORTED.
 */
TR_MUST_CHECK tr_status tr_try_save(tr_self *self);

/**
 * Stores a value under a key, beside the state. The key and the value are copied.
 * In a turn. Does not wait.
 *
 * A key has 1 to TR_KV_KEY_MAX bytes, a value at most TR_KV_VALUE_MAX. Ends the turn with
 * TR_TOO_LARGE, TR_INVALID_ARGUMENT or TR_NO_MEMORY.
 */
void tr_kv_put(tr_self *self, tr_bytes key, tr_bytes value);
/**
 * Removes the value of a key, if there is one. Ends the turn as tr_kv_put does. In a turn. Does not
 * wait.
 */
void tr_kv_delete(tr_self *self, tr_bytes key);
/**
 * Reads the value of a key into memory of this turn. Returns false if the key has no value. A value
 * that this stretch has put is found. In a turn. May wait: if the value must be read from the disk,
 * which blocks the worker's thread.
 *
 * Ends the turn with TR_STORE_CORRUPT, TR_STORE_FAILED or TR_NO_MEMORY.
 */
bool tr_kv_get(tr_self *self, tr_bytes key, tr_bytes *value);

/** A key and its value; see tr_kv_list. */
typedef struct tr_kv {
    tr_bytes key;
    tr_bytes value;
} tr_kv;
/**
 * Lists the pairs whose keys begin with `prefix`, in the order of their bytes, beginning with the
 * key `from`, at most `max` pairs. Returns how many pairs it has listed.
 * In a turn. May wait: as tr_kv_get does.
 *
 * The pairs are in memory of this turn. An empty `prefix` excludes no key, and neither does an
 * empty `from`. Ends the turn as tr_kv_get does.
 */
size_t tr_kv_list(tr_self *self, tr_bytes prefix, tr_bytes from, const tr_kv **pairs, size_t max);

/* ---- Keeping an actor awake: see TR_KEEP_AWAKE. ---- */

/**
 * What TR_KEEP_AWAKE and TR_WAIT_UNTIL keep in a variable of the block. The effect of a tr_hold
 * ends with the block, at the latest with the turn.
 */
typedef struct tr_hold {
    tr_self *self;
    uint64_t number; /* 0: none */
} tr_hold;
/** These are the functions of TR_KEEP_AWAKE and TR_WAIT_UNTIL. In a turn. Does not wait. */
tr_hold tr_self_hold(tr_self *self, bool is_awake, const char *what, const char *file, int line);
void tr_hold_release(tr_hold *hold);

/** See tr_append. In a turn. Does not wait. */
const void *tr_self_append(tr_self *self, const void *items, size_t count, size_t size,
                           const void *item);
/**
 * The function of tr_replace. If `item` is NULL, the function of tr_remove. In a turn. Does not
 * wait.
 */
const void *tr_self_replace(tr_self *self, const void *items, size_t count, size_t size,
                            size_t index, const void *item);
/** See tr_try_durable. In a turn. Does not wait. */
TR_MUST_CHECK tr_status tr_self_try_durable(tr_self *self, const tr_durable_kind *kind,
                                            tr_bytes key, uint64_t *ref_bits);
/** See tr_try_durable. Client's thread. Does not wait. */
TR_MUST_CHECK tr_status tr_client_try_durable(tr_client *client, const tr_durable_kind *kind,
                                              tr_bytes key, uint64_t *ref_bits);
/** See tr_durable. In a turn. Does not wait. */
tr_ref tr_self_durable(tr_self *self, const tr_durable_kind *kind, tr_bytes key);
/**
 * Starts the durable kinds of a system. Only tr_system_new calls it, by the member `start` of
 * tr_durables. One thread. May wait: opens the store.
 */
tr_status tr_durable_start(tr_system *system, const struct tr_durables *durables,
                           const char *store);
TR_END_C

/** The kinds of a system; TR_DURABLES defines them. */
typedef struct tr_durables {
    size_t size; /* sizeof(tr_durables) */
    tr_status (*start)(tr_system *system, const struct tr_durables *durables, const char *store);
    const tr_durable_kind *const *kinds; /* the last one is followed by NULL */
} tr_durables;

#include <troupe/detail/durable.h>

#endif
