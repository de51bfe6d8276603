/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Streams of the real platform: nothing waits, nothing is lost, and each end has its status.
 */
#include "os/socket.h"
#include "support/sockets.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>

static const tr_platform *real;

static tr_status receive(int fd, void *to, size_t size, size_t *got)
{
    return real->socket_receive(real, fd, to, size, got);
}

static tr_status send_text(int fd, const char *text, size_t *sent)
{
    const tr_bytes piece = {.data = text, .size = strlen(text)};
    return real->socket_send(real, fd, &piece, 1, sent);
}

static void expect_text(int fd, const char *text)
{
    char bytes[64];
    size_t got = 0;
    await_events(fd, POLLIN);
    ck_assert_int_eq(receive(fd, bytes, sizeof bytes, &got), TR_OK);
    ck_assert_uint_eq(got, strlen(text));
    ck_assert_mem_eq(bytes, text, got);
}

static void expect_end(int fd)
{
    char byte;
    size_t got = 1;
    await_events(fd, POLLIN);
    ck_assert_int_eq(receive(fd, &byte, 1, &got), TR_OK);
    ck_assert_uint_eq(got, 0);
}

TEST(each_error_has_a_status, "")
{
    static const struct {
        int error;
        tr_status status;
    } rows[] = {
        {0, TR_OK},
        {EAGAIN, TR_WOULD_BLOCK},
        {EINPROGRESS, TR_WOULD_BLOCK},
        {ECONNREFUSED, TR_CONNECT_REFUSED},
        {ECONNRESET, TR_RESET},
        {EPIPE, TR_RESET},
        {ENOTCONN, TR_RESET},
        {ECONNABORTED, TR_RESET},
        {ETIMEDOUT, TR_TIMEOUT},
        {EHOSTUNREACH, TR_UNREACHABLE},
        {ENETUNREACH, TR_UNREACHABLE},
        {ENETDOWN, TR_UNREACHABLE},
        {EADDRINUSE, TR_ADDRESS_IN_USE},
        {EADDRNOTAVAIL, TR_ADDRESS_INVALID},
        {ENOENT, TR_ADDRESS_INVALID},
        {EACCES, TR_NOT_PERMITTED},
        {EPERM, TR_NOT_PERMITTED},
        {EMFILE, TR_LIMIT},
        {ENFILE, TR_LIMIT},
        {ENOMEM, TR_NO_MEMORY},
        {ENOBUFS, TR_NO_MEMORY},
        {EMSGSIZE, TR_TOO_LARGE},
        {EAFNOSUPPORT, TR_NOT_SUPPORTED},
        {EINVAL, TR_INVALID_ARGUMENT},
        {EBADF, TR_INVALID_ARGUMENT},
        {ENOTSOCK, TR_INVALID_ARGUMENT},
        {100000, TR_INVALID_ARGUMENT},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        ck_assert_int_eq(tr__socket_status(rows[i].error), rows[i].status);
    /* Of an accept: what the listener lacks, and what is wrong with that one connection. */
    const int lacks[] = {EMFILE, ENFILE, ENOBUFS, ENOMEM};
    for (size_t i = 0; i < sizeof lacks / sizeof *lacks; i++)
        ck_assert_int_eq(tr__socket_accept_status(lacks[i]), TR_LIMIT);
    const int wrong[] = {ECONNABORTED, EPROTO, ENETDOWN, EHOSTUNREACH, ENOPROTOOPT, EPERM};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        ck_assert_int_eq(tr__socket_accept_status(wrong[i]), TR_RESET);
    ck_assert_int_eq(tr__socket_accept_status(EAGAIN), TR_WOULD_BLOCK);
    ck_assert_int_eq(tr__socket_accept_status(EINVAL), TR_INVALID_ARGUMENT);
}

static void talk(tr_socket_spec listen, tr_socket_spec connect, tr_family family)
{
    real = tr_platform_real();
    int fds[3];
    int none = -1;
    tr_address peer;
    fds[0] = must_open(&listen);
    ck_assert_int_eq(real->socket_accept(real, fds[0], &none, &peer), TR_WOULD_BLOCK);
    ck_assert_int_eq(none, -1);
    if (family != TR_FAMILY_UNIX) {
        ck_assert_int_eq(address_of(fds[0], false).family, family);
        connect.address.port = address_of(fds[0], false).port;
    }
    fds[1] = must_open(&connect);
    fds[2] = must_accept(fds[0], &peer);
    await_events(fds[1], POLLOUT);
    ck_assert_int_eq(real->socket_outcome(real, fds[1]), TR_OK);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_ne(fcntl(fds[i], F_GETFL) & O_NONBLOCK, 0);
        ck_assert_int_ne(fcntl(fds[i], F_GETFD) & FD_CLOEXEC, 0);
    }
    ck_assert_int_eq(peer.family, family);
    ck_assert(is_same(peer, address_of(fds[1], false)));
    ck_assert(is_same(peer, address_of(fds[2], true)));
    ck_assert(is_same(address_of(fds[2], false), address_of(fds[1], true)));

    char bytes[8];
    size_t count = 99;
    ck_assert_int_eq(receive(fds[1], bytes, sizeof bytes, &count), TR_WOULD_BLOCK);
    ck_assert_uint_eq(count, 99);
    ck_assert_int_eq(send_text(fds[1], "hello", &count), TR_OK);
    ck_assert_uint_eq(count, 5);
    expect_text(fds[2], "hello");
    /* The other direction stays open after an end. */
    real->socket_finish(real, fds[1]);
    expect_end(fds[2]);
    ck_assert_int_eq(send_text(fds[2], "bye", &count), TR_OK);
    expect_text(fds[1], "bye");
    ck_assert_int_eq(send_text(fds[1], "more", &count), TR_RESET); /* without a signal */
    close_all(&fds[2], 1);
    expect_end(fds[1]);
    close_all(fds, 2);
}

