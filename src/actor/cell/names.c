/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/cell/names.h"

#include <string.h>
#include <troupe/limits.h>
#include <stdio.h>

#include "actor/cell/cell.h"
#include "actor/cell/slots.h"
#include "actor/cell/system.h"

struct cell;
struct tr_system;

enum {
    BUCKETS_FIRST = 16,
    BUCKETS_UNUSED = 4, /* a table with more than this many buckets for each name is too large */
    /*
     * the largest number of entries that one lookup without the lock passes. A lookup that passes more gives up,
     * because a change of the table may have led it from its chain to another one
     */
    CHAIN_MAX = 32,
    /* with at most this many readers, each removal of an entry checks whether any reader reads */
    READERS_FEW = 16,
    /* with more readers, one of SPENT_BATCH + (number of readers) removals checks whether any reader reads */
    SPENT_BATCH = 32
};

void tr__names_init(struct names *names, const struct memory_source *source, struct hash_key key)
{
    names->key = key;
    names->source = *source;
    grace_init(&names->grace);
    for (int i = 0; i < NAMES_PARTS; i++) {
        struct names_part *part = &names->parts[i];
        lock_init(&part->lock);
        atomptr_init(&part->table, NULL);
        part->count = 0;
        lock_init(&part->spent_lock);
        part->fresh = NULL;
        part->fresh_count = 0;
        part->waiting = NULL;
    }
}

static void spent_free(struct names *names, struct names_spent *spent)
{
    while (spent) {
        struct names_spent *next = atomptr_load(&spent->next, ATOM_RELAXED);
        source_resize(&names->source, spent, 0);
        spent = next;
    }
}

void tr__names_deinit(struct names *names)
{
    for (int i = 0; i < NAMES_PARTS; i++) {
        struct names_part *part = &names->parts[i];
        struct names_table *table = atomptr_load(&part->table, ATOM_RELAXED);
        for (size_t bucket = 0; table && bucket <= table->mask; bucket++) {
            struct name *name = atomptr_load(&table->buckets[bucket], ATOM_RELAXED);
            while (name) {
                struct name *next = atomptr_load(&name->next, ATOM_RELAXED);
                source_resize(&names->source, name, 0);
                name = next;
            }
        }
        source_resize(&names->source, table, 0);
        atomptr_store(&part->table, NULL, ATOM_RELAXED);
        part->count = 0;
        spent_free(names, part->fresh);
        spent_free(names, part->waiting);
        part->fresh = NULL;
        part->fresh_count = 0;
        part->waiting = NULL;
    }
}

bool tr__name_is_plain(const char *name)
{
    size_t length = 0;
    for (; name[length]; length++) {
        if (!name_char_is_plain((unsigned char)name[length]) || length == TR_NAME_MAX)
            return false;
    }
    return length > 0;
}

bool tr__name_is_valid(const char *name)
{
    size_t count = 0;
    for (; *name; name++, count++) {
        unsigned char byte;
        if (count == TR_NAME_MAX)
            return false;
        if (name_char_is_plain((unsigned char)*name))
            continue;
        if (!name_escape_read(name, &byte))
            return false;
        name += 2;
    }
    return count > 0;
}

/* ---- Entries that were removed and are not freed yet. ---- */

/*
 * Frees `spent`, now or in a later call, when no reader can be using it: rules 2 and 3 of
 * queue/grace.h, which also says what a stamp is. Most of the time no thread reads, and no stamp is
 * needed. If threads read, this function takes a stamp only for a whole batch, because a stamp
 * costs each reader a cache miss. Only one batch at a time waits with a stamp. Entries that are
 * removed meanwhile become the next batch.
 */
