/* SPDX-License-Identifier: Apache-2.0 */
#include "http/openapi.h"

#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "http/fields.h"
#include "wire/type.h"

struct document {
    struct net_buffer *text;
    /* array of const tr_type *: the types for which the document has a reference to a schema */
    struct net_buffer types;
    tr_status status;
};

/* ---- Text. ---- */

static void put_size(struct document *document, const char *text, size_t size)
{
    if (document->status == TR_OK)
        document->status = tr__net_buffer_append(document->text, text, size);
}

static void put(struct document *document, const char *text)
{
    put_size(document, text, strlen(text));
}

/* Writes a string of JSON. */
static void put_string(struct document *document, const char *text)
{
    put(document, "\"");
    for (; *text; text++) {
        char escape[8];
        bool is_plain = (unsigned char)*text >= 0x20 && *text != '"' && *text != '\\';
        if (is_plain) {
            put_size(document, text, 1);
            continue;
        }
        snprintf(escape, sizeof escape, "\\u%04x", (unsigned)(unsigned char)*text);
        put(document, escape);
    }
    put(document, "\"");
}

/* Writes "name": of a member. Writes a comma before it, unless it is the first member. */
static void put_member(struct document *document, bool *is_first, const char *name)
{
    if (!*is_first)
        put(document, ",");
    *is_first = false;
    put_string(document, name);
    put(document, ":");
}

/* ---- Schemas. ---- */

static const tr_type *type_at(const struct document *document, size_t index)
{
    const tr_type *type;
    tr_bytes all = net_buffer_bytes(&document->types);
    TR_ASSERT(all.data);
    TR_ASSERT(index < all.size / sizeof type);
    memcpy(&type, (const char *)all.data + index * sizeof type, sizeof type);
    return type;
}

static size_t type_count(const struct document *document)
{
    return net_buffer_size(&document->types) / sizeof(const tr_type *);
}

/*
 * Writes a reference to the schema of a message. The schema itself is written at the end of the
 * document.
 */
static void put_type(struct document *document, const tr_type *type)
{
    bool is_known = false;
    for (size_t i = 0; i < type_count(document); i++)
        is_known |= strcmp(type_at(document, i)->name, type->name) == 0;
    if (!is_known && document->status == TR_OK)
        document->status =
            tr__net_buffer_append(&document->types, (const void *)&type, sizeof type);
    put(document, "{\"$ref\":\"#/components/schemas/");
    put(document, type->name);
    put(document, "\"}");
}

/*
 * Writes the schema of a value: it describes the JSON that src/wire/json_write.c writes for the
 * value.
 */
static void put_value(struct document *document, const tr_field *field)
{
    static const char *const schemas[] = {
        [TR_KIND_BOOL] = "{\"type\":\"boolean\"}",
        [TR_KIND_I8] = "{\"type\":\"integer\",\"minimum\":-128,\"maximum\":127}",
        [TR_KIND_I16] = "{\"type\":\"integer\",\"minimum\":-32768,\"maximum\":32767}",
        [TR_KIND_I32] = "{\"type\":\"integer\",\"format\":\"int32\"}",
        [TR_KIND_I64] = "{\"type\":\"integer\",\"format\":\"int64\"}",
        [TR_KIND_U8] = "{\"type\":\"integer\",\"minimum\":0,\"maximum\":255}",
        [TR_KIND_U16] = "{\"type\":\"integer\",\"minimum\":0,\"maximum\":65535}",
        [TR_KIND_U32] = "{\"type\":\"integer\",\"minimum\":0,\"maximum\":4294967295}",
        [TR_KIND_U64] = "{\"type\":\"integer\",\"format\":\"uint64\",\"minimum\":0}",
        [TR_KIND_F32] = "{\"type\":\"number\",\"format\":\"float\"}",
        [TR_KIND_F64] = "{\"type\":\"number\",\"format\":\"double\"}",
        [TR_KIND_STR] = "{\"type\":[\"string\",\"null\"]}",
        [TR_KIND_BYTES] = "{\"type\":\"string\",\"contentEncoding\":\"base64\"}",
        [TR_KIND_BUFFER] = "{\"type\":[\"string\",\"null\"],\"contentEncoding\":\"base64\"}",
        [TR_KIND_REF] = "{}",
    };
    if (field->kind == TR_KIND_MESSAGE)
        put_type(document, field->message);
    else
        put(document, schemas[field->kind]);
}

