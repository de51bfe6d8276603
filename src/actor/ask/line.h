/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Turns of one actor that want capacity in the same mailbox: one after another.
 *
 * A turn that waits for capacity has a message that was sent before those that its actor's other turns send
 * from then on. So each of these that sends to the same actor queues behind it, whether or not there is
 * capacity by now, and tries when those before it have sent theirs or have given up. Rules:
 *   1. A turn is in the line of its actor from the moment at which it finds no capacity, or somebody of the
 *      line before it, until its message is sent or refused.
 *   2. While the line is not empty its actor is behind a barrier (CELL_BARRIER). The quick ways to send are
 *      closed to a turn by `is_behind`, which is set when it begins or resumes behind a barrier with a
 *      line. It may be set without need, and is then cleared.
 *   3. Only the first of a line for a mailbox has asked for capacity there.
 *   4. What the first is granted beyond its message goes back at once if another is behind it.
 *
 * Owner only, all of it.
 */
#ifndef ACTOR_ASK_LINE_H
#define ACTOR_ASK_LINE_H

#include "actor/mail/mail.h"
#include "base/assert.h"

/** Whether a turn of this actor wants capacity in the mailbox of `to`. */
bool tr__line_has(const struct cell *cell, uint64_t to);

/** As tr__line_has, for the actor of a turn whose is_behind is set; clears is_behind if the line is empty. */
bool tr__turn_is_behind(struct tr_self *self, uint64_t to);

/** Whether a message of this turn to that actor has to wait for another turn's. */
static inline bool turn_is_behind(struct tr_self *self, uint64_t to)
{
    return __builtin_expect(self->is_behind, 0) && tr__turn_is_behind(self, to);
}

/** Wakes the first turn behind this one that wants capacity in the same mailbox, if there is one. */
void tr__line_call_next(const struct tr_self *self);

/** Enters the line. The actor's extra is there. */
static inline void line_enter(struct tr_self *self, uint64_t to)
{
    TR_ASSERT(!self->sender.wants);
    self->sender.wants = to;
    list_push_last(&self->cell->extra->waits.line, &self->sender.line);
}

/** Whether this turn, which is in the line, is the last of it. */
static inline bool line_is_last(const struct tr_self *self)
{
    return self->sender.line.next == &self->cell->extra->waits.line;
}

/** Leaves it, and lets the next one try. */
static inline void line_leave(struct tr_self *self)
{
    TR_ASSERT(self->sender.wants);
    if (!line_is_last(self))
        tr__line_call_next(self);
    list_remove(&self->sender.line);
    self->sender.wants = 0;
    self->is_behind = !list_is_empty(&self->cell->extra->waits.line);
    self->needs_slow_end = true; /* the end of the turn takes that back */
}

/** Waits until nobody of the line is before this turn. As tr__turn_park; TR_MAILBOX_FULL in a ring. */
tr_status tr__line_wait(struct tr_self *self, tr_time deadline_ns);

/** Whether a turn behind this one, which is in the line, wants capacity in the same mailbox. */
bool tr__line_is_followed(const struct tr_self *self);

/** As tr__line_is_followed, for a turn that need not be in the line. */
static inline bool line_is_followed(const struct tr_self *self)
{
    return self->sender.wants && !line_is_last(self) && tr__line_is_followed(self);
}

/** Of a turn in the line: the first one of those that want capacity in the same mailbox. */
const struct tr_self *tr__line_first(const struct tr_self *self);

#endif
