/* SPDX-License-Identifier: Apache-2.0 */
/**
 * JSON both ways: every kind of field, exact integers, every truncation, what is refused and where.
 */
#include "support/test.h"
#include "support/wire_kinds.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

TR_MESSAGE(floats, (f32, narrow), (f64, wide));
TR_MESSAGE(integers, (i8, i1), (i16, i2), (i32, i4), (i64, i8), (u8, u1), (u16, u2), (u32, u4),
           (u64, u8));
TR_MESSAGE(text, (str, text));
TR_MESSAGE(raw, (bytes, data));
TR_MESSAGE(blob, (buffer, data));
TR_MESSAGE(who, (ref, ref), (optional(ref), other), (bool, is_set));
TR_MESSAGE(address, (str, street), (u16, zip));
TR_MESSAGE(person, (message(address), home), (list(message(address)), others),
           (array(u8, 2), pair));

#define TEXT_MAX 4096

static const char *json_of(const tr_type *type, const void *message)
{
    static char text[TEXT_MAX];
    tr_wire_error error;
    size_t length = tr_json_write(type, message, text, sizeof(text), &error);
    ck_assert_msg(length > 0, "%s: %s", error.path, error.text);
    ck_assert_uint_eq(length, strlen(text));
    return text;
}

/* In memory of the exact size, without a NUL. */
static tr_status read_text(const tr_type *type, const char *text, size_t size, void **message,
                           tr_wire_error *error)
{
    char *exact = memcpy(malloc(size + 1), text, size);
    exact = realloc(exact, size > 0 ? size : 1);
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

static void refused(const tr_type *type, const char *text, size_t offset, const char *path)
{
    tr_wire_error error;
    memset(&error, 0xa5, sizeof(error));
    void *message = &error;
    tr_status status = read_text(type, text, strlen(text), &message, &error);
    ck_assert_msg(status == TR_BAD_DATA, "%s: %s", text, tr_status_name(status));
    ck_assert_ptr_eq(message, &error);
    ck_assert_int_eq(error.status, TR_BAD_DATA);
    ck_assert_msg(strcmp(error.path, path) == 0, "%s: %s: %s", text, error.path, error.text);
    ck_assert_msg(error.offset == offset, "%s: %zu: %s", text, error.offset, error.text);
    ck_assert_uint_gt(strlen(error.text), 0);
}

static struct everything full(void)
{
    static struct everything_memory memory;
    tr_buffer *blob = tr_buffer_new(4);
    memcpy(tr_buffer_data(blob), "blob", 4);
    return everything_of(&memory, blob);
}

TEST(every_field_makes_the_round_trip, "B-06")
{
    struct everything all = full();
    char first[TEXT_MAX];
    strcpy(first, json_of(&tr_type_everything, &all));
    struct everything *back = message_of(&tr_type_everything, first);
    ck_assert_str_eq(json_of(&tr_type_everything, back), first);
    char expected[TEXT_MAX], got[TEXT_MAX];
    tr_type_print(&tr_type_everything, &all, expected, sizeof(expected));
    tr_type_print(&tr_type_everything, back, got, sizeof(got));
    ck_assert_str_eq(expected, got);
    ck_assert(back->u8 == UINT64_MAX && back->i8 == INT64_MIN && back->f4 == 0.1f);
    ck_assert(back->nothing.has && back->nothing.value == NULL);
    ck_assert(back->nobody.has && back->nobody.value.bits == 0);
    tr_message_free(&tr_type_everything, back);

    struct everything none = {0};
    back = message_of(&tr_type_everything, json_of(&tr_type_everything, &none));
    ck_assert_mem_eq(back, &none, sizeof(none));
    tr_message_free(&tr_type_everything, back);
    back = message_of(&tr_type_everything, " { } ");
    ck_assert_mem_eq(back, &none, sizeof(none));
    tr_message_free(&tr_type_everything, back);
    tr_buffer_release(all.blob);
}

TEST(the_form_is_what_the_header_says, "B-06")
{
    struct six six = {UINT64_MAX, "a\"b\\\n\t\x1f/\x7f\u00e9", 7, 0.5, {"\x01\x02", 2}, true};
    ck_assert_str_eq(json_of(&tr_type_six, &six),
                     "{\"id\":18446744073709551615,\"name\":\"a\\\"b\\\\\\n\\t\\u001f/\x7f\u00e9\","
                     "\"count\":7,\"price\":0.5,\"blob\":\"AQI=\",\"is_last\":true}");
    struct who who = {.ref = {UINT64_C(0x100000002)}, .other = {true, {0}}};
    ck_assert_str_eq(json_of(&tr_type_who, &who),
                     "{\"ref\":\"0x100000002\",\"other\":[null],\"is_set\":false}");
    who = (struct who){.is_set = true};
    ck_assert_str_eq(json_of(&tr_type_who, &who), "{\"ref\":null,\"other\":null,\"is_set\":true}");
    ck_assert_str_eq(json_of(&tr_type_empty, &(struct empty){0}), "{}");
}

TEST(what_does_not_fit_is_measured_and_cut, "B-06")
{
    struct everything all = full();
    char whole[TEXT_MAX];
    strcpy(whole, json_of(&tr_type_everything, &all));
    for (size_t room = 0; room < strlen(whole) + 4; room++) {
        char *buffer = memset(malloc(room + 1), 0x5a, room + 1);
        ck_assert_uint_eq(tr_json_write(&tr_type_everything, &all, buffer, room, NULL),
                          strlen(whole));
        ck_assert_int_eq(buffer[room], 0x5a);
        if (room > 0)
            ck_assert_int_eq(strncmp(buffer, whole, room - 1), 0);
        if (room > 0)
            ck_assert_uint_eq(strlen(buffer), room <= strlen(whole) ? room - 1 : strlen(whole));
        free(buffer);
    }
    tr_buffer_release(all.blob);
}

TEST(every_truncation_is_refused_with_its_place, "B-06", "U-02")
{
    struct everything all = full();
    char whole[TEXT_MAX];
    strcpy(whole, json_of(&tr_type_everything, &all));
    for (size_t cut = 0; cut < strlen(whole); cut++) {
        tr_wire_error error;
        void *message;
        ck_assert_int_eq(read_text(&tr_type_everything, whole, cut, &message, &error), TR_BAD_DATA);
        ck_assert_uint_le(error.offset, cut);
        ck_assert_uint_ge(error.offset + 16, cut); /* At the cut, or at the value that was cut. */
    }
    tr_buffer_release(all.blob);
}

TEST(every_byte_may_be_wrong, "U-02")
{
    struct everything all = full();
    char whole[TEXT_MAX];
    strcpy(whole, json_of(&tr_type_everything, &all));
    size_t size = strlen(whole);
    for (size_t at = 0; at < size; at++) {
        char kept = whole[at];
        for (unsigned byte = 0; byte < 256; byte += TEST_HAS_SANITIZER ? 7 : 1) {
            whole[at] = (char)byte;
            tr_wire_error error;
            void *message;
            tr_status status =
                tr_json_read(&tr_type_everything, (tr_bytes){whole, size}, &message, &error);
            if (status == TR_OK) {
                ck_assert_uint_gt(tr_json_write(&tr_type_everything, message, NULL, 0, &error), 0);
                tr_message_free(&tr_type_everything, message);
            } else {
                ck_assert_int_eq(status, TR_BAD_DATA);
                ck_assert_uint_le(error.offset, size);
            }
        }
        whole[at] = kept;
    }
    tr_buffer_release(all.blob);
}

TEST(a_value_of_another_type_is_refused_at_each_field, "B-06", "U-02")
{
    static const char *const values[] = {"null",
                                         "true",
                                         "5",
                                         "-1",
                                         "1.5",
                                         "\"x\"",
                                         "\"eA==\"",
                                         "[1]",
                                         "{\"a\":1}",
                                         "[null]",
                                         "nul",
                                         "tru",
                                         "+1",
                                         "'x'"};
    size_t refusals = 0;
    for (size_t field = 0; field < tr_type_everything.field_count; field++) {
        const char *name = tr_type_everything.fields[field].name;
        for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
            char text[128];
            sprintf(text, "{\"%s\":%s}", name, values[i]);
            tr_wire_error error;
            void *message;
            if (read_text(&tr_type_everything, text, strlen(text), &message, &error) == TR_OK) {
                tr_message_free(&tr_type_everything, message);
                continue;
            }
            ck_assert_int_eq(error.status, TR_BAD_DATA);
            ck_assert_msg(strncmp(error.path, name, strlen(name)) == 0, "%s", text);
            ck_assert_uint_ge(error.offset, strlen(name) + 4);
            refusals++;
        }
    }
    ck_assert_uint_ge(refusals, tr_type_everything.field_count * 10u);
}

