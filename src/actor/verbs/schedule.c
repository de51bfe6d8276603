/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/verbs/schedule.h"

#include <stdio.h>
#include <string.h>
#include <troupe/schedule.h>

#include "actor/cell/names.h"
#include "actor/cell/post.h"
#include "actor/cell/slots.h"
#include "actor/cell/upcalls.h"
#include "actor/life/origin.h"
#include "actor/life/pooled.h"
#include "actor/life/spawn.h"
#include "actor/mail/dead_letter.h"
#include "actor/mail/group_address.h"
#include "actor/mail/group_pick.h"
#include "actor/mail/mail.h"
#include "base/assert.h"
#include "wire/copy.h"
#include "actor/mail/address.h"
#include "actor/mail/kind.h"
#include "wire/type.h"

enum {
    ROUND_MAX = 1024, /* the largest number of schedules that fire before actors run again */
    PLACES_FIRST = 16
};
/*
 * After this time a tick is sent again. The tick could not be sent before, because there was no
 * memory or because the actor of a call has refused it.
 */
#define RETRY_NS TR_MILLISECOND

/** The states of the tick of a schedule that calls a function. */
enum tick {
    TICK_NONE,
    TICK_QUEUED, /* in the mailbox of the schedule's actor */
    TICK_RUNNING /* the turn of the tick runs */
};

struct schedule {
    struct timer_node node;
    struct tr_system *system;
    uint64_t number;
    /* when the current tick is due; for a retry, the node is armed for a later time */
    tr_time due_ns;
    tr_time period_ns;
    uint64_t to;
    /* The next three members are only for a schedule that calls a function. */
    tr_schedule_function *function; /* NULL: the schedule sends a message */
    void *argument;
    struct cell *cell;
    /* The members from here to `tick` are read and written under the lock. */
    bool is_firing;
    bool is_cancelled;
    /* the schedule ends with the current turn; only worker 0 uses this, and needs no lock for it */
    bool ends;
    uint8_t tick;
    uint8_t kind; /* enum tr_timer_kind */
    const tr_type *type;
    _Alignas(16) unsigned char message[];
};

TR_MESSAGE(tr_schedule_tick);

/* ---- The table and the wheel, under the lock. ---- */

static struct schedule *schedule_find(const struct schedules *schedules, uint64_t number)
{
    TR_ASSERT_SLOW(lock_is_held(&schedules->lock));
    uint32_t index = (uint32_t)number - 1;
    if (!number || index >= schedules->place_count)
        return NULL;
    const struct schedule_place *place = &schedules->places[index];
    return place->generation == number >> 32 ? place->schedule : NULL;
}

static tr_status places_grow(struct schedules *schedules, const struct memory_source *source)
{
    TR_ASSERT_SLOW(lock_is_held(&schedules->lock));
    uint32_t count = schedules->place_count ? 2 * schedules->place_count : PLACES_FIRST;
    if (count > TR_SCHEDULES_MAX)
        count = TR_SCHEDULES_MAX;
    struct schedule_place *places =
        source_resize(source, schedules->places, count * sizeof *places);
    if (!places)
        return TR_NO_MEMORY;
    schedules->places = places;
    for (uint32_t i = count; i > schedules->place_count; i--) {
        places[i - 1] = (struct schedule_place){.generation = schedules->generation_first,
                                                .free_next = schedules->free_first};
        schedules->free_first = i;
    }
    schedules->place_count = count;
    return TR_OK;
}

static tr_status add(struct schedules *schedules, struct schedule *schedule)
{
    TR_ASSERT_SLOW(lock_is_held(&schedules->lock));
    if (schedules->count == TR_SCHEDULES_MAX)
        return TR_LIMIT;
    tr_status status = TR_OK;
    if (!schedules->free_first)
        status = places_grow(schedules, &schedule->system->source);
    if (status != TR_OK)
        return status;
    uint32_t index = schedules->free_first;
    struct schedule_place *place = &schedules->places[index - 1];
    schedules->free_first = place->free_next;
    place->schedule = schedule;
    schedule->number = (uint64_t)place->generation << 32 | index;
    schedules->count++;
    return TR_OK;
}

static void block_free(const struct memory_source *source, struct schedule *schedule)
{
    if (schedule->type && !schedule->type->is_flat)
        tr__copy_drop(schedule->type, schedule->message);
    source_resize(source, schedule, 0);
}

