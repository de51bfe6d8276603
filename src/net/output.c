/* SPDX-License-Identifier: Apache-2.0 */
#include "net/output.h"

#include <string.h>

#include "actor/cell/dispatch.h"
#include "actor/cell/system.h"
#include "base/assert.h"
#include "net/channel_end.h"
#include "net/charge.h"
#include "net/deadline.h"
#include "net/exchange.h"
#include "net/filter.h"
#include "net/held.h"
#include "net/plain.h"
#include "net/process.h"
#include "net/protocol.h"
#include "net/wait.h"
#include "net/work.h"
#include "net/worker.h"

enum {
    PIECES_MAX = 16 /* one send takes at most this many pages */,
    FILTER_MAX = 64 * 1024 /* how many bytes a filter makes before they are sent */
};

/* ---- Pages. ---- */

static struct out_page *page_new(struct channel *channel, size_t capacity)
{
    struct net_worker *net = channel->worker->channels.net;
    struct out_page *page = net->pages;
    if (capacity <= PAGE_BYTES && page) {
        net->pages = page->next;
        net->page_count--;
        capacity = PAGE_BYTES;
    } else {
        capacity = capacity > PAGE_BYTES ? capacity : PAGE_BYTES;
        page = source_resize(&channel->worker->system->source, NULL, sizeof *page + capacity);
        if (!page)
            return NULL;
    }
    *page = (struct out_page){.capacity = (uint32_t)capacity,
                              .memory = (uint32_t)(sizeof *page + capacity)};
    page->data = page->bytes;
    return page;
}

static void page_give(struct channel *channel, struct out_page *page)
{
    struct net_worker *net = channel->worker->channels.net;
    tr_buffer_release(page->buffer);
    if (page->capacity == PAGE_BYTES && net && net->page_count < PAGES_KEPT) {
        page->next = net->pages;
        net->pages = page;
        net->page_count++;
        return;
    }
    source_resize(&channel->worker->system->source, page, 0);
}

void tr__pages_free(struct worker *worker)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    struct net_worker *net = worker->channels.net;
    while (net->pages) {
        struct out_page *page = net->pages;
        net->pages = page->next;
        source_resize(&worker->system->source, page, 0);
    }
    net->page_count = 0;
}

static void page_link(struct channel_output *output, struct out_page *page)
{
    if (output->last)
        output->last->next = page;
    else
        output->first = page;
    output->last = page;
    output->memory += page->memory;
}

static void page_drop_first(struct channel *channel)
{
    struct channel_output *output = &channel->work->output;
    struct out_page *page = output->first;
    output->first = page->next;
    if (!output->first)
        output->last = NULL;
    output->memory -= page->memory;
    page_give(channel, page);
}

/* ---- Appending. ---- */

/* Counts bytes that were appended to the output. */
static void count_more(struct channel *channel, size_t size)
{
    struct channel_output *output = &channel->work->output;
    if (!tr__output_is_due(channel))
        output->since_ns = channel->worker->loop.now_ns;
    output->size += size;
    if (channel->worker->outbox_turn || output->held)
        tr__held_count(channel, size);
}

void *tr__output_reserve(struct channel *channel, size_t size)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    struct channel_work *work = work_of(channel);
    struct out_page *last = work ? work->output.last : NULL;
    if (last && last->capacity - last->end >= size && !last->buffer)
        return last->bytes + last->end;
    if (!work || size > UINT32_MAX / 2)
        return NULL;
    struct out_page *page = page_new(channel, size);
    if (!page)
        return NULL;
    page_link(&work->output, page);
    channel_charge(channel);
    return page->bytes;
}

void tr__output_commit(struct channel *channel, size_t size)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    struct channel_output *output = &channel->work->output;
    TR_ASSERT(output->last && output->last->capacity - output->last->end >= size);
    output->last->end += (uint32_t)size;
    count_more(channel, size);
    tr__output_touch(channel);
    if (output->size >= SEND_AT_ONCE && channel_has(channel, CHANNEL_WRITABLE))
        tr__output_flush(channel);
    else
        channel_charge(channel);
}

