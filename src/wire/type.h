/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Descriptors of messages, as the library reads them.
 *
 * A descriptor is compiled into an application, perhaps with another version of the headers. So its
 * entries may have another size than struct tr_field has here. A descriptor states the size of its
 * entries. tr__type_field finds an entry by that size; plain indexing would be wrong.
 */
#ifndef WIRE_TYPE_H
#define WIRE_TYPE_H

#include <troupe/message.h>

/** The layout of list(t). It is the same for every t. */
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

/** Returns the entry that follows `field` in a table whose entries have `field_size` bytes. */
static inline const tr_field *tr__field_next(const tr_field *field, size_t field_size)
{
    return (const tr_field *)(const void *)((const char *)field + field_size);
}

_Static_assert(TR_KIND_BYTES == TR_KIND_STR + 1 && TR_KIND_BUFFER == TR_KIND_STR + 2 &&
                   TR_KIND_MESSAGE > TR_KIND_BUFFER,
               "kinds with pointers are beside each other");

/**
 * Whether values of this kind may contain pointers. A nested message may or may not contain
 * pointers, so for its kind the result is true.
 */
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

/**
 * Returns the values of a field of `message`. If the message is malformed, a list may have a count
 * and NULL items.
 */
struct field_values tr__field_values(const tr_field *field, const void *message);

/**
 * Whether a descriptor is valid: it has known kinds and shapes, its fields are inside the struct,
 * and their sizes fit. If the descriptor is not valid and `why` is not NULL, sets *why to a
 * constant text. Checks only the size and the flatness of nested descriptors. Any thread.
 */
bool tr__type_is_valid(const tr_type *type, const char **why);

#endif