static void spend(struct names *names, struct names_part *part, struct names_spent *spent)
{
    struct names_spent *unread = NULL;
    struct names_spent *unread_fresh = NULL;
    uint32_t readers = grace_readers(&names->grace);
    lock_take(&part->spent_lock);
    atomptr_store(&spent->next, part->fresh, ATOM_RELEASE); /* pairs with found_at */
    part->fresh = spent;
    bool is_batch = ++part->fresh_count % (SPENT_BATCH + readers) == 0;
    if ((is_batch || readers <= READERS_FEW) && grace_is_idle(&names->grace)) {
        unread_fresh = part->fresh;
        unread = part->waiting;
        part->fresh = NULL;
        part->fresh_count = 0;
        part->waiting = NULL;
    } else if (is_batch) {
        if (part->waiting && part->stamp <= grace_oldest(&names->grace)) {
            unread = part->waiting;
            part->waiting = NULL;
        }
        if (!part->waiting) {
            part->waiting = part->fresh;
            part->stamp = grace_stamp(&names->grace);
            part->fresh = NULL;
            part->fresh_count = 0;
        }
    }
    lock_give(&part->spent_lock);
    spent_free(names, unread);
    spent_free(names, unread_fresh);
}

/* ---- A part, under its lock. ---- */

static struct names_part *part_of(struct names *names, uint32_t hash)
{
    return &names->parts[hash % NAMES_PARTS];
}

static atomptr *bucket_of(struct names_table *table, uint32_t hash)
{
    return &table->buckets[(hash / NAMES_PARTS) & table->mask];
}

static uint32_t hash_of(const struct names *names, const char *path, size_t length)
{
    return (uint32_t)hash_bytes(names->key, path, length);
}

/* Reads a link, with or without the lock: rules 1 and 2 of queue/grace.h. */
static struct name *link_load(const atomptr *link)
{
    return atomptr_load(link, ATOM_SEQ_CST); /* pairs with link_store */
}

/*
 * Writes a link. The store is sequentially consistent even when it only adds an entry, because no
 * reader may read the old value of the link after the store.
 */
static void link_store(atomptr *link, struct name *name)
{
    atomptr_store(link, name, ATOM_SEQ_CST); /* pairs with link_load */
}

static bool is_at(const struct name *name, uint32_t hash, const char *path, size_t length)
{
    return name->hash == hash && name->path_length == length &&
           memcmp(name->path, path, length) == 0;
}

static struct name *part_find(struct names_part *part, uint32_t hash, const char *path,
                              size_t length)
{
    TR_ASSERT_SLOW(lock_is_held(&part->lock));
    struct names_table *table = atomptr_load(&part->table, ATOM_RELAXED);
    struct name *name = table ? link_load(bucket_of(table, hash)) : NULL;
    while (name && !is_at(name, hash, path, length))
        name = link_load(&name->next);
    return name;
}

/*
 * Moves all entries to a table with another number of buckets. Returns the table that was replaced,
 * or NULL if there was no table before. If there is no memory, changes nothing and returns NULL.
 */
static struct names_table *part_resize(struct names *names, struct names_part *part, size_t count)
{
    TR_ASSERT_SLOW(lock_is_held(&part->lock));
    struct names_table *old = atomptr_load(&part->table, ATOM_RELAXED);
    struct names_table *table =
        source_resize(&names->source, NULL, sizeof *table + count * sizeof table->buckets[0]);
    if (!table)
        return NULL;
    table->mask = count - 1;
    for (size_t i = 0; i < count; i++)
        atomptr_init(&table->buckets[i], NULL);
    for (size_t i = 0; old && i <= old->mask; i++) {
        struct name *name = link_load(&old->buckets[i]);
        while (name) {
            struct name *next = link_load(&name->next);
            atomptr *bucket = bucket_of(table, name->hash);
            /*
             * From now on a reader at this entry continues in another chain. It may miss the entry
             * that it looks for.
             */
            link_store(&name->next, link_load(bucket));
            link_store(bucket, name);
            name = next;
        }
    }
    atomptr_store(&part->table, table, ATOM_SEQ_CST); /* pairs with look_unlocked */
    return old;
}

/*
 * Doubles the number of buckets if there are more than two names for each bucket. Sets *outgrown to
 * the table that was replaced, or NULL. Returns false if there is no table, and no memory for one.
 */
