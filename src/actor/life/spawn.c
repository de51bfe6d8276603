/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/life/spawn.h"

#include <stdio.h>
#include <string.h>

#include "actor/ask/waiters.h"
#include "actor/cell/behavior_list.h"
#include "actor/cell/channel.h"
#include "actor/cell/dispatch.h"
#include "actor/cell/durable.h"
#include "actor/cell/extra.h"
#include "actor/cell/lifecycle.h"
#include "actor/cell/log.h"
#include "actor/cell/sched_state.h"
#include "actor/cell/state.h"
#include "actor/cell/upcalls.h"
#include "actor/cell/verb.h"
#include "actor/cell/view.h"
#include "actor/life/become.h"
#include "actor/life/children.h"
#include "actor/life/failure.h"
#include "actor/life/origin.h"
#include "actor/life/place.h"
#include "actor/life/pooled.h"
#include "actor/life/root.h"
#include "actor/life/stop.h"
#include "actor/life/supervise.h"
#include "actor/mail/capacity.h"
#include "actor/mail/group_address.h"
#include "actor/mail/mail.h"
#include "actor/mail/outcome.h"
#include "actor/turn/budget.h"
#include "actor/turn/run.h"
#include "actor/turn/turn.h"
#include "base/assert.h"
#include "base/sized.h"
#include "wire/copy.h"
#include "wire/type.h"
#include "os/probe.h"

/* ---- Before other threads know the actor. ---- */

__attribute__((__noinline__)) const tr_spawn_args *tr__spawn_args_read(const tr_spawn_args *args,
                                                                       tr_spawn_args *copy)
{
    return args && sized_read(copy, sizeof *copy, args, args->size) ? copy : NULL;
}

/* As tr__spawn_check, but the size and the behavior of the arguments are known to be valid. */
static tr_status check(struct tr_system *system, const tr_spawn_args *args)
{
    const char *why;
    if (args->worker < -1 ||
        args->worker >= (int)atom32_load(&system->scale.open_most, ATOM_ACQUIRE)) {
        tr__error_set(
            args->error, TR_INVALID_ARGUMENT, 0, "worker %d does not exist", args->worker);
        return TR_INVALID_ARGUMENT;
    }
    if (args->setup_type && (!args->setup || !tr__type_is_valid(args->setup_type, &why))) {
        tr__error_set(args->error, TR_INVALID_ARGUMENT, 0, "malformed set-up message");
        return TR_INVALID_ARGUMENT;
    }
    if (args->setup_type && !args->setup_type->is_flat &&
        tr__copy_size(args->setup_type, args->setup) > TR_PAYLOAD_MAX) {
        tr__error_set(args->error, TR_TOO_LARGE, 0, "the set-up message is too large");
        return TR_TOO_LARGE;
    }
    if (args->name && !tr__name_is_valid(args->name)) {
        tr__error_set(args->error,
                      TR_NAME_INVALID,
                      0,
                      "%s: \"%.140s\"",
                      tr_status_text(TR_NAME_INVALID),
                      args->name);
        return TR_NAME_INVALID;
    }
    if (!mail_bound_is_valid(args->behavior)) {
        tr__error_set(
            args->error, TR_LIMIT, 0, "%s: the mailbox is too large", args->behavior->name);
        return TR_LIMIT;
    }
    if (atom32_load(&system->ending.is_stopping, ATOM_SEQ_CST)) {
        tr__error_set(args->error, TR_STOPPING, 0, "the system is stopping");
        return TR_STOPPING;
    }
    return tr__setup_check(args->behavior, args->setup_type, 0, args->error);
}

tr_status tr__spawn_check(struct tr_system *system, const tr_spawn_args *args)
{
    const char *why;
    TR_ASSERT(args->size == sizeof *args);
    if (!tr__behavior_is_valid(args->behavior, &why)) {
        tr__error_set(args->error, TR_INVALID_ARGUMENT, 0, "%s", why);
        return TR_INVALID_ARGUMENT;
    }
    if (args->behavior->options.stack_bytes > TR_STACK_LARGEST) {
        tr__error_set(args->error, TR_LIMIT, 0, "%s: the stack is too large", args->behavior->name);
        return TR_LIMIT;
    }
    return check(system, args);
}

