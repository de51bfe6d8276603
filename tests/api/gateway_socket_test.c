/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Connections of durable actors: requests and events on WebSockets, sleep and wake between them, what is kept, ends of all
 * kinds, connections that a process leaves behind, events that were missed. On the network of kits, with a client that
 * shares no code with the library.
 */
#include "support/desk_sockets.h"

TEST(a_socket_asks_and_gets_answers_and_events_in_order, "H-01", "H-05")
{
    begin(open_plain);
    connect_to(peer, "/actors/desk/a?x=1", OPEN(0, false));
    SAID("awake; connected 1 - x=1");
    /* The desk replies first, and rings then. */
    ASKS(peer, "{\"id\":1,\"ask\":\"add\",\"with\":{\"by\":2}}", TOLD(1, 2) " " RANG(1, 2));
    ASKS(peer, "{\"with\" : {\"by\":3} ,\"ask\":\"add\",\"id\":2}", TOLD(2, 5) " " RANG(2, 5));
    ASKS(peer, "{\"id\":3,\"ask\":\"look\"}", TOLD(3, 5));
    /* Without an id there is no answer. */
    ASKS(peer, "{\"ask\":\"add\",\"with\":{\"by\":1}}", RANG(3, 6));
    ASKS(
        peer,
        "{\"id\":4,\"ask\":\"hidden\"}",
        "T\"{'id':4,'error':{'code':'actor/unknown_message','message':'no message hidden is served "
        "here','status':404}}\"");
    ASKS(peer,
         "{\"id\":5,\"ask\":\"add\",\"with\":{\"by\":\"x\"}}",
         "T\"{'id':5,'error':{'code':'request/bad_json','message':'by: an integer is expected, not "
         "a string','status':400}}\"");
    ASKS(peer,
         "{\"id\":6,\"ask\":\"misbehave\",\"with\":{\"how\":2}}",
         "T\"{'id':6,'error':{'code':'actor/failed','message':'the actor has "
         "failed','status':500}}\"");
    SAID("awake");
    /* An event of the one connection has no number. */
    ASKS(peer,
         "{\"id\":7,\"ask\":\"misbehave\",\"with\":{\"how\":6}}",
         "T\"{'event':'rang','with':{'value':7}}\" " TOLD(7, 6));
    /* A key: one effect. */
    ASKS(peer,
         "{\"id\":8,\"ask\":\"add\",\"with\":{\"by\":1},\"key\":\"k\"}",
         TOLD(8, 7) " " RANG(4, 7));
    ASKS(peer, "{\"id\":9,\"ask\":\"add\",\"with\":{\"by\":1},\"key\":\"k\"}", TOLD(9, 7));
    send_script(peer, "C1000\"bye\"");
    GETS(peer, "C1000\"bye\"");
    SAID("gone 1 1000 -");
    end();
}

TEST(two_windows_see_the_same, "H-01", "H-05")
{
    begin(open_plain);
    tr_kit_peer *other = peer_new();
    connect_to(peer, "/actors/desk/a", OPEN(0, false));
    connect_to(other, "/actors/desk/a", OPEN(0, false));
    SAID("awake; connected 1 - -; connected 2 - -");
    ASKS(peer, "{\"id\":1,\"ask\":\"add\",\"with\":{\"by\":2}}", TOLD(1, 2) " " RANG(1, 2));
    GETS(other, RANG(1, 2));
    /* By POST, too. */
    tr_kit_peer *third = peer_new();
    DESK_ASK(third, POST("add", "", "{\"by\":1}"), HTTP_OK("{\"value\":3,\"who\":\"nobody\"}"));
    GETS(other, RANG(2, 3));
    GETS(peer, RANG(2, 3));
    tr_kit_reset(other);
    tr_kit_settle(kit);
    SAID("gone 2 1006 -");
    GETS(peer, RANG(3, 901));
    tr_kit_close(third);
    tr_kit_close(other);
    end();
}