static bool part_grow(struct names *names, struct names_part *part, struct names_table **outgrown)
{
    const struct names_table *old = atomptr_load(&part->table, ATOM_RELAXED);
    if (old && part->count <= 2 * old->mask)
        return true;
    *outgrown = part_resize(names, part, old ? 2 * (old->mask + 1) : BUCKETS_FIRST);
    /* if there is no memory, the old table stays: its chains only become longer */
    return atomptr_load(&part->table, ATOM_RELAXED);
}

/* Halves the buckets if few of them are used. Returns the table that was replaced, or NULL. */
static struct names_table *part_shrink(struct names *names, struct names_part *part)
{
    const struct names_table *old = atomptr_load(&part->table, ATOM_RELAXED);
    size_t buckets = old->mask + 1;
    bool is_large = buckets > BUCKETS_FIRST && part->count < buckets / BUCKETS_UNUSED;
    return is_large ? part_resize(names, part, buckets / 2) : NULL;
}

/* ---- The whole directory. ---- */

/*
 * Reads the ref and the behavior of an entry, by the rules of struct name. If `name` is NULL,
 * returns zeros.
 */
static struct names_found found_at(const struct name *name)
{
    struct names_found found = {0};
    if (!name)
        return found;
    found.ref = atom64_load(&name->shown, ATOM_ACQUIRE); /* pairs with tr__names_show */
    /* pairs with tr__names_take_out and spend */
    found.behavior = atomptr_load(&name->behavior, ATOM_ACQUIRE);
    if (!found.ref || atom64_load(&name->shown, ATOM_RELAXED) != found.ref)
        return (struct names_found){0};
    return found;
}

static tr_status add(struct names *names, const char *path, uint64_t shown,
                     const struct tr_behavior *behavior, struct name **added,
                     struct names_found *found)
{
    size_t length = strlen(path);
    TR_ASSERT(length <= TR_PATH_MAX);
    uint32_t hash = hash_of(names, path, length);
    struct name *name =
        source_resize(&names->source, NULL, offsetof(struct name, path) + length + 1);
    if (!name)
        return TR_NO_MEMORY;
    atomptr_init(&name->behavior, (void *)(uintptr_t)behavior);
    atomptr_init(&name->next, NULL);
    atom64_init(&name->shown, shown);
    name->hash = hash;
    name->path_length = (uint16_t)length;
    memcpy(name->path, path, length + 1);

    struct names_part *part = part_of(names, hash);
    struct names_table *outgrown = NULL;
    tr_status status = TR_OK;
    lock_take(&part->lock);
    const struct name *other = part_find(part, hash, path, length);
    if (other) {
        *found = found_at(other);
        status = TR_NAME_EXISTS;
    } else if (!part_grow(names, part, &outgrown)) {
        status = TR_NO_MEMORY;
    } else {
        atomptr *bucket = bucket_of(atomptr_load(&part->table, ATOM_RELAXED), hash);
        link_store(&name->next, link_load(bucket));
        link_store(bucket, name);
        part->count++;
    }
    lock_give(&part->lock);
    if (outgrown)
        spend(names, part, &outgrown->spent);
    if (status != TR_OK) {
        source_resize(&names->source, name, 0);
        return status;
    }
    ATOM_POKE(added, name);
    return TR_OK;
}

tr_status tr__names_add(struct names *names, const char *path, uint64_t ref, struct name **added)
{
    struct names_found found;
    return add(names, path, ref, NULL, added, &found);
}

tr_status tr__names_reserve(struct names *names, const char *path, struct name **added)
{
    struct names_found found;
    return add(names, path, 0, NULL, added, &found);
}

tr_status tr__names_share(struct names *names, const char *path, uint64_t ref,
                          const struct tr_behavior *behavior, struct name **added,
                          struct names_found *found)
{
    return add(names, path, ref, behavior, added, found);
}

void tr__names_show(struct name *name, uint64_t ref)
{
    if (name)
        atom64_store(&name->shown, ref, ATOM_RELEASE); /* pairs with found_at */
}

void tr__names_set_behavior(struct name *name, const struct tr_behavior *behavior)
{
    if (name)
        atomptr_store(&name->behavior, (void *)(uintptr_t)behavior, ATOM_RELAXED);
}

