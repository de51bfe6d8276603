/* SPDX-License-Identifier: Apache-2.0 */
/** Sessions: how heads become turns, and what becomes of a connection when a turn ends. */
#ifndef HTTP_SESSION_H
#define HTTP_SESSION_H

#include "net/protocol.h"

extern const struct tr_protocol tr__http_protocol;

#endif
