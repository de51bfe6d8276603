/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The directory of names: finds the actor at a path.
 *
 * The directory is a hash table in parts. A thread that changes a part holds the lock of that part.
 * A thread that looks a path up takes no lock: it follows the chain of the bucket, and has found
 * the path if the entry still shows a ref. If it finds nothing, it repeats the lookup under the
 * lock. This is needed because a chain may change during an unlocked lookup: the lookup may then
 * miss an entry that is there, but it never finds an entry that is not there. Removed entries, and
 * tables that were replaced, are freed when no reader can be using them (queue/grace.h). The hash
 * is keyed, because names may come from outside. An entry holds the path, so the path of a named
 * actor needs no other memory.
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

/** A link in a list of entries and tables that were removed and are not freed yet. */
struct names_spent {
    atomptr next; /* the next struct names_spent of the list; written under spent_lock */
};

/**
 * An entry of the directory. It is small, because every named actor has one.
 *
 * 1. While `shown` is set, `behavior` is the behavior of an actor of the pool; for other actors it is
 *    NULL. When the entry is removed from its bucket, `behavior` becomes the address of the entry
 *    itself. Later the same memory is a struct names_spent.
 * 2. `shown` is set to 0 before `behavior` changes. So if a reader finds the same ref in `shown`
 *    before and after it has read `behavior`, then it has read a behavior or NULL.
 */
struct name {
    /* must be the first member, because a removed entry becomes a struct names_spent */
    atomptr behavior;
    atomptr next; /* the next entry in the same bucket; written under the part's lock */
    /* the ref, while other threads may find the entry; otherwise 0 */
    atom64 shown;
    uint32_t hash;
    uint16_t path_length;
    char path[]; /* ends with NUL */
};

struct names_table {
    struct names_spent spent; /* must be the first member: the table is freed through it */
    size_t mask;              /* hash & mask is the number of a bucket */
    /* the first struct name of each bucket; written under the part's lock */
    atomptr buckets[];
};

struct names {
    struct hash_key key;
    struct memory_source source;
    struct grace grace;
    struct names_part {
        _Alignas(64) struct lock lock;
        /* These two are written under `lock`: */
        atomptr table; /* NULL until the first entry; other threads may read it */
        size_t count;
        _Alignas(64) struct lock spent_lock;
        /* Entries and tables that were removed and are not freed yet, under spent_lock: */
        uint32_t fresh_count;
        struct names_spent *fresh; /* entries and tables without a stamp */
        /* entries and tables that wait until all readers have passed `stamp` */
        struct names_spent *waiting;
        uint64_t stamp;
    } parts[NAMES_PARTS];
};

/** The result of tr__names_look. */
struct names_found {
    uint64_t ref;                       /* 0: the lookup has found no actor at the path */
    const struct tr_behavior *behavior; /* see struct name */
};

void tr__names_init(struct names *names, const struct memory_source *source, struct hash_key key);
void tr__names_deinit(struct names *names);

/** Whether a byte stands in a name as it is, without an escape. */
static inline bool name_char_is_plain(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || c == '_' ||
           c == '.' || c == '-';
}

/** Returns the value of a digit of an escape, or -1 if the character is no such digit. */
static inline int name_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/**
 * Reads the escape at `at`. Returns false if there is no escape, or if the byte need not be
 * escaped.
 */
static inline bool name_escape_read(const char *at, unsigned char *byte)
{
    int high = at[0] == '%' ? name_digit(at[1]) : -1;
    int low = high >= 0 ? name_digit(at[2]) : -1;
    if (low < 0)
        return false;
    *byte = (unsigned char)(high << 4 | low);
    return !name_char_is_plain(*byte);
}

/** Whether a name has 1 to 128 characters of A-Z a-z 0-9 _ . - */
bool tr__name_is_plain(const char *name);
/** As tr__name_is_plain, but the name may have escapes: see troupe/name.h. */
bool tr__name_is_valid(const char *name);

/**
 * Returns the lock under which threads other than the owner read the name of the actor in this
 * slot. Before the owner frees an entry, it removes the entry from the actor's cell under this
 * lock; see actor/cell/view.h.
 */
static inline struct lock *names_lock_of(struct names *names, uint32_t slot)
{
    return &names->parts[slot % NAMES_PARTS].lock;
}

/** Registers a path, which is copied. Returns TR_OK, TR_NAME_EXISTS or TR_NO_MEMORY. Any thread. */
TR_MUST_CHECK tr_status tr__names_add(struct names *names, const char *path, uint64_t ref,
                                      struct name **name);
/**
 * As tr__names_add, but lookups do not find the entry before tr__names_show, because its actor
 * cannot receive messages yet.
 */
TR_MUST_CHECK tr_status tr__names_reserve(struct names *names, const char *path,
                                          struct name **name);
/**
 * As tr__names_add, but for an actor of the pool with this behavior. On TR_NAME_EXISTS, sets *found
 * to the entry at this path.
 */
TR_MUST_CHECK tr_status tr__names_share(struct names *names, const char *path, uint64_t ref,
                                        const struct tr_behavior *behavior, struct name **name,
                                        struct names_found *found);
/**
 * Makes lookups find `ref` at an entry of tr__names_reserve, because its actor can now receive
 * messages. NULL does nothing. Only the thread that reserved the entry may call it.
 */
void tr__names_show(struct name *name, uint64_t ref);
/** Sets the behavior of a reserved entry, for an actor of the pool. NULL does nothing. */
void tr__names_set_behavior(struct name *name, const struct tr_behavior *behavior);
/**
 * Whether an entry was removed from the directory. Only the owner of the entry's actor may call it.
 */
bool tr__names_is_out(const struct name *name);
/**
 * Removes an entry from the directory: the path is free afterwards, but the entry can still be
 * read. Any thread.
 */
void tr__names_take_out(struct names *names, struct name *name);
/**
 * Frees an entry that was removed, when no thread can read it any more. NULL does nothing. Any
 * thread.
 */
void tr__names_free(struct names *names, struct name *name);
/** Calls tr__names_take_out and tr__names_free. Any thread. */
void tr__names_remove(struct names *names, struct name *name);
/**
 * Returns the ref at a path, 0 for none. `reader` must have joined names->grace, and only this
 * thread uses it. If `reader` is NULL, the lookup takes the lock. Any thread.
 */
uint64_t tr__names_find(struct names *names, struct grace_reader *reader, const char *path);
/**
 * As tr__names_find, but for a path that has `length` bytes and need not end with a NUL. Also
 * returns the behavior.
 */
struct names_found tr__names_look(struct names *names, struct grace_reader *reader,
                                  const char *path, size_t length);
/** Returns the number of entries. Any thread. */
size_t tr__names_count(struct names *names);

/**
 * Writes the path of an actor into TR_PATH_MAX + 1 bytes. Returns the length of the whole path, as
 * snprintf does. Any thread that knows that the actor is alive.
 */
size_t tr__cell_path(struct tr_system *system, const struct cell *cell, char *path);

#endif
