/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Sessions of HTTP: begins a turn for each head, and decides what happens to the connection when
 * the turn ends.
 */
#ifndef HTTP_SESSION_H
#define HTTP_SESSION_H

#include "net/protocol.h"

struct http_request;

extern const struct tr_protocol tr__http_protocol;

/**
 * Finds the row of a request whose head was parsed, and calls its handler. Then completes what the
 * handler has left open, such as the answer. `refusal` is the status with which the head was
 * refused, or 0 if the head was not refused. In a turn. Waits.
 */
tr_next tr__http_request_run(struct http_request *request, void *state, int refusal);

#endif
