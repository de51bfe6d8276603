/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/cell/slots.h"

#include "os/memory.h"

enum {
    LINE = 64,
    CACHE_MAX = 1024,
    CACHE_SHARE = 1024, /* a cache has at most 1 / CACHE_SHARE of all slots */
    /*
     * the ref in the door of the cell of slot 0. It would mean slot 1 with generation 0, and no
     * actor has generation 0
     */
    NOBODYS_REF = 1
};

/*
 * A block of memory for some chunks. The block begins with this struct, which has one cache line.
 * Then come the chunks, one after the other. In front of each chunk is a cache line for its struct
 * slots_chunk. A block is as large as all earlier blocks together, up to BLOCK_CHUNKS_MAX. So a
 * small system needs little memory, and a large system gets huge pages.
 */
struct slots_block {
    _Alignas(LINE) void *memory; /* what the memory source returned */
    struct slots_block *next;
};

enum {
    /* 192 KiB for the cells, and a cache line for the struct slots_chunk */
    CHUNK_SIZE = sizeof(struct slots_chunk) + SLOTS_CHUNK * sizeof(struct cell),
    BLOCK_CHUNKS_MAX = 128, /* 24 MiB */
    /* blocks of this many chunks or more are made resident in large pieces */
    BLOCK_READY_MIN = 32
};

static bool block_try(struct slots *slots, uint32_t chunks)
{
    size_t size = sizeof(struct slots_block) + (size_t)chunks * CHUNK_SIZE + LINE;
    void *memory = source_resize(&slots->source, NULL, size);
    if (!memory)
        return false;
    uintptr_t aligned = ((uintptr_t)memory + LINE - 1) & ~(uintptr_t)(LINE - 1);
    struct slots_block *block = (struct slots_block *)aligned;
    *block = (struct slots_block){.memory = memory, .next = slots->block};
    slots->block = block;
    slots->block_next = (char *)(block + 1);
    slots->block_end = slots->block_next + (size_t)chunks * CHUNK_SIZE;
    slots->block_ready = chunks < BLOCK_READY_MIN ? slots->block_end : slots->block_next;
    return true;
}

static bool block_new(struct slots *slots)
{
    uint32_t chunks = slots->used >> SLOTS_CHUNK_BITS;
    uint32_t wanted = ((slots->limit - slots->used) >> SLOTS_CHUNK_BITS) + 1;
    chunks = chunks < BLOCK_CHUNKS_MAX ? chunks : BLOCK_CHUNKS_MAX;
    chunks = chunks < wanted ? chunks : wanted;
    return (chunks > 1 && block_try(slots, chunks)) || block_try(slots, 1);
}

/*
 * Allocates a chunk of cells. Their doors are closed, because a forged ref may lead to a cell that
 * was never used.
 */
static struct cell *chunk_new(struct slots *slots)
{
    if (slots->block_next == slots->block_end && !block_new(slots))
        return NULL;
    struct slots_chunk *chunk = (struct slots_chunk *)(void *)slots->block_next;
    struct cell *cells = (struct cell *)(void *)(chunk + 1);
    slots->block_next += CHUNK_SIZE;
    while (slots->block_ready < slots->block_next)
        slots->block_ready += tr__os_memory_ready(slots->block_ready,
                                                  (size_t)(slots->block_end - slots->block_ready));
    for (int i = 0; i < SLOTS_PLACES; i++)
        atomptr_init(&chunk->places[i], NULL);
    for (uint32_t i = 0; i < SLOTS_CHUNK; i++) {
        door_init(&cells[i].door);
        atom32_init(&cells[i].door.owner, CELL_FOREIGN);
        atom32_init(&cells[i].control, 0);
        cells[i].identity = 0;
    }
    return cells;
}

char *tr__slots_places_new(struct slots *slots, struct slots_chunk *chunk, unsigned kind)
{
    size_t size = SLOTS_CHUNK * slots_place_size(kind);
    lock_take(&slots->lock);
    char *places = atomptr_load(&chunk->places[kind], ATOM_RELAXED);
    if (!places) {
        places = source_resize(&slots->source, NULL, size);
        if (places)
            poison_set(places, size);
        atomptr_store(&chunk->places[kind], places, ATOM_RELEASE); /* pairs with slots_place_take */
    }
    lock_give(&slots->lock);
    return places;
}

static void places_free(const struct slots *slots, struct slots_chunk *chunk, unsigned kind)
{
    void *places = atomptr_load(&chunk->places[kind], ATOM_RELAXED);
    if (places)
        poison_clear(places, SLOTS_CHUNK * slots_place_size(kind));
    atomptr_store(&chunk->places[kind], NULL, ATOM_RELAXED);
    source_resize(&slots->source, places, 0);
}

