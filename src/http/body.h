/* SPDX-License-Identifier: Apache-2.0 */
/** Bodies of requests, read as they come. Owner only. */
#ifndef HTTP_BODY_H
#define HTTP_BODY_H

#include "http/request.h"

/** Prepares the body of a request whose head was parsed; the unread input begins after the head. */
void tr__http_body_begin(struct http_request *request, char *head_bytes, size_t head_size);
/** Reads the next piece. False: the body has ended. On an error ends the request with 400, 408 or 413. Waits. */
bool tr__http_body_read(struct http_request *request, tr_bytes *bytes);
/** Ends the request with a status, because its body cannot be read. Ends the turn too. */
_Noreturn void tr__http_body_fail(struct http_request *request, int status, const char *text);
/** Reads the rest of the body as a whole. */
tr_bytes tr__http_body_all(struct http_request *request, size_t max);
/**
 * Reads the rest of the body as a whole, and decodes its Content-Encoding. Ends the request with 415 if the encoding is
 * not wanted, with 413 or 400 if the body is too large or malformed.
 */
tr_bytes tr__http_body_plain(struct http_request *request, size_t max);
/** Reads and drops the rest of the body, so that the connection can be kept. False: it is too long. Waits. */
bool tr__http_body_drop(struct http_request *request);
/** Whether so little of the body is left that it will be dropped. */
bool tr__http_body_is_small(const struct http_request *request);

#endif
