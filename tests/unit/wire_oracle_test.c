/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Other implementations as oracles: msgpack-c and jansson read what we write, and we read theirs.
 */
#include "base/rng.h"
#include "support/test.h"
#include "support/wire_kinds.h"

#include <jansson.h>
#include <msgpack.h>
#include <stdio.h>
#include <stdlib.h>

TR_MESSAGE(integers, (i8, i1), (i16, i2), (i32, i4), (i64, i8), (u8, u1), (u16, u2), (u32, u4),
           (u64, u8));

#define DOCUMENT_MAX 65536

/* Random messages of type `everything`, in memory that lasts until the next one. */
struct maker {
    struct rng rng;
    struct everything_memory memory;
    tr_buffer *blob;
    char texts[8][40];
    size_t texts_used;
    unsigned char bytes[300];
    uint8_t many[70000];
};

static uint64_t random_integer(struct rng *rng)
{
    /* All widths are equally likely. */
    return rng_next(rng) >> rng_below(rng, 64);
}

static const char *random_text(struct maker *m)
{
    static const char *const characters[] = {
        "a", "Z", "\"", "\\", "\n", "\x01", "/", "\u00e9", "\u20ac", "\U0001f600", "\x7f"};
    if (rng_below(&m->rng, 4) == 0)
        return NULL;
    char *text = m->texts[m->texts_used++ % 8];
    size_t length = 0;
    for (size_t count = rng_below(&m->rng, 9); count > 0; count--)
        length += (size_t)sprintf(text + length, "%s", characters[rng_below(&m->rng, 11)]);
    text[length] = '\0';
    return text;
}

static tr_bytes random_bytes(struct maker *m)
{
    size_t size = rng_below(&m->rng, 3) == 0 ? 0 : rng_below(&m->rng, sizeof(m->bytes));
    return (tr_bytes){size == 0 ? NULL : m->bytes, size};
}

static struct everything random_message(struct maker *m)
{
    struct everything message = everything_of(&m->memory, m->blob);
    struct rng *rng = &m->rng;
    message.b = rng_below(rng, 2);
    message.i1 = (int8_t)random_integer(rng);
    message.i2 = (int16_t)random_integer(rng);
    message.i4 = (int32_t)random_integer(rng);
    message.i8 = (int64_t)(rng_below(rng, 2) ? random_integer(rng) : 0 - random_integer(rng));
    message.u1 = (uint8_t)random_integer(rng);
    message.u2 = (uint16_t)random_integer(rng);
    message.u4 = (uint32_t)random_integer(rng);
    message.u8 = random_integer(rng);
    message.f8 = (double)(int64_t)rng_next(rng) / 1024;
    message.f4 = (float)(int32_t)rng_next(rng) / 16;
    message.text = random_text(m);
    message.names[1] = random_text(m);
    message.note.value = random_text(m);
    message.note.has = rng_below(rng, 2);
    message.raw = random_bytes(m);
    message.blob = rng_below(rng, 2) ? m->blob : NULL;
    message.who.bits = random_integer(rng);
    message.digits.items = m->many;
    message.digits.count = rng_below(rng, rng_below(rng, 20) == 0 ? 5000 : 40);
    message.words.count = rng_below(rng, 4);
    message.items.count = rng_below(rng, 4);
    message.width.has = rng_below(rng, 2);
    message.width.value = message.width.has ? (uint32_t)random_integer(rng) : 0;
    return message;
}

static struct maker *maker_new(void)
{
    struct maker *m = calloc(1, sizeof(*m));
    rng_init(&m->rng, test_seed());
    m->blob = tr_buffer_new(33);
    memset(tr_buffer_data(m->blob), 0xb1, 33);
    for (size_t i = 0; i < sizeof(m->bytes); i++)
        m->bytes[i] = (unsigned char)(i * 37);
    for (size_t i = 0; i < sizeof(m->many); i++)
        m->many[i] = (uint8_t)(i * 11);
    return m;
}

static void maker_free(struct maker *m)
{
    tr_buffer_release(m->blob);
    free(m);
}

