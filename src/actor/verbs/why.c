/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/verbs/why.h"

#include "actor/ask/turn_asks.h"
#include "actor/cell/channel.h"
#include "actor/cell/dispatch.h"
#include "actor/cell/durable.h"
#include "actor/cell/lifecycle.h"
#include "actor/cell/view.h"
#include "actor/life/supervise.h"
#include "actor/cell/overflow.h"
#include "actor/mail/capacity.h"
#include "actor/mail/kind.h"
#include "actor/turn/blocking.h"
#include "actor/turn/park.h"
#include "actor/mail/mail.h"

#include <stdio.h>
#include <string.h>
#include <stdarg.h>

enum {
    TURNS_MAX = 6,    /* the largest number of parked turns that are reported one by one */
    CHILDREN_MAX = 4, /* the largest number of children whose names are reported */
    /* the largest number of tasks that are counted in each list of the run queue */
    QUEUE_MAX = 10000,
    /* the text of a reason has at most this many characters of a path; of a longer path the end is shown */
    PATH_CUT = 80
};

/* ---- Texts. ---- */

void tr__why_begin(tr_why_report *report, uint64_t ref, tr_time now_ns)
{
    memset(report, 0, sizeof *report);
    report->actor = tr_ref_from_bits(ref);
    report->asked_ns = now_ns;
    report->state = "?";
}

tr_reason *tr__why_add(tr_why_report *report, tr_why_kind kind, uint32_t holds, tr_time age_ns,
                       const char *format, ...)
{
    if (report->count == TR_REASONS_MAX)
        return NULL;
    tr_reason *reason = &report->reasons[report->count++];
    *reason = (tr_reason){.kind = kind, .holds = holds, .age_ns = age_ns};
    va_list list;
    va_start(list, format);
    vsnprintf(reason->text, sizeof reason->text, format, list);
    va_end(list);
    return reason;
}

/*
 * Returns the path of an actor. If the path cannot be read, returns a text that says why. Of a long
 * path, returns only the last PATH_CUT characters. `path` must have space for TR_PATH_MAX + 1
 * characters.
 */
static const char *path_of(struct worker *worker, uint64_t ref, char *path)
{
    const struct cell *cell = view_find(worker->slots, ref);
    if (!ref)
        return "an unknown actor";
    if (!cell || (cell_owner(cell) == CELL_FOREIGN && !slots_find(worker->slots, ref)))
        return "an actor that is gone";
    if (cell_owner(cell) == CELL_FOREIGN)
        return "a client, or an actor that has not started or moves to another worker";
    size_t length = tr__view_path(worker->system, cell, path);
    return length > PATH_CUT && length <= TR_PATH_MAX ? path + length - PATH_CUT : path;
}

static void place_set(tr_reason *reason, const char *file, uint32_t line)
{
    if (!reason)
        return;
    if (line)
        snprintf(reason->where, sizeof reason->where, "%s:%u", tr__view_file(file), (unsigned)line);
    else
        snprintf(reason->where, sizeof reason->where, "%s", tr__view_file(file));
}

static tr_time age_of(const tr_why_report *report, tr_time since_ns)
{
    if (!since_ns)
        return -1;
    return report->asked_ns > since_ns ? report->asked_ns - since_ns : 0;
}

/* ---- Mail. ---- */

/*
 * Returns the first message in a ring that takes capacity of the mailbox. Returns NULL if no
 * message in the ring does.
 */
static const struct envelope *first_of(const struct envelope *last)
{
    const struct envelope *envelope = last;
    if (!last)
        return NULL;
    do {
        envelope = (const struct envelope *)(const void *)envelope->mail.next;
        if (mail_takes_capacity(envelope))
            return envelope;
    } while (envelope != last);
    return NULL;
}

