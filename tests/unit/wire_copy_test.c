/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Deep copies of messages: every type of field, limits, malformed messages, buffers.
 */
#include "support/test.h"
#include "wire/copy.h"
#include "wire/type.h"

#include <stdio.h>
#include <stdlib.h>
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
           (list(ref), refs), (optional(u32), width), (optional(u32), height),
           (optional(str), note), (optional(message(item)), last), (optional(f64), weight));
TR_MESSAGE(text, (str, text));
TR_MESSAGE(bag, (list(u64), numbers));
TR_MESSAGE(raw, (bytes, data));
TR_MESSAGE(shared, (buffer, data));
TR_MESSAGE(row, (str, name), (i64, number));
TR_MESSAGE(rows, (list(message(row)), rows));
TR_MESSAGE(page, (list(message(item)), items), (list(message(rows)), rows));
TR_MESSAGE(chapter, (list(message(page)), pages));
TR_MESSAGE(book, (list(message(chapter)), chapters));
TR_MESSAGE(shelf, (list(message(book)), books));

struct described {
    int number;
    const char *secret;
    const char *name;
    double weights[2];
};
TR_DESCRIBE(described, number, name, weights);

/* A copy as the runtime makes it; the bytes behind the block are watched. */
static void *copy_of(const tr_type *type, const void *message)
{
    ck_assert(tr__type_is_valid(type, NULL));
    size_t size = tr__copy_size(type, message);
    ck_assert_uint_ne(size, SIZE_MAX);
    unsigned char *block = malloc(size + 8);
    memset(block, 0xa5, size + 8);
    tr__copy_into(type, message, block, size);
    for (size_t i = 0; i < 8; i++)
        ck_assert_uint_eq(block[size + i], 0xa5);
    return block;
}

static void free_copy(const tr_type *type, void *copy)
{
    tr__copy_drop(type, copy);
    free(copy);
}

static void expect_aligned(const void *pointer)
{
    ck_assert_uint_eq((uintptr_t)pointer % COPY_ALIGNMENT, 0);
}

TEST(a_flat_message_is_its_bytes, "B-06")
{
    struct point point = {.x = 1.5, .tag = 3};
    ck_assert_uint_eq(tr__copy_size(&tr_type_point, &point), sizeof(point));
    struct point *copy = copy_of(&tr_type_point, &point);
    ck_assert(copy->x == 1.5 && copy->tag == 3);
    free_copy(&tr_type_point, copy);

    struct empty nothing = {0};
    ck_assert_uint_eq(tr__copy_size(&tr_type_empty, &nothing), 1);
    free_copy(&tr_type_empty, copy_of(&tr_type_empty, &nothing));
}

/* The sender's memory, all of which is overwritten after the copy. */
struct memory {
    char text[16], name[16], other[16], word[16];
    unsigned char raw[5];
    uint16_t sizes[3];
    uint8_t digits[3];
    const char *words[3];
    struct item items[3];
    struct point points[2];
    enum color shades[2];
    tr_bytes chunks[2];
    tr_buffer *blobs[2];
    tr_ref refs[2];
};

static struct everything fill(struct memory *m, tr_buffer *blob)
{
    strcpy(m->text, "text");
    strcpy(m->name, "name");
    strcpy(m->other, "");
    strcpy(m->word, "a word");
    memcpy(m->raw, "\0\1\2\3\4", 5);
    memcpy(m->sizes, (uint16_t[]){10, 20, 30}, sizeof(m->sizes));
    memcpy(m->digits, (uint8_t[]){7, 8, 9}, sizeof(m->digits));
    m->words[0] = m->word;
    m->words[1] = NULL;
    m->words[2] = m->other;
    for (uint16_t i = 0; i < 3; i++)
        m->items[i] = (struct item){.name = m->name, .sizes = {m->sizes, i}, .picture = blob};
    m->points[0] = (struct point){1, 1};
    m->points[1] = (struct point){2, 2};
    m->shades[0] = GREEN;
    m->shades[1] = BLUE;
    m->chunks[0] = (tr_bytes){m->raw, 5};
    m->chunks[1] = (tr_bytes){m->raw, 0};
    m->blobs[0] = blob;
    m->blobs[1] = NULL;
    m->refs[0] = tr_ref_from_bits(5);
    m->refs[1] = TR_NOBODY;
    return (struct everything){.b = true,
                               .i1 = -1,
                               .i2 = -2,
                               .i4 = -4,
                               .i8 = -8,
                               .u1 = 1,
                               .u2 = 2,
                               .u4 = 4,
                               .u8 = 8,
                               .f4 = 0.5f,
                               .f8 = 0.25,
                               .shade = GREEN,
                               .text = m->text,
                               .raw = {m->raw, 5},
                               .blob = blob,
                               .who = tr_ref_from_bits(11),
                               .to = account_ref_of(tr_ref_from_bits(12)),
                               .at = {3.5, 1},
                               .first = m->items[2],
                               .triple = {1, 2, 3},
                               .names = {m->name, NULL},
                               .pair = {m->items[0], m->items[1]},
                               .digits = {m->digits, 3},
                               .words = {m->words, 3},
                               .items = {m->items, 3},
                               .points = {m->points, 2},
                               .shades = {m->shades, 2},
                               .chunks = {m->chunks, 2},
                               .blobs = {m->blobs, 2},
                               .refs = {m->refs, 2},
                               .width = {true, 640},
                               .height = {false, 480},
                               .note = {true, m->text},
                               .last = {true, m->items[1]},
                               .weight = {true, 2.5}};
}

