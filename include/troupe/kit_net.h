/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The network of a test kit: no sockets, virtual time, and the test is the other side.
 *
 * ```c
 * #include <troupe/kit_net.h>
 *
 * int main(void)
 * {
 *     tr_kit *kit = tr_kit_new(NULL);
 *     tr_kit_network slow = {.delay_ns = TR_MILLISECOND, .piece_max = TR_KIT_RANDOM};
 *     tr_kit_set_network(kit, &slow);
 *     bool is_refused = tr_kit_connect(kit, "127.0.0.1:7000") == NULL; // nobody listens
 *
 *     // The test may be both sides.
 *     tr_kit_peer *accepted = tr_kit_accept(kit, "127.0.0.1:7000", 0); // listens from now on
 *     tr_kit_peer *peer = tr_kit_connect(kit, "127.0.0.1:7000");
 *     accepted = tr_kit_accept(kit, "127.0.0.1:7000", TR_SECOND);
 *     tr_bytes ping = {"PING", 4};
 *     bool is_sent = tr_kit_send(peer, ping) == 4;
 *     tr_kit_finish(peer);
 *     const char *text = tr_kit_receive_text(accepted, TR_SECOND); // takes no time
 *     bool is_right = is_refused && is_sent && text[0] == 'P';
 *     tr_kit_free(kit); // aborts if memory has leaked
 *     return is_right ? 0 : 1;
 * }
 * ```
 *
 * A system on a kit has this network and no other. A peer is a socket of the test. Bytes that are
 * sent arrive after the delay of the network; without a delay they arrive at once. The system
 * reacts to them when it runs: in tr_kit_settle, tr_kit_advance, or a wait on a client or peer.
 *
 * An address is "127.0.0.1:7000", "[::1]:7000", ":7000", or the path of a UNIX socket, which has
 * a '/' in it or begins with '@'. Every address is one of this machine. Peers belong to the kit until
 * tr_kit_close or tr_kit_free. A function for connections aborts if the peer is a datagram socket. A function for
 * datagrams aborts if the peer is a connection.
 */
#ifndef TROUPE_KIT_NET_H
#define TROUPE_KIT_NET_H

#include <troupe/address.h>
#include <troupe/kit.h>

/** One side of a connection, or a datagram socket, that belongs to the test. */
typedef struct tr_kit_peer tr_kit_peer;

/** A value of piece_max: the seed chooses the size of each piece. */
#define TR_KIT_RANDOM SIZE_MAX

/**
 * The conditions of the network. All zero: bytes arrive at once and in whole pieces, and nothing is
 * lost.
 */
typedef struct tr_kit_network {
    size_t size;      /* need not be set */
    tr_time delay_ns; /* delay from one end to the other */
    /*
     * up to this much is added to each delay, as the seed chooses; the bytes of a connection stay
     * in order
     */
    tr_time jitter_ns;
    size_t piece_max; /* one receive gets at most this many bytes; 0: all that are there */
    /* in one direction at most this many bytes are on the way or unread; 0: 64 KiB */
    size_t window;
    size_t datagram_max; /* the largest datagram, in bytes; 0: 65,507 */
    double loses;        /* the share of datagrams that are lost, 0 to 1; UNIX sockets lose none */
    /* the share of datagrams that take longer, so that later datagrams overtake them */
    double reorders;
} tr_kit_network;

TR_BEGIN_C
/**
 * Changes the conditions of the network from now on. Aborts if a member is negative or a share is
 * above 1. One thread. Does not wait.
 */
TR_INLINE void tr_kit_set_network(tr_kit *kit, const tr_kit_network *network);
/**
 * Connects to an address. Runs the system until the connection is made, for at most 30 s of virtual
 * time. Returns NULL if nobody listens there, if the connection is not made in this time, if the
 * address is invalid, or if there is no memory.
 * One thread. Does not wait: time is virtual.
 */
tr_kit_peer *tr_kit_connect(tr_kit *kit, const char *address);
/**
 * Waits until the system, or a peer, has connected to this address. The test listens there from the
 * first call on. Returns NULL if nobody has connected in time, if somebody else listens there, if
 * the address is invalid, or if there is no memory.
 * One thread. Does not wait: time is virtual.
 */