TEST(two_talk_over_tcp, "")
{
    talk(spec_of(TR_SOCKET_LISTEN, loopback_v4(0)),
         spec_of(TR_SOCKET_CONNECT, loopback_v4(0)),
         TR_FAMILY_V4);
}

TEST(two_talk_over_tcp_of_ipv6, "")
{
    int fd = socket(AF_INET6, SOCK_STREAM, 0);
    struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) != 0)
        test_skip("this machine has no IPv6");
    close(fd);
    talk(spec_of(TR_SOCKET_LISTEN, loopback_v6(0)),
         spec_of(TR_SOCKET_CONNECT, loopback_v6(0)),
         TR_FAMILY_V6);
}

TEST(two_talk_over_a_path, "")
{
    struct socket_path path = path_make();
    talk(unix_spec(TR_SOCKET_LISTEN, path.path),
         unix_spec(TR_SOCKET_CONNECT, path.path),
         TR_FAMILY_UNIX);
    path_remove(&path);
}

TEST(two_talk_over_an_abstract_name, "")
{
    char name[40];
    (void)snprintf(name, sizeof name, "@troupe-%d", (int)getpid());
    talk(unix_spec(TR_SOCKET_LISTEN, name), unix_spec(TR_SOCKET_CONNECT, name), TR_FAMILY_UNIX);
}

TEST(a_connect_to_nobody_is_refused, "")
{
    real = tr_platform_real();
    tr_socket_spec spec = spec_of(TR_SOCKET_LISTEN, loopback_v4(0));
    int listener = must_open(&spec);
    spec = spec_of(TR_SOCKET_CONNECT, address_of(listener, false));
    close_all(&listener, 1);
    int fd = -1;
    tr_status status = try_open(&spec, &fd);
    if (status == TR_WOULD_BLOCK) {
        await_events(fd, POLLOUT);
        status = real->socket_outcome(real, fd);
        ck_assert_int_eq(real->socket_outcome(real, fd), TR_RESET); /* it was said once */
        close_all(&fd, 1);
    }
    ck_assert_int_eq(status, TR_CONNECT_REFUSED);
}

