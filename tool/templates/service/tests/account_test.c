/* SPDX-License-Identifier: Apache-2.0 */
/** Accounts on the test kit: one thread, virtual time, a store in memory, a network without sockets. */
#include <string.h>
#include <troupe/kit_net.h>

#include "account.h"
#include "check.h"
#include "server.h"

static tr_kit *begin(void)
{
    tr_kit *kit = tr_kit_new(&(tr_kit_options){.durable = TR_DURABLES(account)});
    CHECK(kit != NULL);
    return kit;
}

static void money_outlives_sleep(void)
{
    tr_kit *kit = begin();
    tr_client *test = tr_kit_client(kit);
    const struct balance *balance;
    CHECK(tr_try_await(test, tr_ask_key(test, account, "anna", deposit, .cents = 500), NULL) ==
          TR_OK);
    tr_kit_advance(kit, TR_MINUTE); /* nobody asks, so it sleeps */
    CHECK(tr_try_await(test, tr_ask_key(test, account, "anna", withdraw, .cents = 200), &balance) ==
          TR_OK);
    CHECK(balance->cents == 300);
    tr_kit_free(kit); /* aborts if memory has leaked or a message was lost */
}

static void nobody_takes_more_than_there_is(void)
{
    tr_kit *kit = begin();
    tr_client *test = tr_kit_client(kit);
    CHECK(tr_try_await(test, tr_ask_key(test, account, "anna", withdraw, .cents = 1), NULL) ==
          TR_REFUSED);
    tr_kit_free(kit);
}

static void strangers_ask_by_http(void)
{
    static const char request[] = "POST /actors/account/ben/deposit HTTP/1.1\r\nHost: test\r\n"
                                  "Content-Length: 13\r\n\r\n{\"cents\":700}";
    tr_kit *kit = begin();
    tr_client *test = tr_kit_client(kit);
    server_ref server;
    CHECK(tr_try_spawn(test, &server, server, "server") == TR_OK);
    serve_ask asked = tr_ask(test, server, serve, .address = "127.0.0.1:8080");
    CHECK(tr_try_await(test, asked, NULL) == TR_OK);
    tr_kit_peer *peer = tr_kit_connect(kit, "127.0.0.1:8080");
    CHECK(peer && tr_kit_send(peer, (tr_bytes){request, sizeof request - 1}) == sizeof request - 1);
    CHECK(strstr(tr_kit_receive_text(peer, TR_SECOND), "{\"cents\":700}"));
    tr_kit_free(kit);
}

int main(void)
{
    money_outlives_sleep();
    nobody_takes_more_than_there_is();
    strangers_ask_by_http();
    return 0;
}
