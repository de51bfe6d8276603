/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Makes the messages of requests. Owner only.
 *
 * For a raw row the message is a tr_http_request. For a typed row the message is filled from the
 * path, the query and a body of JSON.
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
/** Returns the part of the path with this number, decoded. */
const char *tr__http_part(struct http_request *request, uint32_t number);

#endif