TEST(a_connect_that_is_under_way_has_no_outcome, "")
{
    real = tr_platform_real();
    tr_socket_spec spec = spec_of(TR_SOCKET_LISTEN, loopback_v4(0));
    int fds[20];
    spec.backlog = 1;
    fds[0] = must_open(&spec);
    spec = spec_of(TR_SOCKET_CONNECT, address_of(fds[0], false));
    /* The kernel does not answer when as many as the backlog says wait to be accepted. */
    size_t count = 1;
    tr_status status = TR_OK;
    for (; count < 20 && status == TR_OK; count++) {
        fds[count] = must_open(&spec);
        status = real->socket_outcome(real, fds[count]);
    }
    ck_assert_int_eq(status, TR_WOULD_BLOCK);
    close_all(fds, count);
}

TEST(a_reset_comes_after_what_was_received, "")
{
    real = tr_platform_real();
    int ends[2];
    size_t count;
    char bytes[8];
    tcp_pair(ends);
    ck_assert_int_eq(send_text(ends[0], "last", &count), TR_OK);
    await_events(ends[1], POLLIN);
    real->socket_close(real, ends[0], true);
    await_events(ends[1], POLLRDHUP);
    expect_text(ends[1], "last");
    ck_assert_int_eq(receive(ends[1], bytes, sizeof bytes, &count), TR_RESET);
    ck_assert_int_eq(send_text(ends[1], "more", &count), TR_RESET);
    tr_address address;
    ck_assert_int_eq(real->socket_address(real, ends[1], true, &address), TR_RESET);
    real->socket_finish(real, ends[1]); /* does nothing */
    close_all(&ends[1], 1);
}

TEST(a_close_in_order_sends_the_rest, "")
{
    real = tr_platform_real();
    int ends[2];
    size_t count;
    tcp_pair(ends);
    ck_assert_int_eq(send_text(ends[0], "rest", &count), TR_OK);
    close_all(&ends[0], 1);
    expect_text(ends[1], "rest");
    expect_end(ends[1]);
    /* To one that is gone nothing can be sent; the first attempt finds out. */
    ck_assert_int_eq(send_text(ends[1], "x", &count), TR_OK);
    await_events(ends[1], POLLERR | POLLHUP);
    ck_assert_int_eq(send_text(ends[1], "x", &count), TR_RESET);
    close_all(&ends[1], 1);
}

enum { PIECE = 3000, PIECES = 100 };

/* Sends pieces until nothing more is taken. Returns how many bytes were. */
static size_t fill_with(int fd, const tr_bytes *pieces, size_t count)
{
    size_t total = 0;
    size_t sent = 0;
    tr_status status;
    while ((status = real->socket_send(real, fd, pieces, count, &sent)) == TR_OK)
        total += sent;
    ck_assert_int_eq(status, TR_WOULD_BLOCK);
    return total;
}

TEST(a_full_socket_takes_a_part_and_then_nothing, "")
{
    real = tr_platform_real();
    int ends[2];
    tr_bytes pieces[PIECES];
    unsigned char *bytes = malloc(PIECE * PIECES);
    ck_assert_ptr_nonnull(bytes);
    for (size_t i = 0; i < (size_t)PIECE * PIECES; i++)
        bytes[i] = (unsigned char)(i % 251);
    for (size_t i = 0; i < PIECES; i++)
        pieces[i] = (tr_bytes){.data = bytes + i * PIECE, .size = PIECE};
    tcp_pair(ends);
    int size = 10000; /* so that a part of a piece is the rule */
    ck_assert_int_eq(setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &size, sizeof size), 0);
    size_t first = 0;
    ck_assert_int_eq(real->socket_send(real, ends[0], pieces, PIECES, &first), TR_OK);
    ck_assert_uint_gt(first, 0);
    ck_assert_uint_lt(first, (size_t)PIECE * PIECES);
    /* What comes is what was taken, in order. */
    size_t got;
    size_t total = 0;
    unsigned char page[4096];
    while (total < first) {
        await_events(ends[1], POLLIN);
        ck_assert_int_eq(receive(ends[1], page, sizeof page, &got), TR_OK);
        for (size_t i = 0; i < got; i++)
            ck_assert_uint_eq(page[i], (total + i) % 251);
        total += got;
    }
    ck_assert_uint_eq(total, first);
    size_t filled = fill_with(ends[0], pieces, PIECES);
    ck_assert_uint_gt(filled, 0);
    while (filled) {
        await_events(ends[1], POLLIN);
        ck_assert_int_eq(receive(ends[1], page, sizeof page, &got), TR_OK);
        ck_assert_uint_gt(got, 0);
        filled -= got;
    }
    await_events(ends[0], POLLOUT);
    ck_assert_uint_gt(fill_with(ends[0], pieces, PIECES), 0);
    free(bytes);
    close_all(ends, 2);
}

