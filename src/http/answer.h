/* SPDX-License-Identifier: Apache-2.0 */
/** Writes the heads and bodies of answers, and errors as JSON. Owner only. */
#ifndef HTTP_ANSWER_H
#define HTTP_ANSWER_H

#include "http/request.h"

/** Whether a text may be the value of a header. */
bool tr__http_is_clean(const char *text);
/**
 * Sends the head of an answer. `length` is the length of the body, or -1 for a body in chunks. Adds
 * the headers of tr_http_set and of `response`, which may be NULL. Waits.
 */
void tr__http_answer_head(struct http_request *request, int status, const char *type,
                          int64_t length, const tr_http_response *response);
/** Sends a whole answer, with this body. Waits. */
void tr__http_answer(struct http_request *request, int status, const char *type, tr_bytes body,
                     const tr_http_response *response);
/** Answers with a message as JSON. Returns TR_OK, or the status of tr_json_write. Waits. */
tr_status tr__http_answer_json(struct http_request *request, int status, const tr_type *type,
                               const void *message);
/** Answers with an error as JSON. `allow` is the value of the header Allow, or NULL. Waits. */
void tr__http_answer_error(struct http_request *request, int status, const char *text,
                           const char *allow);
/**
 * Answers with an error although no whole request was read. The caller must end the connection. If
 * there is no memory, sends nothing. Does not wait.
 */
void tr__http_answer_bare(struct channel *channel, int status);
/**
 * Answers a request whose turn has ended without an answer with an error. If there is no memory,
 * sends nothing. Does not wait.
 */
void tr__http_answer_last(struct http_request *request, int status);
/**
 * Writes the body of an error, which is JSON, to `to`, and returns its size. The row of `request`
 * decides the form of the JSON (see http/face.h); `request` may be NULL. If the text is NULL or
 * does not fit, writes the reason phrase of the status instead.
 */
size_t tr__http_error_write(const struct http_request *request, int status, const char *text,
                            char *to, size_t size);
/** Returns the reason phrase of a status. */
const char *tr__http_reason(int status);

#endif
