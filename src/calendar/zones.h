/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The zones that a system uses, by name: "Europe/Berlin". Each is read once, from $TZDIR or
 * /usr/share/zoneinfo, and stays as it was until the system ends: new rules take a new start.
 *
 * UTC, GMT and all of "Etc/..." are there without files. Note that "Etc/GMT+5" is five hours behind
 * Greenwich: that is how POSIX counts.
 */
#ifndef CALENDAR_ZONES_H
#define CALENDAR_ZONES_H

#include "calendar/zone.h"
#include "os/lock.h"

#include <troupe/platform.h>

enum { ZONES_MAX = 1024 }; /* kept at a time; there are 600, with 3 KiB each */

struct zone_entry;

struct zones {
    const tr_platform *platform;
    const char *directory; /* NULL: $TZDIR, or the system's */
    struct lock lock;      /* of all below, also while a file is read */
    struct zone_entry *first;
    uint32_t count;
};

/** With zone files in `directory`, lent; NULL: as above. */
void tr__zones_init(struct zones *zones, const tr_platform *platform, const char *directory);
/** Frees them all: none may be in use. */
void tr__zones_deinit(struct zones *zones);

/**
 * Finds a zone, borrowed until deinit; reads its file the first time.
 *
 * TR_NAME_INVALID; TR_NOT_FOUND: there is no such zone here; TR_BAD_DATA, TR_NOT_SUPPORTED and
 * TR_TOO_LARGE: its file is damaged or none of a zone; TR_LIMIT: ZONES_MAX; TR_NO_MEMORY; TR_FAILED:
 * the disk. Any thread; may wait for the disk.
 */
TR_MUST_CHECK tr_status tr__zones_find(struct zones *zones, const char *name,
                                       const struct zone **zone);

#endif
