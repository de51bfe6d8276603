/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The output of a channel: what the actor writes is collected in pages during the actor's run, and
 * sent with one call when the run ends.
 *
 * Pages are memory of the system and not of a worker, so that they can move with their channel. A
 * worker keeps some free pages for the next channel that writes. If a program writes a tr_buffer, a
 * page refers to the buffer and has no bytes of its own. Owner only.
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
    uint32_t capacity; /* bytes of space in the page itself; 0 if the page has a buffer */
    /*
     * how many bytes count for budgets: those of the page, and of its buffer if the buffer was made
     * for this channel
     */
    uint32_t memory;
    unsigned char bytes[];
};

enum {
    OUT_PAGE_SIZE = 4096,
    PAGE_BYTES = OUT_PAGE_SIZE - sizeof(struct out_page),
    PAGES_KEPT = 256, /* by a worker */
    /* when the output has this many bytes, they are sent before the run ends */
    SEND_AT_ONCE = 16 * 1024
};

/** Returns `size` bytes of space at the end of the output. Returns NULL if there is no memory. */
TR_MUST_CHECK void *tr__output_reserve(struct channel *channel, size_t size);
/** Adds the first `size` reserved bytes, which the caller has filled in, to the output. */
void tr__output_commit(struct channel *channel, size_t size);
/** Appends a copy of `data`. Fails with TR_NO_MEMORY. */
TR_MUST_CHECK tr_status tr__output_append(struct channel *channel, const void *data, size_t size);
/**
 * Appends a buffer, and retains it. `is_own`: the buffer was made for this channel, so its bytes
 * count for budgets; a buffer of the program does not count, because other channels may have it,
 * too. Fails with TR_NO_MEMORY, TR_TOO_LARGE.
 */
TR_MUST_CHECK tr_status tr__output_append_buffer(struct channel *channel, tr_buffer *buffer,
                                                 bool is_own);
/**
 * Passes bytes of the pages to the filter, until the filter has made `max` bytes. Returns the
 * statuses of filters.
 */
TR_MUST_CHECK tr_status tr__output_pass(struct channel *channel, size_t max);
/** Call when a channel ends. Tries once to send the bytes that the filter has made. */
void tr__output_send_last(struct channel *channel);
/** Marks the channel as dirty, so that its output is sent when the run of the actor ends. */
void tr__output_touch(struct channel *channel);
/** Sends as many bytes of the output as the kernel takes now. May end the channel. */
void tr__output_flush(struct channel *channel);
/** Sends the output of all dirty channels of the worker. */
void tr__output_flush_all(struct worker *worker);
/** Drops the output. */
void tr__output_free(struct channel *channel);
/** Frees the pages that a worker keeps. */
void tr__pages_free(struct worker *worker);
/** Whether nothing is left to send, in the pages or in filters. */
bool tr__output_is_empty(const struct channel *channel);
/**
 * Whether some of the output can be sent now: at least its first byte does not wait for a commit.
 */
bool tr__output_is_due(const struct channel *channel);

#endif
