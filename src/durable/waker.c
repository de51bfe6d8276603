/* SPDX-License-Identifier: Apache-2.0 */
#include "durable/waker.h"

#include <string.h>

#include "actor/life/pooled.h"
#include "durable/item_row.h"
#include "durable/items.h"
#include "durable/state.h"
#include "store/read.h"

enum {
    /* How many keys one turn of the waker looks at. The waker pauses while this many cells wait in
     * the line of durable/pressure.c. */
    WAKER_PAGE = 64
};

/* The delay between two pages. It lets other actors of this worker run, and keeps all keys from waking at the same
 * moment. */
#define WAKER_PAGE_NS (10 * TR_MILLISECOND)
/* The delay after a failure of the store, or after there was no memory. */
#define WAKER_AGAIN_NS TR_SECOND

/* ---- Queues that the run handler takes from. ---- */

void tr__run_takes(struct worker *worker, struct durable_actor *actor, const char *name)
{
    struct queues *queues = &actor->queues;
    struct queue *queue = tr__items_queue_make(worker, queues, name);
    queues->has_run_taken = true;
    if (queue)
        queue->is_run = true;
    else
        queues->takes_any = true;
}

static bool run_has_work(const struct durable_actor *actor)
{
    const struct queues *queues = &actor->queues;
    /* As long as the run handler has not taken from any queue, all queues count, because it is not
     * known from which it will take. */
    bool takes_all = !queues->has_run_taken || queues->takes_any;
    if (!queues->has_run_taken && queues->has_run)
        return false;
    LIST_EACH (link, &queues->all) {
        const struct queue *queue = LIST_OWNER(link, struct queue, link);
        if (queue->ready.count && (takes_all || queue->is_run))
            return true;
    }
    /* Also count items that only the open commit has removed. If that commit has failed, they are
     * still in the store. */
    LIST_EACH (link, &queues->changed) {
        const struct queue_item *item = LIST_OWNER(link, struct queue_item, changed);
        if (item->is_removed && item->id <= queues->committed && (takes_all || item->queue->is_run))
            return true;
    }
    return false;
}

enum run_wanted tr__run_wanted(const struct durable_actor *actor)
{
    bool is_destroyed = actor->is_destroying || actor->machine.outcome == SLEEP_ENDED_DESTROYED;
    if (!actor->kind->run || is_destroyed || !run_has_work(actor))
        return RUN_NOT_WANTED;
    if (actor->is_creating) /* the first start will be undone, and with it all items */
        return RUN_NOT_WANTED;
    if (actor->queues.has_moved)
        return RUN_WANTED;
    /* The run handler has returned, and would return again. So its items are no reason to begin a
     * generation. */
    return actor->queues.has_run ? RUN_NOT_WANTED : RUN_WANTED_LATER;
}

/* ---- After the store was opened. ---- */

TR_MESSAGE(tr_waker_set, (u64, host));
TR_MESSAGE(tr_waker_page);

struct waker_state {
    struct durable_host *host;
    int64_t place; /* number of the last key that the waker has looked at */
};

struct waker_page {
    tr_self *self;
    struct waker_state *waker;
    uint32_t count;
    tr_status status;
};

static const struct durable_kind *kind_of(const struct durable_host *host, const char *name)
{
    for (size_t i = 0; name && i < host->kind_count; i++)
        if (strcmp(host->kinds[i].declared->name, name) == 0)
            return &host->kinds[i];
    return NULL;
}

static bool on_queued(void *context, const struct store_queued *queued)
{
    struct waker_page *page = context;
    struct waker_state *waker = page->waker;
    /* The first start of the key has not finished, so the key will be removed. */
    bool is_half = queued->version & STATE_HALF;
    const struct durable_kind *kind =
        queued->has_items && !is_half ? kind_of(waker->host, queued->kind) : NULL;
    uint64_t bits;
    tr_status status = TR_OK;
    if (kind && kind->run)
        status = tr_self_try_durable(page->self, kind->origin, queued->key, &bits);
    /* Skip a key that is being destroyed, or that is not valid. */
    if (status != TR_OK && status != TR_DESTROYING && status != TR_INVALID_ARGUMENT) {
        page->status = status;
        return false;
    }
    waker->place = queued->actor;
    page->count++;
    return true;
}

static tr_next on_page(tr_self *self, struct waker_state *waker)
{
    struct durable_host *host = waker->host;
    struct waker_page page = {.self = self, .waker = waker, .status = TR_OK};
    tr_status status = TR_OK;
    bool is_crowded = atom32_load(&host->line_count, ATOM_RELAXED) >= WAKER_PAGE;
    if (!is_crowded)
        status = tr__store_list_queued(host_context(host, self->worker)->reader,
                                       waker->place,
                                       QUEUE_NAMES_FROM,
                                       WAKER_PAGE,
                                       on_queued,
                                       &page);
    if (page.status == TR_STOPPING || page.status == TR_CANCELLED)
        return TR_STOP;
    if (status == TR_STORE_CORRUPT) {
        tr_log_error(self, "keys with queued work cannot be listed: the store is damaged");
        return TR_STOP;
    }
    bool has_failed = status != TR_OK || page.status != TR_OK;
    if (!has_failed && !is_crowded && page.count < WAKER_PAGE)
        return TR_STOP; /* this was the last page */
    tr_timer_once(self, "page", has_failed ? WAKER_AGAIN_NS : WAKER_PAGE_NS, tr_waker_page);
    return TR_SAME;
}

static tr_next on_set(tr_self *self, struct waker_state *waker, const struct tr_waker_set *message)
{
    waker->host = (struct durable_host *)(uintptr_t)message->host;
    waker->place = INT64_MIN;
    tr_timer_once(self, "page", WAKER_PAGE_NS, tr_waker_page);
    return TR_SAME;
}

TR_BEHAVIOR(tr_durable_waker, struct waker_state, TR_SETUP_WITH(tr_waker_set, on_set),
            TR_ON(tr_waker_page, on_page), TR_OPTIONS(.is_pinned = true));

static bool on_any(void *context, const struct store_queued *queued)
{
    (void)queued;
    *(bool *)context = true;
    return false;
}

tr_status tr__waker_start(struct durable_host *host)
{
    struct tr_system *system = host->system;
    bool has_any = false;
    uint64_t bits;
    size_t kind = 0;
    while (kind < host->kind_count && !host->kinds[kind].run)
        kind++;
    if (kind == host->kind_count)
        return TR_OK;
    tr_status status = tr__store_list_queued(
        host->contexts[0].reader, INT64_MIN, QUEUE_NAMES_FROM, 1, on_any, &has_any);
    if (status == TR_OK && !has_any)
        return TR_OK; /* a store without queues has no key to wake */
    const struct tr_waker_set set = {.host = (uint64_t)(uintptr_t)host};
    const struct pooled_spawner nobody = {0};
    const struct pooled_place place = {
        .parent = system->user.guardian, .path = "/system/durable-queues", .bits = CELL_POOLED};
    const tr_spawn_args args = {.size = sizeof args,
                                .behavior = &tr_behavior_tr_durable_waker,
                                .worker = 0,
                                .setup_type = &tr_type_tr_waker_set,
                                .setup = &set};
    return tr__pooled_spawn_at(system, &nobody, &place, &args, &bits);
}
