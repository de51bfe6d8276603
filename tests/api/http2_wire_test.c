/* SPDX-License-Identifier: Apache-2.0 */
/**
 * HTTP/2 on the wire: frames split at every byte, clients that go away at every byte, heads that RFC 9113 forbids, and
 * floods. Frames are made by hand. On the network of kits.
 */
#include "support/h2.h"

#define ONCE(name, ...)                                                                            \
    static tr_next name(tr_self *self)                                                             \
    {                                                                                              \
        __VA_ARGS__;                                                                               \
        return TR_SAME;                                                                            \
    }

static int handled;

static tr_next on_hello(tr_self *self)
{
    handled++;
    return tr_http_reply(self, 200, .text = "hello");
}

static tr_next on_body(tr_self *self)
{
    tr_bytes body = tr_http_body(self, 1 << 20);
    handled++;
    return tr_http_reply(self, 200, .body = body, .type = "a/b");
}

static tr_next on_wait(tr_self *self)
{
    handled++;
    tr_sleep(self, TR_HOUR);
    return tr_http_reply(self, 200, .text = "late");
}

TR_BEHAVIOR(api, void, TR_GET("/", tr_http_request, on_hello),
            TR_POST("/", tr_http_request, on_body), TR_GET("/wait", tr_http_request, on_wait));
TR_BEHAVIOR(host, void, TR_ON(run, on_run));
ONCE(listen_api, listener = tr_listen(self, api, TR_HTTP(SERVER)))

enum { DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE };
enum { CONTINUATION = 9, UNKNOWN = 77 };
enum { END_STREAM = 1, END_HEADERS = 4 };

static unsigned char bytes[1 << 20];
static unsigned char *at;

static void put(uint8_t type, uint8_t flags, uint32_t id, const void *data, size_t size)
{
    at = h2_frame(at, type, flags, id, data, size);
    ck_assert_uint_lt((size_t)(at - bytes), sizeof bytes - 70000);
}

/* Begins with the preface and empty settings. */
static void start(void)
{
    memcpy(bytes, H2_PREFACE, 24);
    at = bytes + 24;
    put(SETTINGS, 0, 0, "", 0);
}

/* A block of headers: fields are literal, without an index. */
static size_t block_of(unsigned char *to, const char *const *fields)
{
    unsigned char *begin = to;
    for (; fields[0]; fields += 2) {
        *to++ = 0;
        for (int i = 0; i < 2; i++) {
            size_t size = strlen(fields[i]);
            ck_assert_uint_lt(size, 127);
            *to++ = (unsigned char)size;
            memcpy(to, fields[i], size);
            to += size;
        }
    }
    return (size_t)(to - begin);
}

static const char *const get_fields[] = {
    ":method", "GET", ":scheme", "http", ":path", "/", ":authority", "a", NULL};
static const char *const wait_fields[] = {
    ":method", "GET", ":scheme", "http", ":path", "/wait", ":authority", "a", NULL};
static const char *const post_fields[] = {
    ":method", "POST", ":scheme", "http", ":path", "/", ":authority", "a", NULL};

static void put_head(uint32_t id, uint8_t flags, const char *const *fields)
{
    unsigned char block[1024];
    put(HEADERS, flags, id, block, block_of(block, fields));
}

/* What the server has sent: its frames, seen by hand. */
struct seen {
    int frames[256];
    uint32_t goaway; /* its code; UINT32_MAX: none */
    uint32_t last;   /* its last stream */
    uint32_t reset;  /* the code of the last reset; UINT32_MAX: none */
    size_t data;     /* bytes */
    int ends;        /* frames with END_STREAM */
    bool is_whole;   /* nothing is left behind the last frame */
};

static uint32_t number(const unsigned char *from)
{
    return (uint32_t)from[0] << 24 | (uint32_t)from[1] << 16 | (uint32_t)from[2] << 8 | from[3];
}

