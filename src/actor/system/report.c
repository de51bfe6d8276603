/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The report of a shutdown: which actors were slow to stop, which are still busy, and a text for
 * people.
 */
#include "actor/system/report.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "actor/cell/dispatch.h"
#include "actor/cell/log.h"
#include "actor/cell/names.h"
#include "actor/cell/slots.h"
#include "actor/cell/system.h"
#include "actor/cell/upcalls.h"
#include "actor/mail/shutdown_stats.h"
#include "actor/system/shutdown.h"
#include "actor/system/thread_handoff.h"
#include "actor/turn/shared_job.h"
#include "base/sized.h"

/* An actor that stops later than this is named in the text for people. */
#define WORTH_SAYING_NS (TR_SECOND / 2)

/* Copies a path. If the path is too long, leaves out its beginning, because its end says more. */
static void copy_path(char *to, size_t size, const char *path)
{
    size_t length = strlen(path);
    if (length < size)
        memcpy(to, path, length + 1);
    else
        (void)snprintf(to, size, "...%s", path + length - (size - 4));
}

static void path_of(struct tr_system *system, const struct cell *cell, char *to, size_t size)
{
    char path[TR_PATH_MAX + 1];
    tr__cell_path(system, cell, path);
    copy_path(to, size, path);
}

/* ---- What each actor did. ---- */

/*
 * Returns the number that orders the lines about actors. The number of lost messages counts first,
 * then whether the actor was late, then the number of handled messages.
 */
static uint64_t worth_of(uint64_t dead, bool is_late, uint64_t handled)
{
    uint64_t lost = dead < INT32_MAX ? dead : INT32_MAX;
    uint64_t late = is_late ? UINT64_C(1) << 32 : 0;
    return lost << 33 | late | (handled < UINT32_MAX ? handled : UINT32_MAX);
}

static uint64_t worth_of_line(const tr_report_actor *line)
{
    return worth_of(line->dead_letters, line->is_forced || line->after_ns < 0, line->handled);
}

/*
 * Adds a line about an actor. The lines are sorted by worth_of. If there is no space, drops the
 * line that is worth least.
 */
static void line_add(struct report_lines *lines, const tr_report_actor *line)
{
    uint32_t count = lines->count;
    uint32_t at = 0;
    while (at < count && worth_of_line(&lines->line[at]) >= worth_of_line(line))
        at++;
    if (at == TR_REPORT_ACTORS_MAX)
        return;
    if (count < TR_REPORT_ACTORS_MAX)
        lines->count = ++count;
    memmove(&lines->line[at + 1], &lines->line[at], (count - 1 - at) * sizeof *line);
    lines->line[at] = *line;
}

/* Returns the worth above which the next actor gets a line. */
static uint64_t floor_of(const struct report_lines *lines)
{
    bool is_full = lines->count == TR_REPORT_ACTORS_MAX;
    return is_full ? worth_of_line(&lines->line[TR_REPORT_ACTORS_MAX - 1]) : 0;
}

/* Notes what an actor that has ended did during the shutdown. Owner only. */
static void actor_note(struct worker *worker, const struct cell *cell, tr_time after_ns,
                       bool is_forced)
{
    struct tr_system *system = worker->system;
    struct shutdown *shutdown = system->shutdown;
    uint32_t handled;
    uint32_t dead;
    if (!tr__shutdown_stats_take(worker, cell, &handled, &dead))
        return;
    uint64_t worth = worth_of(dead, is_forced, handled);
    if (!worth)
        return;
    atom64_count(&worker->shutdown.told, 1);
    if (worth <= atom64_load(&shutdown->floor, ATOM_RELAXED))
        return;
    tr_report_actor line = {
        .handled = handled, .dead_letters = dead, .is_forced = is_forced, .after_ns = after_ns};
    path_of(system, cell, line.path, sizeof line.path);
    lock_take(&system->ending.lock);
    line_add(&shutdown->lines, &line);
    atom64_store(&shutdown->floor, floor_of(&shutdown->lines), ATOM_RELAXED);
    lock_give(&system->ending.lock);
}

