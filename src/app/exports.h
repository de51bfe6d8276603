/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Exports of an app by HTTP: metrics for Prometheus, and spans for a collector of OpenTelemetry.
 */
#ifndef APP_EXPORTS_H
#define APP_EXPORTS_H

#include <stdbool.h>

#include <troupe/app.h>

/** The actors of the exports. All zero: none. */
struct exports {
    tr_ref metrics; /* actor for metrics; TR_NOBODY: no metrics by HTTP */
    tr_ref otlp;    /* actor for spans; TR_NOBODY: no spans are exported */
    char otlp_url[512];
};

/**
 * Starts the actors for the exports that the app asks for. Call before the workers run. Returns
 * false, with a sentence on standard error, if that fails. `exports` must live as long as the
 * system.
 */
bool tr__exports_start(struct exports *exports, const tr_app *app, const char *program,
                       tr_client *client);
/**
 * Waits until the metrics are served. Call when the workers run. If they cannot be served, returns
 * false, with a sentence on standard error.
 */
bool tr__exports_wait(const struct exports *exports, const char *program, tr_client *client);

#endif
