/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Options and files of an endpoint with TLS: each that cannot be used is TR_TLS_FAILED with a text that names it, and no
 * text ever has a part of a key.
 */
#include "support/tls_pair.h"

#include "net/tls_config.h"

#include <sys/stat.h>
#include <sys/wait.h>

static struct certificates at;
static struct fake_memory memory;

static const char *path(const char *file)
{
    return certificate_path(&at, file);
}

static void begin(void)
{
    tls_memory_init(&memory);
    certificates_init(&at);
}

static void end(void)
{
    certificates_deinit(&at);
    ck_assert_uint_eq(memory.blocks, 0);
}

/* The text must begin as it is said here; %s is the directory. */
static void expect_refused(bool is_server, tr_endpoint endpoint, const char *text)
{
    struct tls_context *context = NULL;
    char why[TLS_WHY_SIZE] = "", expected[TLS_WHY_SIZE];
    tr_status status =
        tr__tls_context_new(&memory.platform, &endpoint, is_server, &context, why, sizeof why);
    (void)snprintf(expected, sizeof expected, text, at.directory);
    ck_assert_int_eq(status, TR_TLS_FAILED);
    ck_assert_ptr_null(context);
    ck_assert_msg(strncmp(why, expected, strlen(expected)) == 0, "%s", why);
    ck_assert_uint_eq(memory.blocks, 0);
}

#define SERVER(...)                                                                                \
    true, (tr_endpoint)                                                                            \
    {                                                                                              \
        .address = ":443", __VA_ARGS__                                                             \
    }
#define CLIENT(...)                                                                                \
    false, (tr_endpoint)                                                                           \
    {                                                                                              \
        .address = "shop.example:443", __VA_ARGS__                                                 \
    }
#define SHOP .certificate = path("shop.pem"), .key = path("shop.key")

TEST(options_that_make_no_sense_are_refused, "C-15")
{
    const tr_tls_host hosts[] = {{"a", "a.pem", "a.key"}, {NULL, NULL, NULL}};
    const tr_tls_host bare[] = {{"a", NULL, NULL}, {NULL, NULL, NULL}};
    const tr_tls_host none[] = {{NULL, NULL, NULL}};
    begin();
    expect_refused(SERVER(.key = NULL), "no certificate: set .certificate and .key");
    expect_refused(SERVER(.hosts = none), "no certificate: set .certificate and .key");
    expect_refused(SERVER(.key = path("shop.key")), ".key without .certificate");
    expect_refused(SERVER(SHOP, .insecure = true), ".insecure is for clients");
    expect_refused(SERVER(SHOP, .server_name = "a"), ".server_name is for clients");
    expect_refused(SERVER(SHOP, .verify = TR_VERIFY_REQUIRED), ".verify without .trusts");
    expect_refused(SERVER(SHOP, .trusts = path("authority.pem")), ".trusts without .verify");
    expect_refused(SERVER(SHOP, .verify = (tr_verify)3), "invalid .verify");
    expect_refused(SERVER(SHOP, .hosts = bare), "a host of .hosts has no certificate");
    expect_refused(SERVER(SHOP, .alpn = ""), "invalid .alpn: a protocol without a name");
    expect_refused(SERVER(SHOP, .alpn = "h2,"), "invalid .alpn: a protocol without a name");
    expect_refused(SERVER(SHOP, .alpn = ",h2"), "invalid .alpn: a protocol without a name");
    char longest[257];
    memset(longest, 'a', 256);
    longest[256] = '\0';
    expect_refused(SERVER(SHOP, .alpn = longest), "invalid .alpn: a protocol with a name of more");
    expect_refused(CLIENT(.hosts = hosts), ".hosts is for listeners");
    expect_refused(CLIENT(.insecure = true, .trusts = "a"), ".insecure together with");
    expect_refused(CLIENT(.insecure = true, .verify = TR_VERIFY_REQUIRED), ".insecure together");
    expect_refused(
        false, (tr_endpoint){.address = "/run/a"}, "no name to compare the certificate with");
    expect_refused(
        false, (tr_endpoint){.address = "fd:3"}, "no name to compare the certificate with");
    end();
}

