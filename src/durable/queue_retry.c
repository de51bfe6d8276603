/* SPDX-License-Identifier: Apache-2.0 */
#include "durable/queue_retry.h"

#include <string.h>

#include "actor/cell/names.h"
#include "calendar/alarm_plan.h"
#include "durable/commit.h"
#include "durable/item_row.h"
#include "durable/queue.h"
#include "durable/queue_alarm.h"
#include "durable/retry.h"
#include "durable/running.h"
#include "durable/turn.h"
#include "actor/cell/log.h"
#include "actor/cell/verb.h"

/* How an attempt has ended. */
struct attempt {
    tr_status failure;
    const char *cause;
    bool gives_up;
    tr_time wall_ns;
    /* The turn that has ended the attempt by a verb. NULL: the turn that had the item has failed,
     * which has ended the attempt. */
    struct tr_self *self;
};

/* Returns the options of a queue. Returns NULL if it has none. */
static const tr_retry *options_of(const struct durable_actor *actor, const char *queue)
{
    const tr_queue_options *options = actor->kind->declared->options.queues;
    for (; options && options->name; options++)
        if (strcmp(options->name, queue) == 0)
            return &options->retry;
    return NULL;
}

/* Sets the text that says why an item has failed. If there is no memory, the item gets no text. */
static void cause_set(struct worker *worker, struct queue_item *item, const char *cause)
{
    source_resize(&worker->source, item->cause, 0);
    item->cause = NULL;
    size_t size = cause ? strnlen(cause, TR_QUEUE_CAUSE_MAX) : 0;
    if (!size)
        return;
    item->cause = source_resize(&worker->source, NULL, size + 1);
    if (!item->cause)
        return;
    memcpy(item->cause, cause, size);
    item->cause[size] = 0;
}

static void log_dead(struct worker *worker, struct durable_actor *actor,
                     const struct queue_item *item)
{
    char path[TR_PATH_MAX + 1];
    tr__cell_path(worker->system, actor->durable.cell, path);
    tr__log(worker->system,
            TR_LEVEL_ERROR,
            path,
            "the item %llu (%s) of the queue %s is a dead letter after %u attempts: %s",
            (unsigned long long)item->id,
            item->type,
            item->queue->name,
            item->attempts,
            item->cause ? item->cause : tr_status_text(item->failure));
}

/* Notifies the application of a dead letter. If `self` is a turn, the message leaves with the
 * commit of that turn. If `self` is NULL, the turn has failed, and the message leaves at once. */
static void tell_dead(struct worker *worker, struct durable_actor *actor,
                      const struct queue_item *item, struct tr_self *self)
{
    const struct tr_queue_given_up message = {.queue = item->queue->name,
                                              .id = item->id,
                                              .attempts = item->attempts,
                                              .cause = item->cause ? item->cause : ""};
    log_dead(worker, actor, item);
    if (!actor->kind->given_up)
        return;
    if (self)
        (void)tr_self_tell(self, tr_me(self), &tr_type_tr_queue_given_up, &message);
    else
        tr__durable_notify(worker, actor->durable.cell, &tr_type_tr_queue_given_up, &message);
}

/* Notes in the open commit that an attempt of an item has failed. The item waits for another
 * attempt, or becomes a dead letter. `old` is the class of the item's present row. */
static tr_status item_fail(struct worker *worker, struct durable_actor *actor,
                           struct queue_item *item, enum item_class old,
                           const struct attempt *attempt)
{
    struct queues *queues = &actor->queues;
    const struct alarm_retry retry = tr__retry_of(options_of(actor, item->queue->name), NULL);
    tr__item_move(queues, item, ITEM_NOWHERE);
    bool is_dead = attempt->gives_up || retry.is_never || item->attempts >= retry.retries;
    item->span_ns = is_dead ? 0 : tr__alarm_back_off(&retry, item->attempts, &worker->rng);
    item->due_ns = is_dead ? 0 : attempt->wall_ns + item->span_ns;
    item->attempts++;
    item->failed_ns = attempt->wall_ns;
    item->failure = attempt->failure;
    cause_set(worker, item, attempt->cause);
    tr__item_set_class(item, is_dead ? ITEM_DEAD : ITEM_TIMED);
    if (!is_dead)
        tr__item_move(queues, item, ITEM_WAITING);
    else
        tell_dead(worker, actor, item, attempt->self);
    queues->has_changed = true;
    struct store_batch *batch = tr__commit_batch(actor);
    tr_status status = batch ? TR_OK : TR_NO_MEMORY;
    if (status == TR_OK && old != item->class)
        status = tr__item_row_remove(batch, item, old);
    return status == TR_OK ? tr__item_row_put(batch, item) : status;
}

/* ---- A turn that fails. ---- */

/* Sets an item back to its stored form. If the open commit has removed the item, adds the item
 * again. */
static tr_status item_restore(struct worker *worker, struct durable_actor *actor,
                              struct queue_item *item)
{
    struct queues *queues = &actor->queues;
    list_remove(&item->changed);
    if (!item->is_removed) {
        tr__item_move(queues, item, ITEM_NOWHERE);
        tr__item_set_class(item, item->stored_class);
        item->attempts = item->stored_attempts;
        return TR_OK;
    }
    item->is_removed = false;
    item->class = item->stored_class;
    item->attempts = item->stored_attempts;
    tr_status status = tr__items_add(worker, queues, item);
    if (status != TR_OK)
        tr__item_free(worker, item);
    return status;
}

/* Adds a failed attempt for each item that the failed turn had. Other changes of the failed commit
 * are still in memory, but need no undo, because the actor restarts and reads its queues again.
 * Items that the failed commit itself has pushed were never stored, so they do not count. */
