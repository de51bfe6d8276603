/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/turn/shared_job.h"

#include <string.h>
#include <troupe/limits.h>

#include "actor/cell/names.h"
#include "actor/cell/system.h"
#include "actor/turn/park.h"
#include "base/assert.h"
#include "base/hash.h"

void tr__shared_init(struct shared_job *shared, const char *key, void (*function)(void *shared),
                     void (*copy)(const struct shared_job *shared, void *result))
{
    *shared = (struct shared_job){
        .job = {.function = function, .argument = shared}, .key = key, .copy = copy};
    shared->job.shared = shared;
    list_init(&shared->job.link);
    list_init(&shared->link);
    list_init(&shared->waiting);
}

static struct shared_job *shared_job_find(const struct blocking *blocking,
                                          const struct shared_job *fresh)
{
    TR_ASSERT_SLOW(lock_is_held(&blocking->lock));
    LIST_EACH (link, &blocking->shared) {
        struct shared_job *shared = LIST_OWNER(link, struct shared_job, link);
        if (shared->hash == fresh->hash && strcmp(shared->key, fresh->key) == 0)
            return shared;
    }
    return NULL;
}

/*
 * Returns how many shared jobs may run at once. If there are at least two helpers, the shared jobs
 * leave one of them to functions of tr_blocking.
 */
static uint32_t running_max(const struct blocking *blocking)
{
    uint32_t others = blocking->helpers_max > 1 ? blocking->helpers_max - 1 : 1;
    return others < TR_LOOKUPS_MAX ? others : TR_LOOKUPS_MAX;
}

/*
 * Admits a shared job if it may run now; otherwise puts it in line. Returns whether it may begin
 * now. Under the lock.
 */
static bool admit(struct blocking *blocking, struct shared_job *shared)
{
    shared->is_in_line = blocking->shared_running >= running_max(blocking);
    blocking->shared_running += !shared->is_in_line;
    return !shared->is_in_line;
}

/*
 * Counts one running shared job less. If this lets the next job in line begin, returns that job;
 * otherwise NULL. Under the lock.
 */
static struct shared_job *next_in_line(struct blocking *blocking)
{
    blocking->shared_running--;
    LIST_EACH (link, &blocking->shared) {
        struct shared_job *shared = LIST_OWNER(link, struct shared_job, link);
        if (shared->is_in_line)
            return admit(blocking, shared) ? shared : NULL;
    }
    return NULL;
}

/*
 * Ends a shared job whose function has returned. Returns the next shared job that may begin now;
 * NULL if there is none.
 */
static struct shared_job *finish(struct blocking *blocking, struct shared_job *shared)
{
    struct tr_system *system = blocking->system;
    const tr_platform *platform = system->platform;
    struct list waiting;
    struct list *link;
    list_init(&waiting);
    lock_take(&blocking->lock);
    list_remove(&shared->job.link);
    list_remove(&shared->link);
    blocking->shared_count--;
    list_append(&waiting, &shared->waiting);
    LIST_EACH (at, &waiting)
        /* from now on the turn of this job cannot leave */
        LIST_OWNER(at, struct blocking_job, link)->is_queued = false;
    struct shared_job *next = next_in_line(blocking);
    /*
     * The shutdown wait may be waiting for this job only. Wake it under the lock, because while the
     * lock is held, the parker of the shutdown wait still exists.
     */
    tr_parker *parker = atomptr_load(&system->ending.parker, ATOM_ACQUIRE);
    if (parker && list_is_empty(&waiting))
        platform->wake(platform, parker);
    lock_give(&blocking->lock);
    while ((link = list_pop_first(&waiting))) {
        struct blocking_job *job = LIST_OWNER(link, struct blocking_job, link);
        shared->copy(shared, job->argument);
        tr__blocking_return(blocking, job);
    }
    source_resize(&system->source, shared, 0);
    return next;
}

/*
 * Queues a shared job for the helpers. If that fails, ends this job, and begins the next one in
 * line in the same way.
 */
static void begin(struct blocking *blocking, struct shared_job *shared)
{
    while (shared) {
        tr_status status = tr__blocking_enqueue(blocking, &shared->job);
        if (status == TR_OK)
            return;
        if (status == TR_NOT_SUPPORTED) /* the platform has no threads */
            shared->job.function(shared);
        else
            shared->failure = status;
        shared = finish(blocking, shared);
    }
}

/*
 * Adds a turn to the shared job that has the key of `fresh`. If no shared job has this key, `fresh`
 * becomes one. Returns the shared job, and sets *begins to whether it begins now. Returns NULL if
 * too many look-ups wait.
 */
