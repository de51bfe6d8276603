/* SPDX-License-Identifier: Apache-2.0 */
/** The verbs of requests. */
#include <stdio.h>
#include <string.h>

#include "actor/cell/verb.h"
#include "http/answer.h"
#include "http/body.h"
#include "http/fill.h"
#include "http/form.h"
#include "http/h2_stream.h"

/* Returns one text of all values of a header that occurs more than once. */
static const char *join(struct http_request *request, const char *name, size_t size)
{
    const struct http_head *head = &request->head;
    char *all = tr_scratch(request->self, size + 1);
    char *to = all;
    for (uint32_t i = 0; i < head->field_count; i++) {
        if (strcasecmp(head->fields[i].name, name) == 0)
            to += snprintf(to, size + 1, "%s%s", to == all ? "" : ", ", head->fields[i].value);
    }
    return all;
}

const char *tr_http_header(tr_self *self, const char *name)
{
    TURN_VERB(self);
    struct http_request *request = tr__http_request_of(self);
    const char *found = NULL;
    uint32_t count = 0;
    size_t size = 0;
    for (uint32_t i = 0; request && i < request->head.field_count; i++) {
        const struct tr_http_field *field = &request->head.fields[i];
        /* compare the first letters first, because most names differ there */
        bool may_be = !((field->name[0] ^ name[0]) & ~0x20);
        if (!may_be || strcasecmp(field->name, name) != 0)
            continue;
        found = field->value;
        size += strlen(field->value) + 2;
        count++;
    }
    return count > 1 ? join(request, name, size) : found;
}

/*
 * Finds a name in a query or a form, and decodes its value. Returns NULL if the name is missing, or
 * if its value is malformed.
 */
static const char *value_of(struct tr_self *self, const char *query, const char *name)
{
    tr_bytes key, value;
    size_t size = strlen(name);
    while ((query = tr__http_query_next(query, &key, &value))) {
        char *text = tr_scratch(self, key.size + value.size + 2);
        if (!tr__http_value_decode(key.data, key.size, text) || strlen(text) != size ||
            memcmp(text, name, size) != 0)
            continue;
        return tr__http_value_decode(value.data, value.size, text) ? text : NULL;
    }
    return NULL;
}

const char *tr_http_query(tr_self *self, const char *name)
{
    TURN_VERB(self);
    struct http_request *request = tr__http_request_of(self);
    return request && request->head.query ? value_of(self, request->head.query, name) : NULL;
}

const char *tr_http_part(tr_self *self, const char *name)
{
    TURN_VERB(self);
    struct http_request *request = tr__http_request_of(self);
    if (!request || !request->route)
        return NULL;
    const struct http_pattern *pattern = &request->route->pattern;
    uint32_t part = 0;
    for (uint32_t i = 0; i < pattern->count; i++) {
        const struct http_segment *segment = &pattern->segments[i];
        if (segment->kind == SEGMENT_TEXT)
            continue;
        if (strlen(name) == segment->size && memcmp(name, segment->text, segment->size) == 0)
            return tr__http_part(request, part);
        part++;
    }
    return NULL;
}

const char *tr_http_cookie(tr_self *self, const char *name)
{
    TURN_VERB(self);
    struct http_request *request = tr__http_request_of(self);
    size_t size = strlen(name);
    for (uint32_t i = 0; request && i < request->head.field_count; i++) {
        if (strcmp(request->head.fields[i].name, "cookie") != 0)
            continue;
        for (const char *at = request->head.fields[i].value; *at; at += strspn(at, "; ")) {
            size_t length = strcspn(at, ";");
            if (length > size && memcmp(at, name, size) == 0 && at[size] == '=') {
                char *value = tr_scratch(self, length - size);
                memcpy(value, at + size + 1, length - size - 1);
                value[length - size - 1] = '\0';
                return value;
            }
            at += length;
        }
    }
    return NULL;
}

const char *tr_http_form(tr_self *self, const char *name)
{
    TURN_VERB(self);
    struct http_request *request = tr__http_request_of(self);
    if (!request)
        return NULL;
    if (!request->form) {
        tr_bytes body = tr__http_body_plain(request, request->site->options.body_max);
        char *text = tr_scratch(self, body.size + 1);
        if (body.size)
            memcpy(text, body.data, body.size);
        text[body.size] = '\0';
        request->form = text;
        request->form_size = body.size;
    }
    if (tr__http_form_has_parts(request))
        return tr__http_form_value(request, name);
    return value_of(self, request->form, name);
}

bool tr_http_read(tr_self *self, tr_bytes *bytes)
{
    TURN_VERB(self);
    return tr__http_body_read(tr__http_request_need(self, "tr_http_read"), bytes);
}

tr_bytes tr_http_body(tr_self *self, size_t max)
{
    TURN_VERB(self);
    return tr__http_body_all(tr__http_request_need(self, "tr_http_body"), max);
}

const void *tr_self_http_json(tr_self *self, const tr_type *type)
{
    TURN_VERB(self);
    struct http_request *request = tr__http_request_need(self, "TR_HTTP_JSON");
    tr_wire_error error = {.status = TR_BAD_DATA, .text = "the body is read as JSON once"};
    char text[320];
    void *message = NULL;
    tr_bytes body = tr__http_body_plain(request, request->site->options.body_max);
    if (!request->block && tr_json_read(type, body, &message, &error) == TR_OK) {
        request->block = message;
        request->block_type = type;
        return message;
    }
    if (error.status == TR_NO_MEMORY)
        tr_crash(self, error.status, "out of memory for the body of a request");
    snprintf(text, sizeof text, "%s%s%s", error.path, error.path[0] ? ": " : "", error.text);
    if (request->phase == ANSWER_NONE)
        tr__http_answer_error(request, 400, text, NULL);
    tr__http_request_leave(request);
}

bool tr_http_is_gone(tr_self *self)
{
    TURN_VERB(self);
    const struct http_request *request = tr__http_request_of(self);
    if (request && request->stream)
        return tr__h2_is_gone(request->stream);
    return !request || request->channel->state != CHANNEL_OPEN;
}
