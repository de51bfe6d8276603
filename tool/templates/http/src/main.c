/* SPDX-License-Identifier: Apache-2.0 */
/** @NAME@ [ADDRESS]: notes by HTTP, at 127.0.0.1:8080 unless an address is given. */
#include <stdio.h>

#include "server.h"

static tr_next on_args(tr_self *self, const struct tr_args *args)
{
    const char *address = args->argv.count > 1 ? args->argv.items[1] : "127.0.0.1:8080";
    server_ref server = tr_spawn(self, server, "server");
    const struct served *served = tr_await(self, tr_ask(self, server, serve, .address = address));
    printf("listening at %s\n", served->address);
    fflush(stdout);
    return TR_SAME;
}

TR_BEHAVIOR(app, void, TR_ON(tr_args, on_args));

int main(int argc, char **argv)
{
    return tr_app_main(argc, argv, app, .name = "@NAME@");
}