static struct seen look(tr_bytes all)
{
    const unsigned char *data = all.data;
    struct seen seen = {.goaway = UINT32_MAX, .reset = UINT32_MAX};
    size_t i = 0;
    while (i + 9 <= all.size) {
        size_t size = number(data + i) >> 8;
        if (i + 9 + size > all.size)
            break;
        uint8_t type = data[i + 3];
        seen.frames[type]++;
        if (type == GOAWAY) {
            seen.last = number(data + i + 9);
            seen.goaway = number(data + i + 13);
        }
        if (type == RST_STREAM)
            seen.reset = number(data + i + 9);
        if (type == DATA)
            seen.data += size;
        if ((type == DATA || type == HEADERS) && data[i + 4] & END_STREAM)
            seen.ends++;
        i += 9 + size;
    }
    seen.is_whole = i == all.size;
    return seen;
}

/* Sends all that was put, in pieces of this size, and returns what the server sends. */
static struct seen play(tr_kit_peer *peer, size_t step)
{
    static unsigned char got[1 << 20];
    size_t got_size = 0;
    for (unsigned char *from = bytes; from < at;) {
        size_t left = (size_t)(at - from);
        size_t size = left < step ? left : step;
        size_t sent = tr_kit_send(peer, (tr_bytes){from, size});
        from += sent;
        tr_kit_settle(kit);
        tr_bytes some = tr_kit_receive(peer, 0);
        ck_assert_uint_le(got_size + some.size, sizeof got);
        memcpy(got + got_size, some.data, some.size);
        got_size += some.size;
        if (!sent && !some.size)
            break; /* the server has ended */
    }
    tr_bytes some = tr_kit_receive(peer, MS);
    memcpy(got + got_size, some.data, some.size);
    return look((tr_bytes){got, got_size + some.size});
}

static void ends_well(void)
{
    tr_kit_advance(kit, 10 * TR_SECOND);
    ck_assert_uint_eq(tr_kit_open_channels(kit), 1);
}

/* ---- Split and cut. ---- */

/* Two requests, one with a body in three frames, and what else clients send. */
static void put_all(void)
{
    start();
    put_head(1, END_STREAM | END_HEADERS, get_fields);
    put(PING, 0, 0, "12345678", 8);
    unsigned char block[1024];
    size_t size = block_of(block, post_fields);
    put(HEADERS, 0, 3, block, 10);
    put(CONTINUATION, 0, 3, block + 10, 5);
    put(CONTINUATION, END_HEADERS, 3, block + 15, size - 15);
    put(DATA, 0, 3, "abc", 3);
    put(WINDOW_UPDATE, 0, 0, "\0\0\1\0", 4);
    put(PRIORITY, 0, 3, "\0\0\0\0\1", 5);
    put(UNKNOWN, 0, 3, "what", 4);
    put(DATA, 0, 3, "", 0);
    put(DATA, END_STREAM, 3, "def", 3);
}

TEST(frames_may_be_split_at_every_byte, "W-11")
{
    for (size_t step = 1; step < 40; step++) {
        kit_open(1, step);
        handled = 0;
        HOST(host, listen_api);
        tr_kit_peer *peer = peer_new();
        put_all();
        struct seen seen = play(peer, step);
        ck_assert_int_eq(handled, 2);
        ck_assert_uint_eq(seen.data, 5 + 6);
        ck_assert_int_eq(seen.ends, 2);
        ck_assert_int_eq(seen.frames[PING], 1);
        ck_assert_uint_eq(seen.goaway, UINT32_MAX);
        ck_assert(seen.is_whole);
        tr_kit_close(peer);
        ends_well();
        kit_close();
    }
}

TEST(a_client_may_go_away_at_every_byte, "W-11")
{
    start();
    put_all();
    size_t all = (size_t)(at - bytes);
    for (size_t size = 0; size <= all; size++) {
        for (int how = 0; how < 3; how++) {
            kit_open(1, size + 1);
            HOST(host, listen_api);
            tr_kit_peer *peer = peer_new();
            (void)tr_kit_send(peer, (tr_bytes){bytes, size});
            if (size % 2)
                tr_kit_settle(kit);
            if (how == 0)
                tr_kit_reset(peer);
            if (how == 1)
                tr_kit_finish(peer);
            tr_kit_settle(kit);
            tr_kit_close(peer);
            ends_well();
            kit_close();
        }
    }
}

