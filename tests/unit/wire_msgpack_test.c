/* SPDX-License-Identifier: Apache-2.0 */
/**
 * MessagePack both ways: every kind of field, every truncation, versions, limits, places of faults.
 */
#include "support/test.h"
#include "support/wire_kinds.h"
#include "wire/copy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

TR_MESSAGE(floats, (f32, narrow), (f64, wide));
TR_MESSAGE(numbers, (list(u64), values));
TR_MESSAGE(text, (str, text));
TR_MESSAGE(address, (str, street), (u16, zip));
TR_MESSAGE(person, (message(address), home), (list(message(address)), others));

#define PACKED_MAX 4096

/* The document of a message, in memory of its exact size. */
static unsigned char *packed(const tr_type *type, const void *message, size_t *size)
{
    tr_wire_error error;
    *size = tr_pack(type, message, NULL, 0, &error);
    ck_assert_msg(*size > 0, "%s: %s", error.path, error.text);
    unsigned char *document = malloc(*size);
    ck_assert_uint_eq(tr_pack(type, message, document, *size, NULL), *size);
    return document;
}

static void *unpacked(const tr_type *type, const void *document, size_t size)
{
    tr_wire_error error;
    void *message = NULL;
    tr_status status = tr_unpack(type, (tr_bytes){document, size}, &message, &error);
    ck_assert_msg(status == TR_OK, "at %zu, %s: %s", error.offset, error.path, error.text);
    return message;
}

static tr_wire_error refused(const tr_type *type, const void *document, size_t size,
                             tr_status expected)
{
    tr_wire_error error;
    memset(&error, 0xa5, sizeof(error));
    void *message = &error;
    unsigned char *copy = malloc(size + 1); /* So that the sanitizer sees what is read behind it. */
    memcpy(copy, document, size);
    copy = realloc(copy, size > 0 ? size : 1);
    tr_status status = tr_unpack(type, (tr_bytes){copy, size}, &message, &error);
    ck_assert_msg(status == expected, "%s", tr_status_name(status));
    ck_assert_ptr_eq(message, &error);
    ck_assert_int_eq(error.status, expected);
    ck_assert_uint_le(error.offset, size);
    ck_assert_ptr_nonnull(memchr(error.path, '\0', sizeof(error.path)));
    ck_assert_uint_gt(strlen(error.text), 0);
    ck_assert_int_eq(tr_unpack(type, (tr_bytes){copy, size}, &message, NULL), expected);
    free(copy);
    return error;
}

