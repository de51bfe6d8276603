/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Handles an ask to the client of HTTP: its request, its redirects and its answer. Runs in turns of
 * the client.
 */
#ifndef HTTP_CLIENT_CALL_H
#define HTTP_CLIENT_CALL_H

#include "http/client.h"

/** How an answer is passed to the program. */
struct http_stream_wish {
    bool streams; /* the body is not read now, because the program reads it by tr_http_receive */
    tr_time idle_ns;
    uint64_t body_max;
    const char *url;
};

/**
 * Whether a program may send this header: its name and value are valid, and the library does not
 * write this header itself.
 */
bool tr__http_field_is_good(const struct tr_http_field *field);
/** Sends the request of a tr_http_call_, follows redirects, and replies. In a turn of the client. */
tr_status tr__http_client_call(struct tr_self *self, struct http_client *client,
                               const struct tr_http_call_ *message, const char **why);
/**
 * Reads the body of an answer and replies with all of it; or makes a stream of the answer and replies with the stream.
 */
tr_status tr__http_client_reply(struct tr_self *self, struct http_client *client,
                                struct http_flow *flow, const struct http_answer_head *head,
                                const struct http_stream_wish *wish);
#endif
