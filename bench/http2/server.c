/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A server that answers GET / with 12 bytes, over HTTP/1.1 and HTTP/2, counts what is sent to PUT /upload, reads JSON of POST
 * /order, and echoes WebSockets of /ws. It prints its port.
 */
#include <stdio.h>
#include <string.h>
#include <troupe/troupe.h>

TR_MESSAGE(line, (str, item), (u32, count));
TR_MESSAGE(taken, (u64, id));
TR_REQUEST(order, taken, (u64, id), (f64, total), (str, note), (list(message(line)), lines));

static tr_next on_order(tr_self *self, const struct order *message)
{
    return tr_reply(self, taken, .id = message->id);
}

static tr_next on_hello(tr_self *self)
{
    return tr_http_reply(self, 200, .text = "hello world\n");
}

static tr_next on_upload(tr_self *self)
{
    tr_bytes piece;
    uint64_t size = 0;
    while (tr_http_read(self, &piece))
        size += piece.size;
    return tr_http_reply(self, 200, .text = tr_format(self, "%llu\n", (unsigned long long)size));
}

static tr_next on_message(tr_self *self, const struct tr_ws_message *message)
{
    (void)tr_ws_send(self, message->channel, message->bytes, message->is_text);
    return TR_SAME;
}

TR_BEHAVIOR(hello, void, TR_GET("/", tr_http_request, on_hello),
            TR_PUT("/upload", tr_http_request, on_upload), TR_POST("/order", order, on_order),
            TR_WEBSOCKET("/ws", tr_ws_message, on_message));

static tr_next on_args(tr_self *self)
{
    tr_listener_ref listener = tr_listen(self, hello, TR_HTTP("127.0.0.1:0"));
    const char *address = tr_address_text(self, tr_listener_address(self, listener));
    printf("%s\n", strrchr(address, ':') + 1);
    fflush(stdout);
    return TR_SAME;
}

TR_BEHAVIOR(server, void, TR_ON(tr_args, on_args));

/* A worker without work sleeps at once, as nginx does, so that CPU time is that of the work. */
int main(int argc, char **argv)
{
    return tr_app_main(argc, argv, server, .workers = 1, .system = {.spin_ns = -1});
}
