/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The hash table of keyed timers. It uses open addressing with linear probing. The home of an entry
 * is the slot whose index is the high bits of the entry's hash.
 *
 * 1. No slot between the home of an entry and its slot is empty. To keep this rule, a removal moves
 *    later entries back into the hole. Nothing is marked as deleted, so adding and removing all the
 *    time causes no rehash.
 * 2. An entry moves only to a lower slot (the slots are a ring), and never across an empty slot. A
 *    walk begins at an empty slot and goes down. So when a removal moves an entry to the current
 *    slot, the walk has visited this entry already.
 * 3. A table grows when it is more than three quarters full, and shrinks by half when it is less
 *    than an eighth full. After a table has grown or shrunk, entries must be added or removed for
 *    at least a quarter of its slots before its size changes again.
 *
 * Because homes are the high bits, a table that grows reads and writes memory in order. It does not
 * read the entries themselves, because the slots have the hashes.
 */
#include "timer/keys.h"

#include "base/assert.h"

#include <assert.h>
#include <string.h>

enum {
    TABLE_BITS_MIN = 2,  /* four slots fill one block, which is a cache line */
    TABLE_BITS_MAX = 31, /* memory runs out before a table gets this large */
};

static_assert(sizeof(struct keys_slot) == 16, "a slot is a quarter of a cache line");
static_assert(offsetof(struct keyed_timer, key) + TIMER_KEY_SHORT + 1 == 128, "two cache lines");
static_assert(TR_TIMER_KEY_MAX <= UINT8_MAX, "a length fits");

static inline uint32_t table_mask(const struct timer_keys *keys)
{
    return (UINT32_C(1) << keys->bits) - 1;
}

static inline uint32_t table_home(const struct timer_keys *keys, uint32_t hash)
{
    return hash >> (32 - keys->bits);
}

static inline uint32_t key_hash(const struct timer_pool *pool, const char *key, size_t length)
{
    return (uint32_t)(hash_bytes(pool->key, key, length) >> 32);
}

