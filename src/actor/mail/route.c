/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The keys of messages. A router picks the member that gets a message by the key of the message.
 */
#include "actor/mail/route.h"

#include <string.h>
#include <troupe/group.h>

#include "base/hash.h"
#include "wire/type.h"

struct hash_key;

/*
 * Returns the field of the message that a route names by its offset in the struct. Returns NULL if
 * there is no such field.
 */
static const tr_field *field_of(const tr_route *route)
{
    for (size_t i = 0; i < route->type->field_count; i++) {
        const tr_field *field = tr__type_field(route->type, i);
        if (field->offset == route->offset)
            return field;
    }
    return NULL;
}

static bool is_key(const tr_field *field)
{
    if (!field || field->shape != TR_SHAPE_ONE)
        return false;
    switch ((tr_kind)field->kind) {
    case TR_KIND_BOOL:
    case TR_KIND_I8:
    case TR_KIND_I16:
    case TR_KIND_I32:
    case TR_KIND_I64:
    case TR_KIND_U8:
    case TR_KIND_U16:
    case TR_KIND_U32:
    case TR_KIND_U64:
    case TR_KIND_REF:
    case TR_KIND_STR:
    case TR_KIND_BYTES:
        return true;
    /* no key: equal numbers may differ in their bytes, and NaN is not equal to itself */
    case TR_KIND_F32:
    case TR_KIND_F64:
    case TR_KIND_BUFFER:
    case TR_KIND_MESSAGE:
        return false;
    }
    return false;
}

bool tr__routes_are_valid(const tr_route *routes, const char **why)
{
    size_t count = 0;
    for (const tr_route *route = routes; route->type; route++, count++) {
        *why = "too many routes";
        if (count == TR_FIELDS_MAX || !tr__type_is_valid(route->type, why))
            return false;
        *why = "invalid key of a route: use an integer, a bool, an enum, a str, bytes or a ref";
        if (!route->key && !is_key(field_of(route)))
            return false;
        *why = "a message has two routes";
        for (const tr_route *other = routes; other != route; other++) {
            if (tr_type_is_equal(other->type, route->type))
                return false;
        }
    }
    *why = "a router has no routes";
    return count > 0;
}

static const tr_route *route_of_type(const tr_route *routes, const tr_type *type)
{
    for (const tr_route *route = routes; route->type; route++) {
        if (route->type == type)
            return route;
    }
    /* Compare the types by content, because the same message may be declared in several files. */
    for (const tr_route *route = routes; route->type; route++) {
        if (tr_type_is_equal(route->type, type))
            return route;
    }
    return NULL;
}

/* Reads an integer of any width as a 64-bit key, so that equal integers are equal keys. */
#define INTEGER(type)                                                                              \
    {                                                                                              \
        type value;                                                                                \
        memcpy(&value, data, sizeof value);                                                        \
        return (uint64_t)(int64_t)value;                                                           \
    }

static uint64_t integer(const tr_field *field, const void *data)
{
    switch ((tr_kind)field->kind) {
    case TR_KIND_BOOL:
    case TR_KIND_U8:
        INTEGER(uint8_t)
    case TR_KIND_I8:
        INTEGER(int8_t)
    case TR_KIND_I16:
        INTEGER(int16_t)
    case TR_KIND_I32:
        INTEGER(int32_t)
    case TR_KIND_U16:
        INTEGER(uint16_t)
    case TR_KIND_U32:
        INTEGER(uint32_t)
    case TR_KIND_I64:
    case TR_KIND_U64:
    case TR_KIND_REF:
    case TR_KIND_STR:
    case TR_KIND_BYTES:
    case TR_KIND_F32:
    case TR_KIND_F64:
    case TR_KIND_BUFFER:
    case TR_KIND_MESSAGE:
        break;
    }
    INTEGER(uint64_t)
}

bool tr__route_hash(const tr_route *routes, struct hash_key key, const tr_type *type,
                    const void *data, uint64_t *hash)
{
    const tr_route *route = route_of_type(routes, type);
    if (!route)
        return false;
    if (route->key) {
        *hash = hash_mix(route->key(data) ^ key.low);
        return true;
    }
    const tr_field *field = field_of(route);
    const void *place = (const char *)data + route->offset;
    if (field->kind == TR_KIND_STR) {
        const char *string;
        memcpy(&string, place, sizeof string);
        *hash = hash_bytes(key, string, string ? strlen(string) : 0);
    } else if (field->kind == TR_KIND_BYTES) {
        tr_bytes bytes;
        memcpy(&bytes, place, sizeof bytes);
        *hash = hash_bytes(key, bytes.data, bytes.size);
    } else {
        *hash = hash_mix(integer(field, place) ^ key.low);
    }
    return true;
}
