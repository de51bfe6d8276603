/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What goes through the TLS filter once both ends agree, and what happens to bytes that are no TLS: pieces of all sizes,
 * large data, the ends of connections, damage, and a lack of memory at each place.
 */
#include "support/tls_raw.h"

#include "net/tls_set.h"

static struct certificates at;
static struct fake_memory memory;
static struct tls_context *server, *client;

static const char *path(const char *file)
{
    return certificate_path(&at, file);
}

static void limit_version(struct tls_context *context, int version)
{
    struct tls_set *set = tr__tls_context_set(context);
    ck_assert_int_eq(SSL_CTX_set_max_proto_version(tr__tls_set_worker(set, 0)->context, version),
                     1);
    tr__tls_set_release(set);
}

/* Has the next handshake be a full one. */
static void forget_sessions(void)
{
    struct tls_set *set = tr__tls_context_set(client);
    while (set->sessions_count > 0)
        SSL_SESSION_free(set->sessions[--set->sessions_count]);
    tr__tls_set_release(set);
}

static void begin(void)
{
    tls_memory_init(&memory);
    certificates_init(&at);
    tr_endpoint server_end = {.address = ":443",
                              .certificate = path("shop.pem"),
                              .key = path("shop.key"),
                              .alpn = "echo"};
    tr_endpoint client_end = {
        .address = "shop.example:443", .trusts = path("authority.pem"), .alpn = "echo"};
    server = tls_context(&memory.platform, true, &server_end);
    client = tls_context(&memory.platform, false, &client_end);
}

static void end(void)
{
    tr__tls_context_release(server);
    tr__tls_context_release(client);
    certificates_deinit(&at);
    ck_assert_uint_eq(memory.blocks, 0);
}

static void open_pair(struct tls_pair *pair)
{
    tls_pair_init(pair, server, client, &memory.platform);
    tls_settle(pair, TLS_PIECE_ALL);
    ck_assert(tls_is_open(&pair->client));
    ck_assert(tls_is_open(&pair->server));
}

static void finish(struct tls_end *end)
{
    ck_assert_int_eq(tr__tls_filter.finish(end->state, &end->out), TR_OK);
}

/* A whole connection: handshake, a word each way, both close. */
static void talk(size_t piece, bool is_resumed)
{
    struct tls_pair pair;
    if (!is_resumed)
        forget_sessions();
    tls_pair_init(&pair, server, client, &memory.platform);
    tls_settle(&pair, piece);
    ck_assert(tls_is_open(&pair.client));
    ck_assert(tls_is_open(&pair.server));
    ck_assert(tr__tls_is_resumed(pair.client.state) == is_resumed);
    ck_assert(tr__tls_is_resumed(pair.server.state) == is_resumed);
    tls_write(&pair.client, "hello", 5);
    tls_settle(&pair, piece);
    tls_expect(&pair.server, "hello");
    tls_write(&pair.server, "good day", 8);
    tls_settle(&pair, piece);
    tls_expect(&pair.client, "good day");
    finish(&pair.client);
    tls_settle(&pair, piece);
    ck_assert_int_eq(pair.server.status, TR_CLOSED);
    finish(&pair.server);
    tls_settle(&pair, piece);
    ck_assert_int_eq(pair.client.status, TR_CLOSED);
    tls_pair_deinit(&pair);
}

TEST(pieces_of_any_size_make_no_difference, "C-15", "CH-17")
{
    begin();
    for (int i = 0; i < 2; i++) {
        for (size_t piece = 1; piece < 40; piece++) {
            talk(piece, false);
            talk(piece, true);
        }
        limit_version(client, TLS1_2_VERSION);
    }
    end();
}

/* A sanitizer sees as much of every fifth byte, and a handshake takes it 20 ms. */
enum { SPLIT_STEP = TEST_HAS_SANITIZER ? 5 : 1 };

