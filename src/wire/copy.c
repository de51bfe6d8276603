/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Deep copies of messages: measure, copy, drop.
 */
#include "wire/copy.h"

#include "base/assert.h"
#include "os/memory.h"
#include "wire/type.h"

#include <string.h>

_Static_assert(_Alignof(uint64_t) <= 8 && _Alignof(double) <= 8 && _Alignof(void *) <= 8,
               "COPY_ALIGNMENT is enough for every kind of value");

/* tr__copy_drop visits the messages of a list only if their type may have buffers. To find that
 * out, may_have_buffers looks at most this many levels deep into the messages that are inside
 * messages of that type. */
enum { BUFFERS_DEPTH = 2 };

/* The sum cannot overflow, because sizes stay below TR_PAYLOAD_MAX. */
static size_t copy_aligned(size_t size)
{
    return (size + COPY_ALIGNMENT - 1) & ~(COPY_ALIGNMENT - 1);
}

/* Adds the space for `count` values of `size` bytes to *total. Returns false if the sum would be
 * above TR_PAYLOAD_MAX. */
static bool copy_grow(size_t *total, size_t count, size_t size)
{
    if (*total > TR_PAYLOAD_MAX || count > (TR_PAYLOAD_MAX - *total) / size)
        return false;
    *total += count * size;
    return true;
}

/* Whether a field is one value without pointers, as most fields are. */
static inline bool is_single(const tr_field *field)
{
    return field->shape == TR_SHAPE_ONE && !tr__kind_may_be_deep(field->kind);
}

static bool measure_message(const tr_type *type, const void *message, unsigned depth,
                            size_t *total);

/* Adds to *total the size of the data to which one value points. */
static bool measure_value(const tr_field *field, const void *value, unsigned depth, size_t *total)
{
    if (field->kind == TR_KIND_STR) {
        const char *text;
        memcpy(&text, value, sizeof(text));
        return text == NULL || copy_grow(total, strnlen(text, TR_PAYLOAD_MAX) + 1, 1);
    }
    if (field->kind == TR_KIND_BYTES) {
        tr_bytes bytes;
        memcpy(&bytes, value, sizeof(bytes));
        if (bytes.size == 0)
            return true;
        *total = copy_aligned(*total);
        return bytes.data != NULL && copy_grow(total, bytes.size, 1);
    }
    if (field->kind == TR_KIND_MESSAGE)
        return measure_message(field->message, value, depth + 1, total);
    return true;
}

static bool measure_field(const tr_field *field, const void *message, unsigned depth, size_t *total)
{
    if (field->shape == TR_SHAPE_ONE)
        return !tr__field_is_deep(field) ||
               measure_value(field, (const char *)message + field->offset, depth, total);
    struct field_values values = tr__field_values(field, message);
    if (values.count == 0)
        return true;
    if (field->shape == TR_SHAPE_LIST) {
        *total = copy_aligned(*total);
        if (values.items == NULL || !copy_grow(total, values.count, field->item_size))
            return false;
    }
    if (!tr__field_is_deep(field))
        return true;
    for (size_t i = 0; i < values.count; i++) {
        if (!measure_value(field, values.items + i * field->item_size, depth, total))
            return false;
    }
    return true;
}

static bool measure_message(const tr_type *type, const void *message, unsigned depth, size_t *total)
{
    if (type->is_flat)
        return depth <= TR_DEPTH_MAX;
    if (depth > TR_DEPTH_MAX)
        return false;
    const tr_field *field = type->fields;
    for (size_t i = 0; i < type->field_count; i++) {
        if (!is_single(field) && !measure_field(field, message, depth, total))
            return false;
        field = tr__field_next(field, type->field_size);
    }
    return true;
}

size_t tr__copy_size(const tr_type *type, const void *message)
{
    TR_ASSERT(type != NULL);
    TR_ASSERT(message != NULL);
    size_t total = type->size;
    if (type->is_flat)
        return total;
    if (!measure_message(type, message, 0, &total) || total > TR_PAYLOAD_MAX)
        return SIZE_MAX;
    return total;
}

/* The free end of a block that is being filled. */
struct cursor {
    char *block;
    size_t used;
    size_t size;
};

static char *cursor_take(struct cursor *cursor, size_t count, size_t size)
{
    TR_ASSERT(cursor->used <= cursor->size);
    TR_ASSERT(count <= (cursor->size - cursor->used) / size);
    char *place = cursor->block + cursor->used;
    cursor->used += count * size;
    return place;
}

static void copy_message(struct cursor *cursor, const tr_type *type, const void *from, void *to);

/* Copies a value that contains a pointer, and the data that it points to. */
static void copy_deep(struct cursor *cursor, const tr_field *field, const void *from, void *to)
{
    if (field->kind == TR_KIND_STR) {
        const char *text;
        memcpy(&text, from, sizeof(text));
        if (text != NULL) {
            size_t length = strlen(text);
            char *copy = memcpy(cursor_take(cursor, length + 1, 1), text, length);
            copy[length] = '\0';
            text = copy;
        }
        memcpy(to, &text, sizeof(text));
    } else if (field->kind == TR_KIND_BYTES) {
        tr_bytes bytes;
        memcpy(&bytes, from, sizeof(bytes));
        if (bytes.size > 0) {
            cursor->used = copy_aligned(cursor->used);
            bytes.data = memcpy(cursor_take(cursor, bytes.size, 1), bytes.data, bytes.size);
        } else {
            bytes.data = NULL;
        }
        memcpy(to, &bytes, sizeof(bytes));
    } else if (field->kind == TR_KIND_BUFFER) {
        tr_buffer *buffer;
        memcpy(&buffer, from, sizeof(buffer));
        tr_buffer_retain(buffer);
        memcpy(to, &buffer, sizeof(buffer));
    } else {
        copy_message(cursor, field->message, from, to);
    }
}

