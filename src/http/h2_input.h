/* SPDX-License-Identifier: Apache-2.0 */
/** Handles the input of a connection of HTTP/2. Owner only. */
#ifndef HTTP_H2_INPUT_H
#define HTTP_H2_INPUT_H

#include <stdint.h>

struct h2_session;
struct nghttp2_session_callbacks;

/** Sets the functions that nghttp2 calls for input. */
void tr__h2_input_set(struct nghttp2_session_callbacks *callbacks);
/**
 * Resets a stream because the client has broken a rule. Counts such resets, because too many of
 * them are a flood.
 */
void tr__h2_refuse(struct h2_session *session, int32_t id, uint32_t code);

#endif