TEST(a_connection_outlives_the_sleep_of_its_actor, "H-03", "H-04", "Z-04")
{
    begin(open_plain);
    connect_to(peer, "/actors/desk/a", OPEN(0, false));
    ASKS(peer,
         "{\"id\":1,\"ask\":\"add\",\"with\":{\"by\":2,\"note\":\"anna\"}}",
         TOLD(1, 2) " " RANG(1, 2));
    SAID("awake; connected 1 - -");
    for (int i = 0; i < 3; i++) {
        tr_kit_advance(kit, 20 * TR_SECOND); /* the open connection does not keep it awake */
        tr_durable_page page = {0};
        ck_assert_int_eq(tr_durable_list(test, desk, &page), TR_OK);
        ck_assert(page.count == 1 && !page.keys[0].is_awake);
        ck_assert_uint_eq(tr_kit_receive(peer, MS).size, 0);
        ASKS(peer, "{\"id\":2,\"ask\":\"look\"}", TOLD(2, 2));
        SAID("awake");
    }
    /* Another one wakes it, and the event reaches this one. */
    tr_kit_advance(kit, 20 * TR_SECOND);
    tr_kit_peer *other = peer_new();
    DESK_ASK(other, POST("add", "", "{\"by\":1}"), HTTP_OK("{\"value\":3,\"who\":\"nobody\"}"));
    GETS(peer, RANG(2, 3));
    SAID("awake");
    /* It ends while the actor sleeps: what was kept is there. */
    tr_kit_advance(kit, 20 * TR_SECOND);
    send_script(peer, "C1001\"\"");
    SAID("awake; gone 1 1001 anna");
    tr_kit_close(other);
    end();
}

TEST(a_connection_can_be_refused_and_ended, "H-03")
{
    begin(open_plain);
    peer_send(peer, "GET /actors/desk/a?no" SHAKE "\r\n");
    ck_assert_str_eq(desks_plain(tr_kit_receive_text(peer, TR_SECOND)),
                     "HTTP/1.1 422 Unprocessable Content\r\n\r\n{\"error\":{\"code\":\"actor/"
                     "refused\",\"message\":\"full\",\"status\":422,\"reason\":9}}");
    SAID("awake; connected 1 - no");
    connect_to(peer, "/actors/desk/a", OPEN(0, false));
    ASKS(peer, "{\"id\":1,\"ask\":\"misbehave\",\"with\":{\"how\":5}}", "C4001\"enough\"");
    send_script(peer, "C4001\"\"");
    SAID("connected 2 - -; gone 2 4001 -");
    end();
}

TEST(who_connects_again_gets_what_was_missed, "H-05")
{
    begin(open_plain);
    tr_kit_peer *other = peer_new();
    for (int i = 0; i < 3; i++) {
        peer_send(other, POST("add", "", "{\"by\":1}"));
        ck_assert_uint_gt(tr_kit_receive(other, TR_SECOND).size, 0);
    }
    connect_to(peer, "/actors/desk/a?last=1", OPEN(1, false) " " RANG(2, 2) " " RANG(3, 3));
    ASKS(peer, "{\"id\":1,\"ask\":\"add\",\"with\":{\"by\":1}}", TOLD(1, 4) " " RANG(4, 4));
    tr_kit_peer *third = peer_new();
    connect_to(third, "/actors/desk/a?last=4", OPEN(4, false));
    tr_kit_close(third);
    third = peer_new(); /* a number that was never there */
    connect_to(third, "/actors/desk/a?last=99", OPEN(5, true));
    for (int i = 0; i < TR_CONNECTION_EVENTS_KEPT; i++) {
        peer_send(other, POST("add", "", "{\"by\":1}"));
        ck_assert_uint_gt(tr_kit_receive(other, TR_SECOND).size, 0);
    }
    tr_kit_close(third);
    third = peer_new();
    peer_send(third, "GET /actors/desk/a?last=4" SHAKE "\r\n");
    ck_assert_ptr_nonnull(strstr(tr_kit_receive_text(third, TR_SECOND), "\"gap\":true"));
    tr_kit_close(third);
    tr_kit_close(other);
    end();
}

