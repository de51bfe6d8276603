/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Streams of the virtual network: listeners and connections.
 *
 * A connection has two ends and two flows (os/virtual_flow.h), one in each direction. Rules:
 * 1. A connection is freed when both ends are closed, by the call that closes the last open end.
 * 2. The end of the listener counts as closed until the listener has taken the request for the
 *    connection.
 *
 * All functions: one thread at a time.
 */
#ifndef OS_VIRTUAL_STREAM_H
#define OS_VIRTUAL_STREAM_H

#include "os/virtual_net.h"

/**
 * Makes a socket that accepts connections. TR_NO_MEMORY, and the statuses of tr__virtual_place and
 * tr__virtual_bind.
 */
tr_status tr__virtual_listen(struct virtual_net *net, const tr_socket_spec *spec, bool is_peer,
                             struct virtual_socket **made);
/**
 * Makes a socket that connects. With TR_OK the socket is connected: a UNIX socket on a network
 * without delay. With TR_WOULD_BLOCK the socket still connects. TR_CONNECT_REFUSED, TR_NO_MEMORY,
 * TR_LIMIT, and the statuses of tr__virtual_place.
 */
tr_status tr__virtual_connect(struct virtual_net *net, const tr_socket_spec *spec, bool is_peer,
                              struct virtual_socket **made);
/** Makes a connection without an address: one end for the system, one for the test. Fails with TR_NO_MEMORY. */
tr_status tr__virtual_pair(struct virtual_net *net, struct virtual_socket **ours,
                           struct virtual_socket **theirs);
/** The function socket_accept of the platform. */
tr_status tr__virtual_accept(struct virtual_socket *socket, bool is_peer,
                             struct virtual_socket **accepted);
/** The function socket_outcome of the platform: the state of a connection. */
tr_status tr__virtual_outcome(const struct virtual_socket *socket);
/** The function socket_receive of the platform. */
tr_status tr__virtual_receive(struct virtual_socket *socket, void *to, size_t size, size_t *got);
/** The function socket_send of the platform. If this fails with TR_NO_MEMORY, nothing was sent. */
tr_status tr__virtual_send(struct virtual_socket *socket, const tr_bytes *pieces, size_t count,
                           size_t *sent);
/** The function socket_finish of the platform. */
void tr__virtual_finish(struct virtual_socket *socket);
/** Closes a listener, and resets the connections that nobody has accepted. */
void tr__virtual_listener_close(struct virtual_socket *socket);
/**
 * The function socket_close of the platform, for a connection. As in Linux, the close resets the connection if bytes
 * are unread.
 */
void tr__virtual_stream_close(struct virtual_socket *socket, bool resets);
/** Resets a connection as the network would do. The socket stays until its owner closes it. */
void tr__virtual_stream_reset(struct virtual_socket *socket);
/**
 * Cuts a connection, so that nothing arrives any more; or ends the cut, so that everything that has
 * waited is sent again.
 */
void tr__virtual_stream_cut(struct virtual_socket *socket, bool is_cut);
/** Call when the window has become larger. Notifies a sender that waits for space in the window. */
void tr__virtual_stream_widen(struct virtual_socket *socket);

/** Returns what is possible now: TR_IO_IN, TR_IO_OUT, TR_IO_END. */
uint32_t tr__virtual_listener_possible(const struct virtual_socket *socket);
uint32_t tr__virtual_stream_possible(const struct virtual_socket *socket);

#endif
