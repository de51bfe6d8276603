/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The capacity of a mailbox: how many messages the mailbox can still take, and how much memory
 * these messages may need.
 *
 * A sender takes capacity before it publishes a message, so the bounds hold for every sender. A
 * sender on another thread takes the capacity from one atomic word. The owner of the mailbox keeps
 * a small stock of capacity. Senders on the owner's thread take from the stock without an atomic
 * operation, and messages that leave the mailbox refill the stock (actor/mail/capacity.h). The word,
 * the stock, and the capacity of the waiting messages add up to the bound.
 *
 * The word also contains the tenant's generation. So a late sender takes nothing from the next
 * tenant of the slot. Capacity that it took from the previous tenant is gone with that tenant. The
 * word also contains the policy for messages that find no capacity, because the sender's thread
 * applies this policy.
 *
 *     generation 13 | policy 3 | lines 24 | messages 24
 *
 * The numbers are sizes in bits. A line is 64 bytes of memory. The counts of lines and of messages
 * may be negative for a while: after an overdraft (capacity_take), after messages have returned
 * from a stash, and after a bound has become smaller.
 */
#ifndef QUEUE_CAPACITY_H
#define QUEUE_CAPACITY_H

#include "os/atomic.h"

/** The largest bound that fits into the word, for messages and for lines. */
#define CAPACITY_LARGEST (4 * 1024 * 1024)

struct capacity {
    atom64 word;
};

enum capacity_result {
    CAPACITY_TAKEN,
    CAPACITY_FULL,   /* not enough capacity is left */
    CAPACITY_STRANGE /* the slot has another tenant */
};

enum {
    CAPACITY_POLICY_SHIFT = 48,
    CAPACITY_GENERATION_SHIFT = 51,
    CAPACITY_LINES_SHIFT = 24,
    CAPACITY_POLICIES = 8, /* how many policies fit into the word */
    CAPACITY_GENERATION = (1 << 13) - 1
};

#define CAPACITY_BIAS (1 << 23)
#define CAPACITY_FIELD ((1 << 24) - 1)

ATOM_INLINE int32_t capacity_messages(uint64_t word)
{
    return (int32_t)(word & CAPACITY_FIELD) - CAPACITY_BIAS;
}

ATOM_INLINE int32_t capacity_lines(uint64_t word)
{
    return (int32_t)(word >> CAPACITY_LINES_SHIFT & CAPACITY_FIELD) - CAPACITY_BIAS;
}

ATOM_INLINE uint32_t capacity_policy(uint64_t word)
{
    return word >> CAPACITY_POLICY_SHIFT & (CAPACITY_POLICIES - 1);
}

ATOM_INLINE bool capacity_is_of(uint64_t word, uint32_t generation)
{
    return word >> CAPACITY_GENERATION_SHIFT == (generation & CAPACITY_GENERATION);
}

/*
 * Returns the number to add to the word for this amount of capacity. Neither field of the word
 * overflows, so neither carries into the other.
 */
ATOM_INLINE uint64_t capacity_amount(int32_t messages, int32_t lines)
{
    return ((uint64_t)(int64_t)lines << CAPACITY_LINES_SHIFT) + (uint64_t)(int64_t)messages;
}

ATOM_INLINE uint64_t capacity_load(const struct capacity *capacity)
{
    return atom64_load(&capacity->word, ATOM_RELAXED);
}

/** Sets up the capacity of a new tenant, before its door opens. */
ATOM_INLINE void capacity_open(struct capacity *capacity, uint32_t generation, uint32_t policy,
                               int32_t messages, int32_t lines)
{
    uint64_t word = (uint64_t)(generation & CAPACITY_GENERATION) << CAPACITY_GENERATION_SHIFT |
                    (uint64_t)policy << CAPACITY_POLICY_SHIFT;
    atom64_store(&capacity->word,
                 word + capacity_amount(CAPACITY_BIAS + messages, CAPACITY_BIAS + lines),
                 ATOM_RELAXED); /* door_open publishes this */
}

/**
 * Takes capacity for one message to the tenant with this generation. The number of messages may
 * become negative, down to -overdraft, and the number of lines down to -overdraft_lines. Any
 * thread.
 */
ATOM_INLINE enum capacity_result capacity_take(struct capacity *capacity, uint32_t generation,
                                               int32_t lines, int32_t overdraft,
                                               int32_t overdraft_lines)
{
    uint64_t word = capacity_load(capacity);
    do {
        if (!capacity_is_of(word, generation))
            return CAPACITY_STRANGE;
        if (capacity_messages(word) + overdraft < 1 ||
            capacity_lines(word) + overdraft_lines < lines)
            return CAPACITY_FULL;
    } while (!atom64_compare_exchange(
        &capacity->word, &word, word - capacity_amount(1, lines), ATOM_RELAXED, ATOM_RELAXED));
    return CAPACITY_TAKEN;
}

/**
 * Takes up to this much capacity: not more than is left. Writes to *messages and *lines how much it
 * has taken. Owner only.
 */
ATOM_INLINE void capacity_take_some(struct capacity *capacity, int32_t *messages, int32_t *lines)
{
    int32_t some_messages;
    int32_t some_lines;
    uint64_t word = capacity_load(capacity);
    do {
        some_messages = capacity_messages(word) < *messages ? capacity_messages(word) : *messages;
        some_lines = capacity_lines(word) < *lines ? capacity_lines(word) : *lines;
        some_messages = some_messages < 0 ? 0 : some_messages;
        some_lines = some_lines < 0 ? 0 : some_lines;
    } while (!atom64_compare_exchange(&capacity->word,
                                      &word,
                                      word - capacity_amount(some_messages, some_lines),
                                      ATOM_RELAXED,
                                      ATOM_RELAXED));
    *messages = some_messages;
    *lines = some_lines;
}

/** Gives capacity back. A negative amount takes capacity, and is not checked. Owner only. */
ATOM_INLINE void capacity_give(struct capacity *capacity, int32_t messages, int32_t lines)
{
    atom64_fetch_add(&capacity->word, capacity_amount(messages, lines), ATOM_RELAXED);
}

/** Changes the policy. Owner only. */
ATOM_INLINE void capacity_set_policy(struct capacity *capacity, uint32_t policy)
{
    uint64_t old = capacity_policy(capacity_load(capacity));
    atom64_fetch_add(&capacity->word,
                     (policy - old) << CAPACITY_POLICY_SHIFT,
                     ATOM_RELAXED); /* only the owner changes the policy */
}

#endif
