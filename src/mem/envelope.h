/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Envelopes, one cache line each, and the pools they come from.
 *
 * A message of up to 24 bytes without pointers travels inside its envelope. A larger one is in a
 * separate block. Requests and replies use the last 8 of those bytes for the ask's number and
 * deadline, which leaves 16.
 *
 * Every worker has a pool. One more pool, under a lock, serves threads that are no workers. An
 * envelope is filled by the owner of its home pool and may be emptied on any worker. That worker
 * collects envelopes of other homes, and sends them home in batches, with their blocks. A message
 * that it sends to an actor of their home travels in one of them (envelope_swap). So a pool's lists
 * need no atomics, and memory does not drift from the worker that sends to the worker that receives.
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
    ENVELOPE_NO_BLOCK = 0xff, /* block_class: the message is inside the envelope */
    /* block_class: several envelopes share the message, see mem/shared.h */
    ENVELOPE_SHARED = 0xfe,
    /* block_class: the message belongs to its sender, which empties it */
    ENVELOPE_LENT = 0xfd,
    ENVELOPE_RETURN_BATCH = 64, /* envelopes of one home that are sent back together */
    /* slabs of one pool; the later ones have 262,144 envelopes, so this is no limit in practice */
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
            uint8_t kind;        /* kind of actor/mail/kind.h; pools ignore it */
            uint8_t
                block_class; /* class of mem/block.h, ENVELOPE_NO_BLOCK, ENVELOPE_SHARED or ENVELOPE_LENT */
        };
        uint64_t stamp; /* the four members above as one number, for a single store */
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
    /* The members up to `pools` are written by the pool's owner. */
    struct envelope *free;
    /* stamp of mail of the usual kind, with the message inside an envelope of this pool, without the generation */
    uint64_t usual_stamp;
    uint16_t home;
    uint16_t home_count; /* number of pools of the system */
    uint32_t slab_count;
    size_t made; /* envelopes in all slabs */
    struct envelope_slab **slabs;
    struct envelope *fresh; /* in the newest slab: envelopes from here on were never used */
    struct envelope *fresh_end;
    /*
     * up to here the kernel has backed the newest slab with memory, or does so at the first touch
     */
    char *ready_end;
    struct memory_source source;
    struct block_pool blocks;
    struct envelope_return *returns; /* one batch for each home */
    bool has_returns;                /* a batch that is not yet full waits */
    struct envelope_pool **pools;    /* all pools of the system, by home */
    /* Envelopes that came home. Written by other threads. */
    _Alignas(64) struct stack returned;
};

/**
 * Makes a pool without envelopes. `pools` is the table of all pools of the system; it is borrowed.
 * `usual_kind` is the kind of mail whose stamps envelope_usual_stamp returns. TR_NO_MEMORY.
 */
tr_status tr__envelope_pool_init(struct envelope_pool *pool, const struct memory_source *source,
                                 uint16_t home, uint16_t home_count, struct envelope_pool **pools,
                                 uint8_t usual_kind);
void tr__envelope_pool_deinit(struct envelope_pool *pool);
/**
 * Refills the free list with envelopes that came home, or else with new ones, and returns an
 * envelope. The free list must be empty. NULL: out of memory.
 */
struct envelope *tr__envelope_refill(struct envelope_pool *pool);
/** Adds an envelope of another home to the batch for that home. Sends a full batch. */
void tr__envelope_send_home(struct envelope_pool *pool, struct envelope *envelope);
/** Sends incomplete batches home. Call before the owner sleeps. */
void tr__envelope_flush(struct envelope_pool *pool);
/**
 * Takes in envelopes that came home, and gives wholly free slabs back. Returns false if a search for such slabs, which
 * walks over all free envelopes, has found none. Call before the owner sleeps.
 */
bool tr__envelope_pool_trim(struct envelope_pool *pool);
/** Drops the message of an envelope that has a block: its buffers, and the block. */
void tr__envelope_drop_block(struct envelope_pool *pool, struct envelope *envelope);
/** Returns the bytes that the pool holds. */
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

/** Gives back an envelope whose block, if any, is gone. Owner of `pool` only. */
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
 * Copies an envelope of this pool into an envelope that belongs to the pool `to`, because it is
 * about to be sent to the owner of `to`. Returns the copy. Returns the same envelope if no envelope
 * of `to` is waiting to go home, or if the message is a block of this pool.
 *
 * So a worker that answers writes to a cache line that it already has, and no envelope has to be returned. If the copy
 * was sent, the caller gives the original back; if the copy was refused, it gives the copy back. Owner only.
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

/** Returns the stamp of mail of the usual kind to a ref, whose message is inside an envelope of this pool. */
ATOM_INLINE uint64_t envelope_usual_stamp(const struct envelope_pool *pool, uint64_t to)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return pool->usual_stamp | to >> 32;
#else
    return pool->usual_stamp | (to & ~UINT64_C(0xffffffff));
#endif
}

/** Puts a copy of a message into an envelope. TR_NO_MEMORY, TR_TOO_LARGE: the envelope is unchanged. */
tr_status tr__envelope_fill_slow(struct envelope_pool *pool, struct envelope *envelope,
                                 const tr_type *type, const void *message);

/**
 * Copies a message of up to ENVELOPE_INLINE bytes into an envelope, by a few moves, which may overlap, and without a
 * call.
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