/*
 * Adds lines for the actors that have not ended. Returns how many actors have something to report.
 */
static uint32_t actors_left(struct tr_system *system, struct report_lines *lines)
{
    uint32_t told = 0;
    tr_report_actor line = {.after_ns = -1};
    uint32_t handled;
    uint32_t dead;
    for (uint32_t i = 0; i < system->worker_count; i++) {
        if (atom32_load(&system->workers[i]->shutdown.is_stuck, ATOM_RELAXED))
            tr__shutdown_stats_add_run(system->workers[i]);
    }
    for (uint32_t slot = 1; slot < system->ending.shutdown_stats.count; slot++) {
        const struct cell *cell = slots_at(system->slots, slot);
        if (!cell || !tr__shutdown_stats_look(system, slot, &handled, &dead))
            continue;
        told++;
        line.handled = handled;
        line.dead_letters = dead;
        path_of(system, cell, line.path, sizeof line.path);
        line_add(lines, &line);
    }
    return told;
}

/* ---- Actors that were slow to stop. ---- */

static void slow_add(struct tr_system *system, const char *path, tr_time after_ns)
{
    struct shutdown *shutdown = system->shutdown;
    tr_shutdown_report *final = &shutdown->final;
    lock_take(&system->ending.lock);
    /*
     * This actor took longer to stop than all actors that were noted before, so it comes first. If
     * there is no space, the last note is dropped.
     */
    uint32_t kept = final->slow_count;
    if (kept == TR_REPORT_SLOW_MAX)
        kept--;
    memmove(&final->slow[1], &final->slow[0], kept * sizeof final->slow[0]);
    final->slow_count = kept + 1;
    copy_path(final->slow[0].path, sizeof final->slow[0].path, path);
    final->slow[0].after_ns = after_ns;
    atom64_store(&shutdown->slow_ns, (uint64_t)(after_ns + SHUTDOWN_SLOW_NS), ATOM_RELAXED);
    lock_give(&system->ending.lock);
}

void tr__shutdown_unstored(struct worker *worker, const struct cell *cell)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    struct tr_system *system = worker->system;
    tr_shutdown_report *final = &system->shutdown->final;
    char path[sizeof final->unstored_path];
    path_of(system, cell, path, sizeof path);
    lock_take(&system->ending.lock);
    uint64_t before = final->unstored++;
    if (!before)
        memcpy(final->unstored_path, path, sizeof path);
    lock_give(&system->ending.lock);
    if (before < TR_REPORT_ACTORS_MAX)
        tr__log(system,
                TR_LEVEL_ERROR,
                path,
                "changes since the last save are lost: the shutdown timeout has passed");
}

bool tr__shutdown_has_unstored(struct tr_system *system)
{
    lock_take(&system->ending.lock);
    bool has_unstored = system->shutdown->final.unstored > 0;
    lock_give(&system->ending.lock);
    return has_unstored && !system->durable.has_failed(system);
}

void tr__shutdown_note(struct worker *worker, const struct cell *cell)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    struct tr_system *system = worker->system;
    struct shutdown *shutdown = system->shutdown;
    tr_time began_ns = (tr_time)atom64_load(&system->ending.began_ns, ATOM_RELAXED);
    if (!cell_parent_slot(cell) || !began_ns)
        return;
    bool is_forced = atom32_load(&system->ending.is_forced, ATOM_ACQUIRE);
    is_forced &= (cell->flags & CELL_KILLING) != 0;
    if (is_forced)
        atom64_count(&worker->shutdown.forced, 1);
    /* Read the clock only if a tick has passed. */
    if (loop_is_time_up(&worker->loop))
        tr__loop_look_at_clock(&worker->loop);
    tr_time after_ns = worker->loop.now_ns - began_ns;
    actor_note(worker, cell, after_ns, is_forced);
    if (after_ns < (tr_time)atom64_load(&shutdown->slow_ns, ATOM_RELAXED))
        return;
    char path[TR_PATH_MAX + 1];
    tr__cell_path(system, cell, path);
    slow_add(system, path, after_ns);
}

