/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Messages as text.
 */
#include "support/test.h"

#include <troupe/message.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum color { RED, GREEN = 7 };

TR_MESSAGE(empty);
TR_MESSAGE(deposit, (u64, amount), (str, memo));
TR_MESSAGE(point, (f64, x), (f32, y));
TR_MESSAGE(numbers, (bool, b), (i8, i1), (i16, i2), (i32, i4), (i64, i8), (u8, u1), (u16, u2),
           (u32, u4), (u64, u8), (enum_of(color), shade));
TR_MESSAGE(others, (bytes, raw), (buffer, blob), (ref, who), (message(point), at),
           (array(u8, 2), pair), (list(str), words), (list(message(deposit)), all),
           (optional(u8), age), (optional(message(point)), to));

static char text[1000];

static const char *print(const tr_type *type, const void *message)
{
    size_t length = tr_type_print(type, message, text, sizeof(text));
    ck_assert_uint_eq(length, strlen(text));
    return text;
}

TEST(a_message_prints_as_name_and_fields, "B-06")
{
    struct deposit deposit = {5, "rent"};
    ck_assert_str_eq(print(&tr_type_deposit, &deposit), "deposit{amount=5, memo=\"rent\"}");
    deposit.memo = NULL;
    ck_assert_str_eq(print(&tr_type_deposit, &deposit), "deposit{amount=5, memo=null}");
    struct empty empty = {0};
    ck_assert_str_eq(print(&tr_type_empty, &empty), "empty{}");
}

TEST(numbers_print_to_their_limits, "B-06")
{
    struct numbers low = {.i1 = INT8_MIN, .i2 = INT16_MIN, .i4 = INT32_MIN, .i8 = INT64_MIN};
    ck_assert_str_eq(print(&tr_type_numbers, &low),
                     "numbers{b=false, i1=-128, i2=-32768, i4=-2147483648, "
                     "i8=-9223372036854775808, u1=0, u2=0, u4=0, u8=0, shade=0}");
    struct numbers high = {true,
                           INT8_MAX,
                           INT16_MAX,
                           INT32_MAX,
                           INT64_MAX,
                           UINT8_MAX,
                           UINT16_MAX,
                           UINT32_MAX,
                           UINT64_MAX,
                           GREEN};
    ck_assert_str_eq(print(&tr_type_numbers, &high),
                     "numbers{b=true, i1=127, i2=32767, i4=2147483647, i8=9223372036854775807, "
                     "u1=255, u2=65535, u4=4294967295, u8=18446744073709551615, shade=7}");
}

TEST(floats_print_short_and_exact, "B-06")
{
    struct point point = {0.1, 0.1f};
    ck_assert_str_eq(print(&tr_type_point, &point), "point{x=0.1, y=0.1}");
    point = (struct point){1.0 / 3, 16777217.0f};
    ck_assert_str_eq(print(&tr_type_point, &point), "point{x=0.33333333333333331, y=16777216}");
    point = (struct point){-INFINITY, 1e30f};
    ck_assert_str_eq(print(&tr_type_point, &point), "point{x=-inf, y=1e+30}");
    point = (struct point){-1.7976931348623157e308, 0};
    ck_assert_double_eq(strtod(strchr(print(&tr_type_point, &point), '=') + 1, NULL), point.x);
}

TEST(all_other_fields_print_for_people, "B-06")
{
    struct others others = {0};
    ck_assert_str_eq(print(&tr_type_others, &others),
                     "others{raw=bytes(0), blob=null, who=nobody, at=point{x=0, y=0}, "
                     "pair=[0, 0], words=[], all=[], age=null, to=null}");
    const char *words[] = {"a", NULL};
    struct deposit all[] = {{1, "x"}};
    others = (struct others){.raw = {"abc", 3},
                             .blob = tr_buffer_new(9),
                             .who = tr_ref_from_bits(0x1f),
                             .pair = {1, 2},
                             .words = {words, 2},
                             .all = {all, 1},
                             .age = {true, 5},
                             .to = {true, {1, 2}}};
    ck_assert_str_eq(print(&tr_type_others, &others),
                     "others{raw=bytes(3: 61 62 63), blob=buffer(9), who=ref(0x1f), "
                     "at=point{x=0, y=0}, pair=[1, 2], words=[\"a\", null], "
                     "all=[deposit{amount=1, memo=\"x\"}], age=5, to=point{x=1, y=2}}");
    tr_buffer_release(others.blob);
}

TEST(strings_are_quoted_so_that_a_line_stays_a_line, "B-06")
{
    struct deposit deposit = {1, "say \"hi\"\\\n\t\x01\x7f ü"};
    ck_assert_str_eq(print(&tr_type_deposit, &deposit),
                     "deposit{amount=1, memo=\"say \\\"hi\\\"\\\\\\n\\x09\\x01\\x7f ü\"}");
}

TEST(malformed_messages_print_too, "B-06", "U-02")
{
    struct others others = {.raw = {NULL, 7}, .words = {NULL, SIZE_MAX}};
    ck_assert_ptr_nonnull(strstr(print(&tr_type_others, &others), "raw=bytes(7 ...)"));
    ck_assert_ptr_nonnull(strstr(text, "words=null"));
    ck_assert_uint_eq(tr_type_print(NULL, &others, text, sizeof(text)), 6);
    ck_assert_str_eq(text, "(null)");
    ck_assert_uint_eq(tr_type_print(&tr_type_others, NULL, text, sizeof(text)), 6);
    ck_assert_str_eq(text, "(null)");
}

TEST(a_text_is_cut_to_its_room_and_always_ends, "B-06")
{
    struct deposit deposit = {5, "rent"};
    const char *whole = "deposit{amount=5, memo=\"rent\"}";
    size_t length = strlen(whole);
    for (size_t size = 1; size <= length + 2; size++) {
        char *room = malloc(size); /* ASan watches its end. */
        ck_assert_uint_eq(tr_type_print(&tr_type_deposit, &deposit, room, size), length);
        size_t kept = size - 1 < length ? size - 1 : length;
        ck_assert_uint_eq(strlen(room), kept);
        ck_assert_mem_eq(room, whole, kept);
        free(room);
    }
    char untouched = 'x';
    ck_assert_uint_eq(tr_type_print(&tr_type_deposit, &deposit, &untouched, 0), length);
    ck_assert_int_eq(untouched, 'x');
    ck_assert_uint_eq(tr_type_print(&tr_type_deposit, &deposit, NULL, 0), length);
    ck_assert_uint_eq(tr_type_print(&tr_type_deposit, &deposit, NULL, 10), length);
}

SUITE("wire print", a_message_prints_as_name_and_fields, numbers_print_to_their_limits,
      floats_print_short_and_exact, all_other_fields_print_for_people,
      strings_are_quoted_so_that_a_line_stays_a_line, malformed_messages_print_too,
      a_text_is_cut_to_its_room_and_always_ends)
