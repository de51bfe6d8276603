/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Sessions of example 28 on the network of the kit: a pipeline that is cut at every byte, or comes in random pieces, has the
 * same answers; a reset at every byte leaves nothing behind; limits of a batch; a client that does not read.
 */
#include <troupe/kit_net.h>

#include "support/test.h"

#include <stdlib.h>

int resp_main(int argc, char **argv);
#define main resp_main
#include "../examples/28_resp/main.c"
#undef main
#include "../examples/28_resp/answer.c"
#include "../examples/28_resp/commands.c"
#include "../examples/28_resp/resp.c"
#include "../examples/28_resp/session.c"
/* Both have functions of these names. */
#define set_up shard_set_up
#include "../examples/28_resp/shard.c"
#undef set_up

#define ADDRESS "127.0.0.1:6380"

static tr_kit *kit;

static tr_next on_begin(tr_self *self)
{
    shard_ref shards = tr_spawn_group(self, shard, "shards", TR_ONE_PER_WORKER);
    tr_listen(self,
              session,
              TR_TCP(ADDRESS, .frame_max = 2 * RESP_WORD_MAX),
              open_session,
              .shards = shards);
    return TR_SAME;
}

TR_ACTOR(host, tr_pre_start);
TR_BEHAVIOR(host, void, TR_ON(tr_pre_start, on_begin));

static void begin(uint64_t seed)
{
    host_ref host;
    kit = tr_kit_new(&(tr_kit_options){.seed = seed, .workers = 2});
    ck_assert_int_eq(tr_try_spawn(tr_kit_client(kit), &host, host, "host"), TR_OK);
    tr_kit_settle(kit);
}

static tr_kit_peer *connect_peer(void)
{
    tr_kit_peer *peer = tr_kit_connect(kit, ADDRESS);
    ck_assert_ptr_nonnull(peer);
    return peer;
}

static void send_all(tr_kit_peer *peer, const char *data, size_t size)
{
    while (size > 0) {
        size_t sent = tr_kit_send(peer, (tr_bytes){data, size});
        data += sent;
        size -= sent;
        tr_kit_settle(kit);
        ck_assert(sent > 0 || size == 0);
    }
}

/* Appends all that comes to `to` until nothing more does. */
static size_t receive_all(tr_kit_peer *peer, char *to, size_t max)
{
    size_t size = 0;
    for (;;) {
        tr_bytes bytes = tr_kit_receive(peer, TR_SECOND);
        if (bytes.size == 0)
            break;
        ck_assert_uint_lt(size + bytes.size, max);
        memcpy(to + size, bytes.data, bytes.size);
        size += bytes.size;
    }
    to[size] = '\0';
    return size;
}

/* Each begins with FLUSHALL, so that all have the same answers. Keys are listed one by one: a shard has its own order. */
static const char pipeline[] = "*1\r\n$8\r\nFLUSHALL\r\n"
                               "*3\r\n$3\r\nSET\r\n$1\r\na\r\n$5\r\none\r\n\r\n"
                               "GET a\r\n"
                               "MSET b 2 c 3 d 4\n"
                               "mget a b nothing d\r\n"
                               "\r\n"
                               "KEYS c*\r\n"
                               "INCR b\r\nDECR c\r\nINCR a\r\n"
                               "SET e 5 EX 100 NX\r\nSET e 6 NX\r\nTTL e\r\nSET e 7 PX x\r\n"
                               "DEL b c nothing\r\nEXISTS a a b\r\n"
                               "*2\r\n$4\r\nECHO\r\n$0\r\n\r\n"
                               "FOO bar\r\nGET\r\nSCAN 99999999999999\r\n"
                               "DBSIZE\r\nPING\r\n";
static const char answers[] =
    "+OK\r\n+OK\r\n$5\r\none\r\n\r\n+OK\r\n"
    "*4\r\n$5\r\none\r\n\r\n$1\r\n2\r\n$-1\r\n$1\r\n4\r\n"
    "*1\r\n$1\r\nc\r\n"
    ":3\r\n:2\r\n-ERR value is not an integer or out of range\r\n"
    "+OK\r\n$-1\r\n:100\r\n-ERR value is not an integer or out of range\r\n"
    ":2\r\n:2\r\n$0\r\n\r\n"
    "-ERR unknown command 'FOO'\r\n-ERR wrong number of arguments for 'get' command\r\n"
    "-ERR invalid cursor\r\n:3\r\n+PONG\r\n";

static void check_answers(tr_kit_peer *peer)
{
    char received[2048];
    receive_all(peer, received, sizeof received);
    ck_assert_str_eq(received, answers);
}

