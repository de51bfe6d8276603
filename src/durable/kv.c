/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Keys and values of a durable actor.
 *
 * What a stretch has put by is in its batch, and also in the actor's overlays until it is on disk: who
 * gets a key looks there first, the newest first, and then in the store.
 */
#include <string.h>

#include "actor/relief.h"
#include "base/assert.h"
#include "durable/actor.h"

static struct durable_actor *need(tr_self *self, const char *verb)
{
    TR_ASSERT(self); /* there is no turn to end */
    struct durable_actor *actor = durable_of(self);
    if (!actor)
        tr_crash(self, TR_NOT_SUPPORTED, "%s: this actor is not durable", verb);
    if (!self->frame)
        tr_crash(self, TR_NOT_IN_A_TURN, "%s: not in a set-up or a signal", verb);
    if (self->is_cancelled)
        tr_crash(self, TR_CANCELLED, "%s: the turn was cancelled", verb);
    return actor;
}

static const unsigned char *overlay_value(const struct overlay *overlay)
{
    return overlay->bytes + overlay->key_size;
}

static int compare(const void *a, size_t a_size, const void *b, size_t b_size)
{
    int order = memcmp(a, b, a_size < b_size ? a_size : b_size);
    if (order)
        return order;
    return a_size < b_size ? -1 : a_size > b_size;
}

/* ---- Writing. ---- */

static tr_status put(struct worker *worker, struct durable_actor *actor, tr_bytes key,
                     tr_bytes value, bool is_deleted)
{
    if (!key.size || !key.data || (value.size && !value.data))
        return TR_INVALID_ARGUMENT;
    if (key.size > TR_KV_KEY_MAX || value.size > TR_KV_VALUE_MAX)
        return TR_TOO_LARGE;
    struct overlay *overlay =
        source_resize(&worker->source, NULL, sizeof *overlay + key.size + value.size);
    struct store_batch *batch = overlay ? tr__durable_stretch_batch(actor) : NULL;
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
    *overlay = (struct overlay){.stretch = actor->stretch_last + 1,
                                .is_deleted = is_deleted,
                                .key_size = key.size,
                                .value_size = value.size};
    memcpy(overlay->bytes, key.data, key.size);
    if (value.size)
        memcpy(overlay->bytes + key.size, value.data, value.size);
    list_push_last(&actor->overlays, &overlay->link);
    return TR_OK;
}

void tr_kv_put(tr_self *self, tr_bytes key, tr_bytes value)
{
    TURN_VERB(self);
    struct durable_actor *actor = need(self, "tr_kv_put");
    tr_status status = put(self->worker, actor, key, value, false);
    if (status != TR_OK)
        tr_crash(self, status, "tr_kv_put: %s", tr_status_text(status));
}

void tr_kv_delete(tr_self *self, tr_bytes key)
{
    TURN_VERB(self);
    struct durable_actor *actor = need(self, "tr_kv_delete");
    tr_status status = put(self->worker, actor, key, (tr_bytes){NULL, 0}, true);
    if (status != TR_OK)
        tr_crash(self, status, "tr_kv_delete: %s", tr_status_text(status));
}

/* ---- Reading. ---- */

static tr_bytes copy(tr_self *self, const void *data, size_t size)
{
    char *bytes = tr_scratch(self, size + 1); /* a NUL behind it, for text */
    if (size)
        memcpy(bytes, data, size);
    return (tr_bytes){bytes, size};
}

static const struct overlay *overlay_find(const struct durable_actor *actor, tr_bytes key)
{
    for (const struct list *link = actor->overlays.previous; link != &actor->overlays;
         link = link->previous) {
        const struct overlay *overlay = LIST_OWNER(link, struct overlay, link);
        if (overlay->key_size == key.size && memcmp(overlay->bytes, key.data, key.size) == 0)
            return overlay;
    }
    return NULL;
}

