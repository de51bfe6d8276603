/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Entries: which caller may write under a name, and which must wait for earlier entries.
 *
 * Invariants, under the store's lock:
 *
 * 1. The table has the newest entry of each name. When that entry was left and has no pending
 *    batches, the name is not in the table.
 * 2. An entry is drained if it is ready and none of its batches is pending. If an entry of a name
 *    is made while the previous entry is not drained, the new entry becomes the successor of the
 *    previous one, and is not ready yet. So the entries of a name form a chain, of which only the
 *    first is ready.
 * 3. An entry is freed when it was left and is drained. tr__store_leave frees it, or the committing
 *    thread just before it calls on_done of the entry's last batch.
 */
#include "store/entry.h"

#include "store/core.h"
#include "base/assert.h"

#include <string.h>

enum { BUCKETS_FIRST = 64 };

size_t tr__store_name(const char *kind, tr_bytes key, unsigned char name[STORE_NAME_MAX])
{
    size_t kind_size = kind ? strnlen(kind, TR_NAME_MAX + 1) : 0;
    if (kind_size == 0 || kind_size > TR_NAME_MAX || key.size == 0 || key.size > TR_KEY_MAX)
        return 0;
    memcpy(name, kind, kind_size);
    name[kind_size] = '\0';
    memcpy(name + kind_size + 1, key.data, key.size);
    return kind_size + 1 + key.size;
}

tr_status tr__store_entries_init(struct store *store)
{
    size_t size = BUCKETS_FIRST * sizeof *store->buckets;
    store->buckets = source_resize(&store->source, NULL, size);
    if (!store->buckets)
        return TR_NO_MEMORY;
    memset(store->buckets, 0, size);
    store->bucket_mask = BUCKETS_FIRST - 1;
    store->hash_key.low = store->platform->random(store->platform);
    store->hash_key.high = store->platform->random(store->platform);
    return TR_OK;
}

void tr__store_entries_deinit(struct store *store)
{
    TR_ASSERT(store->entry_count == 0);
    source_resize(&store->source, store->buckets, 0);
}

/* Doubles the size of the table. If there is no memory, the table keeps its size. */
static void entries_grow(struct store *store)
{
    size_t count = (store->bucket_mask + 1) * 2;
    struct store_entry **buckets =
        source_resize(&store->source, NULL, count * sizeof *store->buckets);
    if (!buckets)
        return;
    memset(buckets, 0, count * sizeof *buckets);
    for (size_t i = 0; i <= store->bucket_mask; i++) {
        for (struct store_entry *entry = store->buckets[i], *next; entry; entry = next) {
            next = entry->next;
            entry->next = buckets[entry->hash & (count - 1)];
            buckets[entry->hash & (count - 1)] = entry;
        }
    }
    source_resize(&store->source, store->buckets, 0);
    store->buckets = buckets;
    store->bucket_mask = count - 1;
}

static struct store_entry **place_of(struct store *store, const struct store_entry *like)
{
    struct store_entry **place = &store->buckets[like->hash & store->bucket_mask];
    while (*place && ((*place)->hash != like->hash || (*place)->name_size != like->name_size ||
                      memcmp((*place)->name, like->name, like->name_size) != 0))
        place = &(*place)->next;
    return place;
}

static void table_remove(struct store *store, struct store_entry *entry)
{
    struct store_entry **place = place_of(store, entry);
    TR_ASSERT(*place == entry);
    *place = entry->next;
    entry->is_in_table = false;
    store->entry_count--;
}

static bool is_drained(const struct store_entry *entry)
{
    return entry->pending == 0 && atom32_load(&entry->is_ready, ATOM_RELAXED);
}

/* Replaces the previous entry of a name by a new entry. From now on the previous entry is stale. */
static void entry_supersede(struct store *store, struct store_entry *entry)
{
    struct store_entry **place = place_of(store, entry);
    struct store_entry *before = *place;
    if (before) {
        entry->next = before->next;
        before->is_in_table = false;
        atom32_store(&before->is_refused, !before->is_left, ATOM_RELAXED);
        atom32_store(
            &before->is_current, 0, ATOM_RELEASE); /* pairs with tr__store_entry_is_current */
        if (!is_drained(before)) {
            before->successor = entry;
            atom32_store(&entry->is_ready, 0, ATOM_RELAXED);
        }
    } else {
        store->entry_count++;
    }
    *place = entry;
    entry->is_in_table = true;
    if (store->entry_count > store->bucket_mask)
        entries_grow(store);
}

