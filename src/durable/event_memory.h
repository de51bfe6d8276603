/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Memory of apply functions. In a turn it is that of the actor: a tr_memory is its tr_self. A look at the past (durable/event_past.h)
 * has no turn, so its tr_memory is a loose_memory: the address has its lowest bit set.
 */
#ifndef DURABLE_EVENT_MEMORY_H
#define DURABLE_EVENT_MEMORY_H

#include <troupe/event.h>

#include "mem/source.h"

enum {
    LOOSE_ARRAYS = 16,                   /* lists that grow in place */
    LOOSE_MEMORY_MAX = 64 * 1024 * 1024, /* bytes of one look at the past */
};

struct loose_block;

/** Blocks that are freed together. */
struct loose_memory {
    const struct memory_source *source;
    struct loose_block *blocks;
    size_t bytes;
    struct {
        const void *items;
        size_t bytes;
    } arrays[LOOSE_ARRAYS];
    uint32_t next_array;
    /* Called when there is no memory; must not return. */
    void (*on_no_memory)(void *context);
    void *context;
};

/** Returns it as what apply functions get. */
static inline tr_memory *loose_memory_as(struct loose_memory *memory)
{
    return (tr_memory *)((uintptr_t)memory | 1); // NOLINT(performance-no-int-to-ptr)
}

/** Frees all blocks. */
void tr__loose_memory_free(struct loose_memory *memory);

#endif
