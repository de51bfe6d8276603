/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/cell/watch_table.h"

#include "base/assert.h"
#include "base/hash.h"

enum {
    SLOTS_FIRST = 8, /* number of places of the smallest table */
    /* number of buckets of the first allocated table; before that there are WATCHED_FEW buckets */
    BUCKETS_FIRST = 64,
    SPARSE = 8 /* a table shrinks if fewer than one of SPARSE places is used */
};

/* ---- The actors that one watcher watches. Linear probing; half of the places are free. ---- */

static uint32_t slot_of(const struct watch_table *table, uint64_t target)
{
    return (uint32_t)hash_mix(target) & table->mask;
}

/* Returns the entry of a target. If there is none, returns the free entry where it belongs. */
static struct watch_entry *place_of(const struct watch_table *table, uint64_t target)
{
    uint32_t i = slot_of(table, target);
    while (table->slots[i].target && table->slots[i].target != target)
        i = (i + 1) & table->mask;
    return &table->slots[i];
}

struct watch_entry *tr__watch_find(const struct watch_table *table, uint64_t target)
{
    if (!table->count)
        return NULL;
    struct watch_entry *watch = place_of(table, target);
    return watch->target ? watch : NULL;
}

static bool table_resize(struct watch_table *table, const struct memory_source *source,
                         uint32_t size)
{
    struct watch_table old = *table;
    struct watch_entry *slots = source_resize(source, NULL, size * sizeof *slots);
    if (!slots)
        return false;
    memset(slots, 0, size * sizeof *slots);
    table->slots = slots;
    table->mask = size - 1;
    for (uint32_t i = 0; old.slots && i <= old.mask; i++) {
        if (old.slots[i].target)
            *place_of(table, old.slots[i].target) = old.slots[i];
    }
    source_resize(source, old.slots, 0);
    return true;
}

bool tr__watch_reserve(struct watch_table *table, const struct memory_source *source)
{
    if (!table->slots)
        return table_resize(table, source, SLOTS_FIRST);
    if (2 * (table->count + 1) <= table->mask + 1)
        return true;
    return table_resize(table, source, 2 * (table->mask + 1));
}

void tr__watch_insert(struct watch_table *table, const struct watch_entry *watch)
{
    struct watch_entry *place = place_of(table, watch->target);
    TR_ASSERT(!place->target);
    TR_ASSERT(table->count < table->mask);
    *place = *watch;
    table->count++;
}

void tr__watch_remove(struct watch_table *table, const struct memory_source *source,
                      struct watch_entry *watch)
{
    TR_ASSERT(watch->target);
    uint32_t hole = (uint32_t)(watch - table->slots);
    /*
     * An entry behind the hole moves into the hole. It stays only if a search for its target begins
     * behind the hole.
     */
    for (uint32_t i = (hole + 1) & table->mask; table->slots[i].target; i = (i + 1) & table->mask) {
        uint32_t home = slot_of(table, table->slots[i].target);
        if (((i - home) & table->mask) < ((i - hole) & table->mask))
            continue;
        table->slots[hole] = table->slots[i];
        hole = i;
    }
    table->slots[hole] = (struct watch_entry){0};
    table->count--;
    uint32_t size = table->mask + 1;
    if (size > SLOTS_FIRST && SPARSE * table->count < size)
        /* if there is no memory, the table keeps its size */
        (void)table_resize(table, source, size / 2);
}

void tr__watch_table_free(struct watch_table *table, const struct memory_source *source)
{
    source_resize(source, table->slots, 0);
    *table = (struct watch_table){0};
}

size_t tr__watch_table_bytes(const struct watch_table *table)
{
    size_t size = table->slots ? (table->mask + (size_t)1) * sizeof *table->slots : 0;
    return size + table->count * sizeof(struct envelope);
}

/* ---- The watched actors: chains of rings of WATCH envelopes. ---- */

