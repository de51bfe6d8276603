/* SPDX-License-Identifier: Apache-2.0 */
#include "mem/envelope.h"

#include "base/assert.h"
#include "mem/shared.h"
#include "os/memory.h"
#include "wire/copy.h"

enum {
    /* how many envelopes the first slab has; few, so that a small system stays small */
    SLAB_FIRST = 64,
    /*
     * A slab has at most this many envelopes. With this many it has 16 MiB, most of which can be huge
     * pages.
     */
    SLAB_LARGEST = 262144,
    /* The kernel is asked to back slabs of this many envelopes (4 MiB) or more in large pieces. */
    SLAB_READY_MIN = 65536,
    CARVE = 32,               /* how many envelopes go from a new slab into the free list at once */
    TRIM_RESERVE = 16 * 1024, /* how many free envelopes a pool keeps: 1 MiB */
    LINE = 64
};

struct envelope_slab {
    void *memory; /* the allocation from the source; `first` is aligned inside it */
    struct envelope *first;
    uint32_t count;
    uint32_t free; /* how many envelopes are free; only valid during a trim */
};

static struct envelope *envelope_next(const struct envelope *envelope)
{
    return (struct envelope *)envelope->mail.next;
}

static void envelope_link(struct envelope *envelope, struct envelope *next)
{
    envelope->mail.next = (struct door_mail *)next;
}

tr_status tr__envelope_pool_init(struct envelope_pool *pool, const struct memory_source *source,
                                 uint16_t home, uint16_t home_count, struct envelope_pool **pools,
                                 uint8_t usual_kind)
{
    TR_ASSERT(home < home_count);
    *pool = (struct envelope_pool){
        .home = home, .home_count = home_count, .source = *source, .pools = pools};
    pool->usual_stamp =
        (struct envelope){.home = home, .kind = usual_kind, .block_class = ENVELOPE_NO_BLOCK}.stamp;
    size_t size = home_count * sizeof *pool->returns;
    pool->returns = source_resize(source, NULL, size);
    if (!pool->returns)
        return TR_NO_MEMORY;
    memset(pool->returns, 0, size);
    tr__block_init(&pool->blocks, source);
    stack_init(&pool->returned);
    return TR_OK;
}

void tr__envelope_pool_deinit(struct envelope_pool *pool)
{
    for (uint32_t i = 0; i < pool->slab_count; i++) {
        struct envelope_slab *slab = pool->slabs[i];
        poison_clear(slab->first, slab->count * sizeof *slab->first);
        source_resize(&pool->source, pool->slabs[i]->memory, 0);
        source_resize(&pool->source, pool->slabs[i], 0);
    }
    source_resize(&pool->source, pool->slabs, 0);
    source_resize(&pool->source, pool->returns, 0);
    if (pool->returns)
        tr__block_deinit(&pool->blocks);
    pool->slabs = NULL;
    pool->returns = NULL;
    pool->slab_count = 0;
}

/* Moves the envelopes that have come home into the free list. */
static void take_returned(struct envelope_pool *pool)
{
    struct stack_node *node = stack_take(&pool->returned);
    while (node) {
        struct stack_node *next = node->next;
        struct envelope *envelope = (struct envelope *)(void *)node;
        TR_ASSERT(envelope->home == pool->home);
        if (envelope->block_class != ENVELOPE_NO_BLOCK) {
            tr__block_give(&pool->blocks, envelope->payload.block.data, envelope->block_class);
        }
        envelope_link(envelope, pool->free);
        pool->free = envelope;
        poison_set(&envelope->payload, sizeof envelope->payload);
        node = next;
    }
}

/*
 * Reserves space for one more pointer in the table of slabs. The table is doubled whenever its
 * count is a power of two.
 */
static bool slabs_reserve(struct envelope_pool *pool)
{
    size_t count = pool->slab_count;
    if (count & (count - 1))
        return true;
    if (count >= ENVELOPE_SLABS_MAX)
        return false;
    size_t capacity = count ? 2 * count : 1;
    void *slabs =
        source_resize(&pool->source, pool->slabs, capacity * sizeof(struct envelope_slab *));
    if (!slabs)
        return false;
    pool->slabs = slabs;
    return true;
}

