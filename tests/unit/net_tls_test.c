/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Handshakes of the TLS filter: certificates that are trusted and those that are not, names, mutual TLS, ALPN. Each
 * case that fails has its status and its text, at both ends.
 */
#include "support/tls_raw.h"

#include "net/tls_set.h"

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

/* An endpoint whose address gives the name shop.example. */
static tr_endpoint client_of(const char *trusts)
{
    return (tr_endpoint){.address = "shop.example:443", .trusts = trusts};
}

static tr_endpoint server_of(const char *name)
{
    char certificate[64], key[64];
    (void)snprintf(certificate, sizeof certificate, "%s.pem", name);
    (void)snprintf(key, sizeof key, "%s.key", name);
    return (tr_endpoint){.address = ":443", .certificate = path(certificate), .key = path(key)};
}

/* What a handshake is expected to give. NULL: no text, as nothing fails there. */
struct outcome {
    tr_status client, server;
    const char *client_text, *server_text;
    int version_max; /* 0: 1.3 */
};

static void limit_version(struct tls_context *context, int version)
{
    struct tls_set *set = tr__tls_context_set(context);
    if (version)
        ck_assert_int_eq(
            SSL_CTX_set_max_proto_version(tr__tls_set_worker(set, 0)->context, version), 1);
    tr__tls_set_release(set);
}

/* Makes both ends and lets them shake hands. */
static void shake(struct tls_pair *pair, const tr_endpoint *server, const tr_endpoint *client,
                  int version_max)
{
    struct tls_context *server_context = tls_context(&memory.platform, true, server);
    struct tls_context *client_context = tls_context(&memory.platform, false, client);
    limit_version(client_context, version_max);
    tls_pair_init(pair, server_context, client_context, &memory.platform);
    tr__tls_context_release(server_context);
    tr__tls_context_release(client_context);
    tls_settle(pair, TLS_PIECE_ALL);
}

static void expect(const tr_endpoint *server, const tr_endpoint *client, struct outcome outcome)
{
    struct tls_pair pair;
    shake(&pair, server, client, outcome.version_max);
    ck_assert_int_eq(pair.client.status, outcome.client);
    ck_assert_int_eq(pair.server.status, outcome.server);
    ck_assert_str_eq(tls_text(&pair.client), outcome.client_text ? outcome.client_text : "");
    ck_assert_str_eq(tls_text(&pair.server), outcome.server_text ? outcome.server_text : "");
    if (outcome.client == TR_OK && outcome.server == TR_OK) {
        ck_assert(tls_is_open(&pair.client));
        ck_assert(tls_is_open(&pair.server));
        tls_write(&pair.client, "hello", 5);
        tls_write(&pair.server, "good day", 8);
        tls_settle(&pair, TLS_PIECE_ALL);
        tls_expect(&pair.server, "hello");
        tls_expect(&pair.client, "good day");
    }
    tls_pair_deinit(&pair);
}

#define REFUSED "the other side has refused: "

TEST(a_certificate_of_a_trusted_authority_is_accepted, "C-15")
{
    begin();
    tr_endpoint server = server_of("shop"), client = client_of(path("authority.pem"));
    expect(&server, &client, (struct outcome){0});
    expect(&server, &client, (struct outcome){.version_max = TLS1_2_VERSION});
    end();
}

static void expect_refused(const char *certificate, const char *trusts, const char *text,
                           const char *alert)
{
    char refusal[128];
    tr_endpoint server = server_of(certificate), client = client_of(path(trusts));
    (void)snprintf(refusal, sizeof refusal, REFUSED "%s", alert);
    struct outcome outcome = {.client = TR_TLS_FAILED,
                              .server = TR_TLS_FAILED,
                              .client_text = text,
                              .server_text = refusal};
    expect(&server, &client, outcome);
    outcome.version_max = TLS1_2_VERSION;
    expect(&server, &client, outcome);
}

TEST(a_certificate_that_cannot_be_trusted_is_refused_with_its_reason, "C-15", "CH-17")
{
    begin();
    expect_refused(
        "expired", "authority.pem", "certificate has expired", "certificate has expired");
    expect_refused("early", "authority.pem", "certificate is not yet valid", "invalid certificate");
    expect_refused("stranger",
                   "authority.pem",
                   "unknown authority: the certificate signs itself",
                   "unknown authority");
    expect_refused("shop", "stranger.pem", "unknown authority", "unknown authority");
    expect_refused("other",
                   "authority.pem",
                   "certificate has another name: expected shop.example",
                   "invalid certificate");
    expect_refused("anna",
                   "authority.pem",
                   "certificate is not meant for this use",
                   "unsupported certificate");
    end();
}

