/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The test kit: one thread, virtual time, every choice made by a seed.
 *
 *     tr_kit *kit = tr_kit_new(NULL);
 *     tr_client *test = tr_kit_client(kit);
 *     account_ref alice;
 *     ck_assert_int_eq(tr_try_spawn(test, &alice, account, "alice"), TR_OK);
 *     tr_tell(test, alice, get_balance);
 *     const struct balance *balance = tr_receive(test, balance, 0);
 *     tr_kit_free(kit);
 *
 * A client of a kit is a probe: waiting on it runs the system and moves the clock, so no test
 * sleeps. With the same seed a test runs the same way each time. Works with any test framework.
 * A kit and all that belongs to it is used by one thread.
 */
#ifndef TROUPE_KIT_H
#define TROUPE_KIT_H

#include <troupe/system.h>

typedef struct tr_kit tr_kit;

/** All zero is the default. */
typedef struct tr_kit_options {
    size_t size;   /* need not be set: tr_kit_new knows it */
    uint64_t seed; /* 0: 1 */
    int workers;   /* 0: 1; more are played by the one thread, in an order that the seed chooses */
    bool moves;    /* actors that may move do, from worker to worker, as the seed chooses */
    const struct tr_durables *durable; /* see durable.h; what they store is in memory */
    const char *store;  /* NULL, or a directory that has it, as in tr_system_options */
    uint32_t awake_max; /* as there */
    uint64_t awake_bytes_max;
} tr_kit_options;

TR_BEGIN_C
/** Makes a kit, given to the caller; options NULL: defaults. NULL: no memory, or bad options. */
TR_MUST_CHECK TR_INLINE tr_kit *tr_kit_new(const tr_kit_options *options);
/** Stops everything, checks as tr_kit_check, and aborts with a report of memory that leaked. */
void tr_kit_free(tr_kit *kit);
/** Its system, borrowed. */
tr_system *tr_kit_system(tr_kit *kit);
/** Its own client, borrowed; tr_client_new makes more. */
tr_client *tr_kit_client(tr_kit *kit);
/** One turn of one actor, once new ones are set up; false when nothing is ready now. */
bool tr_kit_step(tr_kit *kit);
/** Turns until nothing is ready now, the clock standing still; returns how many. */
size_t tr_kit_settle(tr_kit *kit);
/** Moves the clock by ns, running what falls due on the way, in order. */
void tr_kit_advance(tr_kit *kit, tr_time ns);
/** The virtual time. */
tr_time tr_kit_now(const tr_kit *kit);
/** Lets the nth allocation from now fail, 1 being the next (0: none), and maybe all after it. */
void tr_kit_fail_allocation(tr_kit *kit, uint64_t nth, bool and_all_after);
/** Allocations so far. */
uint64_t tr_kit_allocations(const tr_kit *kit);
/** A hash of all that has happened: the same for the same seed. */
uint64_t tr_kit_trace(const tr_kit *kit);
/**
 * Aborts with a report unless every message is accounted for (accepted = handled + dead letters +
 * queued + in hand) and the counters agree with what there is.
 */
void tr_kit_check(tr_kit *kit);
TR_END_C

#include <troupe/detail/kit.h>

#endif
