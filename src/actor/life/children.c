/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A parent and its children. Only the parent's worker writes the links.
 */
#include "actor/life/children.h"

#include "actor/cell/slots.h"
#include "actor/cell/upcalls.h"
#include "actor/life/keepers.h"
#include "actor/life/origin.h"
#include "actor/life/stop.h"
#include "actor/life/supervise.h"
#include "actor/mail/mail.h"
#include "actor/mail/ready.h"
#include "base/assert.h"

void tr__child_link(struct worker *worker, struct cell *parent, struct cell *child)
{
    struct slots *slots = worker->slots;
    TR_ASSERT(cell_owner(parent) == worker->index);
    uint32_t slot = slots_number(slots, child);
    if (parent->child_count++) {
        struct cell *last = slots_at(slots, parent->child_last);
        child->sibling_next = last->sibling_next;
        child->sibling_last = parent->child_last;
        slots_at(slots, last->sibling_next)->sibling_last = slot;
        last->sibling_next = slot;
    } else {
        child->sibling_next = slot;
        child->sibling_last = slot;
    }
    parent->child_last = slot;
    if (cell_calls(child))
        worker->system->user.schedules_linked++;
    if (cell_is_pooled(child)) {
        worker->system->user.pool_linked++;
        worker->system->user.keepers_linked += cell_is_keeper(child);
    }
}

/* Inserts a child that is in no list right behind its new sibling `behind`. */
static void insert(const struct slots *slots, struct cell *behind, struct cell *child)
{
    struct cell *next = slots_at(slots, behind->sibling_next);
    child->sibling_last = slots_number(slots, behind);
    child->sibling_next = behind->sibling_next;
    behind->sibling_next = slots_number(slots, child);
    next->sibling_last = behind->sibling_next;
}

void tr__child_move(struct worker *worker, struct cell *parent, struct cell *child, uint64_t before)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, parent));
    const struct slots *slots = worker->slots;
    struct cell *last = slots_at(slots, child->sibling_last);
    /* The list is a ring, so a child that is inserted behind the last one is the first. */
    struct cell *behind = last;
    TR_ASSERT(parent->child_last == slots_number(slots, child));
    if (parent->child_count == 1)
        return;
    if (before) {
        behind = slots_at(slots, (uint32_t)before);
        TR_ASSERT(behind->identity == before);
        TR_ASSERT(cell_parent_slot(behind) == slots_number(slots, parent));
        if (behind == last)
            return; /* the child is in the right place already */
    }
    last->sibling_next = child->sibling_next;
    slots_at(slots, child->sibling_next)->sibling_last = child->sibling_last;
    parent->child_last = slots_number(slots, last);
    insert(slots, behind, child);
}

void tr__child_take_out(struct worker *worker, struct cell *parent, struct cell *child)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, parent));
    struct slots *slots = worker->slots;
    TR_ASSERT(parent->child_count > 0);
    slots_at(slots, child->sibling_last)->sibling_next = child->sibling_next;
    slots_at(slots, child->sibling_next)->sibling_last = child->sibling_last;
    if (parent->child_last == slots_number(slots, child))
        parent->child_last = child->sibling_last;
    if (!--parent->child_count)
        parent->child_last = 0;
}

static void child_unlink(struct worker *worker, struct cell *parent, struct cell *child)
{
    TR_ASSERT(child->flags & CELL_LINKED);
    tr__child_take_out(worker, parent, child);
    child->flags &= (uint16_t)~CELL_LINKED;
    if (cell_calls(child))
        worker->system->user.schedules_linked--;
    if (cell_is_pooled(child)) {
        worker->system->user.pool_linked--;
        worker->system->user.keepers_linked -= cell_is_keeper(child);
    }
}

/*
 * Whether the child has this order already. If so, the thread that set these control bits has also
 * made the child ready.
 */
static bool is_ordered(const struct cell *child, uint32_t bits)
{
    return (atom32_load(&child->control, ATOM_RELAXED) & bits) == bits;
}

