/* SPDX-License-Identifier: Apache-2.0 */
#include "durable/items.h"

#include <string.h>

#include "base/assert.h"

enum { BUCKETS_FIRST = 16, HEAP_FIRST = 8 };

/* ---- Heaps. ---- */

static bool is_before(const struct item_heap *heap, const struct queue_item *left,
                      const struct queue_item *right)
{
    if (heap->is_by_time && left->due_ns != right->due_ns)
        return left->due_ns < right->due_ns;
    return left->id < right->id;
}

static void heap_put(struct item_heap *heap, size_t at, struct queue_item *item)
{
    heap->items[at] = item;
    item->heap_at = at;
}

/* Puts an item into the heap. The place `at` is free. Moves the free place up or down until the
 * item fits there. */
static void heap_settle(struct item_heap *heap, size_t at, struct queue_item *item)
{
    for (; at > 0 && is_before(heap, item, heap->items[(at - 1) / 2]); at = (at - 1) / 2)
        heap_put(heap, at, heap->items[(at - 1) / 2]);
    for (size_t child; (child = 2 * at + 1) < heap->count; at = child) {
        if (child + 1 < heap->count && is_before(heap, heap->items[child + 1], heap->items[child]))
            child++;
        if (!is_before(heap, heap->items[child], item))
            break;
        heap_put(heap, at, heap->items[child]);
    }
    heap_put(heap, at, item);
}

static bool heap_reserve(struct worker *worker, struct item_heap *heap, size_t count)
{
    if (count <= heap->capacity)
        return true;
    size_t capacity = heap->capacity ? heap->capacity : HEAP_FIRST;
    while (capacity < count)
        capacity *= 2;
    struct queue_item **items =
        source_resize(&worker->source, heap->items, capacity * sizeof heap->items[0]);
    if (!items)
        return false;
    heap->items = items;
    heap->capacity = capacity;
    return true;
}

static void heap_add(struct item_heap *heap, struct queue_item *item)
{
    TR_ASSERT(heap->count < heap->capacity);
    heap->count++;
    heap_settle(heap, heap->count - 1, item);
}

static void heap_remove(struct item_heap *heap, const struct queue_item *item)
{
    size_t at = item->heap_at;
    TR_ASSERT(at < heap->count && heap->items[at] == item);
    struct queue_item *last = heap->items[--heap->count];
    if (last != item)
        heap_settle(heap, at, last);
}

/* ---- Queues. ---- */

void tr__items_init(struct queues *queues)
{
    *queues = (struct queues){.waiting.is_by_time = true, .row_ns = TR_NEVER};
    list_init(&queues->all);
    list_init(&queues->taken);
    list_init(&queues->changed);
}

struct queue *tr__items_queue(const struct queues *queues, const char *name)
{
    LIST_EACH (link, &queues->all) {
        struct queue *queue = LIST_OWNER(link, struct queue, link);
        if (strcmp(queue->name, name) == 0)
            return queue;
    }
    return NULL;
}

struct queue *tr__items_queue_make(struct worker *worker, struct queues *queues, const char *name)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    struct queue *queue = tr__items_queue(queues, name);
    if (queue)
        return queue;
    size_t size = strlen(name) + 1;
    queue = source_resize(&worker->source, NULL, sizeof *queue + size);
    if (!queue)
        return NULL;
    memset(queue, 0, sizeof *queue);
    memcpy(queue->name, name, size);
    list_push_last(&queues->all, &queue->link);
    return queue;
}

void tr__items_deinit(struct worker *worker, struct queues *queues)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    struct list *link;
    while ((link = list_pop_first(&queues->changed))) {
        struct queue_item *item = LIST_OWNER(link, struct queue_item, changed);
        /* An item that is not removed is in the table, and is freed with the table. */
        if (item->is_removed)
            tr__item_free(worker, item);
    }
    for (size_t i = 0; i < queues->bucket_count; i++) {
        for (struct queue_item *item = queues->buckets[i], *next; item; item = next) {
            next = item->next;
            list_remove(&item->taken);
            tr__item_free(worker, item);
        }
    }
    while ((link = list_pop_first(&queues->all))) {
        struct queue *queue = LIST_OWNER(link, struct queue, link);
        source_resize(&worker->source, queue->ready.items, 0);
        source_resize(&worker->source, queue, 0);
    }
    source_resize(&worker->source, queues->waiting.items, 0);
    source_resize(&worker->source, queues->buckets, 0);
    tr__items_init(queues);
}

/* ---- Items. ---- */

struct queue_item *tr__item_new(struct worker *worker, struct queue *queue, const char *type,
                                uint64_t id, size_t bytes_size)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    size_t type_size = strlen(type) + 1;
    struct queue_item *item =
        source_resize(&worker->source, NULL, sizeof *item + type_size + bytes_size);
    if (!item)
        return NULL;
    *item = (struct queue_item){
        .queue = queue, .id = id, .type_size = type_size, .bytes_size = bytes_size};
    list_init(&item->taken);
    list_init(&item->changed);
    memcpy(item->type, type, type_size);
    return item;
}

