/* SPDX-License-Identifier: Apache-2.0 */
#include "os/socket.h"

#include "os/socket_address.h"
#include "os/syscall.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
    PIECES_MAX = 1024
}; /* the largest number of pieces of one system call that the kernel allows */

/* tr_bytes has the layout of struct iovec, so pieces are passed to the kernel without a copy. */
_Static_assert(sizeof(tr_bytes) == sizeof(struct iovec), "a piece is an iovec");
_Static_assert(offsetof(tr_bytes, data) == offsetof(struct iovec, iov_base), "a piece is an iovec");
_Static_assert(offsetof(tr_bytes, size) == offsetof(struct iovec, iov_len), "a piece is an iovec");

static const struct {
    int error;
    tr_status status;
} statuses[] = {
    {0, TR_OK},
    {EAGAIN, TR_WOULD_BLOCK},
    {EWOULDBLOCK, TR_WOULD_BLOCK},
    {EINPROGRESS, TR_WOULD_BLOCK},
    {EALREADY, TR_WOULD_BLOCK},
    {ECONNREFUSED, TR_CONNECT_REFUSED},
    {ECONNRESET, TR_RESET},
    {ECONNABORTED, TR_RESET},
    {ENETRESET, TR_RESET},
    {ENOTCONN, TR_RESET},
    {EPIPE, TR_RESET},
    {EPROTO, TR_RESET},
    {ESHUTDOWN, TR_RESET},
    {ETIMEDOUT, TR_TIMEOUT},
    {EHOSTDOWN, TR_UNREACHABLE},
    {EHOSTUNREACH, TR_UNREACHABLE},
    {ENETDOWN, TR_UNREACHABLE},
    {ENETUNREACH, TR_UNREACHABLE},
    {ENONET, TR_UNREACHABLE},
    {EADDRINUSE, TR_ADDRESS_IN_USE},
    {EADDRNOTAVAIL, TR_ADDRESS_INVALID},
    {EISDIR, TR_ADDRESS_INVALID},
    {ELOOP, TR_ADDRESS_INVALID},
    {ENAMETOOLONG, TR_ADDRESS_INVALID},
    {ENODEV, TR_ADDRESS_INVALID}, /* the scope of an IPv6 address names no network interface */
    {ENOENT, TR_ADDRESS_INVALID},
    {ENOTDIR, TR_ADDRESS_INVALID},
    {EACCES, TR_NOT_PERMITTED},
    {EPERM, TR_NOT_PERMITTED},
    {EROFS, TR_NOT_PERMITTED},
    {EDQUOT, TR_LIMIT},
    {EMFILE, TR_LIMIT},
    {ENFILE, TR_LIMIT},
    {ENOSPC, TR_LIMIT},
    {ENOBUFS, TR_NO_MEMORY},
    {ENOMEM, TR_NO_MEMORY},
    {EMSGSIZE, TR_TOO_LARGE},
    {EAFNOSUPPORT, TR_NOT_SUPPORTED},
    {EOPNOTSUPP, TR_NOT_SUPPORTED},
    {EPFNOSUPPORT, TR_NOT_SUPPORTED},
    {EPROTONOSUPPORT, TR_NOT_SUPPORTED},
    {EPROTOTYPE, TR_NOT_SUPPORTED},
    {ESOCKTNOSUPPORT, TR_NOT_SUPPORTED},
};

tr_status tr__socket_status(int error)
{
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
        if (statuses[i].error == error)
            return statuses[i].status;
    }
    return TR_INVALID_ARGUMENT;
}

static int error_of_socket(int fd, int *error)
{
    socklen_t size = sizeof *error;
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, error, &size) == 0 ? 0 : errno;
}

tr_status tr__real_socket_outcome(const tr_platform *platform, int fd)
{
    (void)platform;
    int error;
    int failure = error_of_socket(fd, &error);
    if (failure || error)
        return tr__socket_status(failure ? failure : error);
    union socket_address address;
    socklen_t size = sizeof address;
    if (getpeername(fd, &address.any, &size) == 0)
        return TR_OK;
    if (errno != ENOTCONN)
        return tr__socket_status(errno);
    /*
     * Either the socket is still connecting, or it has failed and an earlier call has read the error. Ask poll which of
     * these is so.
     */
    struct pollfd poll_fd = {.fd = fd, .events = POLLOUT};
    return poll(&poll_fd, 1, 0) == 1 ? TR_RESET : TR_WOULD_BLOCK;
}

tr_status tr__socket_accept_status(int error)
{
    switch (error) {
    case ENOBUFS:
    case ENOMEM:
        return TR_LIMIT;
    /*
     * These are errors of one connection, not of the listener. accept(2) says to call accept again.
     */
    case EPERM:
    case ENOPROTOOPT:
    case ETIMEDOUT:
    case EHOSTDOWN:
    case EHOSTUNREACH:
    case ENETDOWN:
    case ENETUNREACH:
    case ENONET:
        return TR_RESET;
    default:
        return tr__socket_status(error);
    }
}

