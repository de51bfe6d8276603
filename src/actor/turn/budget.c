/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/turn/budget.h"

#include <stdio.h>

#include "actor/cell/channel.h"
#include "actor/cell/dispatch.h"
#include "actor/cell/extra.h"
#include "actor/cell/log.h"
#include "actor/cell/names.h"
#include "actor/cell/slots.h"
#include "actor/cell/upcalls.h"
#include "actor/cell/verb.h"
#include "actor/cell/watch_table.h"
#include "actor/mail/mail.h"
#include "actor/turn/stack.h"
#include "base/assert.h"
#include "mem/heap.h"

enum { LINE = 64 };

static struct budget *budget_of(const struct cell *cell)
{
    TR_ASSERT(cell->flags & CELL_METERED);
    return cell->extra->budget;
}

static bool is_timed(const struct cell *cell)
{
    return cell && cell->flags & CELL_METERED && cell->extra->budget->is_timed;
}

static tr_time clock_of(const struct worker *worker)
{
    const tr_platform *platform = worker->system->platform;
    return platform->mono_now(platform);
}

static struct budget_part *part_of(const struct worker *worker, struct budget_tree *tree)
{
    TR_ASSERT(worker->index < tree->part_count);
    return &tree->parts[worker->index];
}

static int64_t tree_bytes(const struct budget_tree *tree)
{
    return tally_read(&tree->bytes, &tree->parts[0].bytes, tree->part_count, sizeof *tree->parts);
}

static int64_t tree_cpu(const struct budget_tree *tree)
{
    return tally_read(&tree->cpu_ns, &tree->parts[0].cpu_ns, tree->part_count, sizeof *tree->parts);
}

void tr__budget_tree_read(const struct budget_tree *tree, int64_t *bytes, int64_t *cpu_ns)
{
    *bytes = tree_bytes(tree);
    *cpu_ns = tree_cpu(tree);
}

/* ---- Over budget. ---- */

/*
 * Orders an actor to look at its budget: sets CONTROL_BUDGET, and makes its worker look at this
 * bit. By rule 1 the cell does not belong to another actor by now.
 */
static void order(struct worker *worker, struct cell *cell)
{
    tr__child_order(worker, cell, CONTROL_BUDGET);
}

/*
 * Reports that an actor is over its own budget. Does nothing if a report is pending already. Owner
 * only.
 */
static void own_over(struct worker *worker, struct cell *cell, enum budget_kind kind, uint64_t used)
{
    struct budget *budget = budget_of(cell);
    if (budget->over || cell->life >= LIFE_STOPPING)
        return;
    budget->over = kind;
    budget->over_used = used;
    order(worker, cell);
}

/*
 * Reports that a tree is over its budget. Does nothing if a report is pending already. `holder` is
 * the actor that was charged last, which is on this worker; NULL if this actor has ended since.
 */
static void tree_over(struct worker *worker, struct budget_tree *tree, enum budget_kind kind,
                      uint64_t used, const struct cell *holder)
{
    char path[TR_PATH_MAX + 1] = "an actor that has ended";
    if (atom32_exchange(&tree->is_claimed, 1, ATOM_ACQUIRE)) /* pairs with over_forget */
        return;
    if (holder)
        tr__cell_path(worker->system, holder, path);
    tree->over_used = used;
    snprintf(tree->over_holder, sizeof tree->over_holder, "%.127s", path);
    atom32_store(&tree->over, kind, ATOM_RELEASE); /* pairs with tr__budget_handle_control */
    order(worker, tree->cell);
}

/*
 * Compares a tree with its limits. First compares the sum without the parts of other workers,
 * because this sum is cheap to read. If that is over the limit, the sum with all parts decides.
 */
static void tree_check(struct worker *worker, struct budget_tree *tree, const struct cell *holder)
{
    const struct budget_part *part = part_of(worker, tree);
    if (tree->bytes_max && tally_near(&tree->bytes, &part->bytes) > (int64_t)tree->bytes_max) {
        int64_t used = tree_bytes(tree);
        if (used > (int64_t)tree->bytes_max)
            tree_over(worker, tree, BUDGET_BYTES, (uint64_t)used, holder);
    }
    if (tree->cpu_max_ns && tally_near(&tree->cpu_ns, &part->cpu_ns) > tree->cpu_max_ns) {
        int64_t used = tree_cpu(tree);
        if (used > tree->cpu_max_ns)
            tree_over(worker, tree, BUDGET_CPU, (uint64_t)used, holder);
    }
}

