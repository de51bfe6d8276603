/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Lists keys, and destroys actors by key.
 *
 * A worker reads with its own connection to the store. All clients share one connection under a
 * lock. They may wait for the lock, because their threads may wait for the disk anyway.
 */
#include "durable/keys.h"

#include <string.h>
#include <troupe/keys.h>

#include "actor/cell/client.h"
#include "actor/cell/names.h"
#include "actor/cell/slots.h"
#include "actor/cell/verb.h"
#include "base/sized.h"
#include "durable/actor.h"
#include "durable/drive.h"
#include "durable/host.h"
#include "durable/kind.h"
#include "durable/turn.h"
#include "store/read.h"

/* The caller of the functions below: a turn or a client. */
struct looker {
    struct tr_system *system;
    struct grace_reader *names; /* the mark of this caller as a reader of the directory of names */
    tr_self *self;              /* NULL: a client */
    tr_client *client;
};

static struct looker looker_of_self(tr_self *self)
{
    return (struct looker){
        .system = self->worker->system, .names = &self->worker->reader, .self = self};
}

static struct looker looker_of_client(tr_client *client)
{
    return (struct looker){.system = client->system, .names = &client->reader, .client = client};
}

/* Takes the caller's reader of the store. The caller must give it back. */
static tr_status reader_take(const struct looker *looker, struct store_reader **reader)
{
    struct durable_host *host = looker->system->durable.host;
    if (looker->self) {
        *reader = host_context(host, looker->self->worker)->reader;
        return TR_OK;
    }
    lock_take(&host->clients_lock);
    tr_status status = TR_OK;
    if (!host->clients_reader)
        status = tr__store_reader_new(host->store, &host->clients_reader);
    *reader = host->clients_reader;
    if (status != TR_OK)
        lock_give(&host->clients_lock);
    return status;
}

static void reader_give(const struct looker *looker)
{
    if (!looker->self)
        lock_give(&looker->system->durable.host->clients_lock);
}

static const struct durable_kind *kind_find(const struct looker *looker,
                                            const tr_durable_kind *declared)
{
    const struct durable_host *host = looker->system->durable.host;
    for (size_t i = 0; host && i < host->kind_count; i++) {
        if (host->kinds[i].origin == declared)
            return &host->kinds[i];
    }
    return NULL;
}

static bool is_awake(const struct looker *looker, const struct durable_kind *kind, tr_bytes key)
{
    char path[TR_PATH_MAX + 1];
    size_t length = tr__durable_path(kind, key, path);
    if (!length)
        return false;
    struct names_found found = tr__names_look(looker->system->names, looker->names, path, length);
    return found.ref && slots_find(looker->system->slots, found.ref);
}

/* ---- Lists. ---- */

/* The keys that a list collects. For each key, `bytes` has its size (a uint32_t), its bytes and a
 * NUL. */
struct collected {
    char *bytes;
    size_t size;
    size_t capacity;
    size_t count;
    size_t max;
    struct memory_source source;
    bool has_more;
    bool is_out_of_memory;
};

static bool on_key(void *context, const struct store_row *row)
{
    struct collected *keys = context;
    if (keys->count == keys->max) {
        keys->has_more = true;
        return false;
    }
    size_t needed = keys->size + sizeof(uint32_t) + row->key.size + 1;
    if (needed > keys->capacity) {
        size_t capacity = 2 * needed < 4096 ? 4096 : 2 * needed;
        char *bytes = source_resize(&keys->source, keys->bytes, capacity);
        keys->is_out_of_memory = !bytes;
        if (!bytes)
            return false;
        keys->bytes = bytes;
        keys->capacity = capacity;
    }
    uint32_t size = (uint32_t)row->key.size;
    memcpy(keys->bytes + keys->size, &size, sizeof size);
    if (size)
        memcpy(keys->bytes + keys->size + sizeof size, row->key.data, size);
    keys->bytes[needed - 1] = 0;
    keys->size = needed;
    keys->count++;
    return true;
}

static tr_status keys_read(const struct looker *looker, const struct durable_kind *kind,
                           tr_bytes prefix, tr_bytes after, struct collected *keys)
{
    struct store_reader *reader;
    tr_status status = reader_take(looker, &reader);
    if (status != TR_OK)
        return status;
    status = tr__store_list_keys(
        reader, kind->declared->name, prefix, after, keys->max + 1, on_key, keys);
    reader_give(looker);
    return status == TR_OK && keys->is_out_of_memory ? TR_NO_MEMORY : status;
}

