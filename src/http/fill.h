/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Makes messages of requests: for raw rows, and for typed rows from the path, the query and a body
 * of JSON. Owner only.
 */
#ifndef HTTP_FILL_H
#define HTTP_FILL_H

#include "http/request.h"

/**
 * Makes the message of a typed row. Returns false if the request was refused. Waits for the body.
 */
bool tr__http_fill_typed(struct http_request *request);
/** Makes the message of a raw row. */
void tr__http_fill_raw(struct http_request *request);
/** Returns a part of the path by its number, decoded. */
const char *tr__http_part(struct http_request *request, uint32_t number);

#endif
