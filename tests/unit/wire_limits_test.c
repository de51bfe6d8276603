/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Limits of both wire forms: versions of messages, counts that lie, depth, size, stack, memory.
 */
#include "support/test.h"
#include "support/wire_kinds.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

TR_MESSAGE(numbers, (list(u64), values));
TR_MESSAGE(heap, (bytes, first), (bytes, second));
TR_MESSAGE(old_item, (u16, id));
TR_MESSAGE(new_item, (u16, id), (str, label), (optional(f64), weight));
TR_MESSAGE(old_order, (u64, id), (list(message(old_item)), items), (message(old_item), first));
TR_MESSAGE(new_order, (u64, id), (list(message(new_item)), items), (message(new_item), first),
           (str, memo), (list(str), tags), (array(u8, 2), pair), (buffer, blob), (ref, who));

/* Both forms behind one face. */
struct form {
    const char *name;
    size_t (*write)(const tr_type *type, const void *message, void *buffer, size_t size,
                    tr_wire_error *error);
    tr_status (*read)(const tr_type *type, tr_bytes document, void **message, tr_wire_error *error);
};

static size_t json_write(const tr_type *type, const void *message, void *buffer, size_t size,
                         tr_wire_error *error)
{
    return tr_json_write(type, message, buffer, size, error);
}

static const struct form forms[] = {{"MessagePack", tr_pack, tr_unpack},
                                    {"JSON", json_write, tr_json_read}};
#define EACH_FORM(form) for (const struct form *form = forms; form < forms + 2; form++)

static char *written(const struct form *form, const tr_type *type, const void *message,
                     size_t *size)
{
    tr_wire_error error;
    *size = form->write(type, message, NULL, 0, &error);
    ck_assert_msg(*size > 0, "%s, %s: %s", form->name, error.path, error.text);
    char *document = malloc(*size + 1);
    ck_assert_uint_eq(form->write(type, message, document, *size + 1, NULL), *size);
    return document;
}

static void *read_back(const struct form *form, const tr_type *type, const void *document,
                       size_t size)
{
    tr_wire_error error;
    void *message = NULL;
    tr_status status = form->read(type, (tr_bytes){document, size}, &message, &error);
    ck_assert_msg(
        status == TR_OK, "%s, %s at %zu: %s", form->name, error.path, error.offset, error.text);
    return message;
}

static tr_wire_error refused(const struct form *form, const tr_type *type, const void *document,
                             size_t size, tr_status expected)
{
    tr_wire_error error;
    void *message;
    tr_status status = form->read(type, (tr_bytes){document, size}, &message, &error);
    ck_assert_msg(status == expected, "%s: %s", form->name, tr_status_name(status));
    ck_assert_int_eq(error.status, expected);
    return error;
}

TEST(an_old_reader_skips_new_fields, "B-06")
{
    tr_buffer *blob = tr_buffer_new(3);
    memset(tr_buffer_data(blob), 'b', 3);
    const struct new_item items[] = {{1, "one", {true, 1.5}}, {2, NULL, {false, 0}}};
    const char *tags[] = {"a", NULL};
    struct new_order message = {.id = 9,
                                .items = {items, 2},
                                .first = {3, "three", {true, 3.5}},
                                .memo = "memo",
                                .tags = {tags, 2},
                                .pair = {1, 2},
                                .blob = blob,
                                .who = {77}};
    EACH_FORM(form)
    {
        size_t size;
        char *document = written(form, &tr_type_new_order, &message, &size);
        struct old_order *back = read_back(form, &tr_type_old_order, document, size);
        ck_assert(back->id == 9 && back->items.count == 2 && back->items.items[1].id == 2);
        ck_assert(back->first.id == 3);
        tr_message_free(&tr_type_old_order, back);
        /* A reader that knows nothing skips everything; and what it skips must be whole. */
        tr_message_free(&tr_type_empty, read_back(form, &tr_type_empty, document, size));
        for (size_t cut = 0; cut < size; cut++) {
            refused(form, &tr_type_empty, document, cut, TR_BAD_DATA);
            refused(form, &tr_type_old_order, document, cut, TR_BAD_DATA);
        }
        free(document);
    }
    tr_buffer_release(blob);
}

TEST(a_new_reader_finds_nothing_in_new_fields, "B-06")
{
    const struct old_item items[] = {{1}, {2}};
    struct old_order message = {.id = 9, .items = {items, 2}, .first = {3}};
    EACH_FORM(form)
    {
        size_t size;
        char *document = written(form, &tr_type_old_order, &message, &size);
        struct new_order *back = read_back(form, &tr_type_new_order, document, size);
        ck_assert(back->id == 9 && back->items.count == 2 && back->items.items[1].id == 2);
        ck_assert(back->items.items[1].label == NULL && !back->items.items[1].weight.has);
        ck_assert(back->memo == NULL && back->tags.count == 0 && back->pair[1] == 0);
        ck_assert(back->blob == NULL && back->who.bits == 0 && back->first.label == NULL);
        tr_message_free(&tr_type_new_order, back);
        free(document);
    }
}

