/* SPDX-License-Identifier: Apache-2.0 */
#include "app/refusal.h"

#include "os/console.h"

/* For each status with which a store cannot be opened: what the user can do. */
static const struct {
    tr_status status;
    const char *advice;
} advices[] = {
    {TR_STORE_FAILED, "the line above has the cause; --store DIR names another directory"},
    {TR_STORE_BUSY, "end the other process, or name another directory: --store DIR"},
    {TR_STORE_FULL, "free some space, or name a directory on another disk: --store DIR"},
    {TR_STORE_CORRUPT, "restore a backup, or name another directory: --store DIR"},
    {TR_STORE_FOREIGN, "start that program, or name another directory: --store DIR"},
    {TR_STORE_NEWER, "start the newer version, or name another directory: --store DIR"},
};

void tr__refusal_say(const char *program, const tr_app *app, tr_status status)
{
    for (size_t i = 0; i < sizeof advices / sizeof *advices; i++) {
        if (advices[i].status != status)
            continue;
        tr__console_complain("%s: cannot open the store %s%s: %s; %s\n",
                             program,
                             app->store ? app->store : app->name,
                             app->store ? "" : ".data",
                             tr_status_text(status),
                             advices[i].advice);
        return;
    }
    tr__console_complain("%s: %s\n", program, tr_status_text(status));
}
