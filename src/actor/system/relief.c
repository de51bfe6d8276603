/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/system/relief.h"

#include <stdio.h>
#include <string.h>

#include "actor/mail/mail.h"
#include "actor/turn/park.h"
#include "actor/cell/system.h"
#include "actor/cell/view.h"
#include "base/assert.h"

/* How soon after a call that came to nothing, or found no thread, the watch tries again. */
#define CALL_AGAIN_NS (5 * TR_MILLISECOND)
/* The same when the machine had no thread. */
#define MAKE_AGAIN_NS TR_SECOND

/* ---- Making and ending. ---- */

tr_status tr__relief_check(const tr_system_options *options)
{
    if (!options->relief_after_ns)
        return TR_OK;
    if (options->relief_after_ns < 0 || options->relief_after_ns > TR_OPTION_NS_MAX)
        return TR_INVALID_ARGUMENT;
    if (options->relief_threads_max > TR_RELIEF_THREADS_LARGEST)
        return TR_LIMIT;
    /* The handler of a fault finds the worker by the signal stack of its thread. */
    if (options->traps_faults || options->names_faults)
        return TR_NOT_SUPPORTED;
    return tr__os_barrier_init();
}

void tr__relief_init(struct relief *relief, struct tr_system *system,
                     const tr_system_options *options)
{
    relief->system = system;
    lock_init(&relief->lock);
    list_init(&relief->idle);
    atom64_init(&relief->total, 0);
    relief->after_ns = options->relief_after_ns;
    relief->spares_max =
        options->relief_threads_max ? options->relief_threads_max : TR_RELIEF_THREADS_MAX;
}

static tr_status thread_init(struct relief *relief, struct relief_thread *thread)
{
    const tr_platform *platform = relief->system->platform;
    memset(thread, 0, sizeof *thread);
    seat_init(&thread->seat);
    thread->relief = relief;
    list_init(&thread->link);
    atom64_init(&thread->id, 0);
    return platform->parker_new(platform, &thread->parker);
}

tr_status tr__relief_open(struct tr_system *system)
{
    struct relief *relief = &system->relief;
    if (!relief->after_ns)
        return TR_OK;
    size_t count = system->worker_count + relief->spares_max;
    relief->worker_count = system->worker_count;
    relief->views = source_resize(&system->source, NULL, count * sizeof *relief->views);
    relief->threads = source_resize(&system->source, NULL, count * sizeof *relief->threads);
    if (relief->threads) /* tr__relief_deinit looks at them, also when the rest is not there */
        memset(relief->threads, 0, count * sizeof *relief->threads);
    if (!relief->views || !relief->threads)
        return TR_NO_MEMORY;
    for (uint32_t i = 0; i < system->worker_count; i++) {
        struct worker *worker = system->workers[i];
        tr_status status = thread_init(relief, &relief->threads[i]);
        if (status != TR_OK)
            return status;
        relief->threads[i].has_begun = true; /* the start gate sees to it */
        atomptr_store(&worker->seat, &relief->threads[i], ATOM_RELEASE);
        worker->near = CELL_NOWHERE; /* see worker_set_gate */
        worker->loop.hooks = &tr__worker_relieving_hooks;
    }
    return TR_OK;
}

static void wake(const struct relief_thread *thread)
{
    const tr_platform *platform = thread->relief->system->platform;
    platform->wake(platform, thread->parker);
}

void tr__relief_close(struct tr_system *system)
{
    struct relief *relief = &system->relief;
    lock_take(&relief->lock);
    relief->is_over = true;
    LIST_EACH (link, &relief->idle)
        wake(LIST_OWNER(link, struct relief_thread, link));
    lock_give(&relief->lock);
}

void tr__relief_join(struct tr_system *system)
{
    struct relief *relief = &system->relief;
    const tr_platform *platform = system->platform;
    for (uint32_t i = 0; relief->threads && i < relief->spares; i++) {
        struct relief_thread *thread = &relief->threads[relief->worker_count + i];
        if (thread->thread)
            platform->thread_join(platform, thread->thread);
        ATOM_POKE(&thread->thread, NULL);
    }
}

