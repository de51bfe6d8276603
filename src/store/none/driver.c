/* SPDX-License-Identifier: Apache-2.0 */
/** A store that cannot be opened. It replaces SQLite in builds without it (TROUPE_SQLITE=OFF). */
#include "store/driver.h"

#include <stdio.h>

static tr_status none_open(const struct store_options *options, struct store_session **session,
                           uint64_t *epoch, tr_error *error)
{
    (void)options;
    (void)session;
    (void)epoch;
    if (error) {
        *error = (tr_error){.status = TR_NOT_SUPPORTED};
        (void)snprintf(
            error->text, sizeof error->text, "no store: this Troupe was built without SQLite");
    }
    return TR_NOT_SUPPORTED;
}

/* The other functions are never called, because there is no session. */
const struct store_driver *tr__store_driver_default(void)
{
    static const struct store_driver none = {.open = none_open};
    return &none;
}