static tr_status path_too_long(tr_error *error)
{
    tr__error_set(error, TR_LIMIT, 0, "the path is longer than %d characters", TR_PATH_MAX);
    return TR_LIMIT;
}

/* Checks the length of the path of an actor without a name. Returns TR_OK or TR_LIMIT. */
static tr_status path_check(struct tr_system *system, const struct cell *cell, tr_error *error)
{
    char path[TR_PATH_MAX + 1];
    return tr__cell_path(system, cell, path) > TR_PATH_MAX ? path_too_long(error) : TR_OK;
}

static tr_status name_add(struct tr_system *system, struct cell *cell, const char *name,
                          tr_error *error)
{
    char path[TR_PATH_MAX + 1];
    tr__cell_path(system, slots_parent(system->slots, cell), path);
    size_t length = strlen(path);
    int written = snprintf(path + length, sizeof path - length, "/%s", name);
    if (written < 0 || (size_t)written >= sizeof path - length)
        return path_too_long(error);
    tr_status status = tr__names_reserve(system->names, path, &cell->name);
    if (status != TR_OK)
        tr__error_set(error, status, 0, "%s: %.200s", tr_status_text(status), path);
    return status;
}

/*
 * Makes a new actor an actor of the pool, because the new actor takes the place of an actor of the
 * pool that has ended. No other thread uses the cell of the new actor yet.
 */
static void pool_again(struct cell *cell, const tr_behavior *behavior)
{
    ATOM_POKE(&cell->door.tenant, cell->door.tenant | CELL_POOLED);
    /* hold the name before the origin of the earlier actor stops holding it */
    tr__pooled_hold(cell->origin);
    tr__names_set_behavior(cell->name, behavior);
}

/*
 * Checks that a child of `parent` is not nested too deep. Returns TR_OK or TR_TOO_DEEP. Sets
 * *length to the length of the longest path that a child without a name can have.
 */
static tr_status depth_check(const struct slots *slots, const struct cell *parent, size_t *length,
                             tr_error *error)
{
    enum { PART_MAX = sizeof "/$ffffffff.ffffffff" - 1 };
    const struct cell *named = NULL;
    int depth = 1;
    *length = PART_MAX;
    for (const struct cell *cell = parent; cell; cell = slots_parent(slots, cell)) {
        depth++;
        if (!named && cell->name)
            named = cell;
        *length += named ? 0 : PART_MAX;
    }
    *length += named ? named->name->path_length : 0;
    if (depth <= TR_DEPTH_MAX + 1) /* /user itself is not counted */
        return TR_OK;
    tr__error_set(
        error, TR_TOO_DEEP, 0, "actors are nested too deep: the limit is %d", TR_DEPTH_MAX);
    return TR_TOO_DEEP;
}

tr_status tr__spawn_prepare(struct tr_system *system, struct slot_cache *cache, struct cell *parent,
                            const tr_spawn_args *args, uint64_t spawner, bool keeps_origin,
                            struct cell **prepared)
{
    struct cell *cell;
    size_t length;
    tr_status status = TR_OK;
    /*
     * The cache has the result of an earlier check. The result is still right, because the parent
     * of an actor never changes.
     */
    if (cache && cache->parent == parent->identity) {
        length = cache->path_length;
    } else {
        status = depth_check(system->slots, parent, &length, args->error);
        if (status != TR_OK)
            return status;
        if (cache) {
            cache->parent = parent->identity;
            cache->path_length = length;
        }
    }
    status = tr__slot_take(system->slots, cache, &cell);
    if (status != TR_OK) {
        tr__error_set(args->error,
                      status,
                      0,
                      "no slot is free for another actor: out of memory, or the limit is reached");
        return status;
    }
    cell_clear(cell);
    ATOM_POKE(&cell->door.tenant, slots_number(system->slots, parent));
    tr__capacity_open(cell, args->behavior);
    if (args->name)
        status = name_add(system, cell, args->name, args->error);
    else if (length > TR_PATH_MAX)
        status = path_check(system, cell, args->error);
    if (status != TR_OK)
        goto give_slot;
    tr_restart restart = spawn_restart(args);
    bool is_far = keeps_origin;
    keeps_origin |= args->spec || restart == TR_PERMANENT;
    keeps_origin |= args->setup_type && restart != TR_TEMPORARY;
    if (keeps_origin) {
        status = tr__origin_new(system->slots, cell, args, spawner, is_far);
        if (status != TR_OK) {
            tr__error_set(args->error, status, 0, "out of memory for the set-up message");
            goto remove_name;
        }
    }
    if (args->behavior == &tr_behavior_tr_group_supervisor)
        tr__group_bind(system, args, cell);
    *prepared = cell;
    return TR_OK;

remove_name:
    if (cell->name) {
        tr__names_take_out(system->names, cell->name);
        tr__names_free(system->names, tr__view_take_name(system, cell));
    }
give_slot:
    tr__slot_give(system->slots, cache, cell);
    return status;
}

