/* SPDX-License-Identifier: Apache-2.0 */
/** How connections of HTTP/2 end whose sends fail. On the network of kits. */
#include "support/h2.h"
#include "support/http.h"

enum {
    AT_ONCE = 16 * 1024 /* bytes of output that are sent without waiting for the end of the run */
};

static char text[AT_ONCE];
static size_t text_size;

/* Writes almost as much as is sent at once, and fails; what the end of the connection adds is sent, and that fails. */
static tr_next on_break(tr_self *self)
{
    tr_http_begin(self, 200, .type = "text/plain");
    (void)tr_http_write(self, (tr_bytes){text, text_size});
    tr_kit_fail_network(kit, "send", 1, TR_RESET);
    return tr_fail(self, TR_BAD_DATA, "broken");
}

TR_BEHAVIOR(site, void, TR_GET("/break", tr_http_request, on_break));
TR_BEHAVIOR(host, void, TR_ON(run, on_run));

static tr_next open_site(tr_self *self)
{
    listener = tr_listen(self, site, TR_HTTP(SERVER));
    return TR_SAME;
}

TEST(a_send_that_fails_while_a_session_ends_frees_nothing_twice, "C-05", "W-11")
{
    kit_open(1, 1);
    HOST(host, open_site);
    memset(text, 'x', sizeof text);
    for (text_size = AT_ONCE - 200; text_size <= AT_ONCE; text_size += 4) {
        struct h2_client client;
        h2_open(&client);
        (void)h2_get(&client, "/break");
        h2_run(&client, TR_SECOND);
        tr_kit_fail_network(kit, "send", 0, TR_RESET);
        h2_close(&client);
    }
    kit_close();
}

SUITE("ends of http/2", a_send_that_fails_while_a_session_ends_frees_nothing_twice)
