/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/system/kit.h"

#include <stdio.h>
#include <string.h>
#include <troupe/durable.h>

#include "actor/ask/batch.h"
#include "actor/ask/letter.h"
#include "actor/cell/client.h"
#include "actor/cell/dispatch.h"
#include "actor/cell/log.h"
#include "actor/cell/slots.h"
#include "actor/mail/capacity.h"
#include "actor/mail/group_address.h"
#include "actor/mail/mail.h"
#include "actor/system/kit_net.h"
#include "actor/system/system.h"
#include "actor/system/worker.h"
#include "actor/turn/blocking.h"
#include "actor/turn/fault.h"
#include "actor/turn/park.h"
#include "actor/verbs/client.h"
#include "base/assert.h"
#include "base/sized.h"
#include "os/console.h"
#include "os/memory.h"
#include "os/small_file.h"
#include "os/virtual_socket.h"

static void trace(struct tr_kit *kit, uint64_t value)
{
    kit->trace = hash_mix(kit->trace ^ value);
}

/*
 * Returns a worker that has something to do, chosen by the seed. Returns NULL if there is none. The
 * choice may also fall on the store or on a helper of tr_blocking. Then makes one step of the store
 * or of the helper, sets *has_helped, and returns NULL.
 */
static struct worker *choose(struct tr_kit *kit, bool *has_helped)
{
    struct tr_system *system = kit->system;
    uint32_t busy[TR_WORKERS_MAX];
    uint32_t count = 0;
    for (uint32_t i = 0; i < system->worker_count; i++) {
        struct worker *worker = system->workers[i];
        tr_time due_ns = tr__worker_next(worker);
        if (worker->loop.alarm_ns < due_ns)
            due_ns = worker->loop.alarm_ns;
        bool is_due = due_ns <= kit->virtual->mono;
        if (is_due || tr__loop_has_work(&worker->loop) ||
            tr__virtual_has_event(kit->virtual, worker->loop.parker))
            busy[count++] = i;
    }
    uint32_t jobs = tr__blocking_choices(system->blocking);
    bool can_store = system->durable.has_work && system->durable.has_work(system);
    *has_helped = (jobs || can_store) && !rng_below(&kit->rng, count + 1);
    if (*has_helped && (!jobs || (can_store && rng_below(&kit->rng, 2)))) {
        trace(kit, system->durable.work(system));
        return NULL;
    }
    if (*has_helped) {
        uint32_t job = (uint32_t)rng_below(&kit->rng, jobs);
        trace(kit, job);
        tr__blocking_step(system->blocking, job);
        return NULL;
    }
    return count ? system->workers[busy[rng_below(&kit->rng, count)]] : NULL;
}

bool tr_kit_step(tr_kit *kit)
{
    TR_ASSERT(!kit->is_stepping); /* a handler must not step the kit */
    bool has_helped;
    kit->is_stepping = true;
    struct worker *worker = choose(kit, &has_helped);
    kit->is_stepping = false;
    if (!worker)
        return has_helped;
    kit->is_stepping = true;
    /*
     * The worker gets the id of this thread. So it refuses verbs that a handler must not call, as a
     * worker with its own thread does.
     */
    atom64_store(&worker->thread_id, kit->thread_id, ATOM_RELAXED);
    worker->loop.round_end_ns = 0;
    ready_rise(&worker->loop.ready);
    (void)tr__worker_slice(worker, 1);
    (void)worker->loop.hooks->on_idle(&worker->loop);
    atom64_store(&worker->thread_id, 0, ATOM_RELAXED);
    kit->is_stepping = false;
    trace(kit, worker->index);
    trace(kit, atom64_load(&worker->counters.handled, ATOM_RELAXED));
    trace(kit, atom64_load(&worker->counters.signals, ATOM_RELAXED));
    trace(kit, (uint64_t)kit->virtual->mono);
    for (const char *c = worker_type(worker) ? worker_type(worker)->name : ""; *c; c++)
        trace(kit, (unsigned char)*c);
    return true;
}

size_t tr_kit_settle(tr_kit *kit)
{
    size_t steps = 0;
    while (tr_kit_step(kit))
        steps++;
    return steps;
}

/*
 * Returns the time of the next event: a timer of a worker is due, or something arrives from the
 * network.
 */