/* A chain of trees, the innermost of which is `depth` deep. */
static struct tree *chain_of(size_t depth)
{
    struct tree *trees = calloc(depth + 1, sizeof(*trees));
    for (size_t i = 0; i < depth; i++) {
        trees[i].tag = (uint8_t)i;
        trees[i].children.items = &trees[i + 1];
        trees[i].children.count = 1;
    }
    return trees;
}

TEST(messages_nest_as_deep_as_the_limit, "B-06", "U-01", "U-02")
{
    struct tree *chain = chain_of(TR_DEPTH_MAX + 1);
    tr_wire_error error;
    EACH_FORM(form)
    {
        size_t size;
        char *document = written(form, &tr_type_tree, &chain[1], &size);
        struct tree *back = read_back(form, &tr_type_tree, document, size);
        const struct tree *at = back;
        for (size_t i = 1; i <= TR_DEPTH_MAX; i++, at = at->children.items)
            ck_assert_uint_eq(at->tag, i);
        ck_assert_uint_eq(at->children.count, 0);
        tr_message_free(&tr_type_tree, back);

        ck_assert_uint_eq(form->write(&tr_type_tree, chain, NULL, 0, &error), 0);
        ck_assert_int_eq(error.status, TR_TOO_DEEP);
        ck_assert_ptr_nonnull(strstr(error.path, "children[0].children[0]"));
        ck_assert_int_eq(strncmp(error.path, "...", 3), 0);
        ck_assert_uint_lt(strlen(error.path), sizeof(error.path));

        /* One around it. */
        bool is_json = form == &forms[1];
        char *deeper = malloc(size + 64);
        size_t deeper_size =
            is_json ? (size_t)sprintf(deeper, "{\"tag\":1,\"children\":[%s]}", document) : size + 3;
        if (!is_json)
            memcpy(memcpy(deeper, "\x92\x01\x91", 3) + 3, document, size);
        error = refused(form, &tr_type_tree, deeper, deeper_size, TR_TOO_DEEP);
        ck_assert_uint_gt(error.offset, 64);
        free(deeper);
        free(document);
    }
    free(chain);
}

TEST(skipped_values_nest_as_deep_as_the_limit, "U-01", "U-02")
{
    enum { DEEP = 100000 };
    char *document = malloc(2 * DEEP + 16);
    for (size_t depth = 1; depth <= DEEP; depth = depth < 128 ? depth + 1 : depth * 10) {
        tr_status expected = depth <= TR_DEPTH_MAX ? TR_OK : TR_TOO_DEEP;
        void *message;
        size_t size = (size_t)sprintf(document, "{\"unknown\":");
        memset(document + size, '[', depth);
        memset(document + size + depth, ']', depth);
        document[size + 2 * depth] = '}';
        tr_bytes json = {document, size + 2 * depth + 1};
        ck_assert_int_eq(tr_json_read(&tr_type_empty, json, &message, NULL), expected);
        if (expected == TR_OK)
            tr_message_free(&tr_type_empty, message);
        memset(document, 0x91, depth);
        document[depth] = 0x01;
        tr_bytes pack = {document, depth + 1};
        expected = depth <= TR_DEPTH_MAX ? TR_OK : TR_TOO_DEEP;
        ck_assert_int_eq(tr_unpack(&tr_type_empty, pack, &message, NULL), expected);
        if (expected == TR_OK)
            tr_message_free(&tr_type_empty, message);
    }
    free(document);
}

TEST(a_count_is_not_believed, "B-06", "U-02")
{
    /* Arrays, texts, bin, ext and maps that announce far more than there is. */
    static const struct {
        const char *bytes;
        size_t size;
    } lies[] = {{"\xdd\xff\xff\xff\xff", 5},
                {"\x91\xdd\xff\xff\xff\xff", 6},
                {"\x91\xdc\xff\xff\x00", 5},
                {"\x91\x92\x01", 3},
                {"\xdc\x00\x03\x90\xdf\xff\xff\xff\xff\x01", 10},
                {"\x92\x90\xdb\xff\xff\xff\xff", 7},
                {"\x92\x90\xc6\xff\xff\xff\xff", 7},
                {"\x92\x90\xc9\xff\xff\xff\xff\x01", 8},
                {"\x92\x90\xd8\x01\x00", 5},
                {"\x92\x90\xdf\x80\x00\x00\x00", 7},
                {"\x92\x90\xcb\x00", 4},
                {"\x92\x90\xc1", 3},
                {"", 0}};
    for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
        char *exact = memcpy(malloc(lies[i].size + 1), lies[i].bytes, lies[i].size);
        exact = realloc(exact, lies[i].size > 0 ? lies[i].size : 1);
        refused(&forms[0], &tr_type_numbers, exact, lies[i].size, TR_BAD_DATA);
        free(exact);
    }
}

