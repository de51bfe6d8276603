/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Datagrams of the virtual network. Datagrams of UDP may be lost, may overtake one another, and may
 * find no receiver. Datagrams of UNIX sockets arrive at once and in order. While the receiver has
 * no space for them, they block their sender.
 *
 * A receiver has space for a limited number of bytes, the window. A UDP datagram that finds no
 * space is lost, and the receiver counts it.
 *
 * All functions: one thread at a time.
 */
#ifndef OS_VIRTUAL_DATAGRAM_H
#define OS_VIRTUAL_DATAGRAM_H

#include "os/virtual_net.h"

/**
 * Makes a socket that is bound (TR_SOCKET_BIND) or connected (TR_SOCKET_CONNECT).
 * TR_CONNECT_REFUSED: no socket has this path. TR_NO_MEMORY, and the statuses of tr__virtual_place
 * and tr__virtual_bind.
 */
tr_status tr__virtual_datagram_open(struct virtual_net *net, const tr_socket_spec *spec,
                                    bool is_peer, struct virtual_socket **made);
/** The function socket_receive_many of the platform. */
tr_status tr__virtual_datagram_receive(struct virtual_socket *socket, tr_packet *packets,
                                       size_t max, size_t *count, uint64_t *lost);
/**
 * The function socket_send_many of the platform. Also TR_NO_MEMORY, and TR_INVALID_ARGUMENT: the packet has no
 * receiver.
 */
tr_status tr__virtual_datagram_send(struct virtual_socket *socket, const tr_packet *packets,
                                    size_t count, size_t *sent);
/** Sends one datagram to a place. Returns the statuses of tr__virtual_datagram_send. */
tr_status tr__virtual_datagram_send_to(struct virtual_socket *socket,
                                       const struct virtual_place *place, tr_bytes bytes);
void tr__virtual_datagram_close(struct virtual_socket *socket);
/**
 * Cuts a socket off from the network, or connects it again. During a cut, datagrams from and to the
 * socket are lost.
 */
void tr__virtual_datagram_cut(struct virtual_socket *socket, bool is_cut);
/** Returns what is possible now: TR_IO_IN, TR_IO_OUT. */
uint32_t tr__virtual_datagram_possible(const struct virtual_socket *socket);
/** Returns the size of the datagram that is received next; 0 if there is none. */
size_t tr__virtual_datagram_size(const struct virtual_socket *socket);
/** Frees the datagrams that are on their way. */
void tr__virtual_datagrams_drop(struct virtual_net *net);

#endif