TEST(a_pipeline_cut_at_every_byte_has_the_same_answers, "CH-02")
{
    size_t size = sizeof pipeline - 1;
    begin(1);
    for (size_t cut = 0; cut <= size; cut++) {
        tr_kit_peer *peer = connect_peer();
        send_all(peer, pipeline, cut);
        tr_kit_settle(kit);
        send_all(peer, pipeline + cut, size - cut);
        check_answers(peer);
        tr_kit_close(peer);
        tr_kit_settle(kit);
        ck_assert_uint_eq(tr_kit_open_channels(kit), 1);
    }
    tr_kit_free(kit);
}

TEST(a_pipeline_in_random_pieces_has_the_same_answers, "CH-02", "CH-01")
{
    for (uint64_t seed = 1; seed <= TEST_SEEDS(100); seed++) {
        begin(seed);
        tr_kit_network network = {.delay_ns = TR_MILLISECOND,
                                  .jitter_ns = TR_MILLISECOND,
                                  .piece_max = TR_KIT_RANDOM,
                                  .window = seed % 3 ? 0 : 37};
        tr_kit_set_network(kit, &network);
        tr_kit_peer *peer = connect_peer();
        size_t sent = 0;
        char received[2048] = "";
        size_t size = 0;
        for (int i = 0; i < 10000 && size < sizeof answers - 1; i++) {
            if (sent < sizeof pipeline - 1)
                sent += tr_kit_send(
                    peer, (tr_bytes){pipeline + sent, (sizeof pipeline - 1 - sent + 6) / 7});
            tr_bytes bytes = tr_kit_receive(peer, 5 * TR_MILLISECOND);
            ck_assert_uint_lt(size + bytes.size, sizeof received);
            if (bytes.size > 0)
                memcpy(received + size, bytes.data, bytes.size);
            size += bytes.size;
        }
        received[size] = '\0';
        ck_assert_str_eq(received, answers);
        tr_kit_free(kit);
    }
}

TEST(a_reset_at_every_byte_leaves_nothing, "CH-03")
{
    size_t size = sizeof pipeline - 1;
    begin(1);
    for (size_t cut = 0; cut <= size; cut++) {
        tr_kit_peer *peer = connect_peer();
        send_all(peer, pipeline, cut);
        if (cut % 2)
            tr_kit_settle(kit);
        tr_kit_reset(peer);
        tr_kit_close(peer);
        tr_kit_settle(kit);
        ck_assert_uint_eq(tr_kit_open_channels(kit), 1);
    }
    tr_kit_peer *peer = connect_peer();
    send_all(peer, pipeline, size);
    check_answers(peer);
    tr_kit_free(kit);
}

/* A reply of a shard has a limit: what is behind it is asked for again, in order. */
TEST(answers_larger_than_a_reply_come_in_order, "CH-01")
{
    enum { VALUE = 300 * 1024, GETS = 12, SIZE = (VALUE + 20) * GETS };
    char *text = malloc(SIZE);
    char *received = malloc(SIZE);
    begin(1);
    tr_kit_peer *peer = connect_peer();
    size_t size = (size_t)sprintf(text, "*3\r\n$3\r\nSET\r\n$1\r\nv\r\n$%d\r\n", VALUE);
    memset(text + size, 'v', VALUE);
    size += VALUE;
    size += (size_t)sprintf(text + size, "\r\nINCR n\r\n");
    for (int i = 0; i < GETS; i++)
        size += (size_t)sprintf(text + size, "GET v\r\nINCR n\r\n");
    size += (size_t)sprintf(text + size, "SET v small\r\nGET v\r\n");
    send_all(peer, text, size);
    receive_all(peer, received, SIZE);
    const char *at = received;
    ck_assert_mem_eq(at, "+OK\r\n:1\r\n", 9);
    at += 9;
    for (int i = 0; i < GETS; i++) {
        char head[40];
        size_t length = (size_t)sprintf(head, "$%d\r\n", VALUE);
        ck_assert_mem_eq(at, head, length);
        for (int k = 0; k < VALUE; k++)
            ck_assert(at[length + (size_t)k] == 'v');
        at += length + VALUE;
        length = (size_t)sprintf(head, "\r\n:%d\r\n", i + 2);
        ck_assert_mem_eq(at, head, length);
        at += length;
    }
    ck_assert_str_eq(at, "+OK\r\n$5\r\nsmall\r\n");
    free(text);
    free(received);
    tr_kit_free(kit);
}

