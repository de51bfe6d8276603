/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/life/failure_record.h"

#include "actor/cell/dispatch.h"
#include "actor/cell/extra.h"
#include "actor/cell/worker.h"
#include "actor/life/origin.h"
#include "base/assert.h"

#define BIT(phase) (1u << (phase))

/*
 * Three kinds of records are PAST, because only their restart history is in use: a new record, the
 * record of an actor that runs, and a record that a child left behind at its end. AWAY is the last
 * phase of a second record: when the record of the failure comes back to the child, on_decided of
 * supervision_mail.c frees the second one.
 */
const uint16_t tr__failure_legal[FAILURE_PHASE_COUNT] = {
    /* PAST to ORDERED: the actor runs, and its group is restarted because of another member. */
    [FAILURE_PAST] =
        BIT(FAILURE_PAST) | BIT(FAILURE_AWAY) | BIT(FAILURE_DECIDED) | BIT(FAILURE_ORDERED),
    [FAILURE_AWAY] = 0,
    /*
     * DECIDED to DUE: the child comes back as a new actor, and there is no delay. With a delay,
     * DELAYED comes first.
     */
    [FAILURE_DECIDED] = BIT(FAILURE_PAST) | BIT(FAILURE_DELAYED) | BIT(FAILURE_DUE) |
                        BIT(FAILURE_READY) | BIT(FAILURE_ORDERED) | BIT(FAILURE_TURNS),
    [FAILURE_DELAYED] = BIT(FAILURE_DUE) | BIT(FAILURE_ORDERED),
    [FAILURE_DUE] = BIT(FAILURE_READY) | BIT(FAILURE_ORDERED) | BIT(FAILURE_TURNS),
    [FAILURE_READY] = BIT(FAILURE_ORDERED),
    /* ORDERED to PAST: the actor failed before it could carry out the order. */
    [FAILURE_ORDERED] = BIT(FAILURE_PAST) | BIT(FAILURE_ORDERED) | BIT(FAILURE_TURNS),
    [FAILURE_TURNS] = BIT(FAILURE_ORDERED) | BIT(FAILURE_CHILDREN),
    /* CHILDREN to PAST: the actor has no group, so its next incarnation begins at once. */
    [FAILURE_CHILDREN] = BIT(FAILURE_PAST) | BIT(FAILURE_DOWN),
    [FAILURE_DOWN] = BIT(FAILURE_DOWN) | BIT(FAILURE_UP),
    [FAILURE_UP] = BIT(FAILURE_PAST) | BIT(FAILURE_DOWN),
};

tr_restart tr__restart_of(const struct cell *cell)
{
    const struct cell_origin *origin = cell->origin;
    tr_restart restart = 0;
    if (origin && origin_rare(origin)->spec)
        restart = origin_rare(origin)->spec->restart;
    if (!restart && origin)
        restart = origin->behavior->options.restart;
    if (!restart && !origin && cell->dispatch)
        restart = cell->dispatch->behavior->options.restart;
    return restart ? restart : TR_TRANSIENT;
}

struct failure *tr__failure_new(struct worker *worker, struct cell *cell)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    struct failure *failure = source_resize(&worker->source, NULL, sizeof *failure);
    if (!failure)
        return NULL;
    *failure = (struct failure){.child = cell->identity};
    list_init(&failure->link);
    return failure;
}

/*
 * Takes the record that an earlier actor in this place has left in the origin. Returns NULL if
 * there is none.
 */
static struct failure *past_take(struct cell_origin *origin)
{
    struct failure *failure = origin_rare(origin)->failure;
    if (!failure)
        return NULL;
    origin_rare_own(origin)->failure = NULL;
    failure->phase = FAILURE_PAST; /* the earlier actor may have left the record in any phase */
    return failure;
}

struct failure *tr__failure_of(struct worker *worker, struct cell *cell)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    struct cell_extra *extra = tr__extra_of(worker, cell);
    if (!extra)
        return NULL;
    if (!extra->supervision.failure && cell->origin)
        extra->supervision.failure = past_take(cell->origin);
    if (!extra->supervision.failure)
        extra->supervision.failure = tr__failure_new(worker, cell);
    struct failure *failure = extra->supervision.failure;
    if (!failure)
        return NULL;
    failure->child = cell->identity;
    failure->cell = cell;
    failure->spec = cell->origin ? origin_rare(cell->origin)->spec : NULL;
    failure->restart = tr__restart_of(cell);
    return failure;
}

struct failure *tr__failure_past(struct worker *worker, struct cell *cell)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    struct failure *failure = past_take(cell->origin);
    if (!failure)
        failure = tr__failure_new(worker, cell);
    if (failure)
        failure->child = cell->identity;
    return failure;
}

void tr__failure_free(struct worker *worker, struct failure *failure)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    if (!failure)
        return;
    tr__wheel_cancel(&worker->life.delays, &failure->delay);
    if (failure->answer)
        envelope_give(&worker->pool, failure->answer);
    if (failure->origin)
        tr__origin_free(&worker->source, failure->origin);
    list_remove(&failure->link);
    source_resize(&worker->source, failure->times, 0);
    source_resize(&worker->source, failure, 0);
}

void tr__failure_leave(struct worker *worker, struct cell *cell)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    struct failure *failure = cell->extra->supervision.failure;
    struct cell_origin *origin = cell->origin;
    cell->extra->supervision.failure = NULL;
    if (origin)
        origin->is_away |= cell->extra->supervision.is_away;
    cell->extra->supervision.is_away = false;
    if (!failure || !origin || origin_rare(origin)->failure ||
        tr__restart_of(cell) != TR_PERMANENT) {
        tr__failure_free(worker, failure);
        return;
    }
    tr__wheel_cancel(&worker->life.delays, &failure->delay);
    if (failure->answer)
        envelope_give(&worker->pool, failure->answer);
    failure->answer = NULL;
    origin_rare_own(origin)->failure = failure;
}

void tr__failure_return(struct worker *worker, struct cell *child, struct failure *failure,
                        bool is_lent)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    struct cell_origin *origin = child->origin;
    origin->is_away = false;
    struct failure *kept = origin_rare(origin)->failure;
    if (!kept)
        kept = tr__failure_new(worker, child);
    origin_rare_own(origin)->failure = kept;
    if (kept) {
        source_resize(&worker->source, kept->times, 0);
        kept->times = failure->times;
        kept->first = failure->first;
        kept->count = failure->count;
        kept->capacity = failure->capacity;
        kept->attempts = failure->attempts;
        kept->last_ns = failure->last_ns;
        kept->incarnation = failure->incarnation;
        failure->times = NULL;
        failure->count = 0;
        failure->capacity = 0;
    }
    if (!is_lent)
        tr__failure_free(worker, failure);
}

void tr__failure_forget(const struct memory_source *source, struct failure *failure)
{
    if (!failure)
        return;
    TR_ASSERT(!failure->answer && !failure->origin && !timer_is_armed(&failure->delay));
    source_resize(source, failure->times, 0);
    source_resize(source, failure, 0);
}