TEST(integers_are_exact_and_fit, "B-06", "U-02")
{
    struct integers *back =
        message_of(&tr_type_integers,
                   "{\"i1\":-128,\"i2\":-32768,\"i4\":-2147483648,\"i8\":-9223372036854775808,"
                   "\"u1\":255,\"u2\":65535,\"u4\":4294967295,\"u8\":18446744073709551615}");
    ck_assert(back->i1 == INT8_MIN && back->i2 == INT16_MIN && back->i4 == INT32_MIN);
    ck_assert(back->i8 == INT64_MIN && back->u1 == UINT8_MAX && back->u2 == UINT16_MAX);
    ck_assert(back->u4 == UINT32_MAX && back->u8 == UINT64_MAX);
    tr_message_free(&tr_type_integers, back);
    back = message_of(&tr_type_integers, "{\"i1\":-0,\"i8\":\"-9007199254740993\",\"u8\":\"12\"}");
    ck_assert(back->i8 == INT64_C(-9007199254740993) && back->u8 == 12);
    tr_message_free(&tr_type_integers, back);

    static const char *const bad[][2] = {{"i1", "-129"},
                                         {"i1", "128"},
                                         {"i2", "32768"},
                                         {"i2", "-32769"},
                                         {"i4", "2147483648"},
                                         {"i4", "-2147483649"},
                                         {"i8", "9223372036854775808"},
                                         {"i8", "-9223372036854775809"},
                                         {"u1", "256"},
                                         {"u1", "-1"},
                                         {"u2", "65536"},
                                         {"u4", "4294967296"},
                                         {"u8", "-1"},
                                         {"u8", "18446744073709551616"},
                                         {"u8", "100000000000000000000000"},
                                         {"u8", "1.0"},
                                         {"u8", "1e3"},
                                         {"u4", "\"5\""},
                                         {"u8", "\"1.5\""}};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char text[64];
        sprintf(text, "{\"%s\":%s}", bad[i][0], bad[i][1]);
        refused(&tr_type_integers, text, 6, bad[i][0]);
    }
    refused(&tr_type_integers, "{\"u8\":\"\"}", 6, "u8");
    refused(&tr_type_integers, "{\"u8\":\" 1\"}", 6, "u8");
    refused(&tr_type_integers, "{\"u8\":\"1 \"}", 6, "u8");
    refused(&tr_type_integers, "{\"u8\":01}", 6, "u8");
    refused(&tr_type_integers, "{\"u8\":-}", 7, "u8");
    refused(&tr_type_integers, "{\"u8\":1x}", 7, "");
}