static void next_update(struct schedules *schedules)
{
    TR_ASSERT_SLOW(lock_is_held(&schedules->lock));
    /* Worker 0 sees this after the nudge in `begin`, or at its next look. */
    atom64_store(&schedules->next_ns, (uint64_t)tr__wheel_next(&schedules->wheel), ATOM_RELAXED);
}

static void arm(struct schedules *schedules, struct schedule *schedule, tr_time deadline_ns)
{
    tr__wheel_arm(&schedules->wheel, &schedule->node, deadline_ns);
    next_update(schedules);
}

/* Removes a schedule from the table and from the wheel, and frees it. */
static void remove_and_free(struct schedules *schedules, struct schedule *schedule)
{
    TR_ASSERT_SLOW(lock_is_held(&schedules->lock));
    TR_ASSERT(schedule_find(schedules, schedule->number) == schedule);
    if (tr__wheel_cancel(&schedules->wheel, &schedule->node))
        next_update(schedules);
    uint32_t index = (uint32_t)schedule->number;
    struct schedule_place *place = &schedules->places[index - 1];
    place->schedule = NULL;
    place->generation++;
    place->free_next = schedules->free_first;
    schedules->free_first = index;
    schedules->count--;
    block_free(&schedule->system->source, schedule);
}

/* ---- Firing, on worker 0. ---- */

/*
 * Sends the message of a schedule. If this returns TR_NO_MEMORY, nothing was done. After any other
 * error the message has become a dead letter.
 */
static tr_status schedule_send(struct worker *worker, const struct schedule *schedule,
                               uint64_t causal)
{
    struct cell *cell = slots_find(worker->slots, schedule->to);
    tr_status status = TR_STOPPED;
    if (cell) {
        uint64_t to = schedule->to;
        struct address address = {.kind = ENVELOPE_NOTICE, .to = to, .causal = causal};
        struct envelope *envelope;
        if (tr__mail_new(&worker->pool, address, schedule->type, schedule->message, &envelope) !=
            TR_OK)
            /* there is no other error, because `make` has checked the size */
            return TR_NO_MEMORY;
        status = tr__mail_send(worker, cell, envelope);
        if (status != TR_OK && cell_is_group_address(cell))
            status = tr__group_send(worker, envelope, &cell, &to);
        if (status == TR_OK)
            return TR_OK;
        envelope_give(&worker->pool, envelope);
    }
    atom64_count(&worker->counters.refused, 1);
    tr__dead_letter(
        worker->system,
        worker,
        &(struct dead_letter){.type = schedule->type, .to = schedule->to, .reason = status});
    return status;
}

/*
 * Returns the time at which the next tick of a fixed rate is due. This time is a whole number of
 * periods after the last tick. Ticks that were missed are left out.
 */
static tr_time rate_next(const struct schedule *schedule, tr_time now_ns)
{
    tr_time next_ns = timer_deadline(schedule->due_ns, schedule->period_ns);
    if (next_ns <= now_ns)
        next_ns += ((now_ns - next_ns) / schedule->period_ns + 1) * schedule->period_ns;
    return next_ns;
}

/*
 * Ends the firing of a schedule: removes the schedule, or arms it again. `status` is what
 * `schedule_send` has returned. It is TR_OK if the tick was left out, because the previous tick is
 * queued or runs. Under the lock.
 */
static void fire_end(struct worker *worker, struct schedule *schedule, tr_status status)
{
    struct schedules *schedules = worker->system->schedules;
    const tr_platform *platform = worker->system->platform;
    tr_time now_ns = worker->loop.now_ns;
    bool is_call = schedule->function;
    TR_ASSERT_SLOW(lock_is_held(&schedules->lock));
    schedule->is_firing = false;
    if (schedule->is_cancelled || status == TR_STOPPED) {
        remove_and_free(schedules, schedule);
        return;
    }
    if (status == TR_NO_MEMORY || (is_call && status != TR_OK)) {
        arm(schedules, schedule, timer_deadline(now_ns, RETRY_NS));
        return;
    }
    if (is_call && schedule->tick == TICK_NONE)
        schedule->tick = TICK_QUEUED;
    switch ((tr_timer_kind)schedule->kind) {
    case TR_TIMER_ONCE:
        if (!is_call)
            remove_and_free(schedules, schedule);
        break;
    case TR_TIMER_FIXED_RATE:
        schedule->due_ns = rate_next(schedule, now_ns);
        arm(schedules, schedule, schedule->due_ns);
        break;
    case TR_TIMER_FIXED_DELAY:
        if (is_call)
            break; /* on_turn_end arms the schedule */
        schedule->due_ns = timer_deadline(platform->mono_now(platform), schedule->period_ns);
        arm(schedules, schedule, schedule->due_ns);
        break;
    }
}

