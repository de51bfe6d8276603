/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A time zone, read from a TZif file (RFC 8536, versions 1 to 4): which local time a clock shows at
 * an instant, and when it shows a local time.
 *
 * Instants are seconds of UTC from 1970-01-01 00:00. Local times are seconds of the local clock
 * from the same date. Leap seconds are not counted, as everywhere in Unix. A zone that was read
 * does not change.
 *
 * Rule 1: no value of a file is trusted. A zone exists only after each count, index and offset was
 * checked against the size of the file, and all times were found in order. Rule 2: a type of a file
 * is an offset with a name, and a change puts a type into force. Before the first change of the
 * table, the first type is in force, as RFC 8536 says. After the last change, the rule in the text
 * at the end of the file is in force. Without such a text, the type of the last change stays in
 * force.
 */
#ifndef CALENDAR_ZONE_H
#define CALENDAR_ZONE_H

#include "calendar/zone_rule.h"

/**
 * The farthest instant or local time that callers may ask for: 18 thousand million years from 1970.
 */
#define ZONE_TIME_MAX (INT64_C(1) << 59)

enum {
    /* The offsets that RFC 8536 allows: less than 25 hours west, less than 26 hours east. */
    ZONE_OFFSET_MIN = -89999,
    ZONE_OFFSET_MAX = 93599,
    ZONE_FILE_MAX = 64 * 1024, /* the largest file of 2025 has 3,552 bytes */
    ZONE_NAME_MAX = 63,        /* "America/Argentina/ComodRivadavia" has 32 */
};

/** A zone of all zeros is UTC. */
struct zone {
    const unsigned char *times; /* times of the changes, big-endian, the earliest first */
    /* one byte for each change: the index of the type that is in force from that change on */
    const unsigned char *kinds;
    /* 6 bytes for each type: its offset, whether it is summer time, its name */
    const unsigned char *types;
    uint32_t change_count;
    uint32_t time_size; /* 4 or 8 */
    bool has_rule;
    /* in force after the last change of the table; for a zone without a file, always */
    struct zone_rule rule;
};

/**
 * Returns whether a text of this length can be the name of a zone: 1 to ZONE_NAME_MAX characters of
 * A-Z a-z 0-9 _ + - and '/'. The parts between the '/' must not be empty, and each part must begin
 * with a letter or a digit. So a name is never a path to another directory. Any thread.
 */
bool tr__zone_name_is_valid(const char *name, size_t length);

/**
 * Reads the bytes of a file. The zone borrows these bytes as long as it is used.
 *
 * Returns TR_BAD_DATA if the bytes are no TZif file, or contradict each other. Returns
 * TR_NOT_SUPPORTED for a version beyond 4, and for a file that counts leap seconds ("right/...").
 * *zone is written on TR_OK only. Any thread.
 */
TR_MUST_CHECK tr_status tr__zone_read(const void *bytes, size_t size, struct zone *zone);

/**
 * Makes a zone whose offset is constant. `offset` must be from ZONE_OFFSET_MIN to ZONE_OFFSET_MAX.
 */
void tr__zone_fix(struct zone *zone, int32_t offset);

/** Finds the span around an instant in which the offset is constant. |utc| <= ZONE_TIME_MAX. Any thread. */
void tr__zone_span(const struct zone *zone, int64_t utc, struct zone_span *span);

/** Returns the seconds east of Greenwich at an instant. |utc| <= ZONE_TIME_MAX. Any thread. */
int32_t tr__zone_offset(const struct zone *zone, int64_t utc);

/** The instants at which the clock shows a local time. */
struct zone_instants {
    /*
     * How many instants there are. 0 means that the local time is in a gap, which the clock skips.
     * 2 means that the local time is in an overlap, after the clock was set back.
     */
    int count;
    int64_t first;  /* if count is 0: the end of the gap, which tr__zone_first returns */
    int64_t second; /* equal to `first` unless count is 2 */
};

/**
 * Finds the instants at which the clock shows a local time. If there are more than two, finds the
 * first two. |local| <= ZONE_TIME_MAX. Any thread.
 */
void tr__zone_instants(const struct zone *zone, int64_t local, struct zone_instants *instants);

/**
 * Returns the first instant at which the clock shows `local` or a later time. If `local` grows, the
 * result never becomes smaller. |local| <= ZONE_TIME_MAX. Any thread.
 */
int64_t tr__zone_first(const struct zone *zone, int64_t local);

/**
 * Returns the latest local time that the clock has shown up to an instant. In an overlap this is
 * later than the local time that the clock shows at that instant.
 */
int64_t tr__zone_latest(const struct zone *zone, int64_t utc);

#endif
