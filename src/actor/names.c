/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/names.h"

#include <string.h>

enum { BUCKETS_FIRST = 16 };

void tr__names_init(struct names *names, const struct memory_source *source, struct hash_key key)
{
    names->key = key;
    names->source = *source;
    for (int i = 0; i < NAMES_PARTS; i++) {
        struct names_part *part = &names->parts[i];
        lock_init(&part->lock);
        part->buckets = NULL;
        part->bucket_count = 0;
        part->count = 0;
    }
}

void tr__names_deinit(struct names *names)
{
    for (int i = 0; i < NAMES_PARTS; i++) {
        struct names_part *part = &names->parts[i];
        for (size_t bucket = 0; bucket < part->bucket_count; bucket++) {
            struct name *name = part->buckets[bucket];
            while (name) {
                struct name *next = name->next;
                source_resize(&names->source, name, 0);
                name = next;
            }
        }
        source_resize(&names->source, part->buckets, 0);
        part->buckets = NULL;
        part->bucket_count = 0;
        part->count = 0;
    }
}

bool tr__name_is_valid(const char *name)
{
    size_t length = 0;
    for (; name[length]; length++) {
        char c = name[length];
        bool is_ok = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
                     c == '_' || c == '.' || c == '-';
        if (!is_ok || length == TR_NAME_MAX)
            return false;
    }
    return length > 0;
}

static struct names_part *part_of(struct names *names, uint64_t hash)
{
    return &names->parts[hash % NAMES_PARTS];
}

static struct name **bucket_of(struct names_part *part, uint64_t hash)
{
    return &part->buckets[(hash / NAMES_PARTS) & (part->bucket_count - 1)];
}

/* Under the lock. */
static struct name *part_find(struct names_part *part, uint64_t hash, const char *path)
{
    if (!part->bucket_count)
        return NULL;
    struct name *name = *bucket_of(part, hash);
    while (name && (name->hash != hash || strcmp(name->path, path) != 0))
        name = name->next;
    return name;
}

/* Doubles the buckets when there are as many names. Under the lock. */
static bool part_grow(struct names *names, struct names_part *part)
{
    if (part->count < part->bucket_count)
        return true;
    size_t count = part->bucket_count ? 2 * part->bucket_count : BUCKETS_FIRST;
    struct name **buckets = source_resize(&names->source, NULL, count * sizeof(struct name *));
    if (!buckets)
        return part->bucket_count > 0; /* longer chains serve as well */
    memset(buckets, 0, count * sizeof(struct name *));
    struct names_part old = *part;
    part->buckets = buckets;
    part->bucket_count = count;
    for (size_t i = 0; i < old.bucket_count; i++) {
        struct name *name = old.buckets[i];
        while (name) {
            struct name *next = name->next;
            struct name **bucket = bucket_of(part, name->hash);
            name->next = *bucket;
            *bucket = name;
            name = next;
        }
    }
    source_resize(&names->source, old.buckets, 0);
    return true;
}

static tr_status add(struct names *names, const char *path, uint64_t ref, bool is_hidden,
                     struct name **added)
{
    size_t length = strlen(path);
    TR_ASSERT(length <= TR_PATH_MAX);
    uint64_t hash = hash_bytes(names->key, path, length);
    struct name *name = source_resize(&names->source, NULL, sizeof *name + length + 1);
    if (!name)
        return TR_NO_MEMORY;
    const char *last = strrchr(path, '/');
    name->hash = hash;
    name->ref = ref;
    atom32_init(&name->is_hidden, is_hidden);
    name->path_length = (uint16_t)length;
    name->last = (uint16_t)(last ? last - path + 1 : 0);
    memcpy(name->path, path, length + 1);

    struct names_part *part = part_of(names, hash);
    tr_status status = TR_OK;
    lock_take(&part->lock);
    if (part_find(part, hash, path)) {
        status = TR_NAME_EXISTS;
    } else if (!part_grow(names, part)) {
        status = TR_NO_MEMORY;
    } else {
        struct name **bucket = bucket_of(part, hash);
        name->next = *bucket;
        *bucket = name;
        part->count++;
    }
    lock_give(&part->lock);
    if (status != TR_OK) {
        source_resize(&names->source, name, 0);
        return status;
    }
    ATOM_POKE(added, name);
    return TR_OK;
}

tr_status tr__names_add(struct names *names, const char *path, uint64_t ref, struct name **added)
{
    return add(names, path, ref, false, added);
}

tr_status tr__names_reserve(struct names *names, const char *path, uint64_t ref,
                            struct name **added)
{
    return add(names, path, ref, true, added);
}

void tr__names_show(struct name *name)
{
    if (name)
        atom32_store(&name->is_hidden, 0, ATOM_RELEASE); /* partner: tr__names_find */
}

void tr__names_take_out(struct names *names, struct name *name)
{
    struct names_part *part = part_of(names, name->hash);
    lock_take(&part->lock);
    struct name **link = bucket_of(part, name->hash);
    while (*link != name)
        link = &(*link)->next;
    *link = name->next;
    name->ref = 0;
    part->count--;
    lock_give(&part->lock);
}

void tr__names_free(struct names *names, struct name *name)
{
    source_resize(&names->source, name, 0);
}

void tr__names_remove(struct names *names, struct name *name)
{
    tr__names_take_out(names, name);
    tr__names_free(names, name);
}

uint64_t tr__names_find(struct names *names, const char *path)
{
    size_t length = strlen(path);
    if (length > TR_PATH_MAX)
        return 0;
    uint64_t hash = hash_bytes(names->key, path, length);
    struct names_part *part = part_of(names, hash);
    lock_take(&part->lock);
    struct name *name = part_find(part, hash, path);
    bool is_there = name && !atom32_load(&name->is_hidden, ATOM_ACQUIRE); /* partner: show */
    uint64_t ref = is_there ? name->ref : 0;
    lock_give(&part->lock);
    return ref;
}

size_t tr__names_count(struct names *names)
{
    size_t count = 0;
    for (int i = 0; i < NAMES_PARTS; i++) {
        lock_take(&names->parts[i].lock);
        count += names->parts[i].count;
        lock_give(&names->parts[i].lock);
    }
    return count;
}
