/* SPDX-License-Identifier: Apache-2.0 */
/**
 * An echo server: troupe messages|awaits|udp [spin], troupe tls CERTIFICATE KEY. It prints its port.
 *
 * messages: a handler of tr_received for each piece. awaits: a turn per connection, which reads in a loop. udp: a handler of
 * tr_datagram for all that have come. tls: as messages, with paths of PEM files.
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

static tr_next on_datagrams(tr_self *self, const struct tr_datagram *const *datagrams, size_t count)
{
    tr_outgoing answers[32];
    for (size_t i = 0; i < count; i++)
        answers[i] = (tr_outgoing){datagrams[i]->from, datagrams[i]->bytes};
    tr_send_many(self, datagrams[0]->channel, answers, count, NULL);
    return TR_SAME;
}

/* Begins what the first argument says, and returns where. */
static tr_address begin(tr_self *self, const struct tr_args *message)
{
    const char *const *words = message->argv.items;
    const char *mode = message->argv.count > 1 ? words[1] : "messages";
    if (!strcmp(mode, "udp"))
        return tr_channel_address(self, tr_bind(self, TR_UDP("127.0.0.1:0")));
    if (!strcmp(mode, "awaits"))
        return tr_listener_address(self, tr_listen(self, reader, TR_TCP("127.0.0.1:0")));
    if (!strcmp(mode, "tls") && message->argv.count > 3)
        return tr_listener_address(
            self,
            tr_listen(self, echo, TR_TLS("127.0.0.1:0", .certificate = words[2], .key = words[3])));
    return tr_listener_address(self, tr_listen(self, echo, TR_TCP("127.0.0.1:0")));
}

static tr_next on_args(tr_self *self, const struct tr_args *message)
{
    const char *address = tr_address_text(self, begin(self, message));
    printf("%s\n", strrchr(address, ':') + 1);
    fflush(stdout);
    return TR_SAME;
}

TR_BEHAVIOR(server, void, TR_ON(tr_args, on_args),
            TR_ON_BATCH(tr_datagram, on_datagrams, .batch_max = 32));

int main(int argc, char **argv)
{
    bool spins = argc > 2 && !strcmp(argv[2], "spin");
    return tr_app_main(argc, argv, server, .workers = 1, .system = {.spin_ns = spins ? 0 : -1});
}
