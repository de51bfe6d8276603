/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Routing: finds the row of a request, and calls the handler of that row. Answers the requests that
 * need no row, such as /healthz. Sessions of HTTP/1.1 and streams of HTTP/2 use it.
 */
#ifndef HTTP_ROUTING_H
#define HTTP_ROUTING_H

#include <troupe/behavior.h>

struct http_request;

/**
 * Finds the row of a request whose head was parsed, and calls its handler. Then completes what the
 * handler has left open, such as the answer. `refusal` is the status with which the head was
 * refused, or 0 if the head was not refused. In a turn. Waits.
 */
tr_next tr__http_request_run(struct http_request *request, void *state, int refusal);

#endif