#define REFUSED(type, literal, expected)                                                           \
    refused(&tr_type_##type, literal, sizeof(literal) - 1, expected)
#define UNPACKED(type, literal) unpacked(&tr_type_##type, literal, sizeof(literal) - 1)

static tr_buffer *blob_of(const char *text)
{
    tr_buffer *blob = tr_buffer_new(strlen(text));
    memcpy(tr_buffer_data(blob), text, strlen(text));
    return blob;
}

static struct everything full(void)
{
    static struct everything_memory memory;
    return everything_of(&memory, blob_of("blob"));
}

TEST(every_field_makes_the_round_trip, "B-06")
{
    struct everything all = full();
    size_t size, size_again;
    unsigned char *document = packed(&tr_type_everything, &all, &size);
    struct everything *back = unpacked(&tr_type_everything, document, size);
    unsigned char *again = packed(&tr_type_everything, back, &size_again);
    ck_assert_mem_eq(document, again, size);
    ck_assert_uint_eq(size, size_again);
    ck_assert_uint_eq(tr__copy_size(&tr_type_everything, &all),
                      tr__copy_size(&tr_type_everything, back));

    char expected[2048], got[2048];
    tr_type_print(&tr_type_everything, &all, expected, sizeof(expected));
    tr_type_print(&tr_type_everything, back, got, sizeof(got));
    ck_assert_str_eq(expected, got);
    ck_assert(back->u8 == UINT64_MAX && back->i8 == INT64_MIN && back->to.bits == 12);
    ck_assert_str_eq(back->items.items[1].name, all.items.items[1].name);
    ck_assert_ptr_ne(back->blob, all.blob);
    ck_assert_mem_eq(tr_buffer_data(back->blob), "blob", 4);
    ck_assert(back->nothing.has && back->nothing.value == NULL);
    ck_assert(back->nobody.has && back->nobody.value.bits == 0);
    ck_assert(!back->height.has && back->absent == NULL);
    tr_message_free(&tr_type_everything, back);
    free(document);
    free(again);
    tr_buffer_release(all.blob);
}

TEST(zero_makes_the_round_trip, "B-06")
{
    struct everything none = {0};
    size_t size;
    unsigned char *document = packed(&tr_type_everything, &none, &size);
    struct everything *back = unpacked(&tr_type_everything, document, size);
    ck_assert_mem_eq(back, &none, sizeof(none));
    tr_message_free(&tr_type_everything, back);
    free(document);
    document = packed(&tr_type_empty, &(struct empty){0}, &size);
    ck_assert(size == 1 && document[0] == 0x90);
    tr_message_free(&tr_type_empty, unpacked(&tr_type_empty, document, size));
    free(document);
}

TEST(in_place_nothing_is_copied, "B-06")
{
    struct everything all = full();
    size_t size, size_again;
    unsigned char *document = packed(&tr_type_everything, &all, &size);
    unsigned char *kept = memcpy(malloc(size), document, size);
    _Alignas(8) char room[4096];
    struct everything *back = (struct everything *)(void *)room;
    tr_wire_error error;
    ck_assert_int_eq(
        tr_unpack_in_place(&tr_type_everything, document, size, room, sizeof(room), &error), TR_OK);
    ck_assert((const unsigned char *)back->text > document);
    ck_assert((const unsigned char *)back->text < document + size);
    ck_assert((const unsigned char *)back->raw.data < document + size);
    unsigned char *again = packed(&tr_type_everything, back, &size_again);
    ck_assert_uint_eq(size, size_again);
    ck_assert_mem_eq(kept, again, size);
    tr_message_deinit(&tr_type_everything, back);
    tr_message_deinit(&tr_type_everything, NULL);

    /* A room that is too small, by any number of bytes, is refused, and nothing is kept. */
    size_t needed = 0;
    for (size_t small = 0; small < sizeof(room) && needed == 0; small += 8) {
        memcpy(document, kept, size);
        char *exact = malloc(small + 1);
        tr_status status =
            tr_unpack_in_place(&tr_type_everything, document, size, exact, small, &error);
        if (status == TR_OK) {
            needed = small;
            tr_message_deinit(&tr_type_everything, exact);
        } else {
            ck_assert_int_eq(status, TR_TOO_LARGE);
        }
        free(exact);
    }
    ck_assert_uint_gt(needed, sizeof(struct everything));
    free(document);
    free(kept);
    free(again);
    tr_buffer_release(all.blob);
}

TEST(in_place_a_text_at_the_very_end_has_its_nul, "B-06")
{
    static const char *const texts[] = {"",
                                        "x",
                                        "thirty-one characters are here.",
                                        "more than thirty-one characters are here, so str 8"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        size_t size;
        struct text message = {texts[i]}, back;
        unsigned char *document = packed(&tr_type_text, &message, &size);
        ck_assert_int_eq(
            tr_unpack_in_place(&tr_type_text, document, size, &back, sizeof(back), NULL), TR_OK);
        ck_assert_str_eq(back.text, texts[i]);
        free(document);
    }
}

TEST(what_does_not_fit_is_measured_and_not_written, "B-06")
{
    struct everything all = full();
    size_t size;
    unsigned char *document = packed(&tr_type_everything, &all, &size);
    for (size_t room = 0; room <= size + 12; room++) {
        unsigned char *buffer = memset(malloc(room + 8), 0xa5, room + 8);
        ck_assert_uint_eq(tr_pack(&tr_type_everything, &all, buffer, room, NULL), size);
        for (size_t i = 0; i < 8; i++)
            ck_assert_uint_eq(buffer[room + i], 0xa5);
        if (room >= size)
            ck_assert_mem_eq(buffer, document, size);
        free(buffer);
    }
    ck_assert_uint_eq(tr_pack(&tr_type_everything, &all, document, SIZE_MAX, NULL), size);
    free(document);
    tr_buffer_release(all.blob);
}

TEST(every_truncation_is_refused_with_its_place, "B-06", "U-02")
{
    struct everything all = full();
    size_t size;
    unsigned char *document = packed(&tr_type_everything, &all, &size);
    for (size_t cut = 0; cut < size; cut++) {
        tr_wire_error error = refused(&tr_type_everything, document, cut, TR_BAD_DATA);
        /* As long as fewer bytes than fields are left, the whole is at fault. */
        size_t head = 3 + (size_t)tr_type_everything.field_count;
        ck_assert_msg((cut < head) == (error.path[0] == '\0'), "cut %zu: %s", cut, error.path);
        _Alignas(8) char room[4096];
        unsigned char *copy = memcpy(malloc(cut + 1), document, cut);
        copy = realloc(copy, cut > 0 ? cut : 1);
        ck_assert_int_eq(
            tr_unpack_in_place(&tr_type_everything, copy, cut, room, sizeof(room), NULL),
            TR_BAD_DATA);
        free(copy);
    }
    free(document);
    tr_buffer_release(all.blob);
}

TEST(every_byte_may_be_wrong, "U-02")
{
    struct everything all = full();
    size_t size;
    unsigned char *document = packed(&tr_type_everything, &all, &size);
    size_t good = 0;
    for (size_t at = 0; at < size; at++) {
        unsigned char kept = document[at];
        for (unsigned byte = 0; byte < 256; byte += TEST_HAS_SANITIZER ? 7 : 1) {
            document[at] = (unsigned char)byte;
            void *message;
            tr_wire_error error;
            tr_status status =
                tr_unpack(&tr_type_everything, (tr_bytes){document, size}, &message, &error);
            if (status == TR_OK) {
                good++;
                ck_assert_uint_gt(tr_pack(&tr_type_everything, message, NULL, 0, NULL), 0);
                tr_message_free(&tr_type_everything, message);
            } else {
                ck_assert_int_eq(status, TR_BAD_DATA);
                ck_assert_uint_le(error.offset, size);
            }
        }
        document[at] = kept;
    }
    ck_assert_uint_gt(good, size);
    free(document);
    tr_buffer_release(all.blob);
}

/* The type with its first fields only, which has the same struct. */
static tr_type head_of(const tr_type *type, size_t field_count)
{
    tr_type head = *type;
    head.field_count = (uint16_t)field_count;
    return head;
}

TEST(a_value_of_another_type_is_refused_at_each_field, "B-06", "U-02")
{
    struct everything all = full();
    unsigned char document[PACKED_MAX];
    size_t refusals = 0;
    /* nil, bool, integers, float, str, bin, array, map, ext of another type, ext too long. */
    static const char *const values[] = {"\xc0",
                                         "\xc3",
                                         "\x05",
                                         "\xff",
                                         "\xcb\0\0\0\0\0\0\0\0",
                                         "\xa1x",
                                         "\xc4\x01x",
                                         "\x91\x00",
                                         "\x81\x01\x02",
                                         "\xd7\x02\0\0\0\0\0\0\0\0",
                                         "\xd8\0010123456789abcdef",
                                         "\xc1"};
    static const size_t sizes[] = {1, 1, 1, 1, 9, 2, 3, 2, 3, 10, 18, 1};
    for (size_t field = 0; field < tr_type_everything.field_count; field++) {
        tr_type head = head_of(&tr_type_everything, field);
        size_t size = tr_pack(&head, &all, document, sizeof(document), NULL);
        size_t head_size = field < 16 ? 1 : 3;
        memmove(document + 3, document + head_size, size - head_size);
        document[0] = 0xdc;
        document[1] = 0;
        document[2] = (unsigned char)(field + 1);
        size = size - head_size + 3;
        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
            memcpy(document + size, values[i], sizes[i]);
            void *message;
            tr_wire_error error;
            if (tr_unpack(
                    &tr_type_everything, (tr_bytes){document, size + sizes[i]}, &message, &error) ==
                TR_OK) {
                tr_message_free(&tr_type_everything, message);
                continue;
            }
            const char *name = tr_type_everything.fields[field].name;
            ck_assert_int_eq(error.status, TR_BAD_DATA);
            ck_assert_msg(strncmp(error.path, name, strlen(name)) == 0, "%s", error.path);
            ck_assert_uint_ge(error.offset, size);
            refusals++;
        }
    }
    /* Each field takes at most four of the values: small integers fit into many. */
    ck_assert_uint_ge(refusals, tr_type_everything.field_count * 8u);
    tr_buffer_release(all.blob);
}

