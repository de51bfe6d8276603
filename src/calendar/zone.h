/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A time zone, read from a TZif file (RFC 8536, versions 1 to 4): what the clocks on the wall show at
 * an instant, and when they show a local time.
 *
 * Instants and local times are seconds from 1970-01-01 00:00, of UTC and of the clock on the wall;
 * leap seconds are not counted, as everywhere in Unix. A zone is constant once it is read.
 *
 * Rule 1: nothing of a file is believed. A zone exists only after each count, index and offset was
 * checked against the bytes that are there, and every time was found in order.
 * Rule 2: before the first change of the table the first type holds, as RFC 8536 has it; after the
 * last one the text at the file's end, and without that the type of the last change.
 */
#ifndef CALENDAR_ZONE_H
#define CALENDAR_ZONE_H

#include "calendar/zone_rule.h"

/** Instants and local times beyond this, 18 thousand million years, are not asked for. */
#define ZONE_TIME_MAX (INT64_C(1) << 59)

enum {
    /* The offsets that RFC 8536 allows: less than 25 hours west, less than 26 east. */
    ZONE_OFFSET_MIN = -89999,
    ZONE_OFFSET_MAX = 93599,
    ZONE_FILE_MAX = 64 * 1024, /* the largest of 2025 has 3,552 bytes */
    ZONE_NAME_MAX = 63,        /* "America/Argentina/ComodRivadavia" has 32 */
};

/** Zero is UTC. */
struct zone {
    const unsigned char *times; /* of changes, big-endian, ascending */
    const unsigned char *kinds; /* of changes: which type holds from then on; a byte each */
    const unsigned char *types; /* 6 bytes each: the offset, is it summer, the name */
    uint32_t change_count;
    uint32_t time_size; /* 4 or 8 */
    bool has_rule;
    struct zone_rule rule; /* without a file, and after its table */
};

/**
 * Whether a text of this length can be the name of a zone: 1 to ZONE_NAME_MAX of A-Z a-z 0-9 _ + -
 * and '/', which is at neither end and not doubled; each part begins with a letter or a digit. So it
 * is never a path that leads elsewhere. Any thread.
 */
bool tr__zone_name_is_valid(const char *name, size_t length);

/**
 * Reads a file's bytes, which are lent to the zone for as long as it is used.
 *
 * TR_BAD_DATA: it is no such file, or one that contradicts itself; TR_NOT_SUPPORTED: a version beyond
 * 4, or one that counts leap seconds ("right/..."). *zone is written on TR_OK only. Any thread.
 */
TR_MUST_CHECK tr_status tr__zone_read(const void *bytes, size_t size, struct zone *zone);

/** A zone that never changes; within ZONE_OFFSET_MIN and _MAX. */
void tr__zone_fix(struct zone *zone, int32_t offset);

/** The time around an instant in which the offset stays; |utc| <= ZONE_TIME_MAX. Any thread. */
void tr__zone_span(const struct zone *zone, int64_t utc, struct zone_span *span);

/** Seconds east of Greenwich at an instant; |utc| <= ZONE_TIME_MAX. Any thread. */
int32_t tr__zone_offset(const struct zone *zone, int64_t utc);

/** The instants at which the clock shows a local time. */
struct zone_instants {
    int count;      /* 0: it is in a gap, clocks jump over it; 1; 2: clocks were set back over it */
    int64_t first;  /* of count 0: the end of the gap, which is tr__zone_first */
    int64_t second; /* as `first` unless count is 2 */
};

/**
 * Finds them. A file can be made in which there are more than two: then the first two. |local| <=
 * ZONE_TIME_MAX. Any thread.
 */
void tr__zone_instants(const struct zone *zone, int64_t local, struct zone_instants *instants);

/**
 * The first instant at which the clock shows `local` or later. It never falls when `local` grows. As
 * above.
 */
int64_t tr__zone_first(const struct zone *zone, int64_t local);

/** The latest local time that the clock has shown up to an instant: more than now after an overlap. */
int64_t tr__zone_latest(const struct zone *zone, int64_t utc);

#endif
