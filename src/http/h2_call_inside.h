/* SPDX-License-Identifier: Apache-2.0 */
/** The records of calls of HTTP/2. Only the files http/h2_call*.c and http/h2_client.c include this. Owner only. */
#ifndef HTTP_H2_CALL_INSIDE_H
#define HTTP_H2_CALL_INSIDE_H

#include "http/h2_inside.h"
#include "http/head.h"

struct http_conn;

/**
 * A connection to a server of HTTP/2. base.all is the list of its calls, and base.streams.open
 * counts them.
 */
struct h2_client {
    struct h2_session base; /* must be the first member */
    struct http_conn *conn; /* NULL: forgotten */
    /* why the connection has ended; TR_OK: it has not ended */
    tr_status status;
    const char *why;  /* text about the status; NULL: there is none */
    tr_time heard_ns; /* when bytes have last come */
    bool is_pinged;   /* a ping was sent, and no byte has come since then */
};

/** A call: a request and its answer, on one stream of HTTP/2. */
struct h2_call {
    struct list link; /* link in h2_client.base.all */
    struct h2_client *client;
    int32_t id;             /* id of the stream; 0: the request was not sent */
    struct tr_self *waiter; /* the turn that waits for an event of the call; NULL: none waits */
    tr_time asked_ns;
    tr_status status;    /* why the call has failed; TR_OK: the call has not failed */
    const char *why;     /* text about the status; NULL: there is none */
    bool is_unprocessed; /* the server says that it has not processed the call */
    bool was_reset;      /* the server has sent RST_STREAM */
    uint32_t code;       /* of it */
    bool is_closed;      /* nghttp2 has closed the stream */
    bool is_input_over;  /* the server has sent the whole answer */
    bool has_continue;   /* 100 has come */
    bool has_final;      /* the head of the answer has come */
    int number;          /* the status of HTTP in the head that is being read */
    uint32_t interims;   /* number of interim heads (1xx) that have come */
    uint32_t field_count;
    struct http_limits limits;
    /* the head of the answer in the form of HTTP/1.1, without the empty line at its end */
    struct net_buffer head;
    struct net_buffer in; /* bytes of the body that have come and were not read */
    /* how many bytes at the beginning of `in` the turn has borrowed; it returns them with the next read */
    size_t lent;
    const unsigned char *out;
    size_t out_size;
    bool is_last; /* the bytes of `out` are the end of the body */
};

static inline struct h2_client *h2_client_of(const struct channel *channel)
{
    return (struct h2_client *)(void *)channel->rare->streams;
}

static inline struct h2_call *h2_call_at(const struct list *link)
{
    return LIST_OWNER((uintptr_t)link, struct h2_call, link);
}

#endif
