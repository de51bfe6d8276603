/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Wake locks: what keeps a durable actor awake. Each counter is a list of the wake locks that raise it.
 *
 * A wake lock is one piece of work: an ask that is awaited, a task, a request, a hook. Its memory is part of that work,
 * so nothing is allocated. The code that ends the work, successfully or not, removes the wake lock. The value of a
 * counter is the length of its list.
 */
#ifndef SLEEP_WAKE_LOCKS_H
#define SLEEP_WAKE_LOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <troupe/status.h>

#include "base/list.h"
#include "sleep/counters.h"

/**
 * A wake lock. Before its first use it is all zeros, except for `what`, `file` and `line`. A raised wake lock is in the
 * list of its counter, which begins with the oldest.
 */
struct wake_lock {
    struct list link; /* link.next is NULL while the wake lock is not raised */
    const char *what; /* borrowed; what the work is, such as "receipt" or "add_item" */
    /* borrowed; file of the program that has raised it; NULL: the runtime has raised it */
    const char *file;
    int line;
    enum sleep_counter counter; /* the counter that the wake lock has raised */
    tr_time since;              /* when the wake lock was raised */
};

struct wake_locks {
    struct list of[COUNTER_COUNT];
    uint32_t counts[COUNTER_COUNT];
    uint32_t raised; /* the set of counters that are not 0 */
};

enum {
    /* tr__wake_locks_print names at most this many wake locks for each counter. Of the others it
     * says only how many there are. */
    WAKE_LOCKS_NAMED_MAX = 3,
    /* A buffer of this size always suffices for tr__wake_locks_print, even if all counters are
     * raised that can block at the same time. */
    WAKE_LOCKS_TEXT_SIZE = 4096,
};

static inline bool wake_lock_is_raised(const struct wake_lock *wake_lock)
{
    return wake_lock->link.next != NULL;
}

void tr__wake_locks_init(struct wake_locks *wake_locks);

/** Adds a wake lock, which must not be raised. The wake lock is borrowed until it is removed. */
void tr__wake_locks_add(struct wake_locks *wake_locks, struct wake_lock *wake_lock,
                        enum sleep_counter counter, tr_time now);

/** Removes a raised wake lock. */
void tr__wake_locks_remove(struct wake_locks *wake_locks, struct wake_lock *wake_lock);

/** Moves a raised wake lock to another counter. Keeps its age. */
void tr__wake_locks_move(struct wake_locks *wake_locks, struct wake_lock *wake_lock,
                         enum sleep_counter counter);

/** Removes all wake locks. */
void tr__wake_locks_release(struct wake_locks *wake_locks);

/** Returns the text that stands for a counter in reports to people, such as "active requests". */
const char *tr__counter_text(enum sleep_counter counter);

/**
 * Writes the wake locks of the counters in `set`, in the order of the list:
 *
 *     active requests: add_item (cart.c:44, 12.000 s), add_item (cart.c:44, 0.120 s) and 7 more;
 *     keep-awake: receipt (cart.c:51, 3.500 s)
 *
 * The text is on one line. It is cut if it does not fit into `size` bytes with its final NUL. Each name is cut to 32
 * bytes. Returns the length of the text.
 */
size_t tr__wake_locks_print(const struct wake_locks *wake_locks, uint32_t set, tr_time now,
                            char *text, size_t size);

#endif
