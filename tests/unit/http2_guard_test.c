/* SPDX-License-Identifier: Apache-2.0 */
/** The guard of HTTP/2: how much of a flood is read before other connections go first. */
#include "support/test.h"

#include <string.h>

#include "http/h2_guard.h"

enum { PINGS = 900, PING_SIZE = 17, SETTINGS = 30, SETTINGS_SIZE = 15 };

static size_t add(unsigned char *to, uint8_t kind, uint8_t size)
{
    memset(to, 0, H2_FRAME_HEAD_SIZE + size);
    to[2] = size;
    to[3] = kind;
    return H2_FRAME_HEAD_SIZE + size;
}

/* Reads all of them; returns in how many portions. */
static int portions(struct h2_guard *guard, const unsigned char *bytes, size_t size, size_t largest)
{
    int count = 0;
    for (size_t at = 0; at < size; count++) {
        h2_guard_next(guard);
        size_t read = tr__h2_guard_look(guard, bytes + at, size - at, 0);
        ck_assert_uint_gt(read, 0);
        ck_assert_uint_le(read, largest);
        ck_assert_ptr_null(guard->why);
        at += read;
    }
    return count;
}

TEST(frames_that_carry_nothing_are_read_in_portions, "W-04")
{
    static unsigned char bytes[PINGS * PING_SIZE];
    struct h2_guard guard;
    size_t size = 0;
    tr__h2_guard_init_client(&guard, 1000);
    for (int i = 0; i < PINGS; i++)
        size += add(bytes + size, 6, 8);
    int count = portions(&guard, bytes, size, H2_BURST_MAX * PING_SIZE);
    ck_assert_int_eq(count, (PINGS + H2_BURST_MAX - 1) / H2_BURST_MAX);
    ck_assert_uint_le(guard.idle, PINGS);
    ck_assert_uint_ge(guard.idle, PINGS - H2_CREDIT_STEP);
}

TEST(settings_are_read_in_smaller_portions, "W-04")
{
    static unsigned char bytes[SETTINGS * SETTINGS_SIZE];
    struct h2_guard guard;
    size_t size = 0;
    tr__h2_guard_init_client(&guard, 1000);
    for (int i = 0; i < SETTINGS; i++)
        size += add(bytes + size, 4, 6);
    int each = H2_BURST_MAX / H2_SETTINGS_WEIGHT;
    int count = portions(&guard, bytes, size, (size_t)each * SETTINGS_SIZE);
    ck_assert_int_eq(count, (SETTINGS + each - 1) / each);
}

/* Input that comes in several pieces is no more than that in one. */
TEST(a_portion_ends_behind_several_pieces_too, "W-04")
{
    static unsigned char bytes[PINGS * PING_SIZE];
    struct h2_guard guard;
    size_t size = 0, read = 0;
    tr__h2_guard_init_client(&guard, 1000);
    for (int i = 0; i < PINGS; i++)
        size += add(bytes + size, 6, 8);
    for (int i = 0; i < 8; i++)
        read += tr__h2_guard_look(&guard, bytes + read, (H2_BURST_MAX - 1) * PING_SIZE, 0);
    ck_assert_uint_le(read, H2_BURST_MAX * PING_SIZE);
    h2_guard_next(&guard);
    ck_assert_uint_gt(tr__h2_guard_look(&guard, bytes + read, size - read, 0), 0);
}

/* Data is read whole, however much it is. */
TEST(data_is_not_divided, "W-04")
{
    static unsigned char bytes[200 * (H2_FRAME_HEAD_SIZE + 100)];
    struct h2_guard guard;
    size_t size = 0;
    tr__h2_guard_init_client(&guard, 1000);
    for (int i = 0; i < 200; i++)
        size += add(bytes + size, 0, 100);
    ck_assert_uint_eq(tr__h2_guard_look(&guard, bytes, size, 0), size);
}

SUITE("the guard of HTTP/2", frames_that_carry_nothing_are_read_in_portions,
      settings_are_read_in_smaller_portions, a_portion_ends_behind_several_pieces_too,
      data_is_not_divided)
