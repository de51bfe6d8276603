/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The directory: which actor lives at which path.
 *
 * A hash table in parts, each under a lock of its own. The hash is keyed, since names may come from
 * outside. An entry holds the path, so a named actor's path costs nothing more.
 */
#ifndef ACTOR_NAMES_H
#define ACTOR_NAMES_H

#include <troupe/limits.h>
#include <troupe/status.h>

#include "base/hash.h"
#include "mem/source.h"
#include "os/atomic.h"
#include "os/lock.h"

enum { NAMES_PARTS = 16 };

struct name {
    struct name *next;
    uint64_t hash;
    uint64_t ref;     /* 0: it was taken out */
    atom32 is_hidden; /* taken, but its actor cannot be reached yet: nobody finds it */
    uint16_t path_length;
    uint16_t last; /* where the last part of the path begins */
    char path[];   /* ends with NUL */
};

struct names {
    struct hash_key key;
    struct memory_source source;
    struct names_part {
        _Alignas(64) struct lock lock;
        /* Under the lock. */
        struct name **buckets;
        size_t bucket_count; /* a power of two, 0 at first */
        size_t count;
    } parts[NAMES_PARTS];
};

void tr__names_init(struct names *names, const struct memory_source *source, struct hash_key key);
void tr__names_deinit(struct names *names);

/** Whether a name is 1 to 128 of A-Z a-z 0-9 _ . - */
bool tr__name_is_valid(const char *name);

/**
 * The lock under which others than its owner read the name of the actor in this slot. An entry is
 * freed only after its actor was seen without it under this lock: see actor/view.h.
 */
static inline struct lock *names_lock_of(struct names *names, uint32_t slot)
{
    return &names->parts[slot % NAMES_PARTS].lock;
}

/** Registers a path, copied. TR_NAME_EXISTS, TR_NO_MEMORY. Any thread. */
TR_MUST_CHECK tr_status tr__names_add(struct names *names, const char *path, uint64_t ref,
                                      struct name **name);
/** The same, but nobody finds it before tr__names_show: its actor cannot be told anything yet. */
TR_MUST_CHECK tr_status tr__names_reserve(struct names *names, const char *path, uint64_t ref,
                                          struct name **name);
/** Its actor can be reached. NULL does nothing. Who reserved it. */
void tr__names_show(struct name *name);
/** Unregisters an entry: the path is free, the entry still readable. Any thread. */
void tr__names_take_out(struct names *names, struct name *name);
/** Frees an entry that was taken out; NULL does nothing. Any thread. */
void tr__names_free(struct names *names, struct name *name);
/** Both. Any thread. */
void tr__names_remove(struct names *names, struct name *name);
/** The ref at a path, 0 for none. Any thread. */
uint64_t tr__names_find(struct names *names, const char *path);
/** Entries now. Any thread. */
size_t tr__names_count(struct names *names);

#endif