/* ---- On the worker of the new actor. ---- */

bool tr__cell_pre_start(struct worker *worker, struct cell *cell, uint64_t causal)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    static const struct tr_pre_start message;
    cell->flags |= CELL_STARTED;
    if (cell->origin) {
        cell->origin->has_lived = true;
        if (origin_rare(cell->origin)->spec && !tr__root_args(worker, cell))
            return false;
    }
    const tr_handler *handler = cell->dispatch->signals[SIGNAL_PRE_START];
    if (!handler)
        return true;
    struct tr_self *self =
        tr__call_hook(worker, cell, TURN_PRE_START, handler->call, &message, causal);
    if (!self) {
        /* An actor without a PreStart gets no PostStop either. */
        cell->flags &= (uint16_t)~CELL_STARTED;
        tr__log(worker->system,
                TR_LEVEL_ERROR,
                cell->name ? cell->name->path : NULL,
                "stopped: out of memory for a stack of tr_pre_start");
        cell->flags |= CELL_FAILED;
        tr__cell_stop(worker, cell, false);
        return false;
    }
    bool is_running = tr__turn_apply_result(self, self->call.next);
    tr__call_hook_end(self);
    return is_running;
}

/*
 * Frees the name of an actor that did not start. If a client spawned the actor, reports the failure
 * to the client afterwards. So the client can use the name again.
 */
static void tell_spawner(struct worker *worker, struct cell *cell, uint64_t spawner,
                         const tr_error *error)
{
    tr__cell_unname(worker, cell);
    if (spawner)
        tr__outcome_send(worker, spawner, cell->identity, error);
}

/*
 * Logs a failed set-up and reports it to the parent. This is needed because the spawner does not
 * wait in a call that would return the failure. The parent still exists: it lives until its last
 * child has ended.
 */
static void mount_failed(struct worker *worker, struct cell *cell, const struct cell_origin *setup,
                         const tr_error *error)
{
    char path[TR_PATH_MAX + 1];
    tr__cell_path(worker->system, slots_parent(worker->slots, cell), path);
    tr__log(worker->system,
            TR_LEVEL_ERROR,
            path,
            "child %s did not start: %s: %s",
            setup->behavior->name,
            tr_status_name(error->status),
            error->text);
    tr__failure_tell(worker, cell, error);
    tell_spawner(worker, cell, origin_rare(setup)->spawner, error);
}

/*
 * Reserves capacity for senders on this worker, because most actors get their first mail from their
 * parent. No other thread can take capacity while the door is closed, so this needs no atomic
 * read-modify-write.
 */
static void stock_fill(struct cell *cell)
{
    if (cell->flags & CELL_EXACT_BOUND)
        return;
    atom64 *word = &cell->door.capacity.word;
    atom64_store(word,
                 atom64_load(word, ATOM_RELAXED) - capacity_amount(STOCK_STEP, STOCK_STEP),
                 ATOM_RELAXED); /* door_open publishes this */
    cell->stock = STOCK_STEP << STOCK_LINES_SHIFT | STOCK_STEP;
}

/*
 * Takes a child from New to Running without running code of the child. Only for a child on its
 * parent's worker that has no set-up, keeps nothing for a restart and has no budget. Returns false
 * if there is no memory for the child's state; then nothing has changed. This function need not put
 * the cell into a run queue: if mail has come through its door, the door was posted too.
 */
