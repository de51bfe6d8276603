/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Asks servers: 38_http_client https://example.org/ http://localhost:8080/notes/1
 *
 * All are asked at once, and each answer is printed as soon as it is there. Without arguments the program starts a server of
 * its own, and asks that: a typed request and its answer as JSON, a redirect, and a body that comes in pieces.
 */
#include <inttypes.h>
#include <stdio.h>
#include <troupe/troupe.h>

TR_MESSAGE(price, (str, what), (u64, cents));
TR_REQUEST(get_price, price, (str, what), (optional(u64), pieces));

/* ---- The server, for a start without arguments. ---- */

static tr_next on_price(tr_self *self, const struct get_price *message)
{
    uint64_t pieces = message->pieces.has ? message->pieces.value : 1;
    return tr_reply(self, price, .what = message->what, .cents = 250 * pieces);
}

static tr_next on_old(tr_self *self)
{
    return tr_http_reply(self, 308, .location = "/prices/tea");
}

static tr_next on_list(tr_self *self)
{
    tr_http_begin(self, 200, .type = "text/plain");
    for (int i = 1; i <= 1000; i++)
        tr_http_print(self, "line %d\n", i);
    return tr_http_end(self);
}

TR_BEHAVIOR(shop, void, TR_POST("/prices/{what}", get_price, on_price),
            TR_GET("/prices/{what}", get_price, on_price), TR_GET("/old", tr_http_request, on_old),
            TR_GET("/list", tr_http_request, on_list));

/* ---- The client. ---- */

static void ask_for_price(tr_self *self, const char *site)
{
    const struct price *price;
    const struct tr_http_answer *answer =
        tr_await(self,
                 tr_http_ask(self,
                             tr_format(self, "%s/prices/tea", site),
                             .json = TR_AS_JSON(get_price, .pieces = {true, 3})));
    if (answer->status == 200 && tr_http_try_json(self, answer, price, &price) == TR_OK)
        printf("%s: %" PRIu64 " cents\n", price->what, price->cents);
}

static void follow(tr_self *self, const char *site)
{
    const struct tr_http_answer *answer =
        tr_await(self, tr_http_ask(self, tr_format(self, "%s/old", site), .redirects_max = 3));
    printf("%d %.*s\n", answer->status, (int)answer->body.size, (const char *)answer->body.data);
}

/* A body of any size needs no more memory than this buffer. */
static void count_lines(tr_self *self, const char *site)
{
    char buffer[4096];
    size_t got, lines = 0;
    const struct tr_http_answer *answer =
        tr_await(self, tr_http_ask(self, tr_format(self, "%s/list", site), .streams = true));
    while (tr_http_receive(self, answer->stream, buffer, sizeof buffer, &got) == TR_OK && got) {
        for (size_t i = 0; i < got; i++)
            lines += buffer[i] == '\n';
    }
    printf("%zu lines\n", lines);
}

static void ask_all(tr_self *self, const struct tr_args *args)
{
    tr_http_call_ask asked[16];
    const char *urls[16];
    size_t count = args->argv.count < 17 ? args->argv.count - 1 : 16;
    for (size_t i = 0; i < count; i++) {
        urls[i] = args->argv.items[i + 1];
        asked[i] = tr_http_ask(self, urls[i], .redirects_max = 5, .within_ns = 10 * TR_SECOND);
    }
    while (count) {
        const struct tr_http_answer *answer;
        size_t first;
        if (tr_await_any_of(self, &first, asked, count) != TR_OK)
            return;
        if (tr_try_await(self, asked[first], &answer) == TR_OK)
            printf("%d %zu bytes from %s\n", answer->status, answer->body.size, answer->url);
        else
            printf("%s\n", tr_ask_error(self, asked[first])->text);
        count--;
        asked[first] = asked[count];
        urls[first] = urls[count];
    }
}

static tr_next on_args(tr_self *self, const struct tr_args *args)
{
    tr_listener_ref listener;
    if (args->argv.count > 1) {
        ask_all(self, args);
        return TR_STOP;
    }
    tr_status status = tr_try_listen(self, &listener, shop, TR_HTTP("127.0.0.1:0"));
    if (status != TR_OK)
        return tr_fail(self, status, "cannot listen");
    tr_address address = tr_listener_address(self, listener);
    const char *site = tr_format(self, "http://%s", tr_address_text(self, address));
    ask_for_price(self, site);
    follow(self, site);
    count_lines(self, site);
    return TR_STOP;
}

TR_BEHAVIOR(app, void, TR_ON(tr_args, on_args));

int main(int argc, char **argv)
{
    return tr_app_main(argc, argv, app);
}