static void expect_item(const struct item *item, size_t count, tr_buffer *blob)
{
    ck_assert_str_eq(item->name, "name");
    ck_assert_uint_eq(item->sizes.count, count);
    for (size_t i = 0; i < count; i++)
        ck_assert_uint_eq(item->sizes.items[i], 10 * (i + 1));
    ck_assert_ptr_eq(item->picture, blob);
}

static void expect_scalars(const struct everything *c, tr_buffer *blob)
{
    ck_assert(c->b);
    ck_assert(c->i1 == -1 && c->i2 == -2 && c->i4 == -4 && c->i8 == -8);
    ck_assert(c->u1 == 1 && c->u2 == 2 && c->u4 == 4 && c->u8 == 8);
    ck_assert(c->f4 == 0.5f && c->f8 == 0.25);
    ck_assert_int_eq(c->shade, GREEN);
    ck_assert_str_eq(c->text, "text");
    ck_assert_ptr_null(c->absent);
    ck_assert_mem_eq(c->raw.data, "\0\1\2\3\4", 5);
    ck_assert_ptr_eq(c->blob, blob);
    ck_assert_uint_eq(c->who.bits, 11);
    ck_assert_uint_eq(c->to.bits, 12);
    ck_assert(c->at.x == 3.5 && c->at.tag == 1);
    ck_assert(c->width.has && c->width.value == 640);
    ck_assert(!c->height.has);
    ck_assert(c->note.has);
    ck_assert_str_eq(c->note.value, "text");
    ck_assert(c->weight.has && c->weight.value == 2.5);
}

static void expect_lists(const struct everything *c, tr_buffer *blob)
{
    ck_assert_mem_eq(c->triple, ((uint16_t[]){1, 2, 3}), 6);
    ck_assert_str_eq(c->names[0], "name");
    ck_assert_ptr_null(c->names[1]);
    ck_assert_uint_eq(c->digits.count, 3);
    ck_assert_mem_eq(c->digits.items, "\7\10\11", 3);
    ck_assert_str_eq(c->words.items[0], "a word");
    ck_assert_ptr_null(c->words.items[1]);
    ck_assert_str_eq(c->words.items[2], "");
    ck_assert(c->points.items[1].x == 2 && c->points.count == 2);
    ck_assert_int_eq(c->shades.items[1], BLUE);
    ck_assert_mem_eq(c->chunks.items[0].data, "\0\1\2\3\4", 5);
    ck_assert(c->chunks.items[1].size == 0 && c->chunks.items[1].data == NULL);
    ck_assert_ptr_eq(c->blobs.items[0], blob);
    ck_assert_ptr_null(c->blobs.items[1]);
    ck_assert_uint_eq(c->refs.items[0].bits, 5);
    expect_aligned(c->points.items);
    expect_aligned(c->items.items);
    expect_aligned(c->words.items);
    expect_aligned(c->raw.data);
}

TEST(every_type_of_field_survives_when_the_sender_overwrites_its_memory, "B-06")
{
    tr_buffer *blob = tr_buffer_new(3);
    struct memory *memory = malloc(sizeof(*memory));
    struct everything message = fill(memory, blob);
    struct everything *copy = copy_of(&tr_type_everything, &message);
    memset(memory, 0xdd, sizeof(*memory));
    memset(&message, 0xdd, sizeof(message));

    expect_scalars(copy, blob);
    expect_lists(copy, blob);
    expect_item(&copy->first, 2, blob);
    expect_item(&copy->pair[0], 0, blob);
    expect_item(&copy->pair[1], 1, blob);
    ck_assert_uint_eq(copy->items.count, 3);
    for (size_t i = 0; i < 3; i++)
        expect_item(&copy->items.items[i], i, blob);
    ck_assert(copy->last.has);
    expect_item(&copy->last.value, 1, blob);

    free_copy(&tr_type_everything, copy);
    free(memory);
    tr_buffer_release(blob);
}

