/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A timer of an actor: one cache line, and behind it the key of one that has a key.
 *
 * A timer that fires once and whose message is small and without pointers is light: it holds the
 * message itself, and nobody holds an envelope for it before it fires. All others have an envelope
 * from the start. Timers without a key come from timer/loose.h, those with one from timer/keys.h.
 */
#ifndef TIMER_ENTRY_H
#define TIMER_ENTRY_H

#include "base/list.h"
#include "timer/wheel.h"

#include <assert.h>
#include <troupe/message.h>

enum timer_kind {
    TIMER_ONCE,
    TIMER_FIXED_RATE,  /* The next deadline is the last one plus the period. */
    TIMER_FIXED_DELAY, /* The next deadline is the end of its turn plus the period. */
};

enum {
    TIMER_LIGHT_MAX = 8, /* Bytes of the message of a light timer. */
    TIMER_GENERATION_BITS = 24,
};

struct envelope;

struct timer_entry {
    struct timer_node node;
    /* The caller's, as is all that has no comment of another owner; zero in a new entry. */
    uint32_t owner;
    uint32_t kind : 2;      /* enum timer_kind */
    uint32_t is_queued : 1; /* Its envelope is in a mailbox or in a turn. */
    uint32_t is_parked : 1; /* That turn waits. */
    uint32_t is_light : 1;
    uint32_t is_keyed : 1;                       /* Set by timer/keys.c. */
    uint32_t generation : TIMER_GENERATION_BITS; /* Of timer/loose.c. */
    union {
        struct { /* Of timer/loose.c: numbers of entries, 0 for none. */
            uint32_t next;
            uint32_t previous;
        } loose;
        struct {           /* Of timer/keys.c. */
            uint32_t hash; /* Set when it is in a table. */
            uint8_t block_class;
            uint8_t key_length;
        } keyed;
    };
    union {
        struct {
            const tr_type *type;
            uint64_t causal;
            unsigned char bytes[TIMER_LIGHT_MAX];
        } light;
        struct {
            struct envelope *envelope;
            tr_time period_ns;
        } heavy;
    };
    char key[]; /* Of timer/keys.c: ends with NUL, which is not counted. */
};

static_assert(offsetof(struct timer_entry, key) == 64, "a timer is one cache line");

/** The entry of a node that is part of one. */
static inline struct timer_entry *timer_entry_of(struct timer_node *node)
{
    return LIST_OWNER(node, struct timer_entry, node);
}

#endif