static void expect_float(double value, float narrow)
{
    struct floats message = {narrow, value};
    struct floats *back = message_of(&tr_type_floats, json_of(&tr_type_floats, &message));
    ck_assert_mem_eq(&back->wide, &value, sizeof(value));
    ck_assert_mem_eq(&back->narrow, &narrow, sizeof(narrow));
    tr_message_free(&tr_type_floats, back);
}

TEST(floats_read_back_as_they_were, "B-06")
{
    static const double values[] = {0.0,
                                    -0.0,
                                    0.1,
                                    1.0,
                                    -1.5,
                                    1e300,
                                    5e-324,
                                    DBL_MAX,
                                    DBL_MIN,
                                    9007199254740993.0,
                                    1.0 / 3,
                                    123456789012345680.0};
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
        expect_float(values[i], (float)fmin(values[i], 3e38));
    expect_float(0, FLT_MAX);
    expect_float(0, FLT_MIN);
    expect_float(0, FLT_TRUE_MIN);
    srand48((long)test_seed());
    for (size_t i = 0; i < 20000; i++) {
        uint64_t bits = (uint64_t)mrand48() << 32 ^ (uint64_t)mrand48();
        uint32_t narrow_bits = (uint32_t)mrand48();
        double value;
        float narrow;
        memcpy(&value, &bits, sizeof(value));
        memcpy(&narrow, &narrow_bits, sizeof(narrow));
        if (isfinite(value) && isfinite(narrow))
            expect_float(value, narrow);
    }
    tr_wire_error error;
    const double none[] = {NAN, INFINITY, -INFINITY};
    for (size_t i = 0; i < 3; i++) {
        struct floats message = {0, none[i]};
        ck_assert_uint_eq(tr_json_write(&tr_type_floats, &message, NULL, 0, &error), 0);
        ck_assert_int_eq(error.status, TR_BAD_DATA);
        ck_assert_str_eq(error.path, "wide");
    }
    refused(&tr_type_floats, "{\"wide\":1e309}", 8, "wide");
    refused(&tr_type_floats, "{\"narrow\":1e39}", 10, "narrow");
    refused(&tr_type_floats, "{\"wide\":NaN}", 8, "wide");
    refused(&tr_type_floats, "{\"wide\":1.}", 10, "wide");
    refused(&tr_type_floats, "{\"wide\":.5}", 8, "wide");
    refused(&tr_type_floats, "{\"wide\":1e}", 10, "wide");
    refused(&tr_type_floats, "{\"wide\":1e+}", 11, "wide");
    refused(&tr_type_floats, "{\"wide\":00.5}", 8, "wide");
    refused(&tr_type_floats, "{\"wide\":0x10}", 9, "");
    /* More digits than any double has, as far as the limit. */
    char text[700] = "{\"wide\":0.";
    memset(text + 10, '3', 500);
    strcpy(text + 510, "}");
    struct floats *back = message_of(&tr_type_floats, text);
    ck_assert(back->wide == 1.0 / 3);
    tr_message_free(&tr_type_floats, back);
    memset(text + 10, '3', 600);
    strcpy(text + 610, "}");
    void *message;
    ck_assert_int_eq(read_text(&tr_type_floats, text, 611, &message, NULL), TR_TOO_LARGE);
}

