/* SPDX-License-Identifier: Apache-2.0 */
/** Answers that are sent as gzip. Owner only. */
#ifndef HTTP_COMPRESS_H
#define HTTP_COMPRESS_H

#include "http/request.h"

/**
 * Replaces the body of an answer by its gzip form, if bodies of this type become smaller and the
 * client accepts gzip. Then also sets the headers for it. Returns `response`, or a copy of it whose
 * ETag is weak. Without memory the body is sent as it is.
 */
const tr_http_response *tr__http_compress(struct http_request *request, const char *type,
                                          const tr_http_response *response, tr_bytes *body);

#endif