static bool slab_add(struct envelope_pool *pool)
{
    size_t count = pool->made < SLAB_FIRST ? SLAB_FIRST : pool->made;
    if (count > SLAB_LARGEST)
        count = SLAB_LARGEST;
    if (!slabs_reserve(pool))
        return false;
    struct envelope_slab *slab = source_resize(&pool->source, NULL, sizeof *slab);
    if (!slab)
        return false;
    void *memory = source_resize(&pool->source, NULL, count * sizeof(struct envelope) + LINE);
    if (!memory) {
        source_resize(&pool->source, slab, 0);
        return false;
    }
    uintptr_t aligned = ((uintptr_t)memory + LINE - 1) & ~(uintptr_t)(LINE - 1);
    *slab = (struct envelope_slab){
        .memory = memory, .first = (struct envelope *)aligned, .count = (uint32_t)count};
    pool->slabs[pool->slab_count++] = slab;
    pool->made += count;
    pool->fresh = slab->first;
    pool->fresh_end = slab->first + count;
    pool->ready_end = (char *)(count < SLAB_READY_MIN ? pool->fresh_end : pool->fresh);
    poison_set(slab->first, count * sizeof *slab->first);
    return true;
}

/*
 * Puts the next envelopes of the newest slab into the free list, which is empty. Takes only CARVE
 * of them: otherwise the sender of the first message would wait until 16 MiB were mapped and
 * written.
 */
static void slab_carve(struct envelope_pool *pool)
{
    size_t count = (size_t)(pool->fresh_end - pool->fresh);
    struct envelope *end = pool->fresh + (count < CARVE ? count : CARVE);
    while (pool->ready_end < (char *)end)
        pool->ready_end += tr__os_memory_ready(pool->ready_end,
                                               (size_t)((char *)pool->fresh_end - pool->ready_end));
    poison_clear(pool->fresh, (size_t)((char *)end - (char *)pool->fresh));
    /* Go backwards, so that the free list has the envelopes in the order of their addresses. */
    for (struct envelope *envelope = end; envelope-- > pool->fresh;) {
        envelope->home = pool->home;
        envelope_link(envelope, pool->free);
        pool->free = envelope;
        poison_set(&envelope->payload, sizeof envelope->payload);
    }
    pool->fresh = end;
}

struct envelope *tr__envelope_refill(struct envelope_pool *pool)
{
    TR_ASSERT(!pool->free);
    take_returned(pool);
    if (!pool->free) {
        if (pool->fresh == pool->fresh_end && !slab_add(pool))
            return NULL;
        slab_carve(pool);
    }
    TR_ASSERT(pool->free);
    struct envelope *envelope = pool->free;
    pool->free = envelope_next(envelope);
    poison_clear(&envelope->payload, sizeof envelope->payload);
    return envelope;
}

static void return_batch(struct envelope_pool *pool, uint16_t home)
{
    struct envelope_return *batch = &pool->returns[home];
    if (!batch->count)
        return;
    stack_push_chain(&pool->pools[home]->returned,
                     (struct stack_node *)(void *)batch->newest,
                     (struct stack_node *)(void *)batch->oldest);
    *batch = (struct envelope_return){0};
}

void tr__envelope_send_home(struct envelope_pool *pool, struct envelope *envelope)
{
    TR_ASSERT(envelope->home < pool->home_count);
    struct envelope_return *batch = &pool->returns[envelope->home];
    envelope_link(envelope, batch->newest);
    batch->newest = envelope;
    if (!batch->count++)
        batch->oldest = envelope;
    pool->has_returns = true;
    /* Send an envelope with a large block home at once, because its sender may need the memory. */
    if (batch->count == ENVELOPE_RETURN_BATCH || envelope->block_class == BLOCK_LARGE)
        return_batch(pool, envelope->home);
}

void tr__envelope_flush(struct envelope_pool *pool)
{
    if (!pool->has_returns)
        return;
    for (uint16_t home = 0; home < pool->home_count; home++)
        return_batch(pool, home);
    pool->has_returns = false;
}

static struct envelope_slab *slab_of(struct envelope_pool *pool, const struct envelope *envelope)
{
    size_t low = 0;
    size_t high = pool->slab_count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if ((uintptr_t)pool->slabs[middle]->first <= (uintptr_t)envelope)
            low = middle;
        else
            high = middle;
    }
    return pool->slabs[low];
}

/* Sorts the slabs by address. Uses insertion sort, because the slabs are few and mostly sorted. */
static void slabs_sort(struct envelope_pool *pool)
{
    for (uint32_t i = 1; i < pool->slab_count; i++) {
        struct envelope_slab *slab = pool->slabs[i];
        uint32_t j = i;
        while (j && (uintptr_t)pool->slabs[j - 1]->first > (uintptr_t)slab->first) {
            pool->slabs[j] = pool->slabs[j - 1];
            j--;
        }
        pool->slabs[j] = slab;
    }
}

/*
 * Removes two kinds of envelopes from the free list: those of slabs in which all envelopes are
 * free, and those that were never used.
 */
