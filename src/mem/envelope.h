/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Envelopes, one cache line each, and the pools from which they come.
 *
 * A message of up to 24 bytes without pointers travels inside its envelope. Any other message is in
 * a separate block. Requests and replies use the last 8 of the 24 bytes for the number and the
 * deadline of the ask, so that 16 bytes are left for the message.
 *
 * Every worker has a pool. One more pool, under a lock, serves threads that are no workers. The
 * owner of a pool fills the envelopes of this pool, which is their home. Any worker may empty them.
 * A worker collects the empty envelopes of each other home, and sends them home in batches, with
 * their blocks. When it sends a message to an actor of that home, the message travels in one of
 * these envelopes (envelope_swap). So the lists of a pool need no atomics, and memory does not move
 * from workers that send to workers that receive.
 */
#ifndef MEM_ENVELOPE_H
#define MEM_ENVELOPE_H

#include <assert.h>
#include <stddef.h>
#include <string.h>
#include <troupe/message.h>

#include "mem/block.h"
#include "mem/poison.h"
#include "mem/source.h"
#include "queue/door.h"

enum {
    ENVELOPE_INLINE = TR_INLINE_MAX,
    ENVELOPE_INLINE_ASK = 16,
    ENVELOPE_NO_BLOCK = 0xff, /* for block_class: the message is inside the envelope */
    /* for block_class: several envelopes share the message; see mem/shared.h */
    ENVELOPE_SHARED = 0xfe,
    /* for block_class: the message belongs to its sender, and the sender frees it */
    ENVELOPE_LENT = 0xfd,
    ENVELOPE_RETURN_BATCH = 64, /* how many envelopes of one home are sent back together */
    /*
     * A pool has at most this many slabs. The later slabs have 262,144 envelopes each, so this is no limit
     * in practice.
     */
    ENVELOPE_SLABS_MAX = 1 << 16
};

struct envelope {
    struct door_mail mail; /* link in an inbox, a mailbox or a free list */
    const tr_type *type;
    uint64_t sender; /* bits of a ref, 0 for no actor */
    uint64_t causal;
    union {
        struct {
            uint32_t generation; /* generation of the receiver */
            uint16_t home;       /* index of the pool that owns the envelope */
            uint8_t kind;        /* enum envelope_kind of actor/mail/kind.h; pools do not use it */
            uint8_t
                block_class; /* class of mem/block.h, ENVELOPE_NO_BLOCK, ENVELOPE_SHARED or ENVELOPE_LENT */
        };
        /* the four members above as one number, so that one store writes them all */
        uint64_t stamp;
    };
    union {
        unsigned char bytes[ENVELOPE_INLINE];
        struct {
            void *data;
            uint32_t size;
        } block;
        struct {
            unsigned char bytes[ENVELOPE_INLINE_ASK];
            uint32_t id;
            uint32_t deadline_ms;
        } ask;
    } payload;
};

static_assert(sizeof(struct envelope) == 64, "an envelope is one cache line");

/** A batch of envelopes of another pool, which are on their way home. */
struct envelope_return {
    struct envelope *newest;
    struct envelope *oldest;
    uint32_t count;
};

struct envelope_slab;

struct envelope_pool {
    /* Only the owner of the pool writes the members up to `pools`. */
    struct envelope *free;
    /*
     * The stamp for mail of the usual kind in an envelope of this pool that contains its message.
     * The generation in this stamp is 0: envelope_usual_stamp adds the receiver's.
     */
    uint64_t usual_stamp;
    uint16_t home;
    uint16_t home_count; /* number of pools of the system */
    uint32_t slab_count;
    size_t made; /* how many envelopes all slabs have together */
    struct envelope_slab **slabs;
    struct envelope *fresh; /* the first envelope of the newest slab that was never used */
    struct envelope *fresh_end;
    /*
     * Up to this address the newest slab needs no preparation: the kernel has backed it with
     * memory, or does so at the first touch.
     */
    char *ready_end;
    struct memory_source source;
    struct block_pool blocks;
    struct envelope_return *returns; /* one batch for each home */
    bool has_returns;                /* a batch that is not full waits in `returns` */
    struct envelope_pool **pools;    /* all pools of the system, by home */
    /* Envelopes that have come home. Other threads write this. */
    _Alignas(64) struct stack returned;
};

/**
 * Makes a pool without envelopes. `pools` is the table of all pools of the system, which is
 * borrowed. `usual_kind` is the kind of mail whose stamps envelope_usual_stamp returns. Returns
 * TR_OK or TR_NO_MEMORY.
 */
tr_status tr__envelope_pool_init(struct envelope_pool *pool, const struct memory_source *source,
                                 uint16_t home, uint16_t home_count, struct envelope_pool **pools,
                                 uint8_t usual_kind);
void tr__envelope_pool_deinit(struct envelope_pool *pool);
/**
 * Refills the free list, which must be empty, and returns an envelope. Takes envelopes that have
 * come home or, if there are none, new ones. Returns NULL when out of memory.
 */
struct envelope *tr__envelope_refill(struct envelope_pool *pool);
/**
 * Adds an envelope of another home to the batch for that home. If the batch is full then, sends it.
 */
void tr__envelope_send_home(struct envelope_pool *pool, struct envelope *envelope);
/** Sends home the batches that are not full. To be called before the owner sleeps. */
void tr__envelope_flush(struct envelope_pool *pool);
/**
 * Takes in envelopes that have come home. Then returns slabs in which all envelopes are free to the
 * source. To find such slabs, walks over all free envelopes. Returns false if this walk has found
 * no such slab. To be called before the owner sleeps.
 */