tr_status tr__output_append(struct channel *channel, const void *data, size_t size)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    if (!size)
        return TR_OK;
    struct channel_work *work = work_of(channel);
    if (!work)
        return TR_NO_MEMORY;
    struct out_page *last = work->output.last;
    size_t fits = last && !last->buffer ? last->capacity - last->end : 0;
    fits = fits < size ? fits : size;
    /* Append all bytes or none: make the page for the rest before any byte is copied. */
    struct out_page *page = NULL;
    if (fits < size) {
        page = page_new(channel, size - fits);
        if (!page)
            return TR_NO_MEMORY;
    }
    if (fits) {
        memcpy(last->bytes + last->end, data, fits);
        last->end += (uint32_t)fits;
        count_more(channel, fits);
    }
    if (page) {
        page_link(&work->output, page);
        memcpy(page->bytes, (const char *)data + fits, size - fits);
    }
    tr__output_commit(channel, size - fits);
    return TR_OK;
}

tr_status tr__output_append_buffer(struct channel *channel, tr_buffer *buffer, bool is_own)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    size_t size = tr_buffer_size(buffer);
    if (size <= OUT_PAGE_SIZE)
        return tr__output_append(channel, tr_buffer_data(buffer), size);
    if (size > UINT32_MAX / 2)
        return TR_TOO_LARGE;
    struct channel_work *work = work_of(channel);
    struct out_page *page =
        work ? source_resize(&channel->worker->system->source, NULL, sizeof *page) : NULL;
    if (!page)
        return TR_NO_MEMORY;
    *page = (struct out_page){.buffer = buffer, .data = tr_buffer_data(buffer)};
    tr_buffer_retain(buffer);
    page->end = (uint32_t)size;
    page->memory = (uint32_t)(sizeof *page + (is_own ? size : 0));
    page_link(&work->output, page);
    count_more(channel, size);
    tr__output_touch(channel);
    if (channel_has(channel, CHANNEL_WRITABLE))
        tr__output_flush(channel);
    else
        channel_charge(channel);
    return TR_OK;
}

void tr__output_touch(struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    struct worker *worker = channel->worker;
    if (channel_has(channel, CHANNEL_DIRTY))
        return;
    channel->flags |= CHANNEL_DIRTY;
    /* the channel may be in the list of starved channels; move it, and the flush moves it back */
    list_remove(&channel->listed);
    list_push_last(&worker->channels.net->dirty, &channel->listed);
    worker->loop.flush_is_due = true;
    /* this makes the run return to the loop, which sends the output */
    loop_call_back(&worker->loop);
}

bool tr__output_is_empty(const struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    return !channel->work->output.size && !net_buffer_size(&channel->rare->filter.out);
}

/*
 * Returns how many bytes at the beginning of the output may be sent now. Bytes that are held, and
 * bytes behind them, may not.
 */
static size_t sendable(const struct channel *channel)
{
    const struct channel_output *output = &channel->work->output;
    return output->held ? output->size - output->held - output->behind : output->size;
}

bool tr__output_is_due(const struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    return sendable(channel) || net_buffer_size(&channel->rare->filter.out);
}

/* ---- Sending. ---- */

/* Removes bytes from the pages after they were sent. */
static void sent(struct channel *channel, size_t size)
{
    struct channel_output *output = &channel->work->output;
    output->size -= size;
    while (size) {
        struct out_page *page = output->first;
        TR_ASSERT(page);
        uint32_t there = page->end - page->begin;
        if (size < there) {
            page->begin += (uint32_t)size;
            return;
        }
        size -= there;
        page_drop_first(channel);
    }
}