static bool start_plainly(struct worker *worker, struct cell *cell, struct dispatch *dispatch)
{
    struct tr_system *system = worker->system;
    size_t size = dispatch->behavior->state_size;
    if (size) {
        cell->state = tr__state_new(worker, cell, size, false);
        if (!cell->state)
            return false;
        memset(cell->state, 0, size);
    }
    cell_become(system, cell, LIFE_STARTING, __func__);
    ATOM_POKE(&cell->dispatch, dispatch);
    cell_become(system, cell, LIFE_RUNNING, __func__);
    cell->flags |= CELL_STARTED;
    cell_sched_change_from(cell, SCHED_CREATED, SCHED_WAITING);
    return true;
}

/*
 * Takes an actor from New to Running. Returns TR_OK, also when the set-up has stopped the actor. If
 * the set-up has failed, returns TR_INIT_FAILED, and *error says why. When this returns, the actor
 * may be gone, and its cell may have another tenant. `mounted` is NULL when the spawner waits for
 * the result in a call.
 */
static tr_status start(struct worker *worker, struct cell *cell, const tr_behavior *behavior,
                       const tr_type *type, const void *message, uint64_t causal,
                       const struct cell_origin *mounted, tr_error *error)
{
    struct tr_system *system = worker->system;
    cell_sched_change_from(cell, SCHED_CREATED, SCHED_MOUNTING);
    cell_become(system, cell, LIFE_STARTING, __func__);
    tr_status status = TR_OK;
    struct budget_tree *above =
        mounted ? origin_rare(mounted)->above : budget_above(slots_parent(worker->slots, cell));
    if (budget_is_wanted(&behavior->options, above))
        status = tr__budget_begin(worker, cell, &behavior->options, above);
    if (status != TR_OK)
        tr__error_set(error, status, cell->identity, "no budget or no stack for the actor");
    if (status == TR_OK)
        status = tr__cell_adopt(worker, cell, behavior, type, message, causal, error);
    if (cell->exceptions)
        tr__waiters_mount(worker, cell, status == TR_OK);
    if (status != TR_OK) {
        if (status != TR_STOPPED && mounted)
            mount_failed(worker, cell, mounted, error);
        if (status != TR_STOPPED && cell->flags & CELL_CHANNELS)
            worker->system->channels.hooks->on_end(worker, cell, true);
        /* If a durable actor does not start, waiting requests are answered with TR_START_FAILED. */
        bool is_told = cell_durable(cell) && status != TR_STOPPED;
        tr__cell_end_unborn(worker, cell, is_told ? TR_START_FAILED : TR_STOPPED);
        return status == TR_STOPPED ? TR_OK : TR_INIT_FAILED;
    }
    if (cell->origin && !tr__origin_is_needed(cell))
        tr__origin_drop(worker, cell);
    cell_become(system, cell, LIFE_RUNNING, __func__);
    PROBE1(spawn, cell->identity);
    if (!tr__cell_pre_start(worker, cell, causal))
        return TR_OK;
    if (cell->flags & CELL_SUSPENDED)
        tr__mail_answer_probes(worker, cell);
    tr__cell_park_or_requeue(worker, cell);
    return TR_OK;
}

void tr__spawn_post(struct tr_system *system, struct counters *counters, struct cell *cell,
                    uint32_t to)
{
    bool has_woken = loop_post(&system->workers[to]->loop, &cell->door.ready);
    if (!counters)
        return;
    atom64_count(&counters->posts, 1);
    atom64_count(&counters->wakes, has_woken);
}

/*
 * An actor that was spawned from outside is posted to its parent's worker first, for this function.
 * If the parent is Stopping, the parent waits for this child too. If the parent is Stopped, the
 * system was abandoned (rule 4 of actor/system/shutdown.h), and this function kills the child.
 */
void tr__spawn_link(struct worker *worker, struct cell *cell)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    struct cell *parent = slots_parent(worker->slots, cell);
    uint32_t bits = CONTROL_KILL;
    TR_ASSERT(worker->index == 0);
    if (parent->life < LIFE_STOPPED) {
        TR_ASSERT(cell_owner(parent) == worker->index);
        tr__child_link(worker, parent, cell);
        cell->flags |= CELL_LINKED;
        bits = parent->flags & CELL_KILLING ? CONTROL_KILL : CONTROL_STOP;
        bits = parent->life == LIFE_STOPPING ? bits : 0;
        if (system_start_has_failed(worker->system))
            bits = CONTROL_KILL;
    }
    atom32_fetch_or(&cell->control, bits, ATOM_SEQ_CST);
    if (cell->origin->is_admitted)
        tr__spawn_leave(worker->system, parent);
    cell->origin->is_admitted = false;
}

