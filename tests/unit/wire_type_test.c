/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Message types: equality by name and fields, sanity of descriptors, flatness.
 */
#include "support/test.h"
#include "wire/type.h"

#include <string.h>

enum color { RED, GREEN };

TR_ACTOR(account, deposit);
TR_MESSAGE(empty);
TR_MESSAGE(point, (f64, x), (f64, y));
TR_MESSAGE(deposit, (u64, amount), (str, memo));
TR_REQUEST(get, deposit, (u8, n));
TR_MESSAGE(flat, (message(point), at), (optional(u16), age), (array(i32, 3), v), (ref, who),
           (ref_of(account), to), (enum_of(color), shade));
TR_MESSAGE(deep, (message(deposit), one));
TR_MESSAGE(listed, (list(u8), items));
TR_MESSAGE(maybe, (optional(str), text));

/* The same declaration in another file: other addresses. */
static tr_type twin_type;
static tr_field twin_fields[4];

static tr_type *twin_of(const tr_type *type)
{
    memcpy(twin_fields, type->fields, type->field_count * sizeof(tr_field));
    twin_type = *type;
    twin_type.fields = twin_fields;
    return &twin_type;
}

TEST(types_of_one_name_and_fields_are_equal_wherever_they_lie, "B-06")
{
    char name[] = "deposit";
    char field[] = "amount";
    tr_type *twin = twin_of(&tr_type_deposit);
    twin->name = name;
    twin_fields[0].name = field;
    twin->file = "another.c";
    twin->line = 1;
    ck_assert(tr_type_is_equal(&tr_type_deposit, twin));
    ck_assert(tr_type_is_equal(twin, &tr_type_deposit));
    ck_assert(tr_type_is_equal(twin, twin));
}

TEST(types_of_other_names_or_fields_differ, "B-06")
{
    ck_assert(!tr_type_is_equal(&tr_type_deposit, &tr_type_point));
    ck_assert(!tr_type_is_equal(&tr_type_deposit, NULL));
    ck_assert(!tr_type_is_equal(NULL, &tr_type_deposit));
    ck_assert(tr_type_is_equal(NULL, NULL));

    twin_of(&tr_type_deposit)->name = "withdraw";
    ck_assert(!tr_type_is_equal(&tr_type_deposit, &twin_type));
    twin_of(&tr_type_deposit);
    twin_fields[1].name = "note";
    ck_assert(!tr_type_is_equal(&tr_type_deposit, &twin_type));
    twin_of(&tr_type_deposit);
    twin_fields[0].kind = TR_KIND_I64;
    ck_assert(!tr_type_is_equal(&tr_type_deposit, &twin_type));
    twin_of(&tr_type_deposit)->field_count = 1;
    ck_assert(!tr_type_is_equal(&tr_type_deposit, &twin_type));
    twin_of(&tr_type_deposit);
    twin_fields[0].offset = 8;
    twin_fields[1].offset = 0;
    ck_assert(!tr_type_is_equal(&tr_type_deposit, &twin_type));
}

TEST(equality_looks_into_nested_messages, "B-06")
{
    tr_type *twin = twin_of(&tr_type_point);
    tr_field fields[1];
    tr_type outer = tr_type_deep;
    memcpy(fields, tr_type_deep.fields, sizeof(fields));
    outer.fields = fields;
    ck_assert(tr_type_is_equal(&outer, &tr_type_deep));
    fields[0].message = twin;
    ck_assert(!tr_type_is_equal(&outer, &tr_type_deep));
    twin_of(&tr_type_deposit);
    ck_assert(tr_type_is_equal(&outer, &tr_type_deep));
}

TEST(types_that_hold_themselves_are_compared_in_finite_time, "B-06")
{
    tr_field a_fields[1], b_fields[1];
    tr_type a = tr_type_deep, b = tr_type_deep;
    memcpy(a_fields, tr_type_deep.fields, sizeof(a_fields));
    memcpy(b_fields, tr_type_deep.fields, sizeof(b_fields));
    a.fields = a_fields;
    b.fields = b_fields;
    a_fields[0].message = &a;
    b_fields[0].message = &b;
    ck_assert(tr_type_is_equal(&a, &a));
    ck_assert(!tr_type_is_equal(&a, &b));
}

TEST(a_type_is_flat_when_it_holds_no_pointer, "B-06")
{
    ck_assert(tr_type_empty.is_flat);
    ck_assert(tr_type_point.is_flat);
    ck_assert(tr_type_get.is_flat);
    ck_assert(tr_type_flat.is_flat);
    ck_assert(!tr_type_deposit.is_flat);
    ck_assert(!tr_type_deep.is_flat);
    ck_assert(!tr_type_listed.is_flat);
    ck_assert(!tr_type_maybe.is_flat);
    ck_assert_ptr_eq(tr_type_get.reply, &tr_type_deposit);
    ck_assert_ptr_null(tr_type_deposit.reply);
    ck_assert_uint_eq(tr_type_empty.size, 1);
    ck_assert_uint_eq(tr_type_empty.field_count, 0);
}

