/* SPDX-License-Identifier: Apache-2.0 */
#include "os/datagram.h"

#include "os/socket.h"
#include "os/socket_address.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* one system call takes at most this many datagrams; few, to keep the stack small */
enum { DATAGRAMS_MAX = 32 };

/* What the kernel needs for one datagram of a system call. */
struct datagram {
    struct iovec piece;
    union socket_address address;
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(uint32_t))];
};

/*
 * Returns the number of dropped datagrams that the kernel reports together with this datagram; 0 if
 * it reports none.
 */
static uint64_t lost_of(struct msghdr *message)
{
    uint32_t lost = 0;
    for (struct cmsghdr *at = CMSG_FIRSTHDR(message); at; at = CMSG_NXTHDR(message, at)) {
        if (at->cmsg_level == SOL_SOCKET && at->cmsg_type == SO_RXQ_OVFL)
            memcpy(&lost, CMSG_DATA(at), sizeof lost);
    }
    return lost;
}

static void address_read(const struct msghdr *message, tr_packet *packet)
{
    const union socket_address *from = message->msg_name;
    (void)tr__socket_address_read(from, message->msg_namelen, &packet->address);
    if (packet->path && tr__socket_address_path(from, message->msg_namelen, packet->path))
        packet->address.path = packet->path;
}

tr_status tr__real_socket_receive_many(const tr_platform *platform, int fd, tr_packet *packets,
                                       size_t max, size_t *count, uint64_t *lost)
{
    (void)platform;
    struct mmsghdr headers[DATAGRAMS_MAX];
    struct datagram datagrams[DATAGRAMS_MAX];
    size_t asked = max < DATAGRAMS_MAX ? max : DATAGRAMS_MAX;
    if (!asked)
        return TR_INVALID_ARGUMENT;
    for (size_t i = 0; i < asked; i++) {
        struct datagram *datagram = &datagrams[i];
        datagram->piece =
            (struct iovec){.iov_base = packets[i].data, .iov_len = packets[i].capacity};
        headers[i] = (struct mmsghdr){.msg_hdr = {.msg_name = &datagram->address,
                                                  .msg_namelen = sizeof datagram->address,
                                                  .msg_iov = &datagram->piece,
                                                  .msg_iovlen = 1,
                                                  .msg_control = datagram->control,
                                                  .msg_controllen = sizeof datagram->control}};
    }
    long got;
    do {
        /* MSG_TRUNC: for a datagram that was cut, the kernel returns its full size. */
        got = syscall(SYS_recvmmsg, fd, headers, asked, MSG_DONTWAIT | MSG_TRUNC, NULL);
    } while (got < 0 && errno == EINTR);
    if (got < 0)
        return tr__socket_status(errno);
    for (long i = 0; i < got; i++) {
        packets[i].size = headers[i].msg_len;
        address_read(&headers[i].msg_hdr, &packets[i]);
    }
    *count = (size_t)got;
    *lost = lost_of(&headers[got - 1].msg_hdr);
    return TR_OK;
}

static tr_status status_of_send(int error)
{
    /* ENOENT: no socket has this path. */
    return error == ENOENT ? TR_CONNECT_REFUSED : tr__socket_status(error);
}

static tr_status send_one(int fd, const tr_packet *packet, size_t *sent)
{
    union socket_address address;
    socklen_t size = 0;
    if (packet->address.family != TR_FAMILY_NONE) {
        size = tr__socket_address_of(&packet->address, &address);
        if (!size)
            return TR_ADDRESS_INVALID;
    }
    long done;
    do {
        done = syscall(SYS_sendto,
                       fd,
                       packet->data,
                       packet->size,
                       MSG_NOSIGNAL | MSG_DONTWAIT,
                       size ? &address : NULL,
                       size);
    } while (done < 0 && errno == EINTR);
    if (done < 0)
        return status_of_send(errno);
    *sent = 1;
    return TR_OK;
}

tr_status tr__real_socket_send_many(const tr_platform *platform, int fd, const tr_packet *packets,
                                    size_t count, size_t *sent)
{
    (void)platform;
    struct mmsghdr headers[DATAGRAMS_MAX];
    struct iovec pieces[DATAGRAMS_MAX];
    union socket_address addresses[DATAGRAMS_MAX];
    size_t ready = 0;
    if (count == 1)
        return send_one(fd, packets, sent);
    for (; ready < count && ready < DATAGRAMS_MAX; ready++) {
        const tr_packet *packet = &packets[ready];
        socklen_t size = 0;
        if (packet->address.family != TR_FAMILY_NONE) {
            size = tr__socket_address_of(&packet->address, &addresses[ready]);
            if (!size)
                break;
        }
        pieces[ready] = (struct iovec){.iov_base = packet->data, .iov_len = packet->size};
        headers[ready] = (struct mmsghdr){.msg_hdr = {.msg_name = size ? &addresses[ready] : NULL,
                                                      .msg_namelen = size,
                                                      .msg_iov = &pieces[ready],
                                                      .msg_iovlen = 1}};
    }
    if (!ready)
        return count ? TR_ADDRESS_INVALID : TR_INVALID_ARGUMENT;
    long done;
    do {
        done = syscall(SYS_sendmmsg, fd, headers, ready, MSG_NOSIGNAL | MSG_DONTWAIT);
    } while (done < 0 && errno == EINTR);
    if (done < 0)
        return status_of_send(errno);
    *sent = (size_t)done;
    return TR_OK;
}
