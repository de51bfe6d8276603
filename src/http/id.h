/* SPDX-License-Identifier: Apache-2.0 */
/** Ids of requests: takes X-Request-Id from a request, and puts it into the answer. Owner only. */
#ifndef HTTP_ID_H
#define HTTP_ID_H

#include "http/request.h"

enum { HTTP_ID_MAX = 128 /* most bytes of an id that a client gives */ };

/**
 * Gives an id to a request, and a new causal id to its turn. The answer will have the request's id
 * as a header.
 */
void tr__http_request_identify(struct http_request *request);

#endif