/* More commands and more keys than a batch takes. */
TEST(long_pipelines_and_many_keys_are_answered_in_order, "SE-07")
{
    enum { COMMANDS_SENT = 1000, SIZE = 1 << 16 };
    char *text = malloc(SIZE);
    char *received = malloc(SIZE);
    size_t size = 0;
    begin(1);
    tr_kit_peer *peer = connect_peer();
    for (int i = 0; i < COMMANDS_SENT; i++)
        size += (size_t)sprintf(text + size, "INCR n\r\n");
    send_all(peer, text, size);
    receive_all(peer, received, SIZE);
    const char *at = received;
    for (int i = 1; i <= COMMANDS_SENT; i++) {
        char line[20];
        size_t length = (size_t)sprintf(line, ":%d\r\n", i);
        ck_assert_mem_eq(at, line, length);
        at += length;
    }
    ck_assert_str_eq(at, "");
    /* The most words; twice, so that a batch has no space for the second. */
    size = (size_t)sprintf(text, "EXISTS");
    for (int i = 1; i < RESP_WORDS_MAX; i++)
        size += (size_t)sprintf(text + size, " n");
    size += (size_t)sprintf(text + size, "\r\n");
    memcpy(text + size, text, size);
    send_all(peer, text, 2 * size);
    receive_all(peer, received, SIZE);
    ck_assert_str_eq(received, ":1023\r\n:1023\r\n");
    free(text);
    free(received);
    tr_kit_free(kit);
}

TEST(a_large_value_comes_back, "CH-01")
{
    size_t value = RESP_WORD_MAX;
    size_t size = value + 100;
    char *text = malloc(size);
    char *received = malloc(size);
    begin(1);
    tr_kit_peer *peer = connect_peer();
    size_t head = (size_t)sprintf(text, "*3\r\n$3\r\nSET\r\n$1\r\nv\r\n$%zu\r\n", value);
    for (size_t i = 0; i < value; i++)
        text[head + i] = (char)('a' + i % 23);
    memcpy(text + head + value, "\r\n", 2);
    send_all(peer, text, head + value + 2);
    receive_all(peer, received, size);
    ck_assert_str_eq(received, "+OK\r\n");
    send_all(peer, "GET v\r\n", 7);
    size_t got = receive_all(peer, received, size);
    size_t answer_head = (size_t)snprintf(NULL, 0, "$%zu\r\n", value);
    ck_assert_uint_eq(got, answer_head + value + 2);
    ck_assert(memcmp(received + answer_head, text + head, value + 2) == 0);
    free(text);
    free(received);
    tr_kit_free(kit);
}

TEST(what_is_broken_is_answered_and_closed, "SE-07")
{
    begin(1);
    tr_kit_peer *peer = connect_peer();
    send_all(peer, "PING\r\n*1\r\n:1\r\nPING\r\n", 20);
    ck_assert_str_eq(tr_kit_receive_text(peer, TR_SECOND),
                     "+PONG\r\n-ERR Protocol error: expected '$'\r\n");
    tr_kit_settle(kit);
    ck_assert_int_eq(tr_kit_peer_status(peer), TR_CLOSED);
    tr_kit_peer *quit = connect_peer();
    send_all(quit, "QUIT\r\nPING\r\n", 12);
    ck_assert_str_eq(tr_kit_receive_text(quit, TR_SECOND), "+OK\r\n");
    ck_assert_int_eq(tr_kit_peer_status(quit), TR_CLOSED);
    tr_kit_close(peer);
    tr_kit_close(quit);
    tr_kit_settle(kit);
    ck_assert_uint_eq(tr_kit_open_channels(kit), 1);
    tr_kit_free(kit);
}

static void ask_and_expect(tr_kit_peer *peer, const char *request, const char *expected)
{
    char received[1024];
    send_all(peer, request, strlen(request));
    receive_all(peer, received, sizeof received);
    ck_assert_str_eq(received, expected);
}

