/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/turn/blocking.h"

#include "actor/cell/log.h"
#include "actor/cell/names.h"
#include "actor/cell/post.h"
#include "actor/cell/upcalls.h"
#include "actor/cell/verb.h"
#include "actor/turn/park.h"
#include "actor/turn/shared_job.h"
#include "base/assert.h"
#include "actor/mail/address.h"
#include "actor/mail/kind.h"

#include <troupe/blocking.h>

/** The message in the envelope of a job: the memory address of the job. */
TR_MESSAGE(tr_returned, (u64, job));

struct helper {
    struct list link; /* in blocking.idle or blocking.over */
    struct blocking *blocking;
    tr_parker *parker;
    tr_thread *thread; /* under the lock; NULL until helper_start has written it */
    bool is_idle;      /* under the lock */
    /*
     * under the lock; the helper lives until the pool ends, even if it has no work for a long time
     */
    bool is_kept;
    /*
     * What the shutdown wait (actor/system/shutdown_wait.c) saw when it last looked at the helper's
     * job.
     */
    tr_time wait_seen_began; /* began_ns of the job that ran then */
    tr_time wait_seen_ns;    /* the time of that look */
    tr_time wait_seen_cpu;   /* the CPU time of the helper's thread at that look, or -1 */
    tr_time stuck_ns;        /* for how long that job has been stuck: CPU time plus sleep */
};

/* ---- Jobs. ---- */

/*
 * Removes a job from the queue, either to run it or to drop it. Under the lock, except in
 * tr__blocking_step.
 */
static struct blocking_job *job_take(struct blocking *blocking, struct list *link)
{
    struct blocking_job *job = LIST_OWNER(link, struct blocking_job, link);
    list_remove(link);
    job->is_queued = false;
    blocking->queued--;
    return job;
}

/* Adds a job, which was just taken from the queue, to the jobs that run. Under the lock. */
static void job_begin(struct blocking *blocking, struct blocking_job *job, struct helper *helper)
{
    TR_ASSERT_SLOW(lock_is_held(&blocking->lock));
    const tr_platform *platform = blocking->system->platform;
    job->helper = helper;
    if (helper && job->keeps_helper)
        helper->is_kept = true;
    job->began_ns = platform->mono_now(platform);
    list_push_last(&blocking->running, &job->link);
}

void tr__blocking_return(struct blocking *blocking, struct blocking_job *job)
{
    struct cell *cell = job->cell;
    struct envelope *envelope = job->envelope;
    /*
     * By rule 2 the door is open. Right after this push the turn may resume, and the job may be
     * gone.
     */
    enum door_result result = door_push(&cell->door, &envelope->mail);
    TR_ASSERT(result != DOOR_REFUSED);
    if (result == DOOR_TAKEN_POST)
        tr__system_post(blocking->system, NULL, cell);
}

/* Calls the function of a job that has begun. Then sends the envelope of the job to its actor. */
static void job_run(struct blocking *blocking, struct blocking_job *job)
{
    job->function(job->argument);
    if (job->shared) {
        tr__shared_done(blocking, job->shared);
        return;
    }
    lock_take(&blocking->lock);
    list_remove(&job->link);
    lock_give(&blocking->lock);
    tr__blocking_return(blocking, job);
}

void tr__blocking_unqueue(struct blocking *blocking, struct blocking_job *job)
{
    TR_ASSERT_SLOW(lock_is_held(&blocking->lock));
    (void)job_take(blocking, &job->link);
}

bool tr__blocking_is_busy(struct blocking *blocking)
{
    lock_take(&blocking->lock);
    /*
     * Look at `shared` too. When a lookup leaves the line in which it has waited, it is not in
     * `running` at once. Meanwhile it is only in `shared`.
     */
    bool is_busy = !list_is_empty(&blocking->running) || !list_is_empty(&blocking->shared);
    lock_give(&blocking->lock);
    return is_busy;
}

/* ---- Helpers. ---- */

