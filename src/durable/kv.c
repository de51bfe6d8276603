/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Keys and values of a durable actor.
 *
 * When a turn puts a pair, the pair goes into the batch of the open commit. Until it is on disk, it
 * is also in the overlays of the actor (durable/overlay.h). A read of a key looks in the overlays
 * first, and then in the store.
 */
#include <string.h>

#include "base/assert.h"
#include "durable/commit.h"
#include "durable/overlay.h"
#include "durable/record.h"
#include "store/read.h"
#include "store/batch.h"
#include "actor/cell/verb.h"
#include "durable/host.h"
#include "durable/actor.h"
#include "actor/cell/worker.h"
#include "store/record.h"

static struct durable_actor *kv_need(tr_self *self, const char *verb)
{
    TR_ASSERT(self); /* a failure ends the turn, so there must be a turn */
    struct durable_actor *actor = durable_of(self);
    if (!actor)
        tr_crash(self, TR_NOT_SUPPORTED, "%s: this actor is not durable", verb);
    if (!self->frame)
        tr_crash(self, TR_NOT_IN_A_TURN, "%s: not allowed in a set-up or a signal", verb);
    if (self->is_cancelled)
        tr_crash(self, TR_CANCELLED, "%s: the turn was cancelled", verb);
    return actor;
}

/* ---- Writing. ---- */

static tr_status kv_put(struct worker *worker, struct durable_actor *actor, tr_bytes key,
                        tr_bytes value, bool is_deleted)
{
    if (!key.size || !key.data || (value.size && !value.data))
        return TR_INVALID_ARGUMENT;
    if (key.size > TR_KV_KEY_MAX || value.size > TR_KV_VALUE_MAX)
        return TR_TOO_LARGE;
    struct overlay *overlay = tr__overlay_new(worker, key, value, is_deleted);
    struct store_batch *batch = overlay ? tr__commit_batch(actor) : NULL;
    tr_status status = TR_NO_MEMORY;
    if (batch && is_deleted) {
        status = tr__store_kv_delete(batch, key);
    } else if (batch) {
        void *bytes = tr__store_batch_alloc(batch, value.size);
        if (bytes && value.size)
            memcpy(bytes, value.data, value.size);
        if (bytes)
            status = tr__store_kv_put(batch, key, (tr_bytes){bytes, value.size});
    }
    if (status != TR_OK) {
        source_resize(&worker->source, overlay, 0);
        return status;
    }
    tr__overlay_add(worker, actor, overlay);
    return TR_OK;
}

void tr_kv_put(tr_self *self, tr_bytes key, tr_bytes value)
{
    TURN_VERB(self);
    struct durable_actor *actor = kv_need(self, "tr_kv_put");
    tr_status status = kv_put(self->worker, actor, key, value, false);
    if (status != TR_OK)
        tr_crash(self, status, "tr_kv_put: %s", tr_status_text(status));
}

void tr_kv_delete(tr_self *self, tr_bytes key)
{
    TURN_VERB(self);
    struct durable_actor *actor = kv_need(self, "tr_kv_delete");
    tr_status status = kv_put(self->worker, actor, key, (tr_bytes){NULL, 0}, true);
    if (status != TR_OK)
        tr_crash(self, status, "tr_kv_delete: %s", tr_status_text(status));
}

/* ---- Reading. ---- */

static tr_bytes kv_copy(tr_self *self, const void *data, size_t size)
{
    /* Allocate one byte more, so that a text has a NUL behind it. */
    char *bytes = tr_scratch(self, size + 1);
    if (size)
        memcpy(bytes, data, size);
    return (tr_bytes){bytes, size};
}

static bool kv_get(tr_self *self, const struct durable_actor *actor, tr_bytes key, tr_bytes *value)
{
    const struct overlay *overlay = tr__overlay_find(actor, key);
    if (overlay && overlay->is_deleted)
        return false;
    if (overlay) {
        tr_bytes held = overlay_value(overlay);
        *value = kv_copy(self, held.data, held.size);
        return true;
    }
    const struct durable_kind *kind = actor->kind;
    tr_bytes stored;
    tr_status status = tr__store_read_kv(host_context(kind->host, self->worker)->reader,
                                         kind->declared->name,
                                         actor_key(actor),
                                         key,
                                         &stored);
    if (status == TR_NOT_FOUND)
        return false;
    if (status != TR_OK)
        tr_crash(self, status, "tr_kv_get: %s", tr_status_text(status));
    *value = kv_copy(self, stored.data, stored.size);
    return true;
}

bool tr_kv_get(tr_self *self, tr_bytes key, tr_bytes *value)
{
    TURN_VERB(self);
    struct durable_actor *actor = kv_need(self, "tr_kv_get");
    if (!value || !key.size || !key.data)
        tr_crash(self, TR_INVALID_ARGUMENT, "tr_kv_get: the key or the value is NULL");
    bool is_there = kv_get(self, actor, key, value);
    tr__record_key(self, &is_there, value);
    return is_there;
}

