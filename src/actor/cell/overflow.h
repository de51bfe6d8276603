/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Overflow policies: what happens to a message that finds no capacity in the mailbox of its receiver.
 *
 * A policy is a row of OVERFLOW_POLICIES, in the order of tr_overflow. Senders test the properties
 * of a policy and never its name, so a new policy needs no change in them. What a policy does to
 * the mailbox itself is in actor/mail/capacity.c.
 */
#ifndef ACTOR_CELL_OVERFLOW_H
#define ACTOR_CELL_OVERFLOW_H

#include <assert.h>
#include <troupe/behavior.h>

#include "actor/cell/cell.h"
#include "queue/capacity.h"

enum overflow_property {
    OVERFLOW_WAITS = 1 << 0, /* the sender waits until there is capacity */
    OVERFLOW_SWALLOWS =
        1 << 1, /* the message counts as accepted and is a dead letter; the sender gets TR_OK */
    /* the oldest messages become dead letters instead of the new message */
    OVERFLOW_DISPLACES = 1 << 2,
};

/* ROW(policy, properties, text that follows "new messages") */
#define OVERFLOW_POLICIES(ROW)                                                                     \
    ROW(TR_OVERFLOW_FAIL, 0, "are refused")                                                        \
    ROW(TR_DROP_NEWEST, OVERFLOW_SWALLOWS, "are dropped")                                          \
    ROW(TR_DROP_OLDEST, OVERFLOW_DISPLACES, "replace the oldest")                                  \
    ROW(TR_PARK, OVERFLOW_WAITS, "wait until there is capacity")

#define OVERFLOW_ROW_COUNT(policy, properties, text) +1
enum { OVERFLOW_COUNT = 0 OVERFLOW_POLICIES(OVERFLOW_ROW_COUNT) };
#undef OVERFLOW_ROW_COUNT
static_assert((int)OVERFLOW_COUNT <= (int)CAPACITY_POLICIES,
              "a policy fits into the word of a capacity");

/**
 * Whether a policy has a row. The switch has no default, so the compiler reports a value of
 * tr_overflow that has no row.
 */
static inline bool overflow_is_known(tr_overflow policy)
{
#define OVERFLOW_ROW_CASE(policy, properties, text) case policy:
    switch (policy) {
        OVERFLOW_POLICIES(OVERFLOW_ROW_CASE)
        return true;
    }
#undef OVERFLOW_ROW_CASE
    return false;
}

/** Whether a policy has a property. */
static inline bool overflow_has(uint32_t policy, enum overflow_property property)
{
#define OVERFLOW_ROW_PROPERTIES(policy, properties, text) [policy] = (properties),
    static const uint8_t properties[CAPACITY_POLICIES] = {
        OVERFLOW_POLICIES(OVERFLOW_ROW_PROPERTIES)};
#undef OVERFLOW_ROW_PROPERTIES
    return properties[policy] & property;
}

/** Whether the present policy of a mailbox has a property. Any thread. */
static inline bool mailbox_overflow_has(const struct cell *cell, enum overflow_property property)
{
    return overflow_has(capacity_policy(capacity_load(&cell->door.capacity)), property);
}

/** Returns a text that says what happens to new messages, such as "are refused". */
static inline const char *overflow_text(uint32_t policy)
{
#define OVERFLOW_ROW_TEXT(policy, properties, text) [policy] = (text),
    static const char *const texts[CAPACITY_POLICIES] = {OVERFLOW_POLICIES(OVERFLOW_ROW_TEXT)};
#undef OVERFLOW_ROW_TEXT
    return texts[policy];
}

#endif