static inline uint64_t key_word(const char *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

/*
 * Compares two keys. Keys are so short that a call of memcmp would cost as much as the comparison
 * itself.
 */
static inline bool key_equals(const char *a, const char *b, size_t length)
{
    if (length < sizeof(uint64_t)) {
        for (size_t i = 0; i < length; i++) {
            if (a[i] != b[i])
                return false;
        }
        return true;
    }
    size_t last = length - sizeof(uint64_t); /* the last word may overlap the word before it */
    for (size_t i = 0; i < last; i += sizeof(uint64_t)) {
        if (key_word(a + i) != key_word(b + i))
            return false;
    }
    return key_word(a + last) == key_word(b + last);
}

static inline void key_copy(char *to, const char *from, size_t length)
{
    if (length < sizeof(uint64_t)) {
        for (size_t i = 0; i < length; i++)
            to[i] = from[i];
    } else {
        size_t last = length - sizeof(uint64_t);
        for (size_t i = 0; i < last; i += sizeof(uint64_t))
            memcpy(to + i, from + i, sizeof(uint64_t));
        memcpy(to + last, from + last, sizeof(uint64_t));
    }
    to[length] = '\0';
}

static inline bool entry_has_key(struct timer_entry *entry, const char *key, size_t length)
{
    return entry->keyed.key_length == length && key_equals(keyed_of(entry)->key, key, length);
}

static struct timer_entry *entry_new(struct timer_pool *pool, const char *key, size_t length)
{
    uint8_t block_class;
    size_t size = offsetof(struct keyed_timer, key) + length + 1;
    struct keyed_timer *timer = tr__block_take(&pool->blocks, size, &block_class);
    if (!timer)
        return NULL;
    timer->entry.node = (struct timer_node){0};
    timer->entry.state = TIMER_KEYED;
    timer->entry.keyed.block_class = block_class;
    timer->entry.keyed.key_length = (uint8_t)length;
    timer->entry.envelope = NULL;
    timer->context = (struct timer_context){0};
    key_copy(timer->key, key, length);
    return &timer->entry;
}

static void entry_free(struct timer_keys *keys, struct timer_pool *pool, struct timer_entry *entry)
{
    if (keys->last == entry)
        keys->last = NULL;
    tr__block_give(&pool->blocks, keyed_of(entry), entry->keyed.block_class);
}

static void table_insert(struct timer_keys *keys, struct timer_entry *entry, uint32_t hash)
{
    uint32_t at = table_home(keys, hash);
    while (keys->slots[at].entry)
        at = (at + 1) & table_mask(keys);
    keys->slots[at] = (struct keys_slot){entry, hash};
}

/* Returns the entry of a key in a table; NULL if there is none. */
static struct timer_entry *table_find(const struct timer_keys *keys, uint32_t hash, const char *key,
                                      size_t length)
{
    uint32_t at = table_home(keys, hash);
    for (; keys->slots[at].entry; at = (at + 1) & table_mask(keys)) {
        const struct keys_slot *slot = &keys->slots[at];
        if (slot->hash == hash && entry_has_key(slot->entry, key, length))
            return slot->entry;
    }
    return NULL;
}

/* Empties a slot, and moves later entries back towards their homes, as rule 1 demands. */
static void table_remove_at(struct timer_keys *keys, uint32_t hole)
{
    uint32_t mask = table_mask(keys);
    for (uint32_t at = (hole + 1) & mask; keys->slots[at].entry; at = (at + 1) & mask) {
        uint32_t home = table_home(keys, keys->slots[at].hash);
        if (((at - home) & mask) < ((at - hole) & mask))
            continue; /* the home of this entry is after the hole, so the entry stays */
        keys->slots[hole] = keys->slots[at];
        hole = at;
    }
    keys->slots[hole].entry = NULL;
}

static void table_free(struct timer_keys *keys, struct timer_pool *pool)
{
    tr__block_give(&pool->blocks, keys->slots, keys->block_class);
    keys->bits = 0;
    keys->one = NULL;
}

/* Moves all entries to a table of 2^bits slots. Returns false if out of memory. */
static bool table_resize(struct timer_keys *keys, struct timer_pool *pool, unsigned bits)
{
    TR_ASSERT(bits >= TABLE_BITS_MIN);
    TR_ASSERT(bits <= TABLE_BITS_MAX);
    struct timer_keys table = *keys;
    size_t size = sizeof(struct keys_slot) << bits;
    table.slots = tr__block_take(&pool->blocks, size, &table.block_class);
    if (!table.slots)
        return false;
    memset(table.slots, 0, size);
    table.bits = (uint8_t)bits;
    if (keys->bits == 0) {
        struct timer_entry *one = keys->one;
        uint32_t hash = key_hash(pool, keyed_of(one)->key, one->keyed.key_length);
        keyed_of(one)->context.mark = hash;
        table_insert(&table, one, hash);
    } else {
        for (uint32_t at = 0; at <= table_mask(keys); at++) {
            if (keys->slots[at].entry)
                table_insert(&table, keys->slots[at].entry, keys->slots[at].hash);
        }
        table_free(keys, pool);
    }
    *keys = table;
    return true;
}

/* Makes sure that the table has space for one more entry. Returns false when out of memory. */
static bool table_reserve(struct timer_keys *keys, struct timer_pool *pool)
{
    if (keys->bits == 0)
        return table_resize(keys, pool, TABLE_BITS_MIN);
    size_t slots = (size_t)1 << keys->bits;
    if (keys->count + 1 <= slots - slots / 4)
        return true;
    return keys->bits < TABLE_BITS_MAX && table_resize(keys, pool, keys->bits + 1U);
}

/* Whether a table of 2^bits slots is much too large for this number of entries. */
static inline bool table_is_sparse(uint32_t count, unsigned bits)
{
    return bits > TABLE_BITS_MIN && count < (UINT32_C(1) << bits) / 8;
}

/*
 * Shrinks the table if its entries need less memory. Without memory for the smaller table, the
 * table stays large.
 */
static void table_shrink(struct timer_keys *keys, struct timer_pool *pool)
{
    if (keys->bits == 0)
        return;
    if (keys->count == 0) {
        table_free(keys, pool);
        return;
    }
    unsigned bits = keys->bits;
    while (table_is_sparse(keys->count, bits))
        bits--;
    if (bits < keys->bits)
        (void)table_resize(keys, pool, bits);
}

/*
 * Makes an entry for a key that has none yet. `hash` is used only if the table has an entry
 * already.
 */
static struct timer_entry *entry_add(struct timer_keys *keys, struct timer_pool *pool,
                                     const char *key, size_t length, uint32_t hash)
{
    struct timer_entry *entry = entry_new(pool, key, length);
    if (!entry)
        return NULL;
    if (keys->bits == 0 && !keys->one) {
        keys->one = entry;
    } else {
        if (!table_reserve(keys, pool)) {
            entry_free(keys, pool, entry);
            return NULL;
        }
        keyed_of(entry)->context.mark = hash;
        table_insert(keys, entry, hash);
    }
    keys->count++;
    return entry;
}

void tr__timer_pool_init(struct timer_pool *pool, const struct memory_source *source,
                         struct hash_key key)
{
    tr__block_init(&pool->blocks, source);
    tr__loose_init(&pool->loose, source);
    pool->key = key;
}

void tr__timer_pool_deinit(struct timer_pool *pool)
{
    tr__block_deinit(&pool->blocks);
    tr__loose_deinit(&pool->loose);
}

void tr__timer_pool_trim(struct timer_pool *pool)
{
    tr__block_trim(&pool->blocks);
    tr__loose_trim(&pool->loose);
}

struct timer_entry *tr__keys_find(const struct timer_keys *keys, const struct timer_pool *pool,
                                  const char *key, size_t length)
{
    if (keys->count == 0)
        return NULL;
    if (keys->last && entry_has_key(keys->last, key, length))
        return keys->last;
    if (keys->bits == 0)
        return entry_has_key(keys->one, key, length) ? keys->one : NULL;
    return table_find(keys, key_hash(pool, key, length), key, length);
}

struct timer_entry *tr__keys_obtain(struct timer_keys *keys, struct timer_pool *pool,
                                    const char *key, size_t length, bool *is_new)
{
    TR_ASSERT(length <= TR_TIMER_KEY_MAX);
    struct timer_entry *entry = NULL;
    uint32_t hash = 0;
    if (keys->last && entry_has_key(keys->last, key, length)) {
        entry = keys->last;
    } else if (keys->bits > 0) {
        hash = key_hash(pool, key, length);
        entry = table_find(keys, hash, key, length);
    } else if (keys->one) {
        if (entry_has_key(keys->one, key, length))
            entry = keys->one;
        else
            hash = key_hash(pool, key, length);
    }
    bool is_made = !entry;
    if (is_made) {
        entry = entry_add(keys, pool, key, length, hash);
        if (!entry)
            return NULL;
    }
    keys->last = entry;
    *is_new = is_made;
    return entry;
}

void tr__keys_remove(struct timer_keys *keys, struct timer_pool *pool, struct timer_entry *entry)
{
    TR_ASSERT(keys->count > 0);
    TR_ASSERT(!timer_is_armed(&entry->node));
    if (keys->bits == 0) {
        TR_ASSERT(keys->one == entry);
        keys->one = NULL;
    } else {
        uint32_t at = table_home(keys, keyed_of(entry)->context.mark);
        while (keys->slots[at].entry != entry) {
            /* if this fails, the entry belongs to another table */
            TR_ASSERT(keys->slots[at].entry);
            at = (at + 1) & table_mask(keys);
        }
        table_remove_at(keys, at);
    }
    keys->count--;
    entry_free(keys, pool, entry);
    if (keys->count == 0 || table_is_sparse(keys->count, keys->bits))
        table_shrink(keys, pool);
}

struct keys_walk tr__keys_walk(const struct timer_keys *keys)
{
    if (keys->bits == 0)
        return (struct keys_walk){.left = keys->count};
    uint32_t empty = 0;
    while (keys->slots[empty].entry)
        empty++;
    return (struct keys_walk){.at = empty, .left = table_mask(keys)};
}

struct timer_entry *tr__keys_walk_next(struct timer_keys *keys, struct timer_pool *pool,
                                       struct keys_walk *walk)
{
    walk->given = NULL;
    while (walk->left > 0) {
        walk->left--;
        if (keys->bits == 0) {
            walk->given = keys->one;
            return walk->given;
        }
        walk->at = (walk->at - 1) & table_mask(keys);
        walk->given = keys->slots[walk->at].entry;
        if (walk->given)
            return walk->given;
    }
    table_shrink(keys, pool);
    return NULL;
}

void tr__keys_walk_remove(struct timer_keys *keys, struct timer_pool *pool, struct keys_walk *walk)
{
    TR_ASSERT(walk->given);
    TR_ASSERT(!timer_is_armed(&walk->given->node));
    if (keys->bits == 0)
        keys->one = NULL;
    else
        table_remove_at(keys, walk->at);
    keys->count--;
    entry_free(keys, pool, walk->given);
    walk->given = NULL;
}
