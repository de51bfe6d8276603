/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What the connections of one store share: the index of the log, its locks, and those of the file.
 *
 * SQLite keeps these in a mapped file and in locks of the kernel, since other processes might come.
 * Nobody else comes to a store, which is locked; so they are memory and counters of this process, and
 * a read needs no system call for them. docs/design/store.md says what keeps foreign tools out.
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
    struct lock lock; /* of all of it; a leaf */

    /* The log's index, in regions of one size, which stay where they are. */
    void **regions;
    size_t region_count;
    size_t users;
    int slots[SQLITE_SHM_NLOCK]; /* above 0: shared by so many; -1: held by one */

    /* The file: who has which of SQLite's locks. */
    unsigned shared;
    const struct shm_user *reserved;  /* or more */
    const struct shm_user *exclusive; /* or is about to */
};

/** One connection's part. */
struct shm_user {
    int level; /* of the file: SQLITE_LOCK_NONE ... */
    bool is_mapped;
    uint32_t shared; /* bits of slots */
    uint32_t exclusive;
};

void tr__shm_init(struct shm *shm, const struct memory_source *source);
void tr__shm_deinit(struct shm *shm);

/* These are what sqlite3_io_methods says of the functions of the same names. */
int tr__shm_lock_file(struct shm *shm, struct shm_user *user, int level);
int tr__shm_unlock_file(struct shm *shm, struct shm_user *user, int level);
bool tr__shm_is_reserved(struct shm *shm);
int tr__shm_map(struct shm *shm, struct shm_user *user, int index, int size, bool may_extend,
                void volatile **region);
int tr__shm_lock(struct shm *shm, struct shm_user *user, int first, int count, int flags);
void tr__shm_barrier(struct shm *shm);
void tr__shm_unmap(struct shm *shm, struct shm_user *user);

#endif
