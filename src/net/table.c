/* SPDX-License-Identifier: Apache-2.0 */
#include "net/table.h"

#include <string.h>

#include "net/hooks.h"

/* Chunk k has FIRST_CHUNK << k channels, so that a few pointers suffice for all of them. */
enum { FIRST_CHUNK = 64, FIRST_SHIFT = 6, CHUNKS = 17 };
static_assert(((FIRST_CHUNK << CHUNKS) - FIRST_CHUNK) >= TR_CHANNELS_MAX, "all channels fit");

struct slot {
    struct channel channel;
    uint32_t generation; /* of its last channel */
    uint32_t next;       /* free slot behind this one, 0 for none */
};

struct channel_table {
    struct lock lock;
    uint32_t used; /* slots that were ever used; slot 0 is none */
    uint32_t free; /* the first free slot, 0 for none */
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
    return atomptr_load(&system->channels.table, ATOM_ACQUIRE); /* partner: table_make */
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
            table->used = 1;
            system->channels.free = table_free;
            system->channels.hooks = &tr__net_hooks;
            atomptr_store(&system->channels.table, table, ATOM_RELEASE); /* partner: table_of */
        }
    }
    lock_give(&system->channels.lock);
    return table;
}

static unsigned chunk_of(uint32_t slot)
{
    return 31u - (unsigned)__builtin_clz((slot >> FIRST_SHIFT) + 1);
}

static struct slot *slot_at(const struct channel_table *table, uint32_t number)
{
    unsigned chunk = chunk_of(number);
    struct slot *slots = atomptr_load(&table->chunks[chunk], ATOM_ACQUIRE); /* partner: slot_new */
    return slots ? &slots[number - (((uint32_t)FIRST_CHUNK << chunk) - FIRST_CHUNK)] : NULL;
}

/* Under the lock. */
static tr_status slot_new(struct tr_system *system, struct channel_table *table, uint32_t *number)
{
    if (table->used > TR_CHANNELS_MAX)
        return TR_LIMIT;
    unsigned chunk = chunk_of(table->used);
    if (!atomptr_load(&table->chunks[chunk], ATOM_RELAXED)) {
        size_t size = ((size_t)FIRST_CHUNK << chunk) * sizeof(struct slot);
        struct slot *slots = source_resize(&system->source, NULL, size);
        if (!slots)
            return TR_NO_MEMORY;
        memset(slots, 0, size);
        atomptr_store(&table->chunks[chunk], slots, ATOM_RELEASE); /* partner: slot_at */
    }
    *number = table->used++;
    return TR_OK;
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
        table->free = slot_at(table, number)->next;
    else
        status = slot_new(system, table, &number);
    lock_give(&table->lock);
    if (status != TR_OK)
        return status;
    struct slot *slot = slot_at(table, number);
    slot->generation += slot->generation == UINT32_MAX ? 2 : 1;
    *bits = (uint64_t)slot->generation << 32 | number;
    *channel = &slot->channel;
    atom64_fetch_add(&table->count, 1, ATOM_RELAXED);
    return TR_OK;
}

void tr__table_give(struct tr_system *system, struct channel *channel, uint64_t bits)
{
    struct channel_table *table = table_of(system);
    struct slot *slot = (struct slot *)(void *)channel;
    atom64_fetch_add(&table->count, UINT64_MAX, ATOM_RELAXED);
    lock_take(&table->lock);
    slot->next = table->free;
    table->free = (uint32_t)bits;
    lock_give(&table->lock);
}

struct channel *tr__table_find(struct tr_system *system, uint64_t bits)
{
    const struct channel_table *table = table_of(system);
    uint32_t number = (uint32_t)bits;
    if (!table || !number || number > TR_CHANNELS_MAX)
        return NULL;
    struct slot *slot = slot_at(table, number);
    return slot && atom64_load(&slot->channel.bits, ATOM_RELAXED) == bits ? &slot->channel : NULL;
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
