/* SPDX-License-Identifier: Apache-2.0 */
#include "app/inspected.h"

#include <stdio.h>

#include "actor/cell/log.h"
#include "actor/cell/system.h"
#include "inspect/inspector.h"
#include "observe/control.h"
#include "os/console.h"

static bool control_path_find(void *context, char *path, size_t path_size, char *why,
                              size_t why_size)
{
    int length = snprintf(path, path_size, "%s", tr__control_path(context));
    if (length >= 0 && (size_t)length < path_size)
        return true;
    (void)snprintf(why, why_size, "the path of the control socket is too long");
    return false;
}

/* Writes a line of the inspector's own system to the log of the program. */
static void on_log(void *context, tr_level level, const char *path, const char *text)
{
    (void)path;
    tr__log(context, level, NULL, "inspector: %s", text);
}

bool tr__inspected_start(const tr_app *app, const char *program, struct control *control,
                         tr_system *system, struct inspector **inspector)
{
    char why[INSPECTOR_WHY_SIZE];
    if (!app->inspect) {
        const char *useless = app->inspect_allow         ? "--inspect-allow"
                              : app->inspect_anywhere    ? "--inspect-anywhere"
                              : app->inspect_certificate ? "--inspect-certificate"
                              : app->inspect_key         ? "--inspect-key"
                              : app->inspect_host        ? "--inspect-host"
                              : app->inspect_token       ? "--inspect-token"
                                                         : NULL;
        if (useless)
            tr__console_complain("%s: %s has no effect without --inspect\n", program, useless);
        return !useless;
    }
    if (!control) {
        tr__console_complain(
            "%s: --inspect needs the control socket, which is off or has no place; "
            "--control PATH names one\n",
            program);
        return false;
    }
    const struct inspector_options options = {.address = app->inspect,
                                              .anywhere = app->inspect_anywhere,
                                              .certificate = app->inspect_certificate,
                                              .key = app->inspect_key,
                                              .host = app->inspect_host,
                                              .token_file = app->inspect_token,
                                              .allows = app->inspect_allow,
                                              .find = control_path_find,
                                              .context = control,
                                              .on_log = on_log,
                                              .log_context = system};
    if (tr__inspector_start(&options, inspector, why) != TR_OK) {
        tr__console_complain("%s: --inspect %s: %s\n", program, app->inspect, why);
        return false;
    }
    system->user.inspector = tr__inspector_url(*inspector);
    tr__console_complain("inspector: %s\n", system->user.inspector);
    return true;
}