static tr_time next_alarm(const struct tr_kit *kit)
{
    tr_time next_ns = tr__virtual_next_event_ns(kit->virtual);
    for (uint32_t i = 0; i < kit->system->worker_count; i++) {
        struct worker *worker = kit->system->workers[i];
        tr_time timer_ns = tr__worker_next(worker);
        if (worker->loop.alarm_ns < next_ns)
            next_ns = worker->loop.alarm_ns;
        if (timer_ns < next_ns)
            next_ns = timer_ns;
    }
    return next_ns;
}

/* Moves both clocks. The next kit with this directory begins its wall clock at the new time. */
static void move_clocks(struct tr_kit *kit, tr_time mono)
{
    tr__virtual_advance_to(kit->virtual, mono);
    tr__kit_clock_write(&kit->clock, tr_kit_wall_now(kit));
}

static void advance_to(struct tr_kit *kit, tr_time end_ns)
{
    for (;;) {
        tr_kit_settle(kit);
        tr_time next_ns = next_alarm(kit);
        if (next_ns > end_ns)
            break;
        move_clocks(kit, next_ns);
    }
    move_clocks(kit, end_ns);
}

void tr_kit_advance(tr_kit *kit, tr_time ns)
{
    TR_ASSERT(ns >= 0);
    advance_to(kit, kit->virtual->mono + ns);
}

void tr__kit_wait(tr_kit *kit, tr_time deadline_ns)
{
    if (tr_kit_step(kit))
        return;
    tr_time next_ns = next_alarm(kit);
    if (next_ns > deadline_ns)
        next_ns = deadline_ns;
    if (next_ns == TR_NEVER)
        tr__assert_failed(
            __FILE__, __LINE__, __func__, "the test waits forever: no work and no timer is left");
    move_clocks(kit, next_ns);
}

/* Runs the kit while a client waits. This is the function virtual_platform.on_park of a kit. */
static bool on_park(void *context, tr_time deadline_ns)
{
    tr__kit_wait(context, deadline_ns);
    return true;
}

enum { LOG_OFF = TR_LEVEL_ERROR + 1 };

/* Returns the lowest level of the log that TROUPE_KIT_LOG asks for. */
static unsigned log_wanted(void)
{
    static const char *const names[] = {"debug", "info", "warn", "error", "off"};
    const char *wanted = tr__environment("TROUPE_KIT_LOG");
    for (unsigned i = 0; wanted && i <= LOG_OFF; i++) {
        if (strcmp(wanted, names[i]) == 0)
            return i;
    }
    if (wanted)
        tr__console_complain(
            "TROUPE_KIT_LOG has no effect: \"%.80s\" is none of debug, info, warn, error, off\n",
            wanted);
    return TR_LEVEL_WARN;
}

/* Sets which levels the platform writes to the log. */
static void log_set(struct virtual_platform *virtual, tr_kit_log log)
{
    unsigned least = log == TR_KIT_LOG_ALL ? TR_LEVEL_DEBUG : LOG_OFF;
    if (log == TR_KIT_LOG_WARNINGS)
        least = log_wanted();
    virtual->echo = least < LOG_OFF;
    virtual->echo_least = least < LOG_OFF ? (tr_level)least : TR_LEVEL_ERROR;
}

/* The directory of the store, or NULL if the kit has none. */
static const char *directory_of(const tr_kit_options *options)
{
    return options->durable ? options->store : NULL;
}

/* Sets the wall clock to .wall_ns, or to the time that the last kit with this directory had. */
static void wall_set(struct tr_kit *kit, const tr_kit_options *options)
{
    const char *directory = directory_of(options);
    tr_time wall_ns = options->wall_ns;
    if (!wall_ns && directory)
        wall_ns = tr__kit_clock_read(&kit->virtual->table, directory);
    if (wall_ns)
        tr__virtual_wall_jump(kit->virtual, wall_ns - tr_kit_wall_now(kit));
}