/* Copies a store as a crash would leave it. */
static void copy_store(const char *from, const char *to)
{
    char command[256];
    snprintf(command, sizeof command, "rm -rf '%s' && cp -r '%s' '%s'", to, from, to);
    ck_assert_int_eq(system(command), 0);
}

/* A process crashes, while the actor is awake or asleep: the next one finds the connections, and what was kept. */
TEST(connections_that_a_crash_leaves_behind_are_gone_once, "H-03", "H-04")
{
    for (int how = 0; how < 2; how++) {
        char directory[] = "/tmp/troupe-gateway-XXXXXX";
        char copy[sizeof directory + 1];
        ck_assert_ptr_nonnull(mkdtemp(directory));
        snprintf(copy, sizeof copy, "%s2", directory);
        desks_begin_in(directory, open_plain, 2, 1);
        peer = peer_new();
        tr_kit_peer *other = peer_new();
        connect_to(peer, "/actors/desk/a", OPEN(0, false));
        connect_to(other, "/actors/desk/a", OPEN(0, false));
        ASKS(peer,
             "{\"id\":1,\"ask\":\"add\",\"with\":{\"by\":2,\"note\":\"anna\"}}",
             TOLD(1, 2) " " RANG(1, 2));
        if (how == 1)
            tr_kit_advance(kit, 20 * TR_SECOND); /* it sleeps */
        copy_store(directory, copy);
        tr_kit_free(kit);
        desks_begin_in(copy, open_plain, 2, 2);
        peer = peer_new();
        DESK_ASK(peer, POST("look", "", "{}"), HTTP_OK("{\"value\":2,\"who\":\"nobody\"}"));
        SAID("awake; gone 1 1006 anna; gone 2 1006 -");
        connect_to(peer, "/actors/desk/a?last=1", OPEN(1, false) " " RANG(2, 901) " " RANG(3, 902));
        SAID("connected 3 - last=1");
        /* A shutdown in order is the end of its connections, in this process or the next. */
        tr_kit_free(kit);
        bool is_known = strcmp(said(), "gone 3 1001 -") == 0;
        desks_begin_in(copy, open_plain, 2, 3);
        peer = peer_new();
        DESK_ASK(peer, POST("look", "", "{}"), HTTP_OK("{\"value\":2,\"who\":\"nobody\"}"));
        SAID(is_known ? "awake" : "awake; gone 3 1006 -");
        end();
        char command[128];
        snprintf(command, sizeof command, "rm -rf '%s' '%s'", directory, copy);
        ck_assert_int_eq(system(command), 0);
    }
}

/* Where a process crashes. */
struct crash {
    const char *path;    /* of the connection */
    const char *said[3]; /* what the handlers say until a process crashes; NULL: no further crash */
    const char *expected; /* how many have connected and are gone, in the end */
};

/* Lets the actor begin in a process that crashes in the middle of its handlers: `copy` is what is stored then. */
static void crash_in(const char *path, const char *from, const char *copy, uint64_t seed,
                     const char *words)
{
    desks_begin_in(from, open_plain, 2, seed);
    peer = peer_new();
    peer_send(peer, path);
    if (strstr(words, "connected 1") && strstr(words, "gone")) /* tr_connected waits before */
        tr_kit_advance(kit, 21 * TR_SECOND);
    SAID(words);
    copy_store(from, copy);
    tr_kit_free(kit);
}

/* Opens the store, as a process after a crash does, and compares how many connections began and ended there. */
static void count_in(const char *store, uint64_t seed, const char *expected)
{
    for (int again = 0; again < 2; again++) { /* the same in the next process */
        desks_begin_in(store, open_plain, 2, seed + (uint64_t)again);
        peer = peer_new();
        peer_send(peer, POST("misbehave", "", "{\"how\":7}"));
        tr_kit_advance(kit, 60 * TR_SECOND);
        (void)tr_kit_receive_text(peer, TR_SECOND);
        peer = peer_new();
        DESK_ASK(peer, POST("misbehave", "", "{\"how\":7}"), expected);
        if (again)
            end();
        else
            tr_kit_free(kit);
    }
}

