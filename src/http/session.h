/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Sessions of HTTP: begins a turn for each head, and decides what happens to the connection when
 * the turn ends.
 */
#ifndef HTTP_SESSION_H
#define HTTP_SESSION_H

#include "net/protocol.h"

extern const struct tr_protocol tr__http_protocol;

#endif