/* The pairs that a list collects, in the order of their keys. */
struct pairs {
    tr_self *self;
    tr_kv *items;
    size_t count;
    size_t capacity;
    bool is_out_of_memory;
};

static bool pairs_grow(struct pairs *pairs)
{
    if (pairs->count < pairs->capacity)
        return true;
    size_t capacity = pairs->capacity ? 2 * pairs->capacity : 16;
    tr_kv *items = tr_try_scratch(pairs->self, capacity * sizeof *items);
    if (!items) {
        pairs->is_out_of_memory = true;
        return false;
    }
    if (pairs->count)
        memcpy(items, pairs->items, pairs->count * sizeof *items);
    pairs->items = items;
    pairs->capacity = capacity;
    return true;
}

static tr_bytes pairs_copy(struct pairs *pairs, const void *data, size_t size)
{
    char *bytes = tr_try_scratch(pairs->self, size + 1);
    if (!bytes)
        pairs->is_out_of_memory = true;
    else if (size)
        memcpy(bytes, data, size);
    return (tr_bytes){bytes, bytes ? size : 0};
}

static bool on_kv_row(void *context, const struct store_row *row)
{
    struct pairs *pairs = context;
    if (!pairs_grow(pairs))
        return false;
    tr_kv *pair = &pairs->items[pairs->count];
    pair->key = pairs_copy(pairs, row->key.data, row->key.size);
    pair->value = pairs_copy(pairs, row->bytes.data, row->bytes.size);
    if (pairs->is_out_of_memory)
        return false;
    pairs->count++;
    return true;
}

static void pairs_add(struct pairs *pairs, const struct overlay *overlay)
{
    tr_bytes key = overlay_key(overlay);
    tr_bytes value = overlay_value(overlay);
    tr_kv *pair = &pairs->items[pairs->count++];
    pair->key = pairs_copy(pairs, key.data, key.size);
    pair->value = pairs_copy(pairs, value.data, value.size);
}

/* Merges stored pairs with overlays. An overlay replaces the stored pair with its key. Returns at
 * most `max` pairs. */
static struct pairs pairs_merge(tr_self *self, const struct pairs *stored,
                                const struct overlay **sorted, size_t count, size_t max)
{
    struct pairs merged = {.self = self, .capacity = stored->count + count};
    if (merged.capacity > max)
        merged.capacity = max;
    merged.items =
        tr_try_scratch(self, (merged.capacity ? merged.capacity : 1) * sizeof merged.items[0]);
    merged.is_out_of_memory = !merged.items;
    size_t row = 0;
    size_t at = 0;
    while (!merged.is_out_of_memory && merged.count < max && (row < stored->count || at < count)) {
        int order = 1;
        if (at == count)
            order = -1;
        else if (row < stored->count)
            order = tr__overlay_compare(stored->items[row].key, overlay_key(sorted[at]));
        if (order < 0) {
            merged.items[merged.count++] = stored->items[row++];
            continue;
        }
        row += order == 0;
        /* If a key has several overlays, the last one is the newest. */
        while (at + 1 < count &&
               tr__overlay_compare(overlay_key(sorted[at]), overlay_key(sorted[at + 1])) == 0)
            at++;
        if (!sorted[at]->is_deleted)
            pairs_add(&merged, sorted[at]);
        at++;
    }
    return merged;
}

size_t tr_kv_list(tr_self *self, tr_bytes prefix, tr_bytes from, const tr_kv **list, size_t max)
{
    TURN_VERB(self);
    struct durable_actor *actor = kv_need(self, "tr_kv_list");
    const struct durable_kind *kind = actor->kind;
    if (!list)
        tr_crash(self, TR_INVALID_ARGUMENT, "tr_kv_list: the pairs are NULL");
    struct pairs pairs = {.self = self};
    size_t pending = actor->overlay_count;
    /* Each overlay may delete a stored pair. So read one pair more for each overlay. */
    const struct store_range range = {
        .prefix = prefix, .from = from, .limit = max > SIZE_MAX - pending ? 0 : max + pending};
    tr_status status = TR_OK;
    if (max)
        status = tr__store_list_kv(host_context(kind->host, self->worker)->reader,
                                   kind->declared->name,
                                   actor_key(actor),
                                   &range,
                                   on_kv_row,
                                   &pairs);
    if (status != TR_OK && status != TR_NOT_FOUND)
        tr_crash(self, status, "tr_kv_list: %s", tr_status_text(status));
    if (pending && max && !pairs.is_out_of_memory) {
        const struct overlay **sorted = tr_try_scratch(self, 2 * pending * sizeof(void *));
        pairs.is_out_of_memory = !sorted;
        if (sorted) {
            size_t count = tr__overlays_sort(actor, prefix, from, sorted, sorted + pending);
            pairs = pairs_merge(self, &pairs, sorted, count, max);
        }
    }
    if (pairs.is_out_of_memory)
        tr_crash(self, TR_NO_MEMORY, "tr_kv_list: out of memory");
    *list = pairs.items;
    size_t count = pairs.count < max ? pairs.count : max;
    tr__record_list(self, list, &count);
    return count;
}
