/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A hierarchical timing wheel of one worker: which timer is due, and when the next one is.
 *
 * Its tick is a nanosecond, so a node expires in the order of exact deadlines and never early, and
 * nothing has to be sorted. It has no clock, no lock and no memory of its own: time is what its
 * owner says, and nodes are embedded in what they wake. Arm and cancel take constant time; a node
 * moves at most once for each of the eleven levels before it expires, and a wheel that holds few
 * nodes moves them at most once. docs/design/timer-wheel.md says why it is so.
 *
 * Time in a wheel is the clock of the last tr__wheel_expire that gave NULL, or else the deadline of
 * the node given last. A deadline before it counts as that time.
 */
#ifndef TIMER_WHEEL_H
#define TIMER_WHEEL_H

#include <troupe/platform.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    WHEEL_DIGIT_BITS = 6, /* A level's slots in use are the bits of one word. */
    WHEEL_SLOTS = 1 << WHEEL_DIGIT_BITS,
    WHEEL_LEVELS = 11, /* Digits of a tr_time, which has 63 bits. */
    /* Nodes of a slot at which tr__wheel_next looks for the exact deadline. */
    WHEEL_LOOK_MAX = 16,
};

/** A timer. Zeroes are one that is not armed. */
struct timer_node {
    struct timer_node *next; /* In the ring of its slot; NULL when it is not armed. */
    struct timer_node *previous;
    tr_time deadline_ns; /* As it was armed; stays when it expires. */
};

struct wheel {
    tr_time time_ns;
    size_t count;            /* Nodes that are armed. */
    uint32_t levels;         /* A bit for each level that has nodes. */
    struct timer_node young; /* Heads the ring of nodes that have no slot yet; no timer itself. */
    uint64_t used[WHEEL_LEVELS];
    struct timer_node *slots[WHEEL_LEVELS][WHEEL_SLOTS]; /* The node armed first, or NULL. */
};

/** Makes an empty wheel. It holds no memory, so there is no deinit. It must not be moved. */
void tr__wheel_init(struct wheel *wheel, tr_time now_ns);

/** Arms a node that is not armed; lent until it expires or is cancelled. Any deadline will do. */
void tr__wheel_arm(struct wheel *wheel, struct timer_node *node, tr_time deadline_ns);

/** Disarms a node, also one that is due already. False, and nothing done, when it is not armed. */
bool tr__wheel_cancel(struct wheel *wheel, struct timer_node *node);

/**
 * Gives back the next node whose deadline is not after `now_ns`, no longer armed, or NULL.
 *
 * Earlier deadlines come first, equal ones in the order of arming. Any node may be armed and
 * cancelled between two calls; one that is armed for a time that has come is given in its turn, so
 * who arms in a loop bounds the loop. A clock that goes back gives NULL until it is where it was.
 */
struct timer_node *tr__wheel_expire(struct wheel *wheel, tr_time now_ns);

/**
 * When to call tr__wheel_expire next: never after the first deadline; TR_NEVER for an empty wheel.
 *
 * Exactly the first deadline (raised to the wheel's time) when at most WHEEL_LOOK_MAX nodes share
 * the first slot. Else it may be earlier. An expire at that time then gives NULL but spreads that
 * slot over lower levels: at most once per level before the next node, and with so many nodes that
 * sleeps in vain are fewer than nodes.
 */
tr_time tr__wheel_next(struct wheel *wheel);

static inline bool timer_is_armed(const struct timer_node *node)
{
    return node->next != NULL;
}

/** The deadline after a delay; a negative delay is none, and a sum that is too large TR_NEVER. */
static inline tr_time timer_deadline(tr_time now_ns, tr_time delay_ns)
{
    if (delay_ns <= 0)
        return now_ns;
    return now_ns > TR_NEVER - delay_ns ? TR_NEVER : now_ns + delay_ns;
}

#endif
