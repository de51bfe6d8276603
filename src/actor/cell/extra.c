/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/cell/extra.h"

#include "actor/cell/cell.h"
#include "actor/cell/worker.h"
#include "base/assert.h"

/*
 * The largest number of unused extras that a worker keeps. It is an estimate of how many sessions of a worker
 * wait for an answer at the same time.
 */
enum { SPARES_MAX = 64 };

/** A link in the list of unused extras that a worker keeps. It is in the memory of the extra. */
struct extra_spare {
    struct extra_spare *next;
    uint32_t count; /* number of extras from this one to the end of the list */
};

static_assert(sizeof(struct extra_spare) <= sizeof(struct cell_extra),
              "a spare is in the memory of a record");

/* Takes one of the unused extras that the worker keeps. Returns NULL if there is none. */
static struct cell_extra *spare_take(struct worker *worker)
{
    struct extra_spare *spare = worker->turns.extras;
    if (spare)
        worker->turns.extras = spare->next;
    return (struct cell_extra *)(void *)spare;
}

/* Keeps an extra for a later spare_take. If the worker keeps SPARES_MAX already, frees the extra. */
static void spare_give(struct worker *worker, struct cell_extra *extra)
{
    struct extra_spare *next = worker->turns.extras;
    uint32_t count = next ? next->count : 0;
    if (count == SPARES_MAX) {
        source_resize(&worker->source, extra, 0);
        return;
    }
    struct extra_spare *spare = (struct extra_spare *)(void *)extra;
    *spare = (struct extra_spare){.next = next, .count = count + 1};
    worker->turns.extras = spare;
}

/*
 * Makes the extra of an actor. This is a function of its own, so that access to an existing extra
 * needs no call. A session that asks another actor for each piece of its input needs a new extra
 * each time. So this function first looks for an unused extra that the worker keeps.
 */
__attribute__((__noinline__)) static struct cell_extra *extra_new(struct worker *worker,
                                                                  struct cell *cell)
{
    struct cell_extra *extra = spare_take(worker);
    if (!extra)
        extra = source_resize(&worker->source, NULL, sizeof *extra);
    if (!extra)
        return NULL;
    *extra = (struct cell_extra){.cell = cell, .asks.table.last = worker->asks.last};
    list_init(&extra->parked.turns);
    list_init(&extra->waits.born);
    list_init(&extra->waits.line);
    list_init(&extra->asks.laters);
    list_init(&extra->supervision.returns);
    list_init(&extra->supervision.pasts);
    cell->extra = extra;
    return extra;
}

static_assert(sizeof(struct cell_extra) == 416, "the next functions know all members");

static bool has_turns(const struct cell_extra *extra)
{
    const struct extra_parked *parked = &extra->parked;
    const struct extra_waits *waits = &extra->waits;
    return parked->count || parked->abandons || parked->woken_first ||
           !list_is_empty(&parked->turns) || !list_is_empty(&waits->born) ||
           !list_is_empty(&waits->line) || waits->barriers || waits->blocked || waits->stuck ||
           waits->holds_stop;
}

static bool has_mail(const struct cell_extra *extra)
{
    const struct extra_asks *asks = &extra->asks;
    const struct extra_mail *mail = &extra->mail;
    const struct extra_senders *senders = &extra->senders;
    return asks->table.newest || asks->table.count || asks->table.slots || asks->then_count ||
           !list_is_empty(&asks->laters) || mail->requests || mail->held || mail->late ||
           mail->part != CYCLE_ANY || mail->is_impure || extra->stash.ring || senders->ring ||
           senders->reserved || senders->reserved_lines || senders->is_serving;
}

static bool has_history(const struct cell_extra *extra)
{
    const struct extra_timers *timers = &extra->timers;
    const struct extra_supervision *supervision = &extra->supervision;
    return timers->keys.count || timers->loose.count || timers->parcel || timers->aliases ||
           timers->lines || extra->budget || extra->watches.table.slots || extra->watches.packed ||
           supervision->failure || supervision->failed || !list_is_empty(&supervision->returns) ||
           !list_is_empty(&supervision->pasts) || supervision->group || supervision->failed_ns ||
           supervision->significant || supervision->is_away || supervision->keeps_places ||
           extra->durable;
}

void tr__extra_rest(struct worker *worker, struct cell *cell)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    struct cell_extra *extra = cell->extra;
    /* While one of these flags is set, code takes for granted that the extra exists. */
    const int bound = CELL_WOKEN | CELL_BARRIER | CELL_METERED | CELL_BY_KIND | CELL_SUSPENDED |
                      CELL_HAS_WAITING_SENDERS;
    if (!extra || cell->life != LIFE_RUNNING || cell->flags & bound || has_turns(extra) ||
        has_mail(extra) || has_history(extra))
        return;
    uint32_t last = extra->asks.table.last;
    if ((int32_t)(last - worker->asks.last) > 0)
        worker->asks.last = last;
    cell->extra = NULL;
    spare_give(worker, extra);
}

void tr__extras_free(struct worker *worker)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    struct cell_extra *extra;
    while ((extra = spare_take(worker)))
        source_resize(&worker->source, extra, 0);
}

struct cell_extra *tr__extra_of(struct worker *worker, struct cell *cell)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    TR_ASSERT(cell->life != LIFE_NEW || cell_owner(cell) == worker->index);
    return cell->extra ? cell->extra : extra_new(worker, cell);
}

void tr__extra_note_suspend(struct worker *worker, struct cell *cell, uint64_t who)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    bool is_up = cell->life == LIFE_RUNNING || cell->life == LIFE_SUSPENDED;
    if (!is_up || cell->flags & CELL_SUSPEND_WANTED)
        return;
    struct cell_extra *extra = tr__extra_of(worker, cell);
    if (!extra)
        return; /* if there is no memory, tr_actor_why cannot say which actor suspended this one */
    extra->suspended.by = who;
    extra->suspended.since_ns = worker->loop.now_ns;
}
