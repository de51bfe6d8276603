/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A server that returns what it receives. Each connection is an actor.
 *
 *     25_echo 127.0.0.1:7000 &
 *     nc 127.0.0.1 7000
 */
#include <stdio.h>
#include <troupe/troupe.h>

static tr_next on_received(tr_self *self, const struct tr_received *message)
{
    tr_write(self, message->channel, message->bytes);
    return TR_SAME;
}

TR_BEHAVIOR(echo, void, TR_ON(tr_received, on_received));

static tr_next on_args(tr_self *self, const struct tr_args *args)
{
    const char *address = args->argv.count > 1 ? args->argv.items[1] : "127.0.0.1:0";
    tr_listener_ref listener = tr_listen(self, echo, TR_TCP(address));
    printf("%s\n", tr_address_text(self, tr_listener_address(self, listener)));
    fflush(stdout);
    return TR_SAME;
}

TR_BEHAVIOR(server, void, TR_ON(tr_args, on_args));

int main(int argc, char **argv)
{
    return tr_app_main(argc, argv, server);
}