static struct envelope **bucket_of(struct watched *watched, uint64_t target)
{
    uint64_t hash = hash_mix(target);
    if (!watched->buckets)
        return &watched->few[hash & (WATCHED_FEW - 1)];
    return &watched->buckets[hash & watched->mask];
}

/*
 * Returns the link that points to the ring of a target. If there is no such ring, returns the link
 * at the end of the chain.
 */
static struct envelope **link_of(struct watched *watched, uint64_t target)
{
    struct envelope **link = bucket_of(watched, target);
    while (*link && watch_letter(*link)->target != target)
        link = &watch_letter(*link)->chain;
    return link;
}

static void chain_move(struct watched *watched, struct envelope *first)
{
    while (first) {
        struct envelope *next = watch_letter(first)->chain;
        struct envelope **bucket = bucket_of(watched, watch_letter(first)->target);
        watch_letter(first)->chain = *bucket;
        *bucket = first;
        first = next;
    }
}

/*
 * Changes the number of buckets; 0 means the buckets in `few`. If there is no memory, keeps the old
 * buckets.
 */
static void buckets_resize(struct watched *watched, const struct memory_source *source,
                           uint32_t count)
{
    struct watched old = *watched;
    struct envelope **buckets = NULL;
    if (count) {
        buckets = source_resize(source, NULL, count * sizeof *buckets);
        if (!buckets)
            return;
        memset(buckets, 0, count * sizeof *buckets);
    }
    memset(watched->few, 0, sizeof watched->few);
    watched->buckets = buckets;
    watched->mask = count ? count - 1 : 0;
    for (uint32_t i = 0; !old.buckets && i < WATCHED_FEW; i++)
        chain_move(watched, old.few[i]);
    for (uint32_t i = 0; old.buckets && i <= old.mask; i++)
        chain_move(watched, old.buckets[i]);
    source_resize(source, old.buckets, 0);
}

static void one_more(struct watched *watched, const struct memory_source *source)
{
    watched->count++;
    if (!watched->buckets && watched->count > 2 * WATCHED_FEW)
        buckets_resize(watched, source, BUCKETS_FIRST);
    else if (watched->buckets && watched->count > watched->mask + 1)
        buckets_resize(watched, source, 2 * (watched->mask + 1));
}

static void one_less(struct watched *watched, const struct memory_source *source)
{
    watched->count--;
    if (!watched->buckets || SPARSE * watched->count >= watched->mask + 1)
        return;
    uint32_t size = watched->mask + 1;
    buckets_resize(watched, source, size > BUCKETS_FIRST ? size / 2 : 0);
}

void tr__watched_add(struct watched *watched, const struct memory_source *source,
                     struct envelope *envelope)
{
    struct envelope **link = link_of(watched, watch_letter(envelope)->target);
    if (*link) {
        watch_ring_push(link, envelope);
        return;
    }
    watch_ring_push(link, envelope);
    watch_letter(envelope)->chain = NULL;
    one_more(watched, source);
}

void tr__watched_remove(struct watched *watched, const struct memory_source *source,
                        struct envelope *envelope)
{
    struct envelope **link = link_of(watched, watch_letter(envelope)->target);
    TR_ASSERT(*link);
    struct envelope *chain = watch_letter(*link)->chain;
    watch_ring_remove(link, envelope);
    if (*link) {
        watch_letter(*link)->chain =
            /* Only the first envelope of a ring has the chain, and the first one may have changed. */
            chain;
        return;
    }
    *link = chain;
    one_less(watched, source);
}

struct envelope *tr__watched_find(struct watched *watched, uint64_t target)
{
    return *link_of(watched, target);
}

struct envelope *tr__watched_take(struct watched *watched, const struct memory_source *source,
                                  uint64_t target)
{
    struct envelope **link = link_of(watched, target);
    struct envelope *first = *link;
    if (!first)
        return NULL;
    *link = watch_letter(first)->chain;
    one_less(watched, source);
    return first;
}

void tr__watched_free(struct watched *watched, const struct memory_source *source)
{
    source_resize(source, watched->buckets, 0);
    *watched = (struct watched){0};
}