static void put_field(struct document *document, const tr_field *field)
{
    bool is_array = field->shape == TR_SHAPE_ARRAY;
    if (!is_array && field->shape != TR_SHAPE_LIST) {
        put_value(document, field);
        return;
    }
    char limits[64] = "";
    if (is_array)
        snprintf(limits,
                 sizeof limits,
                 "\"minItems\":%u,\"maxItems\":%u,",
                 (unsigned)field->count,
                 (unsigned)field->count);
    put(document, "{\"type\":\"array\",");
    put(document, limits);
    put(document, "\"items\":");
    put_value(document, field);
    put(document, "}");
}

static void put_schema(struct document *document, const tr_type *type)
{
    bool is_first = true;
    put(document, "{\"type\":\"object\",\"properties\":{");
    for (uint16_t i = 0; i < type->field_count; i++) {
        const tr_field *field = tr__type_field(type, i);
        put_member(document, &is_first, field->name);
        put_field(document, field);
    }
    put(document, "}}");
}

/*
 * Writes the schemas for which the document has references, and the schemas for which those have
 * references.
 */
static void put_schemas(struct document *document)
{
    static const char error[] =
        "{\"type\":\"object\",\"properties\":{\"error\":{\"type\":\"object\",\"properties\":{"
        "\"code\":{\"type\":[\"integer\",\"string\"]},\"message\":{\"type\":\"string\"}}}}}";
    bool is_first = true;
    for (size_t i = 0; i < type_count(document) && document->status == TR_OK; i++) {
        const tr_type *type = type_at(document, i);
        put_member(document, &is_first, type->name);
        put_schema(document, type);
    }
    put_member(document, &is_first, "tr_http_error");
    put(document, error);
}

/* ---- Rows. ---- */

static bool is_same_path(const struct http_route *a, const struct http_route *b)
{
    if (a->pattern.count != b->pattern.count)
        return false;
    for (uint32_t i = 0; i < a->pattern.count; i++) {
        const struct http_segment *x = &a->pattern.segments[i], *y = &b->pattern.segments[i];
        if (x->kind != y->kind || x->size != y->size || memcmp(x->text, y->text, x->size) != 0)
            return false;
    }
    return true;
}

static void put_path(struct document *document, const struct http_pattern *pattern)
{
    put(document, "\"");
    for (uint32_t i = 0; i < pattern->count; i++) {
        const struct http_segment *segment = &pattern->segments[i];
        bool is_text = segment->kind == SEGMENT_TEXT;
        put(document, is_text ? "/" : "/{");
        put_size(document, segment->text, segment->size);
        put(document, is_text ? "" : "}");
    }
    put(document, pattern->count ? "\":" : "/\":");
}

static bool is_part(const struct http_route *route, const tr_field *field)
{
    for (uint32_t i = 0; i < route->pattern.part_count; i++) {
        if (route->fields[i] == field)
            return true;
    }
    return false;
}

static void put_parameter(struct document *document, bool *is_first, const char *name, size_t size,
                          const tr_field *field, bool is_in_path)
{
    put(document, *is_first ? "{\"name\":\"" : ",{\"name\":\"");
    *is_first = false;
    put_size(document, name, size);
    put(document, is_in_path ? "\",\"in\":\"path\",\"required\":true" : "\",\"in\":\"query\"");
    put(document, ",\"schema\":");
    if (!field)
        put(document, "{\"type\":\"string\"}");
    else
        put_field(document, field);
    put(document, "}");
}

/* Writes the parts of the path as parameters. For a row without a body also writes the fields that
 * may be in the query. */