static const struct envelope *oldest_of(const struct cell *cell)
{
    const struct cell_extra *extra = cell->extra;
    const struct envelope *rings[] = {extra ? extra->mail.held : NULL,
                                      cell->cycle,
                                      extra ? extra->mail.requests : NULL,
                                      cell->notices};
    for (size_t i = 0; i < sizeof rings / sizeof *rings; i++) {
        const struct envelope *first = first_of(rings[i]);
        if (first)
            return first;
    }
    return NULL;
}

uint32_t tr__why_ring_count(const struct envelope *last)
{
    uint32_t count = 0;
    const struct envelope *envelope = last;
    if (!last)
        return 0;
    do {
        envelope = (const struct envelope *)(const void *)envelope->mail.next;
        count++;
    } while (envelope != last);
    return count;
}

static void see_mail(struct worker *worker, struct cell *cell, tr_why_report *report)
{
    char path[TR_PATH_MAX + 1];
    struct mail_bound bound = mail_bound_of(cell->dispatch->behavior);
    int32_t lines;
    int32_t messages = tr__capacity_used(cell, cell->dispatch->behavior, &lines);
    const struct envelope *oldest = oldest_of(cell);
    report->waiting = messages > 0 ? (uint32_t)messages : 0;
    report->waiting_max = (uint32_t)bound.messages;
    report->oldest = oldest ? oldest->type->name : NULL;
    /*
     * The memory of a mailbox counts as full when not even the smallest message fits. A large
     * message may have been refused before that.
     */
    uint64_t word = capacity_load(&cell->door.capacity);
    bool is_full = capacity_messages(word) < 1 || capacity_lines(word) < 1;
    if (!is_full)
        return;
    tr_reason *reason =
        tr__why_add(report,
                    TR_WHY_FULL,
                    TR_HOLDS_CAPACITY,
                    -1,
                    "mailbox full: %u of %u messages, %u of %u KiB; new messages %s",
                    (unsigned)report->waiting,
                    (unsigned)report->waiting_max,
                    (unsigned)(lines > 0 ? (lines + 15) / 16 : 0),
                    (unsigned)bound.lines / 16,
                    overflow_text(bound.overflow));
    if (reason) {
        reason->count = report->waiting;
        reason->who = tr_ref_from_bits(oldest ? oldest->sender : 0);
    }
    const struct envelope *waiters = cell->extra ? cell->extra->senders.ring : NULL;
    if (!waiters)
        return;
    const struct envelope *first = (const struct envelope *)(const void *)waiters->mail.next;
    reason = tr__why_add(report,
                         TR_WHY_SENDERS_WAIT,
                         0,
                         -1,
                         "senders that wait for capacity: %u; the first is %s",
                         (unsigned)tr__why_ring_count(waiters),
                         path_of(worker, first->sender, path));
    if (!reason)
        return;
    reason->count = tr__why_ring_count(waiters);
    reason->who = tr_ref_from_bits(first->sender);
}

/* ---- Parked turns. ---- */

static const struct ask *open_ask(const struct tr_self *turn, uint32_t *count)
{
    const struct ask *open = NULL;
    const struct ask *ask;
    *count = 0;
    TURN_EACH_ASK (ask, at, turn) {
        if (!ask->is_wanted || ask->is_done)
            continue;
        /*
         * the list begins with the newest ask, so at the end of the loop this is the oldest open
         * ask
         */
        open = ask;
        ++*count;
    }
    return open;
}

/*
 * Writes as text what a parked turn waits for. Sets *who to the actor for which the turn waits, or
 * to 0 if the turn waits for no actor.
 */