TEST(a_copy_of_a_copy_is_the_same_block, "B-06")
{
    tr_buffer *blob = tr_buffer_new(0);
    struct memory memory;
    struct everything message = fill(&memory, blob);
    void *first = copy_of(&tr_type_everything, &message);
    ck_assert_uint_eq(tr__copy_size(&tr_type_everything, first),
                      tr__copy_size(&tr_type_everything, &message));
    void *second = copy_of(&tr_type_everything, first);
    free_copy(&tr_type_everything, first);
    expect_lists(second, blob);
    free_copy(&tr_type_everything, second);
    tr_buffer_release(blob);
}

TEST(all_zero_is_a_message_of_empty_lists_and_absent_strings, "B-06")
{
    struct everything nothing = {0};
    ck_assert_uint_eq(tr__copy_size(&tr_type_everything, &nothing), sizeof(nothing));
    struct everything *copy = copy_of(&tr_type_everything, &nothing);
    ck_assert_ptr_null(copy->text);
    ck_assert(copy->items.items == NULL && copy->items.count == 0);
    ck_assert(!copy->last.has);
    free_copy(&tr_type_everything, copy);

    /* A pointer without a count is an empty list, and is not followed. */
    struct bag bag = {.numbers = {(const uint64_t *)8, 0}};
    struct bag *empty = copy_of(&tr_type_bag, &bag);
    ck_assert_ptr_null(empty->numbers.items);
    free_copy(&tr_type_bag, empty);
}

TEST(a_message_of_the_largest_size_is_copied_and_one_byte_more_is_not, "B-06", "U-01")
{
    size_t length = TR_PAYLOAD_MAX - sizeof(struct text) - 1;
    char *string = malloc(length + 2);
    memset(string, 'x', length + 1);
    string[length] = '\0';
    struct text text = {string};
    ck_assert_uint_eq(tr__copy_size(&tr_type_text, &text), TR_PAYLOAD_MAX);
    struct text *copy = copy_of(&tr_type_text, &text);
    ck_assert_uint_eq(strlen(copy->text), length);
    free_copy(&tr_type_text, copy);
    string[length] = 'x';
    string[length + 1] = '\0';
    ck_assert_uint_eq(tr__copy_size(&tr_type_text, &text), SIZE_MAX);
    ck_assert_ptr_null(tr_message_copy(&tr_type_text, &text));
    free(string);
}

TEST(sizes_that_would_overflow_are_refused_before_anything_is_read, "B-06", "U-02")
{
    uint64_t number = 1;
    struct bag bag = {.numbers = {&number, SIZE_MAX / 8 + 2}};
    ck_assert_uint_eq(tr__copy_size(&tr_type_bag, &bag), SIZE_MAX);
    bag.numbers.count = TR_PAYLOAD_MAX / 8;
    ck_assert_uint_eq(tr__copy_size(&tr_type_bag, &bag), SIZE_MAX);
    bag.numbers.count = SIZE_MAX;
    ck_assert_uint_eq(tr__copy_size(&tr_type_bag, &bag), SIZE_MAX);
    struct raw raw = {{&number, SIZE_MAX - 3}};
    ck_assert_uint_eq(tr__copy_size(&tr_type_raw, &raw), SIZE_MAX);
}

TEST(some_items_at_null_are_malformed, "B-06", "U-02")
{
    struct bag bag = {.numbers = {NULL, 1}};
    ck_assert_uint_eq(tr__copy_size(&tr_type_bag, &bag), SIZE_MAX);
    struct raw raw = {{NULL, 1}};
    ck_assert_uint_eq(tr__copy_size(&tr_type_raw, &raw), SIZE_MAX);
    struct item inner = {.sizes = {NULL, 3}};
    struct everything outer = {.items = {&inner, 1}};
    ck_assert_uint_eq(tr__copy_size(&tr_type_everything, &outer), SIZE_MAX);
    outer = (struct everything){.last = {false, inner}};
    ck_assert_uint_ne(tr__copy_size(&tr_type_everything, &outer), SIZE_MAX);
    ck_assert_ptr_null(tr_message_copy(&tr_type_bag, &bag));
    ck_assert_ptr_null(tr_message_copy(&tr_type_bag, NULL));
    ck_assert_ptr_null(tr_message_copy(NULL, &bag));
}

/* A node holds a list of nodes: no macro declares that, a binding can. */
struct node {
    struct list_value children;
};
extern const tr_type node_type;
static const tr_field node_fields[] = {{"children",
                                        &node_type,
                                        0,
                                        sizeof(struct list_value),
                                        sizeof(struct node),
                                        1,
                                        TR_KIND_MESSAGE,
                                        TR_SHAPE_LIST,
                                        {0}}};
