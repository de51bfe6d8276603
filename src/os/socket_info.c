/* SPDX-License-Identifier: Apache-2.0 */
#include "os/socket_info.h"

#include <linux/sockios.h>
#include <linux/tcp.h>
#include <string.h>
#include <sys/ioctl.h>

#include "os/socket_address.h"

static int option_of(int fd, int name)
{
    int value = 0;
    socklen_t size = sizeof value;
    return getsockopt(fd, SOL_SOCKET, name, &value, &size) == 0 ? value : -1;
}

static void addresses_read(int fd, struct socket_info *info)
{
    union socket_address address;
    socklen_t size = sizeof address;
    if (getsockname(fd, &address.any, &size) == 0) {
        (void)tr__socket_address_read(&address, size, &info->here);
        if (info->family == SOCKET_UNIX)
            (void)tr__socket_address_path(&address, size, info->here_path);
    }
    size = sizeof address;
    if (getpeername(fd, &address.any, &size) == 0)
        (void)tr__socket_address_read(&address, size, &info->peer);
    info->here.path = NULL;
    info->peer.path = NULL;
}

/* Reads what the kernel counts of a TCP connection. An older kernel gives fewer members. */
static void counts_read(int fd, struct socket_info *info, bool listens)
{
    struct tcp_info tcp;
    socklen_t size = sizeof tcp;
    memset(&tcp, 0, sizeof tcp);
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &tcp, &size) != 0)
        return;
    if (listens) { /* for a listener, tcpi_unacked and tcpi_sacked have another meaning */
        info->unread = tcp.tcpi_unacked;
        info->unsent = tcp.tcpi_sacked;
        return;
    }
    info->has_counts = size >= offsetof(struct tcp_info, tcpi_segs_out);
    info->received_bytes = tcp.tcpi_bytes_received;
    info->sent_bytes = tcp.tcpi_bytes_acked;
    info->rtt_us = tcp.tcpi_rtt;
    info->retransmits = tcp.tcpi_total_retrans;
}

bool tr__socket_info(int fd, struct socket_info *info)
{
    int waiting = 0;
    int domain = option_of(fd, SO_DOMAIN);
    int type = option_of(fd, SO_TYPE);
    *info = (struct socket_info){.family = SOCKET_OTHER};
    if (domain < 0 || type < 0)
        return false;
    bool is_ip = domain == AF_INET || domain == AF_INET6;
    bool listens = option_of(fd, SO_ACCEPTCONN) > 0;
    if (domain == AF_UNIX)
        info->family = SOCKET_UNIX;
    else if (is_ip)
        info->family = type == SOCK_STREAM ? SOCKET_TCP : SOCKET_UDP;
    addresses_read(fd, info);
    if (info->family == SOCKET_TCP)
        counts_read(fd, info, listens);
    if (listens)
        return true;
    if (ioctl(fd, SIOCINQ, &waiting) == 0 && waiting > 0)
        info->unread = (uint64_t)waiting;
    waiting = 0;
    if (ioctl(fd, SIOCOUTQ, &waiting) == 0 && waiting > 0)
        info->unsent = (uint64_t)waiting;
    return true;
}