/* The store is copied in the middle of handlers that wait: each copy is what a crash would leave behind. */
TEST(a_crash_within_the_handlers_of_connections_leaves_each_effect_once, "H-03", "H-04")
{
    static const struct crash crashes[] = {
        {"?wait", {"awake; connected 1 - wait"}, HTTP_OK("{\"value\":1001,\"who\":null}")},
        {"?wait",
         {"awake; connected 1 - wait", "awake; connected 1 - wait", "awake; connected 1 - wait"},
         HTTP_OK("{\"value\":1001,\"who\":null}")},
        /* tr_disconnected waits too, and runs again without tr_connected. */
        {"?wait-slow",
         {"awake; connected 1 - wait-slow",
          "awake; connected 1 - wait-slow; gone 1 1006 slow",
          "awake; gone 1 1006 slow"},
         HTTP_OK("{\"value\":1001,\"who\":null}")},
        /* What they change before they would wait counts once: they may not wait then. */
        {"?early", {"awake; connected 1 - early"}, HTTP_OK("{\"value\":1001,\"who\":null}")},
        {"?early-gone",
         {"awake; connected 1 - early-gone", "awake; gone 1 1006 early"},
         HTTP_OK("{\"value\":1001,\"who\":null}")},
        /* One that is refused in the end was never there. */
        {"?wait-no", {"awake; connected 1 - wait-no"}, HTTP_OK("{\"value\":0,\"who\":null}")},
        /* One that fails does not keep the actor from waking: its connection is gone. */
        {"?wait-fail", {"awake; connected 1 - wait-fail"}, HTTP_OK("{\"value\":1,\"who\":null}")},
    };
    for (size_t i = 0; i < sizeof crashes / sizeof crashes[0]; i++) {
        const struct crash *crash = &crashes[i];
        char directory[] = "/tmp/troupe-gateway-XXXXXX";
        char stores[4][sizeof directory + 1], request[256], command[256];
        uint64_t at = 0;
        ck_assert_ptr_nonnull(mkdtemp(directory));
        for (size_t k = 0; k < 4; k++) {
            snprintf(stores[k], sizeof stores[k], "%s%zu", directory, k);
            copy_store(directory, stores[k]);
        }
        snprintf(request, sizeof request, "GET /actors/desk/a%s" SHAKE "\r\n", crash->path);
        for (; at < 3 && crash->said[at]; at++)
            crash_in(at ? POST("look", "", "{}") : request,
                     stores[at],
                     stores[at + 1],
                     at + 1,
                     crash->said[at]);
        count_in(stores[at], at + 1, crash->expected);
        snprintf(command, sizeof command, "rm -rf '%s' '%s'?", directory, directory);
        ck_assert_int_eq(system(command), 0);
    }
}

/* In the first turn after a crash several of them run, one after the other: what one has changed does not keep the next from waiting. */
TEST(handlers_of_lost_connections_may_wait_one_after_the_other, "H-03")
{
    char directory[] = "/tmp/troupe-gateway-XXXXXX";
    char copy[sizeof directory + 1], command[128];
    ck_assert_ptr_nonnull(mkdtemp(directory));
    snprintf(copy, sizeof copy, "%s2", directory);
    desks_begin_in(directory, open_plain, 2, 1);
    static const char *const queries[] = {"gone-state", "gone-table", "gone-key", "gone-nothing"};
    for (size_t i = 0; i < sizeof queries / sizeof queries[0]; i++) {
        char request[256];
        snprintf(request, sizeof request, "GET /actors/desk/a?%s" SHAKE "\r\n", queries[i]);
        peer = peer_new();
        peer_send(peer, request);
        (void)tr_kit_receive(peer, TR_SECOND);
    }
    copy_store(directory, copy);
    tr_kit_free(kit);
    desks_begin_in(copy, open_plain, 2, 2);
    peer = peer_new();
    DESK_ASK(peer, POST("misbehave", "", "{\"how\":7}"), HTTP_OK("{\"value\":4004,\"who\":null}"));
    SAID("awake; gone 1 1006 gone-state; state: TR_OK TR_OK TR_INVALID_TRANSITION "
         "TR_INVALID_TRANSITION; "
         "gone 2 1006 gone-table; table: TR_OK TR_OK TR_INVALID_TRANSITION TR_INVALID_TRANSITION; "
         "gone 3 1006 gone-key; key: TR_OK TR_OK TR_INVALID_TRANSITION TR_INVALID_TRANSITION; "
         "gone 4 1006 gone-nothing; nothing: TR_OK TR_OK TR_OK TR_OK");
    end();
    snprintf(command, sizeof command, "rm -rf '%s' '%s'", directory, copy);
    ck_assert_int_eq(system(command), 0);
}

