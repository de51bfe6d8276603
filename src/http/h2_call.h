/* SPDX-License-Identifier: Apache-2.0 */
/** The records of calls of HTTP/2. Only the files http/h2_call*.c and http/h2_client.c include this. Owner only. */
#ifndef HTTP_H2_CALL_H
#define HTTP_H2_CALL_H

#include "http/h2_client.h"
#include "http/h2_inside.h"

/** The session of a client. base.all has its calls, and base.streams.open counts them. */
struct h2_client {
    struct h2_session base; /* must be first */
    struct http_conn *conn; /* NULL: forgotten */
    tr_status status;       /* why it has ended; TR_OK: it has not */
    const char *why;        /* NULL: the status says it */
    tr_time heard_ns;       /* when something came last */
    bool is_pinged;         /* and has not answered */
};

/** A stream: a request and its answer. */
struct h2_call {
    struct list link; /* in h2_client.base.all */
    struct h2_client *client;
    int32_t id;             /* 0: it was not sent */
    struct tr_self *waiter; /* the turn that waits; NULL: none does */
    tr_time asked_ns;
    tr_status status;    /* why it failed; TR_OK: it has not */
    const char *why;     /* NULL: the status says it */
    bool is_unprocessed; /* the server says that it has not looked at it */
    bool was_reset;      /* RST_STREAM has come */
    uint32_t code;       /* of it */
    bool is_closed;      /* for nghttp2 it is gone */
    bool is_input_over;  /* the server has sent all */
    bool has_continue;   /* 100 has come */
    bool has_final;      /* the head of the answer has come */
    int number;          /* status of HTTP of the head that comes */
    uint32_t interims;   /* heads of 1xx */
    uint32_t field_count;
    struct http_limits limits;
    struct net_buffer head; /* as that of HTTP/1.1, without its last line */
    struct net_buffer in;   /* of the body, which was not read */
    size_t lent;            /* bytes of it that a turn has, until it reads again */
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

/** Sets what nghttp2 calls when something comes, and when data leave. */
void tr__h2_call_set(nghttp2_session_callbacks *callbacks);
/** Notes why a call fails, if that is not known, and resets its stream. */
void tr__h2_call_fail(struct h2_call *call, tr_status status, const char *why, uint32_t code);
/** Lets the turn continue that waits for a call. */
void tr__h2_call_wake(struct h2_call *call);
/** Frees the memory of a call. */
void tr__h2_call_drop(struct h2_call *call);
/** nghttp2 asks how much of a body there is now. */
ssize_t tr__h2_call_on_read(nghttp2_session *engine, int32_t id, uint8_t *to, size_t max,
                            uint32_t *flags, nghttp2_data_source *source, void *context);
/** Has nghttp2 make frames while the output takes them. May end the channel. */
void tr__h2_client_flush(struct h2_client *client);
/** The connection takes no further calls. */
void tr__h2_client_leave(struct h2_client *client);
/** Asks a server that was silent since then whether it is there. */
void tr__h2_client_doubt(struct h2_client *client, tr_time since_ns);

#endif
