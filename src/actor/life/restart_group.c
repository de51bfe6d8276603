/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Children that are restarted together.
 *
 * The members go down one after the other, the one that was started last first. Then they come up
 * in their start order. The parent sends an order to each member, and the member answers when it
 * has carried out the order. The end of a member counts as its answer. If a member fails during the
 * restart, the restart pauses until the restart delay of that member is over. Then the restart
 * begins again with all members.
 */
#include "actor/life/restart_group.h"

#include <string.h>
#include <troupe/supervision.h>

#include "actor/cell/cell.h"
#include "actor/cell/extra.h"
#include "actor/cell/slots.h"
#include "actor/cell/system.h"
#include "actor/cell/worker.h"
#include "actor/mail/mail.h"
#include "mem/envelope.h"
#include "mem/source.h"
#include "actor/mail/address.h"

struct restart_group {
    tr_error cause;
    bool is_up;          /* true: members come up; false: members go down */
    uint64_t waits_for;  /* the member that has an order and has not answered; 0 for none */
    uint64_t paused_for; /* the member that has failed during the restart; 0 for none */
    /* the next member to get an order, counted from 0 in the current direction */
    uint32_t at;
    uint32_t count;
    uint64_t members[]; /* in start order */
};

/*
 * Returns the first living member of the group that is being restarted now, 0 for none. The next
 * group must contain all these members too. A member that is not in it would get no further order.
 */
static uint64_t first_of_group(const struct worker *worker, const struct cell *parent)
{
    const struct restart_group *group = parent->extra ? parent->extra->supervision.group : NULL;
    for (uint32_t i = 0; group && i < group->count; i++) {
        if (slots_find(worker->slots, group->members[i]))
            return group->members[i];
    }
    return 0;
}

static bool is_in_group(const struct cell *parent, uint64_t member)
{
    const struct restart_group *group = parent->extra ? parent->extra->supervision.group : NULL;
    for (uint32_t i = 0; group && i < group->count; i++) {
        if (group->members[i] == member)
            return true;
    }
    return false;
}

/*
 * Whether `cell` can be in the same group as `child`. Below /user, an actor of the pool is not
 * restarted together with an actor that is not of the pool. But a member of the current group stays
 * a member.
 */
static bool goes_along(const struct worker *worker, const struct cell *parent,
                       const struct cell *cell, uint64_t child)
{
    const struct cell *first = slots_at(worker->slots, (uint32_t)child);
    return parent != worker->system->user.guardian || !first ||
           cell_is_pooled(cell) == cell_is_pooled(first) || is_in_group(parent, cell->identity);
}

/*
 * Writes the members of the group of `child` in start order to `members`. If `members` is NULL,
 * only counts them. Returns the number of members.
 */
static uint32_t collect(const struct worker *worker, const struct cell *parent,
                        const tr_supervision *how, uint64_t child, uint64_t *members)
{
    uint64_t earlier = first_of_group(worker, parent);
    const struct slots *slots = worker->slots;
    bool is_in = how->strategy == TR_ALL_FOR_ONE;
    uint32_t count = 0;
    if (!parent->child_count)
        return 0;
    const struct cell *cell = slots_at(slots, parent->child_last);
    for (uint32_t i = 0; i < parent->child_count; i++) {
        cell = slots_at(slots, cell->sibling_next);
        is_in |= cell->identity == child || cell->identity == earlier;
        if (!is_in || !goes_along(worker, parent, cell, child))
            continue;
        if (members)
            members[count] = cell->identity;
        count++;
    }
    return count;
}

void tr__restart_group_free(struct worker *worker, struct cell *parent)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, parent));
    struct cell_extra *extra = parent->extra;
    if (!extra || !extra->supervision.group)
        return;
    source_resize(&worker->source, extra->supervision.group, 0);
    extra->supervision.group = NULL;
}

/*
 * Sends a DOWN or an UP to a member, and notes that the group waits for the answer of this member.
 * If the member is gone or ending, returns false, and the group does not wait for it.
 */
