/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Exports of an app by HTTP: metrics for Prometheus, and spans for a collector of OpenTelemetry.
 */
#ifndef APP_EXPORTS_H
#define APP_EXPORTS_H

#include <stdbool.h>

#include <troupe/app.h>

/** The actors that make the exports. All zero: no exports. */
struct exports {
    tr_ref metrics; /* the actor for metrics; TR_NOBODY: metrics are not served by HTTP */
    tr_ref otlp;    /* the actor for spans; TR_NOBODY: spans are not exported */
    char otlp_url[512];
};

/**
 * Starts the actors for the exports that the app asks for. To be called before the workers run. If
 * an actor cannot be started, returns false, with a sentence on standard error. `exports` must live
 * as long as the system.
 */
bool tr__exports_start(struct exports *exports, const tr_app *app, const char *program,
                       tr_client *client);
/**
 * Waits until the metrics are served. To be called when the workers run. If the metrics cannot be
 * served, returns false, with a sentence on standard error.
 */
bool tr__exports_wait(const struct exports *exports, const char *program, tr_client *client);

#endif