bool tr__envelope_pool_trim(struct envelope_pool *pool);
/**
 * Drops the message of an envelope that has a block: frees the buffers in the message, and the
 * block.
 */
void tr__envelope_drop_block(struct envelope_pool *pool, struct envelope *envelope);
/** Returns how many bytes the pool holds. */
size_t tr__envelope_pool_bytes(const struct envelope_pool *pool);

/** Takes an envelope from a free list that is not empty. Its contents are undefined, except for `home`. Owner only. */
ATOM_INLINE struct envelope *envelope_take_free(struct envelope_pool *pool)
{
    struct envelope *envelope = pool->free;
    pool->free = (struct envelope *)envelope->mail.next;
    poison_clear(&envelope->payload, sizeof envelope->payload);
    return envelope;
}

/** Takes an envelope; NULL if out of memory. Its contents are undefined, except for `home`. Owner only. */
ATOM_INLINE struct envelope *envelope_take(struct envelope_pool *pool)
{
    if (__builtin_expect(!pool->free, 0))
        return tr__envelope_refill(pool);
    return envelope_take_free(pool);
}

/** Gives back an envelope that has no block, or whose block is gone. Owner of `pool` only. */
ATOM_INLINE void envelope_give_empty(struct envelope_pool *pool, struct envelope *envelope)
{
    if (__builtin_expect(envelope->home != pool->home, 0)) {
        tr__envelope_send_home(pool, envelope);
        return;
    }
    envelope->mail.next = (struct door_mail *)pool->free;
    pool->free = envelope;
    poison_set(&envelope->payload, sizeof envelope->payload);
}

/** Gives back an envelope and its message. Owner of `pool` only. */
ATOM_INLINE void envelope_give(struct envelope_pool *pool, struct envelope *envelope)
{
    if (__builtin_expect(envelope->block_class != ENVELOPE_NO_BLOCK, 0))
        tr__envelope_drop_block(pool, envelope);
    envelope_give_empty(pool, envelope);
}

/**
 * Copies an envelope of this pool into an envelope of the pool `to`, because it is about to be sent
 * to the owner of `to`. Returns the copy. Returns `envelope` itself if no envelope of `to` is
 * waiting to go home, or if the message is a block of this pool.
 *
 * With the copy, a worker that answers writes to a cache line that its CPU has already, and the
 * envelope of `to` goes home with the answer. If the copy was sent, the caller gives the original
 * back. If the copy was refused, the caller gives the copy back. Owner only.
 */
ATOM_INLINE struct envelope *envelope_swap(struct envelope_pool *pool, struct envelope *envelope,
                                           uint32_t to)
{
    struct envelope_return *batch = &pool->returns[to];
    struct envelope *other = batch->newest;
    if (!other || other->block_class != ENVELOPE_NO_BLOCK ||
        envelope->block_class != ENVELOPE_NO_BLOCK || envelope->home != pool->home)
        return envelope;
    batch->newest = (struct envelope *)other->mail.next;
    batch->count--;
    *other = *envelope;
    other->home = (uint16_t)to;
    return other;
}

/** Returns the message of an envelope. */
ATOM_INLINE void *envelope_data(struct envelope *envelope)
{
    return envelope->block_class == ENVELOPE_NO_BLOCK ? envelope->payload.bytes
                                                      : envelope->payload.block.data;
}

/**
 * Returns the stamp of mail of the usual kind to this ref, in an envelope of this pool that
 * contains its message.
 */
ATOM_INLINE uint64_t envelope_usual_stamp(const struct envelope_pool *pool, uint64_t to)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return pool->usual_stamp | to >> 32;
#else
    return pool->usual_stamp | (to & ~UINT64_C(0xffffffff));
#endif
}

/**
 * Puts a copy of a message into an envelope. Returns TR_OK. On TR_NO_MEMORY or TR_TOO_LARGE the
 * envelope is unchanged.
 */
tr_status tr__envelope_fill_slow(struct envelope_pool *pool, struct envelope *envelope,
                                 const tr_type *type, const void *message);

/**
 * Copies a message of up to ENVELOPE_INLINE bytes into an envelope. Does so without a call, by a
 * few moves, which may overlap.
 */
ATOM_INLINE void envelope_copy(struct envelope *envelope, const void *message, size_t size)
{
    unsigned char *to = envelope->payload.bytes;
    const unsigned char *from = message;
    if (__builtin_expect(size >= 8, 1)) {
        memcpy(to, from, 8);
        if (size == 8)
            return;
        if (size > 16)
            memcpy(to + 8, from + 8, 8);
        memcpy(to + size - 8, from + size - 8, 8);
    } else if (size >= 4) {
        memcpy(to, from, 4);
        memcpy(to + size - 4, from + size - 4, 4);
    } else if (size) {
        to[0] = from[0];
        to[size / 2] = from[size / 2];
        to[size - 1] = from[size - 1];
    }
}

ATOM_INLINE tr_status envelope_fill(struct envelope_pool *pool, struct envelope *envelope,
                                    const tr_type *type, const void *message, size_t capacity)
{
    if (__builtin_expect(!type->is_flat || type->size > capacity, 0))
        return tr__envelope_fill_slow(pool, envelope, type, message);
    envelope->type = type;
    envelope->block_class = ENVELOPE_NO_BLOCK;
    envelope_copy(envelope, message, type->size);
    return TR_OK;
}

#endif
