/* SPDX-License-Identifier: Apache-2.0 */
#include "net/table.h"

#include <string.h>

#include "net/hooks.h"

/*
 * The table is a list of chunks. Chunk k has FIRST_CHUNK << k channels, so that 17 chunks have
 * space for all channels.
 */
enum { FIRST_CHUNK = 64, FIRST_SHIFT = 6, CHUNKS = 17 };
static_assert(((FIRST_CHUNK << CHUNKS) - FIRST_CHUNK) >= TR_CHANNELS_MAX, "all channels fit");

struct channel_table {
    struct lock lock;
    /*
     * 1 more than the number of the last slot that was ever used; slot 0 is never used; memory of
     * later slots is not cleared
     */
    atom32 used;
    uint32_t free; /* number of the first free slot; 0: none */
    atom64 count;
    atom64 processes;
    atomptr chunks[CHUNKS];
};

static void table_free(struct tr_system *system)
{
    struct channel_table *table = atomptr_load(&system->channels.table, ATOM_RELAXED);
    for (size_t i = 0; i < CHUNKS; i++)
        source_resize(&system->source, atomptr_load(&table->chunks[i], ATOM_RELAXED), 0);
    source_resize(&system->source, table, 0);
}

static struct channel_table *table_of(struct tr_system *system)
{
    return atomptr_load(&system->channels.table, ATOM_ACQUIRE); /* pairs with table_make */
}

static struct channel_table *table_make(struct tr_system *system)
{
    lock_take(&system->channels.lock);
    struct channel_table *table = table_of(system);
    if (!table) {
        table = source_resize(&system->source, NULL, sizeof *table);
        if (table) {
            memset(table, 0, sizeof *table);
            lock_init(&table->lock);
            atom64_init(&table->count, 0);
            atom64_init(&table->processes, 0);
            for (size_t i = 0; i < CHUNKS; i++)
                atomptr_init(&table->chunks[i], NULL);
            atom32_init(&table->used, 1);
            system->channels.free = table_free;
            system->channels.hooks = &tr__net_hooks;
            atomptr_store(&system->channels.table, table, ATOM_RELEASE); /* pairs with table_of */
        }
    }
    lock_give(&system->channels.lock);
    return table;
}

static unsigned chunk_of(uint32_t slot)
{
    return 31u - (unsigned)__builtin_clz((slot >> FIRST_SHIFT) + 1);
}

static struct channel *slot_at(const struct channel_table *table, uint32_t number)
{
    unsigned chunk = chunk_of(number);
    struct channel *slots =
        atomptr_load(&table->chunks[chunk], ATOM_ACQUIRE); /* pairs with slot_new */
    return slots ? &slots[number - (((uint32_t)FIRST_CHUNK << chunk) - FIRST_CHUNK)] : NULL;
}

/*
 * Makes a slot usable: the first of those that were never used. Clears only this slot, because most
 * slots of a large chunk may never be used. Call with the lock.
 */
static tr_status slot_new(struct tr_system *system, struct channel_table *table, uint32_t *number)
{
    uint32_t used = atom32_load(&table->used, ATOM_RELAXED);
    if (used > TR_CHANNELS_MAX)
        return TR_LIMIT;
    unsigned chunk = chunk_of(used);
    if (!atomptr_load(&table->chunks[chunk], ATOM_RELAXED)) {
        size_t size = ((size_t)FIRST_CHUNK << chunk) * sizeof(struct channel);
        struct channel *slots = source_resize(&system->source, NULL, size);
        if (!slots)
            return TR_NO_MEMORY;
        atomptr_store(&table->chunks[chunk], slots, ATOM_RELEASE); /* pairs with slot_at */
    }
    struct channel *channel = slot_at(table, used);
    memset(channel, 0, sizeof *channel);
    atom64_init(&channel->bits, 0);
    atom64_init(&channel->owner, 0);
    atom32_store(&table->used, used + 1, ATOM_RELEASE); /* pairs with tr__table_find */
    *number = used;
    return TR_OK;
}

