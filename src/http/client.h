/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The client of HTTP: on each worker an actor has the connections to servers, and sends requests
 * for the other actors of that worker.
 *
 * tr_http_ask asks that actor. A turn of the actor handles each ask: it takes a connection
 * (client_hosts.h), sends the request and reads the answer (client_flow.h), follows redirects, and
 * replies. Many such turns may wait at the same time; none of them is a barrier. A stream is a
 * request or an answer whose body is sent or read piece by piece. No turn owns a stream: it is
 * found by its number, and each piece of the body is a separate ask.
 *
 * This actor must not fail, whatever a server or a program does. For this reason it allocates only
 * with functions that may return an error. Owner only.
 */
#ifndef HTTP_CLIENT_H
#define HTTP_CLIENT_H

#include <troupe/http_client.h>

#include "http/client_flow.h"
#include "http/client_hosts.h"

/** What an ask requests; bits of tr_http_call_.flags. */
enum {
    CALL_OPENS = 1,      /* the body of the request follows by tr_http_send */
    CALL_STREAMS = 2,    /* the reply has only the head of the answer; its body is read later */
    CALL_DOWNGRADES = 4, /* a redirect may lead from https to http */
    CALL_EXPECTS = 8,    /* Expect: 100-continue */
    CALL_INSECURE = 16,  /* any certificate is accepted */
    CALL_VERSION_1 = 32, /* only HTTP/1.1 is used */
    CALL_VERSION_2 = 64  /* only HTTP/2 is used */
};

TR_REQUEST(tr_http_call_, tr_http_answer, (str, url), (str, method), (str, type),
           (list(message(tr_http_field)), headers), (str, authorization), (bytes, body),
           (bool, has_body), (u64, head_max), (u64, body_max), (u32, redirects_max), (u32, flags),
           (i64, length), (u32, connections_max), (u32, waiting_max), (i64, idle_ns),
           (str, address), (str, trusts), (str, certificate), (str, key), (str, server_name));
TR_REQUEST(tr_http_send_, tr_done, (u64, number), (bytes, bytes));
TR_REQUEST(tr_http_finish_, tr_http_answer, (u64, number), (bool, streams));
TR_MESSAGE(tr_http_portion_, (bytes, bytes));
TR_REQUEST(tr_http_next_, tr_http_portion_, (u64, number), (u64, max));
TR_MESSAGE(tr_http_drop_, (u64, number));

/** A request or an answer whose body is under way. */
struct http_stream {
    struct http_stream *next;
    uint64_t number;
    bool is_busy;    /* a turn uses the stream now */
    tr_time due_ns;  /* when the stream ends if no turn uses it before */
    tr_time idle_ns; /* how long the connection is kept when the stream has ended */
    uint64_t body_max;
    char *url;
    struct http_flow flow;
};

/** The state of the actor that is the client. */
struct http_client {
    struct http_hosts hosts;
    struct http_stream *streams;
    uint64_t number_last;
    bool is_armed; /* the timer that ends unused connections and streams is armed */
};

/** Finds the client of this worker, or makes it. Fails with TR_STOPPING, TR_NO_MEMORY, TR_LIMIT. */
TR_MUST_CHECK tr_status tr__http_client_of(struct tr_self *self, uint64_t *ref);

/** Answers the ask that this turn handles with a failure: a status and a text. */
void tr__http_client_fail(struct tr_self *self, tr_status status, const char *text);
/** Returns the time at which the ask that this turn handles times out. */
tr_time tr__http_client_deadline(const struct tr_self *self);
/** Makes a stream, which becomes the owner of the flow of this turn. Fails with TR_NO_MEMORY. */
TR_MUST_CHECK tr_status tr__http_stream_new(struct tr_self *self, struct http_client *client,
                                            const struct http_flow *flow, tr_time idle_ns,
                                            uint64_t body_max, const char *url,
                                            struct tr_http_stream *handle);
/**
 * Arms the timer at which the client ends unused connections and streams, unless it is armed
 * already.
 */
void tr__http_client_arm(struct tr_self *self, struct http_client *client);

#endif