TEST(more_pieces_than_the_kernel_takes_at_once_go_in_order, "")
{
    real = tr_platform_real();
    enum { COUNT = 3000 };
    static unsigned char numbers[COUNT];
    static tr_bytes pieces[COUNT];
    static unsigned char got[COUNT];
    int ends[2];
    for (size_t i = 0; i < COUNT; i++) {
        numbers[i] = (unsigned char)(i % 251);
        pieces[i] = (tr_bytes){.data = &numbers[i], .size = 1};
    }
    tcp_pair(ends);
    size_t sent = 0;
    size_t count = 0;
    ck_assert_int_eq(real->socket_send(real, ends[0], pieces, COUNT, &sent), TR_OK);
    ck_assert_uint_eq(sent, COUNT);
    for (size_t total = 0; total < COUNT; total += count) {
        await_events(ends[1], POLLIN);
        ck_assert_int_eq(receive(ends[1], got + total, COUNT - total, &count), TR_OK);
    }
    ck_assert_mem_eq(got, numbers, COUNT);
    /* A full socket: the part that was taken, then nothing. */
    size_t taken = fill_with(ends[0], pieces, COUNT);
    ck_assert_uint_gt(taken, 0);
    real->socket_close(real, ends[1], true);
    await_events(ends[0], POLLHUP);
    ck_assert_int_eq(real->socket_send(real, ends[0], pieces, COUNT, &sent), TR_RESET);
    close_all(ends, 1);
}

TEST(no_pieces_and_no_space_are_no_accident, "")
{
    real = tr_platform_real();
    int ends[2];
    size_t count = 7;
    char byte;
    tcp_pair(ends);
    ck_assert_int_eq(real->socket_send(real, ends[0], NULL, 0, &count), TR_OK);
    ck_assert_uint_eq(count, 0);
    ck_assert_int_eq(receive(ends[0], &byte, 0, &count), TR_INVALID_ARGUMENT);
    close_all(ends, 2);
}

TEST(without_descriptors_a_connection_waits_in_the_kernel, "")
{
    real = tr_platform_real();
    tr_socket_spec spec = spec_of(TR_SOCKET_LISTEN, loopback_v4(0));
    int fds[3] = {must_open(&spec), -1, -1};
    spec = spec_of(TR_SOCKET_CONNECT, address_of(fds[0], false));
    fds[1] = must_open(&spec);
    await_events(fds[0], POLLIN);
    limit_descriptors(0);
    ck_assert_int_eq(real->socket_accept(real, fds[0], &fds[2], NULL), TR_LIMIT);
    ck_assert_int_eq(fds[2], -1);
    int none = -1;
    ck_assert_int_eq(try_open(&spec, &none), TR_LIMIT);
    ck_assert_int_eq(none, -1);
    limit_descriptors(-1);
    ck_assert_int_eq(real->socket_accept(real, fds[0], &fds[2], NULL), TR_OK);
    close_all(fds, 3);
}

TEST(what_is_no_socket_is_refused, "")
{
    real = tr_platform_real();
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    const int wrong[] = {-1, 999, ends[0], ends[1]};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        int fd = wrong[i];
        int accepted = -1;
        size_t count = 0;
        char byte = 0;
        tr_address address;
        ck_assert_int_eq(real->socket_outcome(real, fd), TR_INVALID_ARGUMENT);
        ck_assert_int_eq(real->socket_accept(real, fd, &accepted, NULL), TR_INVALID_ARGUMENT);
        ck_assert_int_eq(receive(fd, &byte, 1, &count), TR_INVALID_ARGUMENT);
        ck_assert_int_eq(send_text(fd, "x", &count), TR_INVALID_ARGUMENT);
        ck_assert_int_eq(real->socket_address(real, fd, false, &address), TR_INVALID_ARGUMENT);
        ck_assert_int_eq(real->socket_address(real, fd, true, &address), TR_INVALID_ARGUMENT);
        real->socket_finish(real, fd);
    }
    real->socket_close(real, -1, true);
    close_all(ends, 2);
}