tr_status tr__real_socket_accept(const tr_platform *platform, int fd, int *accepted,
                                 tr_address *peer)
{
    (void)platform;
    union socket_address address;
    socklen_t size = sizeof address;
    long got;
    do {
        got = os_call(SYS_accept4,
                      fd,
                      peer ? (long)&address : 0,
                      peer ? (long)&size : 0,
                      SOCK_NONBLOCK | SOCK_CLOEXEC,
                      0,
                      0);
    } while (got == -EINTR);
    if (got < 0)
        return tr__socket_accept_status((int)-got);
    *accepted = (int)got;
    if (peer)
        (void)tr__socket_address_read(&address, size, peer);
    return TR_OK;
}

tr_status tr__real_socket_receive(const tr_platform *platform, int fd, void *to, size_t size,
                                  size_t *got)
{
    (void)platform;
    if (size == 0)
        return TR_INVALID_ARGUMENT; /* a read of 0 bytes would look like the end of the input */
    long count;
    do {
        count = os_call(SYS_recvfrom, fd, (long)to, (long)size, MSG_DONTWAIT, 0, 0);
    } while (count == -EINTR);
    if (count < 0)
        return tr__socket_status((int)-count);
    *got = (size_t)count;
    return TR_OK;
}

/* Sends pieces by one system call. Returns the number of bytes, or a negative error number. */
static long pieces_send(int fd, const tr_bytes *pieces, size_t count)
{
    const int flags = MSG_NOSIGNAL | MSG_DONTWAIT;
    struct msghdr message = {.msg_iov = (struct iovec *)(uintptr_t)pieces, .msg_iovlen = count};
    long sent;
    do {
        sent = os_call(SYS_sendmsg, fd, (long)&message, flags, 0, 0, 0);
    } while (sent == -EINTR);
    return sent;
}

/* Does what tr__real_socket_send does, for one piece. */
static tr_status piece_send(int fd, tr_bytes piece, size_t *sent)
{
    long done;
    do {
        done = os_call(
            SYS_sendto, fd, (long)piece.data, (long)piece.size, MSG_NOSIGNAL | MSG_DONTWAIT, 0, 0);
    } while (done == -EINTR);
    if (done < 0)
        return tr__socket_status((int)-done);
    *sent = (size_t)done;
    return TR_OK;
}

static size_t size_of(const tr_bytes *pieces, size_t count)
{
    size_t size = 0;
    for (size_t i = 0; i < count; i++)
        size += pieces[i].size;
    return size;
}

tr_status tr__real_socket_send(const tr_platform *platform, int fd, const tr_bytes *pieces,
                               size_t count, size_t *sent)
{
    (void)platform;
    size_t total = 0;
    if (count == 1)
        return piece_send(fd, *pieces, sent);
    while (count > PIECES_MAX) {
        long done = pieces_send(fd, pieces, PIECES_MAX);
        if (done < 0 && !total)
            return tr__socket_status((int)-done);
        total += done > 0 ? (size_t)done : 0;
        if (done < 0 || (size_t)done < size_of(pieces, PIECES_MAX)) {
            *sent = total;
            return TR_OK;
        }
        pieces += PIECES_MAX;
        count -= PIECES_MAX;
    }
    long done = pieces_send(fd, pieces, count);
    if (done < 0 && !total)
        return tr__socket_status((int)-done);
    /*
     * if an error came after some bytes were sent, this call succeeds, and the next call returns
     * the error
     */
    *sent = total + (done > 0 ? (size_t)done : 0);
    return TR_OK;
}

void tr__real_socket_finish(const tr_platform *platform, int fd)
{
    (void)platform;
    /* a shutdown fails if the connection has ended already, which does no harm */
    (void)shutdown(fd, SHUT_WR);
}

void tr__real_socket_close(const tr_platform *platform, int fd, bool resets)
{
    (void)platform;
    const struct linger linger = {.l_onoff = 1, .l_linger = 0};
    if (resets)
        (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
    (void)close(fd);
}

tr_status tr__real_socket_address(const tr_platform *platform, int fd, bool of_peer,
                                  tr_address *address)
{
    (void)platform;
    union socket_address found;
    socklen_t size = sizeof found;
    int result = of_peer ? getpeername(fd, &found.any, &size) : getsockname(fd, &found.any, &size);
    if (result != 0)
        return errno == EINVAL ? TR_RESET : tr__socket_status(errno);
    return tr__socket_address_read(&found, size, address) ? TR_OK : TR_INVALID_ARGUMENT;
}