bool tr__schedules_fire(struct worker *worker, tr_time now_ns)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    struct tr_system *system = worker->system;
    struct schedules *schedules = system->schedules;
    if (tr__schedules_next(worker) > now_ns)
        return false;
    lock_take(&schedules->lock);
    for (int i = 0; i < ROUND_MAX; i++) {
        struct timer_node *node = NULL;
        if (!atom32_load(&system->ending.is_stopping, ATOM_SEQ_CST))
            node = tr__wheel_expire(&schedules->wheel, now_ns);
        if (!node)
            break;
        struct schedule *schedule = LIST_OWNER(node, struct schedule, node);
        tr_status status = TR_OK;
        schedule->is_firing = true;
        if (schedule->tick == TICK_NONE) {
            uint64_t causal = hash_mix(schedules->causal_next++);
            lock_give(&schedules->lock);
            status = schedule_send(worker, schedule, causal);
            lock_take(&schedules->lock);
        }
        fire_end(worker, schedule, status);
    }
    next_update(schedules);
    /* When the system begins to stop, schedules that have not fired never fire. */
    if (atom32_load(&system->ending.is_stopping, ATOM_SEQ_CST))
        atom64_store(&schedules->next_ns, (uint64_t)TR_NEVER, ATOM_RELAXED);
    lock_give(&schedules->lock);
    return tr__schedules_next(worker) <= now_ns;
}

tr_time tr__schedules_next(const struct worker *worker)
{
    if (worker->index != 0)
        return TR_NEVER;
    return (tr_time)atom64_load(&worker->system->schedules->next_ns, ATOM_RELAXED);
}

/* ---- Calls: each is a turn of an actor whose only state is the number of its schedule. ---- */

static uint64_t number_of(const struct cell *cell)
{
    uint64_t number;
    memcpy(&number, cell->state_inline, sizeof number);
    return number;
}

/* Ends the turn of a call, even if the turn has failed: removes the schedule, or arms it again. */
static void on_turn_end(void *resource)
{
    struct schedule *schedule = resource;
    struct tr_system *system = schedule->system;
    struct schedules *schedules = system->schedules;
    lock_take(&schedules->lock);
    TR_ASSERT(schedule->tick == TICK_RUNNING);
    schedule->tick = TICK_NONE;
    if (schedule->ends || schedule->is_cancelled) {
        remove_and_free(schedules, schedule);
    } else if (schedule->kind == TR_TIMER_FIXED_DELAY) {
        tr_time now_ns = system->platform->mono_now(system->platform);
        schedule->due_ns = timer_deadline(now_ns, schedule->period_ns);
        arm(schedules, schedule, schedule->due_ns);
    }
    lock_give(&schedules->lock);
}

static tr_next on_tick(tr_self *self)
{
    struct schedules *schedules = self->worker->system->schedules;
    lock_take(&schedules->lock);
    struct schedule *schedule = schedule_find(schedules, number_of(self->cell));
    bool is_mine = schedule && schedule->tick == TICK_QUEUED;
    if (is_mine) {
        /*
         * A schedule whose tick is queued is removed at once when it is cancelled, unless it is
         * firing. While worker 0 fires a schedule, it runs no turn. So this schedule was not
         * cancelled.
         */
        TR_ASSERT(!schedule->is_cancelled);
        schedule->tick = TICK_RUNNING;
        /* true in case the turn fails; if the function returns, this is set again below */
        schedule->ends = true;
    }
    lock_give(&schedules->lock);
    if (!schedule)
        return TR_STOP; /* the schedule was cancelled */
    if (!is_mine)
        return TR_SAME; /* this message is from another sender */
    tr_defer(self, schedule, on_turn_end);
    tr_next next = schedule->function(self, schedule->argument);
    if (next.code == TR_NEXT_FAILED)
        return next;
    schedule->ends = schedule->kind == TR_TIMER_ONCE || next.code == TR_NEXT_STOP;
    return schedule->ends ? TR_STOP : TR_SAME;
}

