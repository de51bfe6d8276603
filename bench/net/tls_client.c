/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The client of the echo servers with TLS.
 *
 *     tls_client echo PORT CONNECTIONS DEPTH MESSAGES      each connection has DEPTH records of 64 bytes under way
 *     tls_client handshake PORT AT_ONCE 0 CONNECTIONS      each shakes hands in full, has a record echoed, and resets
 *
 * It says "begin" and "end" as client.c does. Records go by memory, so that those of one batch are one send. Every byte
 * that comes back is compared. Exit 2: a failure, 3: a wrong answer.
 */
#include "sockets.h"

#include <fcntl.h>
#include <openssl/ssl.h>
#include <sys/epoll.h>
#include <time.h>

enum { MESSAGE = 64, EVENTS = 256, SIZE = 65536, DEPTH_MAX = 256 };

struct connection {
    int fd;
    SSL *ssl;
    BIO *in;
    BIO *out;
    size_t got; /* bytes of the batch that have come back */
};

static char batch[SIZE];
static char raw[SIZE];
static char answer[SIZE];
static SSL_CTX *context;
static int epoll;
static int port;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void tell_and_wait(const char *what, double seconds)
{
    printf("%s %.6f\n", what, seconds);
    fflush(stdout);
    require(getchar() == '\n', "standard input");
}

static void wrong(const char *what)
{
    fprintf(stderr, "tls_client: %s\n", what);
    exit(3);
}

static void flush(struct connection *connection)
{
    char *bytes;
    long size = BIO_get_mem_data(connection->out, &bytes);
    if (size <= 0)
        return;
    if (send(connection->fd, bytes, (size_t)size, MSG_NOSIGNAL) != size)
        wrong("the kernel did not take a batch");
    (void)BIO_reset(connection->out);
}

static void dial(struct connection *connection)
{
    struct sockaddr_in address = loopback(port);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
    connection->fd = socket(AF_INET, SOCK_STREAM, 0);
    require(connection->fd >= 0, "socket");
    require(connect(connection->fd, (struct sockaddr *)&address, sizeof address) == 0, "connect");
    require(fcntl(connection->fd, F_SETFL, O_NONBLOCK) == 0, "fcntl");
    no_delay(connection->fd);
    connection->got = 0;
    connection->ssl = SSL_new(context);
    connection->in = BIO_new(BIO_s_mem());
    connection->out = BIO_new(BIO_s_mem());
    require(connection->ssl && connection->in && connection->out, "SSL_new");
    BIO_set_mem_eof_return(connection->in, -1);
    SSL_set_bio(connection->ssl, connection->in, connection->out);
    SSL_set_connect_state(connection->ssl);
    (void)SSL_do_handshake(connection->ssl);
    flush(connection);
    require(epoll_ctl(epoll, EPOLL_CTL_ADD, connection->fd, &event) == 0, "epoll_ctl");
}

static void reset(struct connection *connection)
{
    struct linger resets = {.l_onoff = 1, .l_linger = 0};
    setsockopt(connection->fd, SOL_SOCKET, SO_LINGER, &resets, sizeof resets);
    close(connection->fd);
    SSL_free(connection->ssl);
}

static void send_batch(struct connection *connection, int depth)
{
    for (int i = 0; i < depth; i++) {
        if (SSL_write(connection->ssl, batch + i * MESSAGE, MESSAGE) != MESSAGE)
            wrong("a record was not written");
    }
    flush(connection);
}

static void receive(struct connection *connection)
{
    ssize_t count = recv(connection->fd, raw, sizeof raw, 0);
    require(count >= 0 || errno == EAGAIN, "recv");
    if (count == 0)
        wrong("the server has closed");
    if (count > 0)
        require(BIO_write(connection->in, raw, (int)count) == (int)count, "BIO_write");
}

/* Continues the handshake. Returns true when it has just ended. */
static int shake(struct connection *connection)
{
    int result = SSL_do_handshake(connection->ssl);
    if (result != 1 && SSL_get_error(connection->ssl, result) != SSL_ERROR_WANT_READ)
        wrong("the handshake has failed");
    return result == 1;
}