/* Returns the generation of a slot, which has one even if the slot is free. */
static uint32_t generation_of(const struct channel *channel)
{
    return (uint32_t)(channel_bits(channel) >> 32);
}

tr_status tr__table_take(struct tr_system *system, struct channel **channel, uint64_t *bits)
{
    struct channel_table *table = table_of(system);
    if (!table)
        table = table_make(system);
    if (!table)
        return TR_NO_MEMORY;
    tr_status status = TR_OK;
    lock_take(&table->lock);
    uint32_t number = table->free;
    if (number)
        table->free = slot_at(table, number)->next_free;
    else
        status = slot_new(system, table, &number);
    lock_give(&table->lock);
    if (status != TR_OK)
        return status;
    *channel = slot_at(table, number);
    uint32_t generation = generation_of(*channel);
    generation += generation == UINT32_MAX ? 2 : 1;
    *bits = (uint64_t)generation << 32 | number;
    atom64_fetch_add(&table->count, 1, ATOM_RELAXED);
    return TR_OK;
}

void tr__table_give(struct tr_system *system, struct channel *channel)
{
    struct channel_table *table = table_of(system);
    uint32_t number = (uint32_t)channel_bits(channel);
    atom64_store(&channel->bits, (uint64_t)generation_of(channel) << 32, ATOM_RELAXED);
    atom64_fetch_add(&table->count, UINT64_MAX, ATOM_RELAXED);
    lock_take(&table->lock);
    channel->next_free = table->free;
    table->free = number;
    lock_give(&table->lock);
}

struct channel *tr__table_find(struct tr_system *system, uint64_t bits)
{
    const struct channel_table *table = table_of(system);
    uint32_t number = (uint32_t)bits;
    /* pairs with slot_new */
    if (!table || !number || number >= atom32_load(&table->used, ATOM_ACQUIRE))
        return NULL;
    struct channel *channel = slot_at(table, number);
    return channel_bits(channel) == bits ? channel : NULL;
}

struct channel *tr__table_find_owned(struct tr_system *system, uint64_t owner, uint32_t *count)
{
    const struct channel_table *table = table_of(system);
    struct channel *found = NULL;
    *count = 0;
    uint32_t used = table ? atom32_load(&table->used, ATOM_ACQUIRE) : 0; /* pairs with slot_new */
    used = used < TABLE_LOOKED_AT ? used : TABLE_LOOKED_AT;
    for (uint32_t number = 1; number < used; number++) {
        struct channel *channel = slot_at(table, number);
        if (atom64_load(&channel->owner, ATOM_RELAXED) != owner)
            continue;
        found = found ? found : channel;
        ++*count;
    }
    return found;
}

uint32_t tr__table_used(struct tr_system *system)
{
    const struct channel_table *table = table_of(system);
    return table ? atom32_load(&table->used, ATOM_ACQUIRE) : 1; /* pairs with slot_new */
}

const struct channel *tr__table_slot(struct tr_system *system, uint32_t number)
{
    return number && number < tr__table_used(system) ? slot_at(table_of(system), number) : NULL;
}

tr_status tr__table_process_count(struct tr_system *system, bool is_more)
{
    struct channel_table *table = table_of(system);
    if (!table)
        table = table_make(system);
    if (!table)
        return TR_NO_MEMORY;
    if (is_more && atom64_fetch_add(&table->processes, 1, ATOM_RELAXED) < TR_PROCESSES_MAX)
        return TR_OK;
    atom64_fetch_sub(&table->processes, 1, ATOM_RELAXED);
    return is_more ? TR_LIMIT : TR_OK;
}

size_t tr__table_count(struct tr_system *system)
{
    const struct channel_table *table = table_of(system);
    return table ? atom64_load(&table->count, ATOM_RELAXED) : 0;
}
