/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A deadline is a number of eleven digits of six bits each. These rules hold between any two calls.
 * Rules 1 to 4 are about nodes that have a slot:
 *
 * 1. If the deadline of a node is before the wheel's time, the wheel's time counts as its deadline.
 * 2. A node is in the level of the highest digit in which its deadline differs from the wheel's
 *    time, and in the slot of that digit. If the deadline and the wheel's time are equal, the node
 *    is in level 0. So nodes with equal deadlines are in the same slot, and the slot of a node need
 *    not be stored.
 * 3. The nodes of a slot are in the order in which they were armed. Spreading a slot over lower
 *    levels preserves this order, because by rule 2 the lower levels are empty then.
 * 4. All nodes of a level expire before all nodes of the next level. Within a level the slots are
 *    in the order of time, and in level 0 a slot is one nanosecond. So the first slot of the lowest
 *    level in use has the nodes that expire next.
 * 5. A node is young if it was armed since the last call of tr__wheel_expire or tr__wheel_next.
 *    Young nodes have no slot: they are in a separate ring, in the order of arming, and get their
 *    slots at the next of these calls. Most timers are cancelled before that, and cost no more than
 *    two links. The ring has a head that is no timer. So a young node is never alone in its ring,
 *    and a node can be cancelled without knowing its ring.
 *
 * The wheel's time can move to any time before the start of the first slot, and all nodes stay
 * where they are. To move the time further, the wheel takes out that slot and places its nodes
 * again at the new time.
 */
#include "timer/wheel.h"

#include "base/assert.h"

#include <assert.h>

static_assert(WHEEL_LEVELS * WHEEL_DIGIT_BITS >= 63, "every deadline has a level");
static_assert(sizeof(struct timer_node) == 24, "a node is small");
static_assert(sizeof(struct wheel) < 6 * 1024, "a wheel is small");

struct place {
    unsigned level;
    unsigned slot;
};

/* Returns the level and the slot to which a node with this deadline belongs. */
static inline struct place place_of(const struct wheel *wheel, tr_time deadline_ns)
{
    uint64_t time = (uint64_t)wheel->time_ns;
    uint64_t due = deadline_ns > wheel->time_ns ? (uint64_t)deadline_ns : time;
    unsigned highest = 63U - (unsigned)__builtin_clzll((due ^ time) | 1);
    unsigned level = highest / WHEEL_DIGIT_BITS;
    return (struct place){level, (due >> level * WHEEL_DIGIT_BITS) % WHEEL_SLOTS};
}

/* Returns the first slot in use. There must be one. */
static inline struct place place_first(const struct wheel *wheel)
{
    unsigned level = (unsigned)__builtin_ctz(wheel->levels);
    return (struct place){level, (unsigned)__builtin_ctzll(wheel->used[level])};
}

/* Returns the start of a slot: the earliest deadline that a node in it can have. */
static inline tr_time place_start(const struct wheel *wheel, struct place place)
{
    unsigned shift = place.level * WHEEL_DIGIT_BITS;
    uint64_t above = (uint64_t)wheel->time_ns >> shift & ~(uint64_t)(WHEEL_SLOTS - 1);
    return (tr_time)((above | place.slot) << shift);
}

static inline void place_set_empty(struct wheel *wheel, struct place place)
{
    wheel->slots[place.level][place.slot] = NULL;
    wheel->used[place.level] &= ~(UINT64_C(1) << place.slot);
    if (wheel->used[place.level] == 0)
        wheel->levels &= ~(UINT32_C(1) << place.level);
}

/* Adds a node at the end of the slot of its deadline. */
static inline void node_place(struct wheel *wheel, struct timer_node *node)
{
    struct place place = place_of(wheel, node->deadline_ns);
    struct timer_node **slot = &wheel->slots[place.level][place.slot];
    struct timer_node *first = *slot;
    if (first) {
        struct timer_node *last = first->previous;
        node->next = first;
        node->previous = last;
        last->next = node;
        first->previous = node;
        return;
    }
    node->next = node;
    node->previous = node;
    *slot = node;
    wheel->used[place.level] |= UINT64_C(1) << place.slot;
    wheel->levels |= UINT32_C(1) << place.level;
}