static void time_print(char *text, size_t size, uint64_t ns)
{
    snprintf(text,
             size,
             "%llu.%03llu ms",
             (unsigned long long)(ns / 1000000),
             (unsigned long long)(ns / 1000 % 1000));
}

static void error_print(tr_error *error, const struct cell *cell, enum budget_kind kind,
                        uint64_t used, uint64_t limit, const char *holder)
{
    char amount[32];
    char budget[32];
    if (kind == BUDGET_CPU) {
        time_print(amount, sizeof amount, used);
        time_print(budget, sizeof budget, limit);
    } else {
        snprintf(amount, sizeof amount, "%llu bytes", (unsigned long long)used);
        snprintf(budget, sizeof budget, "%llu bytes", (unsigned long long)limit);
    }
    const char *verb = kind == BUDGET_CPU ? "ran for" : "holds";
    if (holder)
        tr__error_set(error,
                      TR_OVER_BUDGET,
                      cell->identity,
                      "tree budget exceeded: %s %s, limit %s; pushed over by %s",
                      verb,
                      amount,
                      budget,
                      holder);
    else
        tr__error_set(error,
                      TR_OVER_BUDGET,
                      cell->identity,
                      "budget exceeded: %s %s, limit %s",
                      verb,
                      amount,
                      budget);
}

/* Forgets that an actor or its tree was over budget, so that the next excess is reported again. */
static void over_forget(struct budget *budget)
{
    struct budget_tree *tree = budget->own_tree;
    budget->over = BUDGET_NONE;
    /*
     * If a worker has claimed the tree but has not set `over` yet, the worker is still writing. Then
     * keep the claim.
     */
    if (!tree || atom32_load(&tree->over, ATOM_ACQUIRE) == BUDGET_NONE)
        return;
    atom32_store(&tree->over, BUDGET_NONE, ATOM_RELAXED);
    atom32_store(&tree->is_claimed, 0, ATOM_RELEASE); /* pairs with tree_over */
}

bool tr__budget_handle_control(struct worker *worker, struct cell *cell)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    struct budget *budget = budget_of(cell);
    const struct budget_tree *tree = budget->own_tree;
    uint32_t tree_kind = tree ? atom32_load(&tree->over, ATOM_ACQUIRE) : BUDGET_NONE;
    tr_error error;
    bool is_over = budget->over != BUDGET_NONE || tree_kind != BUDGET_NONE;
    if (!is_over || cell->flags & CELL_FAILED) {
        /*
         * Either the order was for an earlier incarnation, or the actor has failed already and
         * waits for the decision of its supervisor.
         */
        over_forget(budget);
        return true;
    }
    if (budget->over) {
        error_print(&error,
                    cell,
                    budget->over,
                    budget->over_used,
                    budget->over == BUDGET_CPU ? (uint64_t)budget->cpu_max_ns : budget->bytes_max,
                    NULL);
    } else {
        error_print(&error,
                    cell,
                    (enum budget_kind)tree_kind,
                    tree->over_used,
                    tree_kind == BUDGET_CPU ? (uint64_t)tree->cpu_max_ns : tree->bytes_max,
                    tree->over_holder);
    }
    over_forget(budget);
    tr__cell_fail(worker, cell, NULL, &error);
    return false;
}

/* ---- The bytes and the time of an actor, charged to its trees. ---- */

static size_t channel_bytes(const struct worker *worker, const struct cell *cell)
{
    if (cell->extra && cell->flags & CELL_METERED)
        return cell->extra->budget->channel_bytes;
    return cell->flags & CELL_CHANNELS ? worker->system->channels.hooks->bytes(cell) : 0;
}

size_t tr__cell_bytes(const struct worker *worker, const struct cell *cell)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    size_t bytes = sizeof *cell + (size_t)LINE * cell->queued_lines + tr__heap_bytes(cell->heap);
    if (cell->state && cell->state != cell->state_inline)
        bytes += cell->dispatch->behavior->state_size;
    const struct cell_extra *extra = cell->extra;
    if (extra) {
        bytes += LINE * extra->timers.lines;
        if (extra->timers.keys.bits)
            bytes += sizeof(struct keys_slot) << extra->timers.keys.bits;
        bytes += tr__watch_table_bytes(&extra->watches.table);
    }
    return bytes + channel_bytes(worker, cell);
}

/*
 * Adds a change in what an actor uses to a tree. The change may be negative. The actor must be on
 * this worker.
 */
