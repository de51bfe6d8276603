/* SPDX-License-Identifier: Apache-2.0 */
/**
 * JSON as servers use it: lists of every length, memory of the caller, texts of faults, and numbers by the quick ways.
 */
#include "base/rng.h"
#include "support/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <troupe/wire.h>

/* Reads a document from memory that ends behind it. */
static tr_status read_text(const tr_type *type, const char *text, size_t size, void **message,
                           tr_wire_error *error)
{
    char *exact = memcpy(malloc(size + (size == 0)), text, size);
    tr_status status = tr_json_read(type, (tr_bytes){exact, size}, message, error);
    free(exact);
    return status;
}

static void *message_of(const tr_type *type, const char *text)
{
    tr_wire_error error;
    void *message = NULL;
    tr_status status = read_text(type, text, strlen(text), &message, &error);
    ck_assert_msg(status == TR_OK, "%s at %zu, %s: %s", text, error.offset, error.path, error.text);
    return message;
}

TR_MESSAGE(double_float, (f64, f64));
TR_MESSAGE(line, (str, sku), (u32, quantity), (optional(f64), price), (list(u16), sizes));
TR_MESSAGE(bill, (str, customer), (list(message(line)), lines), (list(str), tags), (buffer, scan));

/* A bill of so many lines, as JSON. */
static size_t bill_write(char *text, size_t size, size_t count)
{
    struct line lines[64];
    uint16_t sizes[64];
    const char *tags[64];
    for (size_t i = 0; i < count; i++) {
        sizes[i] = (uint16_t)i;
        tags[i] = i % 2 == 0 ? "\xe2\x82\xac" : "a\"b";
        lines[i] = (struct line){"s", (uint32_t)i, {true, 0.25 * (double)i}, {sizes, i}};
    }
    struct bill bill = {"Anna", {lines, count}, {tags, count}, NULL};
    return tr_json_write(&tr_type_bill, &bill, text, size, NULL);
}

/* Small documents grow their lists, large ones count them; the messages are the same. */
TEST(lists_of_every_length_are_read, "B-06")
{
    for (size_t count = 0; count < 40; count++) {
        static char text[1 << 16];
        static char again[1 << 16];
        size_t length = bill_write(text, sizeof(text), count);
        struct bill *bill = message_of(&tr_type_bill, text);
        ck_assert_uint_eq(bill->lines.count, count);
        ck_assert_uint_eq(bill->tags.count, count);
        for (size_t i = 0; i < count; i++) {
            ck_assert_uint_eq(bill->lines.items[i].sizes.count, i);
            ck_assert_uint_eq(bill->lines.items[i].quantity, i);
            ck_assert_str_eq(bill->lines.items[i].sku, "s");
        }
        ck_assert_uint_eq(tr_json_write(&tr_type_bill, bill, again, sizeof(again), NULL), length);
        ck_assert_str_eq(again, text);
        tr_message_free(&tr_type_bill, bill);
    }
}

/* Reads into exactly `size` bytes. */
static tr_status read_in(const char *text, size_t size, size_t *needed)
{
    void *space = malloc(size);
    char again[4096];
    tr_wire_error error;
    tr_bytes document = {text, strlen(text)};
    tr_status status = tr_json_read_in(&tr_type_bill, document, space, size, needed, &error);
    if (status == TR_OK) {
        ck_assert_uint_le(*needed, size);
        ck_assert_uint_gt(tr_json_write(&tr_type_bill, space, again, sizeof(again), NULL), 0);
        ck_assert_str_eq(again, text);
        tr_message_deinit(&tr_type_bill, space);
    } else {
        ck_assert_int_eq(status, error.status);
    }
    free(space);
    return status;
}

TEST(a_message_is_read_into_memory_of_the_caller, "B-06", "U-02")
{
    for (size_t count = 0; count < 20; count++) {
        char text[4096];
        size_t needed = 0;
        size_t length = bill_write(text, sizeof(text), count);
        /* A buffer too, which is the only thing that is allocated. */
        strcpy(text + length - strlen("null}"), "\"AQI=\"}");
        ck_assert_int_eq(read_in(text, 1, &needed), TR_TOO_LARGE);
        ck_assert_uint_ge(needed, sizeof(struct bill));
        size_t enough = needed;
        for (size_t size = sizeof(struct bill); size < enough; size += 8) {
            tr_status status = read_in(text, size, &needed);
            ck_assert(status == TR_OK || status == TR_TOO_LARGE);
            ck_assert(status == TR_OK || needed > size);
        }
        ck_assert_int_eq(read_in(text, enough, &needed), TR_OK);
    }
    size_t needed;
    ck_assert_int_eq(read_in("{\"lines\":[{}", 1000, &needed), TR_BAD_DATA);
    ck_assert_uint_eq(needed, 0);
    ck_assert_int_eq(tr_json_read_in(&tr_type_bill, (tr_bytes){"{}", 2}, NULL, 0, NULL, NULL),
                     TR_INVALID_ARGUMENT);
}

