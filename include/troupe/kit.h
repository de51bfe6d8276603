/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The test kit: one thread, virtual time, and every choice made by a seed.
 *
 * ```c
 * #include <troupe/kit.h>
 * #include <troupe/troupe.h>
 *
 * TR_REQUEST(wake_me, tr_done, (i64, after_ns));
 * TR_ACTOR(porter, wake_me);
 *
 * static tr_next on_wake_me(tr_self *self, const struct wake_me *message)
 * {
 *     tr_sleep(self, message->after_ns);
 *     return tr_reply(self, tr_done);
 * }
 *
 * TR_BEHAVIOR(porter, void, TR_ON(wake_me, on_wake_me));
 *
 * int main(void)
 * {
 *     tr_kit *kit = tr_kit_new(NULL);
 *     tr_client *client = tr_kit_client(kit);
 *     porter_ref porter;
 *     if (tr_try_spawn(client, &porter, porter, "porter") != TR_OK)
 *         return 1;
 *     wake_me_ask asked = tr_ask_within(client, TR_HOUR, porter, wake_me, .after_ns = TR_MINUTE);
 *     bool is_right = tr_try_await(client, asked, NULL) == TR_OK && // takes no time
 *                     tr_kit_now(kit) >= TR_MINUTE;
 *     tr_kit_free(kit); // aborts if memory has leaked
 *     return is_right ? 0 : 1;
 * }
 * ```
 *
 * Waiting on a client of a kit runs the system and moves the clock, so a test never sleeps. With
 * the same seed a test runs the same way each time. A kit works with any test framework. Only one
 * thread uses a kit and all that belongs to it.
 */
#ifndef TROUPE_KIT_H
#define TROUPE_KIT_H

#include <troupe/system.h>

typedef struct tr_kit tr_kit;

/** What a kit writes of its log to standard error, each line with the virtual time. */
typedef enum tr_kit_log {
    /*
     * TR_LEVEL_WARN and above; the variable TROUPE_KIT_LOG replaces this level: debug, info, warn,
     * error, off
     */
    TR_KIT_LOG_WARNINGS,
    TR_KIT_LOG_ALL,
    TR_KIT_LOG_NONE
} tr_kit_log;

/** The options of a kit. All zero is the default. */
typedef struct tr_kit_options {
    size_t size;   /* need not be set */
    uint64_t seed; /* 0: 1 */
    /* number of workers; one thread runs all of them, in an order that the seed chooses; 0: 1 */
    int workers;
    bool moves; /* actors that may move to another worker do so, as the seed chooses */
    /*
     * the kinds of durable actors, see durable.h; their store is in memory unless `store` is
     * set
     */
    const struct tr_durables *durable;
    const char *store;  /* the directory of the store; NULL: the store is in memory */
    uint32_t awake_max; /* as in tr_system_options */
    uint64_t awake_bytes_max;
    const char *name; /* name of the system, which is also kept in its store; NULL: "kit" */
    tr_kit_log log;   /* a test that fails actors on purpose may want TR_KIT_LOG_NONE */
    /*
     * the wall clock at the beginning; 0: 2024-01-01 00:00 UTC, or, if an earlier kit has used the
     * directory `store`, the time that its wall clock had at the end. With a negative time
     * tr_kit_new returns NULL
     */
    tr_time wall_ns;
} tr_kit_options;

TR_BEGIN_C
/**
 * Makes a kit, which is given to the caller. If `options` is NULL, all options have their defaults.
 * Returns NULL if there is no memory, or if the options are wrong.
 * One thread. Does not wait.
 */
TR_MUST_CHECK TR_INLINE tr_kit *tr_kit_new(const tr_kit_options *options);
/**
 * Stops the system, checks as tr_kit_check does, frees the kit, and aborts with a report if memory
 * has leaked. One thread. Does not wait.
 */
void tr_kit_free(tr_kit *kit);
/** Returns the system of a kit, borrowed. One thread. Does not wait. */
tr_system *tr_kit_system(tr_kit *kit);
/** Returns the client of a kit, borrowed; tr_client_new makes more. One thread. Does not wait. */
tr_client *tr_kit_client(tr_kit *kit);
/**
 * Runs the set-ups of new actors, then one turn of one actor. Returns false if nothing is ready.
 * One thread. Does not wait.
 */
bool tr_kit_step(tr_kit *kit);
/**
 * Runs turns until nothing is ready, without moving the clock. Returns how many turns ran.
 * One thread. Does not wait.
 */
size_t tr_kit_settle(tr_kit *kit);
/**
 * Moves both clocks (tr_kit_now and tr_kit_wall_now) by ns, and runs what falls due meanwhile, in
 * order. One thread. Does not wait.
 */
void tr_kit_advance(tr_kit *kit, tr_time ns);
/** Returns the virtual time. One thread. Does not wait. */
tr_time tr_kit_now(const tr_kit *kit);
/**
 * Returns the time of the virtual wall clock, as tr_wall_now does in a handler: nanoseconds since
 * 1970-01-01 00:00 UTC. It begins at 2024-01-01 00:00 UTC (1704067200 * TR_SECOND), or at `wall_ns`
 * of the options. If an earlier kit has used the same `store`, it begins where that one's ended.
 * One thread. Does not wait.
 */
tr_time tr_kit_wall_now(const tr_kit *kit);
/**
 * Makes one allocation fail: `nth` 1 is the next allocation, 2 the one after it, and 0 means none.
 * With and_all_after, all later allocations fail too. One thread. Does not wait.
 */
void tr_kit_fail_allocation(tr_kit *kit, uint64_t nth, bool and_all_after);
/** Returns how many allocations there have been. One thread. Does not wait. */
uint64_t tr_kit_allocations(const tr_kit *kit);
/**
 * Returns a hash of all that has happened. The same seed gives the same hash. One thread. Does not
 * wait.
 */
uint64_t tr_kit_trace(const tr_kit *kit);
/**
 * Checks that every message is accounted for (accepted = handled + dead letters + queued + being
 * handled), and that the counters agree with the actors. If not, aborts with a report.
 * One thread. Does not wait.
 */
void tr_kit_check(tr_kit *kit);
TR_END_C

#include <troupe/detail/kit.h>

#endif
