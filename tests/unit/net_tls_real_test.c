/* SPDX-License-Identifier: Apache-2.0 */
/** TLS on real sockets, with OpenSSL on a plain socket as the other side; and that keys are in no dump of the process. */
#include "support/certificates.h"
#include "support/real_net.h"

#include <fcntl.h>
#include <inttypes.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

static struct certificates at;
static char names[8][128]; /* of files */
static tr_listener_ref listener;
static sem_t has_closed;
static atomic_int ends[128]; /* by status, negated */

static tr_next on_received(tr_self *self, const struct tr_received *message)
{
    tr_write(self, message->channel, message->bytes);
    return TR_SAME;
}

static tr_next on_closed(const struct tr_closed *message)
{
    atomic_fetch_add(&ends[-message->status], 1);
    sem_post(&has_closed);
    return TR_STOP;
}

TR_BEHAVIOR(echo, void, TR_ON(tr_received, on_received), TR_ON(tr_closed, on_closed));

static void await_closed(void)
{
    while (sem_wait(&has_closed) != 0)
        ck_assert_int_eq(errno, EINTR);
}

static const char *file_of(int slot, const char *file)
{
    (void)snprintf(names[slot], sizeof names[slot], "%s", certificate_path(&at, file));
    return names[slot];
}

static uint64_t listen_tls(tr_self *self, uint64_t argument)
{
    (void)argument;
    listener =
        tr_listen(self, echo, TR_TLS("127.0.0.1:0", .certificate = names[0], .key = names[1]));
    return tr_listener_address(self, listener).port;
}

/* Listens with a certificate of this name. Returns the port. */
static uint64_t begin(const char *name)
{
    char file[64];
    ck_assert_int_eq(sem_init(&has_closed, 0, 0), 0);
    (void)snprintf(file, sizeof file, "%s.pem", name);
    file_of(0, file);
    (void)snprintf(file, sizeof file, "%s.key", name);
    file_of(1, file);
    file_of(2, "authority.pem");
    real_open(2);
    return GO(listen_tls);
}

/* ---- OpenSSL as the client. ---- */

static SSL_CTX *client_context(void)
{
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    ck_assert_ptr_nonnull(context);
    ck_assert_int_eq(SSL_CTX_load_verify_file(context, names[2]), 1);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    return context;
}

/* Connects. NULL: the handshake has failed. */
static SSL *client_dial(SSL_CTX *context, uint64_t port)
{
    SSL *ssl = SSL_new(context);
    ck_assert_ptr_nonnull(ssl);
    ck_assert_int_eq(SSL_set_fd(ssl, dial_port(port)), 1);
    ck_assert_int_eq(SSL_set1_host(ssl, "shop.example"), 1);
    if (SSL_connect(ssl) == 1)
        return ssl;
    ERR_clear_error();
    close(SSL_get_fd(ssl));
    SSL_free(ssl);
    return NULL;
}

static void client_free(SSL *ssl)
{
    close(SSL_get_fd(ssl));
    SSL_free(ssl);
}

static void client_echo(SSL *ssl, const char *text)
{
    char answer[64] = "";
    int size = (int)strlen(text);
    ck_assert_int_eq(SSL_write(ssl, text, size), size);
    for (int got = 0; got < size;) {
        int count = SSL_read(ssl, answer + got, size - got);
        ck_assert_int_gt(count, 0);
        got += count;
    }
    ck_assert_str_eq(answer, text);
}

TEST(both_sides_end_by_close_notify, "C-15", "CH-17")
{
    char byte;
    certificates_init(&at);
    uint64_t port = begin("shop");
    SSL_CTX *context = client_context();
    SSL *ssl = client_dial(context, port);
    ck_assert_ptr_nonnull(ssl);
    client_echo(ssl, "through real sockets");
    ck_assert_int_eq(SSL_renegotiate(ssl), 0); /* TLS 1.3 has none */
    ERR_clear_error();
    for (const char *one = "byte by byte"; *one; one++) /* records of one byte */
        client_echo(ssl, (const char[]){*one, '\0'});
    ck_assert_int_eq(SSL_shutdown(ssl), 0); /* sent; that of the other side has not come */
    ck_assert_int_eq(SSL_read(ssl, &byte, 1), 0);
    ck_assert_int_eq(SSL_get_error(ssl, 0), SSL_ERROR_ZERO_RETURN);
    await_closed();
    ck_assert_int_eq(atomic_load(&ends[-TR_CLOSED]), 1);
    client_free(ssl);
    SSL_CTX_free(context);
    real_close();
    certificates_deinit(&at);
}

