/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The places of children that come back as new actors.
 *
 * A group goes down and up in the order in which its members were started, and one that comes back
 * stands for the one that was there. So a child that is to come back remembers the sibling before
 * it. That one may end as well, and come back or not:
 *   1. `before` of a record that `has_place` is 0, the ref of a child that is in the list, or the
 *      ref under which another one was in it that is to come back, too.
 *   2. When that child comes back, its new ref takes the place of the old one; when it is gone for
 *      good, the sibling before it does.
 * Where children are restarted alone nobody asks for their order, and this would cost a look at all
 * who are to come back for each that ends. There a child finds its place while the sibling before
 * it is well.
 */
#include "actor/life/supervise.h"
#include "base/assert.h"

static bool is_ordered(const struct worker *worker, const struct cell *parent,
                       const tr_child_spec *spec)
{
    return tr__supervision_of(worker->system, parent, spec)->strategy != TR_ONE_FOR_ONE;
}

/* The last of those that are to come back right behind this place, or this itself. */
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

/* The one that is to come back and had this ref; NULL for none. */
static const struct failure *return_of(const struct cell *parent, uint64_t child)
{
    LIST_EACH (link, &parent->extra->supervision.returns) {
        const struct failure *failure = LIST_OWNER(link, struct failure, link);
        if (failure->child == child)
            return failure;
    }
    return NULL;
}

/* The sibling before a child that is in the list, 0 for none. */
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
    struct cell_extra *extra = parent->extra;
    extra->supervision.keeps_places |= is_ordered(worker, parent, NULL);
    extra->supervision.keeps_places |= is_ordered(worker, parent, child->origin->spec);
    failure->has_place = extra->supervision.keeps_places;
    failure->before = sibling_before(worker, parent, child);
    if (failure->has_place)
        failure->before = last_behind(parent, failure->before);
}

/* Where it was, if the sibling before it is well. */
static uint64_t find_well(const struct worker *worker, const struct cell *parent, uint64_t before)
{
    const struct cell *cell = before ? slots_find(worker->slots, before) : NULL;
    bool is_there = cell && cell_parent_slot(cell) == slots_number(worker->slots, parent);
    return !before || is_there ? before : TR__PLACE_LAST;
}

uint64_t tr__place_find(struct worker *worker, struct cell *parent, const struct failure *failure)
{
    if (!failure->has_place)
        return find_well(worker, parent, failure->before);
    /* One before it that is not back yet leaves its place to whoever is before that. */
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
    if (!parent->extra || !parent->extra->supervision.keeps_places)
        return;
    uint64_t before = sibling_before(worker, parent, child);
    tr__place_replace(parent, child->identity, last_behind(parent, before));
}
