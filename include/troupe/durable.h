/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Durable actors: they have a kind and a key, their state is on disk, and they sleep when idle.
 *
 *     TR_MESSAGE(cart, (list(message(item)), items), (u64, cents));       the state, declared as a message
 *     TR_ACTOR(cart, add_item, checkout);
 *     TR_BEHAVIOR(cart, struct cart, TR_ON(add_item, on_add_item), TR_ON(checkout, on_checkout));
 *     TR_DURABLE(cart, cart, .version = 1);
 *
 *     cart_ref mine = tr_durable(self, cart, "user-42");
 *     tr_await(self, tr_ask(self, mine, add_item, .sku = "tea"));
 *
 * An actor of every kind and key is always there: who asks for it gets its ref, and if it sleeps it wakes.
 * At most one runs. Kinds are listed when the system is made: tr_system_options.durable, tr_app.durable.
 *
 * State. It is an ordinary struct, zeros at first. What a handler has changed in it when it returns is
 * stored, and so is what it has put by with tr_kv_put, tr_sql and their kin: all of it, or nothing. A handler that
 * waits (tr_await, ...) is several such stretches, each from one wait to the next. A stretch that fails
 * stores nothing, and the actor starts again with the state as it was before that stretch; so nobody ever sees half a
 * change. One that changes nothing stores nothing, also after a migration.
 *
 * With TR_SAVE_SYNC, the default, nothing leaves before it is on disk: replies, messages, requests and tr_stop of
 * a stretch are held, in their order, until its changes are synced. Who has a reply can pull the plug. Many
 * actors, and many messages of one, share each sync. A stretch that changed nothing waits for nobody else's.
 * What is no message acts at once: tr_spawn, tr_kill, tr_suspend, tr_watch, timers, tr_blocking; see tr_save.
 * A message is refused, if it is, when it leaves: a mailbox that is full then makes it a dead letter, also one of
 * TR_PARK.
 *
 * Turns. Every handler is a barrier: while it waits no other message of this actor begins, timers included.
 * TR_ON(message, handler, .interleaves = true) is none.
 *
 * Sleep. Work is a turn that runs or waits, a message that waits to be handled, a stashed message, and a reply that is
 * owed (tr_reply_later) until the time of its ask is up. After 30 s without work (idle_ns) the actor goes to sleep: it
 * gets a tr_sleeping, and 15 s to wrap up (grace_ns), in which it still serves; then its memory is free, and its ref is
 * that of an actor that has stopped. So a ref is for now: keep the key, and ask with tr_durable each time. What is sent
 * while it falls asleep is either handled or waits for the next start; it is not lost. Who got its ref from another worker
 * or thread just before may still be too late: TR_STOPPED, and tr_durable gives the next one. See
 * docs/guide/durable.md.
 *
 * Failures. Its parent is /system/durable/<kind>, which restarts it; it keeps its ref and its mail. A restart
 * is a new generation. tr_kill ends it like a crash: nothing is stored, no tr_sleeping. tr_stop lets it sleep.
 *
 * With a self: in a handler of a durable actor only; elsewhere these verbs end the turn with TR_NOT_SUPPORTED,
 * but for tr_durable, which anybody may use.
 */
#ifndef TROUPE_DURABLE_H
#define TROUPE_DURABLE_H

#include <troupe/alarm.h>
#include <troupe/event.h>
#include <troupe/queue.h>
#include <troupe/self.h>
#include <troupe/sql.h>

struct tr_durables;

/* ---- Messages that the runtime sends to a durable actor; without a handler they are left out. ---- */

/**
 * Before all others, when this key has never been. It comes again if it, or the tr_awake after it, fails, or the process
 * ends before they are over: what they have stored until then is removed first.
 */
TR_MESSAGE(tr_created);
/** At each start, after tr_created. Mail waits until its handler has ended. */
TR_MESSAGE(tr_awake, (u64, epoch), (u64, counter));
/**
 * It is to sleep: wrap up. What this stores is stored. It comes before mail that waits, as soon as no turn is a barrier.
 * If it waits, messages are handled meanwhile: it interleaves, as tr_run does.
 */
TR_MESSAGE(tr_sleeping);
/**
 * It is to be destroyed, and all that is stored of it. The handler can still read all of that, but its alarms. This
 * comes at most once: if the process ends before the handler has, the key is gone all the same and this does not come
 * again. What must be done in any case belongs before tr_destroy. While the handler waits nothing else begins.
 */