static void tell_wait(struct worker *worker, const struct tr_self *turn, char *words, size_t size,
                      uint64_t *who)
{
    char path[TR_PATH_MAX + 1];
    uint32_t asks;
    const struct ask *ask = open_ask(turn, &asks);
    *who = 0;
    if (turn->state == TURN_WOKEN) {
        snprintf(words, size, "is about to resume");
    } else if (turn->job && !turn->job->shared) {
        snprintf(words, size, "waits for its function in tr_blocking");
    } else if (ask) {
        char more[48] = "";
        *who = ask->to;
        if (asks > 1)
            snprintf(more, sizeof more, " and %u more", (unsigned)asks - 1);
        snprintf(words,
                 size,
                 "waits for an answer to %.60s%s from %s",
                 ask->type->name,
                 more,
                 path_of(worker, ask->to, path));
    } else if (turn->waits.on || turn->sender.wants) {
        *who = turn->sender.wants ? turn->sender.wants : turn->waits.on;
        snprintf(
            words, size, "waits for capacity in the mailbox of %s", path_of(worker, *who, path));
    } else if (timer_is_armed(&turn->waits.deadline)) {
        tr_time left_ns = turn->waits.deadline.deadline_ns - worker->loop.now_ns;
        snprintf(words,
                 size,
                 "sleeps for another %lld ms",
                 (long long)(left_ns > 0 ? left_ns / TR_MILLISECOND : 0));
    } else {
        snprintf(words, size, "waits");
    }
}

static void see_turn(struct worker *worker, const struct tr_self *turn, tr_why_report *report)
{
    char words[160];
    uint64_t who;
    bool is_stopping = turn->cell->life == LIFE_STOPPING;
    const tr_behavior *behavior = turn->cell->dispatch->behavior;
    tr_why_kind kind = turn->is_barrier ? TR_WHY_BARRIER : TR_WHY_TURN_WAITS;
    /*
     * A PoisonPill waits until all parked turns have ended. When the actor is Stopping, its parked
     * turns are cancelled. A turn whose function in tr_blocking runs cannot be cancelled before
     * that function returns.
     */
    uint32_t holds = is_stopping && !turn->job ? 0 : TR_HOLDS_STOP;
    if (turn->job)
        holds |= TR_HOLDS_RESTART;
    if (turn->is_barrier)
        holds |= TR_HOLDS_MAIL | TR_HOLDS_CAPACITY;
    if (turn->job)
        kind = TR_WHY_BLOCKING;
    int for_channel = -1;
    if (turn->cell->flags & CELL_CHANNELS && turn->state != TURN_WOKEN)
        for_channel = worker->channels.hooks->why_turn(turn, words, sizeof words);
    if (for_channel >= 0) {
        kind = (tr_why_kind)for_channel;
        who = 0;
    } else {
        tell_wait(worker, turn, words, sizeof words, &who);
    }
    tr_reason *reason = tr__why_add(report,
                                    kind,
                                    holds,
                                    age_of(report, turn->wait.since_ns),
                                    "%.40s %s%s",
                                    turn->handler->name ? turn->handler->name : "its handler",
                                    words,
                                    turn->is_barrier ? "; barrier: no other message starts" : "");
    if (!reason)
        return;
    reason->who = tr_ref_from_bits(who);
    reason->count = 1;
    /*
     * tr_await and tr_sleep note their place in the program. For any other wait, report the place
     * of the behavior, because no nearer place is known.
     */
    if (turn->wait.where)
        place_set(reason, turn->wait.where, 0);
    else
        place_set(reason, behavior->file, behavior->line);
}

/* Reports the parked turns. Barriers come first, because they hold up more. */
static void see_turns(struct worker *worker, struct cell *cell, tr_why_report *report)
{
    uint32_t told = 0;
    for (int is_barrier = 1; is_barrier >= 0; is_barrier--) {
        PARKED_EACH (turn, cell->extra) {
            if (turn->is_barrier != is_barrier || told == TURNS_MAX)
                continue;
            see_turn(worker, turn, report);
            told++;
        }
    }
    if (cell->extra->parked.count > told) {
        tr_reason *reason = tr__why_add(report,
                                        TR_WHY_TURN_WAITS,
                                        TR_HOLDS_STOP,
                                        -1,
                                        "more turns that wait: %u",
                                        (unsigned)(cell->extra->parked.count - told));
        if (reason)
            reason->count = cell->extra->parked.count - told;
    }
    if (cell->extra->asks.then_count) {
        tr_reason *reason = tr__why_add(report,
                                        TR_WHY_ANSWERS_DUE,
                                        TR_HOLDS_STOP,
                                        -1,
                                        "outstanding answers to tr_ask_then: %u",
                                        (unsigned)cell->extra->asks.then_count);
        if (reason)
            reason->count = cell->extra->asks.then_count;
    }
}

