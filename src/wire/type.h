/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Descriptors of messages, as the library reads them.
 *
 * A descriptor is compiled into an application, perhaps with another version of the headers.
 * Therefore its entries may have another size, and are found by the size that it states
 * (tr__type_field), never by plain indexing.
 */
#ifndef WIRE_TYPE_H
#define WIRE_TYPE_H

#include <troupe/message.h>

/** The layout of list(t), which is the same for every t. */
struct list_value {
    const void *items;
    size_t count;
};

/** Returns the entry of a field by the field's index. */
static inline const tr_field *tr__type_field(const tr_type *type, size_t index)
{
    return (const tr_field *)(const void *)((const char *)type->fields + index * type->field_size);
}

/** Whether a field of this type is marked as TR_SECRET. */
bool tr__field_is_secret(const tr_type *type, const tr_field *field);

/** Whether this type, or a message inside it, has a secret field. `type` may be NULL. */
bool tr__type_has_secrets(const tr_type *type);

/** Returns the entry after another one in a table whose entries have this size. */
static inline const tr_field *tr__field_next(const tr_field *field, size_t field_size)
{
    return (const tr_field *)(const void *)((const char *)field + field_size);
}

_Static_assert(TR_KIND_BYTES == TR_KIND_STR + 1 && TR_KIND_BUFFER == TR_KIND_STR + 2 &&
                   TR_KIND_MESSAGE > TR_KIND_BUFFER,
               "kinds with pointers are beside each other");

/** Whether values of this kind contain pointers. Messages may contain some. */
static inline bool tr__kind_may_be_deep(uint8_t kind)
{
    return (kind >= TR_KIND_STR && kind <= TR_KIND_BUFFER) || kind == TR_KIND_MESSAGE;
}

/**
 * Whether values of this field contain pointers, so that a copy must also copy what they point to.
 */
static inline bool tr__field_is_deep(const tr_field *field)
{
    return tr__kind_may_be_deep(field->kind) &&
           (field->kind != TR_KIND_MESSAGE || !field->message->is_flat);
}

/** Where the values of a field are: in the struct itself, or in its list. */
struct field_values {
    const char *items;
    size_t count;
};

/** Returns the values of a field of `message`. A malformed list may have a count and NULL items. */
struct field_values tr__field_values(const tr_field *field, const void *message);

/**
 * Whether a descriptor is valid: it has known kinds and shapes, fields inside the struct, and sizes
 * that fit. If not, sets *why, unless NULL, to a constant text. Of nested descriptors, checks only
 * size and flatness. Any thread.
 */
bool tr__type_is_valid(const tr_type *type, const char **why);

#endif
