/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Messages of every kind of field, for the tests and fuzzers of the wire forms.
 *
 * `everything` has all kinds and shapes. `tree` holds itself, which TR_MESSAGE cannot declare: its
 * descriptor is made by hand and reaches any depth.
 */
#ifndef TROUPE_TESTS_SUPPORT_WIRE_KINDS_H
#define TROUPE_TESTS_SUPPORT_WIRE_KINDS_H

#include <troupe/wire.h>

#include <string.h>

enum color { RED, GREEN = 7, BLUE = -2 };

TR_ACTOR(account, deposit);
TR_MESSAGE(empty);
TR_MESSAGE(point, (f64, x), (u8, tag));
TR_MESSAGE(item, (str, name), (list(u16), sizes), (buffer, picture));
TR_MESSAGE(everything, (bool, b), (i8, i1), (i16, i2), (i32, i4), (i64, i8), (u8, u1), (u16, u2),
           (u32, u4), (u64, u8), (f32, f4), (f64, f8), (enum_of(color), shade), (str, text),
           (str, absent), (bytes, raw), (buffer, blob), (ref, who), (ref_of(account), to),
           (message(point), at), (message(item), first), (array(u16, 3), triple),
           (array(str, 2), names), (array(message(item), 2), pair), (list(u8), digits),
           (list(str), words), (list(message(item)), items), (list(message(point)), points),
           (list(enum_of(color)), shades), (list(bytes), chunks), (list(buffer), blobs),
           (list(ref), refs), (list(bool), flags), (list(f32), samples), (optional(u32), width),
           (optional(u32), height), (optional(str), note), (optional(str), nothing),
           (optional(ref), nobody), (optional(message(item)), last), (optional(f64), weight));
TR_MESSAGE(six, (u64, id), (str, name), (u32, count), (f64, price), (bytes, blob), (bool, is_last));

struct tree {
    uint8_t tag;
    struct {
        const struct tree *items;
        size_t count;
    } children;
};
static const tr_type tr_type_tree;
static const tr_field tr_fields_tree[] = {
    {"tag", NULL, offsetof(struct tree, tag), 1, 1, 1, TR_KIND_U8, TR_SHAPE_ONE, {0}},
    {"children",
     &tr_type_tree,
     offsetof(struct tree, children),
     sizeof(struct tree) - 8,
     sizeof(struct tree),
     1,
     TR_KIND_MESSAGE,
     TR_SHAPE_LIST,
     {0}},
};
static const tr_type tr_type_tree = {
    .name = "tree",
    .fields = tr_fields_tree,
    .file = __FILE__,
    .line = __LINE__,
    .size = sizeof(struct tree),
    .field_count = 2,
    .field_size = sizeof(tr_field),
    .abi = TR_ABI,
};

/** What `everything` points to. */
struct everything_memory {
    uint16_t sizes[3];
    uint8_t digits[3];
    const char *words[3];
    struct item items[3];
    struct point points[2];
    enum color shades[2];
    tr_bytes chunks[2];
    tr_buffer *blobs[2];
    tr_ref refs[2];
    bool flags[2];
    float samples[3];
};

/** One with every field set, optional values that are nil included. `blob` is borrowed. */
TR_MAY_BE_UNUSED static struct everything everything_of(struct everything_memory *m,
                                                        tr_buffer *blob)
{
    *m = (struct everything_memory){
        .sizes = {10, 200, 65535},
        .digits = {7, 128, 255},
        .words = {"a word", NULL, ""},
        .points = {{1, 1}, {-2.5, 2}},
        .shades = {GREEN, BLUE},
        .chunks = {{"\x00\x01\xff", 3}, {NULL, 0}},
        .blobs = {blob, NULL},
        .refs = {{UINT64_C(0xfedcba9876543210)}, {0}},
        .flags = {false, true},
        .samples = {0.1f, -1e30f, 3},
    };
    for (size_t i = 0; i < 3; i++)
        m->items[i] = (struct item){.name = "it\u00e9m \U0001f600",
                                    .sizes = {i == 0 ? NULL : m->sizes, i},
                                    .picture = blob};
    return (struct everything){
        .b = true,
        .i1 = INT8_MIN,
        .i2 = INT16_MIN,
        .i4 = INT32_MIN,
        .i8 = INT64_MIN,
        .u1 = UINT8_MAX,
        .u2 = UINT16_MAX,
        .u4 = UINT32_MAX,
        .u8 = UINT64_MAX,
        .f4 = 0.1f,
        .f8 = -0.1,
        .shade = BLUE,
        .text = "text with \"quotes\", \\, \n and \x01",
        .raw = {"\x00\x01\x02\x03\x04", 5},
        .blob = blob,
        .who = {UINT64_C(0x100000002)},
        .to = account_ref_of(tr_ref_from_bits(12)),
        .at = {3.5, 1},
        .first = m->items[2],
        .triple = {1, 2, 3},
        .names = {"name", NULL},
        .pair = {m->items[0], m->items[1]},
        .digits = {m->digits, 3},
        .words = {m->words, 3},
        .items = {m->items, 3},
        .points = {m->points, 2},
        .shades = {m->shades, 2},
        .chunks = {m->chunks, 2},
        .blobs = {m->blobs, 2},
        .refs = {m->refs, 2},
        .flags = {m->flags, 2},
        .samples = {m->samples, 3},
        .width = {true, 640},
        .note = {true, "noted"},
        .nothing = {true, NULL},
        .nobody = {true, {0}},
        .last = {true, m->items[1]},
        .weight = {true, 1e300},
    };
}

#endif