void tr__relief_deinit(struct tr_system *system)
{
    struct relief *relief = &system->relief;
    uint32_t count = relief->threads ? relief->worker_count + relief->spares_max : 0;
    for (uint32_t i = 0; i < count; i++) {
        if (relief->threads[i].parker)
            system->platform->parker_free(system->platform, relief->threads[i].parker);
    }
    source_resize(&system->source, relief->views, 0);
    source_resize(&system->source, relief->threads, 0);
}

bool tr__relief_is_caller(struct tr_system *system)
{
    struct relief *relief = &system->relief;
    uint64_t id = system->platform->thread_id(system->platform);
    uint32_t count = relief->threads ? relief->worker_count + relief->spares_max : 0;
    for (uint32_t i = 0; i < count; i++) {
        if (atom64_load(&relief->threads[i].id, ATOM_RELAXED) == id)
            return true;
    }
    return false;
}

const tr_thread *tr__worker_thread(const struct worker *worker)
{
    const struct relief_thread *seat = atomptr_load(&worker->seat, ATOM_ACQUIRE);
    if (!seat)
        return ATOM_PEEK(&worker->thread);
    struct relief *relief = seat->relief;
    size_t index = (size_t)(seat - relief->threads);
    if (index >= relief->worker_count)
        return ATOM_PEEK(&seat->thread);
    return ATOM_PEEK(&relief->system->workers[index]->thread);
}

void tr__relief_each(struct tr_system *system,
                     void (*visit)(void *context, const struct relief_thread *thread),
                     void *context)
{
    struct relief *relief = &system->relief;
    if (!relief->threads)
        return;
    lock_take(&relief->lock);
    for (uint32_t i = 0; i < relief->worker_count + relief->spares; i++) {
        const struct relief_thread *thread = &relief->threads[i];
        if (thread->is_stuck && !seat_is_back(&thread->seat))
            visit(context, thread);
    }
    lock_give(&relief->lock);
}

/* ---- Taking a worker. ---- */

/* Code that the runtime needs to come back from, at once or in this order, cannot be left. */
static bool is_relievable(const struct tr_self *turn)
{
    return turn->kind == TURN_MESSAGE && turn->state == TURN_RUNS && !turn->is_cancelled &&
           !turn->worker->depth;
}

static void hand(struct relief_thread *thread)
{
    seat_hand(&thread->seat);
    wake(thread);
}

/* Another thread acts for the worker, also in the run of which the present turn is a part. */
static void seat_change(struct worker *worker, struct relief_thread *thread)
{
    worker->message->seat = &thread->seat;
    atomptr_store(&worker->seat, thread, ATOM_RELEASE); /* partner: tr__worker_thread */
    atom64_store(&worker->thread_id, atom64_load(&thread->id, ATOM_RELAXED), ATOM_RELAXED);
}

static void log_relief(struct worker *worker, const struct tr_self *turn, tr_time since_ns)
{
    char path[TR_PATH_MAX + 1];
    tr__cell_path(worker->system, turn->cell, path);
    tr__log(worker->system,
            TR_LEVEL_WARN,
            path,
            "relief: worker %u goes on without %s, which has handled %.64s for %lld ms",
            (unsigned)worker->index,
            turn->row->name ? turn->row->name : "its handler",
            turn->envelope->type->name,
            (long long)((worker->loop.now_ns - since_ns) / TR_MILLISECOND));
}

/* The worker is this thread's from now on, and that of the turn is stuck. Under the lock. */
static void take_over(struct relief_thread *thread, struct relief_thread *stuck,
                      struct tr_self *turn, tr_time since_ns)
{
    struct worker *worker = turn->worker;
    /* What the turn stands on when it goes on; the fiber that it runs on is its own. */
    stuck->turn = turn;
    stuck->side = worker->host.side;
    worker->host.current = NULL;
    seat_change(worker, thread);
    stuck->is_stuck = true;
    stuck->number++;
    stuck->cell = turn->cell;
    stuck->type = turn->envelope->type;
    stuck->row = turn->row;
    stuck->worker = worker;
    stuck->since_ns = since_ns;
}

