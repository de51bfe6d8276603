/* SPDX-License-Identifier: Apache-2.0 */
/**
 * An echo server. Try it: 25_echo & nc localhost 7000
 */
#include <stdio.h>
#include <troupe/troupe.h>

/* Each connection is an actor of its own, which stops when the other side has closed. */
static tr_next on_received(tr_self *self, const struct tr_received *message)
{
    tr_write(self, message->channel, message->bytes);
    return TR_SAME;
}

TR_ACTOR(echo, tr_received);
TR_BEHAVIOR(echo, void, TR_ON(tr_received, on_received));

static tr_next on_args(tr_self *self, const struct tr_args *message)
{
    const char *address = message->argv.count > 1 ? message->argv.items[1] : ":7000";
    tr_listener_ref listener = tr_listen(self, echo, TR_TCP(address));
    printf("listening at %s\n", tr_address_text(self, tr_listener_address(self, listener)));
    fflush(stdout);
    return TR_SAME;
}

TR_BEHAVIOR(server, void, TR_ON(tr_args, on_args));

int main(int argc, char **argv)
{
    return tr_app_main(argc, argv, server);
}
