/* SPDX-License-Identifier: Apache-2.0 */
/** Guards of gateways, for WebSockets and their messages. On the network of kits. */
#include "support/desk_sockets.h"

TEST(a_guard_is_asked_for_connections_too, "H-07")
{
    begin(open_guarded);
    peer_send(peer, "GET /actors/desk/a" SHAKE "\r\n");
    ck_assert_ptr_nonnull(strstr(tr_kit_receive_text(peer, TR_SECOND), "request/unauthorized"));
    SAID("guard desk/a/");
    connect_to(peer, "/actors/desk/a?token=anna", OPEN(0, false));
    SAID("guard desk/a/; awake; connected 1 anna token=anna");
    ASKS(peer, "{\"id\":1,\"ask\":\"look\"}", "T\"{'id':1,'reply':{'value':0,'who':'anna'}}\"");
    SAID("guard desk/a/look");
    /* A key of one caller is not that of another, also if the other asks by POST. */
#define KEYED "{\"id\":1,\"ask\":\"add\",\"with\":{\"by\":1},\"key\":\"k\"}"
    ASKS(peer, KEYED, "T\"{'id':1,'reply':{'value':1,'who':'anna'}}\" " RANG(1, 1));
    ASKS(peer, KEYED, "T\"{'id':1,'reply':{'value':1,'who':'anna'}}\"");
    tr_kit_peer *poster = peer_new();
#define KEY(who) "Authorization: Bearer " who "\r\nIdempotency-Key: k\r\n"
    DESK_ASK(
        poster, POST("add", KEY("anna"), "{\"by\":1}"), HTTP_OK("{\"value\":1,\"who\":\"anna\"}"));
    DESK_ASK(
        poster, POST("add", KEY("bob"), "{\"by\":1}"), HTTP_OK("{\"value\":2,\"who\":\"bob\"}"));
    GETS(peer, RANG(2, 2));
    tr_kit_close(poster);
    tr_kit_peer *other = peer_new();
    connect_to(other, "/actors/desk/a?token=often", OPEN(2, false));
    for (int i = 0; i < 2; i++)
        ASKS(other,
             "{\"id\":1,\"ask\":\"look\"}",
             "T\"{'id':1,'reply':{'value':2,'who':'often'}}\"");
    ASKS(other,
         "{\"id\":1,\"ask\":\"look\"}",
         "T\"{'id':1,'error':{'code':'request/too_many','message':'too many "
         "requests','status':429,'after':21}}\"");
    tr_kit_close(other);
    end();
}

/* Those whom a guard has given no name are counted as one. */
TEST(a_guard_limits_messages_of_callers_without_a_name, "H-07")
{
    begin(open_guarded);
    connect_to(peer, "/actors/desk/a?token=nobody", OPEN(0, false));
    for (int i = 0; i < 2; i++)
        ASKS(peer, "{\"id\":1,\"ask\":\"look\"}", "T\"{'id':1,'reply':{'value':0,'who':''}}\"");
    ASKS(peer,
         "{\"id\":1,\"ask\":\"look\"}",
         "T\"{'id':1,'error':{'code':'request/too_many','message':'too many "
         "requests','status':429,'after':21}}\"");
    end();
}

/* A guard that refuses a message by POST refuses it on a WebSocket too. */
TEST(a_guard_is_asked_for_each_message_of_a_socket, "H-07")
{
    static const char add[] = "{\"id\":1,\"ask\":\"add\",\"with\":{\"by\":1}}";
    begin(open_guarded);
    DESK_ASK(peer,
             POST("add", "Authorization: Bearer viewer\r\n", "{\"by\":1}"),
             PROBLEM(403, "Forbidden", "request/forbidden", "this is not for you"));
    SAID("guard desk/a/add");
    peer_send(peer,
              "GET /actors/desk/a" SHAKE "Authorization: Bearer viewer\r\nCookie: a=1\r\n\r\n");
    ck_assert_ptr_nonnull(strstr(tr_kit_receive_text(peer, TR_SECOND), "HTTP/1.1 101 "));
    SAID("guard desk/a/; cookie a=1; awake; connected 1 viewer -");
    ASKS(peer,
         add,
         "T\"{'id':1,'error':{'code':'request/forbidden','message':'this is not for "
         "you','status':403}}\"");
    SAID("guard desk/a/add");
    ASKS(peer, "{\"id\":2,\"ask\":\"look\"}", "T\"{'id':2,'reply':{'value':0,'who':'viewer'}}\"");
    SAID("guard desk/a/look; cookie a=1");
    /* The name is what the client says: no client gets to know which ones there are before the guard has replied. */
    ASKS(
        peer,
        "{\"id\":3,\"ask\":\"hidden\"}",
        "T\"{'id':3,'error':{'code':'actor/unknown_message','message':'no message hidden is served "
        "here','status':404}}\"");
    SAID("guard desk/a/hidden; cookie a=1");
    /* A guard that says so is asked once. */
    tr_kit_peer *other = peer_new();
    connect_to(other, "/actors/desk/a?token=guest", OPEN(0, false));
    SAID("guard desk/a/; connected 2 guest token=guest");
    ASKS(other, add, "T\"{'id':1,'reply':{'value':1,'who':'guest'}}\" " RANG(1, 1));
    SAID("");
    tr_kit_close(other);
    end();
}