bool tr_kv_get(tr_self *self, tr_bytes key, tr_bytes *value)
{
    TURN_VERB(self);
    struct durable_actor *actor = need(self, "tr_kv_get");
    if (!value || !key.size || !key.data)
        tr_crash(self, TR_INVALID_ARGUMENT, "tr_kv_get: no key, or nowhere to put its value");
    const struct overlay *overlay = overlay_find(actor, key);
    if (overlay && overlay->is_deleted)
        return false;
    if (overlay) {
        *value = copy(self, overlay_value(overlay), overlay->value_size);
        return true;
    }
    const struct durable_kind *kind = actor->kind;
    tr_bytes stored;
    tr_status status = tr__store_read_kv(host_desk(kind->host, self->worker)->reader,
                                         kind->declared->name,
                                         actor_key(actor),
                                         key,
                                         &stored);
    if (status == TR_NOT_FOUND)
        return false;
    if (status != TR_OK)
        tr_crash(self, status, "tr_kv_get: %s", tr_status_text(status));
    *value = copy(self, stored.data, stored.size);
    return true;
}

/* Pairs that a list collects, in the order of their keys. */
struct pairs {
    tr_self *self;
    tr_kv *items;
    size_t count;
    size_t room;
    bool is_out_of_memory;
};

static bool pairs_grow(struct pairs *pairs)
{
    if (pairs->count < pairs->room)
        return true;
    size_t room = pairs->room ? 2 * pairs->room : 16;
    tr_kv *items = tr_try_scratch(pairs->self, room * sizeof *items);
    if (!items) {
        pairs->is_out_of_memory = true;
        return false;
    }
    if (pairs->count)
        memcpy(items, pairs->items, pairs->count * sizeof *items);
    pairs->items = items;
    pairs->room = room;
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

static bool on_row(void *context, const struct store_row *row)
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

/* Applies what is not on disk yet. */
static bool pairs_overlay(struct pairs *pairs, const struct overlay *overlay)
{
    size_t at = 0;
    int order = 1;
    while (at < pairs->count) {
        const tr_bytes *key = &pairs->items[at].key;
        order = compare(key->data, key->size, overlay->bytes, overlay->key_size);
        if (order >= 0)
            break;
        at++;
    }
    bool is_there = at < pairs->count && order == 0;
    if (overlay->is_deleted) {
        if (is_there)
            memmove(&pairs->items[at],
                    &pairs->items[at + 1],
                    (--pairs->count - at) * sizeof pairs->items[0]);
        return true;
    }
    if (!is_there) {
        if (!pairs_grow(pairs))
            return false;
        memmove(&pairs->items[at + 1],
                &pairs->items[at],
                (pairs->count++ - at) * sizeof pairs->items[0]);
        pairs->items[at].key = pairs_copy(pairs, overlay->bytes, overlay->key_size);
    }
    pairs->items[at].value = pairs_copy(pairs, overlay_value(overlay), overlay->value_size);
    return !pairs->is_out_of_memory;
}

size_t tr_kv_list(tr_self *self, tr_bytes prefix, tr_bytes from, const tr_kv **list, size_t max)
{
    TURN_VERB(self);
    struct durable_actor *actor = need(self, "tr_kv_list");
    const struct durable_kind *kind = actor->kind;
    if (!list)
        tr_crash(self, TR_INVALID_ARGUMENT, "tr_kv_list: nowhere to put the pairs");
    struct pairs pairs = {.self = self};
    size_t pending = 0;
    LIST_EACH (link, &actor->overlays)
        pending++;
    /* Each that is to be deleted may be one of those that are read. */
    const struct store_range range = {
        .prefix = prefix, .from = from, .limit = max > SIZE_MAX - pending ? 0 : max + pending};
    tr_status status = TR_OK;
    if (max)
        status = tr__store_list_kv(host_desk(kind->host, self->worker)->reader,
                                   kind->declared->name,
                                   actor_key(actor),
                                   &range,
                                   on_row,
                                   &pairs);
    if (status != TR_OK && status != TR_NOT_FOUND)
        tr_crash(self, status, "tr_kv_list: %s", tr_status_text(status));
    LIST_EACH (link, &actor->overlays) {
        const struct overlay *overlay = LIST_OWNER(link, struct overlay, link);
        bool is_asked =
            overlay->key_size >= prefix.size &&
            (!prefix.size || memcmp(overlay->bytes, prefix.data, prefix.size) == 0) &&
            (!from.size || compare(overlay->bytes, overlay->key_size, from.data, from.size) >= 0);
        if (is_asked && !pairs_overlay(&pairs, overlay))
            break;
    }
    if (pairs.is_out_of_memory)
        tr_crash(self, TR_NO_MEMORY, "tr_kv_list: out of memory");
    *list = pairs.items;
    return pairs.count < max ? pairs.count : max;
}