TR_MESSAGE(integers, (i8, i1), (i16, i2), (i32, i4), (i64, i8), (u8, u1), (u16, u2), (u32, u4),
           (u64, u8));

TEST(an_integer_that_does_not_fit_is_refused, "B-06", "U-02")
{
    static const struct {
        size_t field;
        const char *fits, *too_low, *too_high; /* "" when there is none; each has nine bytes */
    } rows[] = {
        {0,
         "\xd3\xff\xff\xff\xff\xff\xff\xff\x80",
         "\xd3\xff\xff\xff\xff\xff\xff\xff\x7f",
         "\xcf\0\0\0\0\0\0\0\x80"},
        {1,
         "\xd3\xff\xff\xff\xff\xff\xff\x80\x00",
         "\xd3\xff\xff\xff\xff\xff\xff\x7f\xff",
         "\xcf\0\0\0\0\0\0\x80\x00"},
        {2,
         "\xd3\xff\xff\xff\xff\x80\x00\x00\x00",
         "\xd3\xff\xff\xff\xff\x7f\xff\xff\xff",
         "\xcf\0\0\0\0\x80\x00\x00\x00"},
        {3, "\xd3\x80\0\0\0\0\0\0\0", "", "\xcf\x80\0\0\0\0\0\0\0"},
        {4,
         "\xcf\0\0\0\0\0\0\0\xff",
         "\xd3\xff\xff\xff\xff\xff\xff\xff\xff",
         "\xcf\0\0\0\0\0\0\x01\x00"},
        {5,
         "\xd3\0\0\0\0\0\0\xff\xff",
         "\xd3\xff\xff\xff\xff\xff\xff\xff\xff",
         "\xcf\0\0\0\0\0\x01\x00\x00"},
        {6,
         "\xcf\0\0\0\0\xff\xff\xff\xff",
         "\xd3\xff\xff\xff\xff\xff\xff\xff\xff",
         "\xd3\0\0\0\x01\0\0\0\0"},
        {7, "\xcf\xff\xff\xff\xff\xff\xff\xff\xff", "\xd3\xff\xff\xff\xff\xff\xff\xff\xff", ""},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        unsigned char document[32] = {(unsigned char)(0x90 | (rows[i].field + 1))};
        size_t at = rows[i].field + 1; /* Zeroes before it. */
        memcpy(document + at, rows[i].fits, 9);
        tr_message_free(&tr_type_integers, unpacked(&tr_type_integers, document, at + 9));
        const char *bad[] = {rows[i].too_low, rows[i].too_high};
        for (size_t k = 0; k < 2; k++) {
            if (bad[k][0] == '\0')
                continue;
            memcpy(document + at, bad[k], 9);
            tr_wire_error error = refused(&tr_type_integers, document, at + 9, TR_BAD_DATA);
            ck_assert_str_eq(error.path, tr_type_integers.fields[rows[i].field].name);
            ck_assert_uint_eq(error.offset, at);
        }
    }
    /* Minus one, in each of its forms. */
    REFUSED(numbers, "\x91\x91\xff", TR_BAD_DATA);
    REFUSED(numbers, "\x91\x91\xd0\xff", TR_BAD_DATA);
    REFUSED(numbers, "\x91\x91\xd1\xff\xff", TR_BAD_DATA);
    REFUSED(numbers, "\x91\x91\xd2\xff\xff\xff\xff", TR_BAD_DATA);
}

