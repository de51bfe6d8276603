/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A stream of events: an answer of text/event-stream that a layer above writes outside of turns, until one side ends.
 *
 * The turn that begins it ends, and no stack is kept. Of HTTP/1.1 it has its connection for itself (rare->session of the
 * channel); what a client sends behind its request ends it. Of HTTP/2 it is one stream of several. In both cases a comment
 * is sent now and then, so that what lies between does not cut the connection.
 *
 * The layer above has a struct http_events at the beginning of a record of its own, which on_end takes. It is called once,
 * whatever ends: the stream, the connection, or its actor, also by a fault. Owner only.
 */
#ifndef HTTP_EVENTS_H
#define HTTP_EVENTS_H

#include "http/request.h"

/** What rare->session of a channel of HTTP/1.1 is. It is the first member of either. */
enum http_kept { HTTP_KEPT_SOCKET, HTTP_KEPT_EVENTS };

struct http_events {
    uint8_t kept; /* HTTP_KEPT_EVENTS; must be first */
    bool has_chunks;
    struct channel *channel;
    struct h2_stream *stream; /* NULL: of HTTP/1.1 */
    uint64_t token;           /* by which actors name it: tr__http_events_find */
    /** The stream has ended, with a code of WebSocket: 1001, 1006, 1011, or the one of tr__http_events_close. Takes it. */
    void (*on_end)(struct http_events *events, unsigned code);
};

/** Returns a token for a stream that is to begin as the answer of this request. */
uint64_t tr__http_events_token(const struct http_request *request);
/** Finds a stream of the actor of this turn; NULL: it has ended. */
struct http_events *tr__http_events_find(const struct tr_self *self, uint64_t token);

/** Begins a stream, when the head of the answer was sent. TR_OK: it is taken. TR_NO_MEMORY, TR_CLOSED. */
TR_MUST_CHECK tr_status tr__http_events_begin(struct http_request *request,
                                              struct http_events *events);
/** Returns how many bytes wait to be sent. */
size_t tr__http_events_unsent(const struct http_events *events);
/** Writes lines. It may end by this. TR_NO_MEMORY: a part may be written, the caller cuts it. Does not wait. */
TR_MUST_CHECK tr_status tr__http_events_write(struct http_events *events, const char *text,
                                              size_t size);
/** Ends it in order. */
void tr__http_events_close(struct http_events *events, unsigned code);
/** Ends it at once, so that nobody takes a part for all. */
void tr__http_events_cut(struct http_events *events, unsigned code);

/* ---- For connections of HTTP/1.1. ---- */

/** Returns the stream that a channel has; NULL: none. */
static inline struct http_events *http_events_of(const struct channel *channel)
{
    struct http_events *events = channel->rare->session;
    return events && events->kept == HTTP_KEPT_EVENTS ? events : NULL;
}

/** The time until the next comment begins. */
void tr__http_events_wait(struct channel *channel);
/** It is over. */
void tr__http_events_deadline(struct channel *channel);
/** The on_close and the on_free of the protocol. */
void tr__http_events_on_close(struct channel *channel, bool has_failed);
void tr__http_events_on_free(struct channel *channel);

#endif