/*
 * Sleeps until a worker wakes the helper for a job. Returns false if no worker has done so for
 * TR_BLOCKING_IDLE_NS, or if the pool ends. Called under the lock, but sleeps without it.
 */
static bool helper_rest(struct helper *helper)
{
    struct blocking *blocking = helper->blocking;
    const tr_platform *platform = blocking->system->platform;
    tr_time now_ns = platform->mono_now(platform);
    tr_time deadline_ns = helper->is_kept ? TR_NEVER : now_ns + TR_BLOCKING_IDLE_NS;
    helper->is_idle = true;
    list_push_first(&blocking->idle, &helper->link);
    while (helper->is_idle && !blocking->is_over && now_ns < deadline_ns) {
        lock_give(&blocking->lock);
        platform->park(platform, helper->parker, deadline_ns);
        now_ns = platform->mono_now(platform);
        lock_take(&blocking->lock);
    }
    bool is_called = !helper->is_idle;
    if (helper->is_idle)
        list_remove(&helper->link);
    helper->is_idle = false;
    return is_called;
}

static void helper_main(void *context)
{
    struct helper *helper = context;
    struct blocking *blocking = helper->blocking;
    lock_take(&blocking->lock);
    for (;;) {
        struct list *first = list_first(&blocking->queue);
        if (first) {
            struct blocking_job *job = job_take(blocking, first);
            job_begin(blocking, job, helper);
            lock_give(&blocking->lock);
            job_run(blocking, job);
            lock_take(&blocking->lock);
        } else if (!helper_rest(helper) && helper->thread) {
            break;
        }
    }
    blocking->helpers--;
    list_push_last(&blocking->over, &helper->link);
    lock_give(&blocking->lock);
}

static void helper_free(struct helper *helper)
{
    struct tr_system *system = helper->blocking->system;
    if (helper->parker)
        system->platform->parker_free(system->platform, helper->parker);
    source_resize(&system->source, helper, 0);
}

/*
 * Joins and frees the helpers that have ended. This does not block for long, because their threads
 * are about to return.
 */
static void helpers_reap(struct blocking *blocking)
{
    const tr_platform *platform = blocking->system->platform;
    for (;;) {
        lock_take(&blocking->lock);
        struct list *link = list_pop_first(&blocking->over);
        lock_give(&blocking->lock);
        if (!link)
            return;
        struct helper *helper = LIST_OWNER(link, struct helper, link);
        platform->thread_join(platform, helper->thread);
        helper_free(helper);
    }
}

static tr_status helper_start(struct blocking *blocking)
{
    struct tr_system *system = blocking->system;
    const tr_platform *platform = system->platform;
    struct helper *helper = source_resize(&system->source, NULL, sizeof *helper);
    if (!helper)
        return TR_NO_MEMORY;
    *helper = (struct helper){.blocking = blocking};
    list_init(&helper->link);
    tr_thread *thread;
    tr_status status = platform->parker_new(platform, &helper->parker);
    if (status == TR_OK)
        status = platform->thread_start(platform, "troupe-helper", helper_main, helper, &thread);
    if (status != TR_OK) {
        helper_free(helper);
        return status;
    }
    lock_take(&blocking->lock);
    helper->thread = thread;
    lock_give(&blocking->lock);
    return TR_OK;
}

/* ---- The pool. ---- */

void tr__blocking_init(struct blocking *blocking, struct tr_system *system, uint32_t helpers_max)
{
    blocking->system = system;
    blocking->helpers_max = helpers_max;
    lock_init(&blocking->lock);
    list_init(&blocking->queue);
    list_init(&blocking->running);
    list_init(&blocking->idle);
    list_init(&blocking->over);
    list_init(&blocking->shared);
}

static uint32_t helpers_of(struct blocking *blocking)
{
    lock_take(&blocking->lock);
    uint32_t helpers = blocking->helpers;
    lock_give(&blocking->lock);
    return helpers;
}