static void free_list_filter(struct envelope_pool *pool)
{
    struct envelope *kept = NULL;
    for (struct envelope *envelope = pool->free, *next; envelope; envelope = next) {
        next = envelope_next(envelope);
        struct envelope_slab *slab = slab_of(pool, envelope);
        if (slab->free == slab->count)
            continue;
        envelope_link(envelope, kept);
        kept = envelope;
    }
    pool->free = kept;
    if (pool->fresh < pool->fresh_end) {
        const struct envelope_slab *slab = slab_of(pool, pool->fresh);
        if (slab->free == slab->count)
            pool->fresh = pool->fresh_end;
    }
}

bool tr__envelope_pool_trim(struct envelope_pool *pool)
{
    take_returned(pool);
    tr__block_trim(&pool->blocks);
    /* A pool that is no larger than its reserve keeps all it has. */
    if (pool->made <= TRIM_RESERVE)
        return true;
    slabs_sort(pool);
    for (uint32_t i = 0; i < pool->slab_count; i++)
        pool->slabs[i]->free = 0;
    for (struct envelope *e = pool->free; e; e = envelope_next(e))
        slab_of(pool, e)->free++;
    if (pool->fresh < pool->fresh_end)
        slab_of(pool, pool->fresh)->free += (uint32_t)(pool->fresh_end - pool->fresh);

    /* Some free slabs stay as the reserve: those with the lowest addresses. */
    size_t kept = 0;
    for (uint32_t i = 0; i < pool->slab_count; i++) {
        struct envelope_slab *slab = pool->slabs[i];
        if (slab->free == slab->count && kept + slab->count <= TRIM_RESERVE) {
            kept += slab->count;
            slab->free = 0;
        }
    }
    free_list_filter(pool);
    uint32_t left = 0;
    for (uint32_t i = 0; i < pool->slab_count; i++) {
        struct envelope_slab *slab = pool->slabs[i];
        if (slab->free != slab->count) {
            pool->slabs[left++] = slab;
            continue;
        }
        pool->made -= slab->count;
        poison_clear(slab->first, slab->count * sizeof *slab->first);
        source_resize(&pool->source, slab->memory, 0);
        source_resize(&pool->source, slab, 0);
    }
    if (left == pool->slab_count)
        return false;
    pool->slab_count = left;
    /*
     * Shrink the table to the smallest power of two that is at least its count. slabs_reserve
     * expects this size, because it doubles the table only when the count is a power of two.
     */
    size_t capacity = 1;
    while (capacity < left)
        capacity *= 2;
    void *slabs =
        source_resize(&pool->source, pool->slabs, capacity * sizeof(struct envelope_slab *));
    if (slabs)
        pool->slabs = slabs;
    return true;
}

void tr__envelope_drop_block(struct envelope_pool *pool, struct envelope *envelope)
{
    void *block = envelope->payload.block.data;
    if (envelope->block_class == ENVELOPE_SHARED) {
        tr__shared_release(block, envelope->type, &pool->source);
        /* the block is gone, so it does not go home with the envelope */
        envelope->block_class = ENVELOPE_NO_BLOCK;
        return;
    }
    if (!envelope->type->is_flat)
        tr__copy_drop(envelope->type, block);
    /*
     * If the envelope belongs to another pool, so does the block. Leave the block in the envelope,
     * so that both go home together.
     */
    if (envelope->home != pool->home)
        return;
    tr__block_give(&pool->blocks, block, envelope->block_class);
    envelope->block_class = ENVELOPE_NO_BLOCK;
}

size_t tr__envelope_pool_bytes(const struct envelope_pool *pool)
{
    return pool->made * sizeof(struct envelope) + tr__block_bytes(&pool->blocks);
}

tr_status tr__envelope_fill_slow(struct envelope_pool *pool, struct envelope *envelope,
                                 const tr_type *type, const void *message)
{
    size_t size = type->is_flat ? type->size : tr__copy_size(type, message);
    if (size > TR_PAYLOAD_MAX)
        return TR_TOO_LARGE;
    /*
     * First take in the blocks that have come home. They may be enough, and then no memory is taken
     * from the source.
     */
    if (size > block_class_size(BLOCK_1024))
        take_returned(pool);
    uint8_t block_class;
    void *block = tr__block_take(&pool->blocks, size, &block_class);
    if (!block)
        return TR_NO_MEMORY;
    if (type->is_flat)
        memcpy(block, message, size);
    else
        tr__copy_into(type, message, block, size);
    envelope->type = type;
    envelope->block_class = block_class;
    envelope->payload.block.data = block;
    envelope->payload.block.size = (uint32_t)size;
    return TR_OK;
}
