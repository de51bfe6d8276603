/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Exports the turns that are followed to a collector of OpenTelemetry: OTLP/HTTP, as JSON. Each
 * turn is a span, and its parent is the turn that sent its message, or the span of the client of an
 * HTTP request (traceparent).
 *
 * An actor collects the records ten times a second, and posts finished spans once a second, or
 * earlier if there are OTLP_BATCH of them. A post that fails is repeated. When the table
 * (observe/spans.h) is full, the oldest spans are dropped. Posted and dropped spans are counted
 * (troupe_otlp_spans_total), and the log reports dropped spans at most once a minute.
 */
#ifndef OBSERVE_OTLP_H
#define OBSERVE_OTLP_H

#include <troupe/self.h>

/** Whether the library can export spans, because it was built with HTTP. */
bool tr__otlp_is_built(void);
/**
 * Whether a text is a URL to which spans can be posted. Writes that URL to `to`, with /v1/traces if
 * it has no path.
 */
bool tr__otlp_url(const char *url, char *to, size_t size);

/**
 * Follows one of `every` causal ids (0: only HTTP requests whose traceparent says so). Starts the
 * actor that posts, as an actor of the pool. `app` is borrowed. Returns the statuses of
 * tr_try_pool_spawn, or TR_NO_MEMORY. Call before the system starts.
 */
TR_MUST_CHECK tr_status tr__otlp_start(tr_client *client, const char *app, const char *url,
                                       uint32_t every, tr_ref *actor);

#endif