void tr__children_stop(struct worker *worker, struct cell *parent, bool by_kill)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, parent));
    uint32_t bits = by_kill ? CONTROL_KILL : CONTROL_STOP;
    struct cell *child = parent->child_count ? slots_at(worker->slots, parent->child_last) : NULL;
    for (uint32_t i = 0; i < parent->child_count; i++) {
        child = slots_at(worker->slots, child->sibling_next);
        /* tr__keepers_stop gives keepers their order later */
        bool is_later = cell_is_keeper(child);
        /* after the deadline of a shutdown, nearly all children have the order already */
        if (!is_later && !is_ordered(child, bits))
            tr__child_order(worker, child, bits);
        atom64_count(&worker->shutdown.steps, 1);
    }
}

void tr__keepers_stop(struct worker *worker, struct cell *guardian)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, guardian));
    uint32_t bits = guardian->flags & CELL_KILLING ? CONTROL_KILL : CONTROL_STOP;
    uint32_t count = guardian->child_count;
    struct cell *child = count ? slots_at(worker->slots, guardian->child_last) : NULL;
    for (uint32_t i = 0; i < count; i++) {
        child = slots_at(worker->slots, child->sibling_next);
        if (cell_is_keeper(child))
            tr__child_order(worker, child, bits);
    }
}

/* Whether this parent has a child that is to come back and is no actor of the pool. */
static bool has_returns(const struct cell *parent)
{
    const struct list *all = parent->extra ? &parent->extra->supervision.returns : NULL;
    for (const struct list *link = all ? all->next : NULL; link && link != all; link = link->next) {
        if (!LIST_OWNER(link, const struct failure, link)->is_pooled)
            return true;
    }
    return false;
}

void tr__children_look(struct worker *worker, struct cell *parent)
{
    struct tr_system *system = worker->system;
    if (parent == system->user.guardian && parent->life == LIFE_RUNNING && !has_returns(parent) &&
        parent->child_count == system->user.schedules_linked + system->user.pool_linked)
        tr__shutdown_empty(system);
}

/*
 * Handles the end of a child: plans its return if it is to come back, removes the child from the
 * list and frees its slot. Owner of the parent only.
 */
static void child_gone(struct worker *worker, struct cell *parent, struct cell *child)
{
    struct tr_system *system = worker->system;
    TR_ASSERT(cell_owner(parent) == worker->index);
    TR_ASSERT(child->life == LIFE_STOPPED);
    if (child_is_disowned(child))
        return; /* a sweep has removed the child from the list already */
    bool is_schedule = cell_calls(child);
    bool is_pooled = cell_is_pooled(child);
    /*
     * A child without an origin cannot come back, and a parent without an extra waits for no child.
     */
    if (child->origin || parent->extra) {
        tr__supervise_gone(worker, parent, child);
        tr__origin_drop(worker, child);
    }
    child_unlink(worker, parent, child);
    if (system_may_reuse(system))
        tr__slot_give(worker->slots, &worker->slot_cache, child);
    /*
     * Look whether the system is empty now. Schedules and actors of the pool do not keep the system
     * running. So there is nothing to look for when one of them has ended, with one exception: the
     * last actor of the pool, if no child is to come back. A system that has had nothing but actors
     * of the pool ends with that actor.
     */
    if (parent == system->user.guardian && parent->life == LIFE_RUNNING) {
        bool is_awaited = parent->extra && list_first(&parent->extra->supervision.returns);
        if (!is_schedule && !(is_pooled && (system->user.pool_linked || is_awaited)))
            tr__children_look(worker, parent);
        return;
    }
    if (parent == system->user.guardian)
        tr__shutdown_look(worker, parent);
    if (parent->child_count)
        return;
    if (parent->life == LIFE_STOPPING || restart_waits(parent)) {
        cell_set_control(worker, parent, CONTROL_FINISH);
    } else if (parent->life == LIFE_STOPPED) {
        tr__cell_leave(worker, parent);
    }
}

void tr__child_ended(struct worker *worker, struct cell *child)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    struct cell *parent = slots_parent(worker->slots, child);
    uint32_t owner = cell_owner(parent);
    if (owner == worker->index) {
        child_gone(worker, parent, child);
        return;
    }
    /*
     * While a parent moves to another worker it has no owner. Then this worker posts the child to
     * itself, and tries again in its next round.
     */
    if (owner == CELL_FOREIGN)
        owner = worker->index;
    atom64_count(&worker->counters.posts, 1);
    if (loop_post(&worker->system->workers[owner]->loop, &child->door.ready))
        atom64_count(&worker->counters.wakes, 1);
}