/* ---- Other reasons. ---- */

static void see_children(struct worker *worker, struct cell *cell, tr_why_report *report)
{
    char path[TR_PATH_MAX + 1];
    char names[160] = "";
    size_t used = 0;
    uint64_t who = 0;
    const struct cell *child = slots_at(worker->slots, cell->child_last);
    for (uint32_t i = 0; i < cell->child_count && i < CHILDREN_MAX; i++) {
        child = slots_at(worker->slots, child->sibling_next);
        size_t length = tr__view_path(worker->system, child, path);
        const char *last = strrchr(path, '/');
        if (!i)
            who = ATOM_PEEK(&child->identity);
        if (length > TR_PATH_MAX || !last)
            continue;
        int written =
            snprintf(names + used, sizeof names - used, "%s%.32s", used ? ", " : "", last + 1);
        used += written > 0 ? (size_t)written : 0;
    }
    tr_reason *reason = tr__why_add(report,
                                    TR_WHY_CHILDREN,
                                    TR_HOLDS_STOP | TR_HOLDS_RESTART,
                                    -1,
                                    "%u %s not stopped: %s%s",
                                    (unsigned)cell->child_count,
                                    cell->child_count == 1 ? "child has" : "children have",
                                    names,
                                    cell->child_count > CHILDREN_MAX ? ", ..." : "");
    if (!reason)
        return;
    reason->count = cell->child_count;
    reason->who = tr_ref_from_bits(who);
}

/*
 * Returns how many tasks run before this actor in the run queue of its worker. Counts at most
 * QUEUE_MAX tasks in each list. If the worker runs no actor, first moves the tasks of TASK_NEXT
 * behind the other normal tasks: these tasks come first only while the task that has made them
 * ready runs.
 */
static uint32_t tasks_before(struct worker *worker, const struct cell *cell)
{
    uint32_t count = 0;
    if (!worker_running(worker))
        runqueue_append(&worker->loop.queue, TASK_NORMAL, TASK_NEXT);
    for (int class = 0; class < TASK_CLASSES; class ++) {
        uint32_t in_class = 0;
        for (const struct task *task = worker->loop.queue.classes[class].first; task;
             task = task->next) {
            if (task == &cell->task)
                return count + in_class;
            if (++in_class == QUEUE_MAX)
                break;
        }
        count += in_class;
    }
    return count;
}

static void see_sched_state(struct worker *worker, struct cell *cell, tr_why_report *report)
{
    uint32_t all = TR_HOLDS_MAIL | TR_HOLDS_STOP | TR_HOLDS_CAPACITY | TR_HOLDS_RESTART;
    const struct tr_self *stuck = cell->extra ? cell->extra->waits.stuck : NULL;
    if (stuck) {
        const tr_behavior *behavior = cell->dispatch->behavior;
        tr_reason *reason = tr__why_add(report,
                                        TR_WHY_RUNS,
                                        all,
                                        age_of(report, stuck->wait.since_ns),
                                        "%s has not returned; another thread runs worker %u",
                                        stuck->handler->name ? stuck->handler->name : "a handler",
                                        (unsigned)worker->index);
        if (reason)
            place_set(reason, behavior->file, behavior->line);
    } else if (cell == worker_running(worker) || cell->sched_state == SCHED_RUNNING) {
        const tr_handler *handler = worker_handler(worker);
        const tr_behavior *behavior = cell->dispatch->behavior;
        /*
         * When mail is taken in between two turns, the worker still has the handler of the last
         * turn, which may belong to another actor.
         */
        bool is_own =
            cell == worker_running(worker) && handler && handler->name && !worker->mail.taking;
        tr_reason *reason = tr__why_add(
            report, TR_WHY_RUNS, all, -1, "%s runs", is_own ? handler->name : "a handler");
        if (reason)
            place_set(reason, behavior->file, behavior->line);
    } else if (cell->sched_state == SCHED_READY) {
        uint32_t before = tasks_before(worker, cell);
        tr_reason *reason = tr__why_add(report,
                                        TR_WHY_READY,
                                        all,
                                        -1,
                                        "ready to run; %u others are queued first on worker %u",
                                        (unsigned)before,
                                        (unsigned)worker->index);
        if (reason)
            reason->count = before;
    }
}