const tr_type node_type = {"node",
                           node_fields,
                           NULL,
                           __FILE__,
                           __LINE__,
                           sizeof(struct node),
                           1,
                           sizeof(tr_field),
                           TR_ABI,
                           false,
                           0,
                           NULL,
                           NULL};

TEST(messages_nest_as_deep_as_the_limit_and_no_deeper, "B-06", "U-01")
{
    struct node nodes[TR_DEPTH_MAX + 2] = {{{NULL, 0}}};
    ck_assert(tr__type_is_valid(&node_type, NULL));
    for (size_t i = 0; i < TR_DEPTH_MAX; i++)
        nodes[i].children = (struct list_value){&nodes[i + 1], 1};
    free_copy(&node_type, copy_of(&node_type, &nodes[0]));
    nodes[TR_DEPTH_MAX].children = (struct list_value){&nodes[TR_DEPTH_MAX + 1], 1};
    ck_assert_uint_eq(tr__copy_size(&node_type, &nodes[0]), SIZE_MAX);
    /* One that holds itself, twice: neither for ever nor 2^64 steps. */
    struct node ring[2] = {{{ring, 2}}, {{ring, 2}}};
    ck_assert_uint_eq(tr__copy_size(&node_type, ring), SIZE_MAX);
}

TEST(a_copy_retains_its_buffers_and_drop_releases_them, "B-06")
{
    tr_buffer *buffer = tr_buffer_new(4);
    memcpy(tr_buffer_data(buffer), "abcd", 4);
    struct item items[2] = {{.picture = buffer}, {.picture = NULL}};
    struct everything message = {
        .blob = buffer, .items = {items, 2}, .blobs = {&buffer, 1}, .height = {false, 1}};
    struct everything *copy = tr_message_copy(&tr_type_everything, &message);
    /* The copy holds the bytes when the sender has let go; ASan sees it when it does not. */
    tr_buffer_release(buffer);
    ck_assert_mem_eq(tr_buffer_data(copy->blob), "abcd", 4);
    ck_assert_ptr_eq(copy->items.items[0].picture, buffer);
    tr_buffer_retain(buffer);
    tr_message_free(&tr_type_everything, copy);
    ck_assert_mem_eq(tr_buffer_data(buffer), "abcd", 4);
    tr_buffer_release(buffer);
    tr_message_free(&tr_type_everything, NULL);
}

/* ASan sees a buffer that is not released. */
TEST(a_drop_finds_the_buffers_of_lists_in_lists, "B-06")
{
    tr_buffer *buffer = tr_buffer_new(4);
    struct row row = {"a", 1};
    struct rows rows[2] = {{{&row, 1}}, {{&row, 1}}};
    struct item items[2] = {{.picture = NULL}, {.picture = buffer}};
    struct page pages[2] = {{{items, 2}, {rows, 2}}, {{NULL, 0}, {rows, 2}}};
    struct chapter chapters[2] = {{{pages, 2}}, {{NULL, 0}}};
    struct book books[2] = {{{NULL, 0}}, {{chapters, 2}}};
    struct shelf shelf = {{books, 2}};
    struct shelf *copy = tr_message_copy(&tr_type_shelf, &shelf);
    tr_buffer_release(buffer);
    const struct page *last = &copy->books.items[1].chapters.items[0].pages.items[0];
    ck_assert_ptr_eq(last->items.items[1].picture, buffer);
    ck_assert_str_eq(last->rows.items[1].rows.items[0].name, "a");
    tr_message_free(&tr_type_shelf, copy);
}

TEST(members_that_are_not_described_do_not_travel, "B-06")
{
    struct described message = {
        .number = 5, .secret = "mine", .name = "yours", .weights = {0.5, 1.5}};
    struct described *copy = copy_of(&tr_type_described, &message);
    ck_assert_int_eq(copy->number, 5);
    ck_assert_ptr_null(copy->secret);
    ck_assert_str_eq(copy->name, "yours");
    ck_assert_ptr_ne(copy->name, message.name);
    ck_assert(copy->weights[1] == 1.5);
    free_copy(&tr_type_described, copy);
}

SUITE("wire copy", a_flat_message_is_its_bytes,
      every_type_of_field_survives_when_the_sender_overwrites_its_memory,
      a_copy_of_a_copy_is_the_same_block, all_zero_is_a_message_of_empty_lists_and_absent_strings,
      a_message_of_the_largest_size_is_copied_and_one_byte_more_is_not,
      sizes_that_would_overflow_are_refused_before_anything_is_read,
      some_items_at_null_are_malformed, messages_nest_as_deep_as_the_limit_and_no_deeper,
      a_copy_retains_its_buffers_and_drop_releases_them, a_drop_finds_the_buffers_of_lists_in_lists,
      members_that_are_not_described_do_not_travel)
