/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The places of children that come back as new actors.
 *
 * A group is restarted in the order in which its members were started, and a new actor takes the
 * place of the actor that ended. So the record of a child that is to come back has the ref of the
 * sibling before the child. That sibling may also end, and may come back or not:
 *   1. If a record `has_place`, its `before` is 0, or the ref of a child that is in the list, or
 *      the old ref of another child that is to come back.
 *   2. When that other child comes back, its new ref replaces the old one. If it does not come
 *      back, the ref of the sibling before it replaces the old one.
 * The rules hold only for children that are restarted together. For other children the order does
 * not matter, and with these rules each end of a child would cost a walk over all children that are
 * to come back. So `has_place` is false for them: such a child gets its old place only if the
 * sibling before it is still there.
 */
#include "actor/life/place.h"

#include "actor/cell/slots.h"
#include "actor/cell/worker.h"
#include "actor/life/supervise.h"

#include <troupe/supervision.h>

struct worker;

/*
 * Whether the order of the children matters, because a child with this spec is restarted together
 * with others.
 */
static bool is_ordered(const struct worker *worker, const struct cell *parent,
                       const tr_child_spec *spec)
{
    return tr__supervision_of(worker->system, parent, spec)->strategy != TR_ONE_FOR_ONE;
}

/*
 * Returns the sibling behind which a further child is to come back. Starts at the sibling `before`.
 * If a child is to come back right behind it, continues with the old ref of that child, and so on.
 * Returns the old ref of the last such child, or `before` if there is none.
 */
static uint64_t last_behind(const struct cell *parent, uint64_t before)
{
    bool has_moved = true;
    while (has_moved) {
        has_moved = false;
        LIST_EACH (link, &parent->extra->supervision.returns) {
            const struct failure *failure = LIST_OWNER(link, struct failure, link);
            if (!failure->has_place || failure->before != before)
                continue;
            before = failure->child;
            has_moved = true;
        }
    }
    return before;
}

/*
 * Returns the record of the child that had this ref and is to come back. Returns NULL if there is
 * no such child.
 */
static const struct failure *return_of(const struct cell *parent, uint64_t child)
{
    LIST_EACH (link, &parent->extra->supervision.returns) {
        const struct failure *failure = LIST_OWNER(link, struct failure, link);
        if (failure->child == child)
            return failure;
    }
    return NULL;
}

/*
 * Returns the ref of the sibling before a child; 0 if the child is the first. The child must be in
 * the list.
 */
static uint64_t sibling_before(const struct worker *worker, const struct cell *parent,
                               const struct cell *child)
{
    const struct slots *slots = worker->slots;
    const struct cell *last = slots_at(slots, parent->child_last);
    bool is_first = slots_at(slots, last->sibling_next) == child;
    return is_first ? 0 : slots_at(slots, child->sibling_last)->identity;
}

void tr__place_note(struct worker *worker, struct cell *parent, const struct cell *child,
                    struct failure *failure)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, parent));
    struct cell_extra *extra = parent->extra;
    extra->supervision.keeps_places |= is_ordered(worker, parent, NULL);
    extra->supervision.keeps_places |= is_ordered(worker, parent, origin_rare(child->origin)->spec);
    failure->has_place = extra->supervision.keeps_places;
    failure->before = sibling_before(worker, parent, child);
    if (failure->has_place)
        failure->before = last_behind(parent, failure->before);
}

/*
 * Returns `before` if it is 0 or the ref of a child that is still in the list. Returns
 * TR__PLACE_LAST otherwise.
 */
static uint64_t find_well(const struct worker *worker, const struct cell *parent, uint64_t before)
{
    const struct cell *cell = before ? slots_find(worker->slots, before) : NULL;
    bool is_there = cell && cell_parent_slot(cell) == slots_number(worker->slots, parent);
    return !before || is_there ? before : TR__PLACE_LAST;
}

uint64_t tr__place_find(struct worker *worker, struct cell *parent, const struct failure *failure)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, parent));
    if (!failure->has_place)
        return find_well(worker, parent, failure->before);
    /* A sibling that is not back yet cannot be in the list: take the sibling before it instead. */
    uint64_t before = failure->before;
    const struct failure *other;
    while (before && (other = return_of(parent, before))) {
        if (!other->has_place)
            return find_well(worker, parent, other->before);
        before = other->before;
    }
    return before;
}

void tr__place_replace(struct cell *parent, uint64_t child, uint64_t now)
{
    if (!parent->extra || !parent->extra->supervision.keeps_places)
        return;
    LIST_EACH (link, &parent->extra->supervision.returns) {
        struct failure *failure = LIST_OWNER(link, struct failure, link);
        if (failure->has_place && failure->before == child)
            failure->before = now;
    }
}

void tr__place_close(struct worker *worker, struct cell *parent, const struct cell *child)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, parent));
    if (!parent->extra || !parent->extra->supervision.keeps_places)
        return;
    uint64_t before = sibling_before(worker, parent, child);
    tr__place_replace(parent, child->identity, last_behind(parent, before));
}