void tr__item_free(struct worker *worker, struct queue_item *item)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    source_resize(&worker->source, item->cause, 0);
    source_resize(&worker->source, item, 0);
}

/* Doubles the table of ids. If there is no memory, the table keeps its size. */
static bool table_grow(struct worker *worker, struct queues *queues)
{
    size_t count = queues->bucket_count ? queues->bucket_count * 2 : BUCKETS_FIRST;
    struct queue_item **buckets = source_resize(&worker->source, NULL, count * sizeof buckets[0]);
    if (!buckets)
        return queues->bucket_count > 0;
    memset(buckets, 0, count * sizeof buckets[0]);
    for (size_t i = 0; i < queues->bucket_count; i++) {
        for (struct queue_item *item = queues->buckets[i], *next; item; item = next) {
            next = item->next;
            item->next = buckets[item->id & (count - 1)];
            buckets[item->id & (count - 1)] = item;
        }
    }
    source_resize(&worker->source, queues->buckets, 0);
    queues->buckets = buckets;
    queues->bucket_count = count;
    return true;
}

/* Returns the bucket of an id. Ids are consecutive numbers, so they spread over the buckets without
 * a hash. */
static struct queue_item **bucket_of(const struct queues *queues, uint64_t id)
{
    return &queues->buckets[id & (queues->bucket_count - 1)];
}

tr_status tr__items_add(struct worker *worker, struct queues *queues, struct queue_item *item)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    struct queue *queue = item->queue;
    bool has_table = queues->count < queues->bucket_count || table_grow(worker, queues);
    if (!has_table || !heap_reserve(worker, &queue->ready, queue->count + queue->dead_count + 1) ||
        !heap_reserve(worker, &queues->waiting, queues->count + 1))
        return TR_NO_MEMORY;
    struct queue_item **bucket = bucket_of(queues, item->id);
    item->next = *bucket;
    *bucket = item;
    queues->count++;
    queues->bytes += sizeof *item + item->type_size + item->bytes_size;
    queue->bytes += item_cost(item);
    queue->count += item->class != ITEM_DEAD;
    queue->dead_count += item->class == ITEM_DEAD;
    return TR_OK;
}

void tr__items_remove(struct queues *queues, struct queue_item *item)
{
    struct queue *queue = item->queue;
    struct queue_item **at = bucket_of(queues, item->id);
    tr__item_move(queues, item, ITEM_NOWHERE);
    while (*at != item)
        at = &(*at)->next;
    *at = item->next;
    queues->count--;
    queues->bytes -= sizeof *item + item->type_size + item->bytes_size;
    queue->bytes -= item_cost(item);
    queue->count -= item->class != ITEM_DEAD;
    queue->dead_count -= item->class == ITEM_DEAD;
}

struct queue_item *tr__items_find(const struct queues *queues, uint64_t id)
{
    struct queue_item *item = queues->bucket_count ? *bucket_of(queues, id) : NULL;
    while (item && item->id != id)
        item = item->next;
    return item;
}

/* Whether the item has had to wait for a time, and that time has come. */
static bool is_overdue(const struct queue_item *item)
{
    return item->class == ITEM_TIMED && (item->place == ITEM_READY || item->place == ITEM_TAKEN);
}

void tr__item_move(struct queues *queues, struct queue_item *item, enum item_place place)
{
    struct queue *queue = item->queue;
    queue->overdue -= is_overdue(item);
    if (item->place == ITEM_READY)
        heap_remove(&queue->ready, item);
    else if (item->place == ITEM_WAITING)
        heap_remove(&queues->waiting, item);
    list_remove(&item->taken);
    item->place = place;
    if (place == ITEM_READY)
        heap_add(&queue->ready, item);
    else if (place == ITEM_WAITING)
        heap_add(&queues->waiting, item);
    else if (place == ITEM_TAKEN)
        list_push_last(&queues->taken, &item->taken);
    queue->overdue += is_overdue(item);
}

void tr__items_follow(struct queues *queues, tr_time wall_ns)
{
    struct item_heap *heap = &queues->waiting;
    size_t count = heap->count;
    bool has_any = false;
    for (size_t i = 0; i < count; i++) {
        struct queue_item *item = heap->items[i];
        if (item->due_ns - wall_ns <= item->span_ns)
            continue;
        item->due_ns = wall_ns + item->span_ns;
        item->is_retimed = true;
        has_any = true;
    }
    if (!has_any)
        return;
    queues->has_retimed = true;
    /* Add all items again in the same array. This is safe, because each item is read before its
     * place is written. */
    heap->count = 0;
    for (size_t i = 0; i < count; i++)
        heap_add(heap, heap->items[i]);
}

void tr__item_set_class(struct queue_item *item, enum item_class class)
{
    struct queue *queue = item->queue;
    queue->overdue -= is_overdue(item);
    queue->count -= item->class != ITEM_DEAD;
    queue->dead_count -= item->class == ITEM_DEAD;
    item->class = class;
    queue->count += class != ITEM_DEAD;
    queue->dead_count += class == ITEM_DEAD;
    queue->overdue += is_overdue(item);
}
