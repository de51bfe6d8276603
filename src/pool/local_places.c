/* SPDX-License-Identifier: Apache-2.0 */
#include "pool/local_places.h"

#include "actor/cell/system.h"
#include "pool/pool.h"

tr_status tr_places_new(tr_system *system, const tr_places **made)
{
    if (!system || !made)
        return TR_INVALID_ARGUMENT;
    struct pool *pool = tr__pool_of(system, NULL);
    if (!pool)
        return TR_NO_MEMORY;
    size_t alignment = _Alignof(struct local_places);
    void *memory = source_resize(&system->source, NULL, sizeof(struct local_places) + alignment);
    if (!memory)
        return TR_NO_MEMORY;
    uintptr_t address = ((uintptr_t)memory + alignment - 1) & ~(alignment - 1);
    struct local_places *places = (struct local_places *)address;
    places->memory = memory;
    places->source = system->source;
    tr__local_directory_init(&places->directory, system, &pool->ring);
    tr__local_transport_init(&places->transport, system);
    places->table = (tr_places){
        .size = sizeof places->table,
        .ring = &pool->ring.table,
        .directory = &places->directory.table,
        .transport = &places->transport.table,
    };
    *made = &places->table;
    return TR_OK;
}

void tr_places_free(const tr_places *table)
{
    if (!table)
        return;
    struct local_places *places = (struct local_places *)(uintptr_t)table;
    struct memory_source source = places->source;
    tr__local_directory_deinit(&places->directory);
    source_resize(&source, places->memory, 0);
}