TEST(floats_keep_every_bit, "B-06")
{
    static const uint64_t patterns[] = {0,
                                        UINT64_C(0x8000000000000000),
                                        1,
                                        UINT64_C(0x7ff0000000000000),
                                        UINT64_C(0x7ff8000000000123),
                                        UINT64_C(0xfff4000000000001),
                                        UINT64_C(0x3ff123456789abcd)};
    for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
        struct floats message;
        uint32_t narrow = (uint32_t)(patterns[i] >> 32);
        memcpy(&message.narrow, &narrow, sizeof(narrow));
        memcpy(&message.wide, &patterns[i], sizeof(message.wide));
        size_t size;
        unsigned char *document = packed(&tr_type_floats, &message, &size);
        struct floats *back = unpacked(&tr_type_floats, document, size);
        ck_assert_mem_eq(&back->narrow, &message.narrow, sizeof(back->narrow));
        ck_assert_mem_eq(&back->wide, &message.wide, sizeof(back->wide));
        tr_message_free(&tr_type_floats, back);
        free(document);
    }
}

TEST(floats_take_other_numbers_when_they_can, "B-06")
{
    struct floats *back =
        UNPACKED(floats, "\x92\xcb\x3f\xb9\x99\x99\x99\x99\x99\x9a\xca\x3f\x80\0\0");
    ck_assert(back->narrow == 0.1f && back->wide == 1.0);
    tr_message_free(&tr_type_floats, back);
    back = UNPACKED(floats, "\x92\xff\xcf\x00\x20\0\0\0\0\0\0");
    ck_assert(back->narrow == -1.0f && back->wide == 9007199254740992.0);
    tr_message_free(&tr_type_floats, back);
    back = UNPACKED(floats, "\x92\xcb\x7f\xf0\0\0\0\0\0\0\xd1\xff\x00");
    ck_assert(isinf(back->narrow) && back->wide == -256.0);
    tr_message_free(&tr_type_floats, back);
    /* 1e39 is no f32; 2^24 + 1 and 2^53 + 1 have too many digits. */
    REFUSED(floats, "\x91\xcb\x48\x07\x82\x87\xf4\x9c\x4a\x1d", TR_BAD_DATA);
    REFUSED(floats, "\x91\xce\x01\x00\x00\x01", TR_BAD_DATA);
    REFUSED(floats, "\x92\x00\xcf\x00\x20\0\0\0\0\0\x01", TR_BAD_DATA);
    REFUSED(floats, "\x92\x00\xd3\xff\xdf\xff\xff\xff\xff\xff\xff", TR_BAD_DATA);
    REFUSED(floats,
            "\x91\xa1"
            "1",
            TR_BAD_DATA);
}

