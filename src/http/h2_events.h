/* SPDX-License-Identifier: Apache-2.0 */
/** Streams of events over HTTP/2. See http/events.h. Owner only. */
#ifndef HTTP_H2_EVENTS_H
#define HTTP_H2_EVENTS_H

#include "http/events.h"

/**
 * How long a stream of events may be silent before a comment is sent. Common proxies cut a
 * connection that is silent for a minute, some after 30 s.
 */
#define EVENTS_COMMENT_NS (15 * TR_SECOND)

struct h2_session;

/**
 * Finds a stream of events on a connection. Returns NULL if the connection has none with this
 * token.
 */
struct http_events *tr__h2_events_find(const struct channel *channel, uint64_t token);
/** What the functions of http/events.h with these names do for a stream of HTTP/2. */
TR_MUST_CHECK tr_status tr__h2_events_begin(struct http_events *events);
size_t tr__h2_events_unsent(const struct http_events *events);
TR_MUST_CHECK tr_status tr__h2_events_write(struct http_events *events, const char *text,
                                            size_t size);
/** Separates the events from their stream. The answer of the stream stays open. */
void tr__h2_events_leave(struct http_events *events);
/**
 * tr__h2_events_close ends an answer whose events were separated from their stream, in order.
 * tr__h2_events_cut ends it by a reset.
 */
void tr__h2_events_close(struct h2_stream *stream);
void tr__h2_events_cut(struct h2_stream *stream);

/**
 * Call when a stream has ended. If there are events on the stream, ends the events with this code.
 */
void tr__h2_events_gone(struct h2_stream *stream, unsigned code);
/** Ends the events of all streams, because the connection ends in order or its actor has failed. */
void tr__h2_events_end_all(struct h2_session *session, bool has_failed);
/** Sends a comment on each stream of events. May end the channel. */
void tr__h2_events_comment(struct h2_session *session);

#endif
