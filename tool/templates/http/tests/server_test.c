/* SPDX-License-Identifier: Apache-2.0 */
/** The server on the test kit: no sockets, virtual time; the test is the client. */
#include <string.h>
#include <troupe/kit_net.h>

#include "check.h"
#include "server.h"

static tr_kit *kit;

/* Sends a request, and returns the answer, which is borrowed until the next one. */
static const char *ask(tr_kit_peer *peer, const char *request)
{
    tr_bytes bytes = {request, strlen(request)};
    CHECK(tr_kit_send(peer, bytes) == bytes.size);
    return tr_kit_receive_text(peer, TR_SECOND);
}

static tr_kit_peer *begin(void)
{
    server_ref server;
    kit = tr_kit_new(NULL);
    tr_client *test = tr_kit_client(kit);
    CHECK(tr_try_spawn(test, &server, server, "server") == TR_OK);
    serve_ask asked = tr_ask(test, server, serve, .address = "127.0.0.1:8080");
    CHECK(tr_try_await(test, asked, NULL) == TR_OK);
    tr_kit_peer *peer = tr_kit_connect(kit, "127.0.0.1:8080");
    CHECK(peer != NULL);
    return peer;
}

static void a_note_can_be_read_again(void)
{
    tr_kit_peer *peer = begin();
    const char *answer =
        ask(peer,
            "POST /notes HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\n"
            "Content-Length: 18\r\n\r\n{\"text\":\"buy tea\"}");
    CHECK(strstr(answer, "{\"id\":1,\"text\":\"buy tea\"}"));
    answer = ask(peer, "GET /notes/1 HTTP/1.1\r\nHost: test\r\n\r\n");
    CHECK(strncmp(answer, "HTTP/1.1 200 ", 13) == 0 && strstr(answer, "buy tea"));
    tr_kit_free(kit);
}

static void what_is_not_there_is_404(void)
{
    const char *answer = ask(begin(), "GET /notes/7 HTTP/1.1\r\nHost: test\r\n\r\n");
    CHECK(strncmp(answer, "HTTP/1.1 404 ", 13) == 0 && strstr(answer, "no note 7"));
    tr_kit_free(kit);
}

int main(void)
{
    a_note_can_be_read_again();
    what_is_not_there_is_404();
    return 0;
}
