/* SPDX-License-Identifier: Apache-2.0 */
/**
 * An echo server of libuv: it tries to write at once, and has one buffer for all reads. "libuv udp" echoes datagrams, of which
 * it takes several with one call. It prints its port.
 */
#include "sockets.h"

#include <uv.h>

static char bytes[65536];

static void on_alloc(uv_handle_t *handle, size_t size, uv_buf_t *buffer)
{
    (void)handle;
    (void)size;
    *buffer = uv_buf_init(bytes, sizeof bytes);
}

static void on_close(uv_handle_t *handle)
{
    free(handle);
}

static void on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *buffer)
{
    uv_buf_t out = uv_buf_init(buffer->base, count > 0 ? (unsigned)count : 0);
    if (count < 0 || (count > 0 && uv_try_write(stream, &out, 1) != count))
        uv_close((uv_handle_t *)stream, on_close);
}

static void on_connection(uv_stream_t *listener, int status)
{
    require(status == 0, "uv_listen");
    uv_tcp_t *connection = malloc(sizeof *connection);
    require(connection && uv_tcp_init(listener->loop, connection) == 0, "uv_tcp_init");
    require(uv_accept(listener, (uv_stream_t *)connection) == 0, "uv_accept");
    uv_tcp_nodelay(connection, 1);
    uv_read_start((uv_stream_t *)connection, on_alloc, on_read);
}

static void on_datagram_alloc(uv_handle_t *handle, size_t size, uv_buf_t *buffer)
{
    static char many[20 * 65536]; /* as libuv wants it for as many datagrams at once */
    (void)handle;
    (void)size;
    *buffer = uv_buf_init(many, sizeof many);
}

static void on_datagram(uv_udp_t *udp, ssize_t count, const uv_buf_t *buffer,
                        const struct sockaddr *from, unsigned flags)
{
    (void)flags;
    uv_buf_t out = uv_buf_init(buffer->base, count > 0 ? (unsigned)count : 0);
    if (from && count >= 0)
        require(uv_udp_try_send(udp, &out, 1, from) == count, "uv_udp_try_send");
}

static void serve_datagrams(uv_loop_t *loop)
{
    static uv_udp_t udp;
    struct sockaddr_in address = loopback(0);
    int size = sizeof address;
    require(uv_udp_init_ex(loop, &udp, AF_INET | UV_UDP_RECVMMSG) == 0, "uv_udp_init");
    require(uv_udp_bind(&udp, (const struct sockaddr *)&address, 0) == 0, "uv_udp_bind");
    require(uv_udp_getsockname(&udp, (struct sockaddr *)&address, &size) == 0, "getsockname");
    require(uv_udp_recv_start(&udp, on_datagram_alloc, on_datagram) == 0, "uv_udp_recv_start");
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
}

int main(int argc, char **argv)
{
    uv_tcp_t listener;
    if (argc > 1 && !strcmp(argv[1], "udp")) {
        serve_datagrams(uv_default_loop());
        return uv_run(uv_default_loop(), UV_RUN_DEFAULT);
    }
    require(uv_tcp_init(uv_default_loop(), &listener) == 0, "uv_tcp_init");
    require(uv_tcp_open(&listener, listen_and_tell()) == 0, "uv_tcp_open");
    require(uv_listen((uv_stream_t *)&listener, 4096, on_connection) == 0, "uv_listen");
    return uv_run(uv_default_loop(), UV_RUN_DEFAULT);
}