/* The last frame of a client is cut at each byte. */
TEST(a_socket_that_is_reset_at_each_byte_is_gone_once, "H-03")
{
    struct ws_bytes bytes = {0};
    static const char text[] = "{\"id\":1,\"ask\":\"look\"}";
    static char request[1024];
    int size = snprintf(request, sizeof request, "GET /actors/desk/a" SHAKE "\r\n");
    ws_add(&bytes, request, (size_t)size);
    ws_add_frame(&bytes,
                 (struct ws_made){.first = 0x81, .is_masked = true},
                 (const unsigned char *)text,
                 strlen(text));
    begin(open_plain);
    int connected = 0, gone = 0;
    for (size_t at = 0; at <= bytes.size; at++) {
        tr_kit_peer *other = peer_new();
        ck_assert_uint_eq(tr_kit_send(other, (tr_bytes){bytes.data, at}), at);
        tr_kit_settle(kit);
        tr_kit_reset(other);
        tr_kit_settle(kit);
        tr_kit_close(other);
        const char *happened = said();
        for (const char *s = happened; (s = strstr(s, "connected ")); s++)
            connected++;
        for (const char *s = happened; (s = strstr(s, "gone ")); s++)
            gone++;
    }
    ck_assert_int_gt(connected, 0);
    ck_assert_int_eq(connected, gone);
    free(bytes.data);
    end();
}

/* A client that does not read is cut off, and others are not. */
TEST(a_client_that_cannot_keep_up_is_closed_with_1013, "H-05")
{
    begin(open_plain);
    tr_kit_peer *slow = peer_new();
    peer_send(slow, "GET /actors/desk/a" SHAKE "\r\n");
    connect_to(peer, "/actors/desk/a", OPEN(0, false));
    (void)said();
    int count = 0;
    for (; count < 100; count++) {
        say_to(peer, "{\"ask\":\"misbehave\",\"with\":{\"how\":4}}");
        while (tr_kit_receive(peer, MS).size)
            continue;
        if (strstr(said(), "gone 1 1013 -"))
            break;
    }
    ck_assert_int_gt(count, TR_CONNECTION_UNSENT_MAX / (32 * 1024) - 1);
    ck_assert_int_lt(count, 100);
    tr_kit_close(slow);
    end();
}

/* What has come of a stream, without the sizes of its pieces. */
static const char *lines(tr_kit_peer *from)
{
    static char text[4096];
    const char *got = tr_kit_receive_text(from, MS);
    const char *body = strstr(got, "\r\n\r\n");
    size_t length = 0;
    for (const char *at = body ? body + 4 : got; *at;) {
        size_t size = strtoul(at, NULL, 16);
        at = strstr(at, "\r\n") + 2;
        for (size_t i = 0; i < size; i++)
            text[length++] = at[i] == '\n' ? '|' : at[i];
        at += size + 2;
    }
    text[length] = '\0';
    return text;
}

