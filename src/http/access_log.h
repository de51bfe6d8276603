/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The access log: one line for each request, written when the turn of the request has ended. Before
 * that the status of the answer is not certain, because a turn may end by a failure, or in the
 * middle of a verb. Owner only.
 *
 *     127.0.0.1:51234 POST /upload 413 61 102 us
 */
#ifndef HTTP_ACCESS_LOG_H
#define HTTP_ACCESS_LOG_H

#include "http/request.h"

/**
 * Returns how many bytes of a target are logged: only its path, because a query may have secrets,
 * such as the tokens of gateways.
 */
int tr__http_logged_size(const char *target);
/**
 * If the option .logs is set, notes method and path of a request for its line in the access log,
 * because the head of the request is no longer in memory when the turn ends. In the turn of the
 * request. Does not wait.
 */
void tr__http_access_note(struct http_request *request);
/**
 * Writes the line of a request to the access log, if the option .logs is set. The status 0 means
 * that nothing was answered, because the client was gone. Does not wait.
 */
void tr__http_access_log(const struct http_request *request, const struct channel *channel);

#endif
