/* SPDX-License-Identifier: Apache-2.0 */
#include "pool/local_places.h"

static uint32_t count(const tr_ring *table)
{
    const struct local_ring *ring = (const struct local_ring *)(const void *)table;
    return atom32_load(&ring->count, ATOM_RELAXED);
}

static tr_status find(const tr_ring *table, const char *name, tr_place *place)
{
    const struct local_ring *ring = (const struct local_ring *)(const void *)table;
    if (!name || !tr__name_is_valid(name))
        return TR_NAME_INVALID;
    uint32_t members = atom32_load(&ring->count, ATOM_ACQUIRE); /* partner: resize */
    *place = tr__hash_ring_find(atomptr_load(&ring->rings[members], ATOM_RELAXED), name);
    return TR_OK;
}

tr_status tr__local_ring_resize(struct local_ring *ring, uint32_t members)
{
    TR_ASSERT(members > 0);
    TR_ASSERT(members <= TR_WORKERS_MAX);
    tr_status status = TR_OK;
    lock_take(&ring->lock);
    if (!atomptr_load(&ring->rings[members], ATOM_RELAXED)) {
        struct hash_ring *made = source_resize(&ring->source, NULL, sizeof *made);
        status =
            made ? tr__hash_ring_init(made, &ring->source, RING_OF_WORKERS, members) : TR_NO_MEMORY;
        if (status == TR_OK)
            atomptr_store(&ring->rings[members], made, ATOM_RELAXED);
        else
            source_resize(&ring->source, made, 0);
    }
    if (status == TR_OK)
        atom32_store(&ring->count, members, ATOM_RELEASE); /* partner: find */
    lock_give(&ring->lock);
    return status;
}

tr_status tr__local_ring_init(struct local_ring *ring, const struct memory_source *source,
                              uint32_t members)
{
    ring->table = (tr_ring){.size = sizeof ring->table, .count = count, .find = find};
    ring->source = *source;
    lock_init(&ring->lock);
    atom32_init(&ring->count, 0);
    for (int i = 0; i <= TR_WORKERS_MAX; i++)
        atomptr_init(&ring->rings[i], NULL);
    return tr__local_ring_resize(ring, members);
}

void tr__local_ring_deinit(struct local_ring *ring)
{
    for (int i = 0; i <= TR_WORKERS_MAX; i++) {
        struct hash_ring *made = atomptr_load(&ring->rings[i], ATOM_RELAXED);
        if (!made)
            continue;
        tr__hash_ring_deinit(made);
        source_resize(&ring->source, made, 0);
    }
}
