/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Sockets of the real platform: TCP, UDP and UNIX. Nothing here waits.
 *
 * troupe/platform.h says what each function promises. `platform` is ignored. os/socket_open.h makes sockets,
 * os/datagram.h has the functions for datagrams.
 *
 * The hot calls are made by syscall, because the wrappers of the C library are cancellation points, which costs several
 * percent of the CPU time of a server. No thread of this library is ever cancelled.
 */
#ifndef OS_SOCKET_H
#define OS_SOCKET_H

#include <troupe/platform.h>

/** Returns the status for an error number of a socket call. 0 is TR_OK; unknown numbers are TR_INVALID_ARGUMENT. */
tr_status tr__socket_status(int error);

/**
 * Returns the status for an error number of accept. Some of these errors belong to one connection and not to the
 * listener.
 */
tr_status tr__socket_accept_status(int error);

tr_status tr__real_socket_outcome(const tr_platform *platform, int fd);
tr_status tr__real_socket_accept(const tr_platform *platform, int fd, int *accepted,
                                 tr_address *peer);
tr_status tr__real_socket_receive(const tr_platform *platform, int fd, void *to, size_t size,
                                  size_t *got);
tr_status tr__real_socket_send(const tr_platform *platform, int fd, const tr_bytes *pieces,
                               size_t count, size_t *sent);
void tr__real_socket_finish(const tr_platform *platform, int fd);
void tr__real_socket_close(const tr_platform *platform, int fd, bool resets);
tr_status tr__real_socket_address(const tr_platform *platform, int fd, bool of_peer,
                                  tr_address *address);

#endif