TR_MESSAGE(inside, (array(u64, 3), a));
TR_MESSAGE(beside, (array(u64, 3), a), (u8, b));

TEST(a_type_knows_whether_it_travels_inside_an_envelope, "B-06")
{
    ck_assert_uint_eq(tr_type_empty.inline_size, 1);
    ck_assert_uint_eq(tr_type_inside.inline_size, TR_INLINE_MAX);
    ck_assert_uint_eq(tr_type_beside.inline_size, 0);
    ck_assert_uint_eq(tr_type_deposit.inline_size, 0);
    ck_assert_uint_eq(tr_type_tr_done.inline_size, tr_type_tr_done.size);
}

TEST(what_the_macros_make_is_valid, "B-06")
{
    static const tr_type *const types[] = {&tr_type_empty,
                                           &tr_type_point,
                                           &tr_type_deposit,
                                           &tr_type_get,
                                           &tr_type_flat,
                                           &tr_type_deep,
                                           &tr_type_maybe,
                                           &tr_type_listed,
                                           &tr_type_tr_done};
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        const char *why = "fine";
        ck_assert_msg(tr__type_is_valid(types[i], &why), "%s: %s", types[i]->name, why);
    }
}

static void expect_invalid(const tr_type *type, const char *words)
{
    const char *why = "fine";
    ck_assert(!tr__type_is_valid(type, NULL));
    ck_assert(!tr__type_is_valid(type, &why));
    ck_assert_msg(strstr(why, words) != NULL, "\"%s\" is not in \"%s\"", words, why);
}

TEST(a_broken_descriptor_is_refused_in_words, "B-06")
{
    expect_invalid(NULL, "descriptor is missing");
    twin_of(&tr_type_deposit)->abi = TR_ABI + 1;
    expect_invalid(&twin_type, "another version");
    twin_of(&tr_type_deposit)->name = "";
    expect_invalid(&twin_type, "no name");
    twin_of(&tr_type_deposit)->size = 0;
    expect_invalid(&twin_type, "TR_PAYLOAD_MAX");
    twin_of(&tr_type_deposit)->fields = NULL;
    expect_invalid(&twin_type, "no table");
    twin_of(&tr_type_deposit)->field_size = 8;
    expect_invalid(&twin_type, "too short");
    twin_of(&tr_type_deposit)->is_flat = true;
    expect_invalid(&twin_type, "contains a pointer");
    twin_of(&tr_type_point)->inline_size = 1;
    expect_invalid(&twin_type, "inside an envelope");
    twin_of(&tr_type_deposit)->inline_size = (uint8_t)tr_type_deposit.size;
    expect_invalid(&twin_type, "inside an envelope");
    twin_of(&tr_type_point)->inline_size = 0;
    ck_assert(tr__type_is_valid(&twin_type, NULL));
    twin_of(&tr_type_deposit);
    twin_fields[1].offset = UINT32_MAX - 4;
    expect_invalid(&twin_type, "outside");
    twin_of(&tr_type_deposit);
    twin_fields[0].kind = 77;
    expect_invalid(&twin_type, "unknown kind");
    twin_of(&tr_type_deposit);
    twin_fields[0].shape = 77;
    expect_invalid(&twin_type, "unknown shape");
    twin_of(&tr_type_deposit);
    twin_fields[0].kind = TR_KIND_U32;
    expect_invalid(&twin_type, "differs from that of its kind");
    twin_of(&tr_type_deposit);
    twin_fields[0].kind = TR_KIND_MESSAGE;
    expect_invalid(&twin_type, "no descriptor");
    twin_of(&tr_type_deposit);
    twin_fields[0].shape = TR_SHAPE_LIST;
    expect_invalid(&twin_type, "list");
    twin_of(&tr_type_deposit);
    twin_fields[0].shape = TR_SHAPE_OPTIONAL;
    expect_invalid(&twin_type, "optional");
    twin_of(&tr_type_deposit);
    twin_fields[0].shape = TR_SHAPE_ARRAY;
    twin_fields[0].count = 3;
    expect_invalid(&twin_type, "array");
}

TEST(every_status_has_a_name_and_a_text, "")
{
    ck_assert_str_eq(tr_status_name(TR_OK), "TR_OK");
    ck_assert_str_eq(tr_status_name(TR_UNHANDLED), "TR_UNHANDLED");
    ck_assert_str_eq(tr_status_text(TR_TIMEOUT), "no answer in time");
    ck_assert_str_eq(tr_status_name((tr_status)1), "TR_?");
    ck_assert_str_eq(tr_status_text((tr_status)-1000), "unknown status");
}

SUITE("wire type", types_of_one_name_and_fields_are_equal_wherever_they_lie,
      types_of_other_names_or_fields_differ, equality_looks_into_nested_messages,
      types_that_hold_themselves_are_compared_in_finite_time,
      a_type_is_flat_when_it_holds_no_pointer, a_type_knows_whether_it_travels_inside_an_envelope,
      what_the_macros_make_is_valid, a_broken_descriptor_is_refused_in_words,
      every_status_has_a_name_and_a_text)