static tr_status durable_start(struct tr_kit *kit, const tr_kit_options *options)
{
    tr_error error = {.status = TR_OK};
    const char *directory = directory_of(options);
    if (!options->durable)
        return TR_OK;
    tr_status status = options->durable->start(kit->system, options->durable, options->store);
    if (status != TR_OK || !directory)
        return status;
    status = tr__kit_clock_open(&kit->clock, directory, &error);
    if (status == TR_OK)
        tr__kit_clock_write(&kit->clock, tr_kit_wall_now(kit));
    else
        tr__log(kit->system, TR_LEVEL_ERROR, NULL, "the clock of the kit: %s", error.text);
    return status;
}

tr_kit *tr__kit_new(const tr_kit_options *options, const struct kit_stacks *stacks)
{
    TR_ASSERT(!stacks->traps_faults || options->workers <= 1);
    if (options->wall_ns < 0)
        return NULL;
    tr_kit *kit = tr__os_resize(NULL, sizeof *kit);
    if (!kit)
        return NULL;
    uint64_t seed = options->seed ? options->seed : 1;
    *kit = (tr_kit){.virtual = tr__virtual_new(seed)};
    if (!kit->virtual)
        goto free_kit;
    list_init(&kit->peers);
    list_init(&kit->listeners);
    rng_init(&kit->rng, seed);
    kit->virtual->on_park = on_park;
    kit->virtual->on_park_context = kit;
    log_set(kit->virtual, options->log);
    wall_set(kit, options);
    tr_system_options system_options = {.size = sizeof system_options,
                                        .name = options->name ? options->name : "kit",
                                        .workers = options->workers ? options->workers : 1,
                                        .seed = seed,
                                        .spin_ns = -1,
                                        .balance =
                                            options->moves ? TR_BALANCE_RESTLESS : TR_BALANCE_OFF,
                                        .awake_max = options->awake_max,
                                        .awake_bytes_max = options->awake_bytes_max,
                                        .traps_faults = stacks->traps_faults,
                                        .stack_bytes = stacks->stack_bytes,
                                        .platform = &kit->virtual->table};
    if (tr__system_new(&system_options, &kit->system) != TR_OK)
        goto free_virtual;
    kit->system->blocking->is_played = true;
    if (durable_start(kit, options) != TR_OK)
        goto free_system;
    if (tr_client_new(kit->system, &kit->client) != TR_OK)
        goto free_system;
    kit->thread_id = kit->system->platform->thread_id(kit->system->platform);
    /* no lock is needed, because no other thread knows the system yet */
    kit->system->run.phase = SYSTEM_EMBEDDED;
    if (stacks->traps_faults)
        tr__faults_begin(kit->system->workers[0]);
    return kit;

free_system:
    tr_system_free(kit->system);
    tr__kit_clock_close(&kit->clock);
free_virtual:
    tr__virtual_free(kit->virtual);
free_kit:
    tr__os_resize(kit, 0);
    return NULL;
}

tr_kit *tr_kit_new_sized(const tr_kit_options *caller_options, size_t size)
{
    static const struct kit_stacks stacks;
    tr_kit_options options = {.size = sizeof options};
    if (caller_options && !sized_read(&options, sizeof options, caller_options, size))
        return NULL;
    return tr__kit_new(&options, &stacks);
}

void tr_kit_free(tr_kit *kit)
{
    if (!kit)
        return;
    tr__virtual_fail_allocation(kit->virtual, 0, false);
    tr_kit_settle(kit);
    tr_kit_check(kit);
    tr_client_free(kit->client);
    tr__faults_end(kit->system->workers[0]);
    tr_system_free(kit->system);
    tr__kit_clock_write(&kit->clock, tr_kit_wall_now(kit));
    tr__kit_clock_close(&kit->clock);
    tr__kit_net_free(kit);
    size_t leaked = tr__virtual_live_blocks(kit->virtual);
    if (leaked) {
        char text[160];
        snprintf(text,
                 sizeof text,
                 "tr_kit_free: %zu blocks (%zu bytes) leaked; the oldest is allocation %llu",
                 leaked,
                 tr__virtual_live_bytes(kit->virtual),
                 (unsigned long long)tr__virtual_oldest_block(kit->virtual));
        tr__assert_failed(__FILE__, __LINE__, __func__, text);
    }
    tr__virtual_free(kit->virtual);
    tr__os_resize(kit, 0);
}

tr_system *tr_kit_system(tr_kit *kit)
{
    return kit->system;
}