TEST(a_client_may_go_away_at_every_byte_of_an_answer, "W-11")
{
    for (size_t size = 0; size < 160; size++) {
        const tr_kit_network network = {.size = sizeof network, .window = size + 1};
        kit_open(1, size + 1);
        HOST(host, listen_api);
        tr_kit_peer *peer = peer_new();
        put_all();
        (void)tr_kit_send(peer, (tr_bytes){bytes, (size_t)(at - bytes)});
        tr_kit_set_network(kit, &network);
        tr_kit_settle(kit); /* the server can send so many bytes */
        tr_kit_reset(peer);
        tr_kit_close(peer);
        ends_well();
        kit_close();
    }
}

/* ---- Heads. ---- */

static struct seen play_head(const char *const *fields)
{
    kit_open(1, 1);
    handled = 0;
    HOST(host, listen_api);
    tr_kit_peer *peer = peer_new();
    start();
    put_head(1, END_STREAM | END_HEADERS, fields);
    put_head(3, END_STREAM | END_HEADERS, get_fields);
    struct seen seen = play(peer, SIZE_MAX);
    tr_kit_close(peer);
    ends_well();
    kit_close();
    return seen;
}

#define FIRST ":method", "GET", ":scheme", "http", ":path", "/", ":authority", "a"

TEST(what_rfc_9113_forbids_in_a_head_resets_its_stream, "W-11", "W-02")
{
    static const char *const heads[][16] = {
        {FIRST, "Upper", "x", NULL},                                    /* 8.2.1 */
        {FIRST, "a b", "x", NULL},                                      /* 8.2.1 */
        {FIRST, "x", "a\nb", NULL},                                     /* 8.2.1 */
        {FIRST, "x", " a", NULL},                                       /* 8.2.1 */
        {FIRST, "connection", "close", NULL},                           /* 8.2.2 */
        {FIRST, "keep-alive", "1", NULL},                               /* 8.2.2 */
        {FIRST, "proxy-connection", "x", NULL},                         /* 8.2.2 */
        {FIRST, "transfer-encoding", "chunked", NULL},                  /* 8.2.2 */
        {FIRST, "upgrade", "h2c", NULL},                                /* 8.2.2 */
        {FIRST, "te", "gzip", NULL},                                    /* 8.2.2 */
        {FIRST, "x", "1", ":path", "/", NULL},                          /* 8.3 */
        {FIRST, ":path", "/", NULL},                                    /* 8.3 */
        {FIRST, ":status", "200", NULL},                                /* 8.3 */
        {FIRST, ":unknown", "200", NULL},                               /* 8.3 */
        {":method", "GET", ":scheme", "http", ":authority", "a", NULL}, /* 8.3.1 */
        {":method", "GET", ":path", "/", ":authority", "a", NULL},      /* 8.3.1 */
        {":scheme", "http", ":path", "/", ":authority", "a", NULL},     /* 8.3.1 */
        {":method", "GET", ":scheme", "http", ":path", "", NULL},       /* 8.3.1 */
        {":method", "GET", ":scheme", "http", ":path", "x", ":authority", "a", NULL},
        {FIRST, "host", "b", NULL},           /* 8.3.1: it is not :authority */
        {FIRST, "content-length", "5", NULL}, /* 8.1.1: there is no body */
        {FIRST, "content-length", "x", NULL}, /* 8.1.1 */
    };
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        struct seen seen = play_head(heads[i]);
        ck_assert_msg(seen.reset == NGHTTP2_PROTOCOL_ERROR, "%zu: %x", i, seen.reset);
        ck_assert_msg(handled == 1 && seen.data == 5, "%zu: the next stream is served", i);
        ck_assert_uint_eq(seen.goaway, UINT32_MAX);
    }
}

TEST(what_http_1_refuses_in_a_head_is_refused_here, "W-11", "W-02")
{
    static const char *const heads[][16] = {
        {":method", "GET", ":scheme", "http", ":path", "/", NULL}, /* no host at all */
        {":method", "GET", ":scheme", "http", ":path", "/", ":authority", "u@a", NULL},
        {":method", "GET", ":scheme", "http", ":path", "/<", ":authority", "a", NULL},
        {FIRST, "expect", "more", NULL},
        {":method", "CONNECT", ":authority", "a", NULL},
        {":method", "TRACE", ":scheme", "http", ":path", "/", ":authority", "a", NULL},
    };
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        struct seen seen = play_head(heads[i]);
        ck_assert_msg(handled == 1, "%zu: only the next stream is served", i);
        ck_assert_msg(seen.frames[HEADERS] == 2 || seen.reset == NGHTTP2_PROTOCOL_ERROR, "%zu", i);
        ck_assert_uint_eq(seen.goaway, UINT32_MAX);
    }
    static const char *const good[][16] = {
        {FIRST, "host", "a", NULL}, {FIRST, "te", "trailers", NULL}, {FIRST, "x", "", NULL}};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        (void)play_head(good[i]);
        ck_assert_int_eq(handled, 2);
    }
}

