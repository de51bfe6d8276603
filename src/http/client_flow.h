/* SPDX-License-Identifier: Apache-2.0 */
/**
 * One request and its answer on a connection: bytes that are written while the answer may come, heads and bodies that are
 * read. A flow belongs to a turn, or to a stream whose turns follow each other. Owner only.
 */
#ifndef HTTP_CLIENT_FLOW_H
#define HTTP_CLIENT_FLOW_H

#include "http/chunk.h"
#include "http/client_hosts.h"
#include "http/head.h"

/** How the body of an answer ends. */
enum http_body_form {
    BODY_NONE,
    BODY_LENGTH,
    BODY_CHUNKS,
    BODY_REST /* until the connection ends */
};

struct http_flow {
    struct tr_self *self; /* the turn that uses the flow now */
    struct http_conn *conn;
    struct h2_call *call; /* the stream of HTTP/2; NULL: HTTP/1.1 */
    bool is_tls;
    tr_time deadline_ns;
    struct http_limits limits;
    const char *why; /* what is wrong with the answer; NULL: the status says it */
    /* The request. */
    bool is_head;    /* HEAD: the answer has no body */
    bool upgrades;   /* the answer to an upgrade: 101 is final */
    bool has_chunks; /* the body of the request is sent in chunks */
    int64_t to_send; /* bytes that were announced and not sent yet; -1: chunks */
    bool is_sent;    /* all of the request was sent */
    /* The answer. */
    bool has_begun; /* a byte of the answer has come, after 100 Continue */
    bool has_any;   /* a byte of any answer has come */
    bool has_final; /* the head of the final answer was read */
    bool keeps;     /* the server keeps the connection */
    bool is_over;   /* the body of the answer was read */
    /* Of HTTP/2. */
    bool is_reset;       /* the server has reset this stream of HTTP/2 */
    bool is_unprocessed; /* the server says that it has not processed the request */
    enum http_body_form form;
    uint64_t left; /* bytes of a BODY_LENGTH that were not read yet */
    struct http_chunk chunk;
};

/**
 * Takes a connection, and with HTTP/2 a stream on it. The caller owns the flow. Returns the statuses of
 * tr__http_conn_take.
 */
TR_MUST_CHECK tr_status tr__http_flow_open(struct http_flow *flow, struct http_hosts *hosts,
                                           const struct http_wish *wish);
/**
 * Sends the head of a request, which is written as HTTP/1.1 for both versions. Returns the statuses of
 * tr__http_flow_write.
 */
TR_MUST_CHECK tr_status tr__http_flow_ask(struct http_flow *flow, tr_bytes head);
/**
 * Writes bytes; waits while the connection does not take them. TR_CLOSED with has_begun: the answer has begun to come,
 * and the rest of the request need not be sent. TR_TIMEOUT, TR_RESET, ...
 */
TR_MUST_CHECK tr_status tr__http_flow_write(struct http_flow *flow, tr_bytes bytes);
/** Writes a piece of the body, framed as the head has announced. TR_LIMIT: more bytes than were announced. */
TR_MUST_CHECK tr_status tr__http_flow_send(struct http_flow *flow, tr_bytes bytes);
/** Ends the body. TR_INVALID_TRANSITION: fewer bytes were sent than were announced. */
TR_MUST_CHECK tr_status tr__http_flow_end(struct http_flow *flow);
/**
 * Waits for 100 Continue, at most TR_HTTP_CONTINUE_NS. TR_CLOSED with has_begun: another answer has come. The statuses of
 * tr__http_flow_head.
 */
TR_MUST_CHECK tr_status tr__http_flow_expect(struct http_flow *flow, struct http_answer_head *head);
/**
 * Reads the final head of the answer, and skips heads of 1xx. Its texts are in scratch memory of the turn. TR_BAD_DATA,
 * TR_TOO_LARGE, TR_CLOSED, TR_RESET, TR_TIMEOUT, TR_NO_MEMORY.
 */
TR_MUST_CHECK tr_status tr__http_flow_head(struct http_flow *flow, struct http_answer_head *head);
/**
 * Reads the next piece of the body, at most `max` bytes, borrowed until the next read; no bytes: the body has ended.
 * The statuses of tr__http_flow_head.
 */
TR_MUST_CHECK tr_status tr__http_flow_read(struct http_flow *flow, size_t max, tr_bytes *piece);
/** Ends a flow whose answer was read, and keeps its connection for idle_ns if it can carry another request. */
void tr__http_flow_close(struct http_flow *flow, struct http_hosts *hosts, tr_time idle_ns);
/** Ends a flow before its answer was read. With it ends its connection, or its stream of HTTP/2. */
void tr__http_flow_drop(struct http_flow *flow, struct http_hosts *hosts, tr_status why);
/** Ends the wait of another turn for this flow, with an error. */
void tr__http_flow_cancel(struct http_flow *flow, struct tr_self *self);

#endif
