/* SPDX-License-Identifier: Apache-2.0 */
#include "calendar/zone.h"

#include "base/assert.h"

#include <string.h>

/* ---- Names. ---- */

static bool is_letter_or_digit(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

bool tr__zone_name_is_valid(const char *name, size_t length)
{
    bool is_begin = true;
    if (length < 1 || length > ZONE_NAME_MAX)
        return false;
    for (size_t i = 0; i < length; i++) {
        char c = name[i];
        bool is_inner = c == '_' || c == '+' || c == '-' || c == '/';
        if (!is_letter_or_digit(c) && (is_begin || !is_inner))
            return false;
        is_begin = c == '/';
    }
    return !is_begin;
}

/* ---- Reading. ---- */

enum {
    HEAD_SIZE = 44, /* "TZif", the version, 15 unused bytes, six counts */
    HEAD_VERSION = 4,
    HEAD_COUNTS = 20,
    TYPE_SIZE = 6,
};

/* The six counts, in their order in the file. */
enum {
    COUNT_IS_UT,
    COUNT_IS_STANDARD,
    COUNT_LEAPS,
    COUNT_CHANGES,
    COUNT_TYPES,
    COUNT_CHARS,
    COUNTS
};

/* One of the two blocks of a file. A file of version 1 has only one, with times of 4 bytes. */
struct block {
    const unsigned char *data;
    uint32_t counts[COUNTS];
    uint32_t time_size;
    size_t size;
    unsigned char version;
};

static uint64_t load_number(const unsigned char *bytes, size_t size)
{
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++)
        value = value << 8 | bytes[i];
    return value;
}

static int64_t load_time(const unsigned char *bytes, uint32_t size)
{
    return size == 4 ? (int32_t)(uint32_t)load_number(bytes, 4) : (int64_t)load_number(bytes, 8);
}

static int32_t load_offset(const unsigned char *type)
{
    return (int32_t)(uint32_t)load_number(type, 4);
}

/* Reads the head of a block, and finds the end of the block. */
static tr_status block_open(struct block *block, const unsigned char *bytes, size_t size,
                            uint32_t time_size)
{
    if (size < HEAD_SIZE || memcmp(bytes, "TZif", 4) != 0)
        return TR_BAD_DATA;
    block->version = bytes[HEAD_VERSION];
    if (block->version > '4')
        return TR_NOT_SUPPORTED;
    if (block->version != 0 && block->version < '2')
        return TR_BAD_DATA;
    for (size_t i = 0; i < COUNTS; i++) {
        block->counts[i] = (uint32_t)load_number(bytes + HEAD_COUNTS + 4 * i, 4);
        /*
         * Each item that is counted takes at least one byte of the file, so the sums that follow
         * cannot overflow.
         */
        if (block->counts[i] > size)
            return TR_BAD_DATA;
    }
    const uint32_t *counts = block->counts;
    uint64_t need = (uint64_t)counts[COUNT_CHANGES] * (time_size + 1) +
                    (uint64_t)counts[COUNT_TYPES] * TYPE_SIZE + counts[COUNT_CHARS] +
                    (uint64_t)counts[COUNT_LEAPS] * (time_size + 4) + counts[COUNT_IS_STANDARD] +
                    counts[COUNT_IS_UT];
    if (need > size - HEAD_SIZE)
        return TR_BAD_DATA;
    block->data = bytes + HEAD_SIZE;
    block->time_size = time_size;
    block->size = HEAD_SIZE + (size_t)need;
    return TR_OK;
}

static bool changes_are_good(const struct block *block)
{
    uint32_t count = block->counts[COUNT_CHANGES];
    const unsigned char *kinds = block->data + (size_t)count * block->time_size;
    int64_t before = -ZONE_TIME_MAX - 1;
    for (uint32_t i = 0; i < count; i++) {
        int64_t time = load_time(block->data + (size_t)i * block->time_size, block->time_size);
        if (time <= before || time > ZONE_TIME_MAX || kinds[i] >= block->counts[COUNT_TYPES])
            return false;
        before = time;
    }
    return true;
}

