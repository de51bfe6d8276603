/* SPDX-License-Identifier: Apache-2.0 */
/** Datagrams of the real platform: many with one system call. troupe/platform.h says what each function promises. */
#ifndef OS_DATAGRAM_H
#define OS_DATAGRAM_H

#include <troupe/platform.h>

tr_status tr__real_socket_receive_many(const tr_platform *platform, int fd, tr_packet *packets,
                                       size_t max, size_t *count, uint64_t *lost);
tr_status tr__real_socket_send_many(const tr_platform *platform, int fd, const tr_packet *packets,
                                    size_t count, size_t *sent);

#endif
