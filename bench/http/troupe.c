/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A server for bench/http/run: troupe [spin]. It prints its port. GET /hello, POST /json (a document that is read, and
 * written again), and echoes of WebSockets at /ws. Without "spin" a worker without work sleeps at once, as the other servers do.
 */
#include <stdio.h>
#include <string.h>
#include <troupe/troupe.h>

TR_MESSAGE(item, (str, name), (u64, count), (f64, price));
TR_MESSAGE(order, (u64, id), (str, customer), (bool, paid), (list(message(item)), items));
TR_REQUEST(place_order, order, (u64, id), (str, customer), (bool, paid),
           (list(message(item)), items));

static tr_next on_hello(tr_self *self)
{
    return tr_http_reply(self, 200, .text = "Hello world!");
}

static tr_next on_order(tr_self *self, const struct place_order *message)
{
    return tr_reply(self,
                    order,
                    .id = message->id,
                    .customer = message->customer,
                    .paid = message->paid,
                    .items = {message->items.items, message->items.count});
}

static tr_next on_message(tr_self *self, const struct tr_ws_message *message)
{
    (void)tr_ws_send(self, message->channel, message->bytes, message->is_text);
    return TR_SAME;
}

TR_BEHAVIOR(site, void, TR_GET("/hello", tr_http_request, on_hello),
            TR_POST("/json", place_order, on_order),
            TR_WEBSOCKET("/ws", tr_ws_message, on_message));

static tr_next on_args(tr_self *self)
{
    tr_listener_ref listener = tr_listen(self, site, TR_HTTP("127.0.0.1:0"));
    const char *address = tr_address_text(self, tr_listener_address(self, listener));
    printf("%s\n", strrchr(address, ':') + 1);
    fflush(stdout);
    return TR_SAME;
}

TR_BEHAVIOR(server, void, TR_ON(tr_args, on_args));

int main(int argc, char **argv)
{
    bool spins = argc > 1 && !strcmp(argv[1], "spin");
    return tr_app_main(argc, argv, server, .workers = 1, .system = {.spin_ns = spins ? 0 : -1});
}
