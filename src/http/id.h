/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Ids of requests: takes the value of X-Request-Id from a request, or makes one, and puts it into
 * the answer. Owner only.
 */
#ifndef HTTP_ID_H
#define HTTP_ID_H

#include "http/request.h"

enum { HTTP_ID_MAX = 128 /* the longest id that a client may give, in bytes */ };

/**
 * Gives an id to a request, and a causal id to its turn if the turn has none. The answer will have
 * the id of the request as a header.
 */
void tr__http_request_identify(struct http_request *request);

#endif