tr_kit_peer *tr_kit_accept(tr_kit *kit, const char *address, tr_time timeout_ns);
/**
 * Sends bytes, which are copied, to the other side. Returns how many bytes it has sent: fewer if
 * the window is full, and 0 if the connection has ended or there is no memory.
 * One thread. Does not wait.
 */
size_t tr_kit_send(tr_kit_peer *peer, tr_bytes bytes);
/**
 * Runs the system until it has nothing to do, and returns all bytes that have come. If none have
 * come, moves the clock until some come, at most by the timeout. The bytes are borrowed until the
 * next call with this peer. If there are no bytes, tr_kit_peer_status says why.
 * One thread. Does not wait: time is virtual.
 */
tr_bytes tr_kit_receive(tr_kit_peer *peer, tr_time timeout_ns);
/**
 * Receives as tr_kit_receive does, and returns the bytes as a text with a NUL at its end. One
 * thread. Does not wait: time is virtual.
 */
const char *tr_kit_receive_text(tr_kit_peer *peer, tr_time timeout_ns);
/**
 * Notifies the other side that nothing more is sent. The peer can still receive.
 * One thread. Does not wait.
 */
void tr_kit_finish(tr_kit_peer *peer);
/**
 * Resets the connection: what is on its way is lost. The peer stays, with TR_RESET as its status.
 * One thread. Does not wait.
 */
void tr_kit_reset(tr_kit_peer *peer);
/**
 * Closes the socket of a peer and frees the peer. As with real sockets, a connection with bytes that
 * nobody has read is reset. NULL does nothing.
 * One thread. Does not wait.
 */
void tr_kit_close(tr_kit_peer *peer);
/**
 * Returns the status of a peer. TR_OK: it is open. TR_CLOSED: the other side sends nothing more;
 * what it sent before can still be received. TR_RESET: the connection was reset. One thread. Does
 * not wait.
 */
tr_status tr_kit_peer_status(const tr_kit_peer *peer);
/** Returns the address of a peer, as the other side sees it. One thread. Does not wait. */
tr_address tr_kit_peer_address(const tr_kit_peer *peer);
/**
 * Cuts these peers off from the network, or ends the cut. During the cut nothing gets through: resets and datagrams are
 * lost, and everything else arrives after the cut. Neither side notices the cut.
 * One thread. Does not wait.
 */
void tr_kit_partition(tr_kit *kit, tr_kit_peer *const *peers, size_t count, bool is_cut);
/**
 * Makes a peer that sends and receives datagrams. Returns NULL if the address is invalid or in use, or if there is no
 * memory.
 * One thread. Does not wait.
 */
tr_kit_peer *tr_kit_bind(tr_kit *kit, const char *address);
/**
 * Sends a datagram, which is copied, from a peer of tr_kit_bind. TR_OK, also if the datagram will be lost;
 * TR_ADDRESS_INVALID; TR_TOO_LARGE; TR_UNREACHABLE: the address has another family; TR_NO_MEMORY; and for UNIX sockets
 * TR_CONNECT_REFUSED, and TR_WOULD_BLOCK, which means that the receiver has no space.
 * One thread. Does not wait.
 */
tr_status tr_kit_send_to(tr_kit_peer *peer, const char *address, tr_bytes bytes);
/**
 * Receives one datagram, as tr_kit_receive receives bytes. If the data of the result is NULL, no
 * datagram has come. `from` may be NULL. The path in *from is borrowed as long as the bytes. One
 * thread. Does not wait: time is virtual.
 */
tr_bytes tr_kit_receive_from(tr_kit_peer *peer, tr_time timeout_ns, tr_address *from);
/**
 * Makes one of the system's calls of a platform function fail with `status`: `nth` 1 is the next
 * call, and 0 means none. `call` names a socket function: "open", "outcome", "accept", "receive",
 * "send", "receive_many", "send_many" or "address", or "watch", "resolve", "start" (of a child
 * process), "signals", "file_open" or "file_read". "accept" with TR_LIMIT means that the process
 * has no descriptor left. Aborts if there is no such call, if the status is TR_OK, and for "open"
 * if it is TR_WOULD_BLOCK. One thread. Does not wait.
 */
