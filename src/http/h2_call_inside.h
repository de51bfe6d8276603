/* SPDX-License-Identifier: Apache-2.0 */
/** The records of calls of HTTP/2. Only the files http/h2_call*.c and http/h2_client.c include this. Owner only. */
#ifndef HTTP_H2_CALL_INSIDE_H
#define HTTP_H2_CALL_INSIDE_H

#include "http/h2_inside.h"
#include "http/head.h"

struct http_conn;

/** The session of a client. base.all has its calls, and base.streams.open counts them. */
struct h2_client {
    struct h2_session base; /* must be first */
    struct http_conn *conn; /* NULL: forgotten */
    tr_status status;       /* why it has ended; TR_OK: it has not */
    const char *why;        /* more about the status; NULL: the status says all */
    tr_time heard_ns;       /* when bytes came last */
    bool is_pinged;         /* a ping was sent, and nothing has come since */
};

/** A stream: a request and its answer. */
struct h2_call {
    struct list link; /* in h2_client.base.all */
    struct h2_client *client;
    int32_t id;             /* 0: the request was not sent */
    struct tr_self *waiter; /* the turn that waits; NULL: none does */
    tr_time asked_ns;
    tr_status status;    /* why it failed; TR_OK: it has not */
    const char *why;     /* more about the status; NULL: the status says all */
    bool is_unprocessed; /* the server says that it has not processed the call */
    bool was_reset;      /* RST_STREAM has come */
    uint32_t code;       /* of it */
    bool is_closed;      /* nghttp2 has closed the stream */
    bool is_input_over;  /* the server has sent the whole answer */
    bool has_continue;   /* 100 has come */
    bool has_final;      /* the head of the answer has come */
    int number;          /* HTTP status of the current head */
    uint32_t interims;   /* how many heads of 1xx have come */
    uint32_t field_count;
    struct http_limits limits;
    struct net_buffer head; /* in the form of HTTP/1.1, without its last line */
    struct net_buffer in;   /* bytes of the body that were not read */
    size_t lent;            /* how many of these a turn has borrowed, until it reads again */
    const unsigned char *out;
    size_t out_size;
    bool is_last; /* `out` is the end of the body */
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