static void put_parameters(struct document *document, const struct http_route *route, bool has_body)
{
    bool is_first = true;
    uint32_t part = 0;
    put(document, "\"parameters\":[");
    for (uint32_t i = 0; i < route->pattern.count; i++) {
        const struct http_segment *segment = &route->pattern.segments[i];
        if (segment->kind == SEGMENT_TEXT)
            continue;
        put_parameter(
            document, &is_first, segment->text, segment->size, route->fields[part++], true);
    }
    const tr_type *type = route->is_raw || has_body ? NULL : route->row->type;
    for (uint16_t i = 0; type && i < type->field_count; i++) {
        const tr_field *field = tr__type_field(type, i);
        if (!is_part(route, field) && tr__http_field_takes_text(field))
            put_parameter(document, &is_first, field->name, strlen(field->name), field, false);
    }
    put(document, "]");
}

static void put_content(struct document *document, const tr_type *type)
{
    put(document, "\"content\":{\"application/json\":{\"schema\":");
    put_type(document, type);
    put(document, "}}");
}

static void put_operation(struct document *document, const struct http_route *route)
{
    const tr_type *type = route->is_raw ? NULL : route->row->type;
    bool has_body = type && route->method != METHOD_GET && route->method != METHOD_DELETE;
    put(document, "{");
    if (type) {
        put(document, "\"summary\":");
        put_string(document, type->name);
        put(document, ",");
    }
    put_parameters(document, route, has_body);
    if (has_body) {
        put(document, ",\"requestBody\":{");
        put_content(document, type);
        put(document, "}");
    }
    put(document, ",\"responses\":{");
    if (type && type->reply) {
        put(document, "\"200\":{\"description\":");
        put_string(document, type->reply->name);
        put(document, ",");
        put_content(document, type->reply);
        put(document, "},");
    }
    put(document,
        "\"default\":{\"description\":\"an error\",\"content\":{\"application/json\":{\"schema\":{"
        "\"$ref\":\"#/components/schemas/tr_http_error\"}}}}}}");
}

static const char *method_name(enum http_method method)
{
    switch (method) {
    case METHOD_GET:
        return "get";
    case METHOD_PUT:
        return "put";
    case METHOD_POST:
        return "post";
    case METHOD_PATCH:
        return "patch";
    case METHOD_DELETE:
        return "delete";
    case METHOD_OPTIONS:
        return "options";
    default: /* METHOD_WEBSOCKET and the like: OpenAPI has no operation for WebSockets */
        return NULL;
    }
}

/*
 * Writes a path with the methods of all rows that have this path. Writes nothing if an earlier row
 * has the same path.
 */
static void put_row(struct document *document, const struct http_site *site, uint32_t index,
                    bool *is_first)
{
    const struct http_route *route = &site->routes[index];
    bool is_first_method = true;
    for (uint32_t i = 0; i < index; i++) {
        if (is_same_path(&site->routes[i], route))
            return;
    }
    put(document, *is_first ? "" : ",");
    *is_first = false;
    put_path(document, &route->pattern);
    put(document, "{");
    for (uint32_t i = index; i < site->route_count; i++) {
        const char *method = method_name(site->routes[i].method);
        if (!method || !is_same_path(&site->routes[i], route))
            continue;
        put_member(document, &is_first_method, method);
        put_operation(document, &site->routes[i]);
    }
    put(document, "}");
}

tr_status tr__http_openapi_write(const struct http_site *site, struct net_buffer *text)
{
    struct document document = {.text = text, .types = NET_BUFFER(text->source)};
    bool is_first = true;
    put(&document, "{\"openapi\":\"3.1.0\",\"info\":{\"title\":");
    put_string(&document, site->options.openapi);
    put(&document, ",\"version\":\"0\"},\"paths\":{");
    for (uint32_t i = 0; i < site->route_count; i++)
        put_row(&document, site, i, &is_first);
    put(&document, "},\"components\":{\"schemas\":{");
    put_schemas(&document);
    put(&document, "}}}");
    tr__net_buffer_free(&document.types);
    return document.status;
}
