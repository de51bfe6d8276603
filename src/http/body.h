/* SPDX-License-Identifier: Apache-2.0 */
/** Bodies of requests, read as they come. Owner only. */
#ifndef HTTP_BODY_H
#define HTTP_BODY_H

#include "http/request.h"

/** Prepares the body of a request whose head was parsed; the input stands behind that. */
void tr__http_body_begin(struct http_request *request, char *head_bytes, size_t head_size);
/** Reads the next piece. False: that was all. Ends the request with 400, 408 or 413. Waits. */
bool tr__http_body_read(struct http_request *request, tr_bytes *bytes);
/** Ends the request with a status, because its body cannot be read, and the turn. */
_Noreturn void tr__http_body_fail(struct http_request *request, int status, const char *text);
/** Reads the rest as a whole. */
tr_bytes tr__http_body_all(struct http_request *request, size_t max);
/** As tr__http_body_all, without Content-Encoding: 415 if the body has one that is not wanted, 413 and 400 if it is too large or malformed. */
tr_bytes tr__http_body_plain(struct http_request *request, size_t max);
/** Reads and drops what no handler has read, so that the connection can be kept. False: it is too much. Waits. */
bool tr__http_body_drop(struct http_request *request);
/** Whether so little of the body is left that it will be dropped. */
bool tr__http_body_is_small(const struct http_request *request);

#endif
