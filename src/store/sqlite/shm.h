/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What the connections of one store share: the index of the log, its locks, and those of the file.
 *
 * SQLite keeps these in a mapped file and in locks of the kernel, because other processes might use
 * the database. A store is locked, so no other process does. Therefore they are memory and counters
 * of this process, and a read needs no system call for them. docs/design/store.md says what keeps
 * foreign tools out.
 */
#ifndef STORE_SQLITE_SHM_H
#define STORE_SQLITE_SHM_H

#include "mem/source.h"
#include "os/lock.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct shm {
    struct memory_source source;
    struct lock lock; /* protects all members; a leaf */

    /* The log's index, in regions of one size, which are never moved. */
    void **regions;
    size_t region_count;
    size_t users;
    int slots[SQLITE_SHM_NLOCK]; /* above 0: shared by this many connections; -1: held by one */

    /* The connections that have SQLite's locks of the file. */
    unsigned shared;
    const struct shm_user *reserved;  /* the one with this level or more */
    const struct shm_user *exclusive; /* the one that has this level or is about to get it */
};

/** The part of one connection. */
struct shm_user {
    int level; /* its lock of the file: SQLITE_LOCK_NONE and higher */
    bool is_mapped;
    uint32_t shared; /* bits of slots */
    uint32_t exclusive;
};

void tr__shm_init(struct shm *shm, const struct memory_source *source);
void tr__shm_deinit(struct shm *shm);

/* See sqlite3_io_methods for the functions of the same names. */
int tr__shm_lock_file(struct shm *shm, struct shm_user *user, int level);
int tr__shm_unlock_file(struct shm *shm, struct shm_user *user, int level);
bool tr__shm_is_reserved(struct shm *shm);
int tr__shm_map(struct shm *shm, struct shm_user *user, int index, int size, bool may_extend,
                void volatile **region);
int tr__shm_lock(struct shm *shm, struct shm_user *user, int first, int count, int flags);
void tr__shm_barrier(struct shm *shm);
void tr__shm_unmap(struct shm *shm, struct shm_user *user);

#endif