tr_client *tr_kit_client(tr_kit *kit)
{
    return kit->client;
}

tr_time tr_kit_now(const tr_kit *kit)
{
    return kit->virtual->mono;
}

tr_time tr_kit_wall_now(const tr_kit *kit)
{
    return kit->virtual->table.wall_now(&kit->virtual->table);
}

void tr_kit_fail_allocation(tr_kit *kit, uint64_t nth, bool and_all_after)
{
    tr__virtual_fail_allocation(kit->virtual, nth, and_all_after);
}

uint64_t tr_kit_allocations(const tr_kit *kit)
{
    return kit->virtual->allocations;
}

uint64_t tr_kit_trace(const tr_kit *kit)
{
    uint64_t network = kit->virtual->net.trace;
    return network ? hash_mix(kit->trace ^ network) : kit->trace;
}

/* ---- Conservation: each accepted message is handled, dead or queued. ---- */

/*
 * Capacity of a mailbox that was granted to a sender and is not in the mailbox now: it is on its
 * way to the sender, with the sender, or on its way back.
 */
struct journey {
    int32_t messages;
    int32_t lines;
};

struct census {
    struct slots *slots;
    uint64_t queued; /* messages in mailboxes and inboxes */
    uint64_t live;   /* actors */
    /* for each cell, by its slot: the granted capacity that is on its way */
    struct journey *journeys;
};

struct tally {
    uint64_t lines;      /* the lines of all messages in the mailboxes of an actor */
    int32_t roomy;       /* how many of these messages take capacity of the mailbox */
    int32_t roomy_lines; /* the lines of the messages that take capacity */
};

static void tally_roomy(struct tally *tally, const struct envelope *envelope)
{
    if (!mail_takes_capacity(envelope))
        return;
    tally->roomy++;
    tally->roomy_lines += (int32_t)mail_lines(envelope);
}

static uint64_t ring_count(const struct envelope *last, struct tally *tally)
{
    uint64_t counted = 0;
    if (!last)
        return 0;
    const struct envelope *envelope = last;
    do {
        envelope = (const struct envelope *)(const void *)envelope->mail.next;
        tally->lines += mail_lines(envelope);
        tally_roomy(tally, envelope);
        counted += mail_counts(envelope);
    } while (envelope != last);
    return counted;
}

static void count_journey(struct census *census, struct envelope *envelope, uint64_t from)
{
    const struct cell *cell = slots_find(census->slots, from);
    const struct tr_capacity *capacity = envelope_data(envelope);
    if (!cell)
        return;
    struct journey *journey = &census->journeys[slots_number(census->slots, cell)];
    journey->messages += capacity->messages;
    journey->lines += capacity->lines;
}

/*
 * Counts the capacity in the letters (GRANT and BACK) that are in the inbox of a cell, and the
 * capacity that was granted to its parked turns.
 */
static void count_journeys(struct census *census, const struct cell *cell)
{
    const void *head = atomptr_load(&cell->door.inbox, ATOM_RELAXED);
    struct door_mail *mail = door_holds_mail(head) ? (struct door_mail *)(uintptr_t)head : NULL;
    for (; mail; mail = mail->next) {
        struct envelope *envelope = (struct envelope *)(void *)mail;
        if (envelope->kind == ENVELOPE_GRANT)
            count_journey(census, envelope, envelope->sender);
        else if (envelope->kind == ENVELOPE_BACK && envelope->generation == cell_generation(cell))
            count_journey(census, envelope, cell->identity);
    }
    if (cell_is_client(cell) || cell->life == LIFE_NEW || !cell->extra)
        return;
    PARKED_EACH (self, cell->extra) {
        if (self->capacity.grant)
            count_journey(census, self->capacity.grant, self->capacity.grant->sender);
    }
}