static tr_status items_fail(struct worker *worker, struct durable_actor *actor,
                            const struct tr_self *self, const struct attempt *attempt,
                            bool *has_any)
{
    struct queues *queues = &actor->queues;
    tr_status status = TR_OK;
    LIST_EACH (link, &queues->changed) {
        struct queue_item *item = LIST_OWNER(link, struct queue_item, changed);
        if (status != TR_OK || item->taker != self || item->id > queues->committed)
            continue;
        *has_any = true;
        status = item_restore(worker, actor, item);
        if (status == TR_OK)
            status = item_fail(worker, actor, item, item->class, attempt);
    }
    LIST_EACH (link, &queues->taken) {
        struct queue_item *item = LIST_OWNER(link, struct queue_item, taken);
        if (status != TR_OK || item->taker != self || item->id > queues->committed)
            continue;
        *has_any = true;
        status = item_fail(worker, actor, item, item->class, attempt);
    }
    return status;
}

void tr__queues_failed(struct worker *worker, struct durable_actor *actor, struct tr_self *self)
{
    const tr_platform *platform = worker->system->platform;
    const struct attempt attempt = {.failure = self->error.status,
                                    .cause = self->error.text,
                                    .wall_ns = platform->wall_now(platform)};
    bool has_any = false;
    if (actor->is_doomed || actor->is_creating || actor->broken != TR_OK)
        return;
    if (list_is_empty(&actor->queues.taken) && list_is_empty(&actor->queues.changed))
        return;
    tr_status status = items_fail(worker, actor, self, &attempt, &has_any);
    if (!has_any)
        return;
    if (status == TR_OK)
        status = tr__queue_alarm_update(actor);
    if (status == TR_OK)
        status = tr__commit_submit(worker, actor);
    if (status != TR_OK)
        /* The attempts are not stored, so the items can be taken again at once, as after a
         * crash. */
        tr__commit_drop(worker, actor, status);
}

tr_status tr__queue_item_crashed(struct tr_self *self, struct durable_actor *actor, uint64_t id,
                                 uint32_t attempts)
{
    struct queue_item *item = tr__items_find(&actor->queues, id);
    if (!item || item->class == ITEM_DEAD || item->attempts != attempts)
        return TR_OK;
    const struct attempt attempt = {.failure = TR_FAILED,
                                    .cause = "the process ended while the item was handled",
                                    .wall_ns = tr_wall_now(self),
                                    .self = self};
    tr__queue_note(actor, item);
    return item_fail(self->worker, actor, item, item->class, &attempt);
}

/* ---- The verbs. ---- */

/* Returns the item if this turn may change it with a verb of this file. Returns NULL if the turn
 * may not. */
static struct queue_item *item_of_verb(tr_self *self, struct durable_actor *actor, tr_queued item)
{
    if (!actor || !self->frame || self->is_cancelled)
        return NULL;
    return tr__items_find(&actor->queues, item.id);
}

static bool attempt_end(tr_self *self, tr_queued taken, const char *cause, bool gives_up)
{
    struct durable_actor *actor = self ? durable_of(self) : NULL;
    struct queue_item *item = item_of_verb(self, actor, taken);
    if (!item || item->place != ITEM_TAKEN || item->taker != self)
        return false;
    const struct attempt attempt = {.failure = TR_FAILED,
                                    .cause = cause,
                                    .gives_up = gives_up,
                                    .wall_ns = tr_wall_now(self),
                                    .self = self};
    tr__queue_note(actor, item);
    tr_status status = item_fail(self->worker, actor, item, item->class, &attempt);
    if (status != TR_OK)
        tr_crash(self, status, "tr_queue_retry: %s", tr_status_text(status));
    tr__running_drop(self->frame, taken.id);
    return true;
}

bool tr_queue_retry(tr_self *self, tr_queued item, const char *cause)
{
    TURN_VERB(self);
    return attempt_end(self, item, cause, false);
}

bool tr_queue_give_up(tr_self *self, tr_queued item, const char *cause)
{
    TURN_VERB(self);
    return attempt_end(self, item, cause, true);
}

bool tr_queue_cancel(tr_self *self, tr_queued cancelled)
{
    TURN_VERB(self);
    struct durable_actor *actor = self ? durable_of(self) : NULL;
    struct queue_item *item = item_of_verb(self, actor, cancelled);
    if (!item || item->place == ITEM_TAKEN)
        return false;
    tr_status status = tr__queue_remove(actor, item);
    if (status != TR_OK)
        tr_crash(self, status, "tr_queue_cancel: %s", tr_status_text(status));
    return true;
}

bool tr_queue_put_back(tr_self *self, tr_queued dead)
{
    TURN_VERB(self);
    struct durable_actor *actor = self ? durable_of(self) : NULL;
    struct queue_item *item = item_of_verb(self, actor, dead);
    if (!item || item->class != ITEM_DEAD)
        return false;
    struct store_batch *batch = tr__commit_batch(actor);
    tr_status status = batch ? tr__item_row_remove(batch, item, ITEM_DEAD) : TR_NO_MEMORY;
    tr__queue_note(actor, item);
    tr__item_set_class(item, ITEM_PLAIN);
    item->attempts = 0;
    item->failed_ns = 0;
    item->failure = TR_OK;
    cause_set(self->worker, item, NULL);
    if (status == TR_OK)
        status = tr__item_row_put(batch, item);
    if (status != TR_OK)
        tr_crash(self, status, "tr_queue_put_back: %s", tr_status_text(status));
    tr__item_move(&actor->queues, item, ITEM_READY);
    tr__queues_wake(actor);
    return true;
}