/* Takes what has come. Returns true if the batch is back. */
static int take(struct connection *connection, size_t size)
{
    int count;
    while ((count = SSL_read(connection->ssl, answer, sizeof answer)) > 0) {
        if (connection->got + (size_t)count > size ||
            memcmp(answer, batch + connection->got, (size_t)count) != 0)
            wrong("an answer is not what was sent");
        connection->got += (size_t)count;
    }
    if (SSL_get_error(connection->ssl, count) != SSL_ERROR_WANT_READ)
        wrong("a read has failed");
    if (connection->got < size)
        return 0;
    connection->got = 0;
    return 1;
}

static int wait_for(struct epoll_event *events)
{
    int count = epoll_wait(epoll, events, EVENTS, 10000);
    if (count == 0)
        wrong("nothing has come for ten seconds");
    return count;
}

static struct connection *dial_all(int count)
{
    struct epoll_event events[EVENTS];
    struct connection *connections = calloc((size_t)count, sizeof *connections);
    require(connections != NULL, "calloc");
    for (int i = 0; i < count; i++) {
        dial(&connections[i]);
        while (!SSL_is_init_finished(connections[i].ssl)) {
            wait_for(events);
            receive(&connections[i]);
            (void)shake(&connections[i]);
            flush(&connections[i]);
        }
    }
    return connections;
}

static void echo_rounds(struct connection *connections, int count, int depth, long batches)
{
    struct epoll_event events[EVENTS];
    long begun = count < batches ? count : batches;
    for (long i = 0; i < begun; i++)
        send_batch(&connections[i], depth);
    for (long done = 0; done < batches;) {
        int ready = wait_for(events);
        for (int i = 0; i < ready; i++) {
            struct connection *connection = events[i].data.ptr;
            receive(connection);
            if (!take(connection, (size_t)depth * MESSAGE))
                continue;
            done++;
            if (begun++ < batches)
                send_batch(connection, depth);
        }
    }
}

static void echo(int count, int depth, long messages)
{
    struct connection *connections = dial_all(count);
    echo_rounds(connections, count, depth, messages / depth / 10 + count);
    tell_and_wait("begin", 0);
    double begin = now();
    echo_rounds(connections, count, depth, messages / depth);
    tell_and_wait("end", now() - begin);
}

static void shake_rounds(struct connection *connections, int at_once, long count)
{
    struct epoll_event events[EVENTS];
    long begun = at_once < count ? at_once : count;
    for (long i = 0; i < begun; i++)
        dial(&connections[i]);
    for (long done = 0; done < count;) {
        int ready = wait_for(events);
        for (int i = 0; i < ready; i++) {
            struct connection *connection = events[i].data.ptr;
            receive(connection);
            if (!SSL_is_init_finished(connection->ssl)) {
                if (shake(connection))
                    send_batch(connection, 1); /* with the end of the handshake */
                flush(connection);
            } else if (take(connection, MESSAGE)) {
                reset(connection);
                done++;
                if (begun++ < count)
                    dial(connection);
            }
        }
    }
}

static void handshakes(int at_once, long count)
{
    struct connection *connections = calloc((size_t)at_once, sizeof *connections);
    require(connections != NULL, "calloc");
    shake_rounds(connections, at_once, count / 10 + at_once);
    tell_and_wait("begin", 0);
    double begin = now();
    shake_rounds(connections, at_once, count);
    tell_and_wait("end", now() - begin);
}

int main(int argc, char **argv)
{
    const char *mode = argc > 5 ? argv[1] : "";
    int count = argc > 5 ? atoi(argv[3]) : 0;
    int depth = argc > 5 ? atoi(argv[4]) : 0;
    long messages = argc > 5 ? atol(argv[5]) : 0;
    port = argc > 5 ? atoi(argv[2]) : 0;
    context = SSL_CTX_new(TLS_client_method());
    require(context != NULL, "SSL_CTX_new");
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    epoll = epoll_create1(0);
    for (size_t i = 0; i < sizeof batch; i++)
        batch[i] = (char)('a' + i % 26);
    if (!strcmp(mode, "echo") && count > 0 && depth > 0 && depth <= DEPTH_MAX)
        echo(count, depth, messages);
    else if (!strcmp(mode, "handshake") && count > 0)
        handshakes(count, messages);
    else
        require(0, "tls_client echo|handshake PORT COUNT DEPTH OPERATIONS");
    return 0;
}
