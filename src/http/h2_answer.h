/* SPDX-License-Identifier: Apache-2.0 */
/** Answers in HTTP/2. Owner only. */
#ifndef HTTP_H2_ANSWER_H
#define HTTP_H2_ANSWER_H

#include "http/request.h"

/**
 * Sends the head of an answer whose body follows in pieces. The caller has set the status and the
 * length. In the turn of the request. Does not wait.
 */
void tr__h2_answer_head(struct http_request *request, const char *type,
                        const tr_http_response *response);
/**
 * Sends a whole answer. In the turn of the request. Waits until all of the answer is in frames, or
 * the client cannot read it any more.
 */
void tr__h2_answer(struct http_request *request, const char *type, tr_bytes body,
                   const tr_http_response *response);
/**
 * Answers a stream whose turn has ended without an answer. `request` is NULL if the turn has failed
 * before the request was read. Does not wait.
 */
void tr__h2_answer_bare(struct h2_stream *stream, struct http_request *request, int status);

#endif
