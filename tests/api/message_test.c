/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Messages on their way: every type of field arrives as it was sent, whatever the sender does with
 * its memory, near and far.
 */
#include "support/second_file.h"
#include "support/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <troupe/kit.h>

static tr_kit *kit;
static tr_client *test;

static void begin(void)
{
    kit = tr_kit_new(&(tr_kit_options){.workers = 2});
    ck_assert_ptr_nonnull(kit);
    test = tr_kit_client(kit);
}

static void end(void)
{
    tr_kit_settle(kit);
    tr_kit_check(kit);
    tr_kit_free(kit);
}

enum color { RED, GREEN, BLUE };
TR_ACTOR(keeper, everything, chunk);
TR_MESSAGE(point, (f64, x), (f64, y));
TR_MESSAGE(label, (str, text), (message(point), at));
TR_MESSAGE(everything, (bool, b), (i8, i_8), (i16, i_16), (i32, i_32), (i64, i_64), (u8, u_8),
           (u16, u_16), (u32, u_32), (u64, u_64), (f32, f_32), (f64, f_64), (enum_of(color), color),
           (str, text), (str, absent), (bytes, data), (buffer, shared), (buffer, no_buffer),
           (ref, who), (ref_of(keeper), keeper), (message(label), label), (array(u16, 3), fixed),
           (array(str, 2), names), (list(str), words), (list(message(label)), labels),
           (list(message(point)), points), (list(buffer), buffers), (optional(u32), width),
           (optional(str), title), (optional(message(label)), corner), (list(u8), empty));
TR_MESSAGE(chunk, (u64, n), (buffer, data));
TR_MESSAGE(checked, (u64, address));

static tr_buffer *sent_buffer;

static void check_labels(const struct label *labels, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char text[32];
        snprintf(text, sizeof text, "label %zu", i);
        ck_assert_str_eq(labels[i].text, text);
        ck_assert_double_eq(labels[i].at.x, (double)i);
        ck_assert_double_eq(labels[i].at.y, -0.5);
    }
}

static void check_everything(const struct everything *m, tr_ref who)
{
    ck_assert(m->b);
    ck_assert_int_eq(m->i_8, INT8_MIN);
    ck_assert_int_eq(m->i_16, INT16_MIN);
    ck_assert_int_eq(m->i_32, INT32_MIN);
    ck_assert_int_eq(m->i_64, INT64_MIN);
    ck_assert_uint_eq(m->u_8, UINT8_MAX);
    ck_assert_uint_eq(m->u_16, UINT16_MAX);
    ck_assert_uint_eq(m->u_32, UINT32_MAX);
    ck_assert_uint_eq(m->u_64, UINT64_MAX);
    ck_assert_float_eq(m->f_32, 1.5f);
    ck_assert(isnan(m->f_64));
    ck_assert_int_eq(m->color, BLUE);
    ck_assert_str_eq(m->text, "a text");
    ck_assert_ptr_null(m->absent);
    ck_assert_uint_eq(m->data.size, 5);
    ck_assert_mem_eq(m->data.data, "\0\1\2\3\4", 5);
    ck_assert_ptr_eq(m->shared, sent_buffer);
    ck_assert_ptr_null(m->no_buffer);
    ck_assert(tr_is_same(m->who, who));
    ck_assert(tr_is_same(m->keeper, who));
    check_labels(&m->label, 1);
    ck_assert_uint_eq(m->fixed[2], 3);
    ck_assert_str_eq(m->names[0], "one");
    ck_assert_ptr_null(m->names[1]);
    ck_assert_uint_eq(m->words.count, 3);
    ck_assert_str_eq(m->words.items[0], "");
    ck_assert_ptr_null(m->words.items[1]);
    ck_assert_str_eq(m->words.items[2], "three");
    ck_assert_uint_eq(m->labels.count, 10);
    check_labels(m->labels.items, 10);
    ck_assert_uint_eq(m->points.count, 2);
    ck_assert_double_eq(m->points.items[1].y, 4);
    ck_assert_uint_eq(m->buffers.count, 2);
    ck_assert_ptr_eq(m->buffers.items[0], sent_buffer);
    ck_assert_ptr_null(m->buffers.items[1]);
    ck_assert(m->width.has);
    ck_assert_uint_eq(m->width.value, 640);
    ck_assert(!m->title.has);
    ck_assert(m->corner.has);
    check_labels(&m->corner.value, 1);
    ck_assert_uint_eq(m->empty.count, 0);
}

