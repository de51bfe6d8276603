/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Real sockets on this machine, by the functions of the platform.
 */
#ifndef SUPPORT_SOCKETS_H
#define SUPPORT_SOCKETS_H

#include "support/test.h"

#include <troupe/platform.h>

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

static inline tr_address loopback_v4(uint16_t port)
{
    return (tr_address){.family = TR_FAMILY_V4, .port = port, .host = {127, 0, 0, 1}};
}

static inline tr_address loopback_v6(uint16_t port)
{
    return (tr_address){.family = TR_FAMILY_V6, .port = port, .host = {[15] = 1}};
}

static inline tr_status try_open(const tr_socket_spec *spec, int *fd)
{
    const tr_platform *real = tr_platform_real();
    return real->socket_open(real, spec, fd);
}

static inline int must_open(const tr_socket_spec *spec)
{
    int fd = -1;
    tr_status status = try_open(spec, &fd);
    ck_assert_msg(status == TR_OK || status == TR_WOULD_BLOCK, "%s", tr_status_name(status));
    ck_assert_int_ge(fd, 0);
    return fd;
}

static inline tr_socket_spec spec_of(tr_socket_role role, tr_address address)
{
    return (tr_socket_spec){.size = sizeof(tr_socket_spec),
                            .role = role,
                            .is_datagram = role == TR_SOCKET_BIND,
                            .address = address};
}

static inline tr_socket_spec unix_spec(tr_socket_role role, const char *path)
{
    tr_socket_spec spec = spec_of(role, (tr_address){.family = TR_FAMILY_UNIX});
    spec.path = path;
    return spec;
}

static inline tr_address address_of(int fd, bool of_peer)
{
    const tr_platform *real = tr_platform_real();
    tr_address address;
    ck_assert_int_eq(real->socket_address(real, fd, of_peer, &address), TR_OK);
    return address;
}

static inline bool is_same(tr_address a, tr_address b)
{
    return a.family == b.family && a.port == b.port && memcmp(a.host, b.host, sizeof a.host) == 0;
}

static inline void await_events(int fd, short events)
{
    struct pollfd poll_fd = {.fd = fd, .events = events};
    ck_assert_int_eq(poll(&poll_fd, 1, -1), 1);
}

static inline int must_accept(int listener, tr_address *peer)
{
    const tr_platform *real = tr_platform_real();
    int fd = -1;
    await_events(listener, POLLIN);
    ck_assert_int_eq(real->socket_accept(real, listener, &fd, peer), TR_OK);
    ck_assert_int_ge(fd, 0);
    return fd;
}

static inline void close_all(const int *fds, size_t count)
{
    const tr_platform *real = tr_platform_real();
    for (size_t i = 0; i < count; i++)
        real->socket_close(real, fds[i], false);
}

/* A connection over TCP: [0] was accepted, [1] has connected. */
static inline void tcp_pair(int *ends)
{
    tr_socket_spec spec = spec_of(TR_SOCKET_LISTEN, loopback_v4(0));
    int listener = must_open(&spec);
    spec = spec_of(TR_SOCKET_CONNECT, address_of(listener, false));
    ends[1] = must_open(&spec);
    ends[0] = must_accept(listener, NULL);
    close_all(&listener, 1);
}

/* The number of the next descriptor: a call that leaves it as it was has lost none. */
static inline int next_descriptor(void)
{
    int fd = dup(0);
    ck_assert_int_ge(fd, 0);
    close(fd);
    return fd;
}

/* Leaves so many more descriptors; negative: as many as the machine gives. */
static inline void limit_descriptors(int more)
{
    struct rlimit limit;
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = more < 0 ? limit.rlim_max : (rlim_t)(next_descriptor() + more);
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

/* A path in a new directory, which path_remove removes. */
struct socket_path {
    char directory[64];
    char path[80];
};

static inline struct socket_path path_make(void)
{
    struct socket_path made = {.directory = "/tmp/troupe-socket-XXXXXX"};
    ck_assert_ptr_nonnull(mkdtemp(made.directory));
    (void)snprintf(made.path, sizeof made.path, "%s/socket", made.directory);
    return made;
}

static inline void path_remove(const struct socket_path *made)
{
    (void)unlink(made->path);
    ck_assert_int_eq(rmdir(made->directory), 0);
}

#endif