TEST(an_end_without_close_notify_is_a_reset_and_renegotiation_is_refused, "C-15", "CH-17")
{
    certificates_init(&at);
    uint64_t port = begin("shop");
    SSL_CTX *context = client_context();
    SSL *ssl = client_dial(context, port);
    client_echo(ssl, "and gone");
    client_free(ssl); /* closes the socket, and sends no close_notify */
    await_closed();
    ck_assert_int_eq(atomic_load(&ends[-TR_RESET]), 1);
    ck_assert_int_eq(SSL_CTX_set_max_proto_version(context, TLS1_2_VERSION), 1);
    ssl = client_dial(context, port);
    client_echo(ssl, "TLS 1.2");
    ck_assert_int_eq(SSL_renegotiate(ssl), 1);
    ck_assert_int_ne(SSL_do_handshake(ssl), 1);
    ERR_clear_error();
    client_free(ssl);
    await_closed();
    SSL_CTX_free(context);
    real_close();
    certificates_deinit(&at);
}

TEST(plain_text_and_bad_certificates_harm_no_other_connection, "C-15", "CH-17")
{
    static const char *const bad[] = {"expired", "early", "other", "stranger"};
    char byte;
    certificates_init(&at);
    uint64_t port = begin("shop");
    SSL_CTX *context = client_context();
    SSL *good = client_dial(context, port);
    int plain = dial_port(port);
    send_all(plain, "GET / HTTP/1.1\r\n\r\n", 18);
    while (recv(plain, &byte, 1, 0) > 0)
        ;
    close(plain);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char file[64];
        (void)snprintf(file, sizeof file, "%s.pem", bad[i]);
        file_of(0, file);
        (void)snprintf(file, sizeof file, "%s.key", bad[i]);
        file_of(1, file);
        ck_assert_ptr_null(client_dial(context, GO(listen_tls)));
    }
    client_echo(good, "still here");
    client_free(good);
    SSL_CTX_free(context);
    real_close();
    certificates_deinit(&at);
}

/* ---- Certificates that are replaced. ---- */

static uint64_t reload(tr_self *self, uint64_t argument)
{
    (void)argument;
    return (uint64_t)-tr_listener_reload(self, listener);
}

static atomic_bool is_over;
static atomic_int shaken;

static void *shake_on(void *port)
{
    SSL_CTX *context = client_context();
    while (!atomic_load(&is_over)) {
        SSL *ssl = client_dial(context, (uint64_t)(uintptr_t)port);
        ck_assert_ptr_nonnull(ssl);
        client_echo(ssl, "hello");
        (void)SSL_shutdown(ssl);
        client_free(ssl);
        atomic_fetch_add(&shaken, 1);
    }
    SSL_CTX_free(context);
    return NULL;
}

TEST(no_connection_fails_while_certificates_are_replaced, "C-15", "CH-21")
{
    enum { RELOADS = 20 };
    pthread_t thread;
    certificates_init(&at);
    uint64_t port = begin("shop");
    ck_assert_int_eq(pthread_create(&thread, NULL, shake_on, (void *)(uintptr_t)port), 0);
    for (int i = 0; i < RELOADS; i++) {
        int before = atomic_load(&shaken);
        ck_assert_int_eq((int)GO(reload), TR_OK);
        while (atomic_load(&shaken) == before)
            sched_yield(); /* at least one connection for each */
    }
    atomic_store(&is_over, true);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert_int_ge(atomic_load(&shaken), RELOADS);
    real_close();
    certificates_deinit(&at);
}

/* ---- Keys and dumps. ---- */

