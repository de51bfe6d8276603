/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/turn/samples.h"

#include <string.h>

#include "actor/cell/cell.h"
#include "actor/cell/dispatch.h"

/* Returns the entry of a handler, and makes it if needed; NULL: the table is full. */
static struct turn_sample *entry_of(struct worker *worker, const tr_handler *handler,
                                    const tr_behavior *behavior)
{
    struct turn_sample *table = atomptr_load(&worker->samples.table, ATOM_RELAXED);
    size_t at = ((uintptr_t)handler >> 4) % SAMPLE_HANDLERS;
    for (size_t i = 0; i < SAMPLE_HANDLERS; i++) {
        struct turn_sample *entry = &table[(at + i) % SAMPLE_HANDLERS];
        const tr_handler *found = atomptr_load(&entry->handler, ATOM_RELAXED);
        if (found == handler)
            return entry;
        if (found)
            continue;
        entry->behavior = behavior;
        /* partner: observe/handlers.c */
        atomptr_store(&entry->handler, (void *)(uintptr_t)handler, ATOM_RELEASE);
        return entry;
    }
    return NULL;
}

static void note(struct worker *worker, const tr_handler *handler, const tr_behavior *behavior,
                 tr_time took_ns)
{
    struct turn_sample *entry = entry_of(worker, handler, behavior);
    if (!entry) {
        atom64_count(&worker->samples.left_out, 1);
        return;
    }
    size_t bucket = 0;
    for (tr_time end_ns = SAMPLE_FIRST_NS; bucket < SAMPLE_BUCKETS - 1 && took_ns >= end_ns;
         bucket++)
        end_ns *= SAMPLE_FACTOR;
    atom64_count(&entry->buckets[bucket], 1);
    atom64_count(&entry->sum_ns, (uint64_t)took_ns);
    if ((uint64_t)took_ns > atom64_load(&entry->longest_ns, ATOM_RELAXED))
        atom64_store(&entry->longest_ns, (uint64_t)took_ns, ATOM_RELAXED);
    atom64_count(&entry->count, 1);
}

/* Keeps the record of a turn, if it is one of the slowest. */
static void note_slow(struct worker *worker, const struct slow_turn *turn)
{
    struct slow_turns *slow = &worker->samples.slow;
    struct slow_turn *place = NULL;
    for (size_t i = 0; i < SLOW_TURNS; i++) {
        struct slow_turn *kept = &slow->turns[i];
        bool is_free = !kept->number || turn->ended_ns - kept->ended_ns > SLOW_SECONDS * TR_SECOND;
        if (is_free) {
            place = kept;
            break;
        }
        if (kept->took_ns < turn->took_ns && (!place || kept->took_ns < place->took_ns))
            place = kept;
    }
    if (!place || !lock_try(&slow->lock))
        return;
    *place = *turn;
    place->number = ++slow->last;
    lock_give(&slow->lock);
}

/* Runs one actor and measures its first turn. Replaces loop_hooks.run for one run. */
static uint32_t sample_run(struct loop *loop, struct task *task, uint32_t turns_max)
{
    struct worker *worker = worker_of_loop(loop);
    const struct loop_hooks *usual = worker->samples.usual;
    const struct dispatch *dispatch = cell_of_task(task)->dispatch;
    const tr_behavior *behavior = dispatch ? dispatch->behavior : NULL;
    /* read now, because the actor may end in its turn */
    uint64_t ref = cell_of_task(task)->identity;
    const tr_platform *platform = loop->platform;
    (void)turns_max;
    /*
     * Restore the usual hooks now, because a turn that waits does not return here. A shutdown may
     * have replaced the hooks already.
     */
    if (loop->hooks == &worker->samples.hooks)
        loop->hooks = usual;
    loop_call_back(loop); /* run one actor only */
    worker_set_handler(worker, NULL);
    tr_time begin_ns = platform->mono_now(platform);
    uint32_t turns = ATOM_PEEK(&usual->run)(loop, task, 1);
    tr_time ended_ns = platform->mono_now(platform);
    const tr_handler *handler = worker_handler(worker);
    if (!handler || !behavior || turns != 1)
        return turns;
    const struct slow_turn turn = {.ref = ref,
                                   .causal = worker->turns.message->causal,
                                   .behavior = behavior,
                                   .handler = handler,
                                   .ended_ns = ended_ns,
                                   .took_ns = ended_ns - begin_ns};
    note(worker, handler, behavior, turn.took_ns);
    note_slow(worker, &turn);
    return turns;
}

void tr__samples_arm(struct worker *worker)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    struct worker_samples *samples = &worker->samples;
    struct loop *loop = &worker->loop;
    if (loop->hooks == &samples->hooks || loop->hooks == &worker->shutdown.stats.hooks)
        return;
    if (!atomptr_load(&samples->table, ATOM_RELAXED)) {
        size_t size = SAMPLE_HANDLERS * sizeof(struct turn_sample);
        void *table = source_resize(&worker->source, NULL, size);
        if (!table)
            return;
        memset(table, 0, size);
        lock_init(&samples->slow.lock);
        atomptr_store(&samples->table, table, ATOM_RELEASE); /* partner: observe/handlers.c */
    }
    samples->usual = loop->hooks;
    samples->hooks = loop_hooks_with(loop->hooks, sample_run);
    loop->hooks = &samples->hooks;
}

void tr__samples_free(struct worker *worker)
{
    source_resize(&worker->source, atomptr_load(&worker->samples.table, ATOM_RELAXED), 0);
    atomptr_store(&worker->samples.table, NULL, ATOM_RELAXED);
}