void tr__spawn_mount(struct worker *worker, struct cell *cell)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    struct tr_system *system = worker->system;
    struct cell_origin *setup = cell->origin;
    tr_error error = {.status = TR_OK};
    bool is_mine = setup->worker == worker->index;
    if (!(cell->flags & CELL_LINKED) && worker->index == 0)
        tr__spawn_link(worker, cell);
    if (!is_mine) {
        tr__spawn_post(system, &worker->counters, cell, setup->worker);
        return;
    }
    if (system->durable.admits && !system->durable.admits(worker, cell))
        return; /* durable posts the cell to this worker again later */
    /*
     * From now on the cell has an owner. Its ref was known before, but then the cell belonged to
     * its spawner, and after that to its parent's worker. So until now all mail went through its
     * door, even mail of this worker.
     */
    atom32_store(&cell->door.owner, worker->index, ATOM_RELAXED); /* see cell_owner */
    worker->leave.is_due = true;
    tr__mail_take_in(worker, cell, door_take_posted(&cell->door));
    uint32_t bits = atom32_exchange(&cell->control, 0, ATOM_SEQ_CST); /* pairs with door_nudge */
    if (bits & CONTROL_STOP)
        /* the actor starts, handles the mail that has arrived, and stops */
        cell->flags |= CELL_SEALED;
    if (bits & CONTROL_DISMISS)
        setup->is_dismissed = true;
    if (bits & CONTROL_KILL) {
        /* an actor that has come back before also comes back after this kill */
        setup->has_lived |= setup->has_come_back;
        tr__error_set(&error, TR_STOPPING, cell->identity, "stopped before its set-up");
        tr__waiters_mount(worker, cell, false);
        tell_spawner(worker, cell, origin_rare(setup)->spawner, &error);
        tr__cell_end_unborn(worker, cell, TR_STOPPED);
        return;
    }
    /*
     * The order to restart this actor with its siblings stays: the actor carries it out when it
     * runs.
     */
    if (bits & CONTROL_DECIDED)
        atom32_fetch_or(&cell->control, CONTROL_DECIDED, ATOM_RELAXED);
    /* When `start` returns, the cell may have another tenant, and the origin may be gone. */
    (void)start(worker,
                cell,
                setup->behavior,
                setup->type,
                setup->message,
                origin_rare(setup)->causal,
                setup,
                &error);
}

/* ---- From a handler. ---- */

/*
 * Logs, once per behavior, a message that TR_ACTOR lists but the first behavior of the actor does
 * not handle. If no behavior of the program handles the message, that is a mistake, and the log
 * entry is a warning. If the behaviors of the program are not known, the entry is no warning,
 * because the actor may become a behavior that handles the message.
 */
static void protocol_check(struct worker *worker, struct dispatch *dispatch, const char *protocol)
{
    static const struct behavior_list none;
    const struct behavior_list *all = worker->system->user.behaviors;
    char name[TR_NAME_MAX + 1];
    dispatch->is_checked = true;
    bool is_mistake =
        all->first != all->end && tr__protocol_lacks(dispatch, all, protocol, name, sizeof name);
    if (is_mistake || tr__protocol_lacks(dispatch, &none, protocol, name, sizeof name))
        tr__log(worker->system,
                is_mistake ? TR_LEVEL_WARN : TR_LEVEL_DEBUG,
                NULL,
                "TR_ACTOR lists %s, but %s has no handler for it%s",
                name,
                dispatch->behavior->name,
                is_mistake ? ", nor has any behavior of the program" : "");
}

/*
 * Gives the place and the record of an earlier child to the new child that replaces it. Takes the
 * record.
 */