TEST(a_stream_of_events_is_a_connection_too, "H-01", "H-03", "H-05")
{
    begin(open_plain);
    tr_kit_peer *other = peer_new();
    peer_send(other, POST("add", "", "{\"by\":1}"));
    (void)tr_kit_receive(other, MS);
    peer_send(peer, "GET /actors/desk/a/events" H "\r\n");
    ck_assert_str_eq(lines(peer), "id: 1|event: tr_open|data: {}||");
    SAID("awake; connected 1 - -");
    tr_kit_advance(kit, 40 * TR_SECOND); /* it sleeps, and comments keep the connection */
    ck_assert_str_eq(lines(peer), ":||:||");
    peer_send(other, POST("add", "", "{\"by\":2}"));
    (void)tr_kit_receive(other, MS);
    ck_assert_str_eq(lines(peer), "id: 2|event: rang|data: {\"value\":3}||");
    /* It goes, in order or not. */
    tr_kit_close(peer);
    tr_kit_settle(kit);
    SAID("awake; gone 1 1001 -");
    peer = peer_new();
    peer_send(peer, "GET /actors/desk/a/events" H "Last-Event-ID: 1\r\n\r\n");
    ck_assert_str_eq(lines(peer),
                     "id: 1|event: tr_open|data: {}||id: 2|event: rang|data: {\"value\":3}||"
                     "id: 3|event: rang|data: {\"value\":901}||");
    tr_kit_reset(peer);
    tr_kit_settle(kit);
    SAID("connected 2 - -; gone 2 1006 -");
    tr_kit_close(peer);
    peer = peer_new();
    peer_send(peer, "GET /actors/desk/a/events?last=x" H "\r\n");
    ck_assert_str_eq(lines(peer), "id: 4|event: tr_gap|data: {}||");
    tr_kit_close(other);
    end();
}

