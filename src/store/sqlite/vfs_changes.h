/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Which pages of the database file were written while a copy of it is made.
 *
 * The copy reads the file beside the thread that writes it. A page is noted after it was written.
 * So if the copy has read the page before or during that write, it finds the page here later, and
 * copies it again.
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
    /* one bit for each of the first `pages` pages; later pages were not copied yet */
    uint64_t *bits;
    uint64_t pages;
};

void tr__vfs_changes_init(struct vfs_changes *changes);
/**
 * Replaces the bits with `bits`, which it borrows, and returns the previous ones, or NULL if there
 * were none. If `bits` is NULL, pages are no longer noted. Any thread.
 */
uint64_t *tr__vfs_changes_swap(struct vfs_changes *changes, uint64_t *bits, uint64_t pages);
/** Notes a page, counted from 0. Any thread. */
void tr__vfs_changes_add(struct vfs_changes *changes, uint64_t page);

/**
 * Notes a page after a write to the database, if a copy is made. If the write ended before is_on
 * was set, the copy reads the new contents.
 */
static inline void vfs_changed(struct vfs_changes *changes, uint64_t page)
{
    if (atom32_load(&changes->is_on, ATOM_ACQUIRE)) /* pairs with tr__vfs_changes_swap */
        tr__vfs_changes_add(changes, page);
}

#endif
