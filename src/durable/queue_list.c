/* SPDX-License-Identifier: Apache-2.0 */
/** What a handler can read about its queues. Nothing here changes a queue. */
#include <string.h>
#include <troupe/queue.h>

#include "actor/cell/verb.h"
#include "durable/queue.h"

static const struct queue *queue_of(const tr_self *self, const char *name)
{
    const struct durable_actor *actor = self ? durable_of(self) : NULL;
    return actor && name ? tr__items_queue(&actor->queues, name) : NULL;
}

size_t tr_queue_count(const tr_self *self, const char *queue)
{
    TURN_VERB(self);
    const struct queue *found = queue_of(self, queue);
    return found ? found->count : 0;
}

size_t tr_queue_count_dead(const tr_self *self, const char *queue)
{
    TURN_VERB(self);
    const struct queue *found = queue_of(self, queue);
    return found ? found->dead_count : 0;
}

tr_status tr_self_queue_peek(tr_self *self, const char *queue, const tr_type *type,
                             const void **message, tr_queued *item)
{
    TURN_VERB(self);
    struct durable_actor *actor = self ? durable_of(self) : NULL;
    if (!self || !queue || !type || !message || !item)
        return TR_INVALID_ARGUMENT;
    if (!actor)
        return TR_NOT_SUPPORTED;
    struct queue_item *first = tr__queue_first(self, actor, queue);
    if (!first)
        return TR_NOT_FOUND;
    item->id = first->id;
    return tr__queue_copy(self, first, type, message);
}

tr_status tr_self_queue_read(tr_self *self, tr_queued item, const tr_type *type,
                             const void **message)
{
    TURN_VERB(self);
    struct durable_actor *actor = self ? durable_of(self) : NULL;
    if (!self || !type || !message)
        return TR_INVALID_ARGUMENT;
    if (!actor)
        return TR_NOT_SUPPORTED;
    struct queue_item *found = tr__items_find(&actor->queues, item.id);
    return found ? tr__queue_copy(self, found, type, message) : TR_NOT_FOUND;
}

/* ---- Lists. ---- */

/* The items with the lowest ids among those that were looked at so far, in order. */
struct lowest {
    const struct queue_item **items;
    size_t count;
    size_t max;
};

static void lowest_add(struct lowest *lowest, const struct queue_item *item)
{
    if (lowest->count == lowest->max && lowest->items[lowest->count - 1]->id < item->id)
        return;
    size_t at = lowest->count < lowest->max ? lowest->count++ : lowest->count - 1;
    for (; at > 0 && lowest->items[at - 1]->id > item->id; at--)
        lowest->items[at] = lowest->items[at - 1];
    lowest->items[at] = item;
}

static const char *copy_text(tr_self *self, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = tr_try_scratch(self, size);
    return copy ? memcpy(copy, text, size) : NULL;
}

static bool entry_fill(tr_self *self, const struct queue_item *item, tr_queue_entry *entry)
{
    *entry = (tr_queue_entry){.item = {item->id},
                              .type = copy_text(self, item->type),
                              .is_taken = item->place == ITEM_TAKEN,
                              .due_wall_ns = item->place == ITEM_WAITING ? item->due_ns : 0,
                              .attempts = item->attempts,
                              .failure = item->failure,
                              .cause = copy_text(self, item->cause ? item->cause : ""),
                              .failed_wall_ns = item->failed_ns};
    return entry->type && entry->cause;
}

static bool list_fill(tr_self *self, const struct queues *queues, const struct queue *queue,
                      bool is_dead, uint64_t after, struct lowest *lowest, tr_queue_entry *entries)
{
    for (size_t i = 0; i < queues->bucket_count; i++) {
        for (const struct queue_item *item = queues->buckets[i]; item; item = item->next) {
            if (item->queue == queue && (item->class == ITEM_DEAD) == is_dead && item->id > after)
                lowest_add(lowest, item);
        }
    }
    for (size_t i = 0; i < lowest->count; i++)
        if (!entry_fill(self, lowest->items[i], &entries[i]))
            return false;
    return true;
}

static size_t queue_list(tr_self *self, const char *name, tr_queued after,
                         const tr_queue_entry **entries, size_t max, bool is_dead)
{
    const struct queue *queue = queue_of(self, name);
    size_t count = queue ? is_dead ? queue->dead_count : queue->count : 0;
    struct lowest lowest = {.max = max < count ? max : count};
    if (!entries || !lowest.max)
        return 0;
    lowest.items = tr_try_scratch(self, lowest.max * sizeof(struct queue_item *));
    tr_queue_entry *made = tr_try_scratch(self, lowest.max * sizeof *made);
    bool is_filled =
        lowest.items && made &&
        list_fill(self, &durable_of(self)->queues, queue, is_dead, after.id, &lowest, made);
    if (!is_filled)
        tr_crash(self, TR_NO_MEMORY, "tr_queue_list: out of memory");
    *entries = made;
    return lowest.count;
}

size_t tr_queue_list(tr_self *self, const char *queue, tr_queued after,
                     const tr_queue_entry **entries, size_t max)
{
    TURN_VERB(self);
    return queue_list(self, queue, after, entries, max, false);
}

size_t tr_queue_list_dead(tr_self *self, const char *queue, tr_queued after,
                          const tr_queue_entry **entries, size_t max)
{
    TURN_VERB(self);
    return queue_list(self, queue, after, entries, max, true);
}
