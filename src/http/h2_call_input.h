/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Handles the input and the output of calls of HTTP/2. Only the files http/h2_*.c include this
 * header. Owner only.
 */
#ifndef HTTP_H2_CALL_INPUT_H
#define HTTP_H2_CALL_INPUT_H

#include "http/h2_call_inside.h"

/** Sets the functions that nghttp2 calls for input and for data that it sends. */
void tr__h2_call_set(nghttp2_session_callbacks *callbacks);
/**
 * Makes a call fail: notes the status and the reason, and resets its stream. A reason that was
 * noted before stays.
 */
void tr__h2_call_fail(struct h2_call *call, tr_status status, const char *why, uint32_t code);
/** Wakes the turn that waits for a call. */
void tr__h2_call_wake(struct h2_call *call);
/** nghttp2 calls this to get the body of a request. Returns how many bytes can be sent now. */
ssize_t tr__h2_call_on_read(nghttp2_session *engine, int32_t id, uint8_t *to, size_t max,
                            uint32_t *flags, nghttp2_data_source *source, void *context);

#endif
