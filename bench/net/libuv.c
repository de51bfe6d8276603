/* SPDX-License-Identifier: Apache-2.0 */
/** An echo server of libuv: it tries to write at once, and has one buffer for all reads. It prints its port. */
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

int main(void)
{
    uv_tcp_t listener;
    require(uv_tcp_init(uv_default_loop(), &listener) == 0, "uv_tcp_init");
    require(uv_tcp_open(&listener, listen_and_tell()) == 0, "uv_tcp_open");
    require(uv_listen((uv_stream_t *)&listener, 4096, on_connection) == 0, "uv_listen");
    return uv_run(uv_default_loop(), UV_RUN_DEFAULT);
}
