/* SPDX-License-Identifier: Apache-2.0 */
#include "http/site.h"

#include <string.h>

#include "http/fields.h"
#include "wire/type.h"

static const char *const names[] = {[METHOD_GET] = "GET",
                                    [METHOD_POST] = "POST",
                                    [METHOD_PUT] = "PUT",
                                    [METHOD_PATCH] = "PATCH",
                                    [METHOD_DELETE] = "DELETE",
                                    [METHOD_OPTIONS] = "OPTIONS",
                                    [METHOD_WEBSOCKET] = "WEBSOCKET"};
enum { NAMES = sizeof names / sizeof names[0] };

static bool is_raw(const tr_type *type)
{
    return type &&
           (type == &tr_type_tr_http_request || tr_type_is_equal(type, &tr_type_tr_http_request));
}

static bool is_message(const tr_type *type)
{
    return type && tr_type_is_equal(type, &tr_type_tr_ws_message);
}

/*
 * Finds the field of a typed row that has the name of a part of the path. Returns NULL if there is
 * no such field, or if the field cannot be set from a text.
 */
static const tr_field *field_of(const tr_type *type, const struct http_segment *part)
{
    for (uint16_t i = 0; i < type->field_count; i++) {
        const tr_field *field = tr__type_field(type, i);
        if (strlen(field->name) == part->size && memcmp(field->name, part->text, part->size) == 0)
            return tr__http_field_takes_text(field) ? field : NULL;
    }
    return NULL;
}

/* Checks a row, and fills in its route. Returns NULL, or an error text. */
static const char *route_make(struct http_route *route, const tr_handler *row)
{
    *route = (struct http_route){.row = row, .is_raw = is_raw(row->type)};
    for (size_t i = 0; i < NAMES; i++) {
        if (names[i] && strcmp(names[i], row->method) == 0)
            route->method = (enum http_method)i;
    }
    if (route->method == METHOD_OTHER)
        return "the method is unknown";
    const char *why = tr__http_pattern_cut(row->path, &route->pattern);
    if (why)
        return why;
    const struct http_pattern *pattern = &route->pattern;
    if (row->place && pattern->segments[pattern->count - 1].kind != SEGMENT_REST)
        return "a path of files ends with a part {name...}";
    route->is_message = route->method == METHOD_WEBSOCKET && is_message(row->type);
    if (route->is_message)
        return NULL;
    if (!route->is_raw && !(row->type && row->type->reply))
        return "the message is neither a TR_REQUEST nor tr_http_request";
    uint32_t part = 0;
    for (uint32_t i = 0; i < pattern->count && !route->is_raw; i++) {
        if (pattern->segments[i].kind == SEGMENT_TEXT)
            continue;
        route->fields[part] = field_of(row->type, &pattern->segments[i]);
        if (!route->fields[part++])
            return "a part of the path is no field of the message, or one that cannot be given as "
                   "text";
    }
    return NULL;
}

static bool fill_in(struct http_site *site, const tr_http_options *from)
{
    tr_http_options *options = &site->options;
    if (from)
        *options = *from;
    if (options->ws_ping_ns < 0 || options->ws_message_max > TR_PAYLOAD_MAX)
        return false;
    if (options->head_ns < 0 || options->body_ns < 0 || options->keep_ns < 0 ||
        options->later_ns < 0 || options->head_max > TR_FRAME_MAX || options->headers_max > 10000 ||
        options->body_max > TR_PAYLOAD_MAX)
        return false;
    if (options->streams_max > 10000)
        return false;
    if (!options->streams_max)
        options->streams_max = TR_HTTP2_STREAMS_MAX;
    if (!options->head_max)
        options->head_max = TR_HTTP_HEAD_MAX;
    if (!options->headers_max)
        options->headers_max = TR_HTTP_HEADERS_MAX;
    if (!options->body_max)
        options->body_max = TR_HTTP_BODY_MAX;
    if (!options->head_ns)
        options->head_ns = TR_HTTP_HEAD_NS;
    if (!options->body_ns)
        options->body_ns = TR_HTTP_BODY_NS;
    if (!options->compress_min)
        options->compress_min = TR_HTTP_COMPRESS_MIN;
    if (!options->parts_max)
        options->parts_max = TR_HTTP_FORM_PARTS_MAX;
    if (!options->later_ns)
        options->later_ns = TR_HTTP_LATER_NS;
    if (!options->keep_ns)
        options->keep_ns = TR_HTTP_KEEP_NS;
    if (!options->ws_message_max)
        options->ws_message_max = TR_WS_MESSAGE_MAX;
    if (!options->ws_ping_ns)
        options->ws_ping_ns = TR_WS_PING_NS;
    site->limits = (struct http_limits){options->head_max, options->headers_max};
    return true;
}