/* The path and the text of a fault, for those who answer a client with them. */
static void check_text(const tr_type *type, const char *document, const char *path,
                       const char *text)
{
    tr_wire_error error;
    void *message;
    ck_assert_int_ne(read_text(type, document, strlen(document), &message, &error), TR_OK);
    ck_assert_str_eq(error.path, path);
    ck_assert_str_eq(error.text, text);
}

TEST(a_fault_says_what_is_expected, "B-06")
{
    static const struct {
        const char *document;
        const char *path;
        const char *text;
    } rows[] = {
        {"{\"lines\":[{},{\"quantity\":-1}]}",
         "lines[1].quantity",
         "an integer from 0 to 4294967295 is expected"},
        {"{\"lines\":[{\"quantity\":4294967296}]}",
         "lines[0].quantity",
         "an integer from 0 to 4294967295 is expected"},
        {"{\"lines\":[{\"quantity\":99999999999999999999}]}",
         "lines[0].quantity",
         "an integer from 0 to 4294967295 is expected"},
        {"{\"lines\":[{\"sizes\":[1,2,65536]}]}",
         "lines[0].sizes[2]",
         "an integer from 0 to 65535 is expected"},
        {"{\"lines\":[{\"quantity\":\"2\"}]}",
         "lines[0].quantity",
         "an integer is expected, not a string"},
        {"{\"lines\":[{\"quantity\":1.5}]}",
         "lines[0].quantity",
         "an integer is expected, without a fraction or an exponent"},
        {"{\"lines\":[{\"quantity\":1e2}]}",
         "lines[0].quantity",
         "an integer is expected, without a fraction or an exponent"},
        {"{\"lines\":[{\"quantity\":null}]}",
         "lines[0].quantity",
         "an integer is expected, not null"},
        {"{\"lines\":[{\"price\":true}]}", "lines[0].price", "a number is expected, not a bool"},
        {"{\"lines\":[{\"sku\":7}]}", "lines[0].sku", "a string is expected, not a number"},
        {"{\"lines\":{}}", "lines", "an array is expected, not an object"},
        {"{\"lines\":[7]}", "lines[0]", "an object is expected, not a number"},
        {"{\"customer\":\"a\",\"customer\":\"b\"}", "customer", "the field occurs twice"},
        {"[]", "", "an object is expected, not an array"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        check_text(&tr_type_bill, rows[i].document, rows[i].path, rows[i].text);
}

/* What the quick ways of reading and writing numbers give is what strtod and printf give. */
TEST(short_numbers_are_those_of_the_c_library, "B-06")
{
    struct rng rng;
    rng_init(&rng, test_seed());
    for (uint64_t i = 0; i < test_scale(200000, 20000000); i++) {
        char digits[64];
        char document[96];
        char text[96];
        int places = (int)rng_below(&rng, 19);
        uint64_t whole = rng_next(&rng) >> rng_below(&rng, 64);
        snprintf(digits,
                 sizeof(digits),
                 "%s%.*f",
                 i % 3 == 0 ? "-" : "",
                 places,
                 (double)whole / pow(10, (double)rng_below(&rng, 20)));
        snprintf(document, sizeof(document), "{\"f64\":%s}", digits);
        struct double_float *back = message_of(&tr_type_double_float, document);
        double expected = strtod(digits, NULL);
        ck_assert_msg(
            memcmp(&back->f64, &expected, sizeof(expected)) == 0, "%s: %.17g", digits, back->f64);
        int precision = 15;
        do {
            snprintf(digits, sizeof(digits), "%.*g", precision, expected);
        } while (strtod(digits, NULL) != expected && precision++ < 17);
        snprintf(document,
                 sizeof(document),
                 "{\"f64\":%s%s}",
                 digits,
                 strpbrk(digits, ".e") == NULL ? ".0" : "");
        tr_json_write(&tr_type_double_float, back, text, sizeof(text), NULL);
        ck_assert_str_eq(text, document);
        tr_message_free(&tr_type_double_float, back);
    }
}

SUITE("wire json server", lists_of_every_length_are_read,
      a_message_is_read_into_memory_of_the_caller, a_fault_says_what_is_expected,
      short_numbers_are_those_of_the_c_library)
