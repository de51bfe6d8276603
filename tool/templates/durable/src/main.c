/* SPDX-License-Identifier: Apache-2.0 */
/** @NAME@ [GUEST [PAGE]]: counts visits, over the end of the process. The store is @NAME@.data, or --store DIR. */
#include <inttypes.h>
#include <stdio.h>

#include "guest.h"

static tr_next on_args(tr_self *self, const struct tr_args *args)
{
    const char *name = args->argv.count > 1 ? args->argv.items[1] : "anna";
    const char *page = args->argv.count > 2 ? args->argv.items[2] : "/";
    const struct seen *seen = tr_await(self, tr_ask_key(self, guest, name, visit, .page = page));
    printf("%s has been here %" PRIu64 " times\n", name, seen->times);
    return TR_STOP;
}

TR_BEHAVIOR(app, void, TR_ON(tr_args, on_args));

int main(int argc, char **argv)
{
    return tr_app_main(argc, argv, app, .name = "@NAME@", .durable = TR_DURABLES(guest));
}