/* Adds the routes of a behavior, the most specific first. Returns NULL, or an error text. */
static const char *routes_add(struct http_site *site, const tr_behavior *behavior,
                              const tr_handler **row)
{
    for (size_t i = 0; i < behavior->handler_count; i++) {
        *row = &behavior->handlers[i];
        if (!(*row)->path) {
            if (is_raw((*row)->type) && !site->rest)
                site->rest = *row;
            if (is_message((*row)->type) && !site->messages)
                site->messages = *row;
            continue;
        }
        struct http_route route;
        const char *why = route_make(&route, *row);
        if (why)
            return why;
        site->has_websockets |= route.method == METHOD_WEBSOCKET;
        uint32_t at = site->route_count++;
        while (at && tr__http_pattern_compare(&site->routes[at - 1].pattern, &route.pattern) > 0) {
            site->routes[at] = site->routes[at - 1];
            at--;
        }
        site->routes[at] = route;
    }
    *row = NULL;
    return site->route_count || site->rest ? NULL
                                           : "the behavior has no path, and no tr_http_request";
}

/* Returns how many bytes a copy of the origins needs. */
static size_t origins_size(const char *const *origins)
{
    size_t size = 0;
    for (; origins && *origins; origins++)
        size += sizeof *origins + strlen(*origins) + 1;
    return size ? size + sizeof *origins : 0;
}

/* Copies the origins to `memory`, which must have space for origins_size bytes. */
static const char *const *origins_copy(const char *const *origins, char *memory)
{
    size_t count = 0;
    while (origins[count])
        count++;
    char **copy = (char **)(void *)memory;
    char *to = memory + (count + 1) * sizeof *copy;
    for (size_t i = 0; i < count; i++) {
        copy[i] = to;
        to = stpcpy(to, origins[i]) + 1;
    }
    copy[count] = NULL;
    return (const char *const *)copy;
}

static size_t text_size(const char *text)
{
    return text ? strlen(text) + 1 : 0;
}

tr_status tr__http_site_new(const struct memory_source *source, const tr_http_options *options,
                            const tr_behavior *behavior, struct http_site **made,
                            const tr_handler **row, const char **why)
{
    size_t origins = 0, server = 0, title = 0;
    size_t size = sizeof(struct http_site) + behavior->handler_count * sizeof(struct http_route);
    *row = NULL;
    *why = "the behavior was compiled for another version of the library";
    if (behavior->handler_size != sizeof(tr_handler))
        return TR_INVALID_ARGUMENT;
    if (options) {
        origins = origins_size(options->origins);
        server = text_size(options->server);
        title = text_size(options->openapi);
    }
    struct http_site *site = source_resize(source, NULL, size + origins + server + title);
    if (!site)
        return TR_NO_MEMORY;
    *site = (struct http_site){.behavior = behavior};
    *why = "an option of HTTP is out of its range";
    if (fill_in(site, options))
        *why = routes_add(site, behavior, row);
    if (*why) {
        source_resize(source, site, 0);
        return TR_INVALID_ARGUMENT;
    }
    if (server)
        site->server = memcpy((char *)site + size + origins, options->server, server);
    site->options.openapi =
        title ? memcpy((char *)site + size + origins + server, options->openapi, title) : NULL;
    site->options.origins = origins ? origins_copy(options->origins, (char *)site + size) : NULL;
    site->options.server = site->server;
    *made = site;
    return TR_OK;
}

const struct http_route *tr__http_site_find(const struct http_site *site, enum http_method method,
                                            const struct http_path *path,
                                            const struct http_route **other, char *allow)
{
    enum http_method wanted = method == METHOD_HEAD ? METHOD_GET : method;
    bool has[NAMES] = {false};
    *other = NULL;
    for (uint32_t i = 0; i < site->route_count; i++) {
        const struct http_route *route = &site->routes[i];
        if (!tr__http_pattern_fits(&route->pattern, path))
            continue;
        if (route->method == wanted)
            return route;
        *other = *other ? *other : route;
        has[route->method] = true;
    }
    has[METHOD_GET] |= has[METHOD_WEBSOCKET];
    strcpy(allow, has[METHOD_GET] ? "GET, HEAD, " : "");
    for (size_t i = METHOD_POST; i <= METHOD_DELETE; i++) {
        if (has[i])
            strcat(strcat(allow, names[i]), ", ");
    }
    strcat(allow, "OPTIONS");
    return NULL;
}