enum { SECRET = 32, SECRETS_MAX = 40, NUMBER_MAX = 512, MASK = 0x5a };

/* What another process has made, so that this one has never had the key but by its listener. */
struct made {
    char directory[64];
    int count;
    /* parts of the numbers of a key, as they are in memory and as they are in files; each byte with
     * MASK */
    unsigned char secrets[SECRETS_MAX][SECRET];
};

/* Adds the beginning, the middle and the end of a number. */
static void made_add(struct made *made, const unsigned char *bytes, int size)
{
    for (int part = 0; part < (size > SECRET ? 3 : 1); part++) {
        ck_assert_int_lt(made->count, SECRETS_MAX);
        for (int i = 0; i < SECRET; i++)
            made->secrets[made->count][i] = bytes[(size - SECRET) / 2 * part + i] ^ MASK;
        made->count++;
    }
}

static void made_add_number(struct made *made, const EVP_PKEY *key, const char *name)
{
    BIGNUM *number = NULL;
    unsigned char bytes[NUMBER_MAX];
    ck_assert_int_eq(EVP_PKEY_get_bn_param(key, name, &number), 1);
    int size = BN_num_bytes(number) > SECRET ? BN_num_bytes(number) : SECRET;
    ck_assert_int_eq(BN_bn2lebinpad(number, bytes, size), size);
    made_add(made, bytes, size);
    ck_assert_int_eq(BN_bn2binpad(number, bytes, size), size);
    made_add(made, bytes, size);
}

static struct made make_elsewhere(bool is_rsa)
{
    static const char *const curve_numbers[] = {OSSL_PKEY_PARAM_PRIV_KEY, NULL};
    static const char *const rsa_numbers[] = {OSSL_PKEY_PARAM_RSA_D,
                                              OSSL_PKEY_PARAM_RSA_FACTOR1,
                                              OSSL_PKEY_PARAM_RSA_FACTOR2,
                                              OSSL_PKEY_PARAM_RSA_EXPONENT1,
                                              OSSL_PKEY_PARAM_RSA_EXPONENT2,
                                              OSSL_PKEY_PARAM_RSA_COEFFICIENT1,
                                              NULL};
    struct made made = {.count = 0};
    int told[2];
    ck_assert_int_eq(pipe(told), 0);
    pid_t other = fork();
    ck_assert_int_ge(other, 0);
    if (!other) {
        certificates_init(&at);
        certificate_make(&at,
                         (struct certificate_form){.name = "made",
                                                   .names = "DNS:shop.example,IP:127.0.0.1",
                                                   .usage = "serverAuth",
                                                   .is_rsa = is_rsa});
        FILE *file = fopen(certificate_path(&at, "made.key"), "r");
        EVP_PKEY *key = PEM_read_PrivateKey(file, NULL, NULL, NULL);
        const char *const *name = is_rsa ? rsa_numbers : curve_numbers;
        while (*name)
            made_add_number(&made, key, *name++);
        memcpy(made.directory, at.directory, sizeof made.directory);
        (void)!write(told[1], &made, sizeof made);
        _exit(0);
    }
    ck_assert_int_eq(read(told[0], &made, sizeof made), (ssize_t)sizeof made);
    close(told[0]);
    close(told[1]);
    return made;
}

/* The first two bytes of a secret, as an index. */
static unsigned beginning(const unsigned char *bytes)
{
    return (unsigned)bytes[0] << 8 | bytes[1];
}

static int count_in(const unsigned char *bytes, size_t size, const struct made *made)
{
    static bool begins[1 << 16];
    int count = 0;
    for (int secret = 0; secret < made->count; secret++)
        begins[beginning(made->secrets[secret]) ^ (MASK << 8 | MASK)] = true;
    for (size_t from = 0; from + SECRET <= size; from++) {
        for (int secret = 0; begins[beginning(bytes + from)] && secret < made->count; secret++) {
            const unsigned char *masked = made->secrets[secret];
            int i = 0;
            while (i < SECRET && (bytes[from + (size_t)i] ^ MASK) == masked[i])
                i++;
            count += i == SECRET;
        }
    }
    return count;
}