static bool take(struct relief_thread *thread, struct worker *called, uint64_t steps)
{
    struct relief *relief = thread->relief;
    struct relief_thread *stuck = atomptr_load(&called->seat, ATOM_ACQUIRE);
    struct tr_self *turn = seat_take(&stuck->seat);
    if (!turn)
        return false;
    /* By now that thread may act for another worker, or have got on. */
    bool is_due = turn->worker == called && loop_steps(&called->loop) == steps &&
                  is_relievable(turn) && tr__turn_prepare(turn);
    /* The lock: who sees that the worker gets on, which it does by losing this turn, sees why. */
    lock_take(&relief->lock);
    tr_time since_ns = (tr_time)atom64_load(&called->loop.since_ns, ATOM_RELAXED);
    bool is_taken = is_due && tr__turn_stick(turn);
    if (is_taken)
        take_over(thread, stuck, turn, since_ns);
    lock_give(&relief->lock);
    if (is_taken) {
        atom64_fetch_add(&relief->total, 1, ATOM_RELAXED);
        log_relief(called, turn, since_ns);
    } else if (!seat_give_up(&stuck->seat)) {
        hand(stuck);
    }
    return is_taken;
}

/* True when the thread may work. */
static bool begin(struct relief_thread *thread, const struct worker *worker)
{
    struct tr_system *system = worker->system;
    const struct start_gate *gate = &system->gate;
    if (thread->has_begun || !gate->on_worker_start)
        return true;
    thread->has_begun = true;
    tr_status status = gate->on_worker_start(system, (int)worker->index, gate->context);
    if (status == TR_OK)
        return true;
    tr__log(system,
            TR_LEVEL_ERROR,
            NULL,
            "a relief thread did not start: %s: %s",
            tr_status_name(status),
            tr_status_text(status));
    return false;
}

/* Waits; gives the worker that is to be taken, NULL when the system is over. */
static struct worker *await_call(struct relief_thread *thread, uint64_t *steps)
{
    struct relief *relief = thread->relief;
    const tr_platform *platform = relief->system->platform;
    lock_take(&relief->lock);
    if (!thread->call)
        list_push_first(&relief->idle, &thread->link);
    while (!thread->call && !relief->is_over) {
        lock_give(&relief->lock);
        platform->park(platform, thread->parker, TR_NEVER);
        lock_take(&relief->lock);
    }
    struct worker *worker = thread->call;
    *steps = thread->call_steps;
    thread->call = NULL;
    list_remove(&thread->link);
    lock_give(&relief->lock);
    return worker;
}

void tr__relief_serve(struct relief_thread *thread)
{
    struct relief *relief = thread->relief;
    struct worker *worker;
    uint64_t steps;
    bool has_ended = false;
    while (!has_ended && (worker = await_call(thread, &steps))) {
        bool may_work = begin(thread, worker);
        bool is_taken = may_work && take(thread, worker, steps);
        lock_take(&relief->lock);
        worker->is_called = false;
        lock_give(&relief->lock);
        has_ended = !may_work || (is_taken && tr__worker_work(worker));
    }
}

static void spare_main(void *context)
{
    struct relief_thread *thread = context;
    const tr_platform *platform = thread->relief->system->platform;
    atom64_store(&thread->id, platform->thread_id(platform), ATOM_RELAXED);
    tr__relief_serve(thread);
    atom64_store(&thread->id, 0, ATOM_RELAXED); /* another may get this number */
}

/* ---- Calling somebody. On the watch's thread. ---- */

/* One thread more, which is called for this worker. */
static tr_status make(struct relief *relief, struct worker *worker, uint64_t steps)
{
    const tr_platform *platform = relief->system->platform;
    struct relief_thread *thread = &relief->threads[relief->worker_count + relief->spares];
    tr_status status = thread->parker ? TR_OK : thread_init(relief, thread);
    if (status != TR_OK)
        return status;
    thread->call = worker;
    thread->call_steps = steps;
    tr_thread *handle;
    status = platform->thread_start(platform, "troupe-relief", spare_main, thread, &handle);
    if (status != TR_OK) {
        thread->call = NULL;
        return status;
    }
    ATOM_POKE(&thread->thread, handle);
    return TR_OK;
}

