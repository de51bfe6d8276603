/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Changes what a store has on a disk in memory behind its back, by SQL, while no store is on it. Pages get
 * their sums; what is wrong then is in the rows.
 */
#ifndef TROUPE_TESTS_SUPPORT_TAMPER_H
#define TROUPE_TESTS_SUPPORT_TAMPER_H

#include "store/sqlite/link.h"
#include "support/stores.h"

static inline void tamper(struct store_disk *disk, const char *sql)
{
    static struct vfs vfs;
    struct link link;
    struct memory_source source = stores_source();
    ck_assert(tr__disk_take(disk));
    ck_assert_int_eq(tr__vfs_init(&vfs, &source, disk, "troupe.db", NULL), TR_OK);
    ck_assert_int_eq(tr__link_open(&link, &vfs, "troupe.db"), TR_OK);
    ck_assert_int_eq(tr__link_settle(&link, STORE_CACHE_BYTES), TR_OK);
    tr_status status = tr__link_execute(&link, sql);
    ck_assert_msg(status == TR_OK, "%s: %s", sql, sqlite3_errmsg(link.database));
    tr__link_close(&link);
    tr__vfs_deinit(&vfs);
    tr__disk_give(disk);
}

#endif
