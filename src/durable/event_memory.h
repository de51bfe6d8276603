/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Memory for apply functions. In a turn, apply functions use the memory of the actor, and their
 * tr_memory is the tr_self. A look at the past (durable/event_past.h) has no turn. There the
 * tr_memory is the address of a loose_memory with the lowest bit set.
 */
#ifndef DURABLE_EVENT_MEMORY_H
#define DURABLE_EVENT_MEMORY_H

#include <troupe/event.h>

#include "mem/source.h"

enum {
    LOOSE_ARRAYS = 16,                   /* how many lists can grow in place at the same time */
    LOOSE_MEMORY_MAX = 64 * 1024 * 1024, /* bytes that one look at the past may use */
};

struct loose_block;

/** The memory of one look at the past. It has blocks, which are freed together. */
struct loose_memory {
    const struct memory_source *source;
    struct loose_block *blocks;
    size_t bytes;
    struct {
        const void *items;
        size_t bytes;
    } arrays[LOOSE_ARRAYS];
    uint32_t next_array;
    /* A function that is called when there is no memory. It must not return. */
    void (*on_no_memory)(void *context);
    void *context;
};

/** Returns the tr_memory that apply functions get for a loose_memory. */
static inline tr_memory *loose_memory_as(struct loose_memory *memory)
{
    return (tr_memory *)((uintptr_t)memory | 1); // NOLINT(performance-no-int-to-ptr)
}

/** Frees all blocks of a loose_memory. */
void tr__loose_memory_free(struct loose_memory *memory);

#endif
