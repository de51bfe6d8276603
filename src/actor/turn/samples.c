/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/turn/samples.h"

#include <string.h>

#include "actor/cell/cell.h"
#include "actor/cell/dispatch.h"
#include "actor/cell/samples.h"
#include "actor/cell/system.h"
#include "actor/cell/view.h"
#include "actor/mail/address.h"
#include "actor/mail/capacity.h"
#include "base/hash.h"

/*
 * Returns the entry of a handler in the table. Makes the entry if there is none. Returns NULL if
 * the table is full.
 */
static struct turn_sample *entry_of(struct worker *worker, const tr_handler *handler,
                                    const tr_behavior *behavior)
{
    struct turn_sample *table = atomptr_load(&worker->samples->table, ATOM_RELAXED);
    size_t at = ((uintptr_t)handler >> 4) % SAMPLE_HANDLERS;
    for (size_t i = 0; i < SAMPLE_HANDLERS; i++) {
        struct turn_sample *entry = &table[(at + i) % SAMPLE_HANDLERS];
        const tr_handler *found = atomptr_load(&entry->handler, ATOM_RELAXED);
        if (found == handler)
            return entry;
        if (found)
            continue;
        entry->behavior = behavior;
        /* pairs with observe/handlers.c */
        atomptr_store(&entry->handler, (void *)(uintptr_t)handler, ATOM_RELEASE);
        return entry;
    }
    return NULL;
}

static void note(struct worker *worker, const tr_handler *handler, const tr_behavior *behavior,
                 tr_time took_ns)
{
    struct turn_sample *entry = entry_of(worker, handler, behavior);
    uint32_t weight = worker->samples->weight;
    if (!entry) {
        atom64_count(&worker->samples->left_out, 1);
        return;
    }
    size_t bucket = 0;
    for (tr_time end_ns = SAMPLE_FIRST_NS; bucket < SAMPLE_BUCKETS - 1 && took_ns >= end_ns;
         bucket++)
        end_ns *= SAMPLE_FACTOR;
    atom64_count(&entry->buckets[bucket], weight);
    atom64_count(&entry->sum_ns, (uint64_t)took_ns * weight);
    if ((uint64_t)took_ns > atom64_load(&entry->longest_ns, ATOM_RELAXED))
        atom64_store(&entry->longest_ns, (uint64_t)took_ns, ATOM_RELAXED);
    atom64_count(&entry->weight, weight);
    atom64_count(&entry->count, 1);
}

/* ---- Flows. ---- */

void tr__samples_sender(struct tr_self *self)
{
    TR_ASSERT_SLOW(worker_is_mine(self->worker));
    struct worker_samples *samples = self->worker->samples;
    if (!samples->is_timing)
        return;
    samples->type = self->envelope->type;
    samples->kind = self->envelope->kind;
    samples->sender = turn_sender(self);
}

bool tr__samples_may_be_slow(struct tr_self *self)
{
    struct worker *worker = self->worker;
    const struct slow_turns *slow = &worker->samples->slow;
    TR_ASSERT_SLOW(worker_is_mine(worker));
    if (!worker->samples->is_timing || !worker->samples->behavior)
        return false;
    const struct turn_sample *entry = entry_of(worker, self->handler, worker->samples->behavior);
    tr_time least_ns = INT64_MAX;
    for (size_t i = 0; i < SLOW_TURNS; i++) {
        tr_time took_ns = slow->turns[i].number ? slow->turns[i].took_ns : 0;
        least_ns = took_ns < least_ns ? took_ns : least_ns;
    }
    return entry && (tr_time)atom64_load(&entry->longest_ns, ATOM_RELAXED) >= least_ns;
}

void tr__samples_followed(struct tr_self *self, uint64_t record)
{
    struct worker_samples *samples = self->worker->samples;
    TR_ASSERT_SLOW(worker_is_mine(self->worker));
    if (!samples->is_timing)
        return;
    samples->record = record;
    samples->causal = self->causal;
}

/*
 * Returns from what kind of sender the message of a turn came. Sets *from to the behavior of the
 * sender, or to NULL.
 */
