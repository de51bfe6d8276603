/* SPDX-License-Identifier: Apache-2.0 */
/** The verbs that a durable actor can call in a turn. */
#include <stdio.h>
#include <string.h>

#include "actor/turn/park.h"
#include "base/assert.h"
#include "durable/actor.h"
#include "durable/commit.h"
#include "durable/state.h"
#include "durable/turn.h"
#include "sleep/sleep.h"
#include "store/store.h"
#include "mem/heap.h"
#include "actor/cell/verb.h"

/* Returns the durable actor of a turn. If the actor of the turn is not durable, ends the turn. */
static struct durable_actor *verb_need(tr_self *self, const char *verb)
{
    TR_ASSERT(self); /* a failure ends the turn, so there must be a turn */
    struct durable_actor *actor = durable_of(self);
    if (!actor)
        tr_crash(self, TR_NOT_SUPPORTED, "%s: this actor is not durable", verb);
    return actor;
}

/* ---- Identity. ---- */

tr_bytes tr_key(tr_self *self)
{
    TURN_VERB(self);
    return actor_key(verb_need(self, "tr_key"));
}

uint64_t tr_generation(tr_self *self, uint64_t *epoch)
{
    TURN_VERB(self);
    const struct durable_actor *actor = verb_need(self, "tr_generation");
    if (epoch)
        *epoch = actor->end.generation.epoch;
    return actor->end.generation.counter;
}

bool tr_is_aborted(const tr_self *self)
{
    TURN_VERB(self);
    const struct durable_actor *actor = self ? durable_of(self) : NULL;
    return actor && actor->is_aborted;
}

bool tr_deadline_fired(const tr_self *self)
{
    TURN_VERB(self);
    const struct durable_actor *actor = self ? durable_of(self) : NULL;
    if (!actor || actor->is_deadline_over)
        return actor;
    /* Read the clock here, because the time of the worker stands still while its handler
     * computes. */
    const struct sleep_machine *machine = &actor->machine;
    bool is_grace = machine->state == SLEEP_GRACE || machine->state == SLEEP_DESTROY_GRACE;
    const tr_platform *platform = self->worker->system->platform;
    return is_grace && platform->mono_now(platform) >= machine->deadline;
}

uint64_t tr_durable_timeouts(const tr_system *system)
{
    const struct durable_host *host = system ? system->durable.host : NULL;
    return host ? atom64_load(&host->timeouts, ATOM_RELAXED) : 0;
}

uint64_t tr_durable_commits(const tr_system *system)
{
    const struct durable_host *host = system ? system->durable.host : NULL;
    return host ? tr__store_commits(host->store) : 0;
}

/* ---- Sleep and end. ---- */

static tr_status verb_check(const tr_self *self)
{
    if (!self)
        return TR_INVALID_ARGUMENT;
    if (!durable_of(self))
        return TR_NOT_SUPPORTED;
    return self->is_cancelled ? TR_CANCELLED : TR_OK;
}

tr_status tr_go_to_sleep(tr_self *self)
{
    TURN_VERB(self);
    tr_status status = verb_check(self);
    if (status != TR_OK)
        return status;
    /* The sleep machine performs its next steps when this turn waits or ends. */
    return tr__sleep_ask(&durable_of(self)->machine, SLEEP_REASON_SLEEP, self->worker->loop.now_ns);
}

tr_status tr_destroy(tr_self *self)
{
    TURN_VERB(self);
    tr_status status = verb_check(self);
    if (status != TR_OK)
        return status;
    struct durable_actor *actor = durable_of(self);
    status = tr__sleep_may_destroy(&actor->machine);
    if (status == TR_OK && !self->frame)
        status = TR_NOT_IN_A_TURN;
    if (status == TR_OK && actor->is_destroy_wanted)
        status = TR_STOPPING;
    if (status != TR_OK)
        return status;
    /* The sleep machine is asked to destroy the actor when the commit with the mark of tr_destroy
     * is submitted. */
    actor->is_destroy_wanted = true;
    /* From now on hold messages back, until the destroy is on disk. */
    actor->outbox.is_open = false;
    return TR_OK;
}

/* ---- Saving. ---- */

tr_status tr_try_save(tr_self *self)
{
    TURN_VERB(self);
    struct durable_actor *actor = self ? durable_of(self) : NULL;
    if (!self)
        return TR_INVALID_ARGUMENT;
    if (!actor || !self->frame)
        return actor ? TR_NOT_IN_A_TURN : TR_NOT_SUPPORTED;
    tr_status status = turn_may_park(self);
    if (status == TR_OK)
        status = tr__whole_may_wait(self);
    if (status != TR_OK)
        return status;
    status = tr__stretch_end(self, actor, true);
    if (status != TR_OK)
        return status;
    tr__whole_continue(self); /* a commit has ended, so a new part of the handler begins */
    struct list *last = list_last(&actor->commits);
    if (!last)
        return TR_OK;
    struct commit *commit = LIST_OWNER(last, struct commit, link);
    list_push_last(&commit->savers, &self->frame->saver);
    self->worker->loop.await_ns = tr__store_await_ns(actor->kind->host->store);
    status = turn_park_at(self, TR_NEVER, NULL);
    /* If the turn was cancelled, its frame is still in the list. */
    list_remove(&self->frame->saver);
    return status;
}

