/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/life/extra.h"

#include "actor/ask/ask.h"
#include "actor/ask/ask_then.h"
#include "actor/mail/outbox.h"
#include "actor/system/thread_handoff.h"
#include "actor/life/supervise.h"
#include "actor/time/timers.h"
#include "base/assert.h"

/* Apart, so that a look at one that is there costs no call. */
__attribute__((__noinline__, __cold__)) static struct cell_extra *extra_new(struct worker *worker,
                                                                            struct cell *cell)
{
    struct cell_extra *extra = source_resize(&worker->source, NULL, sizeof *extra);
    if (!extra)
        return NULL;
    *extra = (struct cell_extra){.cell = cell};
    list_init(&extra->parked.turns);
    list_init(&extra->waits.born);
    list_init(&extra->waits.line);
    list_init(&extra->asks.laters);
    list_init(&extra->supervision.returns);
    list_init(&extra->supervision.pasts);
    cell->extra = extra;
    return extra;
}

struct cell_extra *tr__extra_of(struct worker *worker, struct cell *cell)
{
    TR_ASSERT(cell->life != LIFE_NEW || cell_owner(cell) == worker->index);
    return cell->extra ? cell->extra : extra_new(worker, cell);
}

void tr__extra_free(struct worker *worker, struct cell *cell)
{
    struct cell_extra *extra = cell->extra;
    if (!extra)
        return;
    TR_ASSERT(!extra->stash.ring);
    TR_ASSERT(!extra->timers.keys.count);
    TR_ASSERT(!extra->timers.loose.count);
    TR_ASSERT(!timer_is_armed(&extra->idle.node));
    TR_ASSERT(!extra->parked.count);
    TR_ASSERT(!extra->senders.ring && !extra->mail.held);
    TR_ASSERT(!extra->watches.table.slots);
    if (extra->durable) {
        struct durable *durable = extra->durable;
        extra->durable = NULL;
        durable->hooks->on_end(worker, cell, durable);
    }
    tr__supervise_end(worker, cell);
    tr__failure_leave(worker, cell);
    tr__ask_table_free(worker, cell);
    source_resize(&worker->source, extra->timers.aliases, 0);
    extra->timers.aliases = NULL;
    if (extra->budget) /* children need it: tr__cell_leave comes back */
        return;
    source_resize(&worker->source, extra, 0);
    cell->extra = NULL;
}

/* ---- Stash. ---- */

/* All of a stash may come back to a mailbox that was full when its bound became the smallest. */
static_assert(TR_STASH_BYTES_MAX / 64 + CAPACITY_LARGEST + TR_PAYLOAD_MAX / 32 < CAPACITY_BIAS,
              "what a mailbox is short of fits into its capacity's word");

void tr__stash_push(struct worker *worker, struct cell *cell, struct envelope *envelope)
{
    (void)worker;
    struct cell_extra *extra = cell->extra;
    TR_ASSERT(extra->stash.count < TR_STASH_MAX);
    mail_count(cell, envelope);
    ring_push(&extra->stash.ring, envelope);
    extra->stash.count++;
    extra->stash.lines += mail_lines(envelope);
}

void tr__stash_empty(struct cell *cell)
{
    struct cell_extra *extra = cell->extra;
    if (!extra || !extra->stash.ring)
        return;
    ring_join(&extra->stash.ring, &cell->cycle);
    cell->cycle = extra->stash.ring;
    extra->stash.ring = NULL;
    extra->stash.count = 0;
    extra->stash.lines = 0;
}

tr_next tr_stash(tr_self *self)
{
    TURN_VERB(self);
    if (!self)
        return TR_SAME;
    if (!self->envelope || self->envelope->type == &tr__idle_type ||
        self->envelope->kind == ENVELOPE_SIGNAL || self->envelope->type == &tr__then_type)
        return tr_fail(self, TR_NOT_IN_A_TURN, "tr_stash: no message to stash in this turn");
    if (self->handler->is_batch)
        return tr_fail(self, TR_NOT_IN_A_TURN, "tr_stash: a batch cannot be stashed");
    struct cell_extra *extra = tr__extra_of(self->worker, self->cell);
    if (!extra)
        return tr_fail(self, TR_NO_MEMORY, "tr_stash: out of memory");
    if (extra->stash.count >= TR_STASH_MAX)
        return tr_fail(
            self, TR_STASH_FULL, "tr_stash: the stash is full with %d messages", TR_STASH_MAX);
    if (extra->stash.lines + mail_lines(self->envelope) > TR_STASH_BYTES_MAX / 64)
        return tr_fail(
            self, TR_STASH_FULL, "tr_stash: the messages exceed the memory limit of the stash");
    self->needs_slow_end = true;
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
    /* Before what this cycle has still to handle, and so before everything newer. */
    struct envelope **rest = &cell->cycle;
    if (cell->flags & CELL_BARRIER)
        rest = &extra->mail.held; /* none of them may begin now */
    ring_join(&first, rest);
    *rest = first;
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
