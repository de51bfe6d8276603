/* SPDX-License-Identifier: Apache-2.0 */
/** Collects the head of a request of HTTP/2, field by field. Owner only. */
#ifndef HTTP_H2_HEAD_H
#define HTTP_H2_HEAD_H

#include "http/request.h"

/** Adds a field to the head of a stream's request. Fails with TR_NO_MEMORY. */
TR_MUST_CHECK tr_status tr__h2_head_add(struct h2_stream *stream, const struct http_limits *limits,
                                        tr_bytes name, tr_bytes value);
/** Whether the request has no field Host, or Host has the same value as :authority. */
bool tr__h2_head_agrees(const struct h2_stream *stream);
/**
 * Makes request->head from the fields of the stream, in scratch memory of the turn. Returns 0, or the status with which
 * the request is refused, as tr__http_head_parse does.
 */
int tr__h2_head_parse(struct h2_stream *stream, struct http_request *request);

#endif