/* ---- Functions that are still busy. ---- */

struct collector {
    struct tr_system *system;
    tr_shutdown_report *report;
    tr_time now_ns;
};

/*
 * Counts one more busy function. Returns the place for it in the report; NULL if there is no space.
 */
static tr_report_busy *busy_next(struct collector *collector)
{
    tr_shutdown_report *report = collector->report;
    uint32_t index = report->busy_count++;
    return index < TR_REPORT_BUSY_MAX ? &report->busy[index] : NULL;
}

static const char *handler_of(const struct cell *cell, const tr_type *type)
{
    const tr_behavior *behavior = cell->dispatch ? cell->dispatch->behavior : NULL;
    for (size_t i = 0; behavior && type && i < behavior->handler_count; i++) {
        const tr_handler *handler = &behavior->handlers[i];
        if (!handler->type || handler->type == type || tr_type_is_equal(handler->type, type))
            return handler->name;
    }
    return behavior ? behavior->name : "";
}

static void busy_add_worker(struct collector *collector, struct worker *worker)
{
    /*
     * Read the type before the cell: a thread that has read the type sees what the worker wrote
     * before it set the type. Partner: worker_set_type.
     */
    const tr_type *type = worker_type(worker);
    const struct cell *cell = worker_running(worker);
    if (!cell || !atom32_load(&worker->shutdown.is_stuck, ATOM_RELAXED))
        return;
    tr_report_busy *busy = busy_next(collector);
    if (!busy)
        return;
    path_of(collector->system, cell, busy->path, sizeof busy->path);
    (void)snprintf(busy->type, sizeof busy->type, "%s", type ? type->name : "a signal");
    (void)snprintf(busy->where, sizeof busy->where, "%s", handler_of(cell, type));
    busy->worker = (int)worker->index;
    busy->age_ns = collector->now_ns - (tr_time)atom64_load(&worker->loop.seen_ns, ATOM_RELAXED);
}

static void busy_add_job(void *context, const struct blocking_job *job)
{
    struct collector *collector = context;
    tr_report_busy *busy = busy_next(collector);
    if (!busy)
        return;
    busy->worker = -1;
    busy->age_ns = collector->now_ns - job->began_ns;
    if (job->shared) {
        (void)snprintf(busy->path, sizeof busy->path, "%s", job->shared->key);
        (void)snprintf(busy->type, sizeof busy->type, "a name");
        (void)snprintf(busy->where, sizeof busy->where, "the resolver");
        return;
    }
    const struct envelope *envelope = job->self->envelope;
    path_of(collector->system, job->cell, busy->path, sizeof busy->path);
    (void)snprintf(busy->type, sizeof busy->type, "%s", envelope ? envelope->type->name : "");
    (void)snprintf(busy->where, sizeof busy->where, "tr_blocking");
}

static const char the_store[] = "the store";

/*
 * Adds the store, if it is writing. A durable actor ends only when its changes are on disk, or when
 * they could not be written.
 */
static void busy_add_store(struct collector *collector)
{
    const struct tr_system *system = collector->system;
    tr_time since_ns = system->durable.host ? system->durable.writing_since(system) : 0;
    tr_report_busy *busy = since_ns ? busy_next(collector) : NULL;
    if (!busy)
        return;
    (void)snprintf(busy->path, sizeof busy->path, "/system/durable");
    (void)snprintf(busy->type, sizeof busy->type, "a commit");
    (void)snprintf(busy->where, sizeof busy->where, "%s", the_store);
    busy->worker = -1;
    busy->age_ns = collector->now_ns - since_ns;
}