/* Returns memory for a page. The memory belongs to the turn or to the client. For a client, frees
 * the client's last page. */
static void *page_alloc(const struct looker *looker, size_t size)
{
    if (looker->self)
        return tr_try_scratch(looker->self, size);
    tr_client *client = looker->client;
    void *memory = source_resize(&client->system->source, NULL, size);
    if (!memory)
        return NULL;
    source_resize(&client->system->source, client->listed, 0);
    client->listed = memory;
    return memory;
}

static tr_status page_make(const struct looker *looker, const struct durable_kind *kind,
                           const struct collected *keys, tr_durable_page *page)
{
    size_t head = keys->count * sizeof(tr_durable_key);
    tr_durable_key *items = page_alloc(looker, head + keys->size + 1);
    if (!items)
        return TR_NO_MEMORY;
    char *at = (char *)items + head;
    if (keys->size)
        memcpy(at, keys->bytes, keys->size);
    *page = (tr_durable_page){.keys = items, .count = keys->count, .has_more = keys->has_more};
    for (size_t i = 0; i < keys->count; i++) {
        uint32_t size;
        memcpy(&size, at, sizeof size);
        items[i].key = (tr_bytes){at + sizeof size, size};
        items[i].is_awake = is_awake(looker, kind, items[i].key);
        page->last = items[i].key;
        at += sizeof size + size + 1;
    }
    return TR_OK;
}

/* Lists keys into *page. `size` is the size of *page with which the program was compiled. */
static tr_status keys_list(const struct looker *looker, const tr_durable_kind *declared,
                           const tr_durable_range *given, tr_durable_page *page, size_t size)
{
    const struct durable_kind *kind = kind_find(looker, declared);
    tr_durable_range copy;
    const tr_durable_range *range = &copy;
    if (!sized_read(&copy, sizeof copy, given, given->size ? given->size : sizeof copy))
        return TR_INVALID_ARGUMENT;
    tr_bytes prefix = range->prefix_bytes;
    if (range->prefix)
        prefix = (tr_bytes){range->prefix, strnlen(range->prefix, TR_KEY_MAX + 1)};
    if ((range->prefix && range->prefix_bytes.size) || (prefix.size && !prefix.data) ||
        (range->after.size && !range->after.data))
        return TR_INVALID_ARGUMENT;
    if (range->max > TR_DURABLE_LIST_MAX)
        return TR_LIMIT;
    if (!kind)
        return TR_NOT_FOUND;
    struct collected keys = {.max = range->max ? range->max : TR_DURABLE_LIST_COUNT,
                             .source = looker->system->source};
    tr_durable_page made;
    tr_status status = keys_read(looker, kind, prefix, range->after, &keys);
    if (status == TR_OK)
        status = page_make(looker, kind, &keys, &made);
    source_resize(&keys.source, keys.bytes, 0);
    if (status == TR_OK)
        sized_write(page, size, &made, sizeof made);
    return status;
}

tr_status tr_self_durable_list(tr_self *self, const tr_durable_kind *kind,
                               const tr_durable_range *range, tr_durable_page *page, size_t size)
{
    TURN_VERB(self);
    if (!self || !kind || !range || !page || !size)
        return TR_INVALID_ARGUMENT;
    if (self->is_cancelled)
        return TR_CANCELLED;
    struct looker looker = looker_of_self(self);
    return keys_list(&looker, kind, range, page, size);
}

tr_status tr_client_durable_list(tr_client *client, const tr_durable_kind *kind,
                                 const tr_durable_range *range, tr_durable_page *page, size_t size)
{
    CLIENT_VERB(client);
    if (!client || !kind || !range || !page || !size)
        return TR_INVALID_ARGUMENT;
    struct looker looker = looker_of_client(client);
    return keys_list(&looker, kind, range, page, size);
}

/* ---- One key. ---- */

struct wanted {
    tr_bytes key;
    bool is_there;
};

static bool on_wanted(void *context, const struct store_row *row)
{
    struct wanted *wanted = context;
    wanted->is_there = row->key.size == wanted->key.size &&
                       memcmp(row->key.data, wanted->key.data, wanted->key.size) == 0;
    return false;
}

