/* SPDX-License-Identifier: Apache-2.0 */
/** What SQLite needs from the platform besides files: time, randomness and sleep. */
#include "store/sqlite/vfs_world.h"

#include "store/sqlite/vfs.h"

#include <string.h>

static struct vfs *vfs_of(sqlite3_vfs *base)
{
    return (struct vfs *)(void *)base;
}

static int vfs_randomness(sqlite3_vfs *base, int size, char *result)
{
    const tr_platform *platform = vfs_of(base)->source.platform;
    for (int i = 0; i < size; i += 8) {
        uint64_t bits = platform->random(platform);
        memcpy(result + i, &bits, (size_t)(size - i < 8 ? size - i : 8));
    }
    return size;
}

static int vfs_sleep(sqlite3_vfs *base, int microseconds)
{
    /* SQLite sleeps only when threads wait for each other. Without a real VFS there is one thread,
     * so it never sleeps. */
    struct vfs *vfs = vfs_of(base);
    return vfs->real ? vfs->real->xSleep(vfs->real, microseconds) : microseconds;
}

/* Returns the time in milliseconds since the beginning of Julian day 0, which SQLite uses. The year
 * 1970 began in the middle of day 2440587. */
static int vfs_time_ms(sqlite3_vfs *base, sqlite3_int64 *ms)
{
    const tr_platform *platform = vfs_of(base)->source.platform;
    *ms = INT64_C(210866760000000) + platform->wall_now(platform) / TR_MILLISECOND;
    return SQLITE_OK;
}

static int vfs_time(sqlite3_vfs *base, double *days)
{
    sqlite3_int64 ms = 0;
    int result = vfs_time_ms(base, &ms);
    *days = (double)ms / 86400000.0;
    return result;
}

void tr__vfs_set_world(sqlite3_vfs *base)
{
    base->xRandomness = vfs_randomness;
    base->xSleep = vfs_sleep;
    base->xCurrentTime = vfs_time;
    base->xCurrentTimeInt64 = vfs_time_ms;
}