static void say_no(struct relief *relief, struct worker *worker, uint64_t steps, tr_status status)
{
    if (worker->call_steps == steps)
        return;
    worker->call_steps = steps;
    if (status == TR_LIMIT)
        tr__log(relief->system,
                TR_LEVEL_WARN,
                NULL,
                "no relief for worker %u: all %u threads for it are in use",
                (unsigned)worker->index,
                (unsigned)relief->spares_max);
    else
        tr__log(relief->system,
                TR_LEVEL_ERROR,
                NULL,
                "no relief for worker %u: no thread: %s",
                (unsigned)worker->index,
                tr_status_text(status));
}

static void on_stuck(void *context, struct loop *loop, uint64_t steps, tr_time now_ns)
{
    struct tr_system *system = context;
    struct relief *relief = &system->relief;
    struct worker *worker = worker_of_loop(loop);
    const struct relief_thread *seat = atomptr_load(&worker->seat, ATOM_ACQUIRE);
    /* Only a hint; the thread that is called finds out. */
    if (now_ns < worker->call_ns || !atomptr_load(&seat->seat.user, ATOM_RELAXED))
        return;
    worker->call_ns = now_ns + CALL_AGAIN_NS;
    lock_take(&relief->lock);
    bool is_needed = !worker->is_called && !relief->is_over;
    struct list *link = is_needed ? list_pop_first(&relief->idle) : NULL;
    struct relief_thread *spare = link ? LIST_OWNER(link, struct relief_thread, link) : NULL;
    if (spare) {
        spare->call = worker;
        spare->call_steps = steps;
    }
    bool has_room = relief->spares < relief->spares_max;
    tr_status status = spare || has_room ? TR_OK : TR_LIMIT;
    if (is_needed && status == TR_OK)
        worker->is_called = true;
    if (is_needed && status == TR_OK && !spare) {
        /* Under the lock: who ends the system counts it. */
        status = make(relief, worker, steps);
        worker->is_called = status == TR_OK;
        relief->spares += status == TR_OK;
        if (status != TR_OK)
            worker->call_ns = now_ns + MAKE_AGAIN_NS;
    }
    lock_give(&relief->lock);
    if (spare)
        wake(spare);
    if (is_needed && status != TR_OK)
        say_no(relief, worker, steps, status);
}

/* ---- Coming back. ---- */

void tr__relief_return(struct tr_self *self)
{
    struct relief_thread *thread = (struct relief_thread *)(void *)self->seat;
    struct cell *cell = self->cell;
    struct tr_system *system = self->worker->system;
    atom32_fetch_or(&cell->control, CONTROL_BACK, ATOM_SEQ_CST); /* partner: on_post_alive */
    if (door_nudge(&cell->door) == DOOR_TAKEN_POST)
        tr__system_post(system, NULL, cell);
    while (!seat_is_held(&thread->seat))
        system->platform->park(system->platform, thread->parker, TR_NEVER);
    /* It is still there if who took the worker has given up. */
    atom32_fetch_and(&cell->control, ~(uint32_t)CONTROL_BACK, ATOM_RELAXED);
}

void tr__relief_back(struct worker *worker, struct cell *cell)
{
    const struct tr_self *turn = cell->extra ? cell->extra->stuck : NULL;
    if (turn && cell->house == HOUSE_RUNNING && seat_is_back(turn->seat))
        mail_make_ready(worker, cell);
}

void tr__relief_leave(struct worker *worker, struct tr_self *turn)
{
    struct relief_thread *heir = (struct relief_thread *)(void *)turn->seat;
    TR_ASSERT(heir->turn == turn);
    TR_ASSERT(seat_is_back(&heir->seat));
    worker->heir = heir;
    tr__fiber_yield(&worker->host);
}

void tr__relief_hand(struct worker *worker)
{
    struct relief_thread *heir = worker->heir;
    struct relief *relief = heir->relief;
    worker->heir = NULL;
    worker->host.side = heir->side;
    worker->host.current = heir->turn->fiber;
    seat_change(worker, heir);
    lock_take(&relief->lock);
    heir->is_stuck = false;
    lock_give(&relief->lock);
    hand(heir); /* nothing of the worker is touched after this */
}