static struct slots_chunk *chunk_at(const struct slots *slots, uint32_t slot)
{
    return (struct slots_chunk *)(void *)slots_at(slots, slot) - 1;
}

/*
 * Returns the address to store in the map for a chunk, so that the slots of this chunk lead to
 * `cells`.
 */
static void *origin_of(const struct cell *cells, uint32_t chunk)
{
    return (void *)((uintptr_t)cells - ((uintptr_t)chunk << SLOTS_CHUNK_BITS) * sizeof *cells);
}

tr_status tr__slots_init(struct slots *slots, const struct memory_source *source,
                         uint32_t actors_max, uint64_t tag_seed)
{
    uint32_t limit = actors_max + 2; /* slot 0 is never used, and one slot is for /user */
    uint32_t bits = SLOTS_CHUNK_BITS;
    while (bits < 32 && limit > (UINT64_C(1) << bits))
        bits++;
    uint32_t chunk_count = 1u << (bits - SLOTS_CHUNK_BITS);
    *slots = (struct slots){.mask = (uint32_t)((UINT64_C(1) << bits) - 1),
                            .limit = limit,
                            .used = 1,
                            .source = *source};
    slots->cache_max = limit / CACHE_SHARE < CACHE_MAX ? limit / CACHE_SHARE : CACHE_MAX;
    slots->tag = (uint32_t)tag_seed & ~slots->mask;
    /*
     * The first generation is below half of the largest one, so that every slot can have two
     * billion tenants before it is retired.
     */
    slots->generation_first = 1 + (uint32_t)(tag_seed >> 33);
    lock_init(&slots->lock);
    slots->chunks = source_resize(source, NULL, chunk_count * sizeof *slots->chunks);
    if (!slots->chunks)
        return TR_NO_MEMORY;
    struct cell *first = chunk_new(slots);
    if (!first) {
        source_resize(source, slots->chunks, 0);
        slots->chunks = NULL;
        return TR_NO_MEMORY;
    }
    atom64_init(&first->door.ref, NOBODYS_REF);
    for (uint32_t i = 0; i < chunk_count; i++)
        atomptr_init(&slots->chunks[i], origin_of(first, i));
    atom32_init(&slots->made, SLOTS_CHUNK);
    return TR_OK;
}

void tr__slots_deinit(struct slots *slots)
{
    if (!slots->chunks)
        return;
    uint32_t made = atom32_load(&slots->made, ATOM_RELAXED);
    for (uint32_t slot = 0; slot < made; slot += SLOTS_CHUNK) {
        for (unsigned kind = 0; kind < SLOTS_PLACES; kind++)
            places_free(slots, chunk_at(slots, slot), kind);
    }
    struct slots_block *block = slots->block;
    while (block) {
        struct slots_block *next = block->next;
        source_resize(&slots->source, block->memory, 0);
        block = next;
    }
    slots->block = NULL;
    source_resize(&slots->source, slots->chunks, 0);
    slots->chunks = NULL;
}

static void list_push(struct slots *slots, struct slot_list *list, struct cell *cell)
{
    uint32_t slot = slots_number(slots, cell);
    cell->sibling_next = 0;
    if (list->count++)
        slots_at(slots, list->last)->sibling_next = slot;
    else
        list->first = slot;
    list->last = slot;
}

/* Appends all slots of the list `tail` to `list`, and empties `tail`. */
static void list_join(struct slots *slots, struct slot_list *list, struct slot_list *tail)
{
    if (!tail->count)
        return;
    if (list->count)
        slots_at(slots, list->last)->sibling_next = tail->first;
    else
        list->first = tail->first;
    list->last = tail->last;
    list->count += tail->count;
    tail->count = 0;
}

static struct cell *list_pop(struct slots *slots, struct slot_list *list)
{
    if (!list->count)
        return NULL;
    struct cell *cell = slots_at(slots, list->first);
    list->first = cell->sibling_next;
    list->count--;
    return cell;
}

void tr__slots_trim(struct slots *slots, struct slot_cache *cache)
{
    lock_take(&slots->lock);
    list_join(slots, &slots->free, &cache->free);
    uint32_t made = atom32_load(&slots->made, ATOM_RELAXED);
    for (uint32_t slot = 0; slot < made; slot += SLOTS_CHUNK)
        chunk_at(slots, slot)->free_count = 0;
    uint32_t slot = slots->free.first;
    for (uint32_t i = 0; i < slots->free.count; i++) {
        chunk_at(slots, slot & ~(uint32_t)(SLOTS_CHUNK - 1))->free_count++;
        slot = slots_at(slots, slot)->sibling_next;
    }
    for (slot = 0; slot < made; slot += SLOTS_CHUNK) {
        struct slots_chunk *chunk = chunk_at(slots, slot);
        for (unsigned kind = 0; chunk->free_count == SLOTS_CHUNK && kind < SLOTS_PLACES; kind++)
            places_free(slots, chunk, kind);
    }
    lock_give(&slots->lock);
}

