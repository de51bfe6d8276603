/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A stream of events: an answer of text/event-stream that a layer above writes outside of turns, until one side ends.
 *
 * The turn that begins it ends, and no stack is kept. With HTTP/1.1 the stream has the connection for itself
 * (rare->session of the channel), and ends if the client sends anything more. With HTTP/2 it is one stream of several.
 * In both cases a comment is sent now and then, so that proxies do not cut a silent connection.
 *
 * The layer above has a struct http_events at the beginning of a record of its own, which on_end takes. on_end is
 * called once, whatever ends: the stream, the connection, or its actor, also by a fault. Owner only.
 */
#ifndef HTTP_EVENTS_H
#define HTTP_EVENTS_H

#include "http/request.h"
#include "base/assert.h"

/** Which record the rare->session of a channel of HTTP/1.1 is. It is the first member of both records. */
enum http_kept { HTTP_KEPT_SOCKET, HTTP_KEPT_EVENTS };

struct http_events {
    uint8_t kept; /* HTTP_KEPT_EVENTS; must be first */
    bool has_chunks;
    struct channel *channel;
    struct h2_stream *stream; /* NULL: the stream is of HTTP/1.1 */
    uint64_t token;           /* by which actors name the stream: tr__http_events_find */
    /**
     * Called when the stream has ended. `code` is one of WebSocket: 1001, 1006, 1011, or the code
     * that was passed to tr__http_events_close. Takes the record.
     */
    void (*on_end)(struct http_events *events, unsigned code);
};

/** Returns a token for a stream of events that will be the answer to this request. */
uint64_t tr__http_events_token(const struct http_request *request);
/** Finds a stream of the actor of this turn; NULL: it has ended. */
struct http_events *tr__http_events_find(const struct tr_self *self, uint64_t token);

/** Begins a stream after the head of the answer was sent. TR_OK: `events` is taken. TR_NO_MEMORY, TR_CLOSED. */
TR_MUST_CHECK tr_status tr__http_events_begin(struct http_request *request,
                                              struct http_events *events);
/** Returns how many bytes wait to be sent. */
size_t tr__http_events_unsent(const struct http_events *events);
/**
 * Writes lines to a stream, which may end by this. TR_NO_MEMORY: a part may be written, and the caller must cut the
 * stream. Does not wait.
 */
TR_MUST_CHECK tr_status tr__http_events_write(struct http_events *events, const char *text,
                                              size_t size);
/** Ends a stream in order. */
void tr__http_events_close(struct http_events *events, unsigned code);
/** Ends a stream at once by a reset, so that the client does not take a part for the whole. */
void tr__http_events_cut(struct http_events *events, unsigned code);

/* ---- For connections of HTTP/1.1. ---- */

/** Returns the stream that a channel has; NULL: none. */
static inline struct http_events *http_events_of(const struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    struct http_events *events = channel->rare->session;
    return events && events->kept == HTTP_KEPT_EVENTS ? events : NULL;
}

/** Starts the time after which the next comment is sent. */
void tr__http_events_wait(struct channel *channel);
/** Sends a comment: the time of tr__http_events_wait is over. */
void tr__http_events_deadline(struct channel *channel);
/** The on_close and the on_free of the protocol. */
void tr__http_events_on_close(struct channel *channel, bool has_failed);
void tr__http_events_on_free(struct channel *channel);

#endif
