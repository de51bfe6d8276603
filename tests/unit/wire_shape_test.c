/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Shapes of messages as texts, how two of them compare, and fields that a reader does not know.
 */
#include "support/test.h"
#include "support/wire_kinds.h"

#include "wire/msgpack_read.h"
#include "wire/msgpack_write.h"
#include "wire/shape.h"

static tr_bytes text_of(const char *text)
{
    return (tr_bytes){text, strlen(text)};
}

static void expect_text(const tr_type *type, const char *expected)
{
    char text[2048] = "";
    ck_assert_uint_eq(tr__shape_write(type, text, sizeof text - 1), strlen(expected));
    ck_assert_str_eq(text, expected);
    memset(text, 'x', sizeof text);
    ck_assert_uint_eq(tr__shape_write(type, text, 1), strlen(expected)); /* what fits */
    ck_assert_int_eq(text[1], 'x');
    ck_assert_uint_eq(tr__shape_write(type, NULL, 0), strlen(expected));
    ck_assert_int_eq((int)tr__shape_compare(text_of(expected), text_of(expected), NULL),
                     SHAPE_EQUAL);
}

TEST(a_shape_names_every_field, "K-07")
{
    expect_text(&tr_type_empty, "{}");
    expect_text(&tr_type_point, "{x:f64,tag:u8}");
    expect_text(&tr_type_item, "{name:str,sizes:[u16],picture:buffer}");
    expect_text(
        &tr_type_everything,
        "{b:bool,i1:i8,i2:i16,i4:i32,i8:i64,u1:u8,u2:u16,u4:u32,u8:u64,f4:f32,f8:f64,shade:i32,"
        "text:str,absent:str,raw:bytes,blob:buffer,who:ref,to:ref,at:{x:f64,tag:u8},"
        "first:{name:str,sizes:[u16],picture:buffer},triple:[u16*3],names:[str*2],"
        "pair:[{name:str,sizes:[u16],picture:buffer}*2],digits:[u8],words:[str],"
        "items:[{name:str,sizes:[u16],picture:buffer}],points:[{x:f64,tag:u8}],shades:[i32],"
        "chunks:[bytes],blobs:[buffer],refs:[ref],flags:[bool],samples:[f32],width:?u32,"
        "height:?u32,note:?str,nothing:?str,nobody:?ref,"
        "last:?{name:str,sizes:[u16],picture:buffer},weight:?f64}");
}

TEST(a_type_that_holds_itself_has_no_shape, "K-07")
{
    ck_assert_uint_eq(tr__shape_write(&tr_type_tree, NULL, 0), 0);
}

static void expect_fit(const char *first, const char *second, unsigned fit)
{
    unsigned turned = fit & SHAPE_DIFFERENT;
    turned |= fit & SHAPE_FIRST_LONGER ? SHAPE_SECOND_LONGER : 0;
    turned |= fit & SHAPE_SECOND_LONGER ? SHAPE_FIRST_LONGER : 0;
    ck_assert_uint_eq(tr__shape_compare(text_of(first), text_of(second), NULL), fit);
    ck_assert_uint_eq(tr__shape_compare(text_of(second), text_of(first), NULL), turned);
}