static void busy_add_stuck(void *context, const struct handoff_thread *thread)
{
    struct collector *collector = context;
    tr_report_busy *busy = busy_next(collector);
    if (!busy)
        return;
    const tr_handler *handler = thread->handler;
    path_of(collector->system, thread->cell, busy->path, sizeof busy->path);
    (void)snprintf(busy->type, sizeof busy->type, "%s", thread->type->name);
    (void)snprintf(
        busy->where, sizeof busy->where, "%s", handler->name ? handler->name : "its handler");
    busy->worker = (int)thread->worker->index;
    busy->age_ns = collector->now_ns - thread->since_ns;
}

/* ---- The report. ---- */

static void fill_counts(struct tr_system *system, tr_shutdown_report *report)
{
    const tr_counters *before = &system->shutdown->before;
    tr_counters now;
    tr_system_counters(system, &now);
    report->timeout_ns = system->shutdown->timeout_ns;
    report->stopped = now.stopped - before->stopped;
    report->handled = now.handled - before->handled;
    report->dead_letters = now.dead_letters - before->dead_letters;
    report->left = now.live;
    report->forced = 0;
    report->actor_count = 0;
    for (uint32_t i = 0; i < system->worker_count; i++) {
        report->forced += atom64_load(&system->workers[i]->shutdown.forced, ATOM_RELAXED);
        report->actor_count +=
            (uint32_t)atom64_load(&system->workers[i]->shutdown.told, ATOM_RELAXED);
    }
}

/* Copies the lines about actors. Under the lock. */
static void fill_lines(const struct tr_system *system, tr_shutdown_report *report)
{
    TR_ASSERT_SLOW(lock_is_held(&system->ending.lock));
    memcpy(report->actor, system->shutdown->lines.line, sizeof report->actor);
}

/* Logs which actors and functions are left, because not every application asks for the report. */
static void log_loss(struct tr_system *system, const tr_shutdown_report *report)
{
    tr__log(system,
            TR_LEVEL_ERROR,
            NULL,
            "shutdown incomplete: %llu actors have not stopped, %u functions have not returned",
            (unsigned long long)report->left,
            report->busy_count);
    for (uint32_t i = 0; i < report->busy_count && i < TR_REPORT_BUSY_MAX; i++) {
        const tr_report_busy *busy = &report->busy[i];
        tr__log(system,
                TR_LEVEL_ERROR,
                busy->path,
                "still handling %s for %lld ms, in %s",
                busy->type,
                (long long)(busy->age_ns / TR_MILLISECOND),
                busy->where);
    }
}

void tr__report_lose(struct tr_system *system)
{
    struct shutdown *shutdown = system->shutdown;
    tr_time now_ns = system->platform->mono_now(system->platform);
    lock_take(&system->ending.lock);
    tr_shutdown_report report = shutdown->final;
    tr_time called_ns = shutdown->called_ns;
    lock_give(&system->ending.lock);
    struct collector collector = {.system = system, .report = &report, .now_ns = now_ns};
    for (uint32_t i = 0; i < system->worker_count; i++)
        busy_add_worker(&collector, system->workers[i]);
    tr__blocking_each(system->blocking, busy_add_job, &collector);
    tr__handoff_each(system, busy_add_stuck, &collector);
    busy_add_store(&collector);
    fill_counts(system, &report);
    struct report_lines left = {.count = 0};
    report.actor_count += actors_left(system, &left);
    report.took_ns = now_ns - called_ns;
    lock_take(&system->ending.lock);
    for (uint32_t i = 0; i < left.count; i++)
        line_add(&shutdown->lines, &left.line[i]);
    fill_lines(system, &report);
    /* Take the notes about slow actors again, because notes may have been added meanwhile. */
    memcpy(report.slow, shutdown->final.slow, sizeof report.slow);
    report.slow_count = shutdown->final.slow_count;
    /* For the same reason, take the notes of tr__shutdown_unstored again. */
    report.unstored = shutdown->final.unstored;
    memcpy(report.unstored_path, shutdown->final.unstored_path, sizeof report.unstored_path);
    report.status = TR_SHUTDOWN_INCOMPLETE;
    shutdown->final = report;
    shutdown->is_lost = true;
    lock_give(&system->ending.lock);
    log_loss(system, &report);
}