static void come_back(struct worker *worker, struct cell *parent, struct cell *cell,
                      struct failure **past)
{
    if ((*past)->before != TR__PLACE_LAST)
        tr__child_move(worker, parent, cell, (*past)->before);
    tr__place_replace(parent, (*past)->child, cell->identity);
    origin_rare_own(cell->origin)->failure = *past;
    cell->origin->has_come_back = true;
    *past = NULL;
}

tr_status tr__spawn_below(struct worker *worker, struct cell *parent, const tr_spawn_args *args,
                          uint64_t causal, struct failure **past, uint64_t *ref_bits)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, parent));
    TR_ASSERT_SLOW(args->size == sizeof *args);
    struct dispatch *dispatch = dispatch_known(&worker->dispatches, args->behavior);
    tr_status status =
        dispatch ? check(worker->system, args) : tr__spawn_check(worker->system, args);
    if (status != TR_OK)
        return status;
    if (args->spec && args->spec->is_significant && !tr__extra_of(worker, parent))
        return TR_NO_MEMORY;
    uint32_t owner = args->worker < 0 ? worker->index : system_place(worker->system, args->worker);
    bool is_near = owner == worker->index && worker->turns.depth < TR_SETUPS_NESTED_MAX;
    struct cell *cell;
    status = tr__spawn_prepare(
        worker->system, &worker->slot_cache, parent, args, 0, !is_near || past, &cell);
    if (status != TR_OK)
        return status;
    if (past && (*past)->is_pooled)
        pool_again(cell, args->behavior);
    atom64_count(&worker->counters.spawned, 1);
    tr__child_link(worker, parent, cell);
    cell->flags |= CELL_LINKED;
    if (args->spec && args->spec->is_significant && !past)
        /* a child that comes back (`past`) was counted at its first start */
        parent->extra->supervision.significant++;
    if (past)
        come_back(worker, parent, cell, past);
    uint64_t identity = cell->identity;
    if (!is_near) {
        origin_rare_own(cell->origin)->causal = causal;
        cell->origin->worker = owner;
        origin_rare_own(cell->origin)->above = budget_above(parent);
        door_open(&cell->door, identity, CELL_FOREIGN, true);
        if (cell->name)
            tr__names_show(cell->name, tr__group_of_child(cell));
        tr__spawn_post(worker->system, &worker->counters, cell, owner);
        *ref_bits = identity;
        return TR_OK;
    }
    stock_fill(cell);
    door_open(&cell->door, identity, owner, false);
    if (cell->name)
        tr__names_show(cell->name, tr__group_of_child(cell));
    if (__builtin_expect(worker->channels.newborn != NULL, 0))
        worker->channels.hooks->on_birth(worker, cell);
    bool is_plain =
        dispatch && dispatch->is_plain && !cell->origin && !(parent->flags & CELL_METERED);
    if (!is_plain || !start_plainly(worker, cell, dispatch)) {
        tr_error error;
        status = start(worker,
                       cell,
                       args->behavior,
                       args->setup_type,
                       args->setup,
                       causal,
                       NULL,
                       args->error ? args->error : &error);
        if (status != TR_OK)
            return status;
        dispatch = tr__dispatch_of(&worker->dispatches, args->behavior);
    }
    if (args->protocol && dispatch && !dispatch->is_checked)
        protocol_check(worker, dispatch, args->protocol);
    *ref_bits = identity;
    return TR_OK;
}

tr_status tr_self_try_spawn(tr_self *self, const tr_spawn_args *given, uint64_t *ref_bits)
{
    TURN_VERB(self);
    tr_spawn_args copy;
    const tr_spawn_args *args = spawn_args_read(given, &copy);
    if (!self || !args || !ref_bits)
        return TR_INVALID_ARGUMENT;
    if (self->is_cancelled) {
        tr__error_set(args->error, TR_CANCELLED, self->cell->identity, "the turn was cancelled");
        return TR_CANCELLED;
    }
    bool cannot_spawn =
        self->kind == TURN_DECIDER || turn_kind_has(self->kind, SIGNAL_CANNOT_SPAWN);
    if (self->cell->life >= LIFE_STOPPING || cannot_spawn) {
        tr__error_set(args->error, TR_STOPPING, self->cell->identity, "the actor is stopping");
        return TR_STOPPING;
    }
    return tr__spawn_below(self->worker, self->cell, args, self->causal, NULL, ref_bits);
}
