/* SPDX-License-Identifier: Apache-2.0 */
#include "http/fill.h"

#include <stdio.h>
#include <string.h>

#include "http/answer.h"
#include "http/body.h"
#include "http/fields.h"
#include "wire/type.h"

const char *tr__http_part(struct http_request *request, uint32_t number)
{
    const struct http_pattern *pattern = &request->route->pattern;
    if (request->parts[number])
        return request->parts[number];
    uint32_t part = 0;
    for (uint32_t i = 0; i < pattern->count; i++) {
        if (pattern->segments[i].kind == SEGMENT_TEXT || part++ != number)
            continue;
        const char *at = request->path->text + request->path->segments[i].at;
        size_t size = pattern->segments[i].kind == SEGMENT_REST ? strlen(at)
                                                                : request->path->segments[i].size;
        char *text = tr_scratch(request->self, size + 1);
        memcpy(text, at, size);
        text[size] = '\0';
        request->parts[number] = text;
        return text;
    }
    return NULL;
}

void tr__http_fill_raw(struct http_request *request)
{
    const struct http_head *head = &request->head;
    struct tr_http_request *raw = tr_scratch(request->self, sizeof *raw);
    char *host = head->host;
    if (host[head->host_size]) {
        /* the host is inside an absolute target, so no NUL is behind the host */
        host = tr_scratch(request->self, head->host_size + 1);
        memcpy(host, head->host, head->host_size);
        host[head->host_size] = '\0';
    }
    *raw = (struct tr_http_request){.channel = {channel_bits(request->channel)},
                                    .method = head->method,
                                    .target = head->target,
                                    .path = request->path->text,
                                    .query = head->query,
                                    .host = host,
                                    .headers = {head->fields, head->field_count},
                                    .body = request->there,
                                    .has_body = !request->body_is_over,
                                    .body_size = head->is_chunked   ? -1
                                                 : head->length > 0 ? head->length
                                                                    : 0};
    request->raw = raw;
    request->type = &tr_type_tr_http_request;
}

/* Refuses the request because a value in the path or the query is wrong. Returns false. */
static bool refuse_text(struct http_request *request, const tr_field *field, const char *place,
                        const char *wanted)
{
    char text[256];
    snprintf(text, sizeof text, "%s: in the %s: it must be %s", field->name, place, wanted);
    tr__http_answer_error(request, 400, text, NULL);
    return false;
}

static const tr_field *field_named(const tr_type *type, tr_bytes name)
{
    for (uint16_t i = 0; i < type->field_count; i++) {
        const tr_field *field = tr__type_field(type, i);
        if (strlen(field->name) == name.size && memcmp(field->name, name.data, name.size) == 0)
            return field;
    }
    return NULL;
}

static bool fill_query(struct http_request *request)
{
    tr_bytes name, value;
    const char *at = request->head.query;
    while ((at = tr__http_query_next(at, &name, &value))) {
        const tr_field *field = field_named(request->type, name);
        const char *wanted = "escaped as UTF-8";
        if (!field)
            continue;
        char *text = tr_scratch(request->self, value.size + 1);
        if (!tr__http_value_decode(value.data, value.size, text) ||
            !tr__http_field_set(field, request->message, text, &wanted))
            return refuse_text(request, field, "query", wanted);
    }
    return true;
}

static bool fill_path(struct http_request *request)
{
    const struct http_route *route = request->route;
    for (uint32_t i = 0; i < route->pattern.part_count; i++) {
        const char *wanted;
        if (!tr__http_field_set(
                route->fields[i], request->message, tr__http_part(request, i), &wanted))
            return refuse_text(request, route->fields[i], "path", wanted);
    }
    return true;
}

/* Reads the body of the request as JSON. Returns false if the request was refused. */
static bool fill_body(struct http_request *request, const tr_type *type)
{
    tr_wire_error error;
    char text[320];
    tr_bytes body = tr__http_body_plain(request, request->site->options.body_max);
    if (!body.size)
        return true;
    tr_status status = tr_json_read(type, body, &request->block, &error);
    request->block_type = type;
    if (status == TR_OK) {
        request->message = request->block;
        return true;
    }
    request->block = NULL;
    if (status == TR_NO_MEMORY)
        tr_crash(request->self, status, "out of memory for the body of a request");
    snprintf(text, sizeof text, "%s%s%s", error.path, error.path[0] ? ": " : "", error.text);
    tr__http_answer_error(request, 400, text, NULL);
    return false;
}

bool tr__http_fill_typed(struct http_request *request)
{
    const tr_type *type = request->route->row->type;
    request->type = type;
    if (!request->body_is_over && !fill_body(request, type))
        return false;
    if (!request->message) {
        request->message = tr_scratch(request->self, type->size);
        memset(request->message, 0, type->size);
    }
    return (!request->head.query || fill_query(request)) && fill_path(request);
}