static tr_next on_everything(tr_self *self, const struct everything *m)
{
    check_everything(m, tr_me(self));
    return tr_reply(self, checked, .address = (uint64_t)(uintptr_t)m->text);
}
static tr_next on_chunk(tr_self *self, const struct chunk *m)
{
    tr_buffer_keep(self, m->data);
    return tr_reply(self, checked, .address = (uint64_t)(uintptr_t)tr_buffer_data(m->data));
}
TR_BEHAVIOR(keeper, void, TR_ON(everything, on_everything), TR_ON(chunk, on_chunk));

/* What a sender holds: all of it is overwritten when the verb has returned. */
struct memory {
    struct everything m;
    char text[16], data[5], word[8], name[8], label_texts[10][16];
    const char *words[3];
    struct label labels[10];
    struct point points[2];
    tr_buffer *buffers[2];
};

static void fill(struct memory *s, tr_ref who)
{
    strcpy(s->text, "a text");
    memcpy(s->data, "\0\1\2\3\4", 5);
    strcpy(s->word, "three");
    strcpy(s->name, "one");
    s->words[0] = "";
    s->words[2] = s->word;
    for (int i = 0; i < 10; i++) {
        snprintf(s->label_texts[i], 16, "label %u", (unsigned)i % 100);
        s->labels[i] = (struct label){s->label_texts[i], {(double)i, -0.5}};
    }
    s->points[1] = (struct point){3, 4};
    s->buffers[0] = sent_buffer;
    s->m = (struct everything){.b = true,
                               .i_8 = INT8_MIN,
                               .i_16 = INT16_MIN,
                               .i_32 = INT32_MIN,
                               .i_64 = INT64_MIN,
                               .u_8 = UINT8_MAX,
                               .u_16 = UINT16_MAX,
                               .u_32 = UINT32_MAX,
                               .u_64 = UINT64_MAX,
                               .f_32 = 1.5f,
                               .f_64 = NAN,
                               .color = BLUE,
                               .text = s->text,
                               .data = {s->data, 5},
                               .shared = sent_buffer,
                               .who = who,
                               .keeper = keeper_ref_of(who),
                               .label = s->labels[0],
                               .fixed = {1, 2, 3},
                               .names = {s->name, NULL},
                               .words = {s->words, 3},
                               .labels = {s->labels, 10},
                               .points = {s->points, 2},
                               .buffers = {s->buffers, 2},
                               .width = {true, 640},
                               .corner = {true, s->labels[0]}};
}

TEST(every_type_of_field_arrives_as_it_was_sent, "B-06", "P-04", "SG-14")
{
    begin();
    sent_buffer = tr_buffer_new(100);
    for (int worker = 0; worker < 2; worker++) {
        keeper_ref k = {0};
        ck_assert_int_eq(tr_try_spawn_at(test, &k, worker, keeper, NULL), TR_OK);
        struct memory *s = calloc(1, sizeof *s);
        fill(s, tr_any(k));
        ck_assert_int_eq(tr_tell_copy(test, k, everything, &s->m), TR_OK);
        const char *sent = s->text;
        memset(s, 0xdb, sizeof *s);
        free(s);
        const struct checked *c = tr_receive(test, checked, TR_SECOND);
        ck_assert_ptr_nonnull(c);
        ck_assert_uint_ne(c->address, (uint64_t)(uintptr_t)sent);
    }
    end();
    /* Nobody but this test holds it any more. */
    memset(tr_buffer_data(sent_buffer), 1, 100);
    tr_buffer_release(sent_buffer);
}

TEST(a_buffer_is_shared_and_counted, "B-06")
{
    begin();
    keeper_ref k[2] = {{0}};
    tr_buffer *buffer = tr_buffer_new(1000);
    memset(tr_buffer_data(buffer), 7, 1000);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(tr_try_spawn_at(test, &k[i], i, keeper, NULL), TR_OK);
        ck_assert_int_eq(tr_tell(test, k[i], chunk, .n = 1, .data = buffer), TR_OK);
        const struct checked *c = tr_receive(test, checked, TR_SECOND);
        ck_assert_ptr_nonnull(c);
        ck_assert_uint_eq(c->address, (uint64_t)(uintptr_t)tr_buffer_data(buffer));
    }
    /* Not handled, refused, on its way when everything stops: a count each, given back. */
    ck_assert_int_eq(tr_tell(test, TR_NOBODY, chunk, .data = buffer), TR_STOPPED);
    tr_tell(test, k[0], chunk, .data = buffer);
    tr_kill(test, k[0]);
    tr_tell(test, k[0], chunk, .data = buffer);
    tr_tell(test, tr_client_ref(test), chunk, .data = buffer);
    end();
    const unsigned char *data = tr_buffer_data(buffer);
    ck_assert_int_eq(data[999], 7);
    /* Were one count too few, this would be a double free; one too many, a leak (ASan says so). */
    tr_buffer_release(buffer);
}

