/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The zones that a system uses, by name: "Europe/Berlin". The file of a zone is read once, from
 * $TZDIR or /usr/share/zoneinfo. A zone does not change until the system ends, so new rules need a
 * restart.
 *
 * UTC, its other names such as GMT and Zulu, and "Etc/GMT-14" to "Etc/GMT+12" need no files. Note
 * that "Etc/GMT+5" is five hours west of Greenwich, as in POSIX.
 */
#ifndef CALENDAR_ZONES_H
#define CALENDAR_ZONES_H

#include "calendar/zone.h"
#include "os/lock.h"

#include <troupe/platform.h>

/* at most this many zones are kept; the world has about 600, with 3 KiB each */
enum { ZONES_MAX = 1024 };

struct zone_entry;

struct zones {
    const tr_platform *platform;
    const char *directory; /* NULL: $TZDIR, or the directory of the operating system */
    struct lock lock;      /* protects the members below; also held while a file is read */
    struct zone_entry *first;
    uint32_t count;
};

/**
 * Makes an empty table. `directory` has the zone files, and is borrowed. If it is NULL, the zone
 * files are in $TZDIR or /usr/share/zoneinfo.
 */
void tr__zones_init(struct zones *zones, const tr_platform *platform, const char *directory);
/** Frees all zones. No zone may be in use. */
void tr__zones_deinit(struct zones *zones);

/**
 * Finds a zone, which the caller borrows until deinit. The first call for a zone reads its file.
 *
 * Returns TR_NAME_INVALID if the name is invalid, and TR_NOT_FOUND if there is no such zone here.
 * Returns TR_BAD_DATA, TR_NOT_SUPPORTED or TR_TOO_LARGE if the zone's file is damaged or is no
 * zone. Returns TR_LIMIT if the table has ZONES_MAX zones already, and TR_FAILED if the disk has
 * failed. May also return TR_NO_MEMORY. Any thread; may wait for the disk.
 */
TR_MUST_CHECK tr_status tr__zones_find(struct zones *zones, const char *name,
                                       const struct zone **zone);

#endif
