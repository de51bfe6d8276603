/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Parts of struct worker that other headers of this room describe, as plain records. The functions
 * for a part are in the header that its comment names.
 */
#ifndef ACTOR_CELL_WORKER_PARTS_H
#define ACTOR_CELL_WORKER_PARTS_H

#include <stddef.h>
#include <stdint.h>

#include "mem/source.h"
#include "os/atomic.h"

struct channel;
struct channel_hooks;
struct dispatch;
struct envelope;
struct net_worker;

/** A list of free slots; see actor/cell/slots.h. */
struct slot_list {
    /* the first slot of the list, 0 for none; sibling_next of a cell is the next slot */
    uint32_t first;
    uint32_t last;
    uint32_t count;
};

/** The free slots of one worker. */
struct slot_cache {
    struct slot_list free;
    uint32_t fresh_next; /* the first of the slots in this cache that were never used */
    uint32_t fresh_end;  /* the slot after the last slot of this cache that was never used */
    /*
     * The last actor that spawned with a slot of this cache, and the length of its path; see
     * actor/life/spawn.c.
     */
    uint64_t parent;
    size_t path_length;
};

/*
 * The map from slots to cells. A lookup of a ref reads it, so each worker has a copy.
 *
 * For each chunk the map has the address at which slot 0 would be if this chunk and all chunks
 * before it lay in a row. For a chunk that is not allocated yet, the map has an address that makes
 * the slots of this chunk lead to the first chunk. So every ref leads to some cell. A ref contains
 * the number of its slot, so only the cell of that slot can show the ref. The cell of slot 0 shows
 * a ref that no actor has.
 */
struct slots_map {
    atomptr *chunks; /* written under the lock, read by any thread */
    uint32_t mask;   /* ref & mask is the number of a slot */
};

/** The dispatches of a worker; see actor/cell/dispatch.h. */
struct dispatches {
    struct memory_source source;
    struct dispatch **buckets;
    size_t bucket_count;
    size_t count;
    struct dispatch *last; /* the dispatch that was found last; NULL: none was found yet */
    uint32_t worker;
};

enum { WATCHED_FEW = 8 };

/**
 * The watched actors of a worker: a hash table of rings, see actor/cell/watch_table.h. A ring has
 * the watches of one target, and is known by its first envelope. Adding a watch needs no memory.
 */
struct watched {
    struct envelope *few[WATCHED_FEW]; /* the buckets, unless more are needed */
    struct envelope **buckets;         /* NULL: `few` is used */
    uint32_t mask;                     /* of `buckets` */
    uint32_t count;                    /* number of rings */
};

/** The channels of a worker. All zero until one of its actors uses a channel. */
struct worker_channels {
    const struct channel_hooks *hooks;
    struct net_worker *net;
    struct channel *newborn; /* the channel for which an actor is being spawned, or NULL */
};

#endif