TEST(files_that_cannot_be_used_are_named, "C-15")
{
    begin();
    ck_assert_int_eq(mkdir(path("directory"), 0700), 0);
    certificate_write(&at, "empty.pem", "");
    certificate_write(&at, "text.pem", "hello\n");
    certificate_write(
        &at, "damaged.pem", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
    certificate_write(&at, "cut.pem", "-----BEGIN CERTIFICATE-----\nMIIB");
#define WITH(certificate_, key_) SERVER(.certificate = path(certificate_), .key = path(key_))
    expect_refused(WITH("none.pem", "shop.key"), "cannot read %s/none.pem: no such file");
    expect_refused(WITH("shop.pem", "none.key"), "cannot read %s/none.key: no such file");
    expect_refused(WITH("directory", "shop.key"), "cannot read %s/directory: not a regular file");
    expect_refused(WITH("empty.pem", "shop.key"), "%s/empty.pem: no certificate in this file");
    expect_refused(WITH("text.pem", "shop.key"), "%s/text.pem: no certificate in this file");
    expect_refused(WITH("damaged.pem", "shop.key"), "%s/damaged.pem: damaged certificate: ");
    expect_refused(WITH("cut.pem", "shop.key"), "%s/cut.pem: damaged certificate: ");
    expect_refused(WITH("shop.pem", "empty.pem"), "%s/empty.pem: no private key in this file");
    expect_refused(WITH("shop.pem", "other.key"),
                   "%s/other.key: not the key of the certificate in ");
    expect_refused(SERVER(SHOP, .verify = TR_VERIFY_REQUIRED, .trusts = path("none.pem")),
                   "cannot read %s/none.pem: no such file");
    expect_refused(CLIENT(.trusts = path("text.pem")), "%s/text.pem: no certificate in this file");
    expect_refused(CLIENT(.trusts = path("damaged.pem")), "%s/damaged.pem: damaged certificate");
    expect_refused(CLIENT(.certificate = path("shop.pem"), .key = path("none.key")),
                   "cannot read %s/none.key: no such file");
    const tr_tls_host hosts[] = {{"a.example", path("other.pem"), path("shop.key")},
                                 {NULL, NULL, NULL}};
    expect_refused(SERVER(SHOP, .hosts = hosts), "%s/shop.key: not the key of the certificate in ");
    end();
}

/* OpenSSL would ask for the password at the terminal, and a listener would wait there. */
TEST(a_key_with_a_password_is_refused, "C-15")
{
    begin();
    FILE *file = fopen(path("locked.key"), "w");
    EVP_PKEY *key = EVP_EC_gen("P-256");
    ck_assert_int_eq(
        PEM_write_PrivateKey(file, key, EVP_aes_128_cbc(), (const void *)"pass", 4, NULL, NULL), 1);
    (void)fclose(file);
    EVP_PKEY_free(key);
    expect_refused(SERVER(.certificate = path("shop.pem"), .key = path("locked.key")),
                   "%s/locked.key: the key has a password");
    end();
}

TEST(a_key_that_is_too_weak_is_refused_when_it_is_read, "C-15")
{
    begin();
    EVP_PKEY *key = EVP_RSA_gen(1024);
    X509 *weak = X509_new();
    X509_gmtime_adj(X509_getm_notBefore(weak), 0);
    X509_gmtime_adj(X509_getm_notAfter(weak), CERTIFICATE_DAY);
    X509_set_pubkey(weak, key);
    ck_assert_int_gt(X509_sign(weak, key, EVP_sha256()), 0);
    FILE *file = fopen(path("weak.pem"), "w");
    ck_assert_int_eq(PEM_write_X509(file, weak), 1);
    ck_assert_int_eq(PEM_write_PrivateKey(file, key, NULL, NULL, 0, NULL, NULL), 1);
    (void)fclose(file);
    X509_free(weak);
    EVP_PKEY_free(key);
    expect_refused(SERVER(.certificate = path("weak.pem")), "%s/weak.pem: ee key too small");
    const tr_tls_host hosts[] = {{"a.example", path("weak.pem"), NULL}, {NULL, NULL, NULL}};
    expect_refused(SERVER(SHOP, .hosts = hosts), "%s/weak.pem: ee key too small");
    end();
}

TEST(one_file_may_have_certificate_and_key, "C-15")
{
    char data[8192];
    begin();
    size_t size = 0;
    const char *files[] = {"shop.key", "shop.pem", "authority.pem"};
    for (size_t i = 0; i < 3; i++) {
        FILE *file = fopen(path(files[i]), "r");
        size += fread(data + size, 1, sizeof data - size - 1, file);
        (void)fclose(file);
    }
    data[size] = '\0';
    certificate_write(&at, "both.pem", data);
    tr_endpoint endpoint = {.address = ":443", .certificate = path("both.pem")};
    tr__tls_context_release(tls_context(&memory.platform, true, &endpoint));
    end();
}

TEST(a_lack_of_memory_is_a_status, "C-15", "U-03")
{
    begin();
    const tr_tls_host hosts[] = {{"other.example", path("other.pem"), path("other.key")},
                                 {NULL, NULL, NULL}};
    tr_endpoint endpoint = {.address = ":443",
                            SHOP,
                            .hosts = hosts,
                            .trusts = path("authority.pem"),
                            .verify = TR_VERIFY_REQUIRED,
                            .alpn = "h2"};
    tr_status status = TR_NO_MEMORY;
    for (size_t i = 1; status == TR_NO_MEMORY; i++) {
        struct tls_context *context = NULL;
        char why[TLS_WHY_SIZE] = "";
        memory.requests = 0;
        memory.fail_at = i;
        status = tr__tls_context_new(&memory.platform, &endpoint, true, &context, why, sizeof why);
        ck_assert(status == TR_OK || strstr(why, "out of memory"));
        tr__tls_context_release(context);
        ck_assert_uint_eq(memory.blocks, 0);
    }
    ck_assert_int_eq(status, TR_OK);
    end();
}

/* ---- The copy of the options. ---- */

static bool is_for(const struct tls_context *context, bool is_server, tr_endpoint endpoint)
{
    return tr__tls_context_is_for(context, &endpoint, is_server);
}

TEST(a_context_is_for_endpoints_with_the_same_options, "C-15")
{
    begin();
    const char *trusts = path("authority.pem");
    char name[] = "shop.example:443", alpn[] = "h2,http/1.1";
    tr_endpoint endpoint = {.address = name, .trusts = trusts, .alpn = alpn};
    struct tls_context *context = tls_context(&memory.platform, false, &endpoint);
    name[0] = alpn[0] = 'x'; /* the context has copies */
    ck_assert(is_for(context, CLIENT(.trusts = trusts, .alpn = "h2,http/1.1")));
    ck_assert(is_for(context, CLIENT(.trusts = trusts, .alpn = "h2,http/1.1", .frame_max = 7)));
    ck_assert(!is_for(context, CLIENT(.trusts = trusts, .alpn = "h2")));
    ck_assert(!is_for(context, CLIENT(.trusts = trusts)));
    ck_assert(!is_for(context, CLIENT(.alpn = "h2,http/1.1")));
    ck_assert(
        !is_for(context, CLIENT(.trusts = trusts, .alpn = "h2,http/1.1", .server_name = "a")));
    ck_assert(!is_for(context, CLIENT(.trusts = trusts, .alpn = "h2,http/1.1", SHOP)));
    ck_assert(!is_for(context, CLIENT(.insecure = true, .alpn = "h2,http/1.1")));
    tr__tls_context_release(context);

    const tr_tls_host hosts[] = {{"a.example", path("other.pem"), path("other.key")},
                                 {NULL, NULL, NULL}};
    const tr_tls_host others[] = {{"b.example", path("other.pem"), path("other.key")},
                                  {NULL, NULL, NULL}};
    tr_endpoint listener = {.address = ":443", SHOP, .hosts = hosts};
    context = tls_context(&memory.platform, true, &listener);
    ck_assert(is_for(context, SERVER(SHOP, .hosts = hosts)));
    ck_assert(!is_for(context, SERVER(SHOP, .hosts = others)));
    ck_assert(!is_for(context, SERVER(SHOP)));
    ck_assert(!is_for(context, SERVER(.hosts = hosts)));
    tr__tls_context_release(context);
    end();
}

static void expect_host(const struct tls_config *config, const char *name, size_t host)
{
    ck_assert_msg(tr__tls_config_host(config, name) == host, "%s", name);
}

TEST(hosts_match_by_name_then_by_their_first_label, "C-15")
{
    const tr_tls_host hosts[] = {{"*.example", "a", "a"},
                                 {"shop.example", "b", "b"},
                                 {"*.a.example", "c", "c"},
                                 {NULL, NULL, NULL}};
    struct tls_config *config;
    char why[TLS_WHY_SIZE];
    tls_memory_init(&memory);
    tr_endpoint endpoint = {.address = ":1", .certificate = "d", .key = "d", .hosts = hosts};
    ck_assert_int_eq(
        tr__tls_config_new(&memory.platform, &endpoint, true, &config, why, sizeof why), TR_OK);
    expect_host(config, "shop.example", 2);
    expect_host(config, "SHOP.EXAMPLE", 2);
    expect_host(config, "shop.example.", 2);
    expect_host(config, "else.example", 1);
    expect_host(config, "b.a.example", 3);
    expect_host(config, "c.b.a.example", 0);
    expect_host(config, "example", 0);
    expect_host(config, ".example", 0);
    expect_host(config, "", 0);
    expect_host(config, ".", 0);
    expect_host(config, "*.example", 1);
    expect_host(config, "shop.example.org", 0);
    tr__tls_config_free(config);
    ck_assert_uint_eq(memory.blocks, 0);
}

/* ---- A lack of memory inside OpenSSL. ---- */

static long allocations, fails_at; /* of OpenSSL; the one that fails, counted from 1 */

static void *allocate(size_t size, const char *file, int line)
{
    (void)file;
    (void)line;
    return ++allocations == fails_at ? NULL : malloc(size);
}

static void *reallocate(void *block, size_t size, const char *file, int line)
{
    (void)file;
    (void)line;
    return size > 0 && ++allocations == fails_at ? NULL : realloc(block, size);
}

static void release(void *block, const char *file, int line)
{
    (void)file;
    (void)line;
    free(block);
}

/* Connects while one allocation fails. OpenSSL does not always say that this was the reason. */
static void connect_without(struct tls_context *server, struct tls_context *client)
{
    struct tls_pair pair = {.server = {.out = NET_BUFFER(source_of(&memory.platform)),
                                       .in = NET_BUFFER(source_of(&memory.platform))},
                            .client = {.out = NET_BUFFER(source_of(&memory.platform)),
                                       .in = NET_BUFFER(source_of(&memory.platform))}};
    tr_status of_server = tr__tls_begin(server, 0, NULL, &pair.server.state);
    tr_status of_client = tr__tls_begin(client, 0, NULL, &pair.client.state);
    ck_assert(of_server == TR_OK || of_server == TR_NO_MEMORY);
    ck_assert(of_client == TR_OK || of_client == TR_NO_MEMORY);
    if (of_server == TR_OK && of_client == TR_OK) {
        pair.client.status = tr__tls_filter.begin(pair.client.state, &pair.client.out);
        tls_settle(&pair, TLS_PIECE_ALL);
        of_server = pair.server.status;
        of_client = pair.client.status;
        ck_assert(of_server == TR_OK || tls_text(&pair.server)[0]);
        ck_assert(of_client == TR_OK || tls_text(&pair.client)[0]);
        ck_assert(of_server || of_client ||
                  (tls_is_open(&pair.server) && tls_is_open(&pair.client)));
    }
    tls_end_deinit(&pair.server);
    tls_end_deinit(&pair.client);
}

/* Makes OpenSSL take its memory from the functions above. */
static void begin_without(void)
{
    if (TEST_HAS_SANITIZER)
        test_skip("OpenSSL itself may leak when it has no memory");
    if (CRYPTO_set_mem_functions(allocate, reallocate, release) != 1)
        test_skip("another case has used OpenSSL in this process");
    begin();
}

TEST(a_lack_of_memory_inside_openssl_does_not_crash, "C-15", "U-03")
{
    begin_without();
    tr_endpoint server = {
        .address = ":443", SHOP, .trusts = path("authority.pem"), .verify = TR_VERIFY_REQUIRED};
    tr_endpoint client = {.address = "shop.example:443",
                          .trusts = path("authority.pem"),
                          .certificate = path("anna.pem"),
                          .key = path("anna.key")};
    struct tls_context *server_context = tls_context(&memory.platform, true, &server);
    struct tls_context *client_context = tls_context(&memory.platform, false, &client);
    long step = (long)test_scale(41, 3);
    connect_without(server_context, client_context);
    for (fails_at = 1, allocations = 0; fails_at < 9000; fails_at += step, allocations = 0)
        connect_without(server_context, client_context);
    fails_at = 0;
    tr__tls_context_release(server_context);
    tr__tls_context_release(client_context);
    end();
}

TEST(a_lack_of_memory_for_an_rsa_key_does_not_crash, "C-15", "U-03")
{
    begin_without();
    certificate_make(
        &at,
        (struct certificate_form){
            .name = "rsa", .names = "DNS:shop.example", .usage = "serverAuth", .is_rsa = true});
    tr_endpoint server = {
        .address = ":443", .certificate = path("rsa.pem"), .key = path("rsa.key")};
    tr_endpoint client = {.address = "shop.example:443", .trusts = path("authority.pem")};
    struct tls_context *server_context = tls_context(&memory.platform, true, &server);
    struct tls_context *client_context = tls_context(&memory.platform, false, &client);
    struct tls_context *other = NULL;
    char why[TLS_WHY_SIZE];
    long step = (long)test_scale(41, 3);
    connect_without(server_context, client_context);
    for (fails_at = 1, allocations = 0; fails_at < 6000; fails_at += step, allocations = 0)
        connect_without(server_context, client_context);
    for (fails_at = 1, allocations = 0; fails_at < 6000; fails_at += step, allocations = 0) {
        if (tr__tls_context_new(&memory.platform, &server, true, &other, why, sizeof why) == TR_OK)
            tr__tls_context_release(other);
    }
    fails_at = 0;
    tr__tls_context_release(server_context);
    tr__tls_context_release(client_context);
    end();
}

/* ---- The end of the process. ---- */

/* Runs after what OpenSSL would do at exit. */
static void connect_at_exit(void)
{
    struct tls_pair pair;
    tr_endpoint server = {.address = ":443", SHOP};
    tr_endpoint client = {.address = "shop.example:443", .trusts = path("authority.pem")};
    struct tls_context *server_context = tls_context(&memory.platform, true, &server);
    struct tls_context *client_context = tls_context(&memory.platform, false, &client);
    tls_pair_init(&pair, server_context, client_context, &memory.platform);
    tls_settle(&pair, TLS_PIECE_ALL);
    certificates_deinit(&at);
    _exit(tls_is_open(&pair.client) && tls_is_open(&pair.server) ? 0 : 1);
}

/* A thread whose shutdown was incomplete may be in the middle of a handshake when the process ends. */
TEST(handshakes_work_while_the_process_exits, "C-15")
{
    struct tls_context *context;
    char why[TLS_WHY_SIZE];
    int result = -1;
    tls_memory_init(&memory);
    pid_t child = fork();
    if (child == 0) {
        tr_endpoint none = {.address = ":443", .certificate = "/none"};
        (void)atexit(connect_at_exit);
        if (tr__tls_context_new(&memory.platform, &none, true, &context, why, sizeof why) == TR_OK)
            _exit(2);
        certificates_init(&at);
        exit(0);
    }
    ck_assert_int_eq(waitpid(child, &result, 0), child);
    ck_assert_int_eq(result, 0);
}

SUITE("net tls files", options_that_make_no_sense_are_refused, files_that_cannot_be_used_are_named,
      a_key_with_a_password_is_refused, a_key_that_is_too_weak_is_refused_when_it_is_read,
      one_file_may_have_certificate_and_key, a_lack_of_memory_is_a_status,
      a_context_is_for_endpoints_with_the_same_options,
      hosts_match_by_name_then_by_their_first_label, handshakes_work_while_the_process_exits,
      a_lack_of_memory_inside_openssl_does_not_crash,
      a_lack_of_memory_for_an_rsa_key_does_not_crash)