/* Gives all young nodes their slots. */
static void young_place(struct wheel *wheel)
{
    struct timer_node *node = wheel->young.next;
    wheel->young.next = &wheel->young;
    wheel->young.previous = &wheel->young;
    while (node != &wheel->young) {
        struct timer_node *next = node->next;
        node_place(wheel, node);
        node = next;
    }
}

static inline bool young_is_empty(const struct wheel *wheel)
{
    return wheel->young.next == &wheel->young;
}

/* Takes a node out of its slot. If the node is young, takes it out of the ring of young nodes. */
static inline void node_remove(struct wheel *wheel, struct timer_node *node, struct place place)
{
    struct timer_node **slot = &wheel->slots[place.level][place.slot];
    /* If this fails, the node belongs to another wheel or was overwritten. */
    TR_ASSERT(wheel->count > 0);
    wheel->count--;
    if (node->next == node) {
        TR_ASSERT(*slot == node);
        place_set_empty(wheel, place);
    } else {
        node->next->previous = node->previous;
        node->previous->next = node->next;
        if (*slot == node)
            *slot = node->next;
    }
    node->next = NULL;
    node->previous = NULL;
}

/*
 * Returns the earliest deadline in a slot that has nodes. If the slot has too many nodes to check,
 * returns the start of the slot.
 */
static tr_time place_bound(const struct wheel *wheel, struct place place)
{
    tr_time start = place_start(wheel, place);
    if (place.level == 0)
        return start;
    const struct timer_node *first = wheel->slots[place.level][place.slot];
    const struct timer_node *node = first;
    tr_time earliest = first->deadline_ns;
    for (unsigned looks = 1; node->next != first; looks++) {
        if (looks == WHEEL_LOOK_MAX)
            return start;
        node = node->next;
        if (node->deadline_ns < earliest)
            earliest = node->deadline_ns;
    }
    return earliest;
}

/*
 * Moves the wheel's time into its first slot, but not beyond the first deadline in this slot. Then
 * moves the nodes of the slot to lower levels.
 */
static void place_spread(struct wheel *wheel, struct place place, tr_time now_ns)
{
    TR_ASSERT(place.level > 0);
    tr_time bound = place_bound(wheel, place);
    struct timer_node *node = wheel->slots[place.level][place.slot];
    node->previous->next = NULL;
    place_set_empty(wheel, place);
    wheel->time_ns = bound < now_ns ? bound : now_ns;
    while (node) {
        struct timer_node *next = node->next;
        node_place(wheel, node);
        node = next;
    }
}

void tr__wheel_init(struct wheel *wheel, tr_time now_ns)
{
    *wheel = (struct wheel){.time_ns = now_ns > 0 ? now_ns : 0};
    wheel->young.next = &wheel->young;
    wheel->young.previous = &wheel->young;
}

void tr__wheel_arm(struct wheel *wheel, struct timer_node *node, tr_time deadline_ns)
{
    TR_ASSERT(!timer_is_armed(node));
    struct timer_node *last = wheel->young.previous;
    node->deadline_ns = deadline_ns;
    node->next = &wheel->young;
    node->previous = last;
    last->next = node;
    wheel->young.previous = node;
    wheel->count++;
}

bool tr__wheel_cancel(struct wheel *wheel, struct timer_node *node)
{
    if (!timer_is_armed(node))
        return false;
    node_remove(wheel, node, place_of(wheel, node->deadline_ns));
    return true;
}

struct timer_node *tr__wheel_expire(struct wheel *wheel, tr_time now_ns)
{
    if (!young_is_empty(wheel))
        young_place(wheel);
    while (wheel->levels != 0) {
        struct place place = place_first(wheel);
        tr_time start = place_start(wheel, place);
        if (start > now_ns)
            break;
        if (place.level == 0) {
            struct timer_node *node = wheel->slots[0][place.slot];
            wheel->time_ns = start;
            TR_ASSERT(node->deadline_ns <= now_ns);
            node_remove(wheel, node, place);
            return node;
        }
        place_spread(wheel, place, now_ns);
    }
    if (wheel->time_ns < now_ns)
        wheel->time_ns = now_ns;
    return NULL;
}

tr_time tr__wheel_next(struct wheel *wheel)
{
    if (!young_is_empty(wheel))
        young_place(wheel);
    return wheel->levels == 0 ? TR_NEVER : place_bound(wheel, place_first(wheel));
}