TEST(msgpack_c_writes_the_same_bytes, "B-06")
{
    struct maker *m = maker_new();
    unsigned char *document = malloc(DOCUMENT_MAX);
    for (uint64_t round = test_scale(3000, 300000); round > 0; round--) {
        struct everything message = random_message(m);
        size_t size = tr_pack(&tr_type_everything, &message, document, DOCUMENT_MAX, NULL);
        ck_assert_uint_gt(size, 0);
        ck_assert_uint_le(size, DOCUMENT_MAX);

        /* It reads ours, to the last byte, and writes it again. */
        msgpack_unpacked result;
        msgpack_unpacked_init(&result);
        size_t end = 0;
        ck_assert_int_eq(msgpack_unpack_next(&result, (const char *)document, size, &end),
                         MSGPACK_UNPACK_SUCCESS);
        ck_assert_uint_eq(end, size);
        ck_assert_uint_eq(result.data.via.array.size, tr_type_everything.field_count);
        msgpack_sbuffer again;
        msgpack_sbuffer_init(&again);
        msgpack_packer packer;
        msgpack_packer_init(&packer, &again, msgpack_sbuffer_write);
        msgpack_pack_object(&packer, result.data);
        ck_assert_uint_eq(again.size, size);
        ck_assert_mem_eq(again.data, document, size);

        /* We read theirs, and it is what it was. */
        void *back;
        ck_assert_int_eq(
            tr_unpack(&tr_type_everything, (tr_bytes){again.data, again.size}, &back, NULL), TR_OK);
        unsigned char *third = malloc(size);
        ck_assert_uint_eq(tr_pack(&tr_type_everything, back, third, size, NULL), size);
        ck_assert_mem_eq(third, document, size);
        free(third);
        tr_message_free(&tr_type_everything, back);
        msgpack_sbuffer_destroy(&again);
        msgpack_unpacked_destroy(&result);
    }
    free(document);
    maker_free(m);
}

TEST(wide_forms_of_msgpack_c_are_read, "B-06")
{
    /* The same number in every width that holds it. */
    struct rng rng;
    rng_init(&rng, test_seed());
    for (uint64_t round = test_scale(5000, 500000); round > 0; round--) {
        msgpack_sbuffer buffer;
        msgpack_sbuffer_init(&buffer);
        msgpack_packer packer;
        msgpack_packer_init(&packer, &buffer, msgpack_sbuffer_write);
        int8_t low = (int8_t)rng_next(&rng);
        uint8_t high = (uint8_t)rng_next(&rng);
        msgpack_pack_array(&packer, 8);
        for (int field = 0; field < 4; field++) {
            switch (rng_below(&rng, 5)) {
            case 0:
                msgpack_pack_fix_int8(&packer, low);
                break;
            case 1:
                msgpack_pack_fix_int16(&packer, low);
                break;
            case 2:
                msgpack_pack_fix_int32(&packer, low);
                break;
            case 3:
                msgpack_pack_fix_int64(&packer, low);
                break;
            default:
                msgpack_pack_int64(&packer, low);
                break;
            }
        }
        for (int field = 0; field < 4; field++) {
            switch (rng_below(&rng, 6)) {
            case 0:
                msgpack_pack_fix_uint8(&packer, high);
                break;
            case 1:
                msgpack_pack_fix_uint16(&packer, high);
                break;
            case 2:
                msgpack_pack_fix_uint32(&packer, high);
                break;
            case 3:
                msgpack_pack_fix_uint64(&packer, high);
                break;
            case 4:
                msgpack_pack_fix_int64(&packer, high);
                break;
            default:
                msgpack_pack_uint8(&packer, high);
                break;
            }
        }
        void *message;
        ck_assert_int_eq(
            tr_unpack(&tr_type_integers, (tr_bytes){buffer.data, buffer.size}, &message, NULL),
            TR_OK);
        struct integers *back = message;
        ck_assert(back->i1 == low && back->i2 == low && back->i4 == low && back->i8 == low);
        ck_assert(back->u1 == high && back->u2 == high && back->u4 == high && back->u8 == high);
        tr_message_free(&tr_type_integers, message);
        msgpack_sbuffer_destroy(&buffer);
    }
}

