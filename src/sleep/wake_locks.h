/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Who keeps a durable actor awake: each raised counter is a list of wake_locks.
 *
 * A wake_lock is one piece of work: an ask that is awaited, a task, a request, a hook. Its memory is
 * part of that work, so that nothing is allocated and nothing can be forgotten: whoever ends the
 * work, well or not, removes its wake_lock. A counter is the length of its list.
 */
#ifndef SLEEP_WAKE_LOCKS_H
#define SLEEP_WAKE_LOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <troupe/status.h>

#include "base/list.h"
#include "sleep/counters.h"

/** Begins as zeros but for `what` and its place; in a list while it is raised, oldest first. */
struct wake_lock {
    struct list link; /* next is NULL while it is not raised */
    const char *what; /* lent: "receipt", "add_item" */
    const char *file; /* lent; NULL: the runtime's own */
    int line;
    enum sleep_counter counter; /* of a raised one */
    tr_time since;              /* of a raised one */
};

struct wake_locks {
    struct list of[COUNTER_COUNT];
    uint32_t counts[COUNTER_COUNT];
    uint32_t raised; /* the set of counters that are not 0 */
};

enum {
    WAKE_LOCKS_NAMED_MAX = 3,    /* of each counter; of the others the text gives the number */
    WAKE_LOCKS_TEXT_SIZE = 4096, /* all that can block at once fit */
};

static inline bool wake_lock_is_raised(const struct wake_lock *wake_lock)
{
    return wake_lock->link.next != NULL;
}

void tr__wake_locks_init(struct wake_locks *wake_locks);

/** Adds a wake_lock, lent until it is removed. It is not raised. */
void tr__wake_locks_add(struct wake_locks *wake_locks, struct wake_lock *wake_lock,
                        enum sleep_counter counter, tr_time now);

/** Gives a raised wake_lock back. */
void tr__wake_locks_remove(struct wake_locks *wake_locks, struct wake_lock *wake_lock);

/** Moves a raised wake_lock to another counter; its age stays. */
void tr__wake_locks_move(struct wake_locks *wake_locks, struct wake_lock *wake_lock,
                         enum sleep_counter counter);

/** Gives all wake_locks back. */
void tr__wake_locks_release(struct wake_locks *wake_locks);

/** The text of a counter for people. */
const char *tr__counter_text(enum sleep_counter counter);

/**
 * Writes who holds the counters of `set`, in the order of the list:
 *
 *     active requests: add_item (cart.c:44, 12.000 s), add_item (cart.c:44, 0.120 s) and 7 more;
 *     keep-awake: receipt (cart.c:51, 3.500 s)
 *
 * on one line, cut to `size` with its final NUL; of each name the first 32 bytes. Returns the length that it has in `text`.
 */
size_t tr__wake_locks_print(const struct wake_locks *wake_locks, uint32_t set, tr_time now,
                            char *text, size_t size);

#endif