TEST(shapes_fit_up_to_fields_at_the_end, "K-07")
{
    enum { BOTH = SHAPE_FIRST_LONGER | SHAPE_SECOND_LONGER };
    expect_fit("{}", "{}", SHAPE_EQUAL);
    expect_fit("{}", "{a:u8}", SHAPE_SECOND_LONGER);
    expect_fit("{a:u8,b:{c:u8}}", "{a:u8}", SHAPE_FIRST_LONGER);
    expect_fit("{a:{b:u8},c:u8}", "{a:{b:u8,d:[{e:u8}]},c:u8}", SHAPE_SECOND_LONGER);
    expect_fit("{a:[{b:u8}*2]}", "{a:[{b:u8,c:u8}*2]}", SHAPE_SECOND_LONGER);
    expect_fit("{a:?{b:u8}}", "{a:?{},c:u8}", BOTH);
    expect_fit("{a:u8}", "{b:u8}", SHAPE_DIFFERENT);
    expect_fit("{a:u8}", "{a:u16}", SHAPE_DIFFERENT);
    expect_fit("{a:u8}", "{a:?u8}", SHAPE_DIFFERENT);
    expect_fit("{a:u8}", "{a:[u8]}", SHAPE_DIFFERENT);
    expect_fit("{a:[u8*2]}", "{a:[u8]}", SHAPE_DIFFERENT);
    expect_fit("{a:[u8*2]}", "{a:[u8*3]}", SHAPE_DIFFERENT);
    expect_fit("{a:{}}", "{a:u8}", SHAPE_DIFFERENT);
    expect_fit("{a:u8,b:u8}", "{b:u8,a:u8}", SHAPE_DIFFERENT);
}

TEST(what_is_no_shape_fits_nothing, "K-07")
{
    static const char *const texts[] = {
        "",
        "{",
        "}",
        "a",
        "{a}",
        "{a:}",
        "{:u8}",
        "{a:u8",
        "{a:u8}}",
        "{a:[u8}",
        "{a:[?u8]}",
        "{a:[u8*]}",
        "{a:u8;b:u8}",
        "{{}}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        ck_assert_uint_eq(tr__shape_compare(text_of(texts[i]), text_of(texts[i]), NULL),
                          SHAPE_DIFFERENT);
    }
    char deep[1000] = "";
    for (int i = 0; i < 200; i++)
        strcat(deep, "{a:");
    ck_assert_uint_eq(tr__shape_compare(text_of(deep), text_of(deep), NULL), SHAPE_DIFFERENT);
}

TEST(a_difference_is_named, "K-07")
{
    struct shape_place place;
    (void)tr__shape_compare(text_of("{a:u8,b:{c:u8,d:[{e:u8,f:u8}]},g:u8}"),
                            text_of("{a:u8,b:{c:u8,x:i8},g:u8}"),
                            &place);
    ck_assert_uint_eq(place.first.size, strlen("d:[{e:u8,f:u8}]"));
    ck_assert_int_eq(memcmp(place.first.data, "d:[{e:u8,f:u8}]", place.first.size), 0);
    ck_assert_uint_eq(place.second.size, strlen("x:i8"));
    ck_assert_int_eq(memcmp(place.second.data, "x:i8", place.second.size), 0);
}

TEST(a_front_is_read_and_what_has_none_is_left_alone, "K-07")
{
    unsigned char bytes[SHAPE_FRONT + 1];
    uint64_t hash = tr__shape_hash(text_of("{a:u8}"));
    uint64_t read;
    ck_assert(hash > 0 && hash < UINT64_C(1) << 56);
    ck_assert_uint_eq(hash, UINT64_C(70243390105625924)); /* on every machine */
    tr__shape_front_write(bytes, hash);
    bytes[SHAPE_FRONT] = 0x90;
    tr_bytes rest = tr__shape_front_read((tr_bytes){bytes, sizeof bytes}, &read);
    ck_assert_uint_eq(read, hash);
    ck_assert_uint_eq(rest.size, 1);
    ck_assert_ptr_eq(rest.data, bytes + SHAPE_FRONT);
    rest = tr__shape_front_read(text_of("\x91\x05"), &read);
    ck_assert_uint_eq(read, 0);
    ck_assert_uint_eq(rest.size, 2);
    rest = tr__shape_front_read(text_of("\xc1\x05"), &read); /* no document either */
    ck_assert_uint_eq(read, 0);
    ck_assert_uint_eq(rest.size, 2);
}

/* ---- Fields that a reader does not know. ---- */

