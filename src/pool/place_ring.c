/* SPDX-License-Identifier: Apache-2.0 */
#include "pool/place_ring.h"

#include "actor/cell/names.h"

static uint32_t ring_count(const tr_ring *table)
{
    const struct place_ring *ring = (const struct place_ring *)(const void *)table;
    return atom32_load(&ring->count, ATOM_RELAXED);
}

static tr_status ring_find(const tr_ring *table, const char *name, tr_place *place)
{
    const struct place_ring *ring = (const struct place_ring *)(const void *)table;
    if (!name || !tr__name_is_valid(name))
        return TR_NAME_INVALID;
    *place = place_ring_find(ring, name);
    return TR_OK;
}

tr_status tr__place_ring_resize(struct place_ring *ring, uint32_t places)
{
    TR_ASSERT(places > 0);
    TR_ASSERT(places <= PLACES_MAX);
    tr_status status = TR_OK;
    lock_take(&ring->lock);
    if (!atomptr_load(&ring->rings[places], ATOM_RELAXED)) {
        struct hash_ring *made = source_resize(&ring->source, NULL, sizeof *made);
        status =
            made ? tr__hash_ring_init(made, &ring->source, ring->prefix, places) : TR_NO_MEMORY;
        if (status == TR_OK)
            atomptr_store(&ring->rings[places], made, ATOM_RELAXED);
        else
            source_resize(&ring->source, made, 0);
    }
    if (status == TR_OK)
        atom32_store(&ring->count, places, ATOM_RELEASE); /* pairs with place_ring_find */
    lock_give(&ring->lock);
    return status;
}

tr_status tr__place_ring_init(struct place_ring *ring, const struct memory_source *source,
                              char prefix, uint32_t places)
{
    ring->table = (tr_ring){.size = sizeof ring->table, .count = ring_count, .find = ring_find};
    ring->source = *source;
    ring->prefix = prefix;
    lock_init(&ring->lock);
    atom32_init(&ring->count, 0);
    for (int i = 0; i <= PLACES_MAX; i++)
        atomptr_init(&ring->rings[i], NULL);
    return tr__place_ring_resize(ring, places);
}

void tr__place_ring_deinit(struct place_ring *ring)
{
    for (int i = 0; i <= PLACES_MAX; i++) {
        struct hash_ring *made = atomptr_load(&ring->rings[i], ATOM_RELAXED);
        if (!made)
            continue;
        tr__hash_ring_deinit(made);
        source_resize(&ring->source, made, 0);
    }
}