static struct shared_job *join(struct blocking *blocking, struct blocking_job *job, bool *begins)
{
    struct shared_job *fresh = job->shared;
    *begins = false;
    lock_take(&blocking->lock);
    struct shared_job *shared = shared_job_find(blocking, fresh);
    if (!shared && blocking->shared_count < TR_LOOKUPS_WAITING_MAX) {
        shared = fresh;
        list_push_last(&blocking->shared, &shared->link);
        blocking->shared_count++;
        *begins = admit(blocking, shared);
    }
    if (shared) {
        job->is_submitted = job->is_queued = true;
        job->shared = shared;
        list_push_last(&shared->waiting, &job->link);
    }
    lock_give(&blocking->lock);
    return shared;
}

void tr__shared_submit(struct tr_self *self)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    struct tr_system *system = self->worker->system;
    struct blocking_job *job = self->job;
    struct shared_job *fresh = job->shared;
    bool begins;
    if (job->is_submitted)
        return; /* the envelope of the turn is on its way */
    fresh->hash = hash_bytes(system->names->key, fresh->key, strlen(fresh->key));
    self->cell->extra->waits.blocked++;
    const struct shared_job *shared = join(system->blocking, job, &begins);
    if (!shared) {
        self->cell->extra->waits.blocked--;
        self->job = NULL;
        tr__turn_wake(self, TR_LIMIT);
        return;
    }
    if (shared != fresh)
        source_resize(&system->source, fresh, 0);
    if (begins)
        /* before `begin` returns, the job may have ended, and this turn may be woken already */
        begin(system->blocking, fresh);
}

void tr__shared_done(struct blocking *blocking, struct shared_job *shared)
{
    begin(blocking, finish(blocking, shared));
}

struct shared_job *tr__shared_leave(struct blocking *blocking, struct blocking_job *job)
{
    TR_ASSERT_SLOW(lock_is_held(&blocking->lock));
    TR_ASSERT(job->is_queued);
    struct shared_job *shared = job->shared;
    list_remove(&job->link);
    job->is_queued = false;
    bool is_running = !shared->is_in_line && !shared->job.is_queued;
    if (is_running || !list_is_empty(&shared->waiting))
        return NULL;
    list_remove(&shared->link);
    blocking->shared_count--;
    if (shared->job.is_queued)
        tr__blocking_unqueue(blocking, &shared->job);
    return shared;
}

void tr__shared_drop(struct blocking *blocking, struct shared_job *unwanted)
{
    if (!unwanted)
        return;
    struct shared_job *next = NULL;
    lock_take(&blocking->lock);
    if (!unwanted->is_in_line)
        next = next_in_line(blocking);
    lock_give(&blocking->lock);
    source_resize(&blocking->system->source, unwanted, 0);
    begin(blocking, next);
}

/*
 * Leaves the shared job for which a turn waits. Returns false if the shared job is done; then the
 * envelope of the turn is on its way.
 */
static bool leave(struct tr_self *self, struct blocking_job *job)
{
    struct tr_system *system = self->worker->system;
    struct shared_job *unwanted = NULL;
    lock_take(&system->blocking->lock);
    bool can_leave = job->is_queued;
    if (can_leave)
        unwanted = tr__shared_leave(system->blocking, job);
    lock_give(&system->blocking->lock);
    tr__shared_drop(system->blocking, unwanted);
    if (can_leave) {
        self->cell->extra->waits.blocked--;
        self->job = NULL;
    }
    return can_leave;
}

tr_status tr__shared_await(struct tr_self *self, struct shared_job *fresh, void *result)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    struct worker *worker = self->worker;
    struct blocking_job job = {.shared = fresh, .argument = result};
    tr_status status = tr__blocking_prepare(self, &job);
    if (status != TR_OK) {
        source_resize(&worker->system->source, fresh, 0);
        return status;
    }
    status = turn_park_at(self, TR_NEVER, NULL);
    bool has_left = false;
    while (job.is_submitted && self->job && !has_left) {
        has_left = leave(self, &job);
        if (!has_left)
            (void)turn_park_at(self, TR_NEVER, NULL); /* wait for the envelope */
    }
    /* either the turn was woken before its job was submitted, or it could not wait */
    if (!job.is_submitted)
        source_resize(&worker->system->source, fresh, 0);
    if (status == TR_OK && (has_left || !job.is_submitted))
        status = TR_WOULD_BLOCK;
    tr__blocking_leave(self, &job);
    return status;
}