/* Makes an entry, but does not put it into the table. */
static tr_status entry_make(struct store *store, const char *kind, tr_bytes key,
                            struct store_entry **entry)
{
    unsigned char name[STORE_NAME_MAX];
    size_t name_size = tr__store_name(kind, key, name);
    if (name_size == 0)
        return TR_INVALID_ARGUMENT;
    if (tr__store_status(store) != TR_OK)
        return TR_STORE_FAILED;
    if (store->is_read_only)
        return TR_NOT_PERMITTED;
    struct store_entry *made = source_resize(&store->source, NULL, sizeof *made + name_size);
    if (!made)
        return TR_NO_MEMORY;
    *made = (struct store_entry){
        .store = store,
        .hash = hash_bytes(store->hash_key, name, name_size),
        .name_size = name_size,
    };
    memcpy(made->name, name, name_size);
    atom32_init(&made->is_current, 1);
    atom32_init(&made->is_ready, 1);
    atom32_init(&made->is_broken, 0);
    *entry = made;
    return TR_OK;
}

/* Gives the entry its generation and puts it into the table. Call with the lock. */
static void entry_begin(struct store *store, struct store_entry *entry)
{
    entry->generation =
        (struct store_generation){.epoch = store->epoch, .counter = ++store->counter};
    entry_supersede(store, entry);
}

tr_status tr__store_enter(struct store *store, const char *kind, tr_bytes key,
                          void (*on_ready)(void *context, struct store_entry *entry), void *context,
                          struct store_entry **entry)
{
    struct store_entry *made;
    tr_status status = entry_make(store, kind, key, &made);
    if (status != TR_OK)
        return status;
    made->on_ready = on_ready;
    made->context = context;
    lock_take(&store->lock);
    entry_begin(store, made);
    lock_give(&store->lock);
    *entry = made;
    return TR_OK;
}

tr_status tr__store_enter_alone(struct store *store, const char *kind, tr_bytes key,
                                struct store_entry **entry)
{
    struct store_entry *made;
    tr_status status = entry_make(store, kind, key, &made);
    if (status != TR_OK)
        return status;
    lock_take(&store->lock);
    bool is_alone = !*place_of(store, made);
    if (is_alone)
        entry_begin(store, made);
    lock_give(&store->lock);
    if (is_alone)
        *entry = made;
    else
        source_resize(&store->source, made, 0);
    return is_alone ? TR_OK : TR_STORE_BUSY;
}

bool tr__store_entry_is_ready(const struct store_entry *entry)
{
    return atom32_load(&entry->is_ready, ATOM_ACQUIRE); /* pairs with pass_on */
}

bool tr__store_entry_is_current(const struct store_entry *entry)
{
    return atom32_load(&entry->is_current, ATOM_ACQUIRE); /* pairs with entry_supersede */
}

struct store_generation tr__store_entry_generation(const struct store_entry *entry)
{
    return entry->generation;
}

/* Makes the successor of a drained entry ready. If the successor was left and has no batches, does
 * the same with the entry after the successor, and so on. Puts entries that can be freed into
 * *garbage. Returns the entry whose on_ready must be called, or NULL. Call with the lock. */
static struct store_entry *pass_on(struct store *store, struct store_entry *entry,
                                   struct store_entry **garbage)
{
    *garbage = NULL;
    for (;;) {
        struct store_entry *next = entry->successor;
        entry->successor = NULL;
        if (entry->is_left) {
            if (entry->is_in_table)
                table_remove(store, entry);
            entry->next = *garbage;
            *garbage = entry;
        }
        if (!next)
            return NULL;
        atom32_store(&next->is_ready, 1, ATOM_RELEASE); /* pairs with tr__store_entry_is_ready */
        if (!next->is_left)
            return next;
        TR_ASSERT(next->pending == 0);
        entry = next;
    }
}

/* Makes the successor of a drained entry ready and calls its on_ready. Frees entries that are no
 * longer used. Call with the lock; releases the lock. */
static void entry_drained(struct store *store, struct store_entry *entry)
{
    struct store_entry *garbage;
    struct store_entry *ready = pass_on(store, entry, &garbage);
    void (*on_ready)(void *, struct store_entry *) = ready ? ready->on_ready : NULL;
    void *context = ready ? ready->context : NULL;
    lock_give(&store->lock);
    for (struct store_entry *next; garbage; garbage = next) {
        next = garbage->next;
        source_resize(&store->source, garbage, 0);
    }
    if (on_ready)
        on_ready(context, ready);
}

void tr__store_leave(struct store_entry *entry)
{
    struct store *store = entry->store;
    lock_take(&store->lock);
    TR_ASSERT(!entry->is_left);
    entry->is_left = true;
    if (is_drained(entry))
        entry_drained(store, entry);
    else
        lock_give(&store->lock);
}

void tr__store_entry_batch_done(struct store_entry *entry)
{
    struct store *store = entry->store;
    lock_take(&store->lock);
    TR_ASSERT(entry->pending > 0);
    entry->pending--;
    if (is_drained(entry) && (entry->is_left || entry->successor))
        entry_drained(store, entry);
    else
        lock_give(&store->lock);
}
