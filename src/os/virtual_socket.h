/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The socket functions of the platform table, for the virtual platform; and the functions by which
 * the test kit uses its network.
 *
 * All functions: one thread at a time.
 */
#ifndef OS_VIRTUAL_SOCKET_H
#define OS_VIRTUAL_SOCKET_H

#include "os/virtual.h"

/** The functions of the platform with these names. */
tr_status tr__virtual_socket_open(const tr_platform *platform, const tr_socket_spec *spec, int *fd);
tr_status tr__virtual_socket_outcome(const tr_platform *platform, int fd);
tr_status tr__virtual_socket_accept(const tr_platform *platform, int fd, int *accepted,
                                    tr_address *peer);
tr_status tr__virtual_socket_receive(const tr_platform *platform, int fd, void *to, size_t size,
                                     size_t *got);
tr_status tr__virtual_socket_send(const tr_platform *platform, int fd, const tr_bytes *pieces,
                                  size_t count, size_t *sent);
tr_status tr__virtual_socket_receive_many(const tr_platform *platform, int fd, tr_packet *packets,
                                          size_t max, size_t *count, uint64_t *lost);
tr_status tr__virtual_socket_send_many(const tr_platform *platform, int fd,
                                       const tr_packet *packets, size_t count, size_t *sent);
void tr__virtual_socket_finish(const tr_platform *platform, int fd);
void tr__virtual_socket_close(const tr_platform *platform, int fd, bool resets);
tr_status tr__virtual_socket_address(const tr_platform *platform, int fd, bool of_peer,
                                     tr_address *address);

/**
 * Returns the time at which something arrives next on the network. TR_NEVER: nothing is on its way.
 */
tr_time tr__virtual_next_event_ns(struct virtual_platform *virtual);
/** Whether io_poll of this parker would return an event now. */
bool tr__virtual_has_event(struct virtual_platform *virtual, const tr_parker *parker);
/** Changes the conditions of the network, from now on. */
void tr__virtual_set_weather(struct virtual_platform *virtual,
                             const struct virtual_weather *weather);
/** Returns the call with this name, such as "accept"; VIRTUAL_CALLS if there is none. */
enum virtual_call tr__virtual_call_named(const char *name);
/** Makes a socket of any role and kind. Returns the statuses of socket_open. */
tr_status tr__virtual_open(struct virtual_net *net, const tr_socket_spec *spec, bool is_peer,
                           struct virtual_socket **made);
/** Closes a socket of any kind. */
void tr__virtual_close(struct virtual_socket *socket, bool resets);
/** Frees what belongs to the network itself and to no socket: datagrams on their way, and names. */
void tr__virtual_clear(struct virtual_platform *virtual);

#endif