TR_MESSAGE(tr_destroying);

/**
 * Its state has changed: comes at the end of each turn after which the state is another than when this came last,
 * or than when it woke; once, however often the turn has waited. It belongs to that turn: what it changes is stored
 * with the turn's last stretch (and does not bring it again), what it sends leaves when that is on disk, and if it
 * fails the turn does. A turn that fails does not bring it, nor does tr_destroying. What tr_run changes is told of at
 * the end of the next turn.
 */
TR_MESSAGE(tr_state_changed);

/**
 * When changes go to the disk. With the last two, replies do not wait for it: a crash of the process or the machine, or
 * a tr_kill, loses what is not there yet. A handler that fails loses its own stretch only: what ended before it is
 * stored first.
 */
typedef enum tr_durability {
    TR_SAVE_SYNC,      /* before anything that follows from them leaves */
    TR_SAVE_INTERVAL,  /* after interval_ns at most, before it sleeps, and when a stretch fails */
    TR_SAVE_ON_DEMAND, /* with tr_save, before it sleeps, and when a stretch fails */
} tr_durability;

/** From one version of the state to the next; made by TR_MIGRATION. */
typedef struct tr_migration {
    uint32_t from; /* version; it makes from + 1 */
    const tr_type *from_type;
    const tr_type *to_type;
    tr_status (*call)(tr_self *self, const void *from, void *to);
} tr_migration;

/** All zero is the default. Times of 0 are the default ones. */
typedef struct tr_durable_options {
    uint32_t version TR_ZERO;         /* of the state; 0: 1 */
    tr_durability durability TR_ZERO; /* TR_SAVE_SYNC */
    tr_time interval_ns TR_ZERO;      /* of TR_SAVE_INTERVAL: 1 s */
    tr_time idle_ns TR_ZERO;          /* without work for so long, it sleeps: 30 s */
    tr_time grace_ns TR_ZERO;         /* from tr_sleeping to the end at the latest: 15 s */
    bool never_sleeps TR_ZERO;        /* it sleeps when the system stops, or when told to */
    /**
     * When a start has failed, or it has failed too often, who waits for it hears TR_START_FAILED, and who asks for the
     * key next waits until it is tried again: after this time at first (100 ms), then twice as long each time,
     * at most retry_max_ns (30 s), and up to a quarter more by chance.
     */
    tr_time retry_ns TR_ZERO;
    tr_time retry_max_ns TR_ZERO;
    /**
     * TR_MIGRATIONS(cart_1), one for each version whose state the next one cannot simply read: fields may
     * be added at the end without. NULL: none. What a migration makes has the fields of what comes after it, the next
     * migration or the state, which may have more at its end: zeros; else tr_system_new gives TR_INVALID_ARGUMENT.
     *
     * A state whose fields were moved, renamed or retyped without a version keeps the actor from starting,
     * TR_WRONG_SHAPE, and the log has both. Fields at its end that the code does not know stay as they are when it
     * stores the state; if messages inside have some it does not start: TR_STALE.
     */
    const tr_migration *const *migrations TR_ZERO;
    /**
     * &account_events: the state is made of events, see troupe/event.h, and that of the behavior is const.
     * `version` and `migrations` are those of snapshots. NULL: the state itself is stored.
     */
    const tr_events *events TR_ZERO;
    const char *const *sql_schema TR_ZERO; /* TR_SQL_SCHEMA(...), see troupe/sql.h; NULL: none */
    uint64_t sql_steps_max TR_ZERO;        /* of one statement; 0: TR_SQL_STEPS_MAX */
} tr_durable_options;

/** A kind of durable actors; made by TR_DURABLE. */
typedef struct tr_durable_kind {
    size_t size; /* sizeof(tr_durable_kind) */
    const char *name;
    const tr_behavior *behavior;
    const tr_type *state;
    tr_durable_options options;
} tr_durable_kind;

/**
 * Makes an actor of this file a durable kind: TR_DURABLE(actor, state message, members of
 * tr_durable_options...). The kind has the actor's name; the state is that of its behavior.
 */
#define TR_DURABLE(actor, ...) TR_DURABLE_(actor, __VA_ARGS__, )
/** Declares a kind of another file. */
#define TR_DURABLE_DECLARE(actor) TR_EXTERN_C const tr_durable_kind tr_durable_##actor

