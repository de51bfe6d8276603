/* SPDX-License-Identifier: Apache-2.0 */
/**
 * An echo server: troupe messages|awaits [spin]. It prints its port.
 *
 * messages: a handler of tr_received for each piece. awaits: a turn per connection, which reads in a loop.
 * Without "spin" a worker without work sleeps at once, as the other servers do, so that CPU time is that of
 * the work.
 */
#include <stdio.h>
#include <string.h>
#include <troupe/troupe.h>

static tr_next on_received(tr_self *self, const struct tr_received *message)
{
    tr_write(self, message->channel, message->bytes);
    return TR_SAME;
}

TR_ACTOR(echo, tr_received);
TR_BEHAVIOR(echo, void, TR_ON(tr_received, on_received));

static tr_next on_opened(tr_self *self, const struct tr_opened *message)
{
    tr_bytes bytes;
    while (tr_try_read(self, message->channel, &bytes) == TR_OK) /* a reset is no failure here */
        tr_write(self, message->channel, bytes);
    return TR_STOP;
}

TR_ACTOR(reader, tr_opened);
TR_BEHAVIOR(reader, void, TR_ON(tr_opened, on_opened));

static tr_next on_args(tr_self *self, const struct tr_args *message)
{
    bool awaits = message->argv.count > 1 && !strcmp(message->argv.items[1], "awaits");
    tr_listener_ref listener = awaits ? tr_listen(self, reader, TR_TCP("127.0.0.1:0"))
                                      : tr_listen(self, echo, TR_TCP("127.0.0.1:0"));
    const char *address = tr_address_text(self, tr_listener_address(self, listener));
    printf("%s\n", strrchr(address, ':') + 1);
    fflush(stdout);
    return TR_SAME;
}

TR_BEHAVIOR(server, void, TR_ON(tr_args, on_args));

int main(int argc, char **argv)
{
    bool spins = argc > 2 && !strcmp(argv[2], "spin");
    return tr_app_main(argc, argv, server, .workers = 1, .system = {.spin_ns = spins ? 0 : -1});
}
