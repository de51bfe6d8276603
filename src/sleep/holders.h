/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Who keeps a durable actor awake: each raised counter is a list of holders.
 *
 * A holder is one piece of work: an ask that is awaited, a task, a request, a hook. Its memory is
 * part of that work, so that nothing is allocated and nothing can be forgotten: whoever ends the
 * work, well or not, removes its holder. A counter is the length of its list.
 */
#ifndef SLEEP_HOLDERS_H
#define SLEEP_HOLDERS_H

#include <stdbool.h>
#include <stddef.h>
#include <troupe/status.h>

#include "base/list.h"
#include "sleep/counters.h"

/** Begins as zeros but for `what` and its place; in a list while it is raised, oldest first. */
struct holder {
    struct list link; /* next is NULL while it is not raised */
    const char *what; /* lent: "receipt", "add_item" */
    const char *file; /* lent; NULL: the runtime's own */
    int line;
    enum sleep_counter counter; /* of a raised one */
    tr_time since;              /* of a raised one */
};

struct holders {
    struct list of[COUNTER_COUNT];
    uint32_t counts[COUNTER_COUNT];
    uint32_t raised; /* the set of counters that are not 0 */
};

enum {
    HOLDERS_NAMED_MAX = 3,    /* of each counter; of the others the text gives the number */
    HOLDERS_TEXT_SIZE = 4096, /* all that can block at once fit */
};

static inline bool holder_is_raised(const struct holder *holder)
{
    return holder->link.next != NULL;
}

void tr__holders_init(struct holders *holders);

/** Adds a holder, lent until it is removed. It is not raised. */
void tr__holders_add(struct holders *holders, struct holder *holder, enum sleep_counter counter,
                     tr_time now);

/** Gives a raised holder back. */
void tr__holders_remove(struct holders *holders, struct holder *holder);

/** Moves a raised holder to another counter; its age stays. */
void tr__holders_move(struct holders *holders, struct holder *holder, enum sleep_counter counter);

/** Gives all holders back. */
void tr__holders_release(struct holders *holders);

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
size_t tr__holders_print(const struct holders *holders, uint32_t set, tr_time now, char *text,
                         size_t size);

#endif
