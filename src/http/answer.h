/* SPDX-License-Identifier: Apache-2.0 */
/** Answers: their heads, their bodies, and errors as JSON. Owner only. */
#ifndef HTTP_ANSWER_H
#define HTTP_ANSWER_H

#include "http/request.h"

/** Whether a text may be the value of a header. */
bool tr__http_is_clean(const char *text);
/**
 * Sends the head of an answer. `length` is the length of the body, -1: chunks. Further headers come
 * from tr_http_set and from `response`, which may be NULL. Waits.
 */
void tr__http_answer_head(struct http_request *request, int status, const char *type,
                          int64_t length, const tr_http_response *response);
/** Answers with a body as a whole. Waits. */
void tr__http_answer(struct http_request *request, int status, const char *type, tr_bytes body,
                     const tr_http_response *response);
/** Answers with a message as JSON. Returns TR_OK, or the status of tr_json_write. Waits. */
tr_status tr__http_answer_json(struct http_request *request, int status, const tr_type *type,
                               const void *message);
/** Answers with an error as JSON. `allow` is the value of the header Allow, or NULL. Waits. */
void tr__http_answer_error(struct http_request *request, int status, const char *text,
                           const char *allow);
/** Answers with an error, outside of a turn: without memory nothing is sent. The connection is not kept. Does not wait. */
void tr__http_answer_bare(struct channel *channel, int status);
/** Writes an error as JSON. Returns its size. If the text does not fit, the reason of the status takes its place. */
size_t tr__http_error_write(int status, const char *text, char *to, size_t size);
/** Returns the reason phrase of a status. */
const char *tr__http_reason(int status);

#endif