static void tree_add(struct worker *worker, struct budget_tree *tree, const struct cell *cell,
                     int64_t bytes, tr_time cpu_ns)
{
    struct budget_part *part = part_of(worker, tree);
    if (bytes)
        tally_add(&tree->bytes, &part->bytes, bytes, BUDGET_STEP_BYTES);
    if (cpu_ns)
        tally_add(&tree->cpu_ns, &part->cpu_ns, cpu_ns, tree->cpu_step_ns);
    if (list_is_empty(&part->link))
        list_push_last(&worker->budgets.parts, &part->link);
    if (bytes > 0 || cpu_ns > 0) {
        part->holder = cell->identity;
        tree_check(worker, tree, cell);
    }
}

/*
 * Makes the trees of an actor count `bytes` for the actor. Adds to the trees the difference between
 * `bytes` and what they have counted for the actor before.
 */
static void charge_bytes(struct worker *worker, const struct cell *cell, size_t bytes)
{
    struct budget *budget = budget_of(cell);
    int64_t more = (int64_t)(bytes - budget->charged);
    if (!more)
        return;
    budget->charged = bytes;
    for (struct budget_tree *tree = budget->tree; tree; tree = tree->above)
        tree_add(worker, tree, cell, more, 0);
}

/* Charges the time since mark_ns to an actor and its trees, and sets mark_ns to now. */
static void charge_time(struct worker *worker, const struct cell *cell, tr_time now_ns)
{
    struct budget *budget = budget_of(cell);
    tr_time more_ns = now_ns - worker->budgets.mark_ns;
    worker->budgets.mark_ns = now_ns;
    budget->cpu_ns += more_ns;
    for (struct budget_tree *tree = budget->tree; tree && more_ns; tree = tree->above)
        tree_add(worker, tree, cell, 0, more_ns);
}

/* As tr__budget_look, but counts `more` bytes that tr__cell_bytes does not include yet. */
static void budget_check(struct worker *worker, struct cell *cell, size_t more)
{
    const struct budget *budget = budget_of(cell);
    size_t bytes = tr__cell_bytes(worker, cell) + more;
    charge_bytes(worker, cell, bytes);
    if (budget->bytes_max && bytes > budget->bytes_max)
        own_over(worker, cell, BUDGET_BYTES, bytes);
    if (budget->cpu_max_ns && budget->cpu_ns > budget->cpu_max_ns)
        own_over(worker, cell, BUDGET_CPU, (uint64_t)budget->cpu_ns);
}

void tr__budget_look(struct worker *worker, struct cell *cell)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    budget_check(worker, cell, 0);
}

void tr__budget_channels(struct worker *worker, struct cell *cell, int64_t more)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    struct budget *budget = budget_of(cell);
    TR_ASSERT(more >= 0 || budget->channel_bytes >= (size_t)-more);
    budget->channel_bytes += (size_t)more;
    budget_check(worker, cell, 0);
}

void tr__budget_mail(struct worker *worker, struct cell *cell, const struct envelope *envelope)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    budget_check(worker, cell, (size_t)LINE * mail_lines(envelope));
}

/* ---- Requests for memory. ---- */

/*
 * Returns the innermost tree that would be over its limit if this actor held `bytes` more. Returns
 * NULL if no tree would be.
 */
static struct budget_tree *tree_full(struct worker *worker, const struct cell *cell, size_t bytes)
{
    const struct budget *budget = budget_of(cell);
    int64_t more = (int64_t)(tr__cell_bytes(worker, cell) + bytes - budget->charged);
    for (struct budget_tree *tree = budget->tree; tree; tree = tree->above) {
        int64_t max = (int64_t)tree->bytes_max;
        if (max && tally_near(&tree->bytes, &part_of(worker, tree)->bytes) + more > max &&
            tree_bytes(tree) + more > max)
            return tree;
    }
    return NULL;
}

bool tr__budget_allows(struct worker *worker, struct cell *cell, size_t bytes)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    struct budget *budget = budget_of(cell);
    budget->is_refused = false;
    /* A request that needs no bytes is never refused, even if a budget is exceeded already. */
    if (!bytes)
        return true;
    bool is_full = budget->bytes_max && tr__cell_bytes(worker, cell) + bytes > budget->bytes_max;
    budget->refused_by = is_full ? NULL : tree_full(worker, cell, bytes);
    budget->is_refused = is_full || budget->refused_by;
    if (budget->is_refused)
        return false;
    charge_bytes(worker, cell, tr__cell_bytes(worker, cell) + bytes);
    return true;
}

