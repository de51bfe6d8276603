/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A simulated platform for tests: one thread, clocks that the test moves, randomness from a seed,
 * memory that is counted and that the test can make run out, and log lines that are kept.
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
#include "os/virtual_net.h"

#include <troupe/platform.h>

/** How many of the last log lines are kept. Older lines are only counted. */
#define VIRTUAL_LOG_LINES 256

struct virtual_line {
    tr_level level;
    char path[128];
    char text[256]; /* the text of the line, cut if longer */
};

struct virtual_platform {
    /* must be first, because the functions of the table find the platform by the address of the table */
    tr_platform table;

    /* Settings; may be changed at any time. */
    unsigned cpu_count; /* 1 at first */
    bool echo;          /* write log lines of level echo_least and above to stderr, too */
    tr_level echo_least;
    /**
     * Called by a park that has no reason to return. The function may run other work, move time, or
     * wake a parker. If it returns false, the park ends. Without this function a park returns at
     * once.
     */
    bool (*on_park)(void *context, tr_time deadline);
    void *on_park_context;

    /* Only the functions below change the next members. */
    tr_time mono;
    tr_time wall_offset;
    struct rng rng;

    /* how often memory was requested so far, including the requests that were refused */
    uint64_t allocations;
    uint64_t refusals;
    uint64_t fail_at; /* the number of the allocation that fails; 0: none */
    bool fail_after;  /* all allocations after number fail_at fail, too */
    struct list blocks;
    size_t live_blocks;
    size_t live_bytes;
    size_t peak_bytes;

    uint64_t parks;
    uint64_t wakes;
    uint64_t yields;
    struct list parkers;

    uint64_t lines_count; /* lines logged so far */
    struct virtual_line lines[VIRTUAL_LOG_LINES];

    struct virtual_net net; /* the network; os/virtual_socket.h has its functions */
};

/**
 * Makes a virtual platform. Returns NULL if out of memory. The monotonic clock starts at one hour,
 * the wall clock at 2024-01-01.
 */
struct virtual_platform *tr__virtual_new(uint64_t seed);
/** Frees the platform, not what was allocated from it. NULL does nothing. */
void tr__virtual_free(struct virtual_platform *virtual);

/** Moves both clocks forward. */
void tr__virtual_advance(struct virtual_platform *virtual, tr_time duration);
/** Moves both clocks until the monotonic clock has this time. Does nothing if that time is past. */
void tr__virtual_advance_to(struct virtual_platform *virtual, tr_time mono);
/** Moves the wall clock alone, in either direction. */
void tr__virtual_wall_jump(struct virtual_platform *virtual, tr_time difference);

/**
 * Makes the n-th allocation from now fail (1 is the next one), and with and_all_after all later
 * ones, too. n = 0: no allocation fails. A resize to more than 0 bytes counts as an allocation.
 */
void tr__virtual_fail_allocation(struct virtual_platform *virtual, uint64_t n, bool and_all_after);
/** Return how many blocks were allocated and not freed, and how many bytes they have. */
size_t tr__virtual_live_blocks(const struct virtual_platform *virtual);
size_t tr__virtual_live_bytes(const struct virtual_platform *virtual);
/**
 * Returns the number, from 1 on, of the allocation that made the oldest live block; 0 if there is
 * none. Runs with the same seed are equal. So to find a leak, a second run can stop at that
 * allocation.
 */
uint64_t tr__virtual_oldest_block(const struct virtual_platform *virtual);

/**
 * Returns the log line that is n lines before the last one; n = 0 is the last line. NULL if the
 * line is not kept.
 */
const struct virtual_line *tr__virtual_line(const struct virtual_platform *virtual, size_t n);
/** Whether a kept log line contains `text`. */
bool tr__virtual_has_line(const struct virtual_platform *virtual, const char *text);

#endif