/* ---- The same name in two files. ---- */

TR_MESSAGE(shape, (str, name), (list(u32), sides));
TR_MESSAGE(secret, (u64, number), (u64, more));

TEST(one_declaration_in_two_files_is_one_type, "B-06")
{
    begin();
    second_receiver_ref r = {0};
    const uint32_t sides[] = {1, 2, 3};
    ck_assert_ptr_ne(second_file_shape(), &tr_type_shape);
    ck_assert(tr_type_is_equal(second_file_shape(), &tr_type_shape));
    ck_assert_int_eq(tr_try_spawn(test, &r, second_receiver, NULL), TR_OK);
    for (int i = 0; i < 3; i++) {
        tr_tell(test, r, shape, .name = "triangle", .sides = {sides, 3});
        const struct told *t = tr_receive(test, told, TR_SECOND);
        ck_assert_ptr_nonnull(t);
        ck_assert_str_eq(t->text, "triangle of 3");
    }
    end();
}

TEST(private_messages_of_one_name_are_two_types, "B-06", "B-07")
{
    begin();
    second_receiver_ref r = {0};
    ck_assert(!tr_type_is_equal(second_file_secret(), &tr_type_secret));
    ck_assert_int_eq(tr_try_spawn(test, &r, second_receiver, NULL), TR_OK);
    tr_tell(test, tr_any(r), secret, .number = 1, .more = 2);
    ck_assert_ptr_null(tr_receive(test, told, TR_SECOND));
    tr_dead_letter_record record;
    ck_assert_uint_eq(tr_system_dead_letters(tr_kit_system(kit), &record, 1, NULL), 1);
    ck_assert_str_eq(record.type, "secret");
    ck_assert_str_eq(record.behavior, "second_receiver");
    ck_assert_int_eq(record.reason, TR_UNHANDLED);
    const uint64_t number = 1;
    ck_assert_int_eq(tr_client_tell(test, tr_any(r), second_file_secret(), &number), TR_OK);
    ck_assert_ptr_nonnull(tr_receive(test, told, TR_SECOND));
    end();
}

/* ---- Sizes. ---- */

TR_MESSAGE(blob, (bytes, data));
TR_MESSAGE(exact, (array(u8, 24), a));
TR_MESSAGE(above, (array(u8, 25), a));
static tr_next on_blob(tr_self *self, const struct blob *m)
{
    const unsigned char *bytes = m->data.data;
    for (size_t i = 0; i < m->data.size; i += 997)
        ck_assert_uint_eq(bytes[i], (unsigned char)i);
    return tr_reply(self, checked, .address = m->data.size);
}
static tr_next on_exact(tr_self *self, const struct exact *m)
{
    return tr_reply(self, checked, .address = m->a[23]);
}
static tr_next on_above(tr_self *self, const struct above *m)
{
    return tr_reply(self, checked, .address = m->a[24]);
}
TR_BEHAVIOR(sizes, void, TR_ON(blob, on_blob), TR_ON(exact, on_exact), TR_ON(above, on_above));
TR_ACTOR(sizes, blob, exact, above);

static uint64_t answer(void)
{
    const struct checked *c = tr_receive(test, checked, TR_SECOND);
    ck_assert_ptr_nonnull(c);
    return c->address;
}

TEST(payloads_of_every_size_up_to_the_limit, "B-06", "U-01", "SG-09")
{
    begin();
    sizes_ref s = {0};
    ck_assert_int_eq(tr_try_spawn_at(test, &s, 1, sizes, NULL), TR_OK);
    unsigned char *bytes = malloc(TR_PAYLOAD_MAX);
    for (size_t i = 0; i < TR_PAYLOAD_MAX; i++)
        bytes[i] = (unsigned char)i;
    size_t room = TR_PAYLOAD_MAX - sizeof(struct blob);
    for (size_t size = 0; size < room; size = size * 3 / 2 + 1) {
        ck_assert_int_eq(tr_tell(test, s, blob, .data = {bytes, size}), TR_OK);
        ck_assert_uint_eq(answer(), size);
    }
    ck_assert_int_eq(tr_tell(test, s, blob, .data = {bytes, room}), TR_OK);
    ck_assert_uint_eq(answer(), room);
    ck_assert_int_eq(tr_tell(test, s, blob, .data = {bytes, room + 1}), TR_TOO_LARGE);
    ck_assert_int_eq(tr_tell(test, s, blob, .data = {bytes, SIZE_MAX}), TR_TOO_LARGE);
    ck_assert_uint_eq(tr_system_dead_letters(tr_kit_system(kit), NULL, 0, NULL), 2);
    struct exact e = {{0}};
    struct above a = {{0}};
    e.a[23] = 5;
    a.a[24] = 6;
    tr_tell_copy(test, s, exact, &e);
    ck_assert_uint_eq(answer(), 5);
    tr_tell_copy(test, s, above, &a);
    ck_assert_uint_eq(answer(), 6);
    free(bytes);
    end();
}