/* A body whose length is not what content-length says. */
TEST(a_body_of_another_length_resets_its_stream, "W-11", "W-02")
{
    const char *const fields[] = {":method",
                                  "POST",
                                  ":scheme",
                                  "http",
                                  ":path",
                                  "/",
                                  ":authority",
                                  "a",
                                  "content-length",
                                  "4",
                                  NULL};
    for (int size = 3; size <= 5; size++) {
        kit_open(1, 1);
        handled = 0;
        HOST(host, listen_api);
        tr_kit_peer *peer = peer_new();
        start();
        put_head(1, END_HEADERS, fields);
        put(DATA, END_STREAM, 1, "abcde", (size_t)size);
        struct seen seen = play(peer, SIZE_MAX);
        ck_assert_int_eq(handled, size == 4);
        ck_assert_uint_eq(seen.reset, size == 4 ? UINT32_MAX : NGHTTP2_PROTOCOL_ERROR);
        tr_kit_close(peer);
        ends_well();
        kit_close();
    }
}

/* ---- Floods. ---- */

/* Plays what was put, which is too much. */
static void is_flood(const char *name, uint32_t code)
{
    kit_open(1, 1);
    handled = 0;
    HOST(host, listen_api);
    tr_kit_peer *peer = peer_new();
    struct seen seen = play(peer, 16384);
    ck_assert_msg(seen.goaway == code, "%s: %x", name, seen.goaway);
    ck_assert_msg(tr_kit_peer_status(peer) != TR_OK, "%s: the connection lives", name);
    tr_kit_close(peer);
    ends_well();
    kit_close();
}

/* Plays what was put, which is just allowed. */
static void is_allowed(const char *name)
{
    kit_open(1, 1);
    handled = 0;
    HOST(host, listen_api);
    tr_kit_peer *peer = peer_new();
    struct seen seen = play(peer, 16384);
    ck_assert_msg(seen.goaway == UINT32_MAX, "%s: %x", name, seen.goaway);
    ck_assert_int_eq(tr_kit_peer_status(peer), TR_OK);
    tr_kit_close(peer);
    ends_well();
    kit_close();
}

static void put_many(int count, uint8_t type, uint8_t flags, uint32_t id, const char *data,
                     size_t size)
{
    start();
    if (id)
        put_head(id, END_HEADERS, post_fields);
    for (int i = 0; i < count; i++)
        put(type, flags, id, data, size);
}

TEST(frames_that_carry_nothing_are_a_flood, "W-11", "W-04")
{
    static const struct {
        const char *name;
        uint8_t type;
        uint32_t id;
        const char *data;
        size_t size;
    } floods[] = {{"ping", PING, 0, "12345678", 8},
                  {"empty data", DATA, 1, "", 0},
                  {"priority", PRIORITY, 1, "\0\0\0\0\1", 5},
                  {"window", WINDOW_UPDATE, 1, "\0\0\0\1", 4},
                  {"unknown", UNKNOWN, 0, "", 0}};
    for (size_t i = 0; i < sizeof floods / sizeof floods[0]; i++) {
        put_many(900, floods[i].type, 0, floods[i].id, floods[i].data, floods[i].size);
        is_allowed(floods[i].name);
        put_many(1100, floods[i].type, 0, floods[i].id, floods[i].data, floods[i].size);
        is_flood(floods[i].name, NGHTTP2_ENHANCE_YOUR_CALM);
    }
}

TEST(settings_are_a_flood_sooner, "W-11", "W-04")
{
    put_many(TR_HTTP2_SETTINGS_MAX - 1, SETTINGS, 0, 0, "", 0); /* one was in the beginning */
    is_allowed("settings");
    put_many(TR_HTTP2_SETTINGS_MAX, SETTINGS, 0, 0, "", 0);
    is_flood("settings", NGHTTP2_ENHANCE_YOUR_CALM);
}

