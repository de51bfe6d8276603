/* SPDX-License-Identifier: Apache-2.0 */
/** Compresses the bodies of answers with gzip. Owner only. */
#ifndef HTTP_COMPRESS_H
#define HTTP_COMPRESS_H

#include "http/request.h"

/**
 * If the client accepts gzip, and bodies of this type become smaller by it, replaces the body of an
 * answer by its gzip form and sets the headers for that. Returns `response`, or a copy of it with a
 * weak ETag. If there is no memory, the body stays as it is.
 */
const tr_http_response *tr__http_compress(struct http_request *request, const char *type,
                                          const tr_http_response *response, tr_bytes *body);

#endif
