/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The least that an echo server with TLS does: OpenSSL on edge-triggered epoll, a record that comes is a record that goes
 * back. ssl CERTIFICATE KEY: paths of PEM files. It has no partial writes, no timeouts and no limits. It prints its port.
 */
#include "sockets.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <sys/epoll.h>

enum { EVENTS = 256, SIZE = 65536 };

struct connection {
    int fd;
    SSL *ssl;
};

static char bytes[SIZE];

static void watch(int epoll, int fd, struct connection *connection)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP | EPOLLET, .data.ptr = connection};
    require(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0, "epoll_ctl");
}

static void accept_all(int epoll, int listener, SSL_CTX *context)
{
    int fd;
    while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
        struct connection *connection = malloc(sizeof *connection);
        require(connection != NULL, "malloc");
        no_delay(fd);
        connection->fd = fd;
        connection->ssl = SSL_new(context);
        require(connection->ssl && SSL_set_fd(connection->ssl, fd) == 1, "SSL_new");
        SSL_set_accept_state(connection->ssl);
        watch(epoll, fd, connection);
    }
}

static void end(struct connection *connection)
{
    ERR_clear_error();
    close(connection->fd);
    SSL_free(connection->ssl);
    free(connection);
}

/* SSL_read also continues the handshake. */
static void echo(struct connection *connection)
{
    for (;;) {
        int count = SSL_read(connection->ssl, bytes, SIZE);
        if (count <= 0 && SSL_get_error(connection->ssl, count) == SSL_ERROR_WANT_READ)
            return;
        if (count <= 0 || SSL_write(connection->ssl, bytes, count) != count) {
            end(connection);
            return;
        }
    }
}

static SSL_CTX *context_new(const char *certificate, const char *key)
{
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());
    require(context != NULL, "SSL_CTX_new");
    require(SSL_CTX_use_certificate_chain_file(context, certificate) == 1, certificate);
    require(SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) == 1, key);
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
    return context;
}

int main(int argc, char **argv)
{
    struct epoll_event events[EVENTS];
    require(argc == 3, "ssl CERTIFICATE KEY");
    signal(SIGPIPE, SIG_IGN);
    SSL_CTX *context = context_new(argv[1], argv[2]);
    int listener = listen_and_tell();
    int epoll = epoll_create1(0);
    require(epoll >= 0, "epoll_create1");
    watch(epoll, listener, NULL);
    for (;;) {
        int count = epoll_wait(epoll, events, EVENTS, -1);
        for (int i = 0; i < count; i++) {
            if (!events[i].data.ptr)
                accept_all(epoll, listener, context);
            else
                echo(events[i].data.ptr);
        }
    }
}