static bool types_are_good(const unsigned char *types, const uint32_t counts[COUNTS])
{
    const unsigned char *chars = types + (size_t)counts[COUNT_TYPES] * TYPE_SIZE;
    for (uint32_t i = 0; i < counts[COUNT_TYPES]; i++) {
        const unsigned char *type = types + (size_t)i * TYPE_SIZE;
        int32_t offset = load_offset(type);
        if (offset < ZONE_OFFSET_MIN || offset > ZONE_OFFSET_MAX || type[4] > 1 ||
            type[5] >= counts[COUNT_CHARS])
            return false;
    }
    /* If the last name ends with a NUL, every name has an end. */
    return chars[counts[COUNT_CHARS] - 1] == '\0';
}

/*
 * Checks the marks that say whether a change was written in standard time or UT. This module does
 * not use them, but each must be 0 or 1.
 */
static bool marks_are_good(const unsigned char *marks, const uint32_t counts[COUNTS])
{
    const unsigned char *is_ut = marks + counts[COUNT_IS_STANDARD];
    for (uint32_t i = 0; i < counts[COUNT_IS_STANDARD]; i++) {
        if (marks[i] > 1)
            return false;
    }
    for (uint32_t i = 0; i < counts[COUNT_IS_UT]; i++) {
        bool is_standard = i < counts[COUNT_IS_STANDARD] && marks[i];
        if (is_ut[i] > 1 || (is_ut[i] && !is_standard))
            return false;
    }
    return true;
}

static tr_status block_check(const struct block *block)
{
    const uint32_t *counts = block->counts;
    uint32_t types = counts[COUNT_TYPES];
    if (counts[COUNT_LEAPS] != 0)
        return TR_NOT_SUPPORTED;
    if (types == 0 || types > 256 || counts[COUNT_CHARS] == 0 ||
        (counts[COUNT_IS_UT] != 0 && counts[COUNT_IS_UT] != types) ||
        (counts[COUNT_IS_STANDARD] != 0 && counts[COUNT_IS_STANDARD] != types))
        return TR_BAD_DATA;
    const unsigned char *at = block->data + (size_t)counts[COUNT_CHANGES] * (block->time_size + 1);
    const unsigned char *marks = at + (size_t)types * TYPE_SIZE + counts[COUNT_CHARS];
    return changes_are_good(block) && types_are_good(at, counts) && marks_are_good(marks, counts)
               ? TR_OK
               : TR_BAD_DATA;
}

static void zone_fill(struct zone *zone, const struct block *block)
{
    uint32_t count = block->counts[COUNT_CHANGES];
    *zone = (struct zone){
        .times = block->data,
        .kinds = block->data + (size_t)count * block->time_size,
        .types = block->data + (size_t)count * (block->time_size + 1),
        .change_count = count,
        .time_size = block->time_size,
    };
}

static int64_t time_of(const struct zone *zone, uint32_t index)
{
    TR_ASSERT(index < zone->change_count);
    return load_time(zone->times + (size_t)index * zone->time_size, zone->time_size);
}

static int32_t offset_of(const struct zone *zone, uint32_t index)
{
    TR_ASSERT(index < zone->change_count);
    return load_offset(zone->types + (size_t)zone->kinds[index] * TYPE_SIZE);
}

/*
 * Reads the text at the end of the file, which is between two line ends. `bytes` must be the rest
 * of the file.
 */
static tr_status footer_read(struct zone *zone, const unsigned char *bytes, size_t size)
{
    if (size < 2 || bytes[0] != '\n' || bytes[size - 1] != '\n')
        return TR_BAD_DATA;
    if (size == 2)
        return TR_OK;
    tr_status status = tr__zone_rule_read((const char *)bytes + 1, size - 2, &zone->rule);
    if (status != TR_OK)
        return status;
    zone->has_rule = true;
    if (zone->change_count == 0)
        return TR_OK;
    /*
     * The table ends and the rule begins at the last change of the table. Both must say the same
     * there.
     */
    struct zone_span span;
    uint32_t last = zone->change_count - 1;
    tr__zone_rule_span(&zone->rule, time_of(zone, last), &span);
    return span.offset == offset_of(zone, last) ? TR_OK : TR_BAD_DATA;
}

tr_status tr__zone_read(const void *bytes, size_t size, struct zone *zone)
{
    const unsigned char *at = bytes;
    struct block block = {.data = NULL};
    struct zone read;
    tr_status status = block_open(&block, at, size, 4);
    if (status != TR_OK)
        return status;
    unsigned char version = block.version;
    if (version != 0) {
        /* Skip the first block, which is for readers of version 1. In slim files it is empty. */
        at += block.size;
        size -= block.size;
        status = block_open(&block, at, size, 8);
        if (status != TR_OK)
            return status;
        if (block.version != version)
            return TR_BAD_DATA;
    }
    status = block_check(&block);
    if (status != TR_OK)
        return status;
    zone_fill(&read, &block);
    if (version == 0)
        status = size == block.size ? TR_OK : TR_BAD_DATA;
    else
        status = footer_read(&read, at + block.size, size - block.size);
    if (status == TR_OK)
        *zone = read;
    return status;
}

