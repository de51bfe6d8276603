/* SPDX-License-Identifier: Apache-2.0 */
/** What the kernel knows about a socket, to be shown to a person. */
#ifndef OS_SOCKET_INFO_H
#define OS_SOCKET_INFO_H

#include <troupe/address.h>

enum socket_family { SOCKET_OTHER, SOCKET_TCP, SOCKET_UDP, SOCKET_UNIX };

struct socket_info {
    enum socket_family family;
    /* the members received_bytes to retransmits are set, because this is a TCP connection */
    bool has_counts;
    tr_address here; /* address of this side, without a path; see here_path */
    tr_address peer;
    /* the path of this side, for a UNIX socket; "": it has no name */
    char here_path[TR_ADDRESS_PATH_MAX];
    uint64_t received_bytes;
    uint64_t sent_bytes; /* bytes that the other side has confirmed */
    uint32_t rtt_us;
    uint32_t retransmits;
    /* bytes that came and were not read; for a listener: connections that wait to be accepted */
    uint64_t unread;
    /*
     * bytes that the kernel has not sent; for a listener: how many connections may wait to be
     * accepted
     */
    uint64_t unsent;
};

/** Asks the kernel. Returns false if the descriptor is no socket. Any thread. */
bool tr__socket_info(int fd, struct socket_info *info);

#endif
