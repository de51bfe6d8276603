/* SPDX-License-Identifier: Apache-2.0 */
/** Sockets of the servers and the client beside Troupe. Any failure ends the program. */
#ifndef BENCH_NET_SOCKETS_H
#define BENCH_NET_SOCKETS_H

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static inline void require(int is_well, const char *what)
{
    if (is_well)
        return;
    perror(what);
    exit(2);
}

static inline struct sockaddr_in loopback(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

static inline void no_delay(int fd)
{
    int one = 1;
    require(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) == 0, "TCP_NODELAY");
}

/* Listens at a free port, and prints it. */
static inline int listen_and_tell(void)
{
    struct sockaddr_in address = loopback(0);
    socklen_t size = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    require(fd >= 0, "socket");
    require(bind(fd, (struct sockaddr *)&address, sizeof address) == 0, "bind");
    require(listen(fd, 4096) == 0, "listen");
    require(getsockname(fd, (struct sockaddr *)&address, &size) == 0, "getsockname");
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
    return fd;
}

#endif
