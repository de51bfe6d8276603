/* SPDX-License-Identifier: Apache-2.0 */
/** Collects the head of a request of HTTP/2, field by field. Owner only. */
#ifndef HTTP_H2_HEAD_H
#define HTTP_H2_HEAD_H

#include "http/request.h"

/** Adds a field. Fails with TR_NO_MEMORY. */
TR_MUST_CHECK tr_status tr__h2_head_add(struct h2_stream *stream, const struct http_limits *limits,
                                        tr_bytes name, tr_bytes value);
/** Whether the field Host is missing or agrees with :authority. */
bool tr__h2_head_agrees(const struct h2_stream *stream);
/**
 * Makes the head of a request in scratch memory of its turn. Returns 0 or the status of a refusal, as
 * tr__http_head_parse does.
 */
int tr__h2_head_parse(struct h2_stream *stream, struct http_request *request);

#endif