/* What clients of Redis send before anything else. The name belongs to the connection. */
TEST(clients_may_say_who_they_are, "CH-01")
{
    char text[200] = "", expected[40];
    begin(1);
    tr_kit_peer *peer = connect_peer();
    tr_kit_peer *other = connect_peer();
    ask_and_expect(peer, "CLIENT GETNAME\r\n", "$-1\r\n");
    ask_and_expect(
        peer,
        "CLIENT SETNAME anna\r\nclient getname\r\nCLIENT SETNAME ben\r\nCLIENT GETNAME\r\n",
        "+OK\r\n$4\r\nanna\r\n+OK\r\n$3\r\nben\r\n");
    ask_and_expect(other, "CLIENT GETNAME\r\n", "$-1\r\n");
    ask_and_expect(
        peer, "CLIENT SETINFO LIB-NAME troupe\r\nCLIENT SETINFO LIB-VER 1\r\n", "+OK\r\n+OK\r\n");
    send_all(peer, "*3\r\n$6\r\nCLIENT\r\n$7\r\nSETNAME\r\n$3\r\na b\r\n", 38);
    ck_assert_str_eq(
        tr_kit_receive_text(peer, TR_SECOND),
        "-ERR Client names cannot contain spaces, newlines or special characters.\r\n");
    for (int size = CLIENT_NAME_MAX; size <= CLIENT_NAME_MAX + 1; size++) {
        snprintf(text, sizeof text, "CLIENT SETNAME %0*d\r\n", size, 0);
        ask_and_expect(peer,
                       text,
                       size == CLIENT_NAME_MAX ? "+OK\r\n"
                                               : "-ERR client name is longer than 63 bytes\r\n");
    }
    snprintf(text, sizeof text, "$63\r\n%0*d\r\n", CLIENT_NAME_MAX, 0);
    ask_and_expect(peer, "CLIENT GETNAME\r\n", text);
    ask_and_expect(peer,
                   "CLIENT LIST\r\nCLIENT SETNAME\r\n",
                   "-ERR expected CLIENT SETNAME name, SETINFO attribute value, or GETNAME\r\n"
                   "-ERR expected CLIENT SETNAME name, SETINFO attribute value, or GETNAME\r\n");
    snprintf(expected, sizeof expected, ":%d\r\n", (int)COMMANDS);
    ask_and_expect(peer, "COMMAND COUNT\r\n", expected);
    ask_and_expect(peer, "COMMAND\r\nCOMMAND DOCS\r\n", "*0\r\n*0\r\n");
    tr_kit_free(kit);
}

TEST(a_lifetime_in_milliseconds_ends, "CH-01")
{
    begin(1);
    tr_kit_peer *peer = connect_peer();
    ask_and_expect(peer, "SET a 1 PX 1500\r\nTTL a\r\n", "+OK\r\n:2\r\n");
    tr_kit_advance(kit, 400 * TR_MILLISECOND); /* the answers above were waited for, for a second */
    ask_and_expect(peer, "GET a\r\nset a 2 px 5000 nx\r\n", "$1\r\n1\r\n$-1\r\n");
    ask_and_expect(peer, "GET a\r\nSET a 2 PX 5000 NX\r\nGET a\r\n", "$-1\r\n+OK\r\n$1\r\n2\r\n");
    tr_kit_free(kit);
}

/* Answers that a client does not read stop the session from reading; after the stall limit it is gone. */
TEST(a_client_that_does_not_read_is_closed, "CH-16", "CH-05")
{
    begin(1);
    tr_kit_peer *slow = connect_peer();
    tr_kit_peer *good = connect_peer();
    char value[1024];
    memset(value, 'x', sizeof value);
    char set[1100];
    size_t size =
        (size_t)sprintf(set, "*3\r\n$3\r\nSET\r\n$1\r\nv\r\n$1024\r\n%.*s\r\n", 1024, value);
    send_all(good, set, size);
    ck_assert_str_eq(tr_kit_receive_text(good, TR_SECOND), "+OK\r\n");
    size_t sent = 0;
    size_t taken;
    do {
        taken = 0;
        for (int i = 0; i < 100; i++)
            taken += tr_kit_send(slow, (tr_bytes){"GET v\r\n", 7});
        tr_kit_settle(kit);
        sent += taken;
    } while (taken > 0 && sent < 1 << 20);
    ck_assert_uint_lt(sent, 1 << 20);
    ck_assert_uint_eq(tr_kit_open_channels(kit), 3);
    send_all(good, "PING\r\n", 6);
    ck_assert_str_eq(tr_kit_receive_text(good, TR_SECOND), "+PONG\r\n");
    tr_kit_advance(kit, 2 * TR_STALL_NS);
    ck_assert_uint_eq(tr_kit_open_channels(kit), 2);
    tr_kit_free(kit);
}

SUITE("example resp session", clients_may_say_who_they_are, a_lifetime_in_milliseconds_ends,
      a_pipeline_cut_at_every_byte_has_the_same_answers,
      a_pipeline_in_random_pieces_has_the_same_answers, a_reset_at_every_byte_leaves_nothing,
      answers_larger_than_a_reply_come_in_order, long_pipelines_and_many_keys_are_answered_in_order,
      a_large_value_comes_back, what_is_broken_is_answered_and_closed,
      a_client_that_does_not_read_is_closed)
