/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A hierarchical timing wheel of one worker: says which timer is due, and when the next one will be.
 *
 * Its tick is a nanosecond, so nodes expire in the order of exact deadlines and never early, and
 * nothing has to be sorted. It has no clock, no lock and no memory: the owner passes the time, and
 * nodes are embedded in other structs. Arm and cancel take constant time. A node moves at most once
 * for each of the eleven levels before it expires, and a wheel with few nodes moves them at most
 * once. docs/design/timer-wheel.md explains the design.
 *
 * The time of a wheel only advances. If the last tr__wheel_expire returned a node, it is the deadline
 * of that node; if it returned NULL, it is the time that was passed. A node that is armed for an
 * earlier time is due at once.
 */
#ifndef TIMER_WHEEL_H
#define TIMER_WHEEL_H

#include <troupe/platform.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    WHEEL_DIGIT_BITS = 6, /* The used slots of a level are the bits of one word. */
    WHEEL_SLOTS = 1 << WHEEL_DIGIT_BITS,
    WHEEL_LEVELS = 11, /* Digits of a tr_time, which has 63 bits. */
    /* Most nodes of a slot that tr__wheel_next checks for the exact deadline. */
    WHEEL_LOOK_MAX = 16,
};

/** A timer. All zero is one that is not armed. */
struct timer_node {
    struct timer_node *next; /* next node in the ring of its slot; NULL if this node is not armed */
    struct timer_node *previous;
    tr_time deadline_ns; /* deadline for which the node was armed; kept when it expires */
};

struct wheel {
    tr_time time_ns;
    size_t count;            /* Number of armed nodes. */
    uint32_t levels;         /* one bit for each level that has nodes */
    struct timer_node young; /* Head of the ring of nodes that have no slot yet; not a timer. */
    uint64_t used[WHEEL_LEVELS];
    struct timer_node *slots[WHEEL_LEVELS][WHEEL_SLOTS]; /* The node armed first, or NULL. */
};

/** Makes an empty wheel. It has no memory to free, so there is no deinit. It must not be moved. */
void tr__wheel_init(struct wheel *wheel, tr_time now_ns);

/**
 * Arms a node that is not armed; the node is lent until it expires or is cancelled. Any deadline is
 * allowed.
 */
void tr__wheel_arm(struct wheel *wheel, struct timer_node *node, tr_time deadline_ns);

/** Disarms a node, even if it is due. Returns false, with nothing changed, if the node is not armed. */
bool tr__wheel_cancel(struct wheel *wheel, struct timer_node *node);

/**
 * Disarms and returns the next node whose deadline is not after `now_ns`; NULL if there is none.
 *
 * Earlier deadlines come first, equal ones in the order of arming. Any node may be armed and
 * cancelled between two calls. A node that is armed meanwhile, for a time that has already come, is
 * returned too. So a caller that arms nodes in its loop must bound the loop. If the clock goes
 * back, this returns NULL until the clock has caught up.
 */
struct timer_node *tr__wheel_expire(struct wheel *wheel, tr_time now_ns);

/**
 * Returns the time at which to call tr__wheel_expire next: never after the first deadline; TR_NEVER
 * for an empty wheel.
 *
 * If at most WHEEL_LOOK_MAX nodes share the first slot, this is exactly the first deadline (raised
 * to the wheel's time). Otherwise it may be earlier. tr__wheel_expire at that time then returns
 * NULL, but spreads the slot over lower levels. This happens at most once per level before the next
 * node expires. Such a wake-up needs more than WHEEL_LOOK_MAX nodes in one slot, so there are fewer
 * such wake-ups than nodes.
 */
tr_time tr__wheel_next(struct wheel *wheel);

/** As tr__wheel_next, but inline for a wheel that has no armed nodes. */
static inline tr_time wheel_next(struct wheel *wheel)
{
    return wheel->count ? tr__wheel_next(wheel) : TR_NEVER;
}

static inline bool timer_is_armed(const struct timer_node *node)
{
    return node->next != NULL;
}

/**
 * Returns the deadline after a delay. A negative delay counts as 0, and a sum that is too large
 * gives TR_NEVER.
 */
static inline tr_time timer_deadline(tr_time now_ns, tr_time delay_ns)
{
    if (delay_ns <= 0)
        return now_ns;
    return now_ns > TR_NEVER - delay_ns ? TR_NEVER : now_ns + delay_ns;
}

#endif
