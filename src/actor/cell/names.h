/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The directory: which actor lives at which path.
 *
 * A hash table in parts. Who changes a part holds its lock. Who looks for a path that is there takes
 * none: it follows the chain of its bucket and has found the path when the entry still shows a ref.
 * One that finds nothing looks again under the lock, since a chain may change below a reader: then it
 * may miss what is there, but never finds what is not. Entries, and tables that were outgrown, are freed when
 * no reader can stand at them any more (queue/grace.h). The hash is keyed, since names may come from
 * outside. An entry holds the path, so a named actor's path costs nothing more.
 */
#ifndef ACTOR_CELL_NAMES_H
#define ACTOR_CELL_NAMES_H

#include <troupe/status.h>

#include "base/hash.h"
#include "mem/source.h"
#include "os/atomic.h"
#include "os/lock.h"
#include "queue/grace.h"

struct cell;
struct tr_system;

enum { NAMES_PARTS = 16 };

struct tr_behavior;

/** What was taken out and is not freed yet. */
struct names_spent {
    struct names_spent *next;
    uint64_t stamp;
};

struct name {
    struct names_spent spent; /* first: it is freed as this */
    atomptr next;             /* in its bucket; written under the part's lock */
    uint64_t hash;
    uint64_t ref;                       /* of its actor */
    atom64 shown;                       /* the ref, when others may find it; 0 before and after */
    const struct tr_behavior *behavior; /* of an actor of the pool, else NULL; fixed when shown */
    bool is_out;                        /* it was taken out; its owner's */
    uint16_t path_length;
    uint16_t last; /* where the last part of the path begins */
    char path[];   /* ends with NUL */
};

struct names_table {
    struct names_spent spent; /* first, as above */
    size_t mask;              /* of a bucket's number */
    atomptr buckets[];        /* of struct name; written under the part's lock */
};

struct names {
    struct hash_key key;
    struct memory_source source;
    struct grace grace;
    struct names_part {
        _Alignas(64) struct lock lock;
        /* Under the lock. */
        atomptr table; /* NULL at first; others may read it */
        size_t count;
        _Alignas(64) struct lock spent_lock;
        /* Under that lock: what was taken out. */
        uint32_t fresh_count;
        struct names_spent *fresh;   /* without a stamp */
        struct names_spent *waiting; /* with one */
    } parts[NAMES_PARTS];
};

/** What stands at a path. */
struct names_found {
    uint64_t ref;                       /* 0: nothing that others may find */
    const struct tr_behavior *behavior; /* see struct name */
};

void tr__names_init(struct names *names, const struct memory_source *source, struct hash_key key);
void tr__names_deinit(struct names *names);

/** Whether a name is 1 to 128 of A-Z a-z 0-9 _ . - */
bool tr__name_is_valid(const char *name);

/**
 * The lock under which others than its owner read the name of the actor in this slot. An entry is
 * freed only after its actor was seen without it under this lock: see actor/cell/view.h.
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
/** As tr__names_add, of the pool. With TR_NAME_EXISTS *found is what stands there. */
TR_MUST_CHECK tr_status tr__names_share(struct names *names, const char *path, uint64_t ref,
                                        const struct tr_behavior *behavior, struct name **name,
                                        struct names_found *found);
/** Its actor can be reached. NULL does nothing. Who reserved it. */
void tr__names_show(struct name *name);
/** Unregisters an entry: the path is free, the entry still readable. Any thread. */
void tr__names_take_out(struct names *names, struct name *name);
/** Frees an entry that was taken out, when nobody can read it; NULL does nothing. Any thread. */
void tr__names_free(struct names *names, struct name *name);
/** Both. Any thread. */
void tr__names_remove(struct names *names, struct name *name);
/**
 * The ref at a path, 0 for none. Any thread; `reader` has joined names->grace and is this thread's
 * alone. NULL: the lock is taken in any case.
 */
uint64_t tr__names_find(struct names *names, struct grace_reader *reader, const char *path);
/** The same of a path of this length, and what else is known of it. */
struct names_found tr__names_look(struct names *names, struct grace_reader *reader,
                                  const char *path, size_t length);
/** Entries now. Any thread. */
size_t tr__names_count(struct names *names);

/**
 * The path of an actor, into TR_PATH_MAX + 1 bytes; gives the length of the whole, as snprintf
 * does. Any thread that knows it alive.
 */
size_t tr__cell_path(struct tr_system *system, const struct cell *cell, char *path);

#endif
