/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Serves requests to durable actors by POST and GET: makes a message of the request, and an answer
 * of the reply. Owner only.
 */
#ifndef GATEWAY_SERVE_H
#define GATEWAY_SERVE_H

#include "gateway/visit.h"

/** Asks the actor of a visit that was admitted, and answers the request with the reply. Waits. */
void tr__serve_message(struct visit *visit);

#endif