TR_BEHAVIOR(tr_schedule_actor, void, TR_ON(tr_schedule_tick, on_tick),
            TR_OPTIONS(.restart = TR_TEMPORARY));

void tr__schedule_orphan(struct worker *worker, const struct cell *cell)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    struct schedules *schedules = worker->system->schedules;
    lock_take(&schedules->lock);
    struct schedule *schedule = schedule_find(schedules, number_of(cell));
    if (schedule) {
        TR_ASSERT(!schedule->is_firing);
        TR_ASSERT(schedule->tick != TICK_RUNNING);
        remove_and_free(schedules, schedule);
    }
    lock_give(&schedules->lock);
}

/* Makes the actor of a call, and opens its door. Does not post the actor yet. */
static tr_status actor_make(struct tr_system *system, struct schedule *schedule)
{
    static const tr_spawn_args args = {.size = sizeof args,
                                       .behavior = &tr_behavior_tr_schedule_actor};
    struct cell *cell;
    tr_status status =
        tr__spawn_prepare(system, NULL, system->user.guardian, &args, 0, true, &cell);
    if (status != TR_OK)
        return status;
    char path[64];
    snprintf(path,
             sizeof path,
             "/system/schedules/%x.%x",
             (unsigned)schedule->number,
             (unsigned)((uint32_t)(schedule->number >> 32) - system->schedules->generation_first));
    status = tr__names_add(system->names, path, cell->identity, &cell->name);
    if (status != TR_OK) {
        tr__origin_free(&system->source, cell->origin);
        cell->origin = NULL;
        tr__slot_give(system->slots, NULL, cell);
        return status;
    }
    ATOM_POKE(&cell->door.tenant, cell->door.tenant | CELL_CALLS);
    memcpy(cell->state_inline, &schedule->number, sizeof schedule->number);
    lock_take(&system->foreign.lock);
    atom64_count(&system->foreign.counters.spawned, 1);
    lock_give(&system->foreign.lock);
    door_open(&cell->door, cell->identity, CELL_FOREIGN, true);
    schedule->cell = cell;
    schedule->to = cell->identity;
    return TR_OK;
}

/* ---- Making and cancelling, on any thread. ---- */

static tr_status make(struct tr_system *system, tr_timer_kind kind, tr_time ns, const tr_type *type,
                      const void *message, struct schedule **made)
{
    if (ns < 0 || kind > TR_TIMER_FIXED_DELAY || (kind != TR_TIMER_ONCE && ns == 0))
        return TR_INVALID_ARGUMENT;
    if (atom32_load(&system->ending.is_stopping, ATOM_SEQ_CST))
        return TR_STOPPING;
    size_t size = type->is_flat ? type->size : tr__copy_size(type, message);
    if (size > TR_PAYLOAD_MAX)
        return TR_TOO_LARGE;
    struct schedule *schedule = source_resize(&system->source, NULL, sizeof *schedule + size);
    if (!schedule)
        return TR_NO_MEMORY;
    *schedule =
        (struct schedule){.system = system, .kind = (uint8_t)kind, .period_ns = ns, .type = type};
    tr__copy_into(type, message, schedule->message, size);
    lock_take(&system->schedules->lock);
    tr_status status = add(system->schedules, schedule);
    lock_give(&system->schedules->lock);
    if (status != TR_OK) {
        block_free(&system->source, schedule);
        return status;
    }
    *made = schedule;
    return TR_OK;
}

/*
 * Starts a schedule: arms the schedule and, if it calls a function, sends its actor to the worker.
 * When this returns, the schedule may have been freed already.
 */
static void begin(struct tr_system *system, struct schedule *schedule, tr_schedule *handle)
{
    struct schedules *schedules = system->schedules;
    struct cell *cell = schedule->cell;
    if (handle)
        handle->number = schedule->number;
    lock_take(&schedules->lock);
    tr_time now_ns = system->platform->mono_now(system->platform);
    schedule->due_ns = timer_deadline(now_ns, schedule->period_ns);
    arm(schedules, schedule, schedule->due_ns);
    lock_give(&schedules->lock);
    if (cell)
        tr__spawn_send_off(system, NULL, cell);
    loop_nudge(&system->workers[0]->loop);
}

