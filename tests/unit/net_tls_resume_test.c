/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Session tickets, and certificates that are replaced while connections are open: a session is resumed at another worker
 * and after a reload; it is not where the authorities have changed, or its key is too old.
 */
#include "support/tls_raw.h"

#include "net/tls_set.h"

#include <pthread.h>

static struct certificates at;
static struct fake_memory memory;
static struct tls_context *server, *client;
static tr_time ahead; /* how far the clock is */

static const char *path(const char *file)
{
    return certificate_path(&at, file);
}

static tr_time mono_now(const tr_platform *platform)
{
    return tls_test_now(platform) + ahead;
}

static void begin(tr_verify verify)
{
    tls_memory_init(&memory);
    memory.platform.mono_now = mono_now;
    certificates_init(&at);
    certificate_copy(&at, "shop.pem", "now.pem");
    certificate_copy(&at, "shop.key", "now.key");
    certificate_copy(&at, "authority.pem", "trusts.pem");
    tr_endpoint server_end = {.address = ":443",
                              .certificate = path("now.pem"),
                              .key = path("now.key"),
                              .trusts = verify ? path("trusts.pem") : NULL,
                              .verify = verify};
    tr_endpoint client_end = {.address = "shop.example:443",
                              .trusts = path("authority.pem"),
                              .certificate = path("anna.pem"),
                              .key = path("anna.key")};
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

static void reload(struct tls_context *context)
{
    char why[TLS_WHY_SIZE] = "";
    tr_status status = tr__tls_context_reload(context, why, sizeof why);
    ck_assert_msg(status == TR_OK, "%s", why);
}

static void limit_version(struct tls_context *context, unsigned worker, int version)
{
    struct tls_set *set = tr__tls_context_set(context);
    ck_assert_int_eq(
        SSL_CTX_set_max_proto_version(tr__tls_set_worker(set, worker)->context, version), 1);
    tr__tls_set_release(set);
}

/* Connects once. Returns whether the session was resumed, of which both ends must know. */
static bool connect_at(unsigned worker)
{
    struct tls_pair pair;
    tls_end_init(&pair.server, server, worker, NULL, &memory.platform);
    tls_end_init(&pair.client, client, 0, NULL, &memory.platform);
    tls_settle(&pair, TLS_PIECE_ALL);
    ck_assert(tls_is_open(&pair.client));
    ck_assert(tls_is_open(&pair.server));
    tls_write(&pair.client, "hello", 5);
    tls_settle(&pair, TLS_PIECE_ALL);
    tls_expect(&pair.server, "hello");
    ck_assert_str_eq(tr__tls_peer_name(pair.client.state), "CN=shop,O=Shop");
    bool is_resumed = tr__tls_is_resumed(pair.client.state);
    ck_assert(tr__tls_is_resumed(pair.server.state) == is_resumed);
    tls_pair_deinit(&pair);
    return is_resumed;
}

TEST(a_second_connection_resumes_the_session, "C-15")
{
    for (int version = TLS1_2_VERSION; version <= TLS1_3_VERSION; version++) {
        begin(TR_VERIFY_NONE);
        limit_version(client, 0, version);
        ck_assert(!connect_at(0));
        for (int i = 0; i < 10; i++)
            ck_assert_msg(connect_at(0), "version %x, connection %d", (unsigned)version, i);
        end();
    }
}

TEST(a_session_is_resumed_at_another_worker, "C-15")
{
    for (int version = TLS1_2_VERSION; version <= TLS1_3_VERSION; version++) {
        begin(TR_VERIFY_NONE);
        limit_version(client, 0, version);
        ck_assert(!connect_at(0));
        ck_assert(connect_at(1));
        ck_assert(connect_at(TR_WORKERS_MAX - 1));
        struct tls_set *set = tr__tls_context_set(server);
        ck_assert_ptr_ne(set->workers[0]->context, set->workers[1]->context);
        tr__tls_set_release(set);
        end();
    }
}

TEST(a_session_outlives_a_reload_of_the_listener, "C-15")
{
    for (int version = TLS1_2_VERSION; version <= TLS1_3_VERSION; version++) {
        begin(TR_VERIFY_NONE);
        limit_version(client, 0, version);
        ck_assert(!connect_at(0));
        reload(server);
        ck_assert(connect_at(0));
        reload(server);
        ck_assert(connect_at(3));
        end();
    }
}

TEST(a_client_that_reloads_verifies_again, "C-15")
{
    begin(TR_VERIFY_NONE);
    ck_assert(!connect_at(0));
    reload(client);
    ck_assert(!connect_at(0));
    ck_assert(connect_at(0));
    end();
}

/* The name of a resumed client is that of its first handshake. */
TEST(a_verified_client_is_resumed_with_its_name, "C-15")
{
    begin(TR_VERIFY_REQUIRED);
    for (int i = 0; i < 3; i++) {
        struct tls_pair pair;
        tls_pair_init(&pair, server, client, &memory.platform);
        tls_settle(&pair, TLS_PIECE_ALL);
        ck_assert_str_eq(tr__tls_peer_name(pair.server.state), "CN=anna,O=Shop");
        ck_assert(tr__tls_is_resumed(pair.server.state) == (i > 0));
        tls_pair_deinit(&pair);
        if (i == 1)
            reload(server); /* the same authorities */
    }
    end();
}

/* A ticket must not be a way around an authority that is not trusted any more. */
TEST(a_verified_session_ends_when_other_authorities_are_trusted, "C-15")
{
    begin(TR_VERIFY_REQUIRED);
    ck_assert(!connect_at(0));
    ck_assert(connect_at(0));
    certificate_copy(&at, "stranger.pem", "trusts.pem");
    reload(server);
    struct tls_pair pair;
    tls_pair_init(&pair, server, client, &memory.platform);
    tls_settle(&pair, TLS_PIECE_ALL);
    ck_assert_int_eq(pair.server.status, TR_TLS_FAILED);
    ck_assert_str_eq(tls_text(&pair.server), "unknown authority");
    tls_pair_deinit(&pair);
    end();
}

TEST(keys_of_tickets_are_replaced_hourly_and_accepted_for_two_more_hours, "C-15")
{
    begin(TR_VERIFY_NONE);
    ck_assert(!connect_at(0));
    for (int i = 0; i < 5; i++) {
        ahead += 2 * TR_HOUR; /* the client gets a new ticket each time */
        ck_assert(connect_at(0));
    }
    ahead += 4 * TR_HOUR;
    ck_assert(!connect_at(0));
    ck_assert(connect_at(0));
    ahead += 1000 * TR_HOUR;
    ck_assert(!connect_at(0));
    /* A client of TLS 1.2 keeps its ticket. */
    reload(client);
    limit_version(client, 0, TLS1_2_VERSION);
    ck_assert(!connect_at(0));
    ahead += 2 * TR_HOUR;
    ck_assert(connect_at(0));
    ahead += TR_HOUR;
    ck_assert(!connect_at(0));
    end();
}

TEST(another_listener_does_not_resume_the_session, "C-15")
{
    begin(TR_VERIFY_NONE);
    ck_assert(!connect_at(0));
    tr_endpoint other = {.address = ":1", .certificate = path("now.pem"), .key = path("now.key")};
    tr__tls_context_release(server);
    server = tls_context(&memory.platform, true, &other);
    ck_assert(!connect_at(0));
    end();
}

/* ---- Reload. ---- */

TEST(new_connections_get_the_new_certificate_and_old_ones_stay, "C-15")
{
    struct tls_pair old, half, fresh;
    begin(TR_VERIFY_NONE);
    tls_pair_init(&old, server, client, &memory.platform);
    tls_settle(&old, TLS_PIECE_ALL);
    reload(client);                                         /* so that it looks at certificates */
    tls_pair_init(&half, server, client, &memory.platform); /* its handshake is under way */
    certificate_copy(&at, "other.pem", "now.pem");
    certificate_copy(&at, "other.key", "now.key");
    reload(server);
    tls_settle(&half, TLS_PIECE_ALL);
    ck_assert(tls_is_open(&half.client));
    tls_pair_deinit(&half);
    tls_write(&old.client, "still here", 10);
    tls_settle(&old, TLS_PIECE_ALL);
    tls_expect(&old.server, "still here");
    reload(client);
    tls_pair_init(&fresh, server, client, &memory.platform);
    tls_settle(&fresh, TLS_PIECE_ALL);
    ck_assert_str_eq(tls_text(&fresh.client),
                     "certificate has another name: expected shop.example");
    tls_pair_deinit(&fresh);
    tls_pair_deinit(&old);
    end();
}

static void expect_kept(const char *text)
{
    char why[TLS_WHY_SIZE] = "";
    ck_assert_int_eq(tr__tls_context_reload(server, why, sizeof why), TR_TLS_FAILED);
    ck_assert_msg(strstr(why, text), "%s", why);
    reload(client);
    ck_assert(!connect_at(0));
}

TEST(files_that_cannot_be_used_leave_the_old_certificate, "C-15")
{
    begin(TR_VERIFY_NONE);
    certificate_copy(&at, "other.pem", "now.pem"); /* the key is still the old one */
    expect_kept("now.key: not the key of the certificate in ");
    certificate_write(&at, "now.pem", "nothing\n");
    expect_kept("now.pem: no certificate in this file");
    ck_assert_int_eq(unlink(path("now.pem")), 0);
    expect_kept("now.pem: no such file");
    certificate_copy(&at, "shop.pem", "now.pem");
    certificate_write(
        &at, "now.key", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n");
    expect_kept("now.key: damaged key");
    certificate_copy(&at, "shop.key", "now.key");
    reload(server);
    ck_assert(connect_at(0));
    end();
}

TEST(a_reload_without_memory_leaves_the_old_certificate, "C-15", "U-03")
{
    char why[TLS_WHY_SIZE];
    tr_status status = TR_NO_MEMORY;
    begin(TR_VERIFY_REQUIRED);
    for (size_t i = 1; status == TR_NO_MEMORY; i++) {
        memory.requests = 0;
        memory.fail_at = i;
        why[0] = '\0';
        status = tr__tls_context_reload(server, why, sizeof why);
        memory.fail_at = 0;
        ck_assert(status == TR_OK || strstr(why, "out of memory"));
        (void)connect_at(0);
    }
    ck_assert_int_eq(status, TR_OK);
    end();
}

/* ---- Threads. ---- */

enum { THREADS = 3, ROUNDS = 20 };

struct plain_memory {
    tr_platform platform;
};

static void *resize(const tr_platform *platform, void *block, size_t size)
{
    (void)platform;
    if (size > 0)
        return realloc(block, size);
    free(block);
    return NULL;
}

struct visitor {
    pthread_t thread;
    unsigned worker;
    const tr_platform *platform;
    int failures;
};

static void *visit(void *context)
{
    struct visitor *visitor = context;
    for (int i = 0; i < ROUNDS; i++) {
        struct tls_pair pair;
        tls_end_init(&pair.server, server, visitor->worker, NULL, visitor->platform);
        tls_end_init(&pair.client, client, visitor->worker, NULL, visitor->platform);
        tls_settle(&pair, TLS_PIECE_ALL);
        visitor->failures += !tls_is_open(&pair.client) || !tls_is_open(&pair.server);
        tls_pair_deinit(&pair);
    }
    return NULL;
}

/* Each thread is a worker. All resume sessions of one client, while certificates are read again. */
TEST(workers_connect_while_certificates_are_read_again, "C-15")
{
    struct plain_memory plain = {.platform = {.size = sizeof(tr_platform),
                                              .resize = resize,
                                              .mono_now = tls_test_now,
                                              .wall_now = tls_test_now}};
    struct visitor visitors[THREADS];
    begin(TR_VERIFY_REQUIRED);
    tr__tls_context_release(server);
    tr__tls_context_release(client);
    tr_endpoint server_end = {.address = ":443",
                              .certificate = path("now.pem"),
                              .key = path("now.key"),
                              .trusts = path("trusts.pem"),
                              .verify = TR_VERIFY_IF_GIVEN};
    tr_endpoint client_end = {.address = "shop.example:443", .trusts = path("authority.pem")};
    server = tls_context(&plain.platform, true, &server_end);
    client = tls_context(&plain.platform, false, &client_end);
    for (unsigned i = 0; i < THREADS; i++) {
        visitors[i] = (struct visitor){.worker = i, .platform = &plain.platform};
        ck_assert_int_eq(pthread_create(&visitors[i].thread, NULL, visit, &visitors[i]), 0);
    }
    for (int i = 0; i < ROUNDS; i++) {
        reload(server);
        if (i % 4 == 0)
            reload(client);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        ck_assert_int_eq(pthread_join(visitors[i].thread, NULL), 0);
        ck_assert_int_eq(visitors[i].failures, 0);
    }
    end();
}

SUITE("net tls resume", a_second_connection_resumes_the_session,
      a_session_is_resumed_at_another_worker, a_session_outlives_a_reload_of_the_listener,
      a_client_that_reloads_verifies_again, a_verified_client_is_resumed_with_its_name,
      a_verified_session_ends_when_other_authorities_are_trusted,
      keys_of_tickets_are_replaced_hourly_and_accepted_for_two_more_hours,
      another_listener_does_not_resume_the_session,
      new_connections_get_the_new_certificate_and_old_ones_stay,
      files_that_cannot_be_used_leave_the_old_certificate,
      a_reload_without_memory_leaves_the_old_certificate,
      workers_connect_while_certificates_are_read_again)