static tr_status send_pages(struct channel *channel, size_t *count)
{
    const tr_platform *platform = channel->worker->loop.platform;
    tr_bytes pieces[PIECES_MAX];
    size_t pieces_count = 0;
    /* Set only the first element here, for an empty output. The loop sets the others. */
    pieces[0] = (tr_bytes){NULL, 0};
    size_t all = 0;
    size_t left = sendable(channel);
    for (struct out_page *page = channel->work->output.first;
         page && left && pieces_count < PIECES_MAX;
         page = page->next) {
        if (page->begin == page->end)
            continue; /* the page was reserved, and has no bytes yet */
        size_t size = page->end - page->begin < left ? page->end - page->begin : left;
        pieces[pieces_count++] = (tr_bytes){page->data + page->begin, size};
        all += size;
        left -= size;
    }
    *count = 0;
    tr_status status = platform->socket_send(platform, channel->fd, pieces, pieces_count, count);
    if (status == TR_OK && *count < all)
        status = TR_WOULD_BLOCK;
    if (*count)
        sent(channel, *count);
    return status;
}

tr_status tr__output_pass(struct channel *channel, size_t max)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    struct channel_filter *filter = &channel->rare->filter;
    while (sendable(channel) && net_buffer_size(&filter->out) < max) {
        const struct out_page *page = channel->work->output.first;
        size_t left = sendable(channel);
        size_t size = page->end - page->begin < left ? page->end - page->begin : left;
        tr_bytes bytes = {page->data + page->begin, size};
        tr_status status =
            bytes.size ? filter->table->outbound(filter->state, bytes, &filter->out) : TR_OK;
        if (status != TR_OK)
            return status;
        if (size)
            sent(channel, size);
        else
            page_drop_first(channel); /* the page was reserved, and has no bytes yet */
    }
    return TR_OK;
}

void tr__output_send_last(struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    const tr_platform *platform = channel->worker->loop.platform;
    tr_bytes out = net_buffer_bytes(&channel->rare->filter.out);
    size_t count;
    if (out.size && channel->fd >= 0 && channel_has(channel, CHANNEL_WRITABLE))
        (void)platform->socket_send(platform, channel->fd, &out, 1, &count);
}

/*
 * Lets the filter make bytes for the other side of the bytes in the pages. Then sends the bytes
 * that the filter has made.
 */
static tr_status send_filtered(struct channel *channel, size_t *count)
{
    const tr_platform *platform = channel->worker->loop.platform;
    struct channel_filter *filter = &channel->rare->filter;
    *count = 0;
    /*
     * the channel needs its own struct channel_work, which notes since when the kernel has taken
     * nothing
     */
    if (!work_of(channel))
        return TR_NO_MEMORY;
    if (filter->table->is_open(filter->state)) {
        net_buffer_use(&filter->out, &channel->worker->channels.net->spare_output);
        tr_status passed = tr__output_pass(channel, FILTER_MAX);
        if (passed != TR_OK)
            return passed;
    }
    tr_status status = TR_OK;
    tr_bytes out = net_buffer_bytes(&filter->out);
    if (out.size)
        status = platform->socket_send(platform, channel->fd, &out, 1, count);
    if (status == TR_OK && *count < out.size)
        status = TR_WOULD_BLOCK;
    net_buffer_consume(&filter->out, *count);
    if (!net_buffer_size(&filter->out))
        net_buffer_spare(&filter->out, &channel->worker->channels.net->spare_output);
    return status;
}

/*
 * Call when output was sent. If at least half of the output is free, wakes turns that wait for
 * capacity, and queues tr_drained.
 */
static void note_capacity(struct channel *channel)
{
    if (channel->rare->streams && channel->state == CHANNEL_OPEN &&
        channel->work->output.size <= channel->endpoint->options.output_max / 2)
        protocol_of(channel)->on_drained(channel);
    if (waits_are_empty(&channel->writers) && !channel_has(channel, CHANNEL_DRAINS) &&
        !channel->rare->looks)
        return;
    if (channel->work->output.size > channel->endpoint->options.output_max / 2)
        return;
    tr__waits_wake(&channel->writers);
    if (channel->rare->looks)
        tr__exchanges_look(channel);
    if (channel_has(channel, CHANNEL_DRAINS))
        tr__channel_call(channel);
}

/*
 * Call when all output was sent. Wakes turns that wait for this, and sends the end of the output if
 * the program has ended its output.
 */
