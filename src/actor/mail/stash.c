/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/mail/stash.h"

#include "actor/cell/extra.h"
#include "actor/cell/signal.h"
#include "actor/cell/verb.h"
#include "actor/mail/capacity.h"
#include "actor/mail/cycle.h"
#include "actor/mail/mail.h"
#include "base/assert.h"
#include "actor/mail/kind.h"

/*
 * The worst case for the capacity word: a mailbox is full, its bound becomes the smallest possible
 * bound, and then a whole stash returns to the mailbox.
 */
static_assert(TR_STASH_BYTES_MAX / 64 + CAPACITY_LARGEST + TR_PAYLOAD_MAX / 32 < CAPACITY_BIAS,
              "what a mailbox is short of fits into its capacity's word");

void tr__stash_push(struct worker *worker, struct cell *cell, struct envelope *envelope)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    struct cell_extra *extra = cell->extra;
    TR_ASSERT(extra->stash.count < TR_STASH_MAX);
    mail_count(cell, envelope);
    if (extra->durable)
        extra->durable->has_stashed = true;
    ring_push(&extra->stash.ring, envelope);
    extra->stash.count++;
    extra->stash.lines += mail_lines(envelope);
}

void tr__stash_empty(struct cell *cell)
{
    struct cell_extra *extra = cell->extra;
    if (!extra || !extra->stash.ring)
        return;
    struct envelope *first = extra->stash.ring;
    extra->stash.ring = NULL;
    tr__mail_put_first(cell, first);
    extra->stash.count = 0;
    extra->stash.lines = 0;
}

tr_next tr_stash(tr_self *self)
{
    TURN_VERB(self);
    if (!self)
        return TR_SAME;
    if (!self->envelope || tr__signal_is_own(self->envelope->type) ||
        self->envelope->type == &tr__then_type)
        return tr_fail(self, TR_NOT_IN_A_TURN, "tr_stash: no message to stash in this turn");
    if (self->handler->is_batch)
        return tr_fail(self, TR_NOT_IN_A_TURN, "tr_stash: a batch cannot be stashed");
    if (self->envelope->kind == ENVELOPE_CHANNEL)
        return tr_fail(self,
                       TR_NOT_SUPPORTED,
                       "tr_stash: %s of a channel cannot be stashed; see tr_unread",
                       self->envelope->type->name);
    struct cell_extra *extra = tr__extra_of(self->worker, self->cell);
    if (!extra)
        return tr_fail(self, TR_NO_MEMORY, "tr_stash: out of memory");
    if (extra->stash.count >= TR_STASH_MAX)
        return tr_fail(
            self, TR_STASH_FULL, "tr_stash: the stash is full with %d messages", TR_STASH_MAX);
    if (extra->stash.lines + mail_lines(self->envelope) > TR_STASH_BYTES_MAX / 64)
        return tr_fail(
            self, TR_STASH_FULL, "tr_stash: the messages exceed the memory limit of the stash");
    turn_require_slow_end(self);
    return TR_VALUE(tr_next, TR_NEXT_STASHED);
}

size_t tr__unstash(struct cell *cell, size_t max)
{
    struct cell_extra *extra = cell->extra;
    struct envelope *first = NULL;
    size_t count = 0;
    while (extra->stash.ring && count < max) {
        struct envelope *envelope = ring_pop(&extra->stash.ring);
        if (mail_takes_capacity(envelope))
            tr__capacity_take_back(cell, mail_lines(envelope));
        ring_push(&first, envelope);
        extra->stash.count--;
        extra->stash.lines -= mail_lines(envelope);
        count++;
    }
    tr__mail_put_first(cell, first);
    return count;
}

size_t tr_unstash(tr_self *self, size_t max)
{
    TURN_VERB(self);
    if (!self || !self->cell->extra || self->cell->life >= LIFE_STOPPING)
        return 0;
    return tr__unstash(self->cell, max);
}

size_t tr_stash_count(const tr_self *self)
{
    TURN_VERB(self);
    return self && self->cell->extra ? self->cell->extra->stash.count : 0;
}
