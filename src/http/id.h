/* SPDX-License-Identifier: Apache-2.0 */
/** Ids of requests: X-Request-Id in and out. Owner only. */
#ifndef HTTP_ID_H
#define HTTP_ID_H

#include "http/request.h"

/** Gives a request its id, and the turn a causal id of its own. The answer will have the id as a header. */
void tr__http_request_identify(struct http_request *request);

#endif
