/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The zones that a system uses, by name: "Europe/Berlin". Each is read once, from $TZDIR or /usr/share/zoneinfo, and
 * does not change until the system ends. New rules need a restart.
 *
 * UTC, GMT and all of "Etc/..." need no files. Note that "Etc/GMT+5" is five hours west of Greenwich, as in POSIX.
 */
#ifndef CALENDAR_ZONES_H
#define CALENDAR_ZONES_H

#include "calendar/zone.h"
#include "os/lock.h"

#include <troupe/platform.h>

enum { ZONES_MAX = 1024 }; /* zones that are kept; there are 600, with 3 KiB each */

struct zone_entry;

struct zones {
    const tr_platform *platform;
    const char *directory; /* NULL: $TZDIR, or the directory of the operating system */
    struct lock lock;      /* protects what follows, also while a file is read */
    struct zone_entry *first;
    uint32_t count;
};

/** Makes an empty table. Zone files are in `directory`, which is borrowed; NULL: $TZDIR or /usr/share/zoneinfo. */
void tr__zones_init(struct zones *zones, const tr_platform *platform, const char *directory);
/** Frees all zones. None may be in use. */
void tr__zones_deinit(struct zones *zones);

/**
 * Finds a zone, which is borrowed until deinit. Reads its file the first time.
 *
 * TR_NAME_INVALID. TR_NOT_FOUND: there is no such zone here. TR_BAD_DATA, TR_NOT_SUPPORTED, TR_TOO_LARGE: its file is
 * damaged or is no zone. TR_LIMIT: there are already ZONES_MAX zones. TR_NO_MEMORY. TR_FAILED: the disk has failed. Any
 * thread; may wait for the disk.
 */
TR_MUST_CHECK tr_status tr__zones_find(struct zones *zones, const char *name,
                                       const struct zone **zone);

#endif