TEST(a_message_is_as_large_as_the_limit, "B-06", "U-01", "U-02")
{
    size_t count = (TR_PAYLOAD_MAX - sizeof(struct numbers)) / sizeof(uint64_t);
    uint64_t *values = calloc(count + 1, sizeof(*values));
    tr_wire_error error;
    void *message;
    EACH_FORM(form)
    {
        if (form == &forms[1]) /* Where each takes two characters. */
            count = TR_PAYLOAD_MAX / 2 - 10 < count ? TR_PAYLOAD_MAX / 2 - 10 : count;
        struct numbers most = {{values, count}};
        size_t size;
        char *document = written(form, &tr_type_numbers, &most, &size);
        struct numbers *back = read_back(form, &tr_type_numbers, document, size);
        ck_assert_uint_eq(back->values.count, count);
        tr_message_free(&tr_type_numbers, back);
        free(document);
    }
    count = (TR_PAYLOAD_MAX - sizeof(struct numbers)) / sizeof(uint64_t) + 1;
    struct numbers more = {{values, count}};
    EACH_FORM(form)
    {
        ck_assert_uint_eq(form->write(&tr_type_numbers, &more, NULL, 0, &error), 0);
        ck_assert_int_eq(error.status, TR_TOO_LARGE);
    }
    /* A document of the same, which others may write. */
    unsigned char *document = calloc(TR_PAYLOAD_MAX + 1, 1);
    memcpy(document, "\x91\xdd\x00\x10\x00\x00", 6);
    error = refused(&forms[0], &tr_type_numbers, document, 6 + (1u << 20), TR_TOO_LARGE);
    ck_assert_str_eq(error.path, "values");
    /* A document above the limit is not looked at. */
    EACH_FORM(form)
    refused(form, &tr_type_numbers, document, TR_PAYLOAD_MAX + 1, TR_TOO_LARGE);
    ck_assert_int_eq(tr_unpack(&tr_type_numbers, (tr_bytes){document, SIZE_MAX}, &message, &error),
                     TR_TOO_LARGE);
    free(document);
    free(values);
}

TEST(bytes_are_as_many_as_the_limit, "U-01", "U-02")
{
    tr_wire_error error;
    char *memory = calloc(TR_PAYLOAD_MAX + 1, 1);
    size_t most = TR_PAYLOAD_MAX - sizeof(struct heap);
    struct heap message = {{memory, most}, {NULL, 0}};
    size_t size;
    char *document = written(&forms[0], &tr_type_heap, &message, &size);
    struct heap *back = read_back(&forms[0], &tr_type_heap, document, size);
    ck_assert_uint_eq(back->first.size, most);
    tr_message_free(&tr_type_heap, back);
    free(document);
    const struct heap bad[] = {{{memory, most + 1}, {NULL, 0}},
                               {{memory, most}, {memory, 1}},
                               {{memory, SIZE_MAX}, {NULL, 0}},
                               {{memory, TR_PAYLOAD_MAX}, {memory, TR_PAYLOAD_MAX}}};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        EACH_FORM(form)
        {
            ck_assert_uint_eq(form->write(&tr_type_heap, &bad[i], NULL, 0, &error), 0);
            ck_assert_int_eq(error.status, TR_TOO_LARGE);
        }
    }
    /* A text without an end. */
    memset(memory, 'x', TR_PAYLOAD_MAX);
    struct six endless = {.name = memory};
    EACH_FORM(form)
    {
        ck_assert_uint_eq(form->write(&tr_type_six, &endless, NULL, 0, &error), 0);
        ck_assert_int_eq(error.status, TR_TOO_LARGE);
        ck_assert_str_eq(error.path, "name");
    }
    free(memory);
}

