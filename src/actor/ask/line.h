/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The line: turns of one actor that want capacity in the same mailbox send one after another.
 *
 * The message of a turn that waits for capacity was sent before all messages that other turns of
 * its actor send from then on. So another turn of the actor that sends to the same receiver queues
 * behind the first turn, even if there is capacity by now. It tries when the turns before it have
 * sent their messages or have given up. Rules:
 *   1. A turn is in the line of its actor from the moment at which it finds no capacity, or finds
 *      another turn of the line before it, until its message is sent or refused.
 *   2. While the line is not empty, its actor is behind a barrier (CELL_BARRIER). A turn with
 *      `is_behind` may not use the quick ways to send. `is_behind` is set when a turn begins or
 *      resumes behind a barrier with a line. It may be set without need, and is then cleared.
 *   3. Of the turns of a line that want capacity in one mailbox, only the first has asked for it
 *      there.
 *   4. What the first turn is granted beyond its message goes back at once if another turn is
 *      behind it.
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
 * As tr__line_has, for the actor of a turn whose is_behind is set. Clears is_behind if the line is
 * empty.
 */
bool tr__turn_is_behind(struct tr_self *self, uint64_t to);

/** Whether a message of this turn to that actor has to wait for a message of another turn. */
static inline bool turn_is_behind(struct tr_self *self, uint64_t to)
{
    return __builtin_expect(self->is_behind, 0) && tr__turn_is_behind(self, to);
}

/** Wakes the next turn behind this one that wants capacity in the same mailbox, if there is one. */
void tr__line_call_next(const struct tr_self *self);

/** Enters the line of the turn's actor, which has an extra. */
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

/** Leaves the line, and wakes the next turn that wants capacity in the same mailbox. */
static inline void line_leave(struct tr_self *self)
{
    TR_ASSERT(self->sender.wants);
    if (!line_is_last(self))
        tr__line_call_next(self);
    list_remove(&self->sender.line);
    self->sender.wants = 0;
    self->is_behind = !list_is_empty(&self->cell->extra->waits.line);
    turn_require_slow_end(self); /* the end of the turn clears is_behind */
}

/**
 * Waits until no turn that wants capacity in the same mailbox is before this one. Returns what
 * tr__turn_park returns, but TR_MAILBOX_FULL at the deadline, and in a cycle.
 */
tr_status tr__line_wait(struct tr_self *self, tr_time deadline_ns);

/** Whether a turn behind this one, which is in the line, wants capacity in the same mailbox. */
bool tr__line_is_followed(const struct tr_self *self);

/** As tr__line_is_followed, for a turn that need not be in the line. */
static inline bool line_is_followed(const struct tr_self *self)
{
    return self->sender.wants && !line_is_last(self) && tr__line_is_followed(self);
}

/**
 * Returns the first turn of the line that wants capacity in the same mailbox as this turn, which is
 * in the line.
 */
const struct tr_self *tr__line_first(const struct tr_self *self);

#endif
