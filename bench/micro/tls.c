/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Compares the TLS filter with OpenSSL on a socket of its own (SSL_set_fd): CPU time of a listener for handshakes, echoes
 * of 64 bytes, one or sixteen at a time, and 64 KiB that it sends. TLS 1.3, P-256, a pair of UNIX sockets.
 *
 *     cmake --build build --target micro_tls && build/micro/tls
 *
 * One thread is client and listener in turn; only the listener's part is timed. Prints the median of rounds, which take
 * turns, and how many times the filter's time the bare one is: above 1 is better.
 */
#include "net/tls.h"
#include "net/tls_context.h"

#include <fcntl.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    ROUNDS = 15,
    HANDSHAKES = 20,
    ECHOES = 400,
    BULKS = 40,
    BULK = 65536,
    AREA = 65536,
    SMALL = 64
};

static struct tls_context *context; /* of the filter */
static SSL_CTX *bare_context, *client_context;
static SSL_SESSION *session; /* the client's newest */
static char area[AREA], data[BULK];

/* A listener's end of a connection: an SSL with a descriptor, or a filter. */
struct server {
    int fd;
    SSL *ssl;
    void *state;
    struct net_buffer in, out;
};

static void require(bool condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "failed: %s\n", what);
    exit(1);
}

static double cpu_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static void send_all(int fd, struct net_buffer *out)
{
    while (net_buffer_size(out) > 0) {
        tr_bytes bytes = net_buffer_bytes(out);
        ssize_t sent = send(fd, bytes.data, bytes.size, 0);
        require(sent > 0, "send");
        net_buffer_consume(out, (size_t)sent);
    }
}

/* What a listener does when its socket can be read: echoes what comes, or continues the handshake. */
static void step_filter(struct server *server)
{
    size_t taken;
    ssize_t size = recv(server->fd, area, sizeof area, 0);
    require(size > 0, "recv");
    require(tr__tls_filter.inbound(
                server->state, (tr_bytes){area, (size_t)size}, &taken, &server->in, &server->out) ==
                TR_OK,
            "inbound");
    if (net_buffer_size(&server->in) > 0) {
        tr_bytes bytes = net_buffer_bytes(&server->in);
        require(tr__tls_filter.outbound(server->state, bytes, &server->out) == TR_OK, "outbound");
        net_buffer_consume(&server->in, bytes.size);
    }
    send_all(server->fd, &server->out);
}

static void step_bare(struct server *server)
{
    int size;
    if (!SSL_is_init_finished(server->ssl) && SSL_do_handshake(server->ssl) != 1)
        return;
    while ((size = SSL_read(server->ssl, area, sizeof area)) > 0)
        require(SSL_write(server->ssl, area, size) == size, "SSL_write");
}

static void step(struct server *server)
{
    if (server->ssl)
        step_bare(server);
    else
        step_filter(server);
}

static void send_bulk(struct server *server)
{
    if (server->ssl) {
        require(SSL_write(server->ssl, data, BULK) == BULK, "SSL_write");
        return;
    }
    require(tr__tls_filter.outbound(server->state, (tr_bytes){data, BULK}, &server->out) == TR_OK,
            "outbound");
    send_all(server->fd, &server->out);
}

static int on_session(SSL *ssl, SSL_SESSION *fresh)
{
    (void)ssl;
    SSL_SESSION_free(session);
    session = fresh;
    return 1;
}