/* Splits what one end sends at each byte once: the other end gets it in two pieces. */
static void split_at_each_byte(bool is_of_client, bool is_resumed)
{
    size_t sizes = 1;
    for (size_t at_byte = 0; at_byte < sizes; at_byte += is_resumed ? 7 : SPLIT_STEP) {
        struct tls_pair pair;
        size_t sent = 0;
        if (!is_resumed)
            forget_sessions();
        tls_pair_init(&pair, server, client, &memory.platform);
        struct tls_end *from = is_of_client ? &pair.client : &pair.server;
        struct tls_end *to = is_of_client ? &pair.server : &pair.client;
        bool has_written = false;
        for (size_t moved = 1; moved > 0 || !has_written;) {
            tr_bytes bytes = net_buffer_bytes(&from->out);
            bool is_here = at_byte > sent && at_byte < sent + bytes.size;
            size_t first = is_here ? at_byte - sent : bytes.size;
            sent += bytes.size;
            (void)tls_end_give(to, (tr_bytes){bytes.data, first});
            (void)tls_end_give(to,
                               (tr_bytes){(const char *)bytes.data + first, bytes.size - first});
            net_buffer_consume(&from->out, bytes.size);
            moved = bytes.size + tls_move(to, from, TLS_PIECE_ALL);
            if (moved == 0 && !has_written) {
                tls_write(from, "hello", 5);
                finish(from);
                has_written = true;
                moved = 1;
            }
        }
        tls_expect(to, "hello");
        ck_assert_int_eq(to->status, TR_CLOSED);
        sizes = sent;
        tls_pair_deinit(&pair);
    }
    ck_assert_uint_gt(sizes, 200);
}

TEST(a_split_at_any_byte_makes_no_difference, "C-15", "CH-17")
{
    begin();
    for (int i = 0; i < 2; i++) {
        split_at_each_byte(true, false);
        split_at_each_byte(true, true);
        split_at_each_byte(false, false);
        split_at_each_byte(false, true);
        limit_version(client, TLS1_2_VERSION);
    }
    end();
}

/* ---- Large data. ---- */

enum { LARGE = 1 << 20 };

static void send_large(struct tls_pair *pair, struct tls_end *from, struct tls_end *to,
                       uint64_t *random)
{
    unsigned char *data = malloc(LARGE);
    for (size_t i = 0; i < LARGE; i++)
        data[i] = (unsigned char)fake_random(random);
    size_t written = 0;
    while (written < LARGE) {
        size_t size = fake_random(random) % 40000 + 1;
        if (size > LARGE - written)
            size = LARGE - written;
        tls_write(from, data + written, size);
        written += size;
        tls_settle(pair, fake_random(random) % 5000 + 1);
    }
    ck_assert_uint_eq(net_buffer_size(&to->in), LARGE);
    ck_assert_int_eq(memcmp(net_buffer_bytes(&to->in).data, data, LARGE), 0);
    net_buffer_consume(&to->in, LARGE);
    free(data);
}

TEST(a_mebibyte_arrives_both_ways_in_random_pieces, "C-15")
{
    struct tls_pair pair;
    uint64_t random = test_seed();
    begin();
    for (int i = 0; i < 2; i++) {
        open_pair(&pair);
        send_large(&pair, &pair.client, &pair.server, &random);
        send_large(&pair, &pair.server, &pair.client, &random);
        tls_pair_deinit(&pair);
        limit_version(client, TLS1_2_VERSION);
    }
    end();
}

/* How many records there are in bytes. */
static size_t count_records(tr_bytes bytes)
{
    size_t count = 0;
    const unsigned char *record = bytes.data;
    for (size_t i = 0; i + 5 <= bytes.size; count++)
        i += 5 + (size_t)(record[i + 3] << 8 | record[i + 4]);
    return count;
}

TEST(what_is_written_at_once_is_in_as_few_records_as_possible, "C-15")
{
    struct tls_pair pair;
    static char data[100000];
    begin();
    open_pair(&pair);
    const struct {
        size_t size, records;
    } rows[] = {{1, 1}, {1024, 1}, {16384, 1}, {16385, 2}, {100000, 7}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        tls_write(&pair.server, data, rows[i].size);
        ck_assert_uint_eq(count_records(net_buffer_bytes(&pair.server.out)), rows[i].records);
        tls_settle(&pair, TLS_PIECE_ALL);
        ck_assert_uint_eq(net_buffer_size(&pair.client.in), rows[i].size);
        net_buffer_consume(&pair.client.in, rows[i].size);
    }
    tls_write(&pair.server, data, 0);
    ck_assert_uint_eq(net_buffer_size(&pair.server.out), 0);
    tls_pair_deinit(&pair);
    end();
}

/* ---- Ends. ---- */

TEST(one_end_may_finish_and_read_on, "C-15", "CH-17")
{
    struct tls_pair pair;
    begin();
    open_pair(&pair);
    tls_write(&pair.client, "last", 4);
    finish(&pair.client);
    finish(&pair.client); /* once is enough */
    tls_settle(&pair, TLS_PIECE_ALL);
    tls_expect(&pair.server, "last");
    ck_assert_int_eq(pair.server.status, TR_CLOSED);
    ck_assert_int_eq(tr__tls_filter.input_end(pair.server.state), TR_CLOSED);
    tls_write(&pair.server, "and after that", 14);
    tls_settle(&pair, TLS_PIECE_ALL);
    tls_expect(&pair.client, "and after that");
    finish(&pair.server);
    tls_settle(&pair, TLS_PIECE_ALL);
    ck_assert_int_eq(pair.client.status, TR_CLOSED);
    ck_assert_int_eq(tr__tls_filter.input_end(pair.client.state), TR_CLOSED);
    tls_pair_deinit(&pair);
    end();
}