tr_status tr_system_schedule(tr_system *system, tr_schedule *handle, tr_timer_kind kind, tr_time ns,
                             tr_ref to, const tr_type *type, const void *message)
{
    if (!system || !type || !message || !tr__type_is_valid(type, NULL))
        return TR_INVALID_ARGUMENT;
    struct schedule *schedule;
    tr_status status = make(system, kind, ns, type, message, &schedule);
    if (status != TR_OK)
        return status;
    if (!slots_find(system->slots, to.bits)) {
        lock_take(&system->schedules->lock);
        remove_and_free(system->schedules, schedule);
        lock_give(&system->schedules->lock);
        return TR_STOPPED;
    }
    schedule->to = to.bits;
    begin(system, schedule, handle);
    return TR_OK;
}

tr_status tr_schedule_call(tr_system *system, tr_schedule *handle, tr_timer_kind kind, tr_time ns,
                           tr_schedule_function *function, void *argument)
{
    static const struct tr_schedule_tick tick;
    if (!system || !function)
        return TR_INVALID_ARGUMENT;
    struct schedule *schedule;
    tr_status status = make(system, kind, ns, &tr_type_tr_schedule_tick, &tick, &schedule);
    if (status != TR_OK)
        return status;
    schedule->function = function;
    schedule->argument = argument;
    status = tr__spawn_enter(system, system->user.guardian, NULL);
    if (status == TR_OK) {
        status = actor_make(system, schedule);
        if (status != TR_OK)
            tr__spawn_leave(system, system->user.guardian);
    }
    if (status != TR_OK) {
        lock_take(&system->schedules->lock);
        remove_and_free(system->schedules, schedule);
        lock_give(&system->schedules->lock);
        return status;
    }
    begin(system, schedule, handle);
    return TR_OK;
}

/* Cancels a schedule. Returns what was cancelled, as tr_schedule_cancel does. Under the lock. */
static tr_timer_end cancel(struct schedules *schedules, struct schedule *schedule)
{
    bool is_once = schedule->kind == TR_TIMER_ONCE;
    bool is_queued = schedule->tick == TICK_QUEUED || (schedule->is_firing && schedule->function);
    if (schedule->is_cancelled)
        return TR_TIMER_NONE;
    /* A cancellation is too late if the message is just being sent, or if the call runs. */
    if (is_once && !is_queued && (schedule->is_firing || schedule->tick == TICK_RUNNING))
        return TR_TIMER_NONE;
    struct tr_system *system = schedule->system;
    struct cell *cell = schedule->cell;
    if (cell) {
        /*
         * The actor of the schedule has nothing more to do, so order it to stop. By rule 3 the cell
         * still belongs to that actor.
         */
        atom32_fetch_or(&cell->control, CONTROL_STOP, ATOM_SEQ_CST); /* pairs with on_post */
        if (door_nudge(&cell->door) == DOOR_TAKEN_POST)
            tr__system_post(system, NULL, cell);
    }
    if (schedule->is_firing || schedule->tick == TICK_RUNNING)
        schedule->is_cancelled = true;
    else
        remove_and_free(schedules, schedule);
    return is_queued ? TR_TIMER_TAKEN_BACK : TR_TIMER_CANCELLED;
}

tr_timer_end tr_schedule_cancel(tr_system *system, tr_schedule handle)
{
    if (!system)
        return TR_TIMER_NONE;
    struct schedules *schedules = system->schedules;
    lock_take(&schedules->lock);
    struct schedule *schedule = schedule_find(schedules, handle.number);
    tr_timer_end end = schedule ? cancel(schedules, schedule) : TR_TIMER_NONE;
    lock_give(&schedules->lock);
    return end;
}

/* ---- Start and end of the system. ---- */

void tr__schedules_init(struct schedules *schedules, tr_time now_ns, uint64_t seed)
{
    lock_init(&schedules->lock);
    atom64_init(&schedules->next_ns, (uint64_t)TR_NEVER);
    tr__wheel_init(&schedules->wheel, now_ns);
    schedules->generation_first = (uint32_t)hash_mix(seed);
    schedules->causal_next = hash_mix(seed) | 1;
}

void tr__schedules_deinit(struct schedules *schedules, const struct memory_source *source)
{
    for (uint32_t i = 0; i < schedules->place_count; i++) {
        if (schedules->places[i].schedule)
            block_free(source, schedules->places[i].schedule);
    }
    source_resize(source, schedules->places, 0);
}