/* Moves the hooks that have failed to the front. Otherwise keeps the order of the hooks. */
static void sort_hooks(tr_shutdown_report *report)
{
    tr_report_hook sorted[TR_HOOKS_MAX];
    uint32_t count = 0;
    for (uint32_t i = 0; i < report->hook_count; i++) {
        if (report->hook[i].status != TR_OK)
            sorted[count++] = report->hook[i];
    }
    for (uint32_t i = 0; i < report->hook_count; i++) {
        if (report->hook[i].status == TR_OK)
            sorted[count++] = report->hook[i];
    }
    memcpy(report->hook, sorted, count * sizeof sorted[0]);
}

static tr_status report_write(tr_system *system, tr_shutdown_report *report)
{
    struct shutdown *shutdown = system->shutdown;
    tr_status other =
        tr__shutdown_has_unstored(system) ? TR_SHUTDOWN_INCOMPLETE : tr_system_error(system, NULL);
    tr_time over_ns = (tr_time)atom64_load(&system->ending.over_ns, ATOM_ACQUIRE);
    tr_status status = TR_OK;
    lock_take(&system->ending.lock);
    if (shutdown->is_lost) {
        *report = shutdown->final;
    } else if (over_ns && shutdown->is_asked_for) {
        *report = shutdown->final;
        if (report->status == TR_OK)
            report->status = other;
        report->took_ns = over_ns - shutdown->called_ns;
        fill_counts(system, report);
        fill_lines(system, report);
    } else {
        status = TR_INVALID_TRANSITION;
    }
    lock_give(&system->ending.lock);
    if (status == TR_OK)
        sort_hooks(report);
    return status;
}

tr_status tr_system_report_sized(tr_system *system, tr_shutdown_report *report, size_t size)
{
    if (!system || !report || !size)
        return TR_INVALID_ARGUMENT;
    if (size == sizeof *report)
        return report_write(system, report);
    /* The program was compiled with a struct of another size, so fill in a whole report first. */
    tr_shutdown_report *whole = source_resize(&system->source, NULL, sizeof *whole);
    if (!whole)
        return TR_NO_MEMORY;
    tr_status status = report_write(system, whole);
    if (status == TR_OK)
        sized_write(report, size, whole, sizeof *whole);
    source_resize(&system->source, whole, 0);
    return status;
}

/* ---- The text for people. ---- */

struct text {
    char *at;
    size_t size;
    size_t length; /* the length of the whole text, which may be more than `size` */
};

static void say(struct text *text, const char *format, ...) TR_PRINTF(2, 3);

static void say(struct text *text, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    size_t capacity = text->length < text->size ? text->size - text->length : 0;
    int written = vsnprintf(capacity ? text->at + text->length : NULL, capacity, format, list);
    va_end(list);
    text->length += written > 0 ? (size_t)written : 0;
}

static void say_time(struct text *text, tr_time ns)
{
    if (ns < TR_MILLISECOND)
        say(text, "%.2f ms", (double)ns / (double)TR_MILLISECOND);
    else if (ns < 10 * TR_MILLISECOND)
        say(text, "%.1f ms", (double)ns / (double)TR_MILLISECOND);
    else if (ns < 10 * TR_SECOND)
        say(text, "%lld ms", (long long)(ns / TR_MILLISECOND));
    else
        say(text, "%.1f s", (double)ns / (double)TR_SECOND);
}

static void say_count(struct text *text, uint64_t count, const char *what)
{
    say(text, "%llu %s%s", (unsigned long long)count, what, count == 1 ? "" : "s");
}

