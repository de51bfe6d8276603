/* SPDX-License-Identifier: Apache-2.0 */
#include "durable/overlay.h"

#include <string.h>

#include "actor/cell/names.h"
#include "base/assert.h"
#include "base/hash.h"

struct overlay_table {
    struct hash_key key;
    size_t mask; /* number of buckets less 1; the number of buckets is a power of 2 */
    struct list buckets[];
};

int tr__overlay_compare(tr_bytes a, tr_bytes b)
{
    int order = memcmp(a.data, b.data, a.size < b.size ? a.size : b.size);
    if (order)
        return order;
    return a.size < b.size ? -1 : a.size > b.size;
}

static bool overlay_has_key(const struct overlay *overlay, tr_bytes key)
{
    return overlay->key_size == key.size && memcmp(overlay->bytes, key.data, key.size) == 0;
}

/* ---- The table. ---- */

static struct list *bucket_of(struct overlay_table *table, tr_bytes key)
{
    return &table->buckets[hash_bytes(table->key, key.data, key.size) & table->mask];
}

/* Makes a table with `buckets` buckets and puts all overlays into it. If there is no memory,
 * changes nothing. */
static void table_make(struct worker *worker, struct durable_actor *actor, size_t buckets)
{
    struct overlay_table *table =
        source_resize(&worker->source, NULL, sizeof *table + buckets * sizeof table->buckets[0]);
    if (!table)
        return;
    table->key = worker->system->names->key;
    table->mask = buckets - 1;
    for (size_t i = 0; i < buckets; i++)
        list_init(&table->buckets[i]);
    LIST_EACH (link, &actor->overlays) {
        struct overlay *overlay = LIST_OWNER(link, struct overlay, link);
        list_remove(&overlay->chain);
        list_push_first(bucket_of(table, overlay_key(overlay)), &overlay->chain);
    }
    source_resize(&worker->source, actor->overlay_table, 0);
    actor->overlay_table = table;
}

static void overlay_free(struct worker *worker, struct durable_actor *actor,
                         struct overlay *overlay)
{
    list_remove(&overlay->link);
    list_remove(&overlay->chain);
    source_resize(&worker->source, overlay, 0);
    if (--actor->overlay_count > 0)
        return;
    source_resize(&worker->source, actor->overlay_table, 0);
    actor->overlay_table = NULL;
}

/* ---- One overlay. ---- */

struct overlay *tr__overlay_new(struct worker *worker, tr_bytes key, tr_bytes value,
                                bool is_deleted)
{
    struct overlay *overlay =
        source_resize(&worker->source, NULL, sizeof *overlay + key.size + value.size);
    if (!overlay)
        return NULL;
    *overlay =
        (struct overlay){.is_deleted = is_deleted, .key_size = key.size, .value_size = value.size};
    list_init(&overlay->chain);
    memcpy(overlay->bytes, key.data, key.size);
    if (value.size)
        memcpy(overlay->bytes + key.size, value.data, value.size);
    return overlay;
}

void tr__overlay_add(struct worker *worker, struct durable_actor *actor, struct overlay *overlay)
{
    struct overlay_table *table = actor->overlay_table;
    overlay->commit = actor->commit_last + 1;
    list_push_last(&actor->overlays, &overlay->link);
    actor->overlay_count++;
    if (table)
        list_push_first(bucket_of(table, overlay_key(overlay)), &overlay->chain);
    size_t buckets = table ? table->mask + 1 : OVERLAYS_INDEXED / 2;
    if (actor->overlay_count > 2 * buckets)
        table_make(worker, actor, 4 * buckets);
}

const struct overlay *tr__overlay_find(const struct durable_actor *actor, tr_bytes key)
{
    if (actor->overlay_table) {
        LIST_EACH (chain, bucket_of(actor->overlay_table, key)) {
            const struct overlay *overlay = LIST_OWNER(chain, struct overlay, chain);
            if (overlay_has_key(overlay, key))
                return overlay;
        }
        return NULL;
    }
    for (const struct list *link = actor->overlays.previous; link != &actor->overlays;
         link = link->previous) {
        const struct overlay *overlay = LIST_OWNER(link, struct overlay, link);
        if (overlay_has_key(overlay, key))
            return overlay;
    }
    return NULL;
}

/* ---- All overlays. ---- */

void tr__overlays_drop(struct worker *worker, struct durable_actor *actor, uint64_t commit)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, actor->durable.cell));
    LIST_EACH (link, &actor->overlays) {
        struct overlay *overlay = LIST_OWNER(link, struct overlay, link);
        if (overlay->commit > commit)
            break;
        overlay_free(worker, actor, overlay);
    }
}

void tr__overlays_undo(struct worker *worker, struct durable_actor *actor)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, actor->durable.cell));
    while (!list_is_empty(&actor->overlays)) {
        struct overlay *overlay = LIST_OWNER(list_last(&actor->overlays), struct overlay, link);
        if (overlay->commit <= actor->commit_last)
            break;
        overlay_free(worker, actor, overlay);
    }
}

/*
 * Merges two sorted runs, [from, middle) and [middle, to). If a key is in both runs, the overlay of
 * the first run comes first.
 */
static void overlays_merge(const struct overlay **sorted, const struct overlay **spare, size_t from,
                           size_t middle, size_t to)
{
    size_t first = from;
    size_t second = middle;
    for (size_t i = from; i < to; i++) {
        bool is_second =
            first == middle || (second < to && tr__overlay_compare(overlay_key(sorted[second]),
                                                                   overlay_key(sorted[first])) < 0);
        spare[i] = is_second ? sorted[second++] : sorted[first++];
    }
    memcpy(&sorted[from], &spare[from], (to - from) * sizeof sorted[0]);
}

size_t tr__overlays_sort(const struct durable_actor *actor, tr_bytes prefix, tr_bytes from,
                         const struct overlay **sorted, const struct overlay **spare)
{
    size_t count = 0;
    LIST_EACH (link, &actor->overlays) {
        const struct overlay *overlay = LIST_OWNER(link, struct overlay, link);
        if (overlay->key_size >= prefix.size &&
            (!prefix.size || memcmp(overlay->bytes, prefix.data, prefix.size) == 0) &&
            (!from.size || tr__overlay_compare(overlay_key(overlay), from) >= 0))
            sorted[count++] = overlay;
    }
    for (size_t run = 1; run < count; run *= 2) {
        for (size_t i = 0; i + run < count; i += 2 * run)
            overlays_merge(sorted, spare, i, i + run, i + 2 * run < count ? i + 2 * run : count);
    }
    return count;
}
