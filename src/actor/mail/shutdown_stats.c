/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/mail/shutdown_stats.h"

#include "actor/cell/system.h"
#include "actor/cell/view.h"
#include "base/assert.h"
#include "actor/mail/dead_letter_batch.h"

static struct shutdown_stats_entry *entry_of(struct tr_system *system, uint32_t slot)
{
    struct shutdown_stats *shutdown_stats = &system->ending.shutdown_stats;
    struct shutdown_stats_entry *entries = atomptr_load(
        &shutdown_stats->entries, ATOM_ACQUIRE); /* pairs with tr__shutdown_stats_open */
    return entries && slot < shutdown_stats->count ? &entries[slot] : NULL;
}

void tr__shutdown_stats_open(struct tr_system *system)
{
    struct shutdown_stats *shutdown_stats = &system->ending.shutdown_stats;
    uint32_t count = tr__slots_used(system->slots);
    struct shutdown_stats_entry *entries =
        source_resize(&system->source, NULL, count * sizeof *entries);
    if (!entries)
        return;
    for (uint32_t i = 0; i < count; i++) {
        atom32_init(&entries[i].handled, 0);
        atom32_init(&entries[i].dead, 0);
    }
    shutdown_stats->count = count;
    atomptr_store(&shutdown_stats->entries, entries, ATOM_RELEASE); /* pairs with entry_of */
}

void tr__shutdown_stats_free(struct tr_system *system)
{
    struct shutdown_stats *shutdown_stats = &system->ending.shutdown_stats;
    source_resize(&system->source, atomptr_load(&shutdown_stats->entries, ATOM_ACQUIRE), 0);
    atomptr_store(&shutdown_stats->entries, NULL, ATOM_RELAXED);
}

/*
 * Adds to a number that any thread may write. The sum stays below SHUTDOWN_STATS_ENDED. A number
 * that is SHUTDOWN_STATS_ENDED already does not change.
 */
static void add(atom32 *number, uint64_t more)
{
    uint32_t before = atom32_load(number, ATOM_RELAXED);
    uint32_t after;
    do {
        if (before == SHUTDOWN_STATS_ENDED)
            return;
        uint32_t capacity = SHUTDOWN_STATS_ENDED - 1 - before;
        after = more < capacity ? before + (uint32_t)more : SHUTDOWN_STATS_ENDED - 1;
    } while (!atom32_compare_exchange(number, &before, after, ATOM_RELAXED, ATOM_RELAXED));
}

/*
 * Counts the messages that the worker has handled since its last run began. They count for the
 * actor of that run. Returns the number of messages that the worker has handled so far.
 */
static uint64_t add_run(struct worker *worker)
{
    struct shutdown_stats_runs *runs = &worker->shutdown.stats;
    uint32_t slot = atom32_load(&runs->slot, ATOM_RELAXED);
    uint64_t handled = atom64_load(&worker->counters.handled, ATOM_RELAXED);
    uint64_t more = handled - atom64_load(&runs->handled, ATOM_RELAXED);
    struct shutdown_stats_entry *entry = more && slot ? entry_of(worker->system, slot) : NULL;
    if (entry)
        add(&entry->handled, more);
    return handled;
}

void tr__shutdown_stats_add_run(struct worker *worker)
{
    (void)add_run(worker);
}

static void settle(struct worker *worker)
{
    atom64_store(&worker->shutdown.stats.handled, add_run(worker), ATOM_RELAXED);
}

static uint32_t counted_run(struct loop *loop, struct task *task, uint32_t turns_max)
{
    struct worker *worker = worker_of_loop(loop);
    const struct cell *cell = cell_of_task(task);
    settle(worker);
    if (!(atom32_load(&cell->control, ATOM_RELAXED) & CONTROL_KILL))
        /* hand in dead letters now, because the handler may never return */
        tr__dead_letter_batches_end(worker);
    uint32_t slot = slots_number(worker->slots, cell);
    atom32_store(&worker->shutdown.stats.slot, slot, ATOM_RELAXED);
    return worker->shutdown.stats.run(loop, task, turns_max);
}

void tr__shutdown_stats_begin(struct worker *worker)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    struct shutdown_stats_runs *runs = &worker->shutdown.stats;
    if (runs->run || !atomptr_load(&worker->system->ending.shutdown_stats.entries, ATOM_ACQUIRE))
        return;
    runs->run = ATOM_PEEK(&worker->loop.hooks->run);
    runs->hooks = loop_hooks_with(worker->loop.hooks, counted_run);
    uint64_t handled = atom64_load(&worker->counters.handled, ATOM_RELAXED);
    uint32_t slot = slots_number(worker->slots, worker_running(worker));
    atom64_store(&runs->handled, handled, ATOM_RELAXED);
    atom32_store(&runs->slot, slot, ATOM_RELAXED);
    worker->loop.hooks = &runs->hooks;
    loop_call_back(&worker->loop);
}

void tr__shutdown_stats_dead(struct tr_system *system, uint64_t ref, uint32_t count)
{
    struct shutdown_stats_entry *entry = NULL;
    if (view_find(system->slots, ref))
        entry = entry_of(system, (uint32_t)ref & system->slots->mask);
    if (entry)
        add(&entry->dead, count);
}

bool tr__shutdown_stats_take(struct worker *worker, const struct cell *cell, uint32_t *handled,
                             uint32_t *dead)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    struct shutdown_stats_entry *entry =
        entry_of(worker->system, slots_number(worker->slots, cell));
    if (!entry)
        return false;
    settle(worker);
    *dead = atom32_exchange(&entry->dead, SHUTDOWN_STATS_ENDED, ATOM_RELAXED);
    *handled = atom32_exchange(&entry->handled, SHUTDOWN_STATS_ENDED, ATOM_RELAXED);
    /* If the entry is marked already, the end of an earlier tenant of the slot has taken the numbers. */
    return *dead != SHUTDOWN_STATS_ENDED;
}

bool tr__shutdown_stats_look(struct tr_system *system, uint32_t slot, uint32_t *handled,
                             uint32_t *dead)
{
    struct shutdown_stats_entry *entry = entry_of(system, slot);
    if (!entry)
        return false;
    *dead = atom32_load(&entry->dead, ATOM_RELAXED);
    *handled = atom32_load(&entry->handled, ATOM_RELAXED);
    return *dead != SHUTDOWN_STATS_ENDED && (*dead || *handled);
}