bool tr__names_is_out(const struct name *name)
{
    return atomptr_load(&name->behavior, ATOM_RELAXED) == name;
}

void tr__names_take_out(struct names *names, struct name *name)
{
    struct names_part *part = part_of(names, name->hash);
    lock_take(&part->lock);
    atomptr *link = bucket_of(atomptr_load(&part->table, ATOM_RELAXED), name->hash);
    for (struct name *other; (other = link_load(link)) != name;)
        link = &other->next;
    /*
     * A reader that loads this 0 has found nothing, and repeats the lookup under the lock.
     */
    atom64_store(&name->shown, 0, ATOM_RELEASE);
    atomptr_store(&name->behavior, name, ATOM_RELEASE); /* pairs with found_at */
    /* The entry's own link does not change, because a reader may be at this entry. */
    link_store(link, link_load(&name->next));
    part->count--;
    struct names_table *outgrown = part_shrink(names, part);
    lock_give(&part->lock);
    if (outgrown)
        spend(names, part, &outgrown->spent);
}

void tr__names_free(struct names *names, struct name *name)
{
    if (name)
        spend(names, part_of(names, name->hash), (struct names_spent *)(void *)&name->behavior);
}

void tr__names_remove(struct names *names, struct name *name)
{
    tr__names_take_out(names, name);
    tr__names_free(names, name);
}

/*
 * Looks a path up without the lock. If another thread changes the table meanwhile, this function
 * may not find a path that is in the directory. Then the result has no ref.
 */
static struct names_found look_unlocked(struct names *names, struct grace_reader *reader,
                                        uint32_t hash, const char *path, size_t length)
{
    struct names_found found = {0};
    int steps = 0;
    grace_enter(&names->grace, reader);
    /* pairs with part_grow */
    struct names_table *table = atomptr_load(&part_of(names, hash)->table, ATOM_SEQ_CST);
    struct name *name = table ? link_load(bucket_of(table, hash)) : NULL;
    for (; name && steps < CHAIN_MAX; steps++, name = link_load(&name->next)) {
        if (is_at(name, hash, path, length)) {
            found = found_at(name);
            break;
        }
    }
    grace_leave(reader);
    return found;
}

struct names_found tr__names_look(struct names *names, struct grace_reader *reader,
                                  const char *path, size_t length)
{
    struct names_found found = {0};
    uint32_t hash = hash_of(names, path, length);
    if (reader)
        found = look_unlocked(names, reader, hash, path, length);
    if (found.ref)
        return found;
    struct names_part *part = part_of(names, hash);
    lock_take(&part->lock);
    found = found_at(part_find(part, hash, path, length));
    lock_give(&part->lock);
    return found;
}

uint64_t tr__names_find(struct names *names, struct grace_reader *reader, const char *path)
{
    size_t length = strlen(path);
    return length > TR_PATH_MAX ? 0 : tr__names_look(names, reader, path, length).ref;
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

size_t tr__cell_path(struct tr_system *system, const struct cell *cell, char *path)
{
    char tail[TR_PATH_MAX + 1] = "";
    size_t length = 0; /* length of the path so far: it is written from its end to its beginning */
    size_t cut = 0;
    char *end = tail + sizeof tail - 1;
    while (cell && !cell->name && cell != system->user.guardian) {
        char part[40];
        int written = snprintf(part,
                               sizeof part,
                               "/$%x.%x",
                               (unsigned)((uint32_t)cell->identity & system->slots->mask),
                               (unsigned)(cell_generation(cell) - system->slots->generation_first));
        if (written < 0 || length + (size_t)written > TR_PATH_MAX) {
            cut = TR_PATH_MAX;
            break;
        }
        length += (size_t)written;
        memcpy(end - length, part, (size_t)written);
        cell = slots_parent(system->slots, cell);
    }
    const char *group = cell && cell->name ? cell->name->path : "/user";
    if (!cell)
        group = "";
    snprintf(path, TR_PATH_MAX + 1, "%s%.*s", group, (int)length, end - length);
    return strlen(group) + length + cut;
}
