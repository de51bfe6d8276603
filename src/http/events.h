/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A stream of events: an answer of text/event-stream that a layer above writes outside of turns,
 * until one side ends.
 *
 * The turn that has begun the stream of events ends, so that the stream needs no stack. With
 * HTTP/1.1 the stream of events uses the whole connection (channel->session), and ends if the
 * client sends anything. With HTTP/2 it uses one of several streams of the connection. In both
 * cases a comment is sent now and then, so that proxies do not cut a silent connection.
 *
 * The layer above puts a struct http_events at the beginning of a record of its own. The layer gets
 * the record back by on_end. This function is called once, when the stream, the connection or the
 * actor of the connection has ended, even if a fault has ended it. Owner only.
 */
#ifndef HTTP_EVENTS_H
#define HTTP_EVENTS_H

#include "http/request.h"
#include "base/assert.h"

/**
 * Says which kind of record channel->session of a connection of HTTP/1.1 points to. A member with
 * this value is the first member of both kinds of records.
 */
enum http_kept { HTTP_KEPT_SOCKET, HTTP_KEPT_EVENTS };

struct http_events {
    uint8_t kept; /* HTTP_KEPT_EVENTS; must be the first member */
    bool has_chunks;
    struct channel *channel;
    /* the stream of HTTP/2; NULL: the events use a connection of HTTP/1.1 */
    struct h2_stream *stream;
    uint64_t token; /* number by which tr__http_events_find finds the stream */
    /**
     * Called when the stream has ended; the record is the callee's from now on. `code` is a close
     * code of WebSocket: 1001, 1006, 1011, 1013, or the one that was passed to
     * tr__http_events_close or tr__http_events_cut.
     */
    void (*on_end)(struct http_events *events, unsigned code);
};

/** Returns a token for the stream of events that will answer this request. */
uint64_t tr__http_events_token(const struct http_request *request);
/**
 * Finds a stream of events of this turn's actor by its token. Returns NULL if that stream has
 * ended.
 */
struct http_events *tr__http_events_find(const struct tr_self *self, uint64_t token);

/**
 * Begins a stream. Call after the head of the answer was sent. After TR_OK the stream owns
 * `events`, until on_end is called. Fails with TR_NO_MEMORY, TR_CLOSED.
 */
TR_MUST_CHECK tr_status tr__http_events_begin(struct http_request *request,
                                              struct http_events *events);
/** Returns how many bytes wait to be sent. */
size_t tr__http_events_unsent(const struct http_events *events);
/**
 * Writes lines to a stream. This may end the stream. After TR_NO_MEMORY a part of the lines may
 * have been written, and the caller must call tr__http_events_cut. Does not wait.
 */
TR_MUST_CHECK tr_status tr__http_events_write(struct http_events *events, const char *text,
                                              size_t size);
/** Ends a stream in order. */
void tr__http_events_close(struct http_events *events, unsigned code);
/** Ends a stream by a reset, so that the client notices that the answer is incomplete. */
void tr__http_events_cut(struct http_events *events, unsigned code);

/* ---- For connections of HTTP/1.1. ---- */

/** Returns the stream of events of a connection of HTTP/1.1. Returns NULL if there is none. */
static inline struct http_events *http_events_of(const struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    struct http_events *events = channel->session;
    return events && events->kept == HTTP_KEPT_EVENTS ? events : NULL;
}

/** Starts the time until the next comment again. */
void tr__http_events_wait(struct channel *channel);
/** Called when the time until the next comment has passed: sends a comment. */
void tr__http_events_deadline(struct channel *channel);
/** What on_close and on_free of the protocol do for a stream of events. */
void tr__http_events_on_close(struct channel *channel, bool has_failed);
void tr__http_events_on_free(struct channel *channel);

#endif