static void census_cell(struct census *census, const struct cell *cell)
{
    struct tally tally = {0};
    struct tally set_aside = {0};
    const struct envelope *received = NULL;
    const struct envelope *stash = NULL;
    const struct envelope *held = NULL;
    const struct envelope *late = NULL;
    const struct envelope *requests = NULL;
    const struct envelope *channels = NULL;
    const tr_behavior *behavior = cell->dispatch ? cell->dispatch->behavior : NULL;
    if (cell_is_client(cell))
        behavior = &tr_behavior_tr_inbox;
    bool is_exact = cell->life < LIFE_STOPPING && behavior;
    if (cell_is_client(cell)) {
        received = ((const struct tr_client *)cell->state)->received;
    } else if (cell->life != LIFE_NEW && cell->extra) {
        stash = cell->extra->stash.ring;
        held = cell->extra->mail.held;
        late = cell->extra->mail.late;
        requests = cell->extra->mail.requests;
        census->queued += tr__batch_current(cell);
    }
    if (cell->flags & CELL_CHANNELS)
        channels = slots_channels(cell)->ready;
    census->queued += ring_count(cell->cycle, &tally) + ring_count(cell->notices, &tally) +
                      ring_count(cell->replies, &tally) + ring_count(cell->exceptions, &tally) +
                      ring_count(requests, &tally) + ring_count(cell->events, &tally) +
                      ring_count(received, &tally) + ring_count(held, &tally) +
                      ring_count(late, &tally) + ring_count(channels, &tally) +
                      ring_count(stash, &set_aside);
    TR_ASSERT(cell->queued_lines == tally.lines + set_aside.lines);
    const void *head = atomptr_load(&cell->door.inbox, ATOM_RELAXED);
    const struct door_mail *mail = door_holds_mail(head) ? head : NULL;
    for (; mail; mail = mail->next) {
        const struct envelope *envelope = (const struct envelope *)(const void *)mail;
        census->queued += mail_counts(envelope);
        if (envelope->generation == cell_generation(cell))
            tally_roomy(&tally, envelope);
    }
    if (is_exact) {
        const struct journey *journey = &census->journeys[slots_number(census->slots, cell)];
        int32_t lines;
        int32_t messages = tr__capacity_used(cell, behavior, &lines);
        TR_ASSERT(messages == tally.roomy + journey->messages);
        TR_ASSERT(lines == tally.roomy_lines + journey->lines);
    }
    bool is_actor = !cell_is_client(cell) && cell_parent_slot(cell);
    census->live += is_actor && cell->life != LIFE_STOPPED;
    TR_ASSERT((cell->sched_state == SCHED_READY) <= (cell->life < LIFE_STOPPED));
}

/*
 * Whether a slot has neither an actor nor a client. A free slot has no owner and no ref in its
 * door. The slot of a client has no owner either, but it has a ref. A group address counts as free.
 */
static bool slot_is_free(const struct cell *cell)
{
    return cell_is_group_address(cell) ||
           (cell_owner(cell) == CELL_FOREIGN && !atom64_load(&cell->door.ref, ATOM_RELAXED));
}

static void census_take(struct census *census)
{
    struct slots *slots = census->slots;
    uint32_t used = tr__slots_used(slots);
    census->journeys = tr__os_resize(NULL, used * sizeof *census->journeys);
    TR_ASSERT(census->journeys);
    memset(census->journeys, 0, used * sizeof *census->journeys);
    for (uint32_t slot = 1; slot < used; slot++) {
        if (!slot_is_free(slots_at(slots, slot)))
            count_journeys(census, slots_at(slots, slot));
    }
    for (uint32_t slot = 1; slot < used; slot++) {
        if (!slot_is_free(slots_at(slots, slot)))
            census_cell(census, slots_at(slots, slot));
    }
    tr__os_resize(census->journeys, 0);
}

void tr_kit_check(tr_kit *kit)
{
    struct tr_system *system = kit->system;
    struct census census = {.slots = system->slots};
    census_take(&census);
    tr_counters counters;
    tr_system_counters(system, &counters);
    uint64_t dead = counters.dead_letters - counters.refused;
    if (counters.accepted == counters.handled + dead + census.queued &&
        counters.live == census.live)
        return;
    char text[240];
    snprintf(
        text,
        sizeof text,
        "conservation: accepted %llu, handled %llu, dead %llu, queued %llu; live %llu, found %llu",
        (unsigned long long)counters.accepted,
        (unsigned long long)counters.handled,
        (unsigned long long)dead,
        (unsigned long long)census.queued,
        (unsigned long long)counters.live,
        (unsigned long long)census.live);
    tr__assert_failed(__FILE__, __LINE__, __func__, text);
}