static int option_of(int fd, int level, int name)
{
    int value = -1;
    socklen_t size = sizeof value;
    ck_assert_int_eq(getsockopt(fd, level, name, &value, &size), 0);
    return value;
}

TEST(what_a_listener_was_given_holds_for_its_connections, "")
{
    real = tr_platform_real();
    for (int delays = 0; delays < 2; delays++) {
        tr_socket_spec spec = spec_of(TR_SOCKET_LISTEN, loopback_v4(0));
        spec.delays = delays;
        spec.stall_ns = delays ? 0 : 30 * TR_SECOND + 1;
        int fds[3] = {must_open(&spec)};
        spec.role = TR_SOCKET_CONNECT;
        spec.address = address_of(fds[0], false);
        fds[1] = must_open(&spec);
        fds[2] = must_accept(fds[0], NULL);
        for (int i = 0; i < 3; i++) {
            ck_assert_int_eq(option_of(fds[i], IPPROTO_TCP, TCP_NODELAY), !delays);
            ck_assert_int_eq(option_of(fds[i], SOL_SOCKET, SO_KEEPALIVE), 1);
            ck_assert_int_eq(option_of(fds[i], IPPROTO_TCP, TCP_KEEPIDLE), 60);
            ck_assert_int_eq(option_of(fds[i], IPPROTO_TCP, TCP_KEEPINTVL), 10);
            ck_assert_int_eq(option_of(fds[i], IPPROTO_TCP, TCP_KEEPCNT), 3);
            ck_assert_int_eq(option_of(fds[i], IPPROTO_TCP, TCP_USER_TIMEOUT), delays ? 0 : 30001);
        }
        close_all(fds, 3);
    }
}

TEST(readiness_of_a_connection_is_reported, "")
{
    real = tr_platform_real();
    tr_parker *parker;
    int ends[2];
    tr_io_event event;
    size_t count;
    char bytes[8];
    ck_assert_int_eq(real->parker_new(real, &parker), TR_OK);
    tcp_pair(ends);
    ck_assert_int_eq(real->io_watch(real, parker, ends[0], 5), TR_OK);
    ck_assert_uint_eq(real->io_poll(real, parker, &event, 1), 1);
    ck_assert_uint_eq(event.what, TR_IO_OUT);
    ck_assert_int_eq(send_text(ends[1], "x", &count), TR_OK);
    real->park(real, parker, TR_NEVER);
    ck_assert_uint_eq(real->io_poll(real, parker, &event, 1), 1);
    ck_assert_uint_eq(event.what, TR_IO_IN | TR_IO_OUT);
    ck_assert_int_eq(receive(ends[0], bytes, 8, &count), TR_OK);
    real->socket_close(real, ends[1], true);
    real->park(real, parker, TR_NEVER);
    ck_assert_uint_eq(real->io_poll(real, parker, &event, 1), 1);
    ck_assert_uint_eq(event.what, TR_IO_IN | TR_IO_OUT | TR_IO_END);
    ck_assert_int_eq(receive(ends[0], bytes, 8, &count), TR_RESET);
    real->io_unwatch(real, parker, ends[0]);
    close_all(ends, 1);
    real->parker_free(real, parker);
}

SUITE("os socket", each_error_has_a_status, two_talk_over_tcp, two_talk_over_tcp_of_ipv6,
      two_talk_over_a_path, two_talk_over_an_abstract_name, a_connect_to_nobody_is_refused,
      a_connect_that_is_under_way_has_no_outcome, a_reset_comes_after_what_was_received,
      a_close_in_order_sends_the_rest, a_full_socket_takes_a_part_and_then_nothing,
      more_pieces_than_the_kernel_takes_at_once_go_in_order, no_pieces_and_no_space_are_no_accident,
      without_descriptors_a_connection_waits_in_the_kernel, what_is_no_socket_is_refused,
      what_a_listener_was_given_holds_for_its_connections, readiness_of_a_connection_is_reported)