/* Counts in memory from here to there. Pages that cannot be read, such as guards, are left out. */
static int count_between(int memory, uintptr_t from, uintptr_t to, const struct made *made)
{
    enum { PAGE = 1 << 16 };
    static unsigned char page[PAGE + SECRET - 1]; /* with the beginning of the next one */
    int count = 0;
    for (; from < to; from += PAGE) {
        ssize_t got = pread(memory, page, sizeof page, (off_t)from);
        if (got > 0)
            count += count_in(page, (size_t)got, made);
    }
    memset(page, 0, sizeof page);
    return count;
}

/* Counts how often the secrets are in memory that a dump of this process has, and (`hidden`) in other memory. */
static int count_dumped(const struct made *made, int *hidden)
{
    char line[512], rights[8] = "", word[8];
    uintptr_t from = 0, to = 0, begin_at, end_at;
    long kilobytes = 0;
    int count = 0;
    FILE *maps = fopen("/proc/self/smaps", "r");
    int memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
    ck_assert_ptr_nonnull(maps);
    ck_assert_int_ge(memory, 0);
    *hidden = 0;
    while (fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %7s", &begin_at, &end_at, word) == 3) {
            from = begin_at;
            to = end_at;
            (void)snprintf(rights, sizeof rights, "%s", word);
        }
        (void)sscanf(line, "Rss: %ld", &kilobytes);
        if (strncmp(line, "VmFlags:", 8) != 0 || strncmp(rights, "rw", 2) != 0)
            continue;
        if (!kilobytes)
            continue; /* nothing was ever written there */
        int found = count_between(memory, from, to, made);
        if (strstr(line, " dd"))
            *hidden += found;
        else
            count += found;
    }
    fclose(maps);
    close(memory);
    return count;
}

/* Shakes hands with a listener whose key has this form, and then looks for the key. */
static void expect_hidden(bool is_rsa, int version, const char *algorithms)
{
    int hidden;
    if (TEST_HAS_SANITIZER)
        test_skip("the memory of a sanitizer is too large to be searched");
    struct made made = make_elsewhere(is_rsa);
    memcpy(at.directory, made.directory, sizeof at.directory);
    uint64_t port = begin("made");
    SSL_CTX *context = client_context();
    ck_assert_int_eq(SSL_CTX_set_max_proto_version(context, version), 1);
    ck_assert_int_eq(SSL_CTX_set1_sigalgs_list(context, algorithms), 1);
    for (int i = 0; i < 8; i++) {
        SSL *ssl = client_dial(context, port);
        client_echo(ssl, "signed");
        client_free(ssl);
        await_closed();
    }
    ck_assert_int_eq(count_dumped(&made, &hidden), 0);
    ck_assert_int_ge(hidden, 1); /* it was looked for in the right form */
    SSL_CTX_free(context);
    real_close();
    certificates_deinit(&at);
}

TEST(keys_of_curves_are_in_no_dump_of_the_process, "C-15", "SE-11")
{
    expect_hidden(false, TLS1_3_VERSION, "ECDSA+SHA256");
}

TEST(keys_of_rsa_are_in_no_dump_of_the_process, "C-15", "SE-11")
{
    expect_hidden(true, TLS1_3_VERSION, "RSA-PSS+SHA256:ECDSA+SHA256");
}

TEST(keys_of_rsa_are_in_no_dump_after_tls_1_2, "C-15", "SE-11")
{
    expect_hidden(true, TLS1_2_VERSION, "RSA+SHA256:ECDSA+SHA256");
}

SUITE("TLS on real sockets", both_sides_end_by_close_notify,
      an_end_without_close_notify_is_a_reset_and_renegotiation_is_refused,
      plain_text_and_bad_certificates_harm_no_other_connection,
      no_connection_fails_while_certificates_are_replaced,
      keys_of_curves_are_in_no_dump_of_the_process, keys_of_rsa_are_in_no_dump_of_the_process,
      keys_of_rsa_are_in_no_dump_after_tls_1_2)