static void copy_values(struct cursor *cursor, const tr_field *field, struct field_values from,
                        char *to)
{
    if (!tr__field_is_deep(field)) {
        memcpy(to, from.items, from.count * field->item_size);
        return;
    }
    for (size_t i = 0; i < from.count; i++) {
        size_t offset = i * field->item_size;
        copy_deep(cursor, field, from.items + offset, to + offset);
    }
}

/* Copies a field that is not a single value. Writes nothing for an absent value, because the memory
 * at `to` is already zero. */
static void copy_field(struct cursor *cursor, const tr_field *field, const void *from, void *to)
{
    char *member = (char *)to + field->offset;
    if (field->shape == TR_SHAPE_ONE) {
        const char *value = (const char *)from + field->offset;
        copy_deep(cursor, field, value, member);
        return;
    }
    struct field_values values = tr__field_values(field, from);
    if (values.count == 0)
        return;
    if (field->shape == TR_SHAPE_LIST) {
        cursor->used = copy_aligned(cursor->used);
        char *items = cursor_take(cursor, values.count, field->item_size);
        struct list_value list = {items, values.count};
        memcpy(member, &list, sizeof(list));
        /* Set deep items to zero first, because the padding between their members is not copied. */
        if (tr__field_is_deep(field))
            memset(items, 0, values.count * field->item_size);
        copy_values(cursor, field, values, items);
    } else if (field->shape == TR_SHAPE_OPTIONAL) {
        bool has = true;
        memcpy(member, &has, sizeof(has));
        copy_values(cursor, field, values, member + field->size - field->item_size);
    } else {
        copy_values(cursor, field, values, member);
    }
}

/*
 * Copies one value without a pointer. Nearly all values have one of two sizes, for which memcpy becomes a plain move.
 */
static inline void copy_flat(char *to, const char *from, size_t size)
{
    if (size == sizeof(uint64_t))
        memcpy(to, from, sizeof(uint64_t));
    else if (size == sizeof(uint32_t))
        memcpy(to, from, sizeof(uint32_t));
    else
        memcpy(to, from, size);
}

static void copy_message(struct cursor *cursor, const tr_type *type, const void *from, void *to)
{
    if (type->is_flat) {
        memcpy(to, from, type->size);
        return;
    }
    const tr_field *field = type->fields;
    for (size_t i = 0; i < type->field_count; i++) {
        if (is_single(field))
            copy_flat(
                (char *)to + field->offset, (const char *)from + field->offset, field->item_size);
        else
            copy_field(cursor, field, from, to);
        field = tr__field_next(field, type->field_size);
    }
}

void tr__copy_into(const tr_type *type, const void *message, void *block, size_t size)
{
    TR_ASSERT(size >= type->size);
    TR_ASSERT((uintptr_t)block % COPY_ALIGNMENT == 0);
    struct cursor cursor = {block, type->size, size};
    if (!type->is_flat)
        memset(block, 0, type->size);
    copy_message(&cursor, type, message, block);
    TR_ASSERT_SLOW(cursor.used == size);
}

/* Whether messages of a type may have buffers. Does not look into messages that are nested deeper
 * than BUFFERS_DEPTH. Assumes that such messages have buffers. */
static bool may_have_buffers(const tr_type *type, unsigned depth)
{
    const tr_field *field = type->fields;
    for (size_t i = 0; i < type->field_count && !type->is_flat; i++) {
        if (field->kind == TR_KIND_BUFFER)
            return true;
        if (field->kind == TR_KIND_MESSAGE &&
            (depth == BUFFERS_DEPTH || may_have_buffers(field->message, depth + 1)))
            return true;
        field = tr__field_next(field, type->field_size);
    }
    return false;
}

/* Releases the buffers in all values of one field. */
static void drop_field(const tr_field *field, const void *block)
{
    struct field_values values = tr__field_values(field, block);
    if (field->kind == TR_KIND_MESSAGE && values.count > 1 && !may_have_buffers(field->message, 0))
        return;
    for (size_t k = 0; k < values.count; k++) {
        const char *value = values.items + k * field->item_size;
        if (field->kind == TR_KIND_MESSAGE) {
            tr__copy_drop(field->message, (void *)(uintptr_t)value);
            continue;
        }
        tr_buffer *buffer;
        memcpy(&buffer, value, sizeof(buffer));
        tr_buffer_release(buffer);
    }
}

void tr__copy_drop(const tr_type *type, void *block)
{
    if (type->is_flat)
        return;
    const tr_field *field = type->fields;
    for (size_t i = 0; i < type->field_count; i++) {
        if (field->kind == TR_KIND_BUFFER || field->kind == TR_KIND_MESSAGE)
            drop_field(field, block);
        field = tr__field_next(field, type->field_size);
    }
}

void *tr_message_copy(const tr_type *type, const void *message)
{
    if (message == NULL || !tr__type_is_valid(type, NULL))
        return NULL;
    size_t size = tr__copy_size(type, message);
    void *block = size == SIZE_MAX ? NULL : tr__os_resize(NULL, size);
    if (block != NULL)
        tr__copy_into(type, message, block, size);
    return block;
}

void tr_message_free(const tr_type *type, void *message)
{
    if (message == NULL)
        return;
    tr__copy_drop(type, message);
    (void)tr__os_resize(message, 0);
}
