/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Exports the turns that are followed to a collector of OpenTelemetry: OTLP/HTTP, as JSON. Each turn is a span, and its parent
 * is the turn that sent its message, or the span of the client of an HTTP request (traceparent).
 *
 * An actor collects the records ten times a second, and posts what is ready once a second, or when OTLP_BATCH spans are. A post
 * that fails is repeated while spans fit into the table (observe/spans.h); then the oldest are dropped. Both are counted
 * (troupe_otlp_spans_total), and what is dropped is a line of the log, once a minute at most.
 */
#ifndef OBSERVE_OTLP_H
#define OBSERVE_OTLP_H

#include <troupe/self.h>

/** Whether the library can export: it was built with HTTP. */
bool tr__otlp_is_built(void);
/** Whether a text is a URL that can be posted to. Writes where spans go, with /v1/traces if it has no path. */
bool tr__otlp_url(const char *url, char *to, size_t size);

/**
 * Follows one of `every` causal ids (0: only HTTP requests whose traceparent says so). Starts the
 * actor that posts, as an actor of the pool. `app` is borrowed. Statuses of tr_try_pool_spawn,
 * TR_NO_MEMORY. Before the system starts.
 */
TR_MUST_CHECK tr_status tr__otlp_start(tr_client *client, const char *app, const char *url,
                                       uint32_t every, tr_ref *actor);

#endif