static void say_head(struct text *text, const tr_shutdown_report *report)
{
    say(text, "%s in ", report->status == TR_SHUTDOWN_INCOMPLETE ? "gave up" : "stopped");
    say_time(text, report->took_ns);
    say(text, ": ");
    say_count(text, report->stopped, "actor");
    say(text, " stopped");
    if (report->forced) {
        say(text, ", %llu of them killed at the timeout (", (unsigned long long)report->forced);
        say_time(text, report->timeout_ns);
        say(text, ")");
    }
    if (report->left)
        say(text, ", %llu not stopped", (unsigned long long)report->left);
    if (report->dead_letters) {
        say(text, "; ");
        say_count(text, report->dead_letters, "message");
        say(text, " not handled");
    }
    say(text, "\n");
}

static void say_busy(struct text *text, const tr_shutdown_report *report)
{
    uint32_t count = report->busy_count;
    if (count > TR_REPORT_BUSY_MAX)
        count = TR_REPORT_BUSY_MAX;
    for (uint32_t i = 0; i < count; i++) {
        const tr_report_busy *busy = &report->busy[i];
        say(text, "  still busy: %s, handling %s for ", busy->path, busy->type);
        say_time(text, busy->age_ns);
        if (busy->worker < 0 && strcmp(busy->where, the_store) == 0)
            say(text, ", in the store\n");
        else if (busy->worker < 0)
            say(text, ", in a function of tr_blocking\n");
        else
            say(text, ", in %s on worker %d\n", busy->where, busy->worker);
    }
    if (report->busy_count > count)
        say(text, "  still busy: %u more\n", report->busy_count - count);
}

static void say_unstored(struct text *text, const tr_shutdown_report *report)
{
    if (!report->unstored)
        return;
    say(text, "  not stored: changes of %s", report->unstored_path);
    if (report->unstored > 1)
        say(text, " and %llu more", (unsigned long long)report->unstored - 1);
    say(text, "\n");
}

static void say_actors(struct text *text, const tr_shutdown_report *report)
{
    for (uint32_t i = 0; i < report->actor_count && i < TR_REPORT_ACTORS_MAX; i++) {
        const tr_report_actor *actor = &report->actor[i];
        if (!actor->dead_letters && !actor->is_forced && actor->after_ns >= 0)
            continue;
        say(text, "  %s ", actor->path);
        if (actor->after_ns < 0) {
            say(text, "has not stopped");
        } else {
            say(text, "%s after ", actor->is_forced ? "was killed" : "stopped");
            say_time(text, actor->after_ns);
        }
        say(text, ": ");
        say_count(text, actor->handled, "message");
        say(text, " handled, %llu not handled\n", (unsigned long long)actor->dead_letters);
    }
}

static void say_hooks(struct text *text, const tr_shutdown_report *report)
{
    for (uint32_t i = 0; i < report->hook_count && i < TR_HOOKS_MAX; i++) {
        const tr_report_hook *hook = &report->hook[i];
        if (hook->status == TR_OK)
            continue;
        say(text, "  hook \"%s\" ", hook->name);
        if (hook->status == TR_TIMEOUT)
            say(text, "has not returned after ");
        else
            say(text, "failed (%s) after ", tr_status_text(hook->status));
        say_time(text, hook->took_ns);
        say(text, "\n");
    }
}

size_t tr_shutdown_report_print(const tr_shutdown_report *report, char *buffer, size_t size)
{
    struct text text = {.at = buffer, .size = buffer ? size : 0};
    if (text.size)
        buffer[0] = '\0';
    if (!report)
        return 0;
    say_head(&text, report);
    say_busy(&text, report);
    say_unstored(&text, report);
    say_actors(&text, report);
    say_hooks(&text, report);
    bool is_long = report->forced || report->status != TR_OK;
    for (uint32_t i = 0; i < report->slow_count && i < TR_REPORT_SLOW_MAX; i++) {
        const tr_report_slow *slow = &report->slow[i];
        if (!is_long && slow->after_ns < WORTH_SAYING_NS)
            continue;
        say(&text, "  slow to stop: %s, stopped after ", slow->path);
        say_time(&text, slow->after_ns);
        say(&text, "\n");
    }
    return text.length;
}