static enum flow_origin origin_of(struct worker *worker, const tr_behavior **from)
{
    const struct worker_samples *samples = worker->samples;
    const struct cell *cell = view_find(worker->system->slots, samples->sender);
    const struct dispatch *dispatch = cell ? ATOM_PEEK(&cell->dispatch) : NULL;
    *from = NULL;
    if (samples->kind == ENVELOPE_EVENT)
        return FLOW_TIMER;
    if (samples->kind == ENVELOPE_CHANNEL)
        return FLOW_CHANNEL;
    if (!samples->sender || (cell && (cell_is_client(cell) || !dispatch)))
        return FLOW_OUTSIDE;
    if (!cell)
        return FLOW_GONE;
    *from = dispatch->behavior;
    return FLOW_ACTOR;
}

/*
 * Returns the entry of a flow in the table. Makes the entry if there is none. Returns NULL if the
 * table is full.
 */
static struct turn_flow *flow_of(struct worker *worker, enum flow_origin origin,
                                 const tr_behavior *from)
{
    const struct worker_samples *samples = worker->samples;
    struct turn_flow *table = atomptr_load(&samples->flows, ATOM_RELAXED);
    uint64_t key = (uintptr_t)from ^ hash_mix((uintptr_t)samples->behavior + origin) ^
                   hash_mix((uintptr_t)samples->type);
    size_t at = hash_mix(key) % SAMPLE_FLOWS;
    for (size_t i = 0; i < SAMPLE_FLOWS; i++) {
        struct turn_flow *flow = &table[(at + i) % SAMPLE_FLOWS];
        const tr_type *type = atomptr_load(&flow->type, ATOM_RELAXED);
        if (type == samples->type && flow->from == from && flow->to == samples->behavior &&
            flow->origin == origin)
            return flow;
        if (type)
            continue;
        flow->from = from;
        flow->to = samples->behavior;
        flow->origin = (uint8_t)origin;
        /* pairs with observe/flow.c */
        atomptr_store(&flow->type, (void *)(uintptr_t)samples->type, ATOM_RELEASE);
        return flow;
    }
    return NULL;
}

/* Makes the table of flows, if there is none. Returns false when out of memory. */
static bool flows_ready(struct worker *worker)
{
    if (atomptr_load(&worker->samples->flows, ATOM_RELAXED))
        return true;
    size_t size = SAMPLE_FLOWS * sizeof(struct turn_flow);
    struct turn_flow *table = source_resize(&worker->source, NULL, size);
    if (!table)
        return false;
    memset(table, 0, size);
    atomptr_store(&worker->samples->flows, table, ATOM_RELEASE); /* pairs with observe/flow.c */
    return true;
}

/* Adds the timed turn to its flow, if its sender was noted. */
static void note_flow(struct worker *worker)
{
    struct worker_samples *samples = worker->samples;
    if (!samples->type || !flows_ready(worker))
        return;
    const tr_behavior *from;
    enum flow_origin origin = origin_of(worker, &from);
    struct turn_flow *flow = flow_of(worker, origin, from);
    atom64_count(&samples->flow_weight, samples->weight);
    atom64_count(flow ? &flow->weight : &samples->flow_left_out, samples->weight);
    samples->type = NULL;
}

/* ---- Times. ---- */

/*
 * Counts the turn that was to be timed and has waited instead. Its time is not known. Called at the
 * next run, because until then the worker still has the handler of that turn.
 */
static void note_waited(struct worker *worker)
{
    struct worker_samples *samples = worker->samples;
    const tr_behavior *behavior = samples->behavior;
    const tr_handler *handler = worker_handler(worker);
    samples->is_timing = false;
    if (!behavior || !handler)
        return;
    note_flow(worker);
    uintptr_t first = (uintptr_t)behavior->handlers;
    uintptr_t end = first + behavior->handler_count * behavior->handler_size;
    if ((uintptr_t)handler < first || (uintptr_t)handler >= end)
        return;
    struct turn_sample *entry = entry_of(worker, handler, behavior);
    if (!entry) {
        atom64_count(&samples->left_out, 1);
        return;
    }
    atom64_count(&entry->waited, samples->weight);
    atom64_count(&entry->count, 1);
}

