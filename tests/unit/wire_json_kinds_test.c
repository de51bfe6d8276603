/* SPDX-License-Identifier: Apache-2.0 */
/**
 * JSON with a value of another kind than its field has: each kind of field with each kind of value. The error names what the
 * field takes and what the document has.
 */
#include "support/test.h"

#include <troupe/troupe.h>

#include <stdio.h>

TR_MESSAGE(inner, (u8, n));
TR_MESSAGE(has_bool, (bool, x));
TR_MESSAGE(has_i8, (i8, x));
TR_MESSAGE(has_u32, (u32, x));
TR_MESSAGE(has_i64, (i64, x));
TR_MESSAGE(has_u64, (u64, x));
TR_MESSAGE(has_f32, (f32, x));
TR_MESSAGE(has_f64, (f64, x));
TR_MESSAGE(has_str, (str, x));
TR_MESSAGE(has_bytes, (bytes, x));
TR_MESSAGE(has_buffer, (buffer, x));
TR_MESSAGE(has_ref, (ref, x));
TR_MESSAGE(has_message, (message(inner), x));
TR_MESSAGE(has_array, (array(u8, 2), x));
TR_MESSAGE(has_list, (list(u8), x));
TR_MESSAGE(has_optional, (optional(u64), x));
TR_MESSAGE(has_optional_bool, (optional(bool), x));

/* Values by their kind. A text is not what it would be without its quotes. */
static const struct {
    const char *json;
    const char *name;
} given[] = {{"true", "a bool"},
             {"false", "a bool"},
             {"7", "a number"},
             {"-7", "a number"},
             {"\"word\"", "a string"},
             {"\"true\"", "a string"},
             {"\"null\"", "a string"},
             {"\"[1]\"", "a string"},
             {"\"{}\"", "a string"},
             {"\"7t\"", "a string"},
             {"[1,2]", "an array"},
             {"{\"n\":1}", "an object"},
             {"null", "null"}};

static const struct {
    const tr_type *type;
    const char *name;
    const char *takes[2]; /* kinds of values that may be right */
} fields[] = {{&tr_type_has_bool, "a bool", {"a bool", NULL}},
              {&tr_type_has_i8, "an integer", {"a number", NULL}},
              {&tr_type_has_u32, "an integer", {"a number", NULL}},
              {&tr_type_has_i64, "an integer", {"a number", NULL}},
              {&tr_type_has_u64, "an integer", {"a number", NULL}},
              {&tr_type_has_f32, "a number", {"a number", NULL}},
              {&tr_type_has_f64, "a number", {"a number", NULL}},
              {&tr_type_has_str, "a string", {"a string", "null"}},
              {&tr_type_has_bytes, "a string", {"a string", "null"}},
              {&tr_type_has_buffer, "a string", {"a string", "null"}},
              {&tr_type_has_ref, "a string", {"a string", "null"}},
              {&tr_type_has_message, "an object", {"an object", NULL}},
              {&tr_type_has_array, "an array", {"an array", NULL}},
              {&tr_type_has_list, "an array", {"an array", NULL}},
              {&tr_type_has_optional, "an integer", {"a number", "null"}},
              {&tr_type_has_optional_bool, "a bool", {"a bool", "null"}}};

static bool takes(size_t field, const char *name)
{
    const char *const *kinds = fields[field].takes;
    return strcmp(kinds[0], name) == 0 || (kinds[1] != NULL && strcmp(kinds[1], name) == 0);
}

TEST(names_the_kind_that_the_document_has, "B-06", "U-02")
{
    size_t pairs = 0;
    for (size_t f = 0; f < sizeof(fields) / sizeof(*fields); f++) {
        for (size_t g = 0; g < sizeof(given) / sizeof(*given); g++) {
            char json[64], expected[128];
            tr_wire_error error;
            void *message = NULL;
            if (takes(f, given[g].name))
                continue;
            size_t size = (size_t)snprintf(json, sizeof(json), "{\"x\":%s}", given[g].json);
            tr_status status =
                tr_json_read(fields[f].type, (tr_bytes){json, size}, &message, &error);
            snprintf(expected,
                     sizeof(expected),
                     "%s is expected, not %s",
                     fields[f].name,
                     given[g].name);
            ck_assert_msg(status == TR_BAD_DATA, "%s takes %s", fields[f].type->name, json);
            ck_assert_ptr_null(message);
            ck_assert_msg(strcmp(error.text, expected) == 0 && strcmp(error.path, "x") == 0,
                          "%s, %s: %s: %s; not: %s",
                          fields[f].type->name,
                          json,
                          error.path,
                          error.text,
                          expected);
            ck_assert_uint_eq(error.offset, 5);
            pairs++;
        }
    }
    ck_assert_uint_gt(pairs, 150);
}

TEST(names_the_byte_at_which_a_word_ends, "B-06", "U-02")
{
    static const struct {
        const char *json;
        const char *text;
    } words[] = {{"{\"x\":nut}", "null is expected, not 't'"},
                 {"{\"x\":n7}", "null is expected, not '7'"},
                 {"{\"x\":n\"ull\"}", "null is expected, not '\"'"}};
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
        tr_wire_error error;
        void *message = NULL;
        tr_bytes json = {words[i].json, strlen(words[i].json)};
        ck_assert_int_eq(tr_json_read(&tr_type_has_str, json, &message, &error), TR_BAD_DATA);
        ck_assert_str_eq(error.text, words[i].text);
    }
}

SUITE("wire json kinds", names_the_kind_that_the_document_has, names_the_byte_at_which_a_word_ends)
