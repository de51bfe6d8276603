/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Filters: they change the bytes between the socket of a channel and its framing, as TLS does, or
 * remove a part of them, as the filter of the PROXY header does.
 *
 * A filter is a table of functions and a state for each channel. It has no socket and no clock: it
 * gets the bytes that came, and appends bytes to two buffers. The framing, or the next filter,
 * reads `in`. The channel sends `out` to the other side. So a test of a filter needs only bytes,
 * and no network.
 *
 * The owner of the channel calls all functions, one at a time.
 */
#ifndef NET_FILTER_H
#define NET_FILTER_H

#include "net/buffer.h"

struct filter {
    const char *name;
    /**
     * Whether `inbound` always takes all bytes or fails. Then the channel needs no memory for bytes
     * that were not taken.
     */
    bool takes_all;
    /**
     * Called once, when the channel is connected. The filter of a client appends its first bytes to
     * `out`.
     */
    tr_status (*begin)(void *state, struct net_buffer *out);
    /**
     * Takes bytes that came from the socket. Sets *taken to the number of bytes that it has taken.
     * The channel passes the other bytes again later, with more bytes behind them. Appends bytes
     * for the actor to `in`, and bytes for the other side to `out`. With any status but TR_OK the
     * channel sends `out` and ends with that status: TR_TLS_FAILED, TR_BAD_DATA, TR_TOO_LARGE,
     * TR_NO_MEMORY. TR_CLOSED: the other side has ended in order, and `in` has its last bytes.
     */
    tr_status (*inbound)(void *state, tr_bytes bytes, size_t *taken, struct net_buffer *in,
                         struct net_buffer *out);
    /** Turns bytes of the actor into bytes for the other side. Only called after is_open has returned true. */
    tr_status (*outbound)(void *state, tr_bytes bytes, struct net_buffer *out);
    /**
     * Appends the bytes that end the output, such as close_notify, to `out`. Called when the actor
     * has ended its output.
     */
    tr_status (*finish)(void *state, struct net_buffer *out);
    /**
     * Called when the socket has ended, but `inbound` has not returned TR_CLOSED. TR_CLOSED: the
     * input may end here. TR_RESET: a part of the input is missing. TR_TLS_FAILED: the handshake
     * was not over.
     */
    tr_status (*input_end)(void *state);
    /**
     * Whether the handshake of the filter is over, so that bytes of the actor may pass. The channel
     * opens when this is so.
     */
    bool (*is_open)(const void *state);
    /**
     * Whether `inbound` would append more bytes without new input. If this member is NULL,
     * `inbound` always appends all bytes that it can.
     */
    bool (*has_more)(const void *state);
    /**
     * Returns a text for the last status that was not TR_OK, such as "certificate has expired"; ""
     * if none is known.
     */
    const char *(*text)(const void *state);
    /**
     * Returns the bytes of the state and of its buffers, for budgets. If this member is NULL, they
     * do not count.
     */
    size_t (*bytes)(const void *state);
    void (*free)(void *state);
};

#endif