/* Its messages are counted all the same, with the beginning of the WebSocket: three in a minute. */
TEST(a_guard_that_is_asked_once_limits_the_messages_too, "H-07")
{
    begin(open_guarded);
    connect_to(peer, "/actors/desk/a?token=regular", OPEN(0, false));
    SAID("guard desk/a/; awake; connected 1 regular token=regular");
    for (int i = 0; i < 2; i++)
        ASKS(peer,
             "{\"id\":1,\"ask\":\"look\"}",
             "T\"{'id':1,'reply':{'value':0,'who':'regular'}}\"");
    ASKS(peer,
         "{\"id\":1,\"ask\":\"look\"}",
         "T\"{'id':1,'error':{'code':'request/too_many','message':'too many "
         "requests','status':429,'after':21}}\"");
    SAID("");
    end();
}

/* A client of HTTP can find out why a WebSocket is refused, which browsers do not tell. */
TEST(the_path_of_a_socket_says_whether_a_client_may_connect, "H-07")
{
    begin(open_guarded);
    DESK_ASK(peer,
             "GET /actors/desk/a" H "\r\n",
             "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Bearer\r\n\r\n{\"error\":{\"code\":"
             "\"request/unauthorized\",\"message\":\"say who you are\",\"status\":401}}");
    DESK_ASK(peer,
             "GET /actors/desk/a?token=eve" H "\r\n",
             PROBLEM(403, "Forbidden", "request/forbidden", "this is not for you"));
    DESK_ASK(peer,
             "GET /actors/none/a?token=anna" H "\r\n",
             PROBLEM(404, "Not Found", "actor/unknown_kind", "no kind none is served here"));
    DESK_ASK(peer,
             "GET /actors/desk/a?token=anna" H "\r\n",
             "HTTP/1.1 426 Upgrade Required\r\nUpgrade: websocket\r\n\r\n{\"error\":{\"code\":"
             "\"request/no_websocket\",\"message\":\"connect by WebSocket\",\"status\":426}}");
    SAID("guard desk/a/; guard desk/a/; guard desk/a/"); /* nothing has woken */
    end();
}

/* The guard takes its time. Meanwhile the actor is destroyed, and its connections end. */
TEST(a_socket_may_end_while_its_guard_is_asked, "H-07")
{
    tr_kit_peer *other;
    begin(open_guarded);
    other = peer_new();
    connect_to(peer, "/actors/desk/a?token=slow", OPEN(0, false));
    (void)said();
    say_to(peer, "{\"id\":1,\"ask\":\"add\",\"with\":{\"by\":1}}");
    SAID("guard desk/a/add");
    peer_send(other, POST("misbehave", "Authorization: Bearer anna\r\n", "{\"how\":8}"));
    ck_assert_ptr_nonnull(strstr(tr_kit_receive_text(other, TR_MILLISECOND), " 200 OK"));
    tr_kit_advance(kit, 10 * TR_SECOND);
    (void)said();
    DESK_ASK(other,
             "GET /actors/desk/a/look" H "Authorization: Bearer anna\r\n\r\n",
             HTTP_OK("{\"value\":0,\"who\":\"anna\"}"));
    SAID("guard desk/a/look; awake");
    tr_kit_close(other);
    end();
}

SUITE("guards of gateways", a_guard_is_asked_for_connections_too,
      a_guard_that_is_asked_once_limits_the_messages_too,
      a_guard_limits_messages_of_callers_without_a_name,
      a_guard_is_asked_for_each_message_of_a_socket,
      the_path_of_a_socket_says_whether_a_client_may_connect,
      a_socket_may_end_while_its_guard_is_asked)