TEST(text_is_utf8_without_nul, "B-06", "U-02")
{
    static const char *const bad[] = {"\x80",
                                      "\xc0\xaf",
                                      "\xc1\xbf",
                                      "\xc3",
                                      "\xe0\x9f\xbf",
                                      "\xed\xa0\x80",
                                      "\xf0\x8f\xbf\xbf",
                                      "\xf4\x90\x80\x80",
                                      "\xf5\x80\x80\x80",
                                      "\xff",
                                      "\xe2\x82",
                                      "12345678\xc3(",
                                      "123456789012345\xff"};
    static const char *const good[] = {"\xc2\x80",
                                       "\xdf\xbf",
                                       "\xe0\xa0\x80",
                                       "\xed\x9f\xbf",
                                       "\xee\x80\x80",
                                       "\xf0\x90\x80\x80",
                                       "\xf4\x8f\xbf\xbf",
                                       "1234567\xc3\xa9",
                                       "plain",
                                       "exactly8",
                                       "0123456789abcdef"};
    unsigned char document[64] = {0x91};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        size_t length = strlen(bad[i]);
        document[1] = (unsigned char)(0xa0 | length);
        memcpy(document + 2, bad[i], length);
        tr_wire_error error = refused(&tr_type_text, document, length + 2, TR_BAD_DATA);
        ck_assert_str_eq(error.path, "text");
        ck_assert_uint_ge(error.offset, 2);
        ck_assert_uint_eq(tr_pack(&tr_type_text, &(struct text){bad[i]}, NULL, 0, &error), 0);
        ck_assert_int_eq(error.status, TR_BAD_DATA);
        ck_assert_str_eq(error.path, "text");
    }
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        size_t length = strlen(good[i]);
        document[1] = (unsigned char)(0xa0 | length);
        memcpy(document + 2, good[i], length);
        struct text *back = unpacked(&tr_type_text, document, length + 2);
        ck_assert_str_eq(back->text, good[i]);
        tr_message_free(&tr_type_text, back);
    }
    for (size_t nul = 0; nul < 20; nul++) {
        document[1] = 0xa0 | 20;
        memset(document + 2, 'x', 20);
        document[2 + nul] = 0;
        ck_assert_uint_eq(refused(&tr_type_text, document, 22, TR_BAD_DATA).offset, 2 + nul);
    }
}