/* Any value, with all that MessagePack has. */
static void pack_anything(msgpack_packer *packer, struct rng *rng, unsigned depth)
{
    static const char bytes[70000] = "x";
    static const size_t sizes[] = {0, 1, 2, 4, 8, 16, 31, 32, 255, 256, 65535, 65536};
    size_t size = sizes[rng_below(rng, sizeof(sizes) / sizeof(sizes[0]))];
    size_t count = depth == 0 ? 0 : rng_below(rng, rng_below(rng, 8) == 0 ? 20 : 4);
    switch (rng_below(rng, 9)) {
    case 0:
        msgpack_pack_uint64(packer, random_integer(rng));
        break;
    case 1:
        msgpack_pack_int64(packer, (int64_t)(0 - random_integer(rng)));
        break;
    case 2:
        msgpack_pack_float(packer, 0.5f);
        break;
    case 3:
        msgpack_pack_double(packer, 0.5);
        break;
    case 4:
        msgpack_pack_str(packer, size);
        msgpack_pack_str_body(packer, bytes, size);
        break;
    case 5:
        msgpack_pack_bin(packer, size);
        msgpack_pack_bin_body(packer, bytes, size);
        break;
    case 6:
        msgpack_pack_ext(packer, size, (int8_t)rng_next(rng));
        msgpack_pack_ext_body(packer, bytes, size);
        break;
    case 7:
        msgpack_pack_array(packer, count);
        for (; count > 0; count--)
            pack_anything(packer, rng, depth - 1);
        break;
    default:
        msgpack_pack_map(packer, count);
        for (size_t i = 0; i < 2 * count; i++)
            pack_anything(packer, rng, depth - 1);
        break;
    }
}

TEST(whatever_msgpack_c_writes_is_skipped, "B-06", "U-02")
{
    struct rng rng;
    rng_init(&rng, test_seed());
    for (uint64_t round = test_scale(3000, 300000); round > 0; round--) {
        msgpack_sbuffer buffer;
        msgpack_sbuffer_init(&buffer);
        msgpack_packer packer;
        msgpack_packer_init(&packer, &buffer, msgpack_sbuffer_write);
        msgpack_pack_array(&packer, 2);
        pack_anything(&packer, &rng, 4);
        pack_anything(&packer, &rng, 4);
        void *message;
        tr_status status =
            tr_unpack(&tr_type_empty, (tr_bytes){buffer.data, buffer.size}, &message, NULL);
        ck_assert_int_eq(status, TR_OK);
        tr_message_free(&tr_type_empty, message);
        size_t cut = rng_below(&rng, buffer.size);
        ck_assert_int_eq(tr_unpack(&tr_type_empty, (tr_bytes){buffer.data, cut}, &message, NULL),
                         TR_BAD_DATA);
        msgpack_sbuffer_destroy(&buffer);
    }
}

