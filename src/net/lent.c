/* SPDX-License-Identifier: Apache-2.0 */
#include "net/lent.h"

#include "actor/cell/system.h"
#include "net/area.h"
#include "net/input.h"
#include "net/worker.h"
#include "base/assert.h"

/* Bytes of a channel that a turn owns. */
struct lent_bytes {
    struct lent lent;  /* must be the first member */
    struct area *area; /* the area that contains the bytes; NULL: they are in `data` */
    void *data;
};

void tr__lent_add(struct tr_self *self, struct lent *lent)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    lent->next = self->lent;
    self->lent = lent;
    turn_require_slow_end(self);
}

void tr__lent_end(struct tr_self *self, struct lent *lent)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    struct lent **at = &self->lent;
    while (*at != lent)
        at = &(*at)->next;
    *at = lent->next;
    lent->free(self->worker, lent);
}

static void bytes_free(struct worker *worker, struct lent *lent)
{
    struct lent_bytes *bytes = (struct lent_bytes *)lent;
    const struct memory_source *source = &worker->system->source;
    if (bytes->area)
        tr__area_give(source, worker->channels.net->area, bytes->area);
    source_resize(source, bytes->data, 0);
    source_resize(source, bytes, 0);
}

tr_status tr__lent_away(struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    struct channel_input *input = &channel->work->input;
    struct tr_self *borrower = input->borrower;
    const struct memory_source *source = &channel->worker->system->source;
    if (!borrower || !input->buffer.data) {
        tr__input_unborrow(channel);
        return TR_OK;
    }
    struct lent_bytes *bytes = source_resize(source, NULL, sizeof *bytes);
    if (!bytes)
        return TR_NO_MEMORY;
    struct net_buffer rest = NET_BUFFER(source);
    tr_bytes unread = net_buffer_bytes(&input->buffer);
    if (unread.size && tr__net_buffer_append(&rest, unread.data, unread.size) != TR_OK) {
        source_resize(source, bytes, 0);
        return TR_NO_MEMORY;
    }
    *bytes = (struct lent_bytes){.lent = {.channel = channel_bits(channel), .free = bytes_free},
                                 .area = input->area,
                                 .data = input->area ? NULL : input->buffer.data};
    bytes->lent.next = borrower->lent;
    /* a turn that owns bytes does not end by the fast path, which would not free them */
    borrower->lent = &bytes->lent;
    tr__input_unborrow(channel);
    tr__input_replace(channel, rest);
    return TR_OK;
}

void tr__lent_return(struct tr_self *self, const struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    struct lent **at = &self->lent;
    while (*at) {
        struct lent *lent = *at;
        if (lent->channel != channel_bits(channel)) {
            at = &lent->next;
            continue;
        }
        *at = lent->next;
        lent->free(self->worker, lent);
    }
}

void tr__lent_free(struct tr_self *self)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    while (self->lent) {
        struct lent *lent = self->lent;
        self->lent = lent->next;
        lent->free(self->worker, lent);
    }
}