void tr__budget_refuse(tr_self *self, size_t bytes, size_t asked_for)
{
    struct worker *worker = self->worker;
    const struct cell *cell = self->cell;
    const struct budget *budget = budget_of(cell);
    struct budget_tree *tree = budget->refused_by;
    if (!budget->is_refused)
        return;
    if (!tree)
        tr_crash(self,
                 TR_OVER_BUDGET,
                 "memory budget exceeded: %zu bytes requested, holds %zu, limit %zu",
                 asked_for,
                 tr__cell_bytes(worker, cell),
                 budget->bytes_max);
    char path[TR_PATH_MAX + 1];
    tr__cell_path(worker->system, tree->cell, path);
    /* The trees still count the message of this turn as queued mail, so charge the actor again. */
    charge_bytes(worker, cell, tr__cell_bytes(worker, cell));
    int64_t used = tree_bytes(tree);
    tree_over(worker, tree, BUDGET_BYTES, (uint64_t)used + bytes, cell);
    tr_crash(self,
             TR_OVER_BUDGET,
             "tree budget exceeded: %zu bytes requested, the tree of %.100s holds %lld, limit %zu",
             asked_for,
             path,
             (long long)used,
             tree->bytes_max);
}

/* ---- Turns. ---- */

void tr__budget_turn_begin(struct tr_self *self)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    turn_require_slow_end(self); /* tr__turn_finish calls tr__budget_turn_end */
    /* A later turn of the run needs no mark, because the end of the previous turn has set one. */
    if (self->turns == 1 && is_timed(self->cell))
        self->worker->budgets.mark_ns = clock_of(self->worker);
}

void tr__budget_turn_resume(struct tr_self *self)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    if (is_timed(self->cell))
        self->worker->budgets.mark_ns = clock_of(self->worker);
}

void tr__budget_turn_end(struct tr_self *self)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    if (is_timed(self->cell))
        charge_time(self->worker, self->cell, clock_of(self->worker));
    budget_check(self->worker, self->cell, 0);
}

/*
 * Charges the time until now to `from`, and sets mark_ns to now for `to`, whose user code runs
 * next.
 */
static void switch_time(struct worker *worker, const struct cell *from, const struct cell *to)
{
    if (!is_timed(from) && !is_timed(to))
        return;
    tr_time now_ns = clock_of(worker);
    if (is_timed(from))
        charge_time(worker, from, now_ns);
    worker->budgets.mark_ns = now_ns;
}

void tr__budget_call_begin(struct worker *worker, struct cell *cell)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    /*
     * If the run is still handling orders before its first turn, no user code of the running actor
     * was called yet. Then there is no mark, and nothing to charge.
     */
    bool is_in_turn = worker->turns.depth > 1 || worker->turns.message->turns > 0;
    switch_time(worker, is_in_turn ? worker_running(worker) : NULL, cell);
}

void tr__budget_call_end(struct worker *worker, struct cell *cell)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    switch_time(worker, cell, worker_running(worker));
    if (cell->flags & CELL_METERED)
        budget_check(worker, cell, 0);
}

/* ---- Begin and end. ---- */

static struct budget_tree *tree_new(struct worker *worker, struct cell *cell,
                                    const tr_options *options, struct budget_tree *above)
{
    uint32_t count = worker->system->worker_count;
    size_t size = sizeof(struct budget_tree) + count * sizeof(struct budget_part);
    void *memory = source_resize(&worker->source, NULL, size + LINE);
    if (!memory)
        return NULL;
    uintptr_t aligned = ((uintptr_t)memory + LINE - 1) & ~(uintptr_t)(LINE - 1);
    struct budget_tree *tree = (struct budget_tree *)aligned;
    memset(tree, 0, size);
    tree->above = above;
    tree->cell = cell;
    tree->memory = memory;
    tree->bytes_max =
        options->tree_budget_bytes < INT64_MAX ? options->tree_budget_bytes : INT64_MAX;
    tree->cpu_max_ns = options->tree_budget_cpu_ns;
    tree->cpu_step_ns = BUDGET_STEP_NS / count;
    tree->part_count = count;
    tally_init(&tree->bytes);
    tally_init(&tree->cpu_ns);
    atom32_init(&tree->is_claimed, 0);
    atom32_init(&tree->over, BUDGET_NONE);
    for (uint32_t i = 0; i < count; i++) {
        tally_part_init(&tree->parts[i].bytes);
        tally_part_init(&tree->parts[i].cpu_ns);
        list_init(&tree->parts[i].link);
        tree->parts[i].tree = tree;
    }
    return tree;
}