TEST(a_client_without_authorities_trusts_those_of_the_system, "C-15")
{
    begin();
    tr_endpoint server = server_of("shop"), client = client_of(NULL);
    expect(&server,
           &client,
           (struct outcome){.client = TR_TLS_FAILED,
                            .server = TR_TLS_FAILED,
                            .client_text = "unknown authority",
                            .server_text = REFUSED "unknown authority"});
    ck_assert_int_eq(setenv("SSL_CERT_FILE", path("authority.pem"), 1), 0);
    expect(&server, &client, (struct outcome){0});
    end();
}

TEST(authorities_may_be_in_a_directory, "C-15")
{
    char file[64];
    begin();
    ck_assert_int_eq(symlink(".", path("trusted")), 0);
    (void)snprintf(
        file, sizeof file, "%08lx.0", X509_NAME_hash(X509_get_subject_name(at.authority)));
    tr_endpoint server = server_of("shop"), client = client_of(path("trusted"));
    struct outcome outcome = {.client = TR_TLS_FAILED,
                              .server = TR_TLS_FAILED,
                              .client_text = "unknown authority",
                              .server_text = REFUSED "unknown authority"};
    expect(&server, &client, outcome);
    certificate_copy(&at, "authority.pem", file);
    expect(&server, &client, (struct outcome){0});
    end();
}

TEST(an_insecure_client_accepts_any_certificate_and_knows_no_name, "C-15")
{
    struct tls_pair pair;
    begin();
    tr_endpoint server = server_of("stranger");
    tr_endpoint client = {.address = "elsewhere:1", .insecure = true};
    expect(&server, &client, (struct outcome){0});
    shake(&pair, &server, &client, 0);
    ck_assert_ptr_null(tr__tls_peer_name(pair.client.state));
    tls_pair_deinit(&pair);
    end();
}

/* Where a client wants to go, and what its certificate check says. */
static void expect_name(const char *address, const char *server_name, const char *text)
{
    tr_endpoint server = server_of("shop");
    tr_endpoint client = {
        .address = address, .server_name = server_name, .trusts = path("authority.pem")};
    expect(&server,
           &client,
           text ? (struct outcome){.client = TR_TLS_FAILED,
                                   .server = TR_TLS_FAILED,
                                   .client_text = text,
                                   .server_text = REFUSED "invalid certificate"}
                : (struct outcome){0});
}

TEST(a_client_compares_names_and_addresses, "C-15", "CH-17")
{
    begin();
    expect_name("shop.example:443", NULL, NULL);
    expect_name("SHOP.example:443", NULL, NULL);
    expect_name("shop.example.:443", NULL, NULL);
    expect_name("a.shop.example:443", NULL, NULL);
    expect_name(
        "a.b.shop.example:443", NULL, "certificate has another name: expected a.b.shop.example");
    expect_name("127.0.0.1:443", NULL, NULL);
    expect_name("127.0.0.2:443", NULL, "certificate has another name: expected the IP address");
    expect_name("[::1]:443", NULL, "certificate has another name: expected the IP address");
    expect_name("10.0.0.7:443", "shop.example", NULL);
    expect_name("/run/shop.socket", "shop.example", NULL);
    expect_name(":443", NULL, "certificate has another name: expected localhost");
    end();
}

TEST(a_common_name_is_no_name_of_a_host, "C-15")
{
    begin();
    certificate_make(
        &at,
        (struct certificate_form){.name = "shop", .person = "shop.example", .usage = "serverAuth"});
    expect_name("shop.example:443", NULL, "certificate has another name: expected shop.example");
    end();
}