TEST(rapid_resets_are_a_flood, "W-11", "W-04")
{
    for (int count = 100; count <= 101; count++) {
        start();
        for (int i = 0; i < count; i++) {
            put_head((uint32_t)(2 * i + 1), END_STREAM | END_HEADERS, wait_fields);
            put(RST_STREAM, 0, (uint32_t)(2 * i + 1), "\0\0\0\10", 4);
        }
        if (count == 100)
            is_allowed("resets");
        else
            is_flood("resets", NGHTTP2_ENHANCE_YOUR_CALM);
        ck_assert_int_eq(handled, 0); /* they were reset before their turns began */
    }
    /* What makes the server reset is counted too. */
    static const char *const bad[] = {FIRST, "connection", "close", NULL};
    start();
    for (uint32_t i = 0; i < 120; i++)
        put_head(2 * i + 1, END_STREAM | END_HEADERS, bad);
    is_flood("mistakes", NGHTTP2_ENHANCE_YOUR_CALM);
}

TEST(more_streams_than_allowed_are_refused, "W-11", "W-04")
{
    kit_open(1, 1);
    handled = 0;
    HOST(host, listen_api);
    tr_kit_peer *peer = peer_new();
    start();
    for (uint32_t i = 0; i < TR_HTTP2_STREAMS_MAX + 1; i++)
        put_head(2 * i + 1, END_STREAM | END_HEADERS, wait_fields);
    struct seen seen = play(peer, 16384);
    ck_assert_int_eq(handled, TR_HTTP2_STREAMS_MAX);
    ck_assert_int_eq(seen.frames[RST_STREAM], 1);
    ck_assert_uint_eq(seen.reset, NGHTTP2_REFUSED_STREAM);
    ck_assert_uint_eq(seen.goaway, UINT32_MAX);
    /* A stream that was reset counts until its turn has ended. */
    at = bytes;
    put(RST_STREAM, 0, 1, "\0\0\0\10", 4);
    put_head(301, END_STREAM | END_HEADERS, get_fields);
    seen = play(peer, SIZE_MAX);
    ck_assert_uint_eq(seen.reset, NGHTTP2_REFUSED_STREAM);
    tr_kit_close(peer);
    kit_close();
}

TEST(a_head_without_end_is_a_flood, "W-11", "W-04")
{
    static unsigned char block[104 * 157];
    for (size_t i = 0; i < sizeof block; i += 104)
        memcpy(block + i, "\0\1x\144", 4); /* a field of 100 bytes */
    start();
    put(HEADERS, 0, 1, "", 0);
    for (int i = 0; i < TR_HTTP2_CONTINUATIONS_MAX + 1; i++)
        put(CONTINUATION, 0, 1, "", 0);
    is_flood("continuation", NGHTTP2_ENHANCE_YOUR_CALM);
    /* Many bytes. */
    memset(block + 4, 'y', 100);
    for (size_t i = 104; i < sizeof block; i += 104)
        memcpy(block + i, block, 104);
    start();
    put(HEADERS, 0, 1, "", 0);
    for (int i = 0; i < 4; i++)
        put(CONTINUATION, 0, 1, block, sizeof block);
    is_flood("block", NGHTTP2_ENHANCE_YOUR_CALM);
    /* Few bytes that mean many: one entry of the table, again and again. */
    static unsigned char bomb[8192];
    start();
    unsigned char *to = bomb;
    size_t first = block_of(to, get_fields);
    to += first;
    *to++ = 0x40; /* a name and a value that are put into the table */
    *to++ = 1;
    *to++ = 'x';
    *to++ = 0x7f;
    *to++ = 0x81; /* 127 + 1 + 128 * 23 bytes */
    *to++ = 23;
    memset(to, 'y', 127 + 1 + 128 * 23);
    to += 127 + 1 + 128 * 23;
    memset(to, 0x80 | 62, 2000);
    to += 2000;
    put(HEADERS, END_STREAM | END_HEADERS, 1, bomb, (size_t)(to - bomb));
    put_head(3, END_STREAM | END_HEADERS, get_fields);
    is_allowed("bomb"); /* 431, and the next stream is served */
    ck_assert_int_eq(handled, 1);
}