/*
 * Waits until all helpers have ended. At first this thread checks that again and again, because
 * most helpers end soon. Then it sleeps between two checks, because a helper may still look up a
 * name although no actor waits for the result.
 */
static void helpers_await(struct blocking *blocking)
{
    enum { SPINS = 100 };
    const tr_platform *platform = blocking->system->platform;
    tr_parker *parker = NULL;
    for (int i = 0; helpers_of(blocking); i++) {
        if (i == SPINS && platform->parker_new(platform, &parker) != TR_OK)
            parker = NULL;
        if (parker)
            platform->park(platform, parker, platform->mono_now(platform) + TR_MILLISECOND);
        else
            platform->yield(platform);
        i -= i > SPINS; /* `i` must not overflow */
    }
    if (parker)
        platform->parker_free(platform, parker);
}

void tr__blocking_end(struct blocking *blocking)
{
    const tr_platform *platform = blocking->system->platform;
    lock_take(&blocking->lock);
    /*
     * Only look-ups for which no actor waits may be left. Before the helpers end, they run what is
     * queued.
     */
    TR_ASSERT(list_is_empty(&blocking->queue) || !list_is_empty(&blocking->shared));
    blocking->is_over = true;
    LIST_EACH (link, &blocking->idle) {
        struct helper *helper = LIST_OWNER(link, struct helper, link);
        platform->wake(platform, helper->parker);
    }
    lock_give(&blocking->lock);
    helpers_await(blocking);
    helpers_reap(blocking);
}

/*
 * Starts the helper that was counted for a job. Returns TR_OK also if the start has failed, but
 * another helper has taken the job or will take it.
 */
static tr_status helper_start_for(struct blocking *blocking, uint64_t ticket)
{
    tr_status status = helper_start(blocking);
    struct list *found = NULL;
    lock_take(&blocking->lock);
    blocking->starting--;
    blocking->helpers -= status != TR_OK;
    /*
     * By rule 3, if there is another helper, it takes this job or has taken it. A helper that is
     * just being started does not count, because its start may fail too. Look for the job by its
     * number, because a job that was taken may be gone.
     */
    if (status != TR_OK && blocking->helpers == blocking->starting) {
        LIST_EACH (link, &blocking->queue) {
            if (LIST_OWNER(link, const struct blocking_job, link)->ticket == ticket)
                found = link;
        }
    }
    if (found)
        (void)job_take(blocking, found);
    lock_give(&blocking->lock);
    return found ? status : TR_OK;
}

/*
 * Queues the job, and wakes or starts a helper for it, unless all helpers are busy. When this
 * returns TR_OK, a helper may have taken the job already.
 */
tr_status tr__blocking_enqueue(struct blocking *blocking, struct blocking_job *job)
{
    const tr_platform *platform = blocking->system->platform;
    bool has_left = false;
    lock_take(&blocking->lock);
    if (blocking->queued >= TR_BLOCKING_QUEUE_MAX) {
        lock_give(&blocking->lock);
        return TR_LIMIT;
    }
    list_push_last(&blocking->queue, &job->link);
    job->is_queued = true;
    uint64_t ticket = job->ticket = ++blocking->tickets;
    blocking->queued++;
    struct list *idle = blocking->is_played ? NULL : list_pop_first(&blocking->idle);
    if (idle) {
        struct helper *helper = LIST_OWNER(idle, struct helper, link);
        helper->is_idle = false;
        /* Wake the helper under the lock, because the helper may end once the lock is released. */
        platform->wake(platform, helper->parker);
    }
    bool is_wanted = !idle && !blocking->is_played && blocking->helpers < blocking->helpers_max;
    blocking->helpers += is_wanted;
    blocking->starting += is_wanted;
    has_left = !list_is_empty(&blocking->over);
    lock_give(&blocking->lock);
    if (has_left)
        helpers_reap(blocking);
    return is_wanted ? helper_start_for(blocking, ticket) : TR_OK;
}