void tr__zone_fix(struct zone *zone, int32_t offset)
{
    TR_ASSERT(offset >= ZONE_OFFSET_MIN);
    TR_ASSERT(offset <= ZONE_OFFSET_MAX);
    *zone = (struct zone){.has_rule = true, .rule.standard = offset};
}

/* ---- Questions. ---- */

/* Returns how many changes there are up to an instant, including a change at that instant. */
static uint32_t changes_until(const struct zone *zone, int64_t utc)
{
    uint32_t low = 0;
    uint32_t high = zone->change_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (time_of(zone, middle) <= utc)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void tr__zone_span(const struct zone *zone, int64_t utc, struct zone_span *span)
{
    TR_ASSERT(utc >= -ZONE_TIME_MAX);
    TR_ASSERT(utc <= ZONE_TIME_MAX);
    uint32_t count = changes_until(zone, utc);
    if (zone->has_rule && count == zone->change_count) {
        tr__zone_rule_span(&zone->rule, utc, span);
        if (count > 0 && span->begin < time_of(zone, count - 1))
            span->begin = time_of(zone, count - 1);
        return;
    }
    int32_t first = zone->types ? load_offset(zone->types) : 0;
    *span = (struct zone_span){
        .begin = count > 0 ? time_of(zone, count - 1) : INT64_MIN,
        .end = count < zone->change_count ? time_of(zone, count) : INT64_MAX,
        .offset = count > 0 ? offset_of(zone, count - 1) : first,
    };
}

int32_t tr__zone_offset(const struct zone *zone, int64_t utc)
{
    struct zone_span span;
    tr__zone_span(zone, utc, &span);
    return span.offset;
}

/*
 * Limits a time to the range that a caller may ask for. A time beyond that range gets the result of
 * the limit.
 */
static int64_t time_clamp(int64_t time)
{
    return time > ZONE_TIME_MAX ? ZONE_TIME_MAX : time < -ZONE_TIME_MAX ? -ZONE_TIME_MAX : time;
}

void tr__zone_instants(const struct zone *zone, int64_t local, struct zone_instants *instants)
{
    /* With any possible offset, the instant is between `at` and `last`. */
    int64_t at = time_clamp(local - ZONE_OFFSET_MAX);
    int64_t last = time_clamp(local - ZONE_OFFSET_MIN);
    struct zone_instants found = {.count = 0};
    struct zone_span span;
    do {
        tr__zone_span(zone, at, &span);
        int64_t utc = local - span.offset;
        if (utc >= span.begin && utc < span.end) {
            found.second = utc;
            if (found.count == 0)
                found.first = utc;
            found.count++;
        }
        at = span.end;
    } while (span.end <= last && found.count < 2);
    if (found.count == 0)
        found.first = found.second = tr__zone_first(zone, local);
    *instants = found;
}

int64_t tr__zone_first(const struct zone *zone, int64_t local)
{
    int64_t at = time_clamp(local - ZONE_OFFSET_MAX);
    struct zone_span span;
    for (;;) {
        tr__zone_span(zone, at, &span);
        int64_t utc = local - span.offset;
        if (utc < span.begin)
            return span.begin;
        if (utc < span.end)
            return utc;
        at = span.end;
    }
}

int64_t tr__zone_latest(const struct zone *zone, int64_t utc)
{
    struct zone_span span;
    tr__zone_span(zone, utc, &span);
    int64_t latest = utc + span.offset;
    /*
     * Skip spans that ended before `since`. Whatever their offset and the present offset are, the
     * clock has shown only local times before `latest` in them.
     */
    int64_t since = utc - (ZONE_OFFSET_MAX - ZONE_OFFSET_MIN);
    while (span.begin > since && span.begin > -ZONE_TIME_MAX) {
        tr__zone_span(zone, span.begin - 1, &span);
        if (span.end - 1 + span.offset > latest)
            latest = span.end - 1 + span.offset;
    }
    return latest;
}