TEST(the_place_of_a_fault_has_a_path, "B-06", "U-02")
{
    tr_wire_error error =
        REFUSED(person, "\x92\x92\xa1x\x01\x92\x92\xa1y\x02\x92\xa1z\xc3", TR_BAD_DATA);
    ck_assert_str_eq(error.path, "others[1].zip");
    ck_assert_uint_eq(error.offset, 13);
    ck_assert_ptr_nonnull(strstr(error.text, "an integer is expected, not a bool"));
    error = REFUSED(person, "\x92\x92\xa1x\xcd\x01", TR_BAD_DATA);
    ck_assert_str_eq(error.path, "home.zip");
    error = REFUSED(person, "\x80", TR_BAD_DATA);
    ck_assert_str_eq(error.path, "");
    ck_assert_uint_eq(error.offset, 0);

    struct address bad = {"\xff", 1};
    struct person message = {{NULL, 2}, {&bad, 1}};
    ck_assert_uint_eq(tr_pack(&tr_type_person, &message, NULL, 0, &error), 0);
    ck_assert_str_eq(error.path, "others[0].street");
    message.others.items = NULL;
    ck_assert_uint_eq(tr_pack(&tr_type_person, &message, NULL, 0, &error), 0);
    ck_assert_int_eq(error.status, TR_BAD_DATA);
    ck_assert_str_eq(error.path, "others");
    struct everything all = {.raw = {NULL, 1}};
    ck_assert_uint_eq(tr_pack(&tr_type_everything, &all, NULL, 0, &error), 0);
    ck_assert_str_eq(error.path, "raw");
}

TR_MESSAGE(strict, (ref, who), (array(u8, 3), triple));

TEST(one_document_of_the_right_shape_and_no_more, "B-06", "U-02")
{
    struct strict *back = UNPACKED(strict, "\x92\xd7\x01\0\0\0\x01\0\0\0\x02\x93\x01\x02\x03");
    ck_assert(back->who.bits == UINT64_C(0x100000002) && back->triple[2] == 3);
    tr_message_free(&tr_type_strict, back);
    back = UNPACKED(strict, "\x91\xc7\x08\x01\xff\0\0\0\0\0\0\x02");
    ck_assert(back->who.bits == UINT64_C(0xff00000000000002));
    tr_message_free(&tr_type_strict, back);
    REFUSED(strict, "\x92\xc0\x93\x01\x02\x03\x00", TR_BAD_DATA);
    tr_wire_error error = REFUSED(strict, "\x91\xd7\x02\0\0\0\x01\0\0\0\x02", TR_BAD_DATA);
    ck_assert_str_eq(error.path, "who");
    REFUSED(strict, "\x91\xc7\x07\x01\0\0\0\0\0\0\x02", TR_BAD_DATA);
    error = REFUSED(strict, "\x92\xc0\x92\x01\x02", TR_BAD_DATA);
    ck_assert_str_eq(error.path, "triple");
    ck_assert_uint_eq(error.offset, 2);
    REFUSED(strict, "\x92\xc0\x94\x01\x02\x03\x04", TR_BAD_DATA);
    REFUSED(strict, "\x92\xc0\x90", TR_BAD_DATA);
}

SUITE("wire msgpack", every_field_makes_the_round_trip, zero_makes_the_round_trip,
      in_place_nothing_is_copied, in_place_a_text_at_the_very_end_has_its_nul,
      what_does_not_fit_is_measured_and_not_written, every_truncation_is_refused_with_its_place,
      every_byte_may_be_wrong, a_value_of_another_type_is_refused_at_each_field,
      an_integer_that_does_not_fit_is_refused, floats_keep_every_bit,
      floats_take_other_numbers_when_they_can, text_is_utf8_without_nul,
      the_place_of_a_fault_has_a_path, one_document_of_the_right_shape_and_no_more)
