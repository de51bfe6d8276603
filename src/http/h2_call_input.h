/* SPDX-License-Identifier: Apache-2.0 */
/** What comes for calls of HTTP/2, and what leaves. Only files http/h2_*.c include this. Owner only. */
#ifndef HTTP_H2_CALL_INPUT_H
#define HTTP_H2_CALL_INPUT_H

#include "http/h2_call_inside.h"

/** Sets what nghttp2 calls when something comes, and when data leave. */
void tr__h2_call_set(nghttp2_session_callbacks *callbacks);
/** Notes why a call fails, if that is not known, and resets its stream. */
void tr__h2_call_fail(struct h2_call *call, tr_status status, const char *why, uint32_t code);
/** Lets the turn continue that waits for a call. */
void tr__h2_call_wake(struct h2_call *call);
/** nghttp2 asks how much of a body there is now. */
ssize_t tr__h2_call_on_read(nghttp2_session *engine, int32_t id, uint8_t *to, size_t max,
                            uint32_t *flags, nghttp2_data_source *source, void *context);

#endif
