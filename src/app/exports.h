/* SPDX-License-Identifier: Apache-2.0 */
/** What an app gives to others by HTTP: metrics for Prometheus, spans for a collector of OpenTelemetry. */
#ifndef APP_EXPORTS_H
#define APP_EXPORTS_H

#include <stdbool.h>

#include <troupe/app.h>

/** All zero: nothing is given. */
struct exports {
    tr_ref metrics; /* TR_NOBODY: no metrics by HTTP */
    tr_ref otlp;    /* TR_NOBODY: no spans are exported */
    char otlp_url[512];
};

/**
 * Starts the actors for the exports that the app asks for, before the workers run. Returns false, with a sentence on
 * standard error, if that fails. `exports` must live as long as the system.
 */
bool tr__exports_start(struct exports *exports, const tr_app *app, const char *program,
                       tr_client *client);
/**
 * Waits, once the workers run, until the metrics are served. Returns false, with a sentence on
 * standard error, if that fails.
 */
bool tr__exports_wait(const struct exports *exports, const char *program, tr_client *client);

#endif