TEST(heads_that_come_slowly_end_the_connection, "W-11", "W-04")
{
    unsigned char block[1024];
    size_t size = block_of(block, get_fields);
    for (int kind = 0; kind < 3; kind++) {
        kit_open(1, 1);
        HOST(host, listen_api);
        tr_kit_peer *peer = peer_new();
        start();
        if (kind == 0)
            at = bytes + 10; /* the preface */
        if (kind == 1)
            put(HEADERS, END_STREAM, 1, block, size); /* CONTINUATION does not come */
        if (kind == 2) {
            put(HEADERS, END_STREAM | END_HEADERS, 1, block, size);
            at -= 5;
        }
        struct seen seen = play(peer, SIZE_MAX);
        ck_assert_uint_eq(seen.goaway, UINT32_MAX);
        tr_kit_advance(kit, TR_HTTP_HEAD_NS - TR_SECOND);
        ck_assert_int_eq(tr_kit_peer_status(peer), TR_OK);
        tr_kit_advance(kit, 2 * TR_SECOND);
        if (kind)
            ck_assert_uint_eq(look(tr_kit_receive(peer, 0)).goaway, NGHTTP2_ENHANCE_YOUR_CALM);
        ck_assert_int_ne(tr_kit_peer_status(peer), TR_OK);
        tr_kit_close(peer);
        ends_well();
        kit_close();
    }
}

TEST(what_is_no_http_2_ends_the_connection_with_its_code, "W-11", "W-02")
{
    static const unsigned char large[16385];
    static const struct {
        uint8_t type, flags;
        uint32_t id;
        const char *data;
        size_t size;
        uint32_t code;
    } frames[] = {
        {DATA, 0, 0, "x", 1, NGHTTP2_PROTOCOL_ERROR},
        {HEADERS, END_HEADERS, 0, "x", 1, NGHTTP2_PROTOCOL_ERROR},
        {HEADERS, END_HEADERS, 2, "\202", 1, NGHTTP2_PROTOCOL_ERROR},
        {SETTINGS, 0, 0, "x", 1, NGHTTP2_FRAME_SIZE_ERROR},
        {PING, 0, 0, "x", 1, NGHTTP2_FRAME_SIZE_ERROR},
        {PUSH_PROMISE, END_HEADERS, 1, "\0\0\0\2", 4, NGHTTP2_PROTOCOL_ERROR},
        {CONTINUATION, END_HEADERS, 1, "x", 1, NGHTTP2_PROTOCOL_ERROR},
        {WINDOW_UPDATE, 0, 0, "\0\0\0\0", 4, NGHTTP2_PROTOCOL_ERROR},
        {WINDOW_UPDATE, 0, 0, "\177\377\377\377", 4, NGHTTP2_FLOW_CONTROL_ERROR},
        {HEADERS, END_HEADERS, 1, "\377\377\377\377\377\377", 6, NGHTTP2_COMPRESSION_ERROR},
        {DATA, 0, 1, (const char *)large, sizeof large, NGHTTP2_FRAME_SIZE_ERROR},
    };
    for (size_t i = 0; i < sizeof frames / sizeof frames[0]; i++) {
        char name[16];
        snprintf(name, sizeof name, "frame %zu", i);
        start();
        put(frames[i].type, frames[i].flags, frames[i].id, frames[i].data, frames[i].size);
        is_flood(name, frames[i].code);
    }
}

SUITE("http/2 on the wire", frames_may_be_split_at_every_byte, a_client_may_go_away_at_every_byte,
      a_client_may_go_away_at_every_byte_of_an_answer,
      what_rfc_9113_forbids_in_a_head_resets_its_stream,
      what_http_1_refuses_in_a_head_is_refused_here, a_body_of_another_length_resets_its_stream,
      frames_that_carry_nothing_are_a_flood, settings_are_a_flood_sooner, rapid_resets_are_a_flood,
      more_streams_than_allowed_are_refused, a_head_without_end_is_a_flood,
      heads_that_come_slowly_end_the_connection,
      what_is_no_http_2_ends_the_connection_with_its_code)