/*
 * Each size that fits into an envelope, and the next, told and replied by actors of one worker. The types are
 * made by hand, some so that they do not say that they fit.
 */
enum { SIZES = TR_INLINE_MAX + 1 };
TR_ACTOR(sized, chunk);
static tr_field sized_fields[SIZES + 1];
static tr_type sized_types[SIZES + 1];
static sized_ref sized_echo;
static uint32_t sized_told;
static uint32_t sized_returned;

static void sized_make(bool says_so)
{
    for (uint32_t n = 1; n <= SIZES; n++) {
        sized_fields[n] = (tr_field){.name = "a",
                                     .size = n,
                                     .item_size = 1,
                                     .count = n,
                                     .kind = TR_KIND_U8,
                                     .shape = TR_SHAPE_ARRAY};
        sized_types[n] = tr_type_point;
        sized_types[n].fields = &sized_fields[n];
        sized_types[n].field_count = 1;
        sized_types[n].size = n;
        sized_types[n].inline_size = (uint8_t)(says_so && n <= TR_INLINE_MAX ? n : 0);
    }
}

/* Just as long as the message: whoever reads more is found out. */
static uint8_t *sized_new(uint32_t size, uint32_t first)
{
    uint8_t *bytes = malloc(size);
    for (uint32_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)(first + i);
    return bytes;
}
static void sized_check(const tr_message *m, uint32_t first)
{
    const uint8_t *bytes = m->data;
    for (uint32_t i = 0; i < m->type->size; i++)
        ck_assert_uint_eq(bytes[i], first + i);
}
static tr_next on_sized(tr_self *self, const tr_message *m)
{
    uint32_t size = m->type->size;
    ck_assert_ptr_eq(m->type, &sized_types[size]);
    if (!tr_is_same(tr_me(self), sized_echo)) {
        sized_returned++;
        sized_check(m, 100 + size);
        return TR_SAME;
    }
    sized_told++;
    sized_check(m, size);
    uint8_t *bytes = sized_new(size, 100 + size);
    tr_next next = tr_self_reply(self, m->type, bytes);
    free(bytes);
    return next;
}
static tr_next on_sized_go(tr_self *self, const struct chunk *m)
{
    (void)m;
    for (uint32_t n = 1; n <= SIZES; n++) {
        uint8_t *bytes = sized_new(n, n);
        tr_status status = tr_self_tell(self, tr_any(sized_echo), &sized_types[n], bytes);
        ck_assert_int_eq(status, TR_OK);
        free(bytes);
    }
    return TR_SAME;
}
TR_BEHAVIOR(sized, void, TR_ON(chunk, on_sized_go), TR_ON_ANY(on_sized));

TEST(messages_of_every_size_inside_an_envelope, "B-06", "P-04")
{
    begin();
    sized_ref s = {0};
    ck_assert_int_eq(tr_try_spawn_at(test, &s, 1, sized, NULL), TR_OK);
    ck_assert_int_eq(tr_try_spawn_at(test, &sized_echo, 1, sized, NULL), TR_OK);
    for (uint32_t i = 1; i <= 2; i++) {
        sized_make(i == 1);
        ck_assert_int_eq(tr_tell(test, s, chunk, .n = 0), TR_OK);
        tr_kit_settle(kit);
        ck_assert_uint_eq(sized_told, i * SIZES);
        ck_assert_uint_eq(sized_returned, i * SIZES);
    }
    end();
}

SUITE("message", every_type_of_field_arrives_as_it_was_sent, a_buffer_is_shared_and_counted,
      one_declaration_in_two_files_is_one_type, private_messages_of_one_name_are_two_types,
      payloads_of_every_size_up_to_the_limit, messages_of_every_size_inside_an_envelope)
