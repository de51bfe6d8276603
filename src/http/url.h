/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Reads URLs of HTTP and WebSocket, and resolves references against them (RFC 3986). Pure
 * functions.
 *
 *     https://example.org:8443/a/b?c=d#e     scheme, host, port, target "/a/b?c=d"; the fragment is dropped
 *
 * A URL with a user, a space, a control character or a byte above 0x7e is refused, because two programs could find
 * different hosts in such a URL.
 */
#ifndef HTTP_URL_H
#define HTTP_URL_H

#include <troupe/limits.h>
#include <troupe/status.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HTTP_URL_MAX = 8192 /* the longest URL, in bytes */ };

struct http_url {
    bool is_tls;
    bool is_websocket; /* the scheme is ws or wss */
    uint16_t port;
    char host[TR_HOST_MAX + 1];    /* the host in lower case; an IPv6 address with its brackets */
    char address[TR_HOST_MAX + 8]; /* "host:port" */
    /* value of the header Host: the host, and the port if it is not the default of the scheme */
    char authority[TR_HOST_MAX + 8];
    char target[HTTP_URL_MAX + 2]; /* the path and the query */
};

/** Reads an absolute URL. Returns TR_OK, TR_INVALID_ARGUMENT or TR_TOO_LARGE. */
TR_MUST_CHECK tr_status tr__http_url_read(const char *text, struct http_url *url);
/**
 * Reads a reference, absolute or relative, such as a Location that came from `base`. `url` must not be `base`. Returns
 * the statuses of tr__http_url_read.
 */
TR_MUST_CHECK tr_status tr__http_url_resolve(const struct http_url *base, const char *reference,
                                             struct http_url *url);
/** Whether two URLs have the same scheme, host and port. */
bool tr__http_url_is_same_origin(const struct http_url *one, const struct http_url *other);
/** Writes a URL. `text` has HTTP_URL_TEXT_MAX bytes. */
void tr__http_url_print(const struct http_url *url, char *text);
enum { HTTP_URL_TEXT_MAX = HTTP_URL_MAX + TR_HOST_MAX + 32 };

#endif