TEST(a_name_given_for_one_connection_is_the_one_that_counts, "C-15")
{
    struct tls_pair pair;
    begin();
    tr_endpoint server = server_of("other"), client = client_of(path("authority.pem"));
    struct tls_context *server_context = tls_context(&memory.platform, true, &server);
    struct tls_context *client_context = tls_context(&memory.platform, false, &client);
    tls_end_init(&pair.server, server_context, 0, NULL, &memory.platform);
    tls_end_init(&pair.client, client_context, 0, "other.example", &memory.platform);
    tls_settle(&pair, TLS_PIECE_ALL);
    ck_assert(tls_is_open(&pair.client));
    ck_assert_str_eq(tr__tls_peer_name(pair.client.state), "CN=other,O=Shop");
    void *state;
    char name[300];
    memset(name, 'a', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    ck_assert_int_eq(tr__tls_begin(client_context, 0, name, &state), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr__tls_begin(client_context, 0, "", &state), TR_INVALID_ARGUMENT);
    tls_pair_deinit(&pair);
    tr__tls_context_release(server_context);
    tr__tls_context_release(client_context);
    end();
}

/* ---- Mutual TLS. ---- */

static tr_endpoint mutual_of(tr_verify verify)
{
    tr_endpoint server = server_of("shop");
    server.verify = verify;
    server.trusts = path("authority.pem");
    return server;
}

static tr_endpoint client_as(const char *certificate, const char *key)
{
    tr_endpoint client = client_of(path("authority.pem"));
    client.certificate = certificate ? path(certificate) : NULL;
    client.key = key ? path(key) : NULL;
    return client;
}

TEST(a_verified_client_has_a_name, "C-15")
{
    struct tls_pair pair;
    begin();
    tr_endpoint client = client_as("anna.pem", "anna.key");
    for (int i = 0; i < 4; i++) {
        tr_endpoint server = mutual_of(i % 2 ? TR_VERIFY_IF_GIVEN : TR_VERIFY_REQUIRED);
        shake(&pair, &server, &client, i < 2 ? 0 : TLS1_2_VERSION);
        ck_assert(tls_is_open(&pair.client));
        ck_assert(tls_is_open(&pair.server));
        ck_assert_str_eq(tr__tls_peer_name(pair.server.state), "CN=anna,O=Shop");
        ck_assert_str_eq(tr__tls_peer_name(pair.client.state), "CN=shop,O=Shop");
        tls_pair_deinit(&pair);
    }
    end();
}

TEST(a_listener_that_does_not_verify_knows_no_name, "C-15")
{
    struct tls_pair pair;
    begin();
    tr_endpoint server = server_of("shop"), client = client_as("anna.pem", "anna.key");
    shake(&pair, &server, &client, 0);
    ck_assert(tls_is_open(&pair.server));
    ck_assert_ptr_null(tr__tls_peer_name(pair.server.state));
    tls_pair_deinit(&pair);
    end();
}

TEST(a_name_with_strange_characters_is_escaped, "C-15")
{
    struct tls_pair pair;
    begin();
    certificate_make(&at,
                     (struct certificate_form){
                         .name = "anna", .person = "\xc3\x85nna,\nCN=root", .usage = "clientAuth"});
    tr_endpoint server = mutual_of(TR_VERIFY_REQUIRED), client = client_as("anna.pem", "anna.key");
    shake(&pair, &server, &client, 0);
    ck_assert_str_eq(tr__tls_peer_name(pair.server.state), "CN=\xc3\x85nna\\,\\0ACN=root,O=Shop");
    tls_pair_deinit(&pair);
    end();
}

TEST(a_client_may_have_no_certificate_unless_one_is_required, "C-15")
{
    begin();
    tr_endpoint client = client_as(NULL, NULL), server = mutual_of(TR_VERIFY_IF_GIVEN);
    expect(&server, &client, (struct outcome){0});
    server = mutual_of(TR_VERIFY_REQUIRED);
    expect(&server,
           &client,
           (struct outcome){.client = TR_TLS_FAILED,
                            .server = TR_TLS_FAILED,
                            .client_text = REFUSED "a certificate is required",
                            .server_text = "the other side showed no certificate"});
    expect(&server,
           &client,
           (struct outcome){.client = TR_TLS_FAILED,
                            .server = TR_TLS_FAILED,
                            .client_text = REFUSED "nothing in common, or no certificate",
                            .server_text = "the other side showed no certificate",
                            .version_max = TLS1_2_VERSION});
    end();
}

TEST(a_client_with_a_wrong_certificate_is_refused, "C-15", "CH-17")
{
    begin();
    for (int i = 0; i < 4; i++) {
        tr_endpoint server = mutual_of(i % 2 ? TR_VERIFY_IF_GIVEN : TR_VERIFY_REQUIRED);
        tr_endpoint client = client_as("stranger.pem", "stranger.key");
        struct outcome outcome = {.client = TR_TLS_FAILED,
                                  .server = TR_TLS_FAILED,
                                  .client_text = REFUSED "unknown authority",
                                  .server_text = "unknown authority: the certificate signs itself",
                                  .version_max = i < 2 ? 0 : TLS1_2_VERSION};
        expect(&server, &client, outcome);
        client = client_as("shop.pem", "shop.key"); /* a listener's */
        outcome.client_text = REFUSED "unsupported certificate";
        outcome.server_text = "certificate is not meant for this use";
        expect(&server, &client, outcome);
    }
    end();
}

/* ---- SNI and ALPN. ---- */

static void expect_host(struct tls_context *server, const char *name, const char *subject)
{
    struct tls_raw client;
    struct tls_end end;
    char text[64];
    tls_raw_init(&client, NULL, NULL);
    tls_raw_begin(&client, false);
    if (name)
        ck_assert_int_eq(SSL_set_tlsext_host_name(client.ssl, name), 1);
    tls_end_init(&end, server, 0, NULL, &memory.platform);
    tls_raw_settle(&client, &end);
    ck_assert(tls_is_open(&end));
    X509 *shown = SSL_get0_peer_certificate(client.ssl);
    ck_assert_int_gt(
        X509_NAME_get_text_by_NID(X509_get_subject_name(shown), NID_commonName, text, sizeof text),
        0);
    ck_assert_str_eq(text, subject);
    tls_end_deinit(&end);
    tls_raw_deinit(&client);
}

TEST(the_name_chooses_the_certificate, "C-15")
{
    begin();
    certificate_make(
        &at,
        (struct certificate_form){
            .name = "wild", .names = "DNS:*.wild.example", .usage = "serverAuth", .is_rsa = true});
    tr_tls_host hosts[] = {{"*.wild.example", path("wild.pem"), path("wild.key")},
                           {"other.example", path("other.pem"), path("other.key")},
                           {"early.wild.example", path("early.pem"), path("early.key")},
                           {NULL, NULL, NULL}};
    tr_endpoint server = server_of("shop");
    server.hosts = hosts;
    struct tls_context *context = tls_context(&memory.platform, true, &server);
    expect_host(context, "shop.example", "shop");
    expect_host(context, "other.example", "other");
    expect_host(context, "OTHER.Example", "other");
    expect_host(context, "other.example.", "other");
    expect_host(context, "a.wild.example", "wild");
    expect_host(context, "early.wild.example", "early");
    expect_host(context, "a.b.wild.example", "shop");
    expect_host(context, "wild.example", "shop");
    expect_host(context, "unknown.example", "shop");
    expect_host(context, NULL, "shop");
    tr__tls_context_release(context);

    server.certificate = server.key = NULL; /* then the first host is the default */
    context = tls_context(&memory.platform, true, &server);
    expect_host(context, "unknown.example", "wild");
    expect_host(context, "other.example", "other");
    tr__tls_context_release(context);
    end();
}

static void expect_protocol(const char *server_has, const char *client_has, const char *chosen,
                            int version)
{
    struct tls_pair pair;
    tr_endpoint server = server_of("shop"), client = client_of(path("authority.pem"));
    server.alpn = server_has;
    client.alpn = client_has;
    shake(&pair, &server, &client, version);
    ck_assert(tls_is_open(&pair.client));
    ck_assert(tls_is_open(&pair.server));
    ck_assert_pstr_eq(tr__tls_protocol(pair.client.state), chosen);
    ck_assert_pstr_eq(tr__tls_protocol(pair.server.state), chosen);
    tls_pair_deinit(&pair);
}

TEST(the_listener_chooses_the_protocol_in_its_own_order, "C-15")
{
    begin();
    for (int i = 0; i < 2; i++) {
        int version = i ? TLS1_2_VERSION : 0;
        expect_protocol("h2,http/1.1", "http/1.1,h2", "h2", version);
        expect_protocol("http/1.1,h2", "h2,http/1.1", "http/1.1", version);
        expect_protocol("h2,http/1.1", "x,http/1.1", "http/1.1", version);
        expect_protocol("h2", NULL, NULL, version);
        expect_protocol(NULL, "h2", NULL, version);
    }
    tr_endpoint server = server_of("shop"), client = client_of(path("authority.pem"));
    server.alpn = "h2";
    client.alpn = "http/1.1";
    expect(&server,
           &client,
           (struct outcome){.client = TR_TLS_FAILED,
                            .server = TR_TLS_FAILED,
                            .client_text = REFUSED "no protocol in common (ALPN)",
                            .server_text = "no protocol in common (ALPN)"});
    end();
}

SUITE("net tls", a_certificate_of_a_trusted_authority_is_accepted,
      a_certificate_that_cannot_be_trusted_is_refused_with_its_reason,
      a_client_without_authorities_trusts_those_of_the_system, authorities_may_be_in_a_directory,
      an_insecure_client_accepts_any_certificate_and_knows_no_name,
      a_client_compares_names_and_addresses, a_common_name_is_no_name_of_a_host,
      a_name_given_for_one_connection_is_the_one_that_counts, a_verified_client_has_a_name,
      a_listener_that_does_not_verify_knows_no_name, a_name_with_strange_characters_is_escaped,
      a_client_may_have_no_certificate_unless_one_is_required,
      a_client_with_a_wrong_certificate_is_refused, the_name_chooses_the_certificate,
      the_listener_chooses_the_protocol_in_its_own_order)
