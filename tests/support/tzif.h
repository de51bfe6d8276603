/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Files of time zones, made by hand: for tests that need a zone which does what they say.
 */
#ifndef TROUPE_TESTS_SUPPORT_TZIF_H
#define TROUPE_TESTS_SUPPORT_TZIF_H

#include <check.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct tzif {
    unsigned char bytes[8192];
    size_t size;
};

struct tzif_change {
    int64_t time;
    unsigned char type;
};

static inline void tzif_put(struct tzif *file, uint64_t value, size_t size)
{
    ck_assert_uint_le(file->size + size, sizeof file->bytes);
    for (size_t i = size; i > 0; i--)
        file->bytes[file->size++] = (unsigned char)(i > 8 ? 0 : value >> (8 * (i - 1)));
}

/** A head with these counts; others are 0. The one of types is also that of characters. */
static inline void tzif_put_head(struct tzif *file, char version, size_t changes, size_t types)
{
    tzif_put(file, 0x545a6966, 4);
    tzif_put(file, (unsigned char)version, 1);
    tzif_put(file, 0, 15);
    for (int i = 0; i < 3; i++)
        tzif_put(file, 0, 4);
    tzif_put(file, changes, 4);
    tzif_put(file, types, 4);
    tzif_put(file, types, 4);
}

/**
 * A file of version 0 (which has no footer) or '2' to '4'. Types have offsets only; their names are
 * all "".
 */
static inline void tzif_make(struct tzif *file, char version, const struct tzif_change *changes,
                             size_t change_count, const int32_t *offsets, size_t offset_count,
                             const char *footer)
{
    file->size = 0;
    size_t time_size = version ? 8 : 4;
    if (version) {
        tzif_put_head(file, version, 0, 1);
        tzif_put(file, 0, 7);
    }
    tzif_put_head(file, version, change_count, offset_count);
    for (size_t i = 0; i < change_count; i++)
        tzif_put(file, (uint64_t)changes[i].time, time_size);
    for (size_t i = 0; i < change_count; i++)
        tzif_put(file, changes[i].type, 1);
    for (size_t i = 0; i < offset_count; i++)
        tzif_put(file, (uint64_t)(uint32_t)offsets[i] << 16 | i, 6);
    for (size_t i = 0; i < offset_count; i++)
        tzif_put(file, 0, 1);
    if (version) {
        tzif_put(file, '\n', 1);
        for (const char *c = footer; *c; c++)
            tzif_put(file, (unsigned char)*c, 1);
        tzif_put(file, '\n', 1);
    }
}

#endif
