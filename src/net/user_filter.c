/* SPDX-License-Identifier: Apache-2.0 */
#include "net/user_filter.h"

#include <stdio.h>
#include <string.h>

#include "base/assert.h"

enum {
    TEXT_SIZE = 128,
    /*
     * `outbound` gets at most this many bytes of the actor in one call. Few, so that the filter's
     * output for them fits into TR_FILTER_PUT_MAX.
     */
    SLICE = 16 * 1024
};

struct tr_sink {
    struct net_buffer *buffer;
    size_t left;      /* how many bytes the function of the filter may still put into the sink */
    tr_status status; /* TR_OK, or why the sink has refused bytes */
};

struct user_filter {
    const struct memory_source *source;
    const tr_filter *table;
    bool has_begun;
    char text[TEXT_SIZE];
    _Alignas(max_align_t) unsigned char state[];
};

/* ---- Sinks. ---- */

void *tr_sink_reserve(tr_sink *sink, size_t size)
{
    if (size > sink->left) {
        sink->status = TR_TOO_LARGE;
        return NULL;
    }
    void *memory = net_buffer_reserve(sink->buffer, size ? size : 1);
    if (!memory)
        sink->status = TR_NO_MEMORY;
    return memory;
}

void tr_sink_commit(tr_sink *sink, size_t size)
{
    TR_ASSERT(size <= sink->left);
    TR_ASSERT(size <= sink->buffer->capacity - sink->buffer->end);
    net_buffer_commit(sink->buffer, size);
    sink->left -= size;
}

tr_status tr_sink_put(tr_sink *sink, tr_bytes bytes)
{
    void *to = tr_sink_reserve(sink, bytes.size);
    if (!to)
        return sink->status;
    if (bytes.size)
        memcpy(to, bytes.data, bytes.size);
    tr_sink_commit(sink, bytes.size);
    return TR_OK;
}

static tr_sink sink_of(struct net_buffer *buffer)
{
    return (tr_sink){.buffer = buffer, .left = TR_FILTER_PUT_MAX};
}

/* ---- States. ---- */

bool tr__user_filter_is_valid(const tr_filter *table)
{
    return table && table->name && table->inbound && table->outbound &&
           table->state_size <= TR_PAYLOAD_MAX;
}

struct user_filter *tr__user_filter_new(const struct memory_source *source, const tr_filter *table)
{
    size_t size = sizeof(struct user_filter) + table->state_size;
    struct user_filter *filter = source_resize(source, NULL, size);
    if (!filter)
        return NULL;
    memset(filter, 0, size);
    filter->source = source;
    filter->table = table;
    return filter;
}

bool tr__user_filter_is_of(const void *state, const void *table)
{
    return ((const struct user_filter *)state)->table == table;
}

/*
 * Call when a function of the program has returned. If a sink has refused bytes, the function has
 * failed, even if it has returned TR_OK. Returns the status for the chain.
 */
static tr_status called(struct user_filter *filter, tr_status status, const tr_sink *first,
                        const tr_sink *second)
{
    if (first && first->status != TR_OK)
        status = first->status;
    else if (second && second->status != TR_OK)
        status = second->status;
    if (status > TR_OK || status == TR_WOULD_BLOCK)
        /*
         * the function has returned a status that functions of a filter must not return:
         * TR_WOULD_BLOCK, or one above TR_OK
         */
        status = TR_FAILED;
    if (status != TR_OK && status != TR_CLOSED)
        (void)snprintf(filter->text,
                       sizeof filter->text,
                       "filter %s: %s",
                       filter->table->name,
                       tr_status_text(status));
    return status;
}

/* ---- The filter. ---- */

static tr_status user_begin(void *state, struct net_buffer *out)
{
    struct user_filter *filter = state;
    tr_sink sink = sink_of(out);
    filter->has_begun = true;
    if (!filter->table->open)
        return TR_OK;
    tr_status status = filter->table->open(filter->state, filter->table->option, &sink);
    return called(filter, status, &sink, NULL);
}

static tr_status user_inbound(void *state, tr_bytes bytes, size_t *taken, struct net_buffer *in,
                              struct net_buffer *out)
{
    struct user_filter *filter = state;
    tr_sink to_actor = sink_of(in), to_peer = sink_of(out);
    size_t took = bytes.size;
    tr_status status = filter->table->inbound(filter->state, bytes, &took, &to_actor, &to_peer);
    *taken = took < bytes.size ? took : bytes.size;
    return called(filter, status, &to_actor, &to_peer);
}

static tr_status user_outbound(void *state, tr_bytes bytes, struct net_buffer *out)
{
    struct user_filter *filter = state;
    tr_status status = TR_OK;
    for (size_t at = 0; at < bytes.size && status == TR_OK; at += SLICE) {
        size_t size = bytes.size - at < SLICE ? bytes.size - at : SLICE;
        tr_sink sink = sink_of(out);
        status = filter->table->outbound(
            filter->state, (tr_bytes){(const char *)bytes.data + at, size}, &sink);
        status = called(filter, status, &sink, NULL);
    }
    return status;
}

static tr_status user_finish(void *state, struct net_buffer *out)
{
    struct user_filter *filter = state;
    tr_sink sink = sink_of(out);
    if (!filter->table->finish)
        return TR_OK;
    return called(filter, filter->table->finish(filter->state, &sink), &sink, NULL);
}

/*
 * Returns TR_OK, unless the filter itself says how the input has ended. With TR_OK the chain
 * decides whether the end is in order.
 */
static tr_status user_input_end(void *state)
{
    struct user_filter *filter = state;
    tr_status status = filter->table->input_end ? filter->table->input_end(filter->state) : TR_OK;
    return called(filter, status, NULL, NULL);
}

static bool user_is_open(const void *state)
{
    const struct user_filter *filter = state;
    return filter->has_begun && (!filter->table->is_open || filter->table->is_open(filter->state));
}

static const char *user_text(const void *state)
{
    return ((const struct user_filter *)state)->text;
}

static size_t user_bytes(const void *state)
{
    const struct user_filter *filter = state;
    return sizeof *filter + filter->table->state_size;
}

static void user_free(void *state)
{
    struct user_filter *filter = state;
    if (filter->has_begun && filter->table->close)
        filter->table->close(filter->state);
    source_resize(filter->source, filter, 0);
}

const struct filter tr__user_filter = {
    .name = "filter of the program",
    .begin = user_begin,
    .inbound = user_inbound,
    .outbound = user_outbound,
    .finish = user_finish,
    .input_end = user_input_end,
    .is_open = user_is_open,
    .text = user_text,
    .bytes = user_bytes,
    .free = user_free,
};