/* Keeps the record of a turn, if this turn is one of the slowest. */
static void note_slow(struct worker *worker, const struct slow_turn *turn)
{
    struct slow_turns *slow = &worker->samples->slow;
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

/*
 * Returns how many turns a run of this actor would have now: one for each message that waits, but
 * at most `turns_max`.
 */
static uint32_t turns_expected(const struct cell *cell, const tr_behavior *behavior,
                               uint32_t turns_max)
{
    uint64_t word = capacity_load(&cell->door.capacity);
    int32_t queued = mail_bound_of(behavior).messages - capacity_messages(word) -
                     (int32_t)(cell->stock & 0xffff);
    return queued < 1 ? 1 : (uint32_t)queued < turns_max ? (uint32_t)queued : turns_max;
}

/*
 * Gives the usual hooks back to the loop. If a shutdown has replaced the hooks meanwhile, does
 * nothing.
 */
static void disarm(struct worker *worker)
{
    struct worker_samples *samples = worker->samples;
    if (worker->loop.hooks == &samples->hooks)
        worker->loop.hooks = samples->usual;
}

static void timed_end(struct worker *worker, uint64_t ref, tr_time begin_ns, tr_time ended_ns)
{
    const struct worker_samples *samples = worker->samples;
    const tr_handler *handler = worker_handler(worker);
    if (!handler || !samples->behavior)
        return;
    const struct slow_turn turn = {.ref = ref,
                                   .causal = samples->record ? samples->causal
                                                             : worker->turns.message->causal,
                                   .record = samples->record,
                                   .behavior = samples->behavior,
                                   .handler = handler,
                                   .ended_ns = ended_ns,
                                   .took_ns = ended_ns - begin_ns};
    note(worker, handler, samples->behavior, turn.took_ns);
    note_flow(worker);
    note_slow(worker, &turn);
}

/*
 * Chooses how many runs are skipped before the next timed run: a random number below `range`.
 * timed_run passes 2 * `odds` - 1, so that `odds` - 1 runs are skipped on average.
 */
static void choose_skip(struct worker_samples *samples, uint32_t range)
{
    samples->random = hash_mix(samples->random + 1);
    samples->skip = (uint32_t)(samples->random % range);
}

/*
 * Times one turn of a run. The hooks stay in place, because only the next run can find out that
 * this turn waits.
 */
static uint32_t timed_run(struct worker *worker, struct task *task, const struct loop_hooks *usual)
{
    struct worker_samples *samples = worker->samples;
    struct loop *loop = &worker->loop;
    const struct cell *cell = cell_of_task(task);
    const struct dispatch *dispatch = cell->dispatch;
    uint64_t ref = cell->identity; /* read now, because the actor may end in its turn */
    const tr_platform *platform = loop->platform;
    uint64_t mine = ++samples->last;
    samples->behavior = dispatch ? dispatch->behavior : NULL;
    samples->weight =
        samples->behavior ? turns_expected(cell, samples->behavior, TR_RUN_TURNS_MAX) : 1;
    samples->rest = samples->weight > 1 ? cell : NULL;
    samples->weight *= samples->odds * samples->scale;
    samples->type = NULL;
    samples->record = 0;
    samples->is_timing = true;
    if (++samples->taken % SAMPLE_TAKEN_MAX == 0 && samples->odds < SAMPLE_ODDS_MAX)
        samples->odds *= 2;
    choose_skip(samples, 2 * samples->odds - 1);
    worker_set_handler(worker, NULL);
    tr_time begin_ns = platform->mono_now(platform);
    uint32_t turns = ATOM_PEEK(&usual->run)(loop, task, 1);
    tr_time ended_ns = platform->mono_now(platform);
    if (!samples->is_timing || samples->last != mine)
        return turns; /* the timed turn has waited, and a later run has already counted it */
    samples->is_timing = false;
    if (turns == 1)
        timed_end(worker, ref, begin_ns, ended_ns);
    return turns;
}

/* The function `run` of the loop's hooks in an open round. */
static uint32_t sample_run(struct loop *loop, struct task *task, uint32_t turns_max)
{
    struct worker *worker = worker_of_loop(loop);
    struct worker_samples *samples = worker->samples;
    const struct loop_hooks *usual = samples->usual;
    if (samples->is_timing)
        note_waited(worker);
    if ((tr_time)atom64_load(&worker->system->samples->until_ns, ATOM_RELAXED) <= loop->now_ns) {
        disarm(worker);
        return ATOM_PEEK(&usual->run)(loop, task, turns_max);
    }
    loop_call_back(loop); /* return to the loop after each actor, because each run is counted */
    if (cell_of_task(task) == samples->rest) {
        samples->rest =
            /*
             * These turns are the rest of the run of which one turn was timed. The sample of that
             * turn counts for them too.
             */
            NULL;
        return ATOM_PEEK(&usual->run)(loop, task, turns_max);
    }
    samples->runs++;
    if (!samples->skip)
        return timed_run(worker, task, usual);
    samples->skip--;
    return ATOM_PEEK(&usual->run)(loop, task, turns_max);
}

/* Ends an open round. If the round had many runs, chooses how many rounds after it are skipped. */
static void round_close(struct worker *worker)
{
    struct worker_samples *samples = worker->samples;
    if (samples->is_timing)
        note_waited(worker);
    disarm(worker);
    samples->rest = NULL; /* the cell may get another actor before the next open round */
    uint32_t scale = samples->runs / SAMPLE_RUNS;
    samples->scale = scale < 1 ? 1 : scale < SAMPLE_SCALE_MAX ? scale : SAMPLE_SCALE_MAX;
    samples->random = hash_mix(samples->random + 1);
    samples->gap = (uint32_t)(samples->random % (2 * samples->scale - 1));
}

/*
 * Makes the table of handlers. If there is one, but a tool has begun to look again after a pause,
 * empties the table. Returns false when out of memory.
 */
static bool table_ready(struct worker *worker)
{
    struct worker_samples *samples = worker->samples;
    uint32_t generation = atom32_load(&worker->system->samples->generation, ATOM_RELAXED);
    struct turn_sample *table = atomptr_load(&samples->table, ATOM_RELAXED);
    if (table && samples->generation == generation)
        return true;
    if (!table) {
        size_t size = SAMPLE_HANDLERS * sizeof(struct turn_sample);
        table = source_resize(&worker->source, NULL, size);
        if (!table)
            return false;
        memset(table, 0, size);
        lock_init(&samples->slow.lock);
        samples->random = hash_mix((uint64_t)(uintptr_t)worker);
        atomptr_store(&samples->table, table, ATOM_RELEASE); /* pairs with observe/handlers.c */
    }
    samples->generation = generation;
    atom64_store(&samples->handled_before,
                 atom64_load(&worker->counters.handled, ATOM_RELAXED),
                 ATOM_RELAXED);
    for (size_t i = 0; i < SAMPLE_HANDLERS; i++) {
        struct turn_sample *entry = &table[i];
        atom64_store(&entry->count, 0, ATOM_RELAXED);
        atom64_store(&entry->weight, 0, ATOM_RELAXED);
        atom64_store(&entry->waited, 0, ATOM_RELAXED);
        atom64_store(&entry->sum_ns, 0, ATOM_RELAXED);
        atom64_store(&entry->longest_ns, 0, ATOM_RELAXED);
        for (size_t j = 0; j < SAMPLE_BUCKETS; j++)
            atom64_store(&entry->buckets[j], 0, ATOM_RELAXED);
    }
    return true;
}

void tr__samples_arm(struct worker *worker)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    struct worker_samples *samples = worker->samples;
    struct loop *loop = &worker->loop;
    if (loop->hooks == &worker->shutdown.stats.hooks)
        return;
    if (loop->hooks == &samples->hooks)
        round_close(worker);
    if (samples->gap) {
        samples->gap--;
        return;
    }
    if (!table_ready(worker))
        return;
    if (!samples->scale)
        samples->scale = 1;
    samples->odds = SAMPLE_ODDS_MIN;
    samples->runs = samples->taken = 0;
    samples->is_timing = false;
    choose_skip(samples, samples->odds);
    samples->usual = loop->hooks;
    samples->hooks = loop_hooks_with(loop->hooks, sample_run);
    loop->hooks = &samples->hooks;
}

void tr__samples_free(struct worker *worker)
{
    source_resize(&worker->source, atomptr_load(&worker->samples->table, ATOM_RELAXED), 0);
    atomptr_store(&worker->samples->table, NULL, ATOM_RELAXED);
    source_resize(&worker->source, atomptr_load(&worker->samples->flows, ATOM_RELAXED), 0);
    atomptr_store(&worker->samples->flows, NULL, ATOM_RELAXED);
}
