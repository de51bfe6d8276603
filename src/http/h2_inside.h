/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The records of HTTP/2. Only the files of HTTP/2 include this header, because it includes nghttp2.
 * Owner only.
 */
#ifndef HTTP_H2_INSIDE_H
#define HTTP_H2_INSIDE_H

#include <nghttp2/nghttp2.h>

#include "http/events.h"
#include "http/h2_guard.h"
#include "net/buffer.h"
#include "net/protocol_turn.h"

/** What a connection waits for, which decides its present time limit. */
enum h2_wait {
    H2_WAITS_HEAD,    /* for the rest of a head; limit .head_ns */
    H2_WAITS_REQUEST, /* for a request; limit .keep_ns */
    H2_WAITS_TURNS,   /* for the turns of requests, which have limits of their own */
    /* as H2_WAITS_TURNS, but some requests are streams of events; limit EVENTS_COMMENT_NS */
    H2_WAITS_EVENTS
};

struct h2_session {
    struct protocol_streams streams; /* must be the first member */
    struct channel *channel;
    nghttp2_session *engine;
    const struct memory_source *source;
    struct list blocks;    /* blocks of memory that nghttp2 has allocated */
    struct list all;       /* list of struct h2_stream, by h2_stream.link */
    uint32_t count;        /* of these */
    uint32_t events_count; /* number of streams that have events */
    struct h2_guard guard;
    nghttp2_mem memory;
    uint32_t block;  /* guard.blocks when this wait began */
    uint8_t waits;   /* enum h2_wait */
    bool is_busy;    /* nghttp2 is running, and must not be called again */
    bool is_blocked; /* nghttp2 has more to send than the output takes */
    bool is_forced;  /* the channel ends, so the output takes everything, beyond its limit */
    bool is_leaving; /* GOAWAY was sent, because the session stops */
    bool is_over;    /* nothing more is read or written */
    bool is_cut;     /* the other side has ended, so the rest of a body will not come */
    bool is_starved; /* memory was missing: nghttp2 is not called any more */
};

struct h2_stream {
    struct protocol_turn turn;  /* must be the first member; turn.request is the http_request */
    struct list link;           /* link in h2_session.all */
    struct h2_session *session; /* NULL: gone */
    int32_t id;
    struct tr_self *waiter; /* the turn of the stream while it waits; NULL: it does not wait */
    bool is_closed;         /* nghttp2 has closed the stream */
    bool is_input_over;     /* the client has sent the whole request */
    bool is_last;           /* the answer ends with the bytes of `out` */
    bool is_begun;          /* an answer has begun */
    bool is_too_large;      /* its head */
    bool has_host;          /* there was a field Host; :authority replaces it */
    bool has_events;        /* its answer is, or was, a stream of events */
    /* The head, until the turn of the request begins: first pseudo fields, then lines "name:
     * value\r\n". */
    struct net_buffer head;
    struct net_buffer cookies; /* joined */
    struct {
        uint32_t at;
        uint32_t size;
    } method, path, authority, host;
    uint32_t lines; /* position of the first line in `head` */
    uint32_t field_count;
    /* The body. */
    struct net_buffer in;
    struct net_buffer lent; /* bytes that the turn has borrowed, until it reads again */
    /* The next bytes of the answer to be sent, in memory of the turn. */
    const unsigned char *out;
    size_t out_size;
    unsigned char last[192]; /* an answer that is sent without a turn */
    /* The next members are for an answer that is a stream of events; see http/events.h. */
    struct http_events *events; /* NULL: there is none, or it has ended */
    struct net_buffer waiting;  /* the events that wait to be sent; `out` points into it */
};

/** Whether nghttp2 may still be called for this session. */
static inline bool h2_session_is_up(const struct h2_session *session)
{
    return session && !session->is_over && !session->is_starved;
}

/** Whether a turn is queued for the stream, or handles it. */
static inline bool h2_stream_has_turn(const struct h2_stream *stream)
{
    return stream->turn.event || stream->turn.is_running;
}

#endif