/* Takes up to `wanted` slots that were never used, all from one chunk. Under the lock. */
static tr_status fresh_range(struct slots *slots, uint32_t wanted, uint32_t *first, uint32_t *end)
{
    TR_ASSERT_SLOW(lock_is_held(&slots->lock));
    if (slots->used >= slots->limit)
        return TR_LIMIT;
    uint32_t chunk = slots->used >> SLOTS_CHUNK_BITS;
    uint32_t made = atom32_load(&slots->made, ATOM_RELAXED);
    if (slots->used == made) {
        struct cell *cells = chunk_new(slots);
        if (!cells)
            return TR_NO_MEMORY;
        /* pairs with slots_map_at */
        atomptr_store(&slots->chunks[chunk], origin_of(cells, chunk), ATOM_RELEASE);
        atom32_store(&slots->made, made + SLOTS_CHUNK, ATOM_RELEASE); /* pairs with slots_at */
    }
    uint32_t capacity = ((chunk + 1) << SLOTS_CHUNK_BITS) - slots->used;
    if (capacity > slots->limit - slots->used)
        capacity = slots->limit - slots->used;
    *first = slots->used;
    *end = slots->used + (wanted < capacity ? wanted : capacity);
    slots->used = *end;
    return TR_OK;
}

/* Gives a cell a new identity, with the next generation of its slot. */
static void rename_cell(struct slots *slots, struct cell *cell, uint32_t slot)
{
    uint64_t generation = slots->generation_first;
    if (cell->identity)
        generation = (cell->identity >> 32) + 1;
    ATOM_POKE(&cell->identity, generation << 32 | slots->tag | slot);
}

static tr_status cache_fill(struct slots *slots, struct slot_cache *cache)
{
    tr_status status = TR_OK;
    uint32_t batch = slots->cache_max < SLOTS_BATCH ? slots->cache_max : SLOTS_BATCH;
    lock_take(&slots->lock);
    struct cell *cell;
    for (uint32_t i = 0; i < batch && (cell = list_pop(slots, &slots->free)); i++)
        list_push(slots, &cache->free, cell);
    if (!cache->free.count)
        status = fresh_range(slots, batch, &cache->fresh_next, &cache->fresh_end);
    lock_give(&slots->lock);
    return status;
}

static tr_status take_shared(struct slots *slots, struct cell **cell, uint32_t *slot)
{
    uint32_t end;
    tr_status status = TR_OK;
    lock_take(&slots->lock);
    *cell = list_pop(slots, &slots->free);
    if (*cell) {
        *slot = slots_number(slots, *cell);
    } else {
        status = fresh_range(slots, 1, slot, &end);
        if (status == TR_OK)
            *cell = slots_at(slots, *slot);
    }
    lock_give(&slots->lock);
    return status;
}

tr_status tr__slot_take(struct slots *slots, struct slot_cache *cache, struct cell **taken)
{
    uint32_t slot;
    struct cell *cell;
    if (!cache || !slots->cache_max) {
        tr_status status = take_shared(slots, &cell, &slot);
        if (status != TR_OK)
            return status;
        rename_cell(slots, cell, slot);
        *taken = cell;
        return TR_OK;
    }
    if (!cache->free.count && cache->fresh_next == cache->fresh_end) {
        tr_status status = cache_fill(slots, cache);
        if (status != TR_OK)
            return status;
    }
    cell = list_pop(slots, &cache->free);
    if (cell) {
        slot = slots_number(slots, cell);
    } else {
        slot = cache->fresh_next++;
        cell = slots_at(slots, slot);
    }
    rename_cell(slots, cell, slot);
    *taken = cell;
    return TR_OK;
}

void tr__slot_give(struct slots *slots, struct slot_cache *cache, struct cell *cell)
{
    atom32_store(&cell->door.owner, CELL_FOREIGN, ATOM_RELAXED);
    /*
     * A slot whose generations are used up is not used again, because all its refs must stay
     * invalid.
     */
    if (cell_generation(cell) == UINT32_MAX)
        return;
    if (cache && slots->cache_max) {
        list_push(slots, &cache->free, cell);
        if (cache->free.count < slots->cache_max)
            return;
    }
    lock_take(&slots->lock);
    if (cache && slots->cache_max)
        list_join(slots, &slots->free, &cache->free);
    else
        list_push(slots, &slots->free, cell);
    lock_give(&slots->lock);
}

uint32_t tr__slots_used(struct slots *slots)
{
    lock_take(&slots->lock);
    uint32_t used = slots->used;
    lock_give(&slots->lock);
    return used;
}
