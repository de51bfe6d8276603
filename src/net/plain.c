/* SPDX-License-Identifier: Apache-2.0 */
#include "net/plain.h"

#include <string.h>

#include "actor/cell/system.h"
#include "net/area.h"
#include "net/channel_end.h"
#include "net/deadline.h"
#include "net/output.h"
#include "net/table.h"
#include "net/work.h"
#include "net/worker.h"
#include "base/assert.h"

enum { NOWHERE = UINT32_MAX };

/* ---- Input. ---- */

/* If all bytes that a channel has in its area were read, gives the area back. */
static inline void area_leave(struct channel *channel, struct channel_input *input)
{
    struct area *area = input->area;
    const struct memory_source *source = input->buffer.source;
    struct area *current = channel->worker->channels.net->area;
    if (__builtin_expect(area == current && area->holders > 1, 1)) {
        if (--area->holders == 1)
            area->used = 0;
    } else {
        tr__area_give(source, current, area);
    }
    input->area = NULL;
    input->buffer = NET_BUFFER(source);
}

/* Whether the whole input of a channel is one piece in an area, and this turn is its borrower. */
static inline bool is_lent_whole(const struct channel_input *input, const struct tr_self *self)
{
    return input->borrower == self && input->area && input->nul == NOWHERE &&
           !net_buffer_size(&input->buffer);
}

bool tr__plain_return(struct tr_self *self, struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    struct channel_input *input = &channel->work->input;
    if (self->borrowed != channel || self->lent || !is_lent_whole(input, self))
        return false;
    self->borrowed = input->borrowed_next;
    input->borrower = NULL;
    input->piece = NOWHERE;
    area_leave(channel, input);
    work_rest(channel);
    return true;
}

/* Lends the received bytes to a turn as its piece. */
static inline void lend(struct tr_self *self, struct channel *channel, struct area *area,
                        size_t got, tr_bytes *bytes)
{
    struct channel_input *input = &channel->work->input;
    unsigned char *data = area->bytes + area->used;
    input->area = area;
    input->buffer.data = data;
    input->buffer.begin = input->buffer.end = got;
    input->buffer.capacity = AREA_SIZE - area->used;
    area->used += (uint32_t)source_round(got + 1);
    area->holders++;
    input->seen = input->needs = 0;
    input->how = 0; /* CUT_PIECE */
    input->piece = 0;
    input->borrower = self;
    input->borrowed_next = self->borrowed;
    self->borrowed = channel;
    *bytes = (tr_bytes){data, got};
}

tr_status tr__plain_receive(struct tr_self *self, struct channel *channel, tr_bytes *bytes)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    const tr_platform *platform = channel->worker->loop.platform;
    struct channel_input *input = &channel->work->input;
    struct area *area = channel->worker->channels.net->area;
    if (input->borrower == self && !tr__plain_return(self, channel))
        return TR_NOT_SUPPORTED;
    input = &channel->work->input;
    if (input->buffer.data || input->borrower || self->lent || !area ||
        channel_has(channel, CHANNEL_HUNG_UP) || AREA_SIZE - area->used < AREA_LOW)
        return TR_NOT_SUPPORTED;
    if (!channel_has(channel, CHANNEL_READABLE))
        return TR_WOULD_BLOCK;
    if (!work_of(channel))
        return TR_NOT_SUPPORTED;
    size_t room = AREA_SIZE - area->used - 1;
    size_t got = 0;
    tr_status status =
        platform->socket_receive(platform, channel->fd, area->bytes + area->used, room, &got);
    if (__builtin_expect(status == TR_OK && got > 0, 1)) {
        if (got < room)
            channel->flags &= ~(uint32_t)CHANNEL_READABLE;
        channel_note_active(channel);
        lend(self, channel, area, got, bytes);
        return TR_OK;
    }
    status = status == TR_OK ? TR_CLOSED : status;
    if (status == TR_CLOSED)
        channel->flags |= CHANNEL_INPUT_OVER;
    if (status == TR_CLOSED || status == TR_WOULD_BLOCK)
        channel->flags &= ~(uint32_t)CHANNEL_READABLE;
    work_rest(channel);
    return status;
}