void tr_kit_fail_network(tr_kit *kit, const char *call, uint64_t nth, tr_status status);
/**
 * Adds an address of a name, "10.0.0.1" or "fe80::1". A name with several addresses has them in the
 * order of the calls. A name without an address is not known, not even "localhost". Returns false
 * if the address is invalid, or if there is no memory. One thread. Does not wait.
 */
bool tr_kit_add_name(tr_kit *kit, const char *name, const char *host);
/**
 * From now on, looking this name up fails with a status, such as TR_TIMEOUT. Returns false if there is no memory.
 * Aborts if the status is TR_OK.
 * One thread. Does not wait.
 */
bool tr_kit_fail_name(tr_kit *kit, const char *name, tr_status status);
/**
 * From now on, looking this name up takes `ns` nanoseconds, exact to 10 ms; with TR_NEVER it never
 * ends. Returns false if there is no memory. Aborts if `ns` is negative. All turns that ask for the
 * name during the look-up, or up to 20 ms after its end, get the answer of this look-up. One
 * thread. Does not wait.
 */
bool tr_kit_delay_name(tr_kit *kit, const char *name, tr_time ns);
/**
 * Raises a signal, as kill does. Returns false if no actor has asked for this signal (tr_signals);
 * the signal is then dropped. One thread. Does not wait.
 */
bool tr_kit_signal(tr_kit *kit, int signal);

/* Child processes. Nothing is executed: the test plays the part of the child. */

/** A child process of the system. It belongs to the kit. */
typedef struct tr_kit_child tr_kit_child;
/**
 * Adds a program that the system can start, under the name by which it is started. To start a
 * program that was not added gives TR_CANNOT_EXECUTE. Returns false if there is no memory.
 * One thread. Does not wait.
 */
bool tr_kit_add_program(tr_kit *kit, const char *program);
/**
 * Waits until the system has started a child process, and returns the child. Returns each child once, the oldest first.
 * Returns NULL if no child was started in time.
 * One thread. Does not wait: time is virtual.
 */
tr_kit_child *tr_kit_child_started(tr_kit *kit, tr_time timeout_ns);
/**
 * Returns argument `n` of the child; argument 0 is the name of the program. Returns NULL if the
 * child has fewer arguments. One thread. Does not wait.
 */
const char *tr_kit_child_argument(const tr_kit_child *child, size_t n);
/**
 * Returns the value of an environment variable of the child, or NULL if the child has no such
 * variable.
 * One thread. Does not wait.
 */
const char *tr_kit_child_variable(const tr_kit_child *child, const char *name);
/**
 * Returns the working directory of the child. Returns NULL if the child has the working directory
 * of this program. One thread. Does not wait.
 */
const char *tr_kit_child_directory(const tr_kit_child *child);
/**
 * Returns the peer for the input and output of the child. The test plays the child: with tr_kit_send it writes the
 * child's output, and with tr_kit_receive it reads the child's input. When the child has ended, nothing is sent and
 * nothing is received. Returns NULL if neither the input nor the output is a channel, if the child has ended, or if
 * there is no memory. One thread. Does not wait.
 */
tr_kit_peer *tr_kit_child_peer(tr_kit_child *child);
/** As tr_kit_child_peer, for the errors (stderr) of the child. One thread. Does not wait. */
tr_kit_peer *tr_kit_child_errors(tr_kit_child *child);
/** Ends the child with an exit code, 0 to 255. One thread. Does not wait. */
void tr_kit_child_exit(tr_kit_child *child, int code);
/** Ends the child by a signal. One thread. Does not wait. */
void tr_kit_child_die(tr_kit_child *child, int signal);
/** From now on only SIGKILL ends the child. One thread. Does not wait. */
void tr_kit_child_catch(tr_kit_child *child);
/**
 * Returns the oldest signal that the child has got and that was not returned yet, or 0 if there is
 * none. One thread. Does not wait.
 */
int tr_kit_child_signal(tr_kit_child *child);
/** Returns whether the child has ended, for whatever reason. One thread. Does not wait. */
bool tr_kit_child_has_ended(const tr_kit_child *child);

/** Returns how many sockets the system has open. One thread. Does not wait. */
size_t tr_kit_open_channels(const tr_kit *kit);
TR_END_C

#include <troupe/detail/kit_net.h>

#endif
