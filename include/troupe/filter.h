/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Filters: what stands between the socket of a channel and its framing, such as compression.
 *
 * ```c
 * #include <ctype.h>
 * #include <troupe/troupe.h>
 *
 * static tr_status on_inbound(void *state, tr_bytes bytes, size_t *taken, tr_sink *in, tr_sink *out)
 * {
 *     (void)state, (void)taken, (void)out;
 *     char *loud = (char *)tr_sink_reserve(in, bytes.size);
 *     for (size_t i = 0; loud && i < bytes.size; i++)
 *         loud[i] = (char)toupper(((const unsigned char *)bytes.data)[i]);
 *     if (loud)
 *         tr_sink_commit(in, bytes.size);
 *     return loud ? TR_OK : TR_NO_MEMORY;
 * }
 *
 * static tr_status on_outbound(void *state, tr_bytes bytes, tr_sink *out)
 * {
 *     (void)state;
 *     return tr_sink_put(out, bytes);
 * }
 *
 * static const tr_filter loud = {.name = "loud", .inbound = on_inbound, .outbound = on_outbound};
 *
 * static tr_next on_args(tr_self *self) // example 35 has a server and its client
 * {
 *     tr_channel channel = tr_dial(self, TR_TCP("127.0.0.1:7000", .filters = TR_FILTERS(&loud)));
 *     tr_write_text(self, channel, "hello\n");
 *     tr_close(self, channel);
 *     return TR_STOP;
 * }
 *
 * TR_BEHAVIOR(app, void, TR_ON(tr_args, on_args));
 *
 * int main(int argc, char **argv)
 * {
 *     return tr_app_main(argc, argv, app);
 * }
 * ```
 *
 * A filter is a constant table of functions, and a state for each channel. It has no socket, no
 * clock and no actor: it gets bytes and puts bytes into sinks, so it can be tested without a
 * network. The worker of the channel calls the functions, one at a time for each channel. Another
 * worker may call the same functions for another channel at the same time.
 *
 * Order. With TR_FILTERS(&a, &b), a is next to the socket, and b is next to the framing. Input passes a, then b; output
 * passes b, then a. tr_add_filter puts a filter next to the framing. TLS and the reader of the PROXY header are filters
 * of the runtime, and nearer to the socket than all filters of an endpoint. tr_start_tls adds TLS, which stays until
 * the channel ends. .has_proxy_header of the endpoint adds the reader of the PROXY header, and no call can add it
 * later, because the header stands before all other bytes. This reader removes itself when it has read the header.
 *
 * The end. If a function returns another status than TR_OK, the channel ends with that status, and
 * the text of tr_closed names the filter. What the filter has already put into `out` is sent.
 */
#ifndef TROUPE_FILTER_H
#define TROUPE_FILTER_H

#include <troupe/limits.h>
#include <troupe/message.h>
#include <troupe/status.h>

/**
 * Where a filter puts bytes. A function of a filter may use the sink that it gets until it returns.
 */
typedef struct tr_sink tr_sink;

/** A filter: a constant table. Members that are not required may be NULL or 0. */
typedef struct tr_filter {
    const char *name;           /* for texts of errors; required */
    size_t state_size TR_ZERO;  /* bytes of the state of each channel; the state begins as zeros */
    const void *option TR_ZERO; /* a setting of the filter, which `open` gets */
    /**
     * Begins the work of the filter. Called when the filters nearer to the socket are open. If the
     * filter begins a handshake, it puts its first bytes into `out`.
     */
    tr_status (*open)(void *state, const void *option, tr_sink *out) TR_ZERO;
    /**
     * Takes bytes that have come from the other side, and puts what they mean into `in`. What it
     * puts into `out` is sent to the other side. *taken says how many of the bytes the filter has
     * taken; before the call it is bytes.size. If the filter sets *taken to less, its next call
     * gets the rest again, followed by newer bytes. Required.
     */
    tr_status (*inbound)(void *state, tr_bytes bytes, size_t *taken, tr_sink *in,
                         tr_sink *out) TR_ZERO;
    /**
     * Takes all of these bytes, which the actor has written. Appends to `out` what the other side
     * gets. Required.
     */
    tr_status (*outbound)(void *state, tr_bytes bytes, tr_sink *out) TR_ZERO;
    /**
     * Puts the end of the output into `out`. Called when the actor writes nothing more, or the
     * filter is removed.
     */
    tr_status (*finish)(void *state, tr_sink *out) TR_ZERO;
    /**
     * Called when the other side has ended and no more input comes. Returns TR_CLOSED if the input
     * may end here; TR_RESET or TR_BAD_DATA if something is missing. If this member is NULL, the end
     * counts as TR_CLOSED if the filter is open and has taken all bytes, else as TR_RESET.
     */
    tr_status (*input_end)(void *state) TR_ZERO;
    /**
     * Returns whether bytes of the actor may pass, for instance because a handshake is over. Until
     * then they wait. If this member is NULL, they may always pass.
     */
    bool (*is_open)(const void *state) TR_ZERO;
    /**
     * Frees what the state holds. Called once, if `open` was called, when the filter is removed or
     * the channel is gone.
     */
    void (*close)(void *state) TR_ZERO;
} tr_filter;

/** The filters of an endpoint. If there are fewer than TR_FILTERS_MAX, NULL ends the array. */
typedef struct tr_filters {
    const tr_filter *filters[TR_FILTERS_MAX] TR_ZERO;
} tr_filters;

/** The filters of an endpoint: .filters = TR_FILTERS(&deflate, &checksum). Any thread. Does not wait. */
#define TR_FILTERS(...) TR_VALUE(tr_filters, {__VA_ARGS__})

TR_BEGIN_C
/**
 * Appends a copy of the bytes to a sink. TR_OK; TR_NO_MEMORY; TR_TOO_LARGE: the filter has put more than
 * TR_FILTER_PUT_MAX bytes in one call. If the status is an error, the filter must return it.
 * In a turn. Does not wait.
 */
TR_MUST_CHECK tr_status tr_sink_put(tr_sink *sink, tr_bytes bytes);
/**
 * Returns memory for `size` bytes at the end of a sink, which the filter fills; then tr_sink_commit says how many bytes
 * it has filled. Returns NULL if there is no memory, or if this call of the filter would put more than
 * TR_FILTER_PUT_MAX bytes. In a turn. Does not wait.
 */
TR_MUST_CHECK void *tr_sink_reserve(tr_sink *sink, size_t size);
/**
 * Appends the first `size` bytes of the memory that tr_sink_reserve has returned. In a turn. Does
 * not wait.
 */
void tr_sink_commit(tr_sink *sink, size_t size);
TR_END_C

#endif
