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
    /** Whether `inbound` always takes all bytes, unless it fails. Then they need no memory of the channel. */
    bool takes_all;
    /** Called once, when the channel is connected: a client's first bytes. */
    tr_status (*begin)(void *state, struct net_buffer *out);
    /**
     * Takes bytes that came from the socket. *taken says how many; the others come again, with more behind
     * them. Appends what is for the actor to `in`, and what is for the other side to `out`. A status other
     * than TR_OK ends the channel with it, after `out` was sent: TR_TLS_FAILED, TR_BAD_DATA, TR_TOO_LARGE,
     * TR_NO_MEMORY. TR_CLOSED: the other side has ended in order; what is in `in` is the last.
     */
    tr_status (*inbound)(void *state, tr_bytes bytes, size_t *taken, struct net_buffer *in,
                         struct net_buffer *out);
    /** Turns bytes of the actor into bytes for the other side. Not called before is_open. */
    tr_status (*outbound)(void *state, tr_bytes bytes, struct net_buffer *out);
    /** The actor writes nothing more: appends what ends the output, as close_notify. */
    tr_status (*finish)(void *state, struct net_buffer *out);
    /**
     * The socket has ended without a word of the filter's own. TR_CLOSED: that is an orderly end here.
     * TR_RESET: it is not, something is missing. TR_TLS_FAILED: in the middle of the handshake.
     */
    tr_status (*input_end)(void *state);
    /** Whether the actor's bytes may pass: a handshake has ended. The channel is open from then on. */
    bool (*is_open)(const void *state);
    /** Whether `inbound` would put more without getting more. NULL: never, it always takes what it can. */
    bool (*has_more)(const void *state);
    /** What was wrong, after a status that is not TR_OK: "certificate has expired"; "" if unknown. */
    const char *(*text)(const void *state);
    void (*free)(void *state);
};

#endif
