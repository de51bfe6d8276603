/* SPDX-License-Identifier: Apache-2.0 */
/** Sessions: how heads become turns, and what becomes of a connection when a turn ends. */
#ifndef HTTP_SESSION_H
#define HTTP_SESSION_H

#include "net/protocol.h"

struct http_request;

extern const struct tr_protocol tr__http_protocol;

/**
 * Finds the row of a request whose head was parsed, and calls its handler. Afterwards does what the
 * handler has left undone. `refusal` is the status of a head that was refused, or 0. In a turn.
 * Waits.
 */
tr_next tr__http_request_run(struct http_request *request, void *state, int refusal);

#endif