/**
 * How a state of one version becomes one of the next: TR_MIGRATION(cart_1, 1, cart_v1, cart, grow), with
 *     static tr_status grow(tr_self *self, const struct cart_v1 *from, struct cart *to)
 * Both states are messages. *to begins as zeros; what it points to is in *from, or memory of tr_alloc. Another
 * status than TR_OK: the actor does not start. Several in a row lead from the oldest to the newest.
 */
#define TR_MIGRATION(name, version, from, to, function)                                            \
    TR_MIGRATION_(name, version, from, to, function)
/** The migrations of a kind: TR_DURABLE(cart, cart, .version = 3, .migrations = TR_MIGRATIONS(cart_1, cart_2)). */
#define TR_MIGRATIONS(...) TR_MIGRATIONS_(__VA_ARGS__)

/** The kinds of a system: .durable = TR_DURABLES(cart, reminder). */
#define TR_DURABLES(...) TR_DURABLES_(__VA_ARGS__)

/**
 * The ref of a durable actor, a `cart_ref`, for now: tr_durable(self, cart, "user-42"). If it sleeps it
 * wakes, and what is sent to it waits until it has; if it has never been, it is made.
 *
 * Ends the turn where tr_try_durable would give an error.
 */
#define tr_durable(self, actor, key) TR_DURABLE_REF_(self, actor, TR_DURABLE_KEY_(key))
/**
 * As tr_durable, into *ref, a `cart_ref *`, which is written on TR_OK only; also from a client.
 *
 * TR_INVALID_ARGUMENT: no key, or one of more than TR_KEY_MAX bytes. TR_NOT_FOUND: the system does not have this
 * kind. TR_DESTROYING: it is being destroyed, and can be made again when that is over. TR_STOPPING: it sleeps, and
 * the system shuts down; in a handler only once durable actors are told to sleep (shutdown.h). TR_LIMIT,
 * TR_NO_MEMORY, TR_STORE_FAILED.
 */
