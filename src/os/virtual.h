/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A platform without a world, for tests and simulation: one thread, time that moves by hand,
 * randomness from a seed, memory that is counted and can be refused, logs that are kept.
 *
 *     struct virtual_platform *virtual = tr__virtual_new(seed);
 *     virtual->on_park = step_everything;
 *     ... use &virtual->table ...
 *     tr__virtual_advance(virtual, 5 * TR_SECOND);
 *     ck_assert_uint_eq(tr__virtual_live_blocks(virtual), 0);
 *     tr__virtual_free(virtual);
 *
 * All functions: one thread at a time.
 */
#ifndef OS_VIRTUAL_H
#define OS_VIRTUAL_H

#include "base/list.h"
#include "base/rng.h"

#include <troupe/platform.h>

/** Lines of log that are kept; older ones are only counted. */
#define VIRTUAL_LOG_LINES 256

struct virtual_line {
    tr_level level;
    char path[128];
    char text[256]; /* cut if longer */
};

struct virtual_platform {
    tr_platform table; /* first: the functions of the table find this struct by it */

    /* Settings; may be changed at any time. */
    unsigned cpu_count; /* 1 at first */
    bool echo;          /* log lines also go to stderr */
    /**
     * Called by a park that has nothing to return for; it may step others, move time, wake. False
     * ends the park. Without a hook a park returns at once.
     */
    bool (*on_park)(void *context, tr_time deadline);
    void *on_park_context;

    /* The rest changes through the functions below. */
    tr_time mono;
    tr_time wall_offset;
    struct rng rng;

    uint64_t allocations; /* requests for memory so far, refused ones included */
    uint64_t refusals;
    uint64_t fail_at; /* the number of the allocation to refuse; 0 for none */
    bool fail_after;  /* and all after it */
    struct list blocks;
    size_t live_blocks;
    size_t live_bytes;
    size_t peak_bytes;

    uint64_t parks;
    uint64_t wakes;
    uint64_t yields;
    struct list parkers;

    uint64_t lines_count; /* so far */
    struct virtual_line lines[VIRTUAL_LOG_LINES];
};

/** NULL when out of memory. Time starts at one hour of mono and 2024-01-01 of wall. */
struct virtual_platform *tr__virtual_new(uint64_t seed);
/** Frees the platform, not what was allocated from it. NULL does nothing. */
void tr__virtual_free(struct virtual_platform *virtual);

/** Moves both clocks forward. */
void tr__virtual_advance(struct virtual_platform *virtual, tr_time duration);
/** Moves both clocks to this time of mono, unless it is past. */
void tr__virtual_advance_to(struct virtual_platform *virtual, tr_time mono);
/** Moves the wall clock alone, in either direction. */
void tr__virtual_wall_jump(struct virtual_platform *virtual, tr_time difference);

/**
 * Refuses the n-th allocation from now (1 is the next one), alone or with all that follow it.
 * n = 0: refuses none. A resize to something larger than 0 is an allocation.
 */
void tr__virtual_fail_allocation(struct virtual_platform *virtual, uint64_t n, bool and_all_after);
/** Blocks and bytes that were allocated and not freed. */
size_t tr__virtual_live_blocks(const struct virtual_platform *virtual);
size_t tr__virtual_live_bytes(const struct virtual_platform *virtual);
/**
 * The number of the allocation, from 1 on, that made the oldest live block; 0 when there is none.
 * Runs with one seed are equal, so this is where a second run finds who leaks.
 */
uint64_t tr__virtual_oldest_block(const struct virtual_platform *virtual);

/** The n-th last line of the log, 0 being the last; NULL when it is not there (any more). */
const struct virtual_line *tr__virtual_line(const struct virtual_platform *virtual, size_t n);
/** Whether a line that is kept has `text` in it. */
bool tr__virtual_has_line(const struct virtual_platform *virtual, const char *text);

/**
 * Completes the oldest pending operation of this kind on this descriptor, on whatever parker it is.
 * False when there is none. Descriptors are mere numbers here.
 */
bool tr__virtual_io_complete(struct virtual_platform *virtual, int fd, tr_io_kind kind,
                             tr_status result);
/** Pending operations of all parkers. */
size_t tr__virtual_io_pending(const struct virtual_platform *virtual);

#endif