TEST(an_end_without_close_notify_is_a_reset, "C-15", "CH-17")
{
    struct tls_pair pair;
    begin();
    open_pair(&pair);
    tls_write(&pair.client, "half", 4);
    tls_settle(&pair, TLS_PIECE_ALL);
    ck_assert_int_eq(tr__tls_filter.input_end(pair.server.state), TR_RESET);
    ck_assert_str_eq(tls_text(&pair.server), "the connection has ended without close_notify");
    tls_expect(&pair.server, "half");
    tls_pair_deinit(&pair);
    end();
}

TEST(an_end_during_the_handshake_has_failed, "C-15")
{
    struct tls_pair pair;
    begin();
    tls_pair_init(&pair, server, client, &memory.platform);
    ck_assert_int_eq(tr__tls_filter.finish(pair.client.state, &pair.client.out), TR_OK);
    ck_assert_int_eq(tr__tls_filter.input_end(pair.server.state), TR_TLS_FAILED);
    ck_assert_str_eq(tls_text(&pair.server), "the connection has ended during the handshake");
    (void)tls_move(&pair.client, &pair.server, TLS_PIECE_ALL);
    ck_assert_int_eq(pair.server.status, TR_TLS_FAILED);
    ck_assert_uint_eq(net_buffer_size(&pair.server.out), 0);
    tls_pair_deinit(&pair);
    end();
}

/* ---- What is no TLS. ---- */

static void expect_failure(struct tls_context *context, const char *bytes, size_t size,
                           const char *text)
{
    struct tls_end end;
    tls_end_init(&end, context, 0, NULL, &memory.platform);
    (void)tls_end_give(&end, (tr_bytes){bytes, size});
    ck_assert_int_eq(end.status, TR_TLS_FAILED);
    ck_assert_str_eq(tls_text(&end), text);
    ck_assert(!tls_is_open(&end));
    ck_assert_uint_eq(net_buffer_size(&end.in), 0);
    tls_end_deinit(&end);
}

TEST(plain_text_at_a_tls_port_is_named_so, "C-15")
{
    const char *plain = "the other side does not speak TLS: plain text came";
    begin();
    expect_failure(server, "GET / HTTP/1.1\r\n\r\n", 18, plain);
    expect_failure(server, "G", 1, plain);
    expect_failure(server, "\0\0\0\0\0\0\0\0", 8, plain);
    expect_failure(client, "220 mail.example ESMTP\r\n", 24, plain);
    expect_failure(server, "\x15\x03\x01\x00\x02\x02\x28", 7, plain); /* an alert comes first */
    expect_failure(server, "\x16\x99\x99\x00\x05hello", 10, "the other side does not speak TLS");
    end();
}

TEST(an_alert_instead_of_an_answer_is_named, "C-15")
{
    begin();
    expect_failure(client,
                   "\x15\x03\x03\x00\x02\x02\x28",
                   7,
                   "the other side has refused: nothing in common, or no certificate");
    expect_failure(client,
                   "\x15\x03\x03\x00\x02\x02\x46",
                   7,
                   "the other side has refused: no version in common");
    expect_failure(client,
                   "\x15\x03\x03\x00\x02\x01\x00",
                   7,
                   "the other side has closed during the handshake");
    end();
}

TEST(garbage_never_opens_a_connection, "C-15")
{
    uint64_t random = test_seed();
    begin();
    for (int i = 0; i < 2000; i++) {
        struct tls_end end;
        unsigned char data[200];
        size_t size = fake_random(&random) % sizeof data;
        for (size_t j = 0; j < size; j++)
            data[j] = (unsigned char)fake_random(&random);
        if (size > 5 && i % 2) {
            memcpy(data, "\x16\x03\x01\x00", 4);
            data[4] = (unsigned char)(size - 5);
        }
        tls_end_init(&end, i % 4 < 2 ? server : client, 0, NULL, &memory.platform);
        (void)tls_end_give(&end, (tr_bytes){data, size});
        ck_assert(!tls_is_open(&end));
        ck_assert_uint_eq(net_buffer_size(&end.in), 0);
        ck_assert(end.status == TR_OK || tls_text(&end)[0]);
        tls_end_deinit(&end);
    }
    end();
}