tr_status tr__budget_begin(struct worker *worker, struct cell *cell, const tr_options *options,
                           struct budget_tree *above)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    TR_ASSERT(!(cell->flags & CELL_METERED));
    struct cell_extra *extra = tr__extra_of(worker, cell);
    if (!extra)
        return TR_NO_MEMORY;
    struct fiber_pool *stacks;
    tr_status status = tr__stacks_pool(worker, options->stack_bytes, &stacks);
    if (status != TR_OK)
        return status;
    struct budget *budget = source_resize(&worker->source, NULL, sizeof *budget);
    if (!budget)
        return TR_NO_MEMORY;
    *budget = (struct budget){.stacks = stacks,
                              .tree = above,
                              .bytes_max = options->budget_bytes,
                              .cpu_max_ns = options->budget_cpu_ns};
    if (options->tree_budget_bytes || options->tree_budget_cpu_ns) {
        budget->own_tree = tree_new(worker, cell, options, above);
        if (!budget->own_tree) {
            source_resize(&worker->source, budget, 0);
            return TR_NO_MEMORY;
        }
        budget->tree = budget->own_tree;
    }
    budget->is_timed = budget->cpu_max_ns > 0;
    for (const struct budget_tree *tree = budget->tree; tree; tree = tree->above)
        budget->is_timed |= tree->cpu_max_ns > 0;
    extra->budget = budget;
    cell->flags |= CELL_METERED;
    /* a session gets its channel before its budget begins, so add the bytes of this channel */
    if (cell->flags & CELL_CHANNELS)
        budget->channel_bytes = worker->system->channels.hooks->on_metered(worker, cell);
    charge_bytes(worker, cell, tr__cell_bytes(worker, cell));
    return TR_OK;
}

/* Adds the sums in a worker's part to its tree, and removes this part from the worker's list. */
static void part_flush(struct budget_part *part)
{
    list_remove(&part->link);
    tally_flush(&part->tree->bytes, &part->bytes);
    tally_flush(&part->tree->cpu_ns, &part->cpu_ns);
}

void tr__budget_end(struct worker *worker, struct cell *cell)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    struct budget *budget = budget_of(cell);
    TR_ASSERT_SLOW(!budget->channel_bytes);
    charge_bytes(worker, cell, 0);
    for (struct budget_tree *tree = budget->tree; tree; tree = tree->above)
        part_flush(part_of(worker, tree));
    if (budget->own_tree && cell->child_count)
        return;
    if (budget->own_tree) {
        TR_ASSERT_SLOW(tree_bytes(budget->own_tree) == 0);
        source_resize(&worker->source, budget->own_tree->memory, 0);
    }
    source_resize(&worker->source, budget, 0);
    cell->extra->budget = NULL;
    cell->flags &= (uint16_t)~CELL_METERED;
}

void tr__budget_renew(struct worker *worker, struct cell *cell)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    struct budget *budget = budget_of(cell);
    struct budget_tree *tree = budget->own_tree;
    charge_bytes(worker, cell, tr__cell_bytes(worker, cell));
    budget->cpu_ns = 0;
    budget->is_refused = false;
    over_forget(budget);
    if (!tree)
        return;
    /* No descendant is left, so nothing is added to the sum between the next two steps. */
    part_flush(part_of(worker, tree));
    atom64_fetch_add(&tree->cpu_ns.handed_in, (uint64_t)-tree_cpu(tree), ATOM_RELAXED);
}

void tr__budget_flush(struct worker *worker)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    LIST_EACH (link, &worker->budgets.parts) {
        struct budget_part *part = LIST_OWNER(link, struct budget_part, link);
        part_flush(part);
        tree_check(worker, part->tree, slots_find(worker->slots, part->holder));
    }
}

/* ---- Verbs for the actor itself. ---- */

tr_usage tr_budget_used(const tr_self *self)
{
    TURN_VERB(self);
    tr_usage usage = {0};
    if (!self)
        return usage;
    const struct cell *cell = self->cell;
    usage.bytes = tr__cell_bytes(self->worker, cell);
    if (!(cell->flags & CELL_METERED))
        return usage;
    const struct budget *budget = budget_of(cell);
    tr_time now_ns = 0; /* the time that this turn has used since mark_ns */
    if (budget->is_timed)
        now_ns = clock_of(self->worker) - self->worker->budgets.mark_ns;
    usage.cpu_ns = budget->is_timed ? budget->cpu_ns + now_ns : 0;
    const struct budget_tree *tree = budget->own_tree;
    if (!tree)
        return usage;
    usage.tree_bytes = (size_t)(tree_bytes(tree) + (int64_t)(usage.bytes - budget->charged));
    usage.tree_cpu_ns = budget->is_timed ? tree_cpu(tree) + now_ns : 0;
    return usage;
}
