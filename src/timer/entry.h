/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A timer of an actor: forty bytes, so that many of them touch little memory.
 *
 * A timer that fires once and whose message is small and without pointers is light: it holds the
 * message itself, and nobody holds an envelope for it before it fires. All others have an envelope
 * from the start. Whose a timer is, and what else those share that are armed together, is its
 * context. Timers without a key come from timer/loose.h, where neighbours have one context; those
 * with one come from timer/keys.h, and each has its own.
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

/*
 * One word, which is always written as a whole: a processor is slow to read a word of which a byte
 * was just written.
 */
enum timer_state {
    TIMER_KIND = 3,        /* enum timer_kind */
    TIMER_QUEUED = 1 << 2, /* Its envelope is in a mailbox or in a turn. */
    TIMER_PARKED = 1 << 3, /* That turn waits. */
    TIMER_LIGHT = 1 << 4,
    TIMER_KEYED = 1 << 5,  /* Of timer/keys.c. */
    TIMER_LOOSE = 1 << 6,  /* Of timer/loose.c. */
    TIMER_MISSED = 1 << 7, /* It was due while that turn waited, of a fixed rate. */
    TIMER_OWN = TIMER_KIND | TIMER_QUEUED | TIMER_PARKED | TIMER_LIGHT |
                TIMER_MISSED, /* The caller's bits. */
    TIMER_GENERATION_SHIFT = 8,
};

enum {
    TIMER_LIGHT_MAX = 8, /* Bytes of the message of a light timer. */
    TIMER_GENERATION_BITS = 32 - TIMER_GENERATION_SHIFT,
};

struct envelope;

/** What a timer need not have for itself. */
struct timer_context {
    const tr_type *type; /* Of light timers; NULL for those that have an envelope. */
    uint64_t value; /* Of light timers the causal id, of those that tick on the period in ns. */
    uint32_t owner;
    uint32_t mark; /* Of timer/loose.c or timer/keys.c. */
};

struct timer_entry {
    struct timer_node node;
    uint32_t state; /* Bits of enum timer_state; above them the generation, of timer/loose.c. */
    union {
        uint32_t run; /* Of timer/loose.c: the number of its run. */
        struct {      /* Of timer/keys.c. */
            uint8_t block_class;
            uint8_t key_length;
        } keyed;
    };
    union {                                   /* The caller's; zero in a new entry. */
        unsigned char bytes[TIMER_LIGHT_MAX]; /* Of a light one: the message. */
        struct envelope *envelope;
    };
};

static_assert(sizeof(struct timer_entry) == 40, "a timer is small");

/** The entry of a node that is part of one. */
static inline struct timer_entry *timer_entry_of(struct timer_node *node)
{
    return LIST_OWNER(node, struct timer_entry, node);
}

static inline bool timer_has(const struct timer_entry *entry, uint32_t bits)
{
    return entry->state & bits;
}

static inline enum timer_kind timer_kind(const struct timer_entry *entry)
{
    return (enum timer_kind)(entry->state & TIMER_KIND);
}

/** Replaces the bits that are the caller's. */
static inline void timer_set_own(struct timer_entry *entry, uint32_t bits)
{
    entry->state = (entry->state & ~(uint32_t)TIMER_OWN) | bits;
}

#endif
