/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A hierarchical timing wheel of one worker. It says which timer is due, and when the next timer
 * will be due.
 *
 * The tick of the wheel is a nanosecond. So nodes expire in the order of their exact deadlines and
 * never early, and nothing has to be sorted. The wheel has no clock, no lock and no memory of its
 * own: its owner passes the time, and nodes are members of other structs. Arm and cancel take
 * constant time. A node moves at most once for each of the eleven levels before it expires. In a
 * wheel with few nodes, each node moves at most once. docs/design/timer-wheel.md explains the
 * design.
 *
 * The time of a wheel only advances. If tr__wheel_expire returns a node, the time of the wheel
 * advances to the deadline of that node. If it returns NULL, the time of the wheel advances to the
 * time that was passed to it. A node that is armed for an earlier time is due at once.
 */
#ifndef TIMER_WHEEL_H
#define TIMER_WHEEL_H

#include <troupe/platform.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    WHEEL_DIGIT_BITS = 6, /* a level has 2^6 slots, and the slots in use are the bits of one word */
    WHEEL_SLOTS = 1 << WHEEL_DIGIT_BITS,
    WHEEL_LEVELS = 11, /* a tr_time has 63 bits, so it has 11 digits of 6 bits */
    /* tr__wheel_next looks for the exact first deadline of a slot only if the slot has at most this
     * many nodes. */
    WHEEL_LOOK_MAX = 16,
};

/** A timer. If all members are zero, the timer is not armed. */
struct timer_node {
    /* the next node in the ring of its slot; NULL: the node is not armed */
    struct timer_node *next;
    struct timer_node *previous;
    /* the deadline for which the node was armed; stays when the node expires */
    tr_time deadline_ns;
};

struct wheel {
    tr_time time_ns;
    size_t count;    /* how many nodes are armed */
    uint32_t levels; /* one bit for each level that has nodes */
    /* head of the ring of young nodes, which have no slot yet; not a timer itself */
    struct timer_node young;
    uint64_t used[WHEEL_LEVELS];
    /* the node that was armed first; NULL: the slot has no nodes */
    struct timer_node *slots[WHEEL_LEVELS][WHEEL_SLOTS];
};

/**
 * Makes an empty wheel. The wheel must stay at its address. It has no memory to free, so there is
 * no deinit.
 */
void tr__wheel_init(struct wheel *wheel, tr_time now_ns);

/**
 * Arms a node, which must not be armed. The node is lent to the wheel until it expires or is
 * cancelled. Any deadline is allowed.
 */
void tr__wheel_arm(struct wheel *wheel, struct timer_node *node, tr_time deadline_ns);

/**
 * Disarms a node, even if it is due. If the node is not armed, changes nothing and returns false.
 */
bool tr__wheel_cancel(struct wheel *wheel, struct timer_node *node);

/**
 * Disarms and returns the next node whose deadline is not after `now_ns`. Returns NULL if there is
 * none.
 *
 * Nodes with earlier deadlines come first, and nodes with equal deadlines in the order of arming.
 * Any node may be armed and cancelled between two calls. A node that is armed in between, for a
 * time that has come already, is returned too. So a caller that arms nodes in its loop must bound
 * the loop. If the clock goes back, this returns NULL until the clock has caught up.
 */
struct timer_node *tr__wheel_expire(struct wheel *wheel, tr_time now_ns);

/**
 * Returns the time at which the caller must call tr__wheel_expire next. It is never after the first
 * deadline. Returns TR_NEVER if the wheel is empty.
 *
 * If the first slot has at most WHEEL_LOOK_MAX nodes, this is exactly the first deadline, or the
 * wheel's time if the first deadline is before that. Otherwise the time may be earlier than the
 * first deadline. Then tr__wheel_expire at that time returns NULL, but spreads the slot over lower
 * levels. This happens at most once for each level before the next node expires. Such a wake-up
 * needs more than WHEEL_LOOK_MAX nodes in one slot, so there are fewer such wake-ups than nodes.
 */
tr_time tr__wheel_next(struct wheel *wheel);

/** As tr__wheel_next, but inline, and without a call if the wheel has no armed nodes. */
static inline tr_time wheel_next(struct wheel *wheel)
{
    return wheel->count ? tr__wheel_next(wheel) : TR_NEVER;
}

static inline bool timer_is_armed(const struct timer_node *node)
{
    return node->next != NULL;
}

/**
 * Returns the deadline after a delay. A negative delay counts as 0. If the sum is too large,
 * returns TR_NEVER.
 */
static inline tr_time timer_deadline(tr_time now_ns, tr_time delay_ns)
{
    if (delay_ns <= 0)
        return now_ns;
    return now_ns > TR_NEVER - delay_ns ? TR_NEVER : now_ns + delay_ns;
}

#endif