TEST(null_is_an_invalid_argument, "U-02")
{
    struct six six = {0};
    tr_type other = tr_type_six;
    other.abi = TR_ABI + 1;
    void *message = NULL;
    char buffer[8] = "x";
    tr_bytes document = {"\x90", 1};
    EACH_FORM(form)
    {
        tr_wire_error error = {0};
        ck_assert_uint_eq(form->write(NULL, &six, buffer, 8, &error), 0);
        ck_assert_int_eq(error.status, TR_INVALID_ARGUMENT);
        ck_assert_uint_eq(form->write(&tr_type_six, NULL, buffer, 8, NULL), 0);
        ck_assert_uint_eq(form->write(&tr_type_six, &six, NULL, 8, NULL), 0);
        ck_assert_uint_eq(form->write(&other, &six, buffer, 8, NULL), 0);
        ck_assert_int_eq(form->read(NULL, document, &message, &error), TR_INVALID_ARGUMENT);
        ck_assert_int_eq(form->read(&other, document, &message, NULL), TR_INVALID_ARGUMENT);
        ck_assert_int_eq(form->read(&tr_type_six, document, NULL, NULL), TR_INVALID_ARGUMENT);
        ck_assert_int_eq(form->read(&tr_type_six, (tr_bytes){NULL, 1}, &message, NULL),
                         TR_INVALID_ARGUMENT);
        ck_assert_int_eq(form->read(&tr_type_six, (tr_bytes){NULL, 0}, &message, NULL),
                         TR_BAD_DATA);
    }
    _Alignas(8) char room[sizeof(struct six) + 8];
    char six_zeroes[] = "\x90";
    ck_assert_int_eq(
        tr_unpack_in_place(&tr_type_six, six_zeroes, 1, room + 1, sizeof(room) - 1, NULL),
        TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_unpack_in_place(&tr_type_six, six_zeroes, 1, NULL, 0, NULL),
                     TR_INVALID_ARGUMENT);
}

static void *read_deep(void *argument)
{
    const struct tree *chain = argument;
    EACH_FORM(form)
    {
        char document[4096];
        size_t size = form->write(&tr_type_tree, chain, document, sizeof(document), NULL);
        void *message;
        if (form->read(&tr_type_tree, (tr_bytes){document, size}, &message, NULL) != TR_OK)
            return argument;
        tr_message_free(&tr_type_tree, message);
    }
    return NULL;
}

TEST(the_deepest_message_needs_no_more_than_the_stack_of_a_handler, "U-02")
{
    if (TEST_HAS_SANITIZER)
        test_skip("sanitizers make frames larger");
    struct tree *chain = chain_of(TR_DEPTH_MAX);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, TR_STACK_SIZE);
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, &attributes, read_deep, chain), 0);
    void *result = chain;
    pthread_join(thread, &result);
    ck_assert_ptr_null(result);
    pthread_attr_destroy(&attributes);
    free(chain);
}

#if !TEST_HAS_SANITIZER
/* The library allocates with realloc alone; this one refuses what it is told to. */
static size_t requests, refuse_at, held;
void *__libc_realloc(void *memory, size_t size);
void __libc_free(void *memory);
void *realloc(void *memory, size_t size)
{
    if (size > 0 && memory == NULL && ++requests == refuse_at)
        return NULL;
    held += memory == NULL;
    return __libc_realloc(memory, size);
}
void free(void *memory)
{
    held -= memory != NULL;
    __libc_free(memory);
}
#endif

TEST(memory_may_run_out_anywhere, "U-02", "U-03")
{
#if TEST_HAS_SANITIZER
    test_skip("the sanitizer has its own realloc");
#else
    struct everything_memory memory;
    tr_buffer *blob = tr_buffer_new(4);
    memset(tr_buffer_data(blob), 'b', 4);
    struct everything all = everything_of(&memory, blob);
    EACH_FORM(form)
    {
        size_t size;
        char *document = written(form, &tr_type_everything, &all, &size);
        requests = 0;
        tr_message_free(&tr_type_everything, read_back(form, &tr_type_everything, document, size));
        size_t needed = requests;
        ck_assert_uint_gt(needed, 6);
        for (size_t n = 1; n <= needed; n++) {
            requests = 0;
            refuse_at = n;
            tr_wire_error error;
            void *message = &error;
            size_t held_before = held;
            tr_status status =
                form->read(&tr_type_everything, (tr_bytes){document, size}, &message, &error);
            refuse_at = 0;
            ck_assert_uint_eq(held, held_before);
            ck_assert_int_eq(status, TR_NO_MEMORY);
            ck_assert_int_eq(error.status, TR_NO_MEMORY);
            ck_assert_ptr_eq(message, &error);
        }
        free(document);
    }
    tr_buffer_release(blob);
#endif
}

SUITE("wire limits", an_old_reader_skips_new_fields, a_new_reader_finds_nothing_in_new_fields,
      messages_nest_as_deep_as_the_limit, skipped_values_nest_as_deep_as_the_limit,
      a_count_is_not_believed, a_message_is_as_large_as_the_limit, bytes_are_as_many_as_the_limit,
      null_is_an_invalid_argument, the_deepest_message_needs_no_more_than_the_stack_of_a_handler,
      memory_may_run_out_anywhere)