#define tr_try_durable(from, ref, actor, key)                                                      \
    TR_SPEAKER_(from, try_durable)                                                                 \
    (from, &tr_durable_##actor, TR_DURABLE_KEY_(key), TR_REF_OUT_(ref, actor))
/** The same with a key of any bytes, a tr_bytes. */
#define tr_try_durable_bytes(from, ref, actor, key)                                                \
    TR_SPEAKER_(from, try_durable)(from, &tr_durable_##actor, key, TR_REF_OUT_(ref, actor))

/**
 * What a durable actor does in a turn keeps it awake as long as the turn lasts, waits included. A turn that
 * should not says so for a block of its code, in which it may wait:
 *     TR_WAIT_UNTIL(self, "flush") { tr_await(self, ...); }
 * The actor may begin to sleep meanwhile, but not end before the block has: for work that is to be finished
 * in the grace. TR_KEEP_AWAKE(self, "receipt") { ... } gives what the turn does here a name, with which
 * `why` and the warning at the end of a grace speak of it. Both end however the block ends.
 */
#define TR_KEEP_AWAKE(self, what) TR_HOLD_(self, true, what)
#define TR_WAIT_UNTIL(self, what) TR_HOLD_(self, false, what)

/**
 * Adds an item to a list of the state: tr_append(self, cart->items, item). The item is copied as it is; what it
 * points to must live as long as the state: tr_strdup. A list that tr_append has made grows in its block, which moves
 * when it is full, and the old one is freed. Any other list is copied into such a block first: one of the loaded
 * state, of tr_alloc, or a constant. Ends the turn with TR_NO_MEMORY, TR_TOO_LARGE, and TR_INVALID_ARGUMENT: the
 * count of a list is more than its block holds.
 */
#define tr_append(self, list, item) TR_APPEND_(tr_self_append, self, list, item)

TR_BEGIN_C
/* ---- Who it is. ---- */

/** Its key, with a NUL behind it, as long as the turn. */
tr_bytes tr_key(tr_self *self);
/** Which start this is; greater is later. epoch and counter as in tr_awake. */
uint64_t tr_generation(tr_self *self, uint64_t *epoch);
/** Whether it has been told to sleep or to end: the time to wrap up has begun. */
bool tr_is_aborted(const tr_self *self);

/* ---- Sleep and end. ---- */

/**
 * Asks to be put to sleep. It goes on until the host has said so, and then has its grace. Once is enough: a
 * second time is TR_OK, and nothing comes of it. TR_STARTING: it has not started; TR_STOPPING: it sleeps
 * already, or is to be destroyed.
 */
tr_status tr_go_to_sleep(tr_self *self);
/**
 * Asks for the end of this actor and of all that is stored of it. It belongs to the stretch: it is stored with what
 * else the stretch changes, and a stretch that fails has destroyed nothing. What is sent after this call, a reply too,
 * leaves when the destroy is on disk, also without TR_SAVE_SYNC: from then on no crash brings the data back. The
 * actor has its grace then, and new messages are refused. The key can be used again after that.
 *
 * TR_STARTING: it has not started. TR_STOPPING: a second time, or it is too late. TR_NOT_IN_A_TURN: in a signal.
 * TR_CANCELLED, TR_NOT_SUPPORTED.
 */
tr_status tr_destroy(tr_self *self);

/* ---- What is stored. ---- */

/**
 * Stores what was changed so far, and waits until it is on disk. Ends the turn when that fails. With
 * TR_SAVE_SYNC it is for those who act on the world by other means than messages.
 */
void tr_save(tr_self *self);
/** As tr_save, and gives the status: TR_STORE_FULL, TR_STORE_FAILED, ... */
TR_MUST_CHECK tr_status tr_try_save(tr_self *self);

/**
 * Keeps a value under a key, of 1 to TR_KV_KEY_MAX bytes, beside the state; stored with it. A value has at
 * most TR_KV_VALUE_MAX bytes. Copied. Ends the turn with TR_TOO_LARGE, TR_INVALID_ARGUMENT, TR_NO_MEMORY.
 */
void tr_kv_put(tr_self *self, tr_bytes key, tr_bytes value);
/** Removes a key; nothing if it is not there. */
void tr_kv_delete(tr_self *self, tr_bytes key);
/**
 * The value of a key, what this stretch has put included: false if there is none. It is memory of this
 * turn. It reads from the disk if it must, while the worker waits. Ends the turn with TR_STORE_CORRUPT,
 * TR_STORE_FAILED, TR_NO_MEMORY.
 */
bool tr_kv_get(tr_self *self, tr_bytes key, tr_bytes *value);

/** One pair of tr_kv_list. */
typedef struct tr_kv {
    tr_bytes key;
    tr_bytes value;
} tr_kv;
/**
 * The pairs whose keys begin with `prefix`, in the order of their bytes, from the key `from` on, at most
 * `max`, in memory of this turn; gives how many. No bytes: no bound. As tr_kv_get.
 */
size_t tr_kv_list(tr_self *self, tr_bytes prefix, tr_bytes from, const tr_kv **pairs, size_t max);

/* ---- What keeps it awake: see TR_KEEP_AWAKE. ---- */

/** A hold: it ends with its block, and with the turn at the latest. */
typedef struct tr_hold {
    tr_self *self;
    uint64_t number; /* 0: none */
} tr_hold;
tr_hold tr_self_hold(tr_self *self, bool is_awake, const char *what, const char *file, int line);
void tr_hold_release(tr_hold *hold);

/* What the macros above call. */
const void *tr_self_append(tr_self *self, const void *items, size_t count, size_t size,
                           const void *item);
TR_MUST_CHECK tr_status tr_self_try_durable(tr_self *self, const tr_durable_kind *kind,
                                            tr_bytes key, uint64_t *ref_bits);
TR_MUST_CHECK tr_status tr_client_try_durable(tr_client *client, const tr_durable_kind *kind,
                                              tr_bytes key, uint64_t *ref_bits);
tr_ref tr_self_durable(tr_self *self, const tr_durable_kind *kind, tr_bytes key);
/** Starts the durable kinds of a system: the member `start` of what TR_DURABLES makes. */
tr_status tr_durable_start(tr_system *system, const struct tr_durables *durables,
                           const char *store);
TR_END_C

/** What tr_system_options.durable points to; made by TR_DURABLES. */
typedef struct tr_durables {
    size_t size; /* sizeof(tr_durables) */
    tr_status (*start)(tr_system *system, const struct tr_durables *durables, const char *store);
    const tr_durable_kind *const *kinds; /* behind the last one is NULL */
} tr_durables;

#include <troupe/detail/durable.h>

#endif
