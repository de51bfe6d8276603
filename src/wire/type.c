/* SPDX-License-Identifier: Apache-2.0 */
/** Descriptors of messages: equality, validity, and the values of a field. */
#include "wire/type.h"

#include <string.h>

/* The size of a value of each kind. It is 0 for a nested message, whose size is in its
 * descriptor. */
static const uint8_t kind_sizes[] = {
    [TR_KIND_BOOL] = sizeof(bool),
    [TR_KIND_I8] = 1,
    [TR_KIND_I16] = 2,
    [TR_KIND_I32] = 4,
    [TR_KIND_I64] = 8,
    [TR_KIND_U8] = 1,
    [TR_KIND_U16] = 2,
    [TR_KIND_U32] = 4,
    [TR_KIND_U64] = 8,
    [TR_KIND_F32] = sizeof(float),
    [TR_KIND_F64] = sizeof(double),
    [TR_KIND_STR] = sizeof(const char *),
    [TR_KIND_BYTES] = sizeof(tr_bytes),
    [TR_KIND_BUFFER] = sizeof(tr_buffer *),
    [TR_KIND_REF] = sizeof(tr_ref),
    [TR_KIND_MESSAGE] = 0,
};

struct field_values tr__field_values(const tr_field *field, const void *message)
{
    const char *member = (const char *)message + field->offset;
    struct list_value list;
    bool has;

    switch ((tr_shape)field->shape) {
    case TR_SHAPE_ONE:
    case TR_SHAPE_ARRAY:
        return (struct field_values){member, field->count};
    case TR_SHAPE_LIST:
        memcpy(&list, member, sizeof(list));
        return (struct field_values){list.items, list.count};
    case TR_SHAPE_OPTIONAL:
        memcpy(&has, member, sizeof(has));
        return (struct field_values){member + field->size - field->item_size, has};
    }
    return (struct field_values){NULL, 0};
}

static bool is_equal(const tr_type *a, const tr_type *b, unsigned depth);

static bool field_is_equal(const tr_field *a, const tr_field *b, unsigned depth)
{
    return a->offset == b->offset && a->size == b->size && a->item_size == b->item_size &&
           a->count == b->count && a->kind == b->kind && a->shape == b->shape &&
           strcmp(a->name, b->name) == 0 && is_equal(a->message, b->message, depth + 1);
}

/* Compares two descriptors. A descriptor that was made by hand may contain itself. In this case the
 * limit of `depth` ends the comparison. */
static bool is_equal(const tr_type *a, const tr_type *b, unsigned depth)
{
    if (a == b)
        return true;
    if (a == NULL || b == NULL || depth > TR_DEPTH_MAX)
        return false;
    if (a->size != b->size || a->field_count != b->field_count || strcmp(a->name, b->name) != 0)
        return false;
    for (size_t i = 0; i < a->field_count; i++) {
        if (!field_is_equal(tr__type_field(a, i), tr__type_field(b, i), depth))
            return false;
    }
    return true;
}

bool tr_type_is_equal(const tr_type *a, const tr_type *b)
{
    return is_equal(a, b, 0);
}

const void *tr_message_data_as(const tr_message *message, const tr_type *type)
{
    return message && tr_type_is_equal(message->type, type) ? message->data : NULL;
}

static const char *fault_of_shape(const tr_field *field)
{
    switch ((tr_shape)field->shape) {
    case TR_SHAPE_ONE:
        return field->count == 1 && field->size == field->item_size
                   ? NULL
                   : "the size of a single field differs from that of its value";
    case TR_SHAPE_ARRAY:
        return (uint64_t)field->count * field->item_size == field->size
                   ? NULL
                   : "the size of an array differs from that of its values";
    case TR_SHAPE_LIST:
        return field->size == sizeof(struct list_value) ? NULL : "a list has the wrong size";
    case TR_SHAPE_OPTIONAL:
        return field->size > field->item_size ? NULL
                                              : "an optional field is too small for its `has`";
    }
    return "a field has an unknown shape";
}

static const char *fault_of_field(const tr_type *type, const tr_field *field)
{
    if (field->name == NULL || field->name[0] == '\0')
        return "a field has no name";
    if (field->kind > TR_KIND_MESSAGE)
        return "a field has an unknown kind";
    if (field->size > type->size || field->offset > type->size - field->size)
        return "a field lies outside its struct";
    if ((field->kind == TR_KIND_MESSAGE) != (field->message != NULL))
        return "a nested message has no descriptor, or another field has one";
    size_t item_size = field->message ? field->message->size : kind_sizes[field->kind];
    if (field->item_size != item_size || item_size == 0)
        return "the size of a value differs from that of its kind";
    if (type->is_flat && (tr__field_is_deep(field) || field->shape == TR_SHAPE_LIST))
        return "a flat message contains a pointer";
    return fault_of_shape(field);
}

static const char *fault_of_type(const tr_type *type)
{
    if (type == NULL)
        return "the descriptor is missing";
    if (type->abi != TR_ABI)
        return "the descriptor was compiled for another version of the library";
    if (type->name == NULL || type->name[0] == '\0')
        return "the message has no name";
    if (type->size == 0 || type->size > TR_PAYLOAD_MAX)
        return "the message is empty or larger than TR_PAYLOAD_MAX";
    if (type->field_count > 0 && (type->fields == NULL || type->field_size < sizeof(tr_field)))
        return "the message has no table of fields, or its rows are too short";
    if (type->inline_size && !(type->is_flat && type->inline_size == type->size))
        return "the size inside an envelope differs from that of the message";
    for (size_t i = 0; i < type->field_count; i++) {
        const char *fault = fault_of_field(type, tr__type_field(type, i));
        if (fault != NULL)
            return fault;
    }
    return NULL;
}

bool tr__type_is_valid(const tr_type *type, const char **why)
{
    const char *fault = fault_of_type(type);
    if (fault != NULL && why != NULL)
        *why = fault;
    return fault == NULL;
}

bool tr__field_is_secret(const tr_type *type, const tr_field *field)
{
    for (size_t i = 0; type->secrets && i < TR_SECRETS_MAX && type->secrets->fields[i]; i++) {
        if (strcmp(type->secrets->fields[i], field->name) == 0)
            return true;
    }
    return false;
}

static bool has_secrets(const tr_type *type, unsigned depth)
{
    for (size_t i = 0; type && depth <= TR_DEPTH_MAX && i < type->field_count; i++) {
        const tr_field *field = tr__type_field(type, i);
        if (tr__field_is_secret(type, field) || has_secrets(field->message, depth + 1))
            return true;
    }
    return false;
}

bool tr__type_has_secrets(const tr_type *type)
{
    return has_secrets(type, 0);
}
