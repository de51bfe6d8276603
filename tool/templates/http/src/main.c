/* SPDX-License-Identifier: Apache-2.0 */
/** @NAME@ [--listen ADDRESS]: notes by HTTP, at 127.0.0.1:8080 unless an address is given. */
#include <stdio.h>

#include "server.h"

static const char *address = "127.0.0.1:8080"; /* --listen */

static tr_next on_args(tr_self *self)
{
    server_ref server = tr_spawn(self, server, "server");
    serve_ask asked = tr_ask(self, server, serve, .address = address);
    const struct served *served;
    if (tr_try_await(self, asked, &served) != TR_OK) {
        const tr_error *error = tr_ask_error(self, asked);
        fprintf(stderr,
                "@NAME@: cannot listen at %s: %s; %s\n",
                address,
                error->text,
                error->code == TR_INVALID_ARGUMENT
                    ? "the log says why"
                    : "choose another address: --listen 127.0.0.1:8081");
        return tr_app_exit(self, 1);
    }
    printf("listening at %s\n", served->address);
    fflush(stdout);
    return TR_SAME;
}

TR_BEHAVIOR(app, void, TR_ON(tr_args, on_args));

int main(int argc, char **argv)
{
    return tr_app_main(argc,
                       argv,
                       app,
                       .name = "@NAME@",
                       .summary = "Notes by HTTP, in memory.",
                       .flags = TR_FLAGS({.name = "listen",
                                          .text = &address,
                                          .takes = "ADDRESS",
                                          .help = "where it listens; port 0 is any free one",
                                          .example = "--listen 127.0.0.1:9000"}));
}
