/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Which pages of the database file were written while a copy of it is made.
 *
 * The copy reads the file beside the thread that writes it. A page is noted after it was written. So a page that the
 * copy has read before or during the write is found here afterwards, and is copied again.
 */
#ifndef STORE_SQLITE_VFS_CHANGES_H
#define STORE_SQLITE_VFS_CHANGES_H

#include "os/atomic.h"
#include "os/lock.h"

#include <stdbool.h>
#include <stdint.h>

struct vfs_changes {
    atom32 is_on;
    struct lock lock; /* protects the members below */
    /* one bit for each of the first `pages` pages; later pages are not yet copied */
    uint64_t *bits;
    uint64_t pages;
};

void tr__vfs_changes_init(struct vfs_changes *changes);
/**
 * Replaces the bits with `bits`, which are lent, and returns the previous ones; NULL: there were none. If `bits` is
 * NULL, nothing is noted from now on. Any thread.
 */
uint64_t *tr__vfs_changes_swap(struct vfs_changes *changes, uint64_t *bits, uint64_t pages);
/** Notes a page, counted from 0. Any thread. */
void tr__vfs_changes_add(struct vfs_changes *changes, uint64_t page);

/**
 * Notes a page after a write to the database, if a copy is made. A write that ended before is_on was set is seen by the
 * copy.
 */
static inline void vfs_changed(struct vfs_changes *changes, uint64_t page)
{
    if (atom32_load(&changes->is_on, ATOM_ACQUIRE)) /* partner: tr__vfs_changes_swap */
        tr__vfs_changes_add(changes, page);
}

#endif