static void note_empty(struct channel *channel)
{
    if (waits_are_empty(&channel->writers) && !channel_has(channel, CHANNEL_FINISHING))
        return;
    const tr_platform *platform = channel->worker->loop.platform;
    struct channel_filter *filter = &channel->rare->filter;
    tr__waits_wake(&channel->writers);
    if (!channel_has(channel, CHANNEL_FINISHING) ||
        channel_has(channel, CHANNEL_FINISHED | CHANNEL_END_HELD | CHANNEL_FILE))
        return;
    channel->flags |= CHANNEL_FINISHED;
    if (filter->table && filter->table->is_open(filter->state) &&
        filter->table->finish(filter->state, &filter->out) == TR_OK &&
        net_buffer_size(&filter->out)) {
        size_t count;
        /* if the kernel does not take these last bytes of the filter now, they are lost */
        (void)send_filtered(channel, &count);
    }
    platform->socket_finish(platform, channel->fd);
}

/*
 * Makes the loop report when the kernel can take more output. Returns TR_WOULD_BLOCK on success,
 * otherwise TR_NO_MEMORY or TR_INVALID_ARGUMENT.
 */
static tr_status wait_for_space(struct channel *channel)
{
    channel->flags &= ~(uint32_t)CHANNEL_WRITABLE;
    if (!channel_has(channel, CHANNEL_WATCHED))
        return TR_WOULD_BLOCK;
    tr_status status =
        tr__loop_watch_output(&channel->worker->loop, channel->fd, channel_bits(channel));
    return status == TR_OK ? TR_WOULD_BLOCK : status;
}

void tr__output_flush(struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    if (channel->cell && channel->cell->flags & CELL_FAILED)
        /*
         * the run of the actor has failed, so its output is not sent now: the channel will be
         * reset, or the actor is resumed
         */
        return;
    bool is_up = channel->state == CHANNEL_OPEN || channel->state == CHANNEL_LINGERING ||
                 (channel->state == CHANNEL_DIALING && channel->rare->filter.table);
    while (is_up && channel->fd >= 0 && channel_has(channel, CHANNEL_WRITABLE) &&
           tr__output_is_due(channel)) {
        size_t count;
        tr_status status = channel->rare->filter.table ? send_filtered(channel, &count)
                                                       : send_pages(channel, &count);
        if (count) {
            channel->work->output.since_ns = channel->worker->loop.now_ns;
            channel_note_active(channel);
        }
        if (status == TR_WOULD_BLOCK)
            status = wait_for_space(channel);
        if (status == TR_WOULD_BLOCK)
            break;
        if (status == TR_RESET && channel->rare->process) {
            /* the process does not read its input any more, but its output can still be read */
            tr__process_input_over(channel);
            return;
        } else if (status != TR_OK) {
            tr__channel_end(channel, status, NULL);
            return;
        } else if (channel->rare->filter.table && !count)
            break; /* no output can be sent before the handshake has ended */
    }
    note_capacity(channel);
    if (is_up && channel->state != CHANNEL_DIALING && tr__output_is_empty(channel))
        note_empty(channel);
    tr__channel_arm(channel);
    work_rest(channel);
    channel_charge(channel);
}

void tr__output_flush_all(struct worker *worker)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    struct net_worker *net = worker->channels.net;
    struct list *link;
    worker->loop.flush_is_due = false;
    while ((link = list_pop_first(&net->dirty))) {
        struct channel *channel = LIST_OWNER(link, struct channel, listed);
        channel->flags &= ~(uint32_t)CHANNEL_DIRTY;
        if (channel_has(channel, CHANNEL_STARVED))
            list_push_last(&net->starved, &channel->listed);
        if (__builtin_expect(tr__plain_send(channel), 1))
            continue;
        if (channel->state == CHANNEL_LINGERING)
            tr__channel_ready(channel, 0);
        else
            tr__output_flush(channel);
    }
}

void tr__output_free(struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    while (channel->work->output.first)
        page_drop_first(channel);
    if (work_is_there(channel)) {
        channel->work->output.size = 0;
        channel->work->output.held = 0;
        channel->work->output.behind = 0;
    }
    work_rest(channel);
}
