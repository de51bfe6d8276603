/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/time/receive_timeout.h"

#include <troupe/self.h>

#include "actor/cell/signal.h"
#include "actor/cell/slots.h"
#include "actor/cell/system.h"
#include "actor/cell/verb.h"
#include "actor/mail/address.h"
#include "actor/mail/mail.h"
#include "actor/time/timer_event.h"
#include "base/assert.h"

/*
 * Stops the receive timeout. If its signal waits in a mailbox, voids the signal. Returns whether
 * the timeout was running or its signal was waiting.
 */
static bool idle_stop(struct worker *worker, struct cell_idle *idle)
{
    bool was_active = tr__wheel_cancel(&worker->timers.idles, &idle->node) || idle->has_event;
    if (idle->has_event)
        timer_event_void(worker, idle->event);
    idle->has_event = false;
    return was_active;
}

/*
 * Whether the receive timeout must stand still now, because the actor is Suspended or has a parked
 * turn. Afterwards the timeout starts again with its full time.
 */
static bool idle_is_held(const struct cell *cell)
{
    return cell->life == LIFE_SUSPENDED || mail_is_parked(cell);
}

static void idle_arm(struct worker *worker, struct cell *cell)
{
    struct cell_idle *idle = slots_idle(cell);
    idle->is_paused = idle_is_held(cell);
    if (!idle->is_paused && !timer_is_armed(&idle->node))
        tr__wheel_arm(
            &worker->timers.idles, &idle->node, timer_deadline(idle->message_ns, idle->after_ns));
}

void tr__idle_fire(struct worker *worker, struct cell_idle *idle)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    struct cell *cell = slots_at(worker->slots, idle->slot);
    tr_time now_ns = worker->loop.now_ns;
    tr_time due_ns = timer_deadline(idle->message_ns, idle->after_ns);
    if (due_ns > now_ns) {
        tr__wheel_arm(&worker->timers.idles, &idle->node, due_ns);
        return;
    }
    if (cell->flags & CELL_SEALED)
        return;
    /* A queued message counts as received. */
    const struct extra_mail *mail = cell->extra ? &cell->extra->mail : NULL;
    bool has_mail = cell->cycle || cell->notices || door_has_mail(&cell->door) ||
                    (mail && (mail->requests || mail->held || mail->late));
    struct tr_receive_timeout message = {.idle_ns = idle->after_ns};
    struct address address = {.kind = ENVELOPE_EVENT, .to = cell->identity};
    struct envelope *envelope;
    if (has_mail || tr__mail_new(&worker->pool,
                                 address,
                                 &tr__signal_types[SIGNAL_RECEIVE_TIMEOUT],
                                 &message,
                                 &envelope) != TR_OK) {
        tr__wheel_arm(&worker->timers.idles, &idle->node, timer_deadline(now_ns, TIMER_RETRY_NS));
        return;
    }
    idle->event = envelope;
    idle->has_event = true;
    timer_event_deliver(worker, cell, envelope);
}

void tr__idle_drop(struct worker *worker, struct cell *cell)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    if (!(cell->flags & CELL_IDLES))
        return;
    idle_stop(worker, slots_idle(cell));
    cell->flags &= (uint16_t)~CELL_IDLES;
    slots_place_give(slots_idle(cell), SLOTS_PLACE_IDLE);
}

void tr__idle_arrived(struct cell *cell, const struct envelope *event)
{
    struct cell_idle *idle = slots_idle(cell);
    if (idle->has_event && idle->event == event) {
        idle->has_event = false;
        idle->message_ns = 0; /* the next message sets this time before it is read again */
    }
}

void tr__idle_touch(struct worker *worker, struct cell *cell)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    struct cell_idle *idle = slots_idle(cell);
    struct tr_system *system = worker->system;
    if (idle->has_event)
        idle_stop(worker, idle);
    /*
     * The loop's time may be as old as the last tick. So add the time between two ticks: then the
     * timeout may come late, but never early.
     */
    idle->message_ns = worker->loop.now_ns + (system->watch.platform ? WATCH_CALM_NS : 0);
    idle_arm(worker, cell);
}

void tr__idle_pause(struct worker *worker, struct cell *cell)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    if (!(cell->flags & CELL_IDLES))
        return;
    struct cell_idle *idle = slots_idle(cell);
    /* Keep is_paused: the timeout may already be paused for another reason. */
    idle->is_paused |= idle_stop(worker, idle);
}

void tr__idle_resume(struct worker *worker, struct cell *cell)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    /*
     * Do nothing if the timeout is not paused. One reason is that it was delivered already. Then it
     * must come again only after the next message.
     */
    if (cell->flags & CELL_IDLES && slots_idle(cell)->is_paused && !idle_is_held(cell))
        tr__idle_touch(worker, cell);
}

void tr_set_receive_timeout(tr_self *self, tr_time idle_ns)
{
    TURN_VERB(self);
    struct worker *worker = self->worker;
    struct cell *cell = self->cell;
    if (!timer_is_duration(idle_ns))
        tr_crash(self, TR_INVALID_ARGUMENT, "invalid receive timeout: %lld ns", (long long)idle_ns);
    if (!idle_ns || cell->life >= LIFE_STOPPING) {
        tr__idle_drop(worker, cell);
        return;
    }
    struct cell_idle *idle;
    if (cell->flags & CELL_IDLES) {
        idle = slots_idle(cell);
        idle_stop(worker, idle);
    } else {
        idle = slots_place_take(worker->slots, cell, SLOTS_PLACE_IDLE);
        if (!idle)
            tr_crash(self, TR_NO_MEMORY, "out of memory for a receive timeout");
        *idle = (struct cell_idle){.slot = slots_number(worker->slots, cell)};
        cell->flags |= CELL_IDLES;
    }
    idle->after_ns = idle_ns;
    idle->message_ns = tr_now(self);
    idle_arm(worker, cell);
}
