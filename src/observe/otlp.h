/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Exports the turns that are followed to a collector of OpenTelemetry, by OTLP/HTTP, as JSON. Each
 * turn is a span. The parent of the span is the turn that sent the message of this turn. For an
 * HTTP request it is the span of the client (traceparent).
 *
 * An actor collects the records ten times a second. It posts finished spans once a second, at most
 * OTLP_BATCH in each post; it posts again at once as long as there are that many. If a post fails,
 * the actor repeats it later. If the collector refuses a post, its spans are dropped. When the
 * table of spans (observe/spans.h) is full, the oldest spans are dropped. Posted and dropped spans
 * are counted (troupe_otlp_spans_total). The log says at most once a minute that spans were
 * dropped.
 */
#ifndef OBSERVE_OTLP_H
#define OBSERVE_OTLP_H

#include <troupe/self.h>

/** Whether the library can export spans. It can if it was built with HTTP. */
bool tr__otlp_is_built(void);
/**
 * Whether a text is a URL to which spans can be posted. Writes that URL to `to`. If the URL has no
 * path, appends /v1/traces.
 */
bool tr__otlp_url(const char *url, char *to, size_t size);

/**
 * Starts to follow turns: one of `every` causal ids, or, if `every` is 0, only HTTP requests whose
 * traceparent asks for it. Starts the actor that posts, as an actor of the pool. `app` is borrowed.
 * Returns the statuses of tr_try_pool_spawn, or TR_NO_MEMORY. Call before the system starts.
 */
TR_MUST_CHECK tr_status tr__otlp_start(tr_client *client, const char *app, const char *url,
                                       uint32_t every, tr_ref *actor);

#endif