void tr_save(tr_self *self)
{
    TURN_VERB(self);
    TR_ASSERT(self); /* a failure ends the turn, so there must be a turn */
    tr_status status = tr_try_save(self);
    if (status == TR_OK)
        return;
    char why[sizeof(tr_wire_error)];
    struct durable_actor *actor = durable_of(self);
    if (status == TR_BAD_DATA && actor)
        tr__durable_state_why(self->worker, actor, status, why, sizeof why);
    else
        snprintf(why, sizeof why, "%s", tr_status_text(status));
    tr_crash(self, status, "tr_save: %s", why);
}

/* ---- Lists of the state. ---- */

/* Returns the list in a block of the heap that can grow, with capacity for `more` items. Lists of
 * tr_append are already in such a block; it is marked as an array, and its size says how many items
 * fit. Any other list is copied. If a list was read from the store or comes from tr_alloc, the
 * memory after its items may be in use. If a list is a constant, it cannot be written. */
static char *list_own(tr_self *self, const char *verb, const void *items, size_t count, size_t size,
                      size_t more)
{
    size_t bytes = tr__heap_array(self->cell->heap, items);
    if (count >= TR_PAYLOAD_MAX / size)
        tr_crash(self, TR_TOO_LARGE, "%s: the list is too long", verb);
    if (bytes && count * size > bytes)
        tr_crash(self,
                 TR_INVALID_ARGUMENT,
                 "%s: the list has a count of %zu, but memory for %zu",
                 verb,
                 count,
                 bytes / size);
    char *made = (char *)(uintptr_t)items;
    if ((count + more) * size > bytes) {
        size_t capacity = count < 4 ? 8 : 2 * count;
        made = tr_realloc(self, bytes ? made : NULL, capacity * size);
        if (!bytes && count)
            memcpy(made, items, count * size);
        tr__heap_mark_array(self->cell->heap, made);
    }
    return made;
}

const void *tr_self_append(tr_self *self, const void *items, size_t count, size_t size,
                           const void *item)
{
    TURN_VERB(self);
    (void)verb_need(self, "tr_append");
    char *made = list_own(self, "tr_append", items, count, size, 1);
    memcpy(made + count * size, item, size);
    return made;
}

const void *tr_self_replace(tr_self *self, const void *items, size_t count, size_t size,
                            size_t index, const void *item)
{
    TURN_VERB(self);
    const char *verb = item ? "tr_replace" : "tr_remove";
    (void)verb_need(self, verb);
    if (index >= count)
        tr_crash(self,
                 TR_INVALID_ARGUMENT,
                 "%s: the list has %zu items, and none of index %zu",
                 verb,
                 count,
                 index);
    char *made = list_own(self, verb, items, count, size, 0);
    char *at = made + index * size;
    if (item)
        memcpy(at, item, size);
    else
        memmove(at, at + size, (count - index - 1) * size);
    return made;
}

/* ---- Holds. ---- */

tr_hold tr_self_hold(tr_self *self, bool is_awake, const char *what, const char *file, int line)
{
    TURN_VERB(self);
    struct durable_actor *actor = verb_need(self, "TR_KEEP_AWAKE");
    struct durable_frame *frame = self->frame;
    struct worker *worker = self->worker;
    if (!frame)
        tr_crash(self, TR_NOT_IN_A_TURN, "TR_KEEP_AWAKE: not allowed in a signal");
    struct durable_hold *hold = source_resize(&worker->source, NULL, sizeof *hold);
    if (!hold)
        tr_crash(self, TR_NO_MEMORY, "TR_KEEP_AWAKE: out of memory");
    *hold = (struct durable_hold){.wake_lock = {.what = what, .file = file, .line = line},
                                  .number = ++actor->hold_last};
    list_push_last(&frame->holds, &hold->link);
    (void)!tr__sleep_raise(&actor->machine,
                           &hold->wake_lock,
                           is_awake ? COUNTER_KEEP_AWAKE : COUNTER_TASKS,
                           worker->loop.now_ns);
    /* While the turn is inside a TR_WAIT_UNTIL block, it does not keep the actor awake. */
    if (!is_awake && !frame->lenient++)
        tr__sleep_drop(&actor->machine, &frame->wake_lock, worker->loop.now_ns);
    return (tr_hold){self, hold->number};
}

void tr_hold_release(tr_hold *handle)
{
    tr_self *self = handle->self;
    TURN_VERB(self);
    uint64_t number = handle->number;
    handle->number = 0;
    struct durable_frame *frame = number && self ? self->frame : NULL;
    struct durable_actor *actor = frame ? durable_of(self) : NULL;
    if (!actor)
        return;
    LIST_EACH (link, &frame->holds) {
        struct durable_hold *hold = LIST_OWNER(link, struct durable_hold, link);
        if (hold->number != number)
            continue;
        tr_time now_ns = self->worker->loop.now_ns;
        bool was_awake = hold->wake_lock.counter == COUNTER_KEEP_AWAKE;
        list_remove(&hold->link);
        tr__sleep_drop(&actor->machine, &hold->wake_lock, now_ns);
        source_resize(&self->worker->source, hold, 0);
        bool counts = !was_awake && !--frame->lenient && (!frame->is_hook || frame->is_run);
        if (counts)
            (void)!tr__sleep_raise(&actor->machine, &frame->wake_lock, frame->counter, now_ns);
        return;
    }
}