static void see_suspension(struct worker *worker, struct cell *cell, tr_why_report *report)
{
    char path[TR_PATH_MAX + 1];
    const struct cell_extra *extra = cell->extra;
    if (!(cell->flags & CELL_SUSPEND_WANTED))
        return;
    uint64_t who = extra ? extra->suspended.by : 0;
    tr_reason *reason = tr__why_add(report,
                                    TR_WHY_SUSPENDED,
                                    TR_HOLDS_MAIL | TR_HOLDS_CAPACITY,
                                    extra ? age_of(report, extra->suspended.since_ns) : -1,
                                    "suspended by %s",
                                    path_of(worker, who, path));
    if (reason)
        reason->who = tr_ref_from_bits(who);
}

/*
 * Reports what delays an actor that has failed, or that is restarted because a sibling has failed.
 * This may be its supervisor, a restart delay, or the other members of its group. See
 * actor/life/supervise.h.
 */
static void see_failure(struct worker *worker, struct cell *cell, tr_why_report *report)
{
    char path[TR_PATH_MAX + 1];
    uint32_t holds = TR_HOLDS_RESTART | TR_HOLDS_MAIL | TR_HOLDS_CAPACITY;
    const struct cell_extra *extra = cell->extra;
    const struct failure *failure = extra->supervision.failure;
    const struct cell *parent = slots_parent(worker->slots, cell);
    uint64_t supervisor = parent ? ATOM_PEEK(&parent->identity) : 0;
    tr_time age_ns = age_of(report, extra->supervision.failed_ns);
    tr_reason *reason = NULL;
    if (!failure) {
        reason = tr__why_add(report,
                             TR_WHY_DECIDING,
                             holds,
                             age_ns,
                             "failed; the supervisor %s has not decided yet",
                             path_of(worker, supervisor, path));
    } else if (failure->phase == FAILURE_DELAYED) {
        tr_time left_ns = failure->delay.deadline_ns - report->asked_ns;
        reason = tr__why_add(report,
                             TR_WHY_BACK_OFF,
                             holds,
                             age_ns,
                             "failed (%s: %.100s); the restart is delayed for another %lld ms",
                             tr_status_name(failure->cause.status),
                             failure->cause.text,
                             (long long)(left_ns > 0 ? left_ns / TR_MILLISECOND : 0));
    } else if (failure->phase == FAILURE_READY || failure->phase == FAILURE_DOWN) {
        reason = tr__why_add(report,
                             TR_WHY_GROUP,
                             holds,
                             age_ns,
                             "waits for the other actors that %s restarts with it",
                             path_of(worker, supervisor, path));
    }
    if (!reason)
        return;
    reason->who = tr_ref_from_bits(supervisor);
    place_set(reason, cell->dispatch->behavior->file, cell->dispatch->behavior->line);
}

/*
 * Whether an actor does not run because it has failed, or because it is restarted together with an
 * actor that has failed.
 */