void tr__blocking_submit(struct tr_self *self)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    struct blocking_job *job = self->job;
    struct cell_extra *extra = self->cell->extra;
    if (job->shared) {
        tr__shared_submit(self);
        return;
    }
    extra->waits.blocked++;
    tr_status status = tr__blocking_enqueue(self->worker->system->blocking, job);
    if (status == TR_OK)
        return;
    extra->waits.blocked--;
    self->job = NULL;
    if (status == TR_NOT_SUPPORTED) {
        job->function(job->argument);
        status = TR_OK;
    }
    tr__turn_wake(self, status);
}

void tr__blocking_returned(struct worker *worker, struct cell *cell, struct envelope *envelope)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    const struct tr_returned *returned = envelope_data(envelope);
    struct tr_self *self = ((struct blocking_job *)(uintptr_t)returned->job)->self;
    struct cell_extra *extra = cell->extra;
    TR_ASSERT(self->cell == cell);
    self->job = NULL;
    extra->waits.blocked--;
    /*
     * The turn that waited frees the envelope: in tr_try_blocking or, if the turn is abandoned, in
     * tr__turns_abandon.
     */
    if (cell->life < LIFE_STOPPING) {
        tr__turn_wake(self, TR_OK);
        tr__restart_unblocked(worker, cell);
    } else if (!extra->waits.blocked && !cell->child_count) {
        cell_set_control(worker, cell, CONTROL_FINISH);
    }
}

bool tr__blocking_withdraw(struct worker *worker, struct cell *cell)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    struct tr_system *system = worker->system;
    struct blocking *blocking = system->blocking;
    struct cell_extra *extra = cell->extra;
    PARKED_EACH (self, extra) {
        if (!self->job)
            continue;
        struct shared_job *unwanted = NULL;
        lock_take(&blocking->lock);
        bool is_queued = self->job->is_queued;
        if (is_queued && self->job->shared)
            unwanted = tr__shared_leave(blocking, self->job);
        else if (is_queued)
            (void)job_take(blocking, &self->job->link);
        lock_give(&blocking->lock);
        tr__shared_drop(blocking, unwanted);
        if (!is_queued)
            continue;
        self->job = NULL;
        extra->waits.blocked--;
    }
    if (!extra->waits.blocked)
        return true;
    if (extra->durable)
        /* log no warning: the job of a durable actor is mostly a short write to the disk */
        return false;
    char path[TR_PATH_MAX + 1];
    tr__cell_path(system, cell, path);
    tr__log(system,
            TR_LEVEL_WARN,
            path,
            "the actor %s when its functions in tr_blocking have returned: %u",
            cell->life < LIFE_STOPPING ? "restarts" : "stops",
            extra->waits.blocked);
    return false;
}

void tr__blocking_each(struct blocking *blocking,
                       void (*on_job)(void *context, const struct blocking_job *job), void *context)
{
    lock_take(&blocking->lock);
    LIST_EACH (link, &blocking->running)
        on_job(context, LIST_OWNER(link, struct blocking_job, link));
    lock_give(&blocking->lock);
}

/*
 * Updates stuck_ns of the helper that runs a job, and returns stuck_ns. The function stuck_for of
 * actor/system/shutdown_wait.c does this for workers, but a helper has no counters that show
 * progress. Under the lock.
 */
static tr_time stuck_for(const tr_platform *platform, const struct blocking_job *job,
                         tr_time now_ns, bool is_overloaded)
{
    struct helper *helper = job->helper;
    tr_time cpu_ns = helper->thread ? platform->thread_cpu(platform, helper->thread) : -1;
    if (helper->wait_seen_began != job->began_ns)
        helper->stuck_ns = 0;
    else if (cpu_ns < 0)
        helper->stuck_ns += is_overloaded ? 0 : now_ns - helper->wait_seen_ns;
    else if (helper->wait_seen_cpu >= 0)
        helper->stuck_ns += cpu_ns - helper->wait_seen_cpu;
    helper->wait_seen_began = job->began_ns;
    helper->wait_seen_ns = now_ns;
    helper->wait_seen_cpu = cpu_ns;
    return helper->stuck_ns;
}

