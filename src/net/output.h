/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The output of a channel: it is gathered in pages while the actor runs, and sent with one call
 * when the run ends.
 *
 * Pages are memory of the system, so that they move with a channel; a worker keeps some for the
 * next channel that writes. A page with a buffer of the program has no bytes of its own. Owner
 * only.
 */
#ifndef NET_OUTPUT_H
#define NET_OUTPUT_H

#include "net/channel.h"

struct out_page {
    struct out_page *next;
    tr_buffer *buffer; /* buffer of the program, retained; NULL: the bytes are in the page itself */
    const unsigned char *data;
    uint32_t begin;
    uint32_t end;
    uint32_t capacity; /* bytes of the page itself; 0 if the page has a buffer */
    /* bytes that count for budgets: the page, with its buffer if only this page will have it */
    uint32_t memory;
    unsigned char bytes[];
};

enum {
    OUT_PAGE_SIZE = 4096,
    PAGE_BYTES = OUT_PAGE_SIZE - sizeof(struct out_page),
    PAGES_KEPT = 256,        /* by a worker */
    SEND_AT_ONCE = 16 * 1024 /* if this many bytes wait, they are sent before the run ends */
};

/** Returns `size` bytes of space at the end of the output; NULL: out of memory. */
TR_MUST_CHECK void *tr__output_reserve(struct channel *channel, size_t size);
/** Adds the first `size` reserved bytes, which the caller has filled in, to the output. */
void tr__output_commit(struct channel *channel, size_t size);
/** Appends a copy of `data`. Fails with TR_NO_MEMORY. */
TR_MUST_CHECK tr_status tr__output_append(struct channel *channel, const void *data, size_t size);
/**
 * Appends a buffer, and retains it. `is_own`: the buffer was made for this channel, so its bytes
 * count for budgets; a buffer of the program, which may be shared, does not count. Fails with
 * TR_NO_MEMORY, TR_TOO_LARGE.
 */
TR_MUST_CHECK tr_status tr__output_append_buffer(struct channel *channel, tr_buffer *buffer,
                                                 bool is_own);
/**
 * Passes written bytes to the filter, until it has made `max` bytes. Returns the statuses of
 * filters.
 */
TR_MUST_CHECK tr_status tr__output_pass(struct channel *channel, size_t max);
/** Tries once to send the bytes that the filter has made, because the channel ends. */
void tr__output_send_last(struct channel *channel);
/** Marks the channel, so that its output is sent when the run of the actor ends. */
void tr__output_touch(struct channel *channel);
/** Sends as much as the kernel takes now. May end the channel. */
void tr__output_flush(struct channel *channel);
/** Sends the output of all channels of the worker that have some. */
void tr__output_flush_all(struct worker *worker);
/** Drops the output. */
void tr__output_free(struct channel *channel);
/** Frees the pages that a worker keeps. */
void tr__pages_free(struct worker *worker);
/** Whether nothing is left to send, in the pages or in filters. */
bool tr__output_is_empty(const struct channel *channel);
/** Whether some of the output may be sent now, because it does not wait for a commit. */
bool tr__output_is_due(const struct channel *channel);

#endif