static bool is_failed(const struct cell *cell)
{
    if (!cell->extra || cell->life >= LIFE_STOPPING)
        return false;
    const struct failure *failure = cell->extra->supervision.failure;
    bool is_restarting = cell->life == LIFE_STARTING && failure && failure->phase != FAILURE_PAST;
    return is_restarting || cell->flags & CELL_FAILED;
}

static void see_alive(struct worker *worker, struct cell *cell, tr_why_report *report)
{
    const struct cell_extra *extra = cell->extra;
    bool is_stopping = cell->life == LIFE_STOPPING;
    report->is_told_to_stop =
        is_stopping || cell->flags & CELL_SEALED ||
        atom32_load(&cell->control, ATOM_RELAXED) & (CONTROL_STOP | CONTROL_KILL);
    bool is_ending = is_stopping || restart_waits(cell);
    if (is_ending && cell->child_count)
        see_children(worker, cell, report);
    if (is_failed(cell))
        see_failure(worker, cell, report);
    see_suspension(worker, cell, report);
    if (extra)
        see_turns(worker, cell, report);
    see_sched_state(worker, cell, report);
    if (!is_stopping)
        see_mail(worker, cell, report);
    if (!is_stopping && cell->flags & CELL_SEALED && report->waiting) {
        tr_reason *reason = tr__why_add(report,
                                        TR_WHY_MAIL_FIRST,
                                        TR_HOLDS_STOP,
                                        -1,
                                        "messages queued before the poison pill: %u",
                                        (unsigned)report->waiting);
        if (reason)
            reason->count = report->waiting;
    }
    if (extra && extra->stash.count) {
        tr_reason *reason = tr__why_add(
            report, TR_WHY_STASHED, 0, -1, "stashed messages: %u", (unsigned)extra->stash.count);
        if (reason)
            reason->count = extra->stash.count;
    }
}

/*
 * The bits of `holds` in a reason say what the reason delays. Clears the bits of what the actor is
 * not to do now. For example, clears TR_HOLDS_STOP if the actor was not ordered to stop.
 */
static void mask(const struct cell *cell, tr_why_report *report)
{
    uint32_t wanted = is_failed(cell) ? TR_HOLDS_RESTART : 0;
    bool is_full = false;
    for (size_t i = 0; i < report->count; i++)
        is_full |= report->reasons[i].kind == TR_WHY_FULL;
    if (report->is_told_to_stop)
        wanted |= TR_HOLDS_STOP;
    if (report->waiting)
        wanted |= TR_HOLDS_MAIL;
    if (is_full)
        wanted |= TR_HOLDS_CAPACITY;
    if (cell_durable(cell))
        wanted |= TR_HOLDS_SLEEP;
    for (size_t i = 0; i < report->count; i++)
        report->reasons[i].holds &= wanted;
}

void tr__why_see(struct worker *worker, struct cell *cell, tr_why_report *report)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    const tr_platform *platform = worker->loop.platform;
    tr__why_begin(report, cell->identity, platform->mono_now(platform));
    tr__view_path(worker->system, cell, report->path);
    report->state = tr__life_name(cell->life);
    if (cell->life <= LIFE_STARTING && !is_failed(cell)) {
        const char *words =
            cell->life == LIFE_NEW ? "the set-up has not started" : "the set-up is running";
        uint32_t holds = TR_HOLDS_START | TR_HOLDS_MAIL | TR_HOLDS_STOP;
        tr__why_add(report, TR_WHY_NOT_STARTED, holds, -1, "%s", words);
        return;
    }
    mail_look(worker, cell);
    see_alive(worker, cell, report);
    if (cell->flags & CELL_CHANNELS)
        worker->channels.hooks->why(worker, cell, report);
    if (cell_durable(cell) && cell->life == LIFE_RUNNING)
        cell_durable(cell)->hooks->why(worker, cell, report);
    if (!report->count)
        tr__why_add(report, TR_WHY_IDLE, 0, -1, "nothing to report: waits for messages");
    mask(cell, report);
}