/* ---- What is said of turns that are stuck. On the watch's thread. ---- */

/* A turn of which nothing was told yet, or only by its worker. Under the lock. */
static void follow(struct relief_thread *thread, struct view *view)
{
    struct worker *worker = thread->worker;
    struct stalls *stalls = &worker->system->stalls;
    const struct dispatch *dispatch = ATOM_PEEK(&thread->cell->dispatch);
    thread->told_number = thread->number;
    view->ref = ATOM_PEEK(&thread->cell->identity);
    view->type = thread->type;
    view->row = thread->row;
    view->behavior = dispatch ? dispatch->behavior : NULL;
    view->since_ns = thread->since_ns;
    tr__view_path(worker->system, thread->cell, view->path);
    const struct loop *loop = &worker->loop;
    thread->is_told = loop->is_reported && stalls->views[worker->index].ref == view->ref;
    thread->tell_ns = thread->is_told ? loop->report_ns : stalls->report_ns;
}

bool tr__relief_follows(struct tr_system *system, uint64_t ref)
{
    struct relief *relief = &system->relief;
    bool is_found = false;
    if (!relief->threads)
        return false;
    lock_take(&relief->lock);
    for (uint32_t i = 0; i < relief->worker_count + relief->spares && !is_found; i++) {
        struct relief_thread *thread = &relief->threads[i];
        struct view *view = &relief->views[i];
        bool is_its = thread->is_stuck && ATOM_PEEK(&thread->cell->identity) == ref;
        if (is_its && !thread->is_told && thread->number != thread->told_number)
            follow(thread, view);
        is_found = thread->is_told && view->ref == ref;
    }
    lock_give(&relief->lock);
    return is_found;
}

bool tr__relief_has(struct tr_system *system, uint64_t ref)
{
    struct relief *relief = &system->relief;
    bool is_found = false;
    if (!relief->threads)
        return false;
    lock_take(&relief->lock);
    for (uint32_t i = 0; i < relief->worker_count + relief->spares && !is_found; i++) {
        const struct relief_thread *thread = &relief->threads[i];
        is_found = thread->is_stuck && ATOM_PEEK(&thread->cell->identity) == ref;
    }
    lock_give(&relief->lock);
    return is_found;
}

static bool look_at(struct relief *relief, uint32_t index, tr_time now_ns)
{
    struct relief_thread *thread = &relief->threads[index];
    struct view *view = &relief->views[index];
    lock_take(&relief->lock);
    bool is_stuck = thread->is_stuck;
    bool is_new = is_stuck && thread->number != thread->told_number;
    bool is_over = thread->is_told && (!is_stuck || is_new);
    int worker = is_stuck || is_over ? (int)thread->worker->index : 0;
    if (is_new && !is_over)
        follow(thread, view);
    lock_give(&relief->lock);
    tr_time age_ns = now_ns - view->since_ns;
    if (is_over) {
        thread->is_told = false;
        tr__stalls_tell(relief->system, view, worker, age_ns, STALL_OVER | STALL_RELIEVED);
    } else if (is_stuck && age_ns >= thread->tell_ns) {
        unsigned flags = STALL_RELIEVED | (thread->is_told ? 0 : STALL_FIRST);
        thread->is_told = true;
        tr__stalls_tell(relief->system, view, worker, age_ns, flags);
        while (thread->tell_ns <= age_ns)
            thread->tell_ns *= WATCH_GROWTH;
    }
    return is_stuck;
}

static bool on_look(void *context, tr_time now_ns)
{
    struct tr_system *system = context;
    struct relief *relief = &system->relief;
    bool is_any = false;
    for (uint32_t i = 0; i < relief->worker_count + relief->spares; i++) {
        if (system->stalls.report_ns)
            is_any |= look_at(relief, i, now_ns);
    }
    return is_any;
}

void tr__relief_watch(struct tr_system *system, struct watch_report *report)
{
    if (!system->relief.threads)
        return;
    report->relief_ns = system->relief.after_ns;
    report->on_stuck = on_stuck;
    report->on_look = on_look;
}