TEST(the_locale_does_not_matter, "B-06")
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "C.UTF-8"};
    size_t i = 0;
    while (i < 3 && setlocale(LC_ALL, names[i]) == NULL)
        i++;
    struct floats message = {0.5f, -1.5};
    ck_assert_str_eq(json_of(&tr_type_floats, &message), "{\"narrow\":0.5,\"wide\":-1.5}");
    expect_float(1234.5, 0.25f);
    setlocale(LC_ALL, "C");
}

static void expect_text(const char *json, const char *expected)
{
    char document[128];
    sprintf(document, "{\"text\":\"%s\"}", json);
    struct text *back = message_of(&tr_type_text, document);
    ck_assert_str_eq(back->text, expected);
    tr_message_free(&tr_type_text, back);
}

TEST(text_has_escapes_and_utf8, "B-06", "U-02")
{
    expect_text("", "");
    expect_text("\\\"\\\\\\/\\b\\f\\n\\r\\t", "\"\\/\b\f\n\r\t");
    expect_text("\\u0041\\u00e9\\u20AC\\ud83d\\uDE00x", "A\u00e9\u20ac\U0001f600x");
    expect_text("\u00e9\U0001f600", "\u00e9\U0001f600");
    expect_text("\\ud7ff\\ue000\\uffff", "\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf");
    static const char *const bad[] = {"\\u0000",
                                      "\\ud83d",
                                      "\\ud83dx",
                                      "\\ud83d\\u0041",
                                      "\\ude00",
                                      "\\u12",
                                      "\\u12g4",
                                      "\\x41",
                                      "\\",
                                      "\x01",
                                      "\n",
                                      "\xff",
                                      "\xc3",
                                      "\xed\xa0\x80",
                                      "\\ud83d\\u",
                                      "\\ud83d\\"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char document[64];
        sprintf(document, "{\"text\":\"ok%s\"}", bad[i]);
        tr_wire_error error;
        void *message;
        ck_assert_int_eq(read_text(&tr_type_text, document, strlen(document), &message, &error),
                         TR_BAD_DATA);
        ck_assert_str_eq(error.path, "text");
        ck_assert_uint_ge(error.offset, 11);
    }
    tr_wire_error error;
    ck_assert_uint_eq(tr_json_write(&tr_type_text, &(struct text){"\xff"}, NULL, 0, &error), 0);
    ck_assert_str_eq(error.path, "text");
    /* Names too may have escapes. */
    struct text *back = message_of(&tr_type_text, "{\"t\\u0065xt\":\"named\"}");
    ck_assert_str_eq(back->text, "named");
    tr_message_free(&tr_type_text, back);
}

