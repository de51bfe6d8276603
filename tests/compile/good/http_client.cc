/* SPDX-License-Identifier: Apache-2.0 */
/** The client of HTTP: every verb once, in C++17. */
#include <troupe/http_client.h>
#include <troupe/troupe.h>

TR_MESSAGE(user, (u64, id), (str, name));

static tr_next on_args(tr_self *self)
{
    const struct tr_http_field headers[] = {{"a", "b"}, {NULL, NULL}};
    const struct tr_http_answer *answer = tr_await(self, tr_http_ask(self, "http://localhost/"));
    tr_http_call_ask asked = tr_http_ask(self,
                                         "https://localhost/",
                                         .method = "PUT",
                                         .json = TR_AS_JSON(user, .id = 7, .name = "anna"),
                                         .headers = headers,
                                         .redirects_max = 3);
    struct tr_http_stream stream = {};
    const struct user *user;
    char buffer[100];
    size_t got;
    if (tr_try_await(self, asked, &answer) != TR_OK || !tr_http_answer_header(answer, "etag") ||
        tr_http_try_json(self, answer, user, &user) != TR_OK)
        return TR_STOP;
    if (tr_http_open(self, &stream, "http://localhost/", .method = "PUT", .length = 3) == TR_OK &&
        tr_http_send(self, stream, TR_BYTES("abc")) == TR_OK)
        answer = tr_await(self, tr_http_finish(self, stream, true));
    if (tr_http_receive(self, answer->stream, buffer, sizeof buffer, &got) == TR_OK)
        tr_http_drop(self, answer->stream);
    tr_channel channel = tr_ws_connect(self, "ws://localhost/chat");
    if (tr_ws_try_connect(self, &channel, "wss://localhost/chat", .protocols = "a, b") == TR_OK &&
        tr_ws_protocol(self, channel))
        tr_ws_close(self, channel, 1000, NULL);
    return TR_STOP;
}

TR_BEHAVIOR(app, void, TR_ON(tr_args, on_args));

int main(int argc, char **argv)
{
    return tr_app_main(argc, argv, app);
}
