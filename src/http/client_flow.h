/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A flow: one request and its answer on a connection. The answer may begin to come while the
 * request is still being written. A flow belongs to a turn, or to a stream (struct http_stream).
 * Several turns use a stream, one after the other. Owner only.
 */
#ifndef HTTP_CLIENT_FLOW_H
#define HTTP_CLIENT_FLOW_H

#include "http/chunk.h"
#include "http/client_hosts.h"
#include "http/head.h"

/** How the end of an answer's body is found. */
enum http_body_form {
    BODY_NONE,
    BODY_LENGTH,
    BODY_CHUNKS,
    BODY_REST /* the body ends when the connection ends */
};

struct http_flow {
    struct tr_self *self; /* the turn that uses the flow now */
    struct http_conn *conn;
    struct h2_call *call; /* the call of HTTP/2; NULL: the flow uses HTTP/1.1 */
    bool is_tls;
    tr_time deadline_ns;
    struct http_limits limits;
    /* text that says what is wrong with the answer; NULL: only the status says that */
    const char *why;
    /* The request. */
    bool is_head;    /* the request is HEAD, so the answer has no body */
    bool upgrades;   /* the request asks for an upgrade; then 101 is the status of a final answer */
    bool has_chunks; /* the request has a body, which is sent in chunks */
    /* how many bytes of the announced body were not sent yet; -1: the body is sent in chunks */
    int64_t to_send;
    bool is_sent; /* the whole request was sent */
    /* The answer. */
    bool has_begun; /* a byte of the final answer has come; a byte of 100 Continue does not count */
    bool has_any;   /* a byte of any answer has come; a byte of 100 Continue counts, too */
    bool has_final; /* the head of the final answer was read */
    bool keeps;     /* the server keeps the connection open */
    bool is_over;   /* the body of the answer was read to its end */
    /* Of HTTP/2. */
    bool is_reset;       /* the server has reset this stream of HTTP/2 */
    bool is_unprocessed; /* the server of HTTP/2 says that it has not processed the request */
    enum http_body_form form;
    uint64_t left; /* for BODY_LENGTH: how many bytes of the body were not read yet */
    struct http_chunk chunk;
};

/**
 * Opens a flow: takes a connection, and with HTTP/2 makes a call on it. The caller owns the flow.
 * Returns the statuses of tr__http_conn_take.
 */
TR_MUST_CHECK tr_status tr__http_flow_open(struct http_flow *flow, struct http_hosts *hosts,
                                           const struct http_wish *wish);
/**
 * Sends the head of a request. The caller gives it in the form of HTTP/1.1, also if the connection
 * uses HTTP/2. Returns the statuses of tr__http_flow_write.
 */
TR_MUST_CHECK tr_status tr__http_flow_ask(struct http_flow *flow, tr_bytes head);
/**
 * Writes bytes. Waits while the connection takes none. If this returns TR_CLOSED and has_begun is
 * set, the answer has begun to come, and the rest of the request need not be sent. TR_CLOSED
 * without has_begun, TR_TIMEOUT, TR_RESET, ...: the write has failed.
 */
TR_MUST_CHECK tr_status tr__http_flow_write(struct http_flow *flow, tr_bytes bytes);
/**
 * Writes a piece of the body, in the framing that the head has announced. TR_LIMIT: more bytes than
 * were announced.
 */
TR_MUST_CHECK tr_status tr__http_flow_send(struct http_flow *flow, tr_bytes bytes);
/** Ends the body. TR_INVALID_TRANSITION: fewer bytes were sent than were announced. */
TR_MUST_CHECK tr_status tr__http_flow_end(struct http_flow *flow);
/**
 * Waits for 100 Continue, at most TR_HTTP_CONTINUE_NS. If this returns TR_CLOSED and has_begun is
 * set, the final answer has come instead. Otherwise returns the statuses of tr__http_flow_head.
 */
TR_MUST_CHECK tr_status tr__http_flow_expect(struct http_flow *flow, struct http_answer_head *head);
/**
 * Reads the head of the final answer, and skips heads of interim answers (1xx). The texts of the
 * head are in scratch memory of the turn. Fails with TR_BAD_DATA, TR_TOO_LARGE, TR_CLOSED,
 * TR_RESET, TR_TIMEOUT, TR_NO_MEMORY.
 */
TR_MUST_CHECK tr_status tr__http_flow_head(struct http_flow *flow, struct http_answer_head *head);
/**
 * Reads the next piece of the body, at most `max` bytes. The piece is borrowed until the next read.
 * A piece without bytes says that the body has ended. Returns the statuses of tr__http_flow_head.
 */
TR_MUST_CHECK tr_status tr__http_flow_read(struct http_flow *flow, size_t max, tr_bytes *piece);
/**
 * Ends a flow whose answer was read. Keeps its connection for idle_ns, if it can carry another request; otherwise ends
 * it.
 */
void tr__http_flow_close(struct http_flow *flow, struct http_hosts *hosts, tr_time idle_ns);
/**
 * Ends a flow whose answer was not read to its end. With HTTP/1.1 ends the connection, too; with
 * HTTP/2 only the call.
 */
void tr__http_flow_drop(struct http_flow *flow, struct http_hosts *hosts, tr_status why);
/** Makes another turn, which waits for this flow, stop waiting. That turn gets an error. */
void tr__http_flow_cancel(struct http_flow *flow, struct tr_self *self);

#endif