TEST(base64_is_strict, "B-06", "U-02")
{
    for (size_t size = 0; size < 40; size++) {
        unsigned char bytes[40];
        for (size_t i = 0; i < size; i++)
            bytes[i] = (unsigned char)(i * 41 + size * 7);
        struct raw message = {{size == 0 ? NULL : bytes, size}};
        struct raw *back = message_of(&tr_type_raw, json_of(&tr_type_raw, &message));
        ck_assert_uint_eq(back->data.size, size);
        ck_assert(size == 0 || memcmp(back->data.data, bytes, size) == 0);
        tr_message_free(&tr_type_raw, back);
    }
    struct raw *back = message_of(&tr_type_raw, "{\"data\":\"\\/\\u002b\\/\\u002b\"}");
    ck_assert_uint_eq(back->data.size, 3);
    ck_assert_mem_eq(back->data.data, "\xff\xef\xfe", 3);
    tr_message_free(&tr_type_raw, back);
    static const char *const bad[] = {"A",
                                      "AA",
                                      "AAA",
                                      "AAAAA",
                                      "A===",
                                      "====",
                                      "AA=A",
                                      "=AAA",
                                      "AB==",
                                      "AAB=",
                                      "AA==AAAA",
                                      "AA A",
                                      "AA-_",
                                      "AA\u00e9"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char document[64];
        sprintf(document, "{\"data\":\"%s\"}", bad[i]);
        tr_wire_error error;
        void *message;
        ck_assert_msg(read_text(&tr_type_raw, document, strlen(document), &message, &error) ==
                          TR_BAD_DATA,
                      "%s",
                      bad[i]);
        ck_assert_str_eq(error.path, "data");
        ck_assert_int_eq(read_text(&tr_type_blob, document, strlen(document), &message, &error),
                         TR_BAD_DATA);
    }
}

TEST(refs_are_hexadecimal, "B-06", "U-02")
{
    struct who *back =
        message_of(&tr_type_who, "{\"ref\":\"0xFEDCBA9876543210\",\"other\":\"0x1f\"}");
    ck_assert(back->ref.bits == UINT64_C(0xfedcba9876543210) && back->other.value.bits == 0x1f);
    tr_message_free(&tr_type_who, back);
    static const char *const bad[] = {"\"\"",
                                      "\"0x\"",
                                      "\"1f\"",
                                      "\"0X1f\"",
                                      "\"0x1g\"",
                                      "\"0x11111111111111111\"",
                                      "\"0x1\\u0066\"",
                                      "5",
                                      "true"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char document[64];
        sprintf(document, "{\"ref\":%s}", bad[i]);
        refused(&tr_type_who, document, 7, "ref");
    }
}

TEST(the_place_of_a_fault_has_a_path, "B-06", "U-02")
{
    refused(&tr_type_person, "{\"others\":[{\"zip\":1},{\"zip\":\"2\"}]}", 28, "others[1].zip");
    refused(&tr_type_person, "{\"others\":[{\"zip\":1},{\"zip\":2]}", 29, "others[1]");
    refused(&tr_type_person, "{\"others\":[{\"zip\":1} {\"zip\":2}]}", 21, "others");
    refused(&tr_type_person, "{\"others\":[{\"zip\":1},]}", 21, "others[1]");
    refused(&tr_type_person, "{\"home\":{\"zip\":65536}}", 15, "home.zip");
    refused(&tr_type_person, "{\"home\":{\"zip\":1,\"zip\":2}}", 17, "home.zip");
    refused(&tr_type_person, "{\"home\":{}, \"home\":{}}", 12, "home");
    refused(&tr_type_person, "{\"pair\":[1]}", 8, "pair");
    refused(&tr_type_person, "{\"pair\":[1,2,3]}", 8, "pair");
    refused(&tr_type_person, "{\"pair\":[1,256]}", 11, "pair[1]");
    refused(&tr_type_person, "{\"unknown\":[1,}", 14, "");
    refused(&tr_type_person, "{\"unknown\":01}", 11, "");
    refused(&tr_type_person, "{\"unknown\":\"\xff\"}", 12, "");
    refused(&tr_type_person, "{\"home\" {}}", 8, "");
    refused(&tr_type_person, "{home:{}}", 1, "");
    refused(&tr_type_person, "{,}", 1, "");
    refused(&tr_type_person, "{\"home\":{},}", 11, "");
    refused(&tr_type_person, "{} {}", 3, "");
    refused(&tr_type_person, "{}x", 2, "");
    refused(&tr_type_person, "[]", 0, "");
    refused(&tr_type_person, "\xef\xbb\xbf{}", 0, "");
    refused(&tr_type_person, "", 0, "");
}

SUITE("wire json", every_field_makes_the_round_trip, the_form_is_what_the_header_says,
      what_does_not_fit_is_measured_and_cut, every_truncation_is_refused_with_its_place,
      every_byte_may_be_wrong, a_value_of_another_type_is_refused_at_each_field,
      integers_are_exact_and_fit, floats_read_back_as_they_were, the_locale_does_not_matter,
      text_has_escapes_and_utf8, base64_is_strict, refs_are_hexadecimal,
      the_place_of_a_fault_has_a_path)