uint32_t tr__blocking_stuck(struct blocking *blocking, tr_time now_ns, tr_time patience_ns,
                            bool is_overloaded)
{
    const tr_platform *platform = blocking->system->platform;
    uint32_t count = 0;
    lock_take(&blocking->lock);
    LIST_EACH (link, &blocking->running) {
        const struct blocking_job *job = LIST_OWNER(link, const struct blocking_job, link);
        count += job->helper && stuck_for(platform, job, now_ns, is_overloaded) >= patience_ns;
    }
    lock_give(&blocking->lock);
    return count;
}

/* ---- On a kit. ---- */

uint32_t tr__blocking_choices(struct blocking *blocking)
{
    return blocking->queued < blocking->helpers_max ? blocking->queued : blocking->helpers_max;
}

void tr__blocking_step(struct blocking *blocking, uint32_t choice)
{
    lock_take(&blocking->lock);
    struct list *link = list_first(&blocking->queue);
    while (choice--)
        link = link->next;
    struct blocking_job *job = job_take(blocking, link);
    job_begin(blocking, job, NULL);
    lock_give(&blocking->lock);
    job_run(blocking, job);
}

/* ---- The verbs. ---- */

tr_status tr__blocking_prepare(struct tr_self *self, struct blocking_job *job)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    tr_status status = turn_may_park(self);
    if (status != TR_OK)
        return status;
    const struct tr_returned returned = {.job = (uint64_t)(uintptr_t)job};
    struct address address = {.kind = ENVELOPE_RETURNED,
                              .to = self->cell->identity,
                              .sender = self->cell->identity,
                              .causal = self->causal};
    job->self = self;
    job->cell = self->cell;
    list_init(&job->link);
    status =
        tr__mail_new(&self->worker->pool, address, &tr_type_tr_returned, &returned, &job->envelope);
    if (status != TR_OK)
        return status;
    self->job = job;
    self->sender.held = job->envelope;
    return TR_OK;
}

void tr__blocking_leave(struct tr_self *self, struct blocking_job *job)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    self->job = NULL;
    self->sender.held = NULL;
    envelope_give(&self->worker->pool, job->envelope);
}

static tr_status run_and_wait(struct tr_self *self, struct blocking_job *job)
{
    tr_status status = tr__blocking_prepare(self, job);
    if (status != TR_OK)
        return status;
    status = turn_park_at(self, TR_NEVER, NULL);
    tr__blocking_leave(self, job);
    return status;
}

tr_status tr__blocking_run(struct tr_self *self, void (*function)(void *argument),
                           void (*on_abandoned)(void *argument), void *argument)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    struct blocking_job job = {.function = function,
                               .argument = argument,
                               .on_abandoned = on_abandoned,
                               .keeps_helper = true};
    return run_and_wait(self, &job);
}

void tr__blocking_abandoned(struct tr_self *self)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    TR_ASSERT(!self->job);
    struct envelope *envelope = self->sender.held;
    if (!envelope || envelope->kind != ENVELOPE_RETURNED)
        return;
    const struct tr_returned *returned = envelope_data(envelope);
    const struct blocking_job *job = (const struct blocking_job *)(uintptr_t)returned->job;
    if (job->on_abandoned)
        job->on_abandoned(job->argument);
}

tr_status tr_try_blocking(tr_self *self, void (*function)(void *argument), void *argument)
{
    TURN_VERB(self);
    if (!self || !function)
        return TR_INVALID_ARGUMENT;
    struct blocking_job job = {.function = function, .argument = argument};
    return run_and_wait(self, &job);
}

void tr_blocking(tr_self *self, void (*function)(void *argument), void *argument)
{
    TURN_VERB(self);
    TR_ASSERT(self); /* tr_crash below ends a turn, so there must be a turn */
    tr_status status = tr_try_blocking(self, function, argument);
    if (status != TR_OK)
        tr_crash(self, status, "tr_blocking: %s", tr_status_text(status));
}