TR_MESSAGE(known, (u64, a), (list(message(point)), points));
TR_MESSAGE(tagged, (f64, x), (u8, tag), (str, label));
TR_MESSAGE(later, (u64, a), (list(message(point)), points), (str, note),
           (list(message(item)), items));
TR_MESSAGE(nested, (u64, a), (list(message(tagged)), points));

TEST(fields_that_are_not_known_are_written_again, "K-07")
{
    unsigned char document[256], again[256];
    struct tail tail;
    void *message;
    static const struct point points[] = {{.x = 1.5, .tag = 2}};
    static const struct item items[] = {{.name = "n"}, {.name = NULL}};
    const struct later later = {
        .a = 5, .points = {points, 1}, .note = "later", .items = {items, 2}};
    size_t size = tr_pack(&tr_type_later, &later, document, sizeof document, NULL);
    ck_assert_int_eq(
        tr__unpack_tail(&tr_type_known, (tr_bytes){document, size}, &message, &tail, NULL), TR_OK);
    ck_assert_uint_eq(tail.count, 2);
    ck_assert(!tail.is_nested);
    ck_assert_uint_eq(tr__pack_tail(&tr_type_known, message, &tail, NULL, 0, NULL), size);
    ck_assert_uint_eq(tr__pack_tail(&tr_type_known, message, &tail, again, sizeof again, NULL),
                      size);
    ck_assert_int_eq(memcmp(document, again, size), 0);
    for (size_t less = 0; less < size; less++) /* it never writes behind its room */
        ck_assert_uint_eq(tr__pack_tail(&tr_type_known, message, &tail, again, less, NULL), size);
    tr_message_free(&tr_type_known, message);
    ck_assert_int_eq(
        tr__unpack_tail(&tr_type_later, (tr_bytes){document, size}, &message, &tail, NULL), TR_OK);
    ck_assert_uint_eq(tail.count, 0);
    tr_message_free(&tr_type_later, message);
}

TEST(fields_inside_that_are_not_known_are_told_of, "K-07")
{
    unsigned char document[256];
    struct tail tail;
    void *message;
    static const struct tagged points[] = {{.x = 1.5, .tag = 2, .label = "l"}};
    const struct nested nested = {.a = 5, .points = {points, 1}};
    size_t size = tr_pack(&tr_type_nested, &nested, document, sizeof document, NULL);
    ck_assert_int_eq(
        tr__unpack_tail(&tr_type_known, (tr_bytes){document, size}, &message, &tail, NULL), TR_OK);
    ck_assert_uint_eq(tail.count, 0);
    ck_assert(tail.is_nested);
    tr_message_free(&tr_type_known, message);
}

TR_MESSAGE(first_only, (u64, a));

TEST(a_head_may_grow_by_what_is_not_known, "K-07")
{
    unsigned char document[64] = {0xdc, 0, 17, 1}; /* 17 fields, of which the first is known */
    unsigned char again[64];
    struct tail tail;
    void *message;
    size_t size = 3 + 17;
    ck_assert_int_eq(
        tr__unpack_tail(&tr_type_first_only, (tr_bytes){document, size}, &message, &tail, NULL),
        TR_OK);
    ck_assert_uint_eq(tail.count, 16);
    ck_assert_uint_eq(tr__pack_tail(&tr_type_first_only, message, &tail, again, sizeof again, NULL),
                      size);
    ck_assert_int_eq(memcmp(document, again, size), 0);
    tr_message_free(&tr_type_first_only, message);
}

SUITE("wire shape", a_shape_names_every_field, a_type_that_holds_itself_has_no_shape,
      shapes_fit_up_to_fields_at_the_end, what_is_no_shape_fits_nothing, a_difference_is_named,
      a_front_is_read_and_what_has_none_is_left_alone, fields_that_are_not_known_are_written_again,
      fields_inside_that_are_not_known_are_told_of, a_head_may_grow_by_what_is_not_known)
