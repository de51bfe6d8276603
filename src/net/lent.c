/* SPDX-License-Identifier: Apache-2.0 */
#include "net/lent.h"

#include "actor/cell/system.h"
#include "net/area.h"
#include "net/input.h"
#include "net/worker.h"
#include "base/assert.h"

struct lent {
    struct lent *next; /* next in the list tr_self.lent */
    uint64_t channel;  /* bits of the channel */
    struct area *area; /* the area that contains the bytes; NULL: they are in `data` */
    void *data;
};

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
    struct lent *lent = source_resize(source, NULL, sizeof *lent);
    if (!lent)
        return TR_NO_MEMORY;
    struct net_buffer rest = NET_BUFFER(source);
    tr_bytes unread = net_buffer_bytes(&input->buffer);
    if (unread.size && tr__net_buffer_append(&rest, unread.data, unread.size) != TR_OK) {
        source_resize(source, lent, 0);
        return TR_NO_MEMORY;
    }
    *lent = (struct lent){.next = borrower->lent,
                          .channel = channel_bits(channel),
                          .area = input->area,
                          .data = input->area ? NULL : input->buffer.data};
    borrower->lent = lent;
    tr__input_unborrow(channel);
    tr__input_replace(channel, rest);
    return TR_OK;
}

static void lent_free(struct worker *worker, struct lent *lent)
{
    const struct memory_source *source = &worker->system->source;
    if (lent->area)
        tr__area_give(source, worker->channels.net->area, lent->area);
    source_resize(source, lent->data, 0);
    source_resize(source, lent, 0);
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
        lent_free(self->worker, lent);
    }
}

void tr__lent_free(struct tr_self *self)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    while (self->lent) {
        struct lent *lent = self->lent;
        self->lent = lent->next;
        lent_free(self->worker, lent);
    }
}
