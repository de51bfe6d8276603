/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The room of a mailbox: how many messages, and how much of their memory, it may still take.
 *
 * Room is taken before a message is published, so the bounds hold for every sender. A sender on
 * another thread takes it from one atomic word. The owner keeps a little stock aside, which its own
 * senders use without an atomic operation, and which comes back as messages leave (actor/mail/mail.h).
 * All of it together, the word, the stock and what the waiting messages hold, is the bound.
 *
 * The word also has the tenant's generation, so that a sender who is late takes nothing from the
 * next tenant of the slot: what it took from the last one is gone with that one. And it says what
 * happens to messages for which there is no room, since that is decided on the sender's thread.
 *
 *     generation 14 | policy 2 | lines 24 | messages 24
 *
 * Both numbers may be below zero for a while: by an overdraft (room_take), by messages that come
 * back from a stash, and when a bound becomes smaller.
 */
#ifndef QUEUE_ROOM_H
#define QUEUE_ROOM_H

#include "os/atomic.h"

/** The largest bound that fits, in messages and in lines. */
#define ROOM_LARGEST (4 * 1024 * 1024)

struct room {
    atom64 word;
};

enum room_result {
    ROOM_TAKEN,
    ROOM_FULL,   /* there is not enough */
    ROOM_STRANGE /* another tenant lives there */
};

enum { ROOM_POLICY_SHIFT = 48, ROOM_GENERATION_SHIFT = 50, ROOM_LINES_SHIFT = 24 };

#define ROOM_BIAS (1 << 23)
#define ROOM_FIELD ((1 << 24) - 1)

ATOM_INLINE int32_t room_messages(uint64_t word)
{
    return (int32_t)(word & ROOM_FIELD) - ROOM_BIAS;
}

ATOM_INLINE int32_t room_lines(uint64_t word)
{
    return (int32_t)(word >> ROOM_LINES_SHIFT & ROOM_FIELD) - ROOM_BIAS;
}

ATOM_INLINE uint32_t room_policy(uint64_t word)
{
    return word >> ROOM_POLICY_SHIFT & 3;
}

ATOM_INLINE bool room_is_of(uint64_t word, uint32_t generation)
{
    return word >> ROOM_GENERATION_SHIFT == (generation & 0x3fff);
}

/* What is added to the word; the fields never run over, so neither borrows from the other. */
ATOM_INLINE uint64_t room_amount(int32_t messages, int32_t lines)
{
    return ((uint64_t)(int64_t)lines << ROOM_LINES_SHIFT) + (uint64_t)(int64_t)messages;
}

ATOM_INLINE uint64_t room_load(const struct room *room)
{
    return atom64_load(&room->word, ATOM_RELAXED);
}

/** For a new tenant, before its door opens. */
ATOM_INLINE void room_open(struct room *room, uint32_t generation, uint32_t policy,
                           int32_t messages, int32_t lines)
{
    uint64_t word = (uint64_t)(generation & 0x3fff) << ROOM_GENERATION_SHIFT |
                    (uint64_t)policy << ROOM_POLICY_SHIFT;
    atom64_store(&room->word,
                 word + room_amount(ROOM_BIAS + messages, ROOM_BIAS + lines),
                 ATOM_RELAXED); /* published by door_open */
}

/**
 * Takes room for one message of the tenant of this generation. It may go below zero by the
 * overdrafts. Any thread.
 */
ATOM_INLINE enum room_result room_take(struct room *room, uint32_t generation, int32_t lines,
                                       int32_t overdraft, int32_t overdraft_lines)
{
    uint64_t word = room_load(room);
    do {
        if (!room_is_of(word, generation))
            return ROOM_STRANGE;
        if (room_messages(word) + overdraft < 1 || room_lines(word) + overdraft_lines < lines)
            return ROOM_FULL;
    } while (!atom64_compare_exchange(
        &room->word, &word, word - room_amount(1, lines), ATOM_RELAXED, ATOM_RELAXED));
    return ROOM_TAKEN;
}

/** Takes up to this much, as much as there is. Owner only. */
ATOM_INLINE void room_take_some(struct room *room, int32_t *messages, int32_t *lines)
{
    int32_t some_messages;
    int32_t some_lines;
    uint64_t word = room_load(room);
    do {
        some_messages = room_messages(word) < *messages ? room_messages(word) : *messages;
        some_lines = room_lines(word) < *lines ? room_lines(word) : *lines;
        some_messages = some_messages < 0 ? 0 : some_messages;
        some_lines = some_lines < 0 ? 0 : some_lines;
    } while (!atom64_compare_exchange(&room->word,
                                      &word,
                                      word - room_amount(some_messages, some_lines),
                                      ATOM_RELAXED,
                                      ATOM_RELAXED));
    *messages = some_messages;
    *lines = some_lines;
}

/** Gives room back, or takes it without asking when negative. Owner only. */
ATOM_INLINE void room_give(struct room *room, int32_t messages, int32_t lines)
{
    atom64_fetch_add(&room->word, room_amount(messages, lines), ATOM_RELAXED);
}

/** Changes the policy. Owner only. */
ATOM_INLINE void room_set_policy(struct room *room, uint32_t policy)
{
    uint64_t old = room_policy(room_load(room));
    atom64_fetch_add(
        &room->word, (policy - old) << ROOM_POLICY_SHIFT, ATOM_RELAXED); /* only the owner does */
}

#endif