/* Flips a bit of what the client sends, in the handshake or after it: nothing wrong ever reaches the actor. */
TEST(a_damaged_byte_is_noticed, "C-15")
{
    begin();
    for (int version = 0; version < 2; version++) {
        size_t size = 1;
        for (size_t byte = 0; byte < size; byte++) {
            struct tls_pair pair;
            open_pair(&pair);
            tls_write(&pair.client, "hello", 5);
            tr_bytes bytes = net_buffer_bytes(&pair.client.out);
            size = bytes.size;
            ((unsigned char *)(uintptr_t)bytes.data)[byte] ^= 1;
            tls_settle(&pair, TLS_PIECE_ALL);
            ck_assert_uint_eq(net_buffer_size(&pair.server.in), 0);
            if (byte != 3 && byte != 4) /* the length: it waits for more, or finds it damaged */
                ck_assert_int_eq(pair.server.status, TR_TLS_FAILED);
            tls_pair_deinit(&pair);
        }
        limit_version(client, TLS1_2_VERSION);
    }
    end();
}

/* ---- What peers may not do. ---- */

TEST(renegotiation_is_refused, "C-15", "CH-17")
{
    struct tls_raw raw;
    struct tls_end end_of_server;
    char data[16];
    begin();
    tls_raw_init(&raw, NULL, NULL);
    SSL_CTX_set_max_proto_version(raw.context, TLS1_2_VERSION);
    tls_raw_begin(&raw, false);
    tls_end_init(&end_of_server, server, 0, NULL, &memory.platform);
    tls_raw_settle(&raw, &end_of_server);
    ck_assert(tls_is_open(&end_of_server));
    ck_assert_int_eq(SSL_renegotiate(raw.ssl), 1);
    tls_raw_settle(&raw, &end_of_server);
    ck_assert_int_le(SSL_do_handshake(raw.ssl), 0);
    ck_assert(ERR_GET_REASON(ERR_peek_error()) == SSL_R_NO_RENEGOTIATION ||
              SSL_read(raw.ssl, data, sizeof data) <= 0);
    ck_assert_uint_eq(net_buffer_size(&end_of_server.in), 0);
    tls_end_deinit(&end_of_server);
    tls_raw_deinit(&raw);
    end();
}

TEST(a_listener_cannot_have_a_client_renegotiate, "C-15", "CH-17")
{
    struct tls_raw raw;
    struct tls_end end_of_client;
    begin();
    tls_raw_init(&raw, path("shop.pem"), path("shop.key"));
    SSL_CTX_set_max_proto_version(raw.context, TLS1_2_VERSION);
    tls_raw_begin(&raw, true);
    tls_end_init(&end_of_client, client, 0, NULL, &memory.platform);
    tls_raw_settle(&raw, &end_of_client);
    ck_assert(tls_is_open(&end_of_client));
    ck_assert_int_eq(SSL_renegotiate(raw.ssl), 1);
    char data[256];
    (void)SSL_do_handshake(raw.ssl);
    int size = BIO_read(raw.out, data, sizeof data); /* a request for a hello */
    ck_assert_int_gt(size, 0);
    ck_assert(tls_end_give(&end_of_client, (tr_bytes){data, (size_t)size}));
    tr_bytes answer = net_buffer_bytes(&end_of_client.out);
    ck_assert(answer.size == 0 || *(const char *)answer.data == 21); /* at most an alert */
    ck_assert_uint_eq(net_buffer_size(&end_of_client.in), 0);
    tls_end_deinit(&end_of_client);
    tls_raw_deinit(&raw);
    end();
}

static void expect_raw_refused(int version, const char *ciphers, const char *text)
{
    struct tls_raw raw;
    struct tls_end end_of_server;
    tls_raw_init(&raw, NULL, NULL);
    SSL_CTX_set_security_level(raw.context, 0);
    SSL_CTX_set_max_proto_version(raw.context, version);
    if (ciphers)
        ck_assert_int_eq(SSL_CTX_set_cipher_list(raw.context, ciphers), 1);
    tls_raw_begin(&raw, false);
    tls_end_init(&end_of_server, server, 0, NULL, &memory.platform);
    tls_raw_settle(&raw, &end_of_server);
    ck_assert_int_eq(end_of_server.status, TR_TLS_FAILED);
    ck_assert_str_eq(tls_text(&end_of_server), text);
    tls_end_deinit(&end_of_server);
    tls_raw_deinit(&raw);
}

