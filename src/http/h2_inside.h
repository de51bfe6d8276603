/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The records of HTTP/2. Only files http/h2_*.c include this header, because it includes nghttp2.
 * Owner only.
 */
#ifndef HTTP_H2_INSIDE_H
#define HTTP_H2_INSIDE_H

#include <nghttp2/nghttp2.h>

#include "http/events.h"
#include "http/h2_guard.h"
#include "net/buffer.h"
#include "net/protocol_turn.h"

/** What a connection waits for, which decides the connection's present time limit. */
enum h2_wait {
    H2_WAITS_HEAD,    /* for the rest of a head; the time limit is .head_ns */
    H2_WAITS_REQUEST, /* for a request; the time limit is .keep_ns */
    /* for the turns of requests; the connection has no time limit, but the turns have limits */
    H2_WAITS_TURNS,
    /*
     * for the end of at least one stream of events, and perhaps for turns; the time limit is
     * EVENTS_COMMENT_NS
     */
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
    uint32_t block;  /* the value of guard.blocks when the present wait began */
    uint8_t waits;   /* enum h2_wait */
    bool is_busy;    /* nghttp2 is running, and must not be called now */
    bool is_blocked; /* nghttp2 has more to send than the output takes */
    /* the output takes all frames, even beyond its limit, because the channel ends */
    bool is_forced;
    bool is_leaving; /* GOAWAY was sent, because the session stops soon */
    bool is_over;    /* nothing more is read or written */
    /* the other side has ended its output, so a request that is incomplete will stay so */
    bool is_cut;
    bool is_starved; /* memory was missing, so nghttp2 must not be called any more */
};

struct h2_stream {
    struct protocol_turn turn;  /* must be the first member; turn.request is the http_request */
    struct list link;           /* link in h2_session.all */
    struct h2_session *session; /* NULL: gone */
    int32_t id;
    struct tr_self *waiter; /* the turn of the stream while it waits; NULL: no turn waits */
    bool is_closed;         /* nghttp2 has closed the stream */
    bool is_input_over;     /* the client has sent the whole request */
    bool is_last;           /* the answer ends with the bytes of `out` */
    bool is_begun;          /* an answer has begun */
    bool is_too_large;      /* its head */
    bool has_host;          /* the request has a field Host; :authority replaces it */
    bool has_events;        /* the answer of the stream is, or was, a stream of events */
    /*
     * The head of the request, until its turn begins: first the values of pseudo fields, then lines
     * "name: value\r\n".
     */
    struct net_buffer head;
    struct net_buffer cookies; /* joined */
    struct {
        uint32_t at;
        uint32_t size;
    } method, path, authority, host;
    uint32_t lines; /* index in `head` of the first line */
    uint32_t field_count;
    /* The body. */
    struct net_buffer in;
    struct net_buffer lent; /* bytes of the body that the turn has borrowed, until it reads again */
    /* The bytes of the answer that are sent next. They are in memory of the turn. */
    const unsigned char *out;
    size_t out_size;
    unsigned char last[192]; /* an answer that is sent without a turn */
    /* The next members are used only if the answer is a stream of events; see http/events.h. */
    /* the stream of events; NULL: there is none, or the events have ended */
    struct http_events *events;
    /* events that wait to be sent; while there are any, `out` points into this buffer */
    struct net_buffer waiting;
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