/* ---- Output. ---- */

/*
 * Returns the last page of the output. If the output has no page, returns a free page of the
 * worker. Returns NULL if the page has no space for `size` bytes, or if there is no free page.
 */
static inline struct out_page *page_at(struct net_worker *net, struct channel_output *output,
                                       size_t size)
{
    struct out_page *page = output->last;
    if (page)
        return !page->buffer && page->capacity - page->end >= size ? page : NULL;
    page = net->pages;
    if (!page || size > PAGE_BYTES)
        return NULL;
    net->pages = page->next;
    net->page_count--;
    *page = (struct out_page){
        .data = page->bytes, .capacity = PAGE_BYTES, .memory = sizeof *page + PAGE_BYTES};
    output->first = output->last = page;
    output->memory = sizeof *page + PAGE_BYTES;
    return page;
}

bool tr__plain_write(struct tr_self *self, tr_channel handle, tr_bytes bytes)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    struct worker *worker = self->worker;
    /* try the channel from which the turn has just read, because a turn mostly answers there */
    struct channel *channel = self->borrowed;
    if (!channel || channel_bits(channel) != handle.bits)
        channel = tr__table_find(worker->system, handle.bits);
    if (!channel || atom64_load(&channel->owner, ATOM_RELAXED) != self->cell->identity ||
        !channel_is_plain(channel) || !work_is_there(channel) || worker->outbox_turn ||
        self->cell->flags & CELL_METERED)
        return false;
    const tr_endpoint *options = &channel->endpoint->options;
    struct channel_output *output = &channel->work->output;
    size_t size = output->size + bytes.size;
    if ((options->framing && options->framing->head) || !bytes.size || bytes.size > PAGE_BYTES ||
        size >= SEND_AT_ONCE || output->size >= options->output_max || output->held)
        return false;
    struct out_page *page = page_at(worker->channels.net, output, bytes.size);
    if (!page)
        return false;
    memcpy(page->bytes + page->end, bytes.data, bytes.size);
    page->end += (uint32_t)bytes.size;
    if (!output->size)
        output->since_ns = worker->loop.now_ns;
    output->size = size;
    if (!channel_has(channel, CHANNEL_DIRTY))
        tr__output_touch(channel);
    return true;
}

static inline void page_give(struct net_worker *net, struct channel *channel, struct out_page *page)
{
    if (__builtin_expect(net->page_count < PAGES_KEPT, 1)) {
        page->next = net->pages;
        net->pages = page;
        net->page_count++;
    } else {
        source_resize(&channel->worker->system->source, page, 0);
    }
}

bool tr__plain_send(struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    struct worker *worker = channel->worker;
    const tr_platform *platform = worker->loop.platform;
    struct channel_output *output = &channel->work->output;
    struct out_page *page = output->first;
    if (!channel_is_plain(channel) || !channel->cell ||
        channel->cell->flags & (CELL_FAILED | CELL_METERED) ||
        !waits_are_empty(&channel->writers) || !page || page != output->last ||
        page->capacity != PAGE_BYTES || output->held || !channel_has(channel, CHANNEL_WRITABLE))
        return false;
    if (channel->deadline_ns != TR_NEVER || channel->endpoint->options.idle_ns || !output->size)
        return false;
    tr_bytes bytes = {page->data + page->begin, output->size};
    size_t count = 0;
    tr_status status = platform->socket_send(platform, channel->fd, &bytes, 1, &count);
    if (count) {
        output->since_ns = worker->loop.now_ns;
        channel_note_active(channel);
    }
    if (__builtin_expect(status != TR_OK || count < bytes.size, 0)) {
        page->begin += (uint32_t)count;
        output->size -= count;
        if (status == TR_OK || status == TR_WOULD_BLOCK)
            /* the kernel takes no more now; tr__output_flush lets the loop wait until it does */
            return false;
        tr__channel_end(channel, status, NULL);
        return true;
    }
    output->first = output->last = NULL;
    output->size = output->memory = 0;
    page_give(worker->channels.net, channel, page);
    work_rest(channel);
    return true;
}
