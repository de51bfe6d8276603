/* SPDX-License-Identifier: Apache-2.0 */
#include "app/exports.h"

#include "observe/metrics_port.h"
#include "observe/otlp.h"
#include "os/console.h"

#define METRICS_WAIT_NS (5 * TR_SECOND)
enum { OTLP_EVERY = 100 /* used if tr_app.otlp_every is 0 */ };

static bool metrics_start(struct exports *exports, const tr_app *app, const char *program,
                          tr_client *client)
{
    if (!app->metrics) {
        if (app->metrics_anywhere)
            tr__console_complain("%s: --metrics-anywhere has no effect without --metrics\n",
                                 program);
        return !app->metrics_anywhere;
    }
    const char *why = NULL;
    if (!tr__metrics_is_address(app->metrics))
        why = "this is no address";
    else if (!app->metrics_anywhere && !tr__metrics_is_local(app->metrics))
        why = "others can reach this address; --metrics-anywhere allows it";
    else if (tr__metrics_port_start(client, app->metrics, &exports->metrics) != TR_OK)
        why = "the actor for it cannot be started";
    if (why)
        tr__console_complain("%s: --metrics %s: %s\n", program, app->metrics, why);
    return !why;
}

static bool otlp_start(struct exports *exports, const tr_app *app, const char *program,
                       tr_client *client)
{
    if (!app->otlp) {
        if (app->otlp_every)
            tr__console_complain("%s: --otlp-every has no effect without --otlp\n", program);
        return !app->otlp_every;
    }
    const char *why = NULL;
    /*
     * In the options of the app, 0 stands for the default, and UINT32_MAX for none. For
     * tr__otlp_start, 0 stands for none.
     */
    uint32_t every = !app->otlp_every                ? OTLP_EVERY
                     : app->otlp_every == UINT32_MAX ? 0
                                                     : app->otlp_every;
    if (!tr__otlp_is_built())
        why = "the library was built without HTTP";
    else if (!tr__otlp_url(app->otlp, exports->otlp_url, sizeof exports->otlp_url))
        why = "this is no URL of HTTP";
    else if (tr__otlp_start(client, app->name, exports->otlp_url, every, &exports->otlp) != TR_OK)
        why = "the actor for it cannot be started";
    if (why)
        tr__console_complain("%s: --otlp %s: %s\n", program, app->otlp, why);
    return !why;
}

bool tr__exports_start(struct exports *exports, const tr_app *app, const char *program,
                       tr_client *client)
{
    return metrics_start(exports, app, program, client) &&
           otlp_start(exports, app, program, client);
}

bool tr__exports_wait(const struct exports *exports, const char *program, tr_client *client)
{
    tr_error error;
    if (!exports->metrics.bits ||
        tr_spawn_wait(client, exports->metrics, METRICS_WAIT_NS, &error) != TR_INIT_FAILED ||
        error.status == TR_STOPPING) /* no error: the program is ending already */
        return true;
    tr__console_complain("%s: no metrics: %s\n", program, error.text);
    return false;
}