TEST(jansson_reads_what_we_write, "B-06")
{
    struct maker *m = maker_new();
    char *document = malloc(DOCUMENT_MAX);
    for (uint64_t round = test_scale(1000, 100000); round > 0; round--) {
        struct everything message = random_message(m);
        message.u8 &= INT64_MAX; /* It has no integers above. */
        size_t size = tr_json_write(&tr_type_everything, &message, document, DOCUMENT_MAX, NULL);
        ck_assert_uint_gt(size, 0);
        ck_assert_uint_lt(size, DOCUMENT_MAX);
        json_error_t error;
        json_t *root = json_loadb(document, size, JSON_REJECT_DUPLICATES, &error);
        ck_assert_msg(root != NULL, "%s", error.text);
        ck_assert_uint_eq(json_object_size(root), tr_type_everything.field_count);
        ck_assert_int_eq(json_integer_value(json_object_get(root, "i8")), message.i8);
        ck_assert_uint_eq((uint64_t)json_integer_value(json_object_get(root, "u8")), message.u8);
        ck_assert(json_real_value(json_object_get(root, "f8")) == message.f8);
        ck_assert((float)json_real_value(json_object_get(root, "f4")) == message.f4);
        const char *text = json_string_value(json_object_get(root, "text"));
        ck_assert((text == NULL) == (message.text == NULL));
        if (text != NULL)
            ck_assert_str_eq(text, message.text);
        ck_assert_uint_eq(json_array_size(json_object_get(root, "digits")), message.digits.count);

        /* We read what it writes, in another order, and it is what it was. */
        char *theirs = json_dumps(root, JSON_SORT_KEYS | JSON_INDENT(3) | JSON_REAL_PRECISION(17));
        void *back;
        tr_wire_error place;
        tr_status status =
            tr_json_read(&tr_type_everything, (tr_bytes){theirs, strlen(theirs)}, &back, &place);
        ck_assert_msg(status == TR_OK, "%s at %zu: %s", place.path, place.offset, place.text);
        char *again = malloc(size + 1);
        ck_assert_uint_eq(tr_json_write(&tr_type_everything, back, again, size + 1, NULL), size);
        ck_assert_str_eq(again, document);
        free(again);
        tr_message_free(&tr_type_everything, back);
        free(theirs);
        json_decref(root);
    }
    free(document);
    maker_free(m);
}

/* What both must agree on: whether it is JSON. Our message has no fields, so all is skipped. */
static void compare(const char *text, size_t size)
{
    json_error_t error;
    json_t *root = json_loadb(text, size, 0, &error);
    tr_wire_error place;
    void *message;
    tr_status status = tr_json_read(&tr_type_empty, (tr_bytes){text, size}, &message, &place);
    if (status == TR_OK)
        tr_message_free(&tr_type_empty, message);
    /* Numbers that are too large for it are numbers all the same. */
    bool is_overflow = root == NULL && json_error_code(&error) == json_error_numeric_overflow;
    if (!is_overflow)
        ck_assert_msg((status == TR_OK) == json_is_object(root),
                      "%.*s: %s, %s",
                      (int)size,
                      text,
                      tr_status_name(status),
                      root == NULL ? error.text : "fine");
    json_decref(root);
}

TEST(jansson_refuses_what_we_refuse, "B-06", "U-02")
{
    static const char seed_text[] =
        "{\"a\":[1,-2.5e+3,0,-0,\"x\\n\\u00e9\\ud83d\\ude00\",true,false,null],"
        "\"b\" : { \"c\":{},\"d\":[ ] , \"e\":\"\xc3\xa9\xf0\x9f\x98\x80\"} , \"f\":12345678901}";
    static const char alphabet[] = "{}[]\",:\\u0123456789eE+-. \n\t\xc3\xa9\xf0\x9f\x98\x80\x01tfn";
    struct rng rng;
    rng_init(&rng, test_seed());
    compare(seed_text, sizeof(seed_text) - 1);
    for (uint64_t round = test_scale(100000, 5000000); round > 0; round--) {
        char text[sizeof(seed_text) + 8];
        size_t size = sizeof(seed_text) - 1;
        memcpy(text, seed_text, size);
        for (size_t edits = 1 + rng_below(&rng, 3); edits > 0; edits--) {
            size_t at = rng_below(&rng, size);
            char letter = alphabet[rng_below(&rng, sizeof(alphabet) - 1)];
            switch (rng_below(&rng, 3)) {
            case 0:
                text[at] = letter;
                break;
            case 1:
                memmove(text + at, text + at + 1, --size - at);
                break;
            default:
                memmove(text + at + 1, text + at, size++ - at);
                text[at] = letter;
                break;
            }
        }
        compare(text, size);
    }
}

SUITE("wire oracle", msgpack_c_writes_the_same_bytes, wide_forms_of_msgpack_c_are_read,
      whatever_msgpack_c_writes_is_skipped, jansson_reads_what_we_write,
      jansson_refuses_what_we_refuse)
