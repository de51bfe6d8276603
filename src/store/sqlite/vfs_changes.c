/* SPDX-License-Identifier: Apache-2.0 */
/** Which pages were written while a copy is made: see vfs_changes.h. */
#include "store/sqlite/vfs_changes.h"

#include <stddef.h>

void tr__vfs_changes_init(struct vfs_changes *changes)
{
    *changes = (struct vfs_changes){.bits = NULL};
    lock_init(&changes->lock);
}

uint64_t *tr__vfs_changes_swap(struct vfs_changes *changes, uint64_t *bits, uint64_t pages)
{
    lock_take(&changes->lock);
    uint64_t *before = changes->bits;
    changes->bits = bits;
    changes->pages = bits ? pages : 0;
    atom32_store(&changes->is_on, bits != NULL, ATOM_RELEASE); /* pairs with vfs_changed */
    lock_give(&changes->lock);
    return before;
}

void tr__vfs_changes_add(struct vfs_changes *changes, uint64_t page)
{
    lock_take(&changes->lock);
    if (page < changes->pages)
        changes->bits[page / 64] |= UINT64_C(1) << page % 64;
    lock_give(&changes->lock);
}
