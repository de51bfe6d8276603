/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A timer of an actor: forty bytes, so that many of them touch little memory.
 *
 * A timer that fires once, and whose message is small and without pointers, is light: it contains
 * the message, and needs no envelope until it fires. All other timers have an envelope from the
 * start. The context of a timer has the owner of the timer, and everything else that timers which
 * are armed together can share. A timer without a key comes from timer/loose.h, where neighbours
 * share a context. A timer with a key comes from timer/keys.h, and has a context of its own.
 */
#ifndef TIMER_ENTRY_H
#define TIMER_ENTRY_H

#include "base/list.h"
#include "timer/wheel.h"

#include <assert.h>
#include <troupe/message.h>

enum timer_kind {
    TIMER_ONCE,
    TIMER_FIXED_RATE, /* the next deadline is the last deadline plus the period */
    /* the next deadline is the end of the turn that handles the timer's message, plus the period */
    TIMER_FIXED_DELAY,
};

/*
 * Bits of the state of a timer. They are in one word, which is always written as a whole. A
 * processor is slow to read a word if a single byte of it was just written.
 */
enum timer_state {
    TIMER_KIND = 3,        /* enum timer_kind */
    TIMER_QUEUED = 1 << 2, /* the envelope of the timer is in a mailbox, or a turn handles it */
    TIMER_PARKED = 1 << 3, /* the turn that handles the timer's envelope waits */
    TIMER_LIGHT = 1 << 4,
    TIMER_KEYED = 1 << 5, /* the timer belongs to timer/keys.c */
    TIMER_LOOSE = 1 << 6, /* the timer belongs to timer/loose.c */
    /* A timer with a fixed rate was due again while the turn that handles its envelope waited. */
    TIMER_MISSED = 1 << 7,
    TIMER_OWN = TIMER_KIND | TIMER_QUEUED | TIMER_PARKED | TIMER_LIGHT |
                TIMER_MISSED, /* the bits that the caller of timer_set_own may set */
    TIMER_GENERATION_SHIFT = 8,
};

enum {
    TIMER_LIGHT_MAX = 8, /* the largest message of a light timer, in bytes */
    TIMER_GENERATION_BITS = 32 - TIMER_GENERATION_SHIFT,
};

struct envelope;

/** The part of a timer that several timers can share. */
struct timer_context {
    /* for a light timer: the type of its message; NULL for a timer that has an envelope */
    const tr_type *type;
    uint64_t value; /* of a light timer: the causal id; of a repeating timer: the period in ns */
    uint32_t owner;
    uint32_t mark; /* for timer/loose.c or timer/keys.c */
};

struct timer_entry {
    struct timer_node node;
    /*
     * Bits of enum timer_state. The bits above them are the generation, which timer/loose.c uses.
     */
    uint32_t state;
    union {
        uint32_t run; /* for timer/loose.c: the number of the timer's run */
        struct {      /* for timer/keys.c */
            uint8_t block_class;
            uint8_t key_length;
        } keyed;
    };
    union {                                   /* for the caller; zero in a new entry */
        unsigned char bytes[TIMER_LIGHT_MAX]; /* the message of a light timer */
        struct envelope *envelope;
    };
};

static_assert(sizeof(struct timer_entry) == 40, "a timer is small");

/** Returns the entry that contains a node. */
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

/** Replaces the bits TIMER_OWN of the state, which belong to the caller. */
static inline void timer_set_own(struct timer_entry *entry, uint32_t bits)
{
    entry->state = (entry->state & ~(uint32_t)TIMER_OWN) | bits;
}

#endif