TEST(old_versions_and_ciphers_are_refused, "C-15")
{
    begin();
    expect_raw_refused(TLS1_1_VERSION, NULL, "no version in common: TLS 1.2 or 1.3 is required");
    expect_raw_refused(TLS1_VERSION, NULL, "no version in common: TLS 1.2 or 1.3 is required");
    expect_raw_refused(TLS1_2_VERSION, "ECDHE-ECDSA-AES128-SHA256", "no cipher in common");
    expect_raw_refused(TLS1_2_VERSION, "AES128-GCM-SHA256", "no cipher in common");
    expect_raw_refused(TLS1_2_VERSION, "DHE-RSA-AES128-GCM-SHA256", "no cipher in common");
    end();
}

static int choose_wrongly(SSL *ssl, const unsigned char **chosen, unsigned char *size,
                          const unsigned char *offered, unsigned offered_size, void *context)
{
    (void)ssl;
    (void)offered;
    (void)offered_size;
    (void)context;
    *chosen = (const unsigned char *)"other";
    *size = 5;
    return SSL_TLSEXT_ERR_OK;
}

TEST(a_protocol_that_was_not_offered_is_refused, "C-15")
{
    struct tls_raw raw;
    struct tls_end end_of_client;
    begin();
    tls_raw_init(&raw, path("shop.pem"), path("shop.key"));
    SSL_CTX_set_alpn_select_cb(raw.context, choose_wrongly, NULL);
    tls_raw_begin(&raw, true);
    tls_end_init(&end_of_client, client, 0, NULL, &memory.platform);
    tls_raw_settle(&raw, &end_of_client);
    ck_assert_int_eq(end_of_client.status, TR_TLS_FAILED);
    ck_assert_str_ne(tls_text(&end_of_client),
                     ""); /* newer releases of OpenSSL notice it themselves */
    ck_assert(!tls_is_open(&end_of_client));
    tls_end_deinit(&end_of_client);
    tls_raw_deinit(&raw);
    end();
}

/* ---- Memory. ---- */

/* Fails the n-th request of a connection for memory. False: there are fewer. */
static bool talk_without(size_t request)
{
    struct tls_pair pair = {.server = {.out = NET_BUFFER(source_of(&memory.platform)),
                                       .in = NET_BUFFER(source_of(&memory.platform))},
                            .client = {.out = NET_BUFFER(source_of(&memory.platform)),
                                       .in = NET_BUFFER(source_of(&memory.platform))}};
    tr_status status;
    memory.requests = 0;
    memory.fail_at = request;
    status = tr__tls_begin(server, 0, NULL, &pair.server.state);
    if (status == TR_OK)
        status = tr__tls_begin(client, 0, NULL, &pair.client.state);
    if (status == TR_OK)
        status = tr__tls_filter.begin(pair.client.state, &pair.client.out);
    if (status == TR_OK) {
        tls_settle(&pair, TLS_PIECE_ALL);
        status = pair.server.status ? pair.server.status : pair.client.status;
    }
    if (status == TR_OK) {
        static char data[70000];
        status = tr__tls_filter.outbound(
            pair.server.state, (tr_bytes){data, sizeof data}, &pair.server.out);
    }
    if (status == TR_OK) {
        tls_settle(&pair, TLS_PIECE_ALL);
        status = pair.client.status;
    }
    bool has_failed = memory.requests >= request;
    ck_assert_int_eq(status, has_failed ? TR_NO_MEMORY : TR_OK);
    memory.fail_at = 0;
    tls_end_deinit(&pair.server);
    tls_end_deinit(&pair.client);
    return has_failed;
}

TEST(a_lack_of_memory_is_a_status_wherever_it_happens, "C-15", "U-03")
{
    size_t request = 1;
    begin();
    while (talk_without(request))
        request++;
    ck_assert_uint_gt(request, 10);
    end();
}

SUITE("net tls records", pieces_of_any_size_make_no_difference,
      a_split_at_any_byte_makes_no_difference, a_mebibyte_arrives_both_ways_in_random_pieces,
      what_is_written_at_once_is_in_as_few_records_as_possible, one_end_may_finish_and_read_on,
      an_end_without_close_notify_is_a_reset, an_end_during_the_handshake_has_failed,
      plain_text_at_a_tls_port_is_named_so, an_alert_instead_of_an_answer_is_named,
      garbage_never_opens_a_connection, a_damaged_byte_is_noticed, renegotiation_is_refused,
      a_listener_cannot_have_a_client_renegotiate, old_versions_and_ciphers_are_refused,
      a_protocol_that_was_not_offered_is_refused, a_lack_of_memory_is_a_status_wherever_it_happens)