/* Whatever a client sends on it ends it, also what would begin HTTP/2 on a new connection. */
TEST(a_stream_of_events_does_not_become_http_2, "H-01", "W-11")
{
    begin(open_plain);
    peer_send(peer, "GET /actors/desk/a/events" H "\r\n");
    ck_assert_ptr_nonnull(strstr(lines(peer), "event: tr_open"));
    said();
    peer_send(peer, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    SAID("gone 1 1001 -");
    tr_bytes rest = tr_kit_receive(peer, MS);
    ck_assert_uint_eq(rest.size, 5);
    ck_assert_mem_eq(rest.data, "0\r\n\r\n", 5);
    end();
}

TEST(what_is_sent_to_a_connection_that_begins_comes_behind_its_beginning, "H-05")
{
    begin(open_plain);
    connect_to(peer,
               "/actors/desk/a?greet",
               OPEN(0, false) " " RANG(1, 1) " T\"{'event':'rang','with':{'value':2}}\"");
    /* One that was missed comes before what is sent now. */
    tr_kit_peer *other = peer_new();
    connect_to(other, "/actors/desk/a?last=0", OPEN(0, false) " " RANG(1, 1));
    tr_kit_close(other);
    end();
}

static bool is_awake(void)
{
    tr_durable_page page = {0};
    ck_assert_int_eq(tr_durable_list(test, desk, &page), TR_OK);
    return page.count && page.keys[0].is_awake;
}

/* Counters of both predicates: the handlers keep the actor awake, and from its end; open connections do not. */
TEST(handlers_of_connections_keep_their_actor_awake, "Z-04", "Z-05")
{
    begin(open_plain);
    /* A key that is stored already, so that it is listed while the handler waits. */
    tr_kit_peer *other = peer_new();
    DESK_ASK(other, POST("add", "", "{\"by\":1}"), HTTP_OK("{\"value\":1,\"who\":\"nobody\"}"));
    peer_send(peer, "GET /actors/desk/a?wait" SHAKE "\r\n");
    tr_kit_advance(kit, 3 * TR_SECOND);
    ck_assert_uint_eq(tr_kit_receive(peer, MS).size, 0);
    char why[2000] = "";
    desk_ref ref;
    ck_assert_int_eq(tr_try_durable(test, &ref, desk, "a"), TR_OK);
    tr_why_report report;
    ck_assert_int_eq(tr_actor_why(test, ref, &report), TR_OK);
    for (size_t i = 0; i < report.count; i++)
        snprintf(why + strlen(why), sizeof why - strlen(why), "%s; ", report.reasons[i].text);
    ck_assert_msg(strstr(why, "socket callbacks: tr_connected keeps it awake"), "%s", why);
    tr_kit_advance(kit, TR_MINUTE);
    ck_assert(!is_awake());
    tr_kit_close(other);
    end();
}

TEST(a_slow_goodbye_is_finished_before_the_actor_sleeps, "Z-05", "H-03")
{
    begin(open_plain);
    connect_to(peer, "/actors/desk/a", OPEN(0, false));
    ASKS(peer,
         "{\"id\":1,\"ask\":\"add\",\"with\":{\"by\":2,\"note\":\"slow\"}}",
         TOLD(1, 2) " " RANG(1, 2));
    tr_kit_advance(kit, 20 * TR_SECOND);
    ck_assert(!is_awake());
    (void)said();
    send_script(peer, "C1000\"\"");
    SAID("awake; gone 1 1000 slow");
    tr_kit_advance(kit, 15 * TR_SECOND); /* longer than its idle time */
    ck_assert(is_awake());
    tr_kit_advance(kit, 20 * TR_SECOND);
    ck_assert(!is_awake());
    tr_kit_peer *other = peer_new();
    DESK_ASK(other, POST("misbehave", "", "{\"how\":7}"), HTTP_OK("{\"value\":1001,\"who\":null}"));
    tr_kit_close(other);
    end();
}

TEST(an_actor_that_is_destroyed_closes_its_connections, "H-03", "Z-06")
{
    begin(open_plain);
    connect_to(peer, "/actors/desk/a", OPEN(0, false));
    (void)said();
    ASKS(peer,
         "{\"id\":1,\"ask\":\"misbehave\",\"with\":{\"how\":8}}",
         TOLD(1, 0) " C1001\"the actor is destroyed\"");
    send_script(peer, "C1001\"\"");
    tr_kit_advance(kit, TR_MINUTE);
    SAID(""); /* its end wakes nobody */
    ck_assert_int_eq(tr_durable_exists(test, desk, "a"), TR_NOT_FOUND);
    /* The numbers of its connections do not come again: a late message about one is about no other. */
    tr_kit_peer *other = peer_new();
    connect_to(other, "/actors/desk/a", OPEN(0, false));
    SAID("awake; connected 4294967297 - -");
    tr_kit_close(other);
    end();
}

/* The handler of tr_connected ends long after the ask for it: its events must not reach what this client asks next. */
TEST(a_connection_that_is_taken_too_late_gets_nothing, "H-05", "H-06")
{
    desks_begin(open_plain);
    tr_kit_peer *late = peer_new();
    peer_send(late, "GET /actors/desk/a/events?wait" H "\r\n");
    const char *answer = tr_kit_receive_text(late, 6 * TR_SECOND);
    ck_assert_ptr_nonnull(strstr(answer, " 408 "));
    ck_assert_ptr_nonnull(strcasestr(answer, "connection: close"));
    SAID("awake; connected 1 - wait");
    tr_kit_advance(kit, 30 * TR_SECOND);
    ck_assert_ptr_nonnull(strstr(said(), "gone 1 1006 -")); /* the actor does not keep it */
    ck_assert_uint_eq(tr_kit_receive(late, TR_SECOND).size, 0);
    ck_assert_int_ne(tr_kit_peer_status(late), TR_OK);
    tr_kit_close(late);
    tr_kit_settle(kit);
    kit_close();
}

SUITE("sockets of gateways", what_is_sent_to_a_connection_that_begins_comes_behind_its_beginning,
      handlers_of_connections_keep_their_actor_awake,
      a_slow_goodbye_is_finished_before_the_actor_sleeps,
      an_actor_that_is_destroyed_closes_its_connections, a_stream_of_events_is_a_connection_too,
      a_stream_of_events_does_not_become_http_2, a_socket_asks_and_gets_answers_and_events_in_order,
      two_windows_see_the_same, a_connection_outlives_the_sleep_of_its_actor,
      a_connection_can_be_refused_and_ended, who_connects_again_gets_what_was_missed,
      connections_that_a_crash_leaves_behind_are_gone_once,
      a_crash_within_the_handlers_of_connections_leaves_each_effect_once,
      handlers_of_lost_connections_may_wait_one_after_the_other,
      a_socket_that_is_reset_at_each_byte_is_gone_once,
      a_client_that_cannot_keep_up_is_closed_with_1013,
      a_connection_that_is_taken_too_late_gets_nothing)
