/* SPDX-License-Identifier: Apache-2.0 */
/** Reads the bodies of requests while they arrive. Owner only. */
#ifndef HTTP_BODY_H
#define HTTP_BODY_H

#include "http/request.h"

/**
 * Prepares to read the body of a request whose head was parsed. The unread input of the channel
 * must begin with the first byte after the head.
 */
void tr__http_body_begin(struct http_request *request, char *head_bytes, size_t head_size);
/**
 * Reads the next piece. Returns false if the body has ended. If the body cannot be read, ends the
 * request with 400, 408 or 413, and ends the turn. Waits.
 */
bool tr__http_body_read(struct http_request *request, tr_bytes *bytes);
/** Answers the request with this status, because its body cannot be read, and ends the turn. */
_Noreturn void tr__http_body_fail(struct http_request *request, int status, const char *text);
/** Reads the rest of the body as a whole. */
tr_bytes tr__http_body_all(struct http_request *request, size_t max);
/**
 * Reads the rest of the body as a whole, and decodes its Content-Encoding. Ends the request with
 * 415 if the encoding is not supported, with 413 if the body is too large, with 400 if it is
 * malformed.
 */
tr_bytes tr__http_body_plain(struct http_request *request, size_t max);
/**
 * Reads and drops the rest of the body, so that the connection can be kept. Returns false if the
 * rest is too long. Waits.
 */
bool tr__http_body_drop(struct http_request *request);
/**
 * Whether the rest of the body is so small that reading it, to keep the connection, is worth the
 * time.
 */
bool tr__http_body_is_small(const struct http_request *request);

#endif
