/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The line: turns of one actor that want capacity in the same mailbox send one after another.
 *
 * When a turn waits for capacity, its message counts as sent before all messages that other turns
 * of the actor send later. So a second turn that sends to the same receiver queues behind the first
 * turn, even if there is capacity by now. The second turn tries to send when all turns before it
 * have sent their messages or have given up. Rules:
 *   1. A turn enters the line of its actor when it finds no capacity, or finds another turn of the
 *      line before it. It leaves the line when its message is sent or refused.
 *   2. While the line is not empty, its actor is behind a barrier (CELL_BARRIER). A turn with
 *      `is_behind` must not use the quick ways to send. `is_behind` is set when a turn begins or
 *      resumes behind a barrier with a line. If `is_behind` is set but the line is empty,
 *      tr__turn_is_behind clears it.
 *   3. Of the turns of a line that want capacity in one mailbox, only the first has asked that
 *      mailbox for capacity.
 *   4. If the first turn is granted more capacity than its message needs, and another turn is
 *      behind the first, the first turn returns the rest at once.
 *
 * All functions: owner only.
 */
#ifndef ACTOR_ASK_LINE_H
#define ACTOR_ASK_LINE_H

#include <troupe/status.h>

#include "actor/cell/worker.h"
#include "base/assert.h"
#include "base/list.h"

struct tr_self;

/**
 * As tr__line_has, but for a turn whose is_behind is set. Clears is_behind if the line is empty.
 */
bool tr__turn_is_behind(struct tr_self *self, uint64_t to);

/** Whether a message of this turn to that actor has to wait for a message of another turn. */
static inline bool turn_is_behind(struct tr_self *self, uint64_t to)
{
    return __builtin_expect(self->is_behind, 0) && tr__turn_is_behind(self, to);
}

/**
 * Wakes the turn behind this one that is the next to wait for capacity in the same mailbox. Does
 * nothing if no turn does.
 */
void tr__line_call_next(const struct tr_self *self);

/** Puts this turn into the line of its actor. The actor must have an extra. */
static inline void line_enter(struct tr_self *self, uint64_t to)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    TR_ASSERT(!self->sender.wants);
    self->sender.wants = to;
    list_push_last(&self->cell->extra->waits.line, &self->sender.line);
}

/** Whether this turn is the last of the line. The turn must be in the line. */
static inline bool line_is_last(const struct tr_self *self)
{
    return self->sender.line.next == &self->cell->extra->waits.line;
}

/** Leaves the line, and wakes the next turn that wants capacity in the same mailbox. */
static inline void line_leave(struct tr_self *self)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    TR_ASSERT(self->sender.wants);
    if (!line_is_last(self))
        tr__line_call_next(self);
    list_remove(&self->sender.line);
    self->sender.wants = 0;
    self->is_behind = !list_is_empty(&self->cell->extra->waits.line);
    turn_require_slow_end(self); /* the end of the turn clears is_behind */
}

/**
 * Waits until this turn is the first in the line that wants capacity in its mailbox. Returns what
 * tr__turn_park returns, with one exception: TR_MAILBOX_FULL if the deadline passes or if the turn
 * is in a cycle of waiting actors.
 */
tr_status tr__line_wait(struct tr_self *self, tr_time deadline_ns);

/**
 * Whether another turn, behind this one in the line, wants capacity in the same mailbox. This turn
 * must be in the line.
 */
bool tr__line_is_followed(const struct tr_self *self);

/** As tr__line_is_followed, but this turn need not be in the line. */
static inline bool line_is_followed(const struct tr_self *self)
{
    return self->sender.wants && !line_is_last(self) && tr__line_is_followed(self);
}

/**
 * Returns the first turn of the line that wants capacity in the same mailbox as this turn. This
 * turn must be in the line.
 */
const struct tr_self *tr__line_first(const struct tr_self *self);

#endif
