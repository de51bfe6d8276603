/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What the connections of one store share. This is the index of the log, the locks of the log, and
 * the locks of the database file.
 *
 * SQLite would keep the index in a mapped file and use locks of the kernel, because other processes
 * might use the database. A store is locked, so no other process uses it. Therefore the index is
 * memory of this process, and the locks are counters. So a read needs no system call for them.
 * docs/design/store.md says what keeps foreign tools out.
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
    struct lock lock; /* protects all members; a thread that has it takes no other lock */

    /* The index of the log. Its regions have equal size and are never moved. */
    void **regions;
    size_t region_count;
    size_t users;
    bool is_barred; /* no reader may begin */
    /* The locks of the log. Above 0: this many connections share the lock. -1: one connection has
     * it alone. */
    int slots[SQLITE_SHM_NLOCK];

    /* How many connections have SQLite's shared lock of the database file. */
    unsigned shared;
    /* The connection with the reserved lock or a higher one. NULL: there is none. */
    const struct shm_user *reserved;
    /* The connection with the exclusive lock. NULL: there is none. */
    const struct shm_user *exclusive;
};

/** The locks of one connection. */
struct shm_user {
    int level; /* lock of the connection on the database file: SQLITE_LOCK_NONE or higher */
    bool is_mapped;
    uint32_t shared; /* bits of the slots that the connection shares with others */
    uint32_t exclusive;
};

void tr__shm_init(struct shm *shm, const struct memory_source *source);
void tr__shm_deinit(struct shm *shm);

/* The next functions do what the functions of sqlite3_io_methods with the same names do. */
int tr__shm_lock_file(struct shm *shm, struct shm_user *user, int level);
int tr__shm_unlock_file(struct shm *shm, struct shm_user *user, int level);
bool tr__shm_is_reserved(struct shm *shm);
int tr__shm_map(struct shm *shm, struct shm_user *user, int index, int size, bool may_extend,
                void volatile **region);
int tr__shm_lock(struct shm *shm, struct shm_user *user, int first, int count, int flags);
void tr__shm_barrier(struct shm *shm);
void tr__shm_unmap(struct shm *shm, struct shm_user *user);

/** Lets no reader begin until tr__shm_admit. Returns true if no reader is reading now. */
bool tr__shm_bar(struct shm *shm);
void tr__shm_admit(struct shm *shm);
/**
 * Writes to the index of an empty log that the database has changed, and that the number of its
 * pages is not known. So each connection drops its cache before it reads again. Returns false if
 * the log is not empty. Call only after tr__shm_bar has returned true.
 */
bool tr__shm_renew(struct shm *shm);

#endif
