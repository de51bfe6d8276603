/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Which pages of the database file were written while a copy of that file is made.
 *
 * One thread copies the file while another thread writes to it. The writer notes a page after it
 * has written the page. If the copying thread has read the page before or during that write, it
 * finds the page here later and copies it again.
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
    /* One bit for each of the first `pages` pages. Pages after these were not copied yet. */
    uint64_t *bits;
    uint64_t pages;
};

void tr__vfs_changes_init(struct vfs_changes *changes);
/**
 * Replaces the bits with `bits`, which are borrowed. Returns the previous bits, or NULL if there
 * were none. If `bits` is NULL, no pages are noted from now on. Any thread.
 */
uint64_t *tr__vfs_changes_swap(struct vfs_changes *changes, uint64_t *bits, uint64_t pages);
/** Notes a page. Pages are counted from 0. Any thread. */
void tr__vfs_changes_add(struct vfs_changes *changes, uint64_t page);

/**
 * If a copy is being made, notes a page after a write to the database. A write that ended before
 * is_on was set need not be noted, because the copy reads the new contents.
 */
static inline void vfs_changed(struct vfs_changes *changes, uint64_t page)
{
    if (atom32_load(&changes->is_on, ATOM_ACQUIRE)) /* pairs with tr__vfs_changes_swap */
        tr__vfs_changes_add(changes, page);
}

#endif