static tr_status key_exists(const struct looker *looker, const tr_durable_kind *declared,
                            tr_bytes key)
{
    const struct durable_kind *kind = kind_find(looker, declared);
    struct wanted wanted = {.key = key};
    struct store_reader *reader;
    if (!key.data || !key.size || key.size > TR_KEY_MAX)
        return TR_INVALID_ARGUMENT;
    if (!kind)
        return TR_NOT_FOUND;
    tr_status status = reader_take(looker, &reader);
    if (status != TR_OK)
        return status;
    /* List one key that begins with `key`. If `key` itself exists, it is the first of these in the
     * order of keys. */
    status = tr__store_list_keys(
        reader, kind->declared->name, key, (tr_bytes){NULL, 0}, 1, on_wanted, &wanted);
    reader_give(looker);
    return status != TR_OK || wanted.is_there ? status : TR_NOT_FOUND;
}

tr_status tr_self_durable_exists(tr_self *self, const tr_durable_kind *kind, tr_bytes key)
{
    TURN_VERB(self);
    if (!self || !kind)
        return TR_INVALID_ARGUMENT;
    if (self->is_cancelled)
        return TR_CANCELLED;
    struct looker looker = looker_of_self(self);
    return key_exists(&looker, kind, key);
}

tr_status tr_client_durable_exists(tr_client *client, const tr_durable_kind *kind, tr_bytes key)
{
    CLIENT_VERB(client);
    if (!client || !kind)
        return TR_INVALID_ARGUMENT;
    struct looker looker = looker_of_client(client);
    return key_exists(&looker, kind, key);
}

/* ---- Destroying. ---- */

tr_next tr__durable_remove(tr_self *self, void *state, const void *message)
{
    TURN_VERB(self);
    static const struct tr_done done;
    struct durable_actor *actor = durable_of(self);
    tr_next next;
    (void)state;
    (void)message;
    if (tr__durable_is_over(self, actor, &next))
        return next;
    if (!tr__frame_begin(self, actor, "tr_durable_destroy", false))
        return tr_fail(self, TR_NO_MEMORY, "out of memory for a turn");
    tr_status status = tr_destroy(self);
    next = status == TR_OK ? tr_self_reply(self, &tr_type_tr_done, &done) : (tr_next){TR_NEXT_SAME};
    if (status != TR_OK)
        turn_fail_reply(self, status);
    next = tr__frame_done(self, actor, next, false);
    tr__frame_end(self, actor);
    tr__durable_drive(self->worker, actor, false);
    return next;
}

/* Returns TR_OK if the key exists, so that it can be destroyed. Without this check, a key that does
 * not exist would be woken. */
static tr_status key_can_end(const struct looker *looker, const tr_durable_kind *declared,
                             tr_bytes key)
{
    const struct durable_kind *kind = kind_find(looker, declared);
    if (kind && is_awake(looker, kind, key))
        return TR_OK;
    return key_exists(looker, declared, key);
}

tr_status tr_self_durable_destroy(tr_self *self, const tr_durable_kind *kind, tr_bytes key)
{
    TURN_VERB(self);
    static const struct tr_durable_remove remove;
    static const tr_bytes none = {NULL, 0};
    if (!self || !kind)
        return TR_INVALID_ARGUMENT;
    struct looker looker = looker_of_self(self);
    tr_status status = self->is_cancelled ? TR_CANCELLED : key_can_end(&looker, kind, key);
    if (status != TR_OK)
        return status;
    tr_pending ask = tr_self_ask_key(self, kind, key, none, &tr_type_tr_durable_remove, &remove, 0);
    return tr_self_try_await(self, ask, NULL);
}

tr_status tr_client_durable_destroy(tr_client *client, const tr_durable_kind *kind, tr_bytes key)
{
    CLIENT_VERB(client);
    static const struct tr_durable_remove remove;
    static const tr_bytes none = {NULL, 0};
    if (!client || !kind)
        return TR_INVALID_ARGUMENT;
    struct looker looker = looker_of_client(client);
    tr_status status = key_can_end(&looker, kind, key);
    if (status != TR_OK)
        return status;
    tr_pending ask =
        tr_client_ask_key(client, kind, key, none, &tr_type_tr_durable_remove, &remove, 0);
    return tr_client_try_await(client, ask, NULL);
}
