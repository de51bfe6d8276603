/* SPDX-License-Identifier: Apache-2.0 */
#include "durable/waker.h"

#include <string.h>

#include "actor/life/pooled.h"
#include "durable/clock.h"
#include "durable/queue.h"

enum {
    WAKER_PAGE = 64 /* keys that one turn looks at; if as many wait for room, it pauses */
};

/* From page to page: others have work on this worker, too, and not all are to wake in the same moment. */
#define WAKER_PAGE_NS (10 * TR_MILLISECOND)
/* After a failure of the store or of memory. */
#define WAKER_AGAIN_NS TR_SECOND

/* ---- What the run handler takes. ---- */

static uint64_t hash_of(const struct durable_actor *actor, const char *queue)
{
    return hash_bytes(actor->kind->host->system->names.key, queue, strlen(queue));
}

static bool takes(const struct durable_actor *actor, uint64_t hash)
{
    for (uint32_t i = 0; i < actor->run_queue_count; i++)
        if (actor->run_queues[i] == hash)
            return true;
    return false;
}

void tr__run_takes(struct durable_actor *actor, const char *queue)
{
    uint64_t hash = hash_of(actor, queue);
    if (actor->takes_any || takes(actor, hash))
        return;
    if (actor->run_queue_count == RUN_QUEUES_MAX)
        actor->takes_any = true;
    else
        actor->run_queues[actor->run_queue_count++] = hash;
}

static bool has_work(const struct durable_actor *actor)
{
    if (!actor->run_queue_count) /* it returned without a look at any, or did not get that far */
        return !actor->has_run;
    LIST_EACH (link, &actor->queued) {
        const struct queue_item *item = LIST_OWNER(link, struct queue_item, link);
        if (actor->takes_any || takes(actor, hash_of(actor, item->name)))
            return true;
    }
    return false;
}

enum run_wanted tr__run_wanted(const struct durable_actor *actor)
{
    bool is_destroyed = actor->is_destroying || actor->machine.outcome == SLEEP_ENDED_DESTROYED;
    if (!actor->kind->run || is_destroyed || list_is_empty(&actor->queued) || !has_work(actor))
        return RUN_NOT_WANTED;
    if (actor->is_creating) /* its first start is undone, and its items with it */
        return RUN_NOT_WANTED;
    if (actor->has_queue_moved)
        return RUN_WANTED;
    /* It had its time and returned: it would do so again. */
    return actor->has_run ? RUN_NOT_WANTED : RUN_WANTED_LATER;
}

/* ---- After the store was opened. ---- */

TR_MESSAGE(tr_waker_set, (u64, host));
TR_MESSAGE(tr_waker_page);

struct waker_state {
    struct durable_host *host;
    int64_t place; /* all up to this one were looked at */
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
    bool is_half = queued->version & STATE_HALF; /* the first start of the key is undone */
    const struct durable_kind *kind =
        queued->has_items && !is_half ? kind_of(waker->host, queued->kind) : NULL;
    uint64_t bits;
    tr_status status = TR_OK;
    if (kind && kind->run)
        status = tr_self_try_durable(page->self, kind->declared, queued->key, &bits);
    /* One that is being destroyed, or whose key cannot be one, is left out. */
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
                                       QUEUE_IDS,
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
        return TR_STOP; /* those were all */
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
    tr_status status =
        tr__store_list_queued(host->contexts[0].reader, INT64_MIN, QUEUE_IDS, 1, on_any, &has_any);
    if (status == TR_OK && !has_any)
        return TR_OK; /* a store without queues has nothing to wake */
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
