/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Filters: what stands between the socket of a channel and its framing, such as TLS and the PROXY header.
 *
 * A filter is a table of functions and a state for each channel. It has no socket and no clock: it gets
 * the bytes that came, and appends to two buffers. `in` is read by the framing, or by the next filter;
 * `out` is sent to the other side. So a filter is tested without a network.
 *
 * The owner of the channel calls all functions, one at a time.
 */
#ifndef NET_FILTER_H
#define NET_FILTER_H

#include "net/buffer.h"

struct filter {
    const char *name;
    /**
     * Whether `inbound` always takes all bytes, unless it fails. Then the channel needs no memory for bytes that were
     * not taken.
     */
    bool takes_all;
    /** Called once, when the channel is connected. Appends the first bytes of a client to `out`. */
    tr_status (*begin)(void *state, struct net_buffer *out);
    /**
     * Takes bytes that came from the socket. *taken says how many; the other bytes are passed again, with more behind
     * them. Appends what is for the actor to `in`, and what is for the other side to `out`. A status other than TR_OK
     * ends the channel with it, after `out` was sent: TR_TLS_FAILED, TR_BAD_DATA, TR_TOO_LARGE, TR_NO_MEMORY.
     * TR_CLOSED: the other side has ended in order; what is in `in` is the last.
     */
    tr_status (*inbound)(void *state, tr_bytes bytes, size_t *taken, struct net_buffer *in,
                         struct net_buffer *out);
    /** Turns bytes of the actor into bytes for the other side. Only called after is_open has returned true. */
    tr_status (*outbound)(void *state, tr_bytes bytes, struct net_buffer *out);
    /** Appends what ends the output to `out`, such as close_notify. The actor writes nothing more. */
    tr_status (*finish)(void *state, struct net_buffer *out);
    /**
     * Called when the socket has ended and the filter has seen no end of its own. TR_CLOSED: this end is in order.
     * TR_RESET: something is missing. TR_TLS_FAILED: the handshake was not over.
     */
    tr_status (*input_end)(void *state);
    /** Whether bytes of the actor may pass, because the handshake has ended. The channel is open from then on. */
    bool (*is_open)(const void *state);
    /**
     * Whether `inbound` would append more without new input. NULL: never, because it always appends all that it can.
     */
    bool (*has_more)(const void *state);
    /** What was wrong, after a status that is not TR_OK: "certificate has expired"; "" if unknown. */
    const char *(*text)(const void *state);
    void (*free)(void *state);
};

#endif
