/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A site: the rows of a behavior that have paths, checked and sorted, and the HTTP options of an
 * endpoint. A site never changes.
 */
#ifndef HTTP_SITE_H
#define HTTP_SITE_H

#include <troupe/http.h>

#include "http/head.h"
#include "http/path.h"
#include "mem/source.h"

struct http_route {
    const tr_handler *row;
    enum http_method method;
    struct http_pattern pattern;
    /* the row is TR_WEBSOCKET for tr_ws_message; every request for a WebSocket may use it */
    bool is_message;
    bool is_raw; /* the message of the row is tr_http_request */
    /* for a typed row: the field of the message that each part of the path fills */
    const tr_field *fields[TR_HTTP_PARTS_MAX];
};

struct http_site {
    tr_http_options options; /* the options with their defaults filled in */
    struct http_limits limits;
    const tr_behavior *behavior; /* the behavior to which these rows belong */
    const tr_handler *rest;      /* handler of TR_ON(tr_http_request, ...); NULL: none */
    const tr_handler *messages;  /* handler of TR_ON(tr_ws_message, ...); NULL: none */
    char *server;        /* value of the header Server, in memory behind the routes; NULL: none */
    bool has_websockets; /* at least one of the routes is TR_WEBSOCKET */
    uint32_t route_count;
    struct http_route routes[];
};

/**
 * Makes the site of a behavior. `options` has all members that this library knows. If `options` is NULL, all options
 * have their defaults. Fails with TR_NO_MEMORY, or with TR_INVALID_ARGUMENT if an option or a row is invalid. Then *why
 * is the error text, and *row is the row, or NULL if an option is invalid.
 */
TR_MUST_CHECK tr_status tr__http_site_new(const struct memory_source *source,
                                          const tr_http_options *options,
                                          const tr_behavior *behavior, struct http_site **made,
                                          const tr_handler **row, const char **why);

/**
 * Finds the row for a path and a method; for HEAD, the row of GET. Returns NULL if there is no such
 * row. Then *other is the first row for this path with another method, or NULL. All methods of rows
 * for this path are written to `allow`, which has at least HTTP_ALLOW_MAX bytes.
 */
const struct http_route *tr__http_site_find(const struct http_site *site, enum http_method method,
                                            const struct http_path *path,
                                            const struct http_route **other, char *allow);
enum { HTTP_ALLOW_MAX = 64 };

#endif
