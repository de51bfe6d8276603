/* SPDX-License-Identifier: Apache-2.0 */
/** Requests to durable actors by POST and GET: from the fields of a message to the answer. Owner only. */
#ifndef GATEWAY_SERVE_H
#define GATEWAY_SERVE_H

#include "gateway/visit.h"

/** Asks the actor of a visit that was admitted, and answers. Waits. */
void tr__serve_message(struct visit *visit);

#endif