/* Connects, and returns the CPU time of the listener. */
static double connect_to(struct server *server, SSL **client, bool is_bare, bool is_resumed)
{
    int fds[2], size = 4 * BULK;
    require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds) == 0, "socketpair");
    setsockopt(fds[0], SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    setsockopt(fds[1], SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    *client = SSL_new(client_context);
    SSL_set_fd(*client, fds[1]);
    SSL_set_connect_state(*client);
    if (is_resumed && session)
        SSL_set_session(*client, session);
    (void)SSL_do_handshake(*client);

    double used = 0, begin = cpu_us();
    static struct memory_source memory_source;
    memory_source.platform = tr_platform_real();
    *server = (struct server){
        .fd = fds[0], .in = NET_BUFFER(&memory_source), .out = NET_BUFFER(&memory_source)};
    if (is_bare) {
        server->ssl = SSL_new(bare_context);
        SSL_set_fd(server->ssl, fds[0]);
        SSL_set_accept_state(server->ssl);
    } else {
        require(tr__tls_begin(context, 0, NULL, &server->state) == TR_OK, "begin");
    }
    step(server);
    used += cpu_us() - begin;
    require(SSL_do_handshake(*client) == 1, "the client's handshake");
    begin = cpu_us();
    step(server);
    used += cpu_us() - begin;
    char byte;
    require(SSL_read(*client, &byte, 1) <= 0, "only tickets");
    require(SSL_session_reused(*client) == is_resumed, "resumption");
    return used;
}

static double end_of(struct server *server, SSL *client)
{
    double begin = cpu_us();
    if (server->ssl) {
        SSL_set_shutdown(server->ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
        SSL_free(server->ssl);
    } else {
        tr__net_buffer_free(&server->in);
        tr__net_buffer_free(&server->out);
        tr__tls_filter.free(server->state);
    }
    double used = cpu_us() - begin;
    SSL_set_shutdown(client, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
    close(server->fd);
    close(SSL_get_fd(client));
    SSL_free(client);
    return used;
}

static double shake(bool is_bare, int is_resumed)
{
    struct server server;
    SSL *client;
    double used = 0;
    (void)connect_to(&server, &client, is_bare, false);
    (void)end_of(&server, client);
    for (int i = 0; i < HANDSHAKES; i++) {
        used += connect_to(&server, &client, is_bare, is_resumed);
        used += end_of(&server, client);
    }
    return used / HANDSHAKES;
}

static void read_all(SSL *client, int size)
{
    while (size > 0) {
        int got = SSL_read(client, area, sizeof area);
        require(got > 0, "SSL_read");
        size -= got;
    }
}

static double echo(bool is_bare, int depth)
{
    struct server server;
    SSL *client;
    double used = 0;
    (void)connect_to(&server, &client, is_bare, false);
    for (int i = 0; i < ECHOES; i++) {
        for (int j = 0; j < depth; j++)
            require(SSL_write(client, data, SMALL) == SMALL, "SSL_write");
        double begin = cpu_us();
        step(&server);
        used += cpu_us() - begin;
        read_all(client, depth * SMALL);
    }
    (void)end_of(&server, client);
    return used / ECHOES;
}

static double bulk(bool is_bare, int unused)
{
    struct server server;
    SSL *client;
    double used = 0;
    (void)unused;
    (void)connect_to(&server, &client, is_bare, false);
    for (int i = 0; i < BULKS; i++) {
        double begin = cpu_us();
        send_bulk(&server);
        used += cpu_us() - begin;
        read_all(client, BULK);
    }
    (void)end_of(&server, client);
    return used / BULKS;
}

static int compare(const void *a, const void *b)
{
    double first = *(const double *)a, second = *(const double *)b;
    return first < second ? -1 : first > second;
}

static void measure(const char *what, double (*of)(bool is_bare, int option), int option)
{
    double times[2][ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        times[0][round] = of(false, option);
        times[1][round] = of(true, option);
    }
    qsort(times[0], ROUNDS, sizeof(double), compare);
    qsort(times[1], ROUNDS, sizeof(double), compare);
    double filter = times[0][ROUNDS / 2], bare = times[1][ROUNDS / 2];
    printf(
        "%-20s filter %8.2f us, bare %8.2f us, ratio: %.2f\n", what, filter, bare, bare / filter);
}

/* A certificate that signs itself, with its key, in a file. */
static void write_certificate(const char *path)
{
    FILE *file = fopen(path, "w");
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *made = X509_new();
    X509_gmtime_adj(X509_getm_notBefore(made), -1000);
    X509_gmtime_adj(X509_getm_notAfter(made), 100000);
    X509_set_pubkey(made, key);
    require(X509_sign(made, key, EVP_sha256()) > 0, "X509_sign");
    require(PEM_write_X509(file, made) == 1, "PEM_write_X509");
    require(PEM_write_PrivateKey(file, key, NULL, NULL, 0, NULL, NULL) == 1,
            "PEM_write_PrivateKey");
    fclose(file);
    X509_free(made);
    EVP_PKEY_free(key);
}

int main(void)
{
    char path[] = "/tmp/troupe-bench-tls-XXXXXX", why[TLS_WHY_SIZE] = "";
    int fd = mkstemp(path);
    require(fd >= 0, "mkstemp");
    close(fd);
    write_certificate(path);
    tr_endpoint endpoint = {.address = ":1", .certificate = path};
    bare_context = SSL_CTX_new(TLS_server_method());
    client_context = SSL_CTX_new(TLS_client_method());
    require(SSL_CTX_use_certificate_chain_file(bare_context, path) == 1, "certificate");
    require(SSL_CTX_use_PrivateKey_file(bare_context, path, SSL_FILETYPE_PEM) == 1, "key");
    SSL_CTX_set_session_cache_mode(bare_context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_mode(bare_context, SSL_MODE_RELEASE_BUFFERS);
    /* The same cipher at both ends. */
    SSL_CTX_set_ciphersuites(client_context, "TLS_AES_128_GCM_SHA256");
    SSL_CTX_set1_groups_list(client_context, "X25519");
    SSL_CTX_set_session_cache_mode(client_context,
                                   SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(client_context, on_session);
    require(tr__tls_context_new(tr_platform_real(), &endpoint, true, &context, why, sizeof why) ==
                TR_OK,
            why);
    unlink(path);
    measure("handshake", shake, 0);
    measure("resumed handshake", shake, 1);
    measure("echo, 1", echo, 1);
    measure("echo, 16", echo, 16);
    measure("64 KiB", bulk, 0);
    return 0;
}