static bool order(struct worker *worker, struct cell *parent, uint64_t member,
                  enum envelope_kind kind)
{
    struct restart_group *group = parent->extra->supervision.group;
    struct cell *cell = slots_find(worker->slots, member);
    if (!cell)
        return false;
    struct tr_pre_restart message = {.cause = group->cause};
    struct address address = {.kind = kind, .to = member, .sender = parent->identity};
    struct envelope *envelope;
    tr_status status =
        tr__mail_new(&worker->pool, address, &tr_type_tr_pre_restart, &message, &envelope);
    group->waits_for = member;
    if (status != TR_OK) {
        /*
         * There is no memory for the order, so kill the member. A kill needs no memory, and the end
         * of the member counts as its answer.
         */
        tr__child_order(worker, cell, CONTROL_KILL | CONTROL_DISMISS);
        return true;
    }
    if (tr__mail_send(worker, cell, envelope) == TR_OK)
        return true;
    envelope_give(&worker->pool, envelope);
    group->waits_for = 0;
    return false;
}

/*
 * Sends orders to the next members, until the group must wait for an answer or the restart is
 * complete.
 */
static void step(struct worker *worker, struct cell *parent)
{
    for (;;) {
        struct restart_group *group = parent->extra->supervision.group;
        if (!group || group->waits_for || group->paused_for)
            return;
        if (group->at == group->count && group->is_up) {
            tr__restart_group_free(worker, parent);
            return;
        }
        if (group->at == group->count) {
            group->is_up = true;
            group->at = 0;
            continue;
        }
        uint32_t at = group->at++;
        uint32_t number = group->is_up ? at : group->count - 1 - at;
        (void)order(
            worker, parent, group->members[number], group->is_up ? ENVELOPE_UP : ENVELOPE_DOWN);
    }
}

bool tr__restart_group_begin(struct worker *worker, struct cell *parent, const tr_supervision *how,
                             uint64_t child, const tr_error *cause)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, parent));
    uint32_t count = collect(worker, parent, how, child, NULL);
    struct cell_extra *extra = tr__extra_of(worker, parent);
    struct restart_group *group = NULL;
    if (extra)
        group =
            source_resize(&worker->source, NULL, sizeof *group + count * sizeof group->members[0]);
    if (!group)
        return false;
    *group = (struct restart_group){.cause = *cause, .count = count};
    (void)collect(worker, parent, how, child, group->members);
    tr__restart_group_free(worker, parent);
    extra->supervision.group = group;
    step(worker, parent);
    return true;
}

void tr__restart_group_pause(struct cell *parent, uint64_t child)
{
    struct restart_group *group = parent->extra ? parent->extra->supervision.group : NULL;
    /*
     * Do not pause for a member that has got its DOWN. It carries out the DOWN as soon as it gets
     * the decision about its failure.
     */
    if (!group || (!group->is_up && group->waits_for == child))
        return;
    group->paused_for = child;
}

void tr__restart_group_answer(struct worker *worker, struct cell *parent, uint64_t child,
                              enum envelope_kind kind)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, parent));
    struct restart_group *group = parent->extra ? parent->extra->supervision.group : NULL;
    if (!group)
        return;
    bool has_ended = kind == ENVELOPE_VOID;
    /*
     * Any answer but UP ends the pause. A member that got a DOWN before the parent knew of its
     * failure answers the DOWN without waiting for its restart delay.
     */
    if (group->paused_for == child && kind != ENVELOPE_UP)
        group->paused_for = 0;
    if (group->waits_for == child && (has_ended || (kind == ENVELOPE_UP) == group->is_up))
        group->waits_for = 0;
    step(worker, parent);
}

void tr__restart_group_kill(struct worker *worker, struct cell *parent, const tr_supervision *how,
                            uint64_t child)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, parent));
    const struct slots *slots = worker->slots;
    bool is_in = how->strategy == TR_ALL_FOR_ONE;
    uint64_t earlier = first_of_group(worker, parent);
    struct cell *cell = parent->child_count ? slots_at(slots, parent->child_last) : NULL;
    for (uint32_t i = 0; i < parent->child_count; i++) {
        cell = slots_at(slots, cell->sibling_next);
        is_in |= cell->identity == child || cell->identity == earlier;
        if (is_in && goes_along(worker, parent, cell, child))
            tr__child_order(worker, cell, CONTROL_KILL | CONTROL_DISMISS);
    }
    tr__restart_group_free(worker, parent);
}
