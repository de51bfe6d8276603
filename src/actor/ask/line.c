/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/ask/line.h"

#include "actor/mail/capacity.h"
#include "actor/turn/park.h"
#include "actor/ask/ask_cycle.h"
#include "base/assert.h"

static struct tr_self *turn_of(const struct list *link)
{
    return LIST_OWNER((uintptr_t)link, struct tr_self, sender.line);
}

bool tr__turn_is_behind(struct tr_self *self, uint64_t to)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    const struct cell *cell = self->cell;
    self->is_behind = cell->extra && !list_is_empty(&cell->extra->waits.line);
    return self->is_behind && tr__line_has(cell, to);
}

static struct tr_self *before(const struct tr_self *self)
{
    const struct list *line = &self->cell->extra->waits.line;
    for (const struct list *link = self->sender.line.previous; link != line;
         link = link->previous) {
        if (turn_of(link)->sender.wants == self->sender.wants)
            return turn_of(link);
    }
    return NULL;
}

static struct tr_self *behind(const struct tr_self *self)
{
    const struct list *line = &self->cell->extra->waits.line;
    for (const struct list *link = self->sender.line.next; link != line; link = link->next) {
        if (turn_of(link)->sender.wants == self->sender.wants)
            return turn_of(link);
    }
    return NULL;
}

void tr__line_call_next(const struct tr_self *self)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    struct tr_self *next = behind(self);
    /*
     * If the actor ends, wake no other turn, because tr__turns_cancel cancels all turns of the
     * line.
     */
    if (next && !self->is_cancelled)
        tr__turn_wake(next, TR_OK);
}

bool tr__line_is_followed(const struct tr_self *self)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    return behind(self);
}

const struct tr_self *tr__line_first(const struct tr_self *self)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    const struct tr_self *first = self;
    for (const struct tr_self *turn = self; turn; turn = before(turn))
        first = turn;
    return first;
}

tr_status tr__line_wait(struct tr_self *self, tr_time deadline_ns)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    tr_status status = TR_OK;
    bool stays_barrier = self->is_barrier || turn_wants_barrier(self);
    self->waits.number = ++self->worker->turns.wait_last;
    enum ask_cycle cycle = tr__ask_cycle_look(self, self->sender.wants);
    if (cycle == ASK_CYCLE_FOUND)
        status = TR_MAILBOX_FULL;
    else if (!self->is_barrier)
        tr__barrier_begin(self);
    if (cycle == ASK_CYCLE_LEAVES)
        tr__ask_cycle_announce(self, self->sender.wants);
    while (status == TR_OK && before(self))
        status = turn_park_at(self, deadline_ns, NULL);
    self->waits.number = 0;
    if (self->is_barrier && !stays_barrier)
        tr__barrier_end(self);
    return status == TR_TIMEOUT ? TR_MAILBOX_FULL : status;
}
