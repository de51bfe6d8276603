/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The items of queues in memory against a plain list, with allocations that fail.
 */
#include "durable/items.h"

#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "support/test.h"

/* Memory of the C library, of which each n-th request is refused. */
struct scarce {
    unsigned fails_every; /* 0: none */
    unsigned requests;
    size_t blocks;
};

static void *scarce_resize(void *context, void *memory, size_t size)
{
    struct scarce *scarce = context;
    if (!size) {
        scarce->blocks -= memory != NULL;
        free(memory);
        return NULL;
    }
    if (scarce->fails_every && ++scarce->requests % scarce->fails_every == 0)
        return NULL;
    scarce->blocks += memory == NULL;
    return realloc(memory, size);
}

enum { ITEMS_MAX = 300, QUEUES = 3 };

/* What the structure must have, written as plainly as possible. */
struct known {
    bool is_there;
    int queue;
    enum item_place place;
    enum item_class class;
    tr_time due_ns;
    struct queue_item *item;
};

static struct known all[ITEMS_MAX];
static struct worker worker;
static struct queues queues;
static const char *const names[QUEUES] = {"jobs", "mails", "others"};

static void check_first(void)
{
    for (int i = 0; i < QUEUES; i++) {
        const struct queue *queue = tr__items_queue(&queues, names[i]);
        const struct known *first = NULL;
        size_t live = 0;
        size_t dead = 0;
        size_t overdue = 0;
        for (int k = 0; k < ITEMS_MAX; k++) {
            if (!all[k].is_there || all[k].queue != i)
                continue;
            live += all[k].class != ITEM_DEAD;
            dead += all[k].class == ITEM_DEAD;
            overdue += all[k].class == ITEM_TIMED &&
                       (all[k].place == ITEM_READY || all[k].place == ITEM_TAKEN);
            if (all[k].place == ITEM_READY && !first)
                first = &all[k];
        }
        if (!queue) {
            ck_assert_uint_eq(live + dead, 0);
            continue;
        }
        ck_assert_ptr_eq(heap_first(&queue->ready), first ? first->item : NULL);
        ck_assert_uint_eq(queue->count, live);
        ck_assert_uint_eq(queue->dead_count, dead);
        ck_assert_uint_eq(queue->overdue, overdue);
    }
}

static void check(void)
{
    const struct known *soonest = NULL;
    size_t count = 0;
    check_first();
    for (int i = 0; i < ITEMS_MAX; i++) {
        const struct queue_item *found = tr__items_find(&queues, (uint64_t)i + 1);
        ck_assert_ptr_eq(found, all[i].is_there ? all[i].item : NULL);
        count += all[i].is_there;
        if (all[i].is_there && all[i].place == ITEM_WAITING &&
            (!soonest || all[i].due_ns < soonest->due_ns))
            soonest = &all[i];
    }
    ck_assert_uint_eq(queues.count, count);
    const struct queue_item *first = heap_first(&queues.waiting);
    ck_assert(!first == !soonest);
    if (first) /* of equal times the lower id */
        ck_assert_ptr_eq(first, soonest->item);
}

static void add(struct rng *rng, int number)
{
    int name = (int)rng_below(rng, QUEUES);
    struct queue *queue = tr__items_queue_make(&worker, &queues, names[name]);
    struct queue_item *item =
        queue ? tr__item_new(&worker, queue, "job", (uint64_t)number + 1, rng_below(rng, 50))
              : NULL;
    if (!item)
        return;
    if (tr__items_add(&worker, &queues, item) != TR_OK) {
        tr__item_free(&worker, item);
        return;
    }
    all[number] = (struct known){.is_there = true, .queue = name, .item = item};
}

/* Changes one item in one of all ways. */
static void change(struct rng *rng, struct known *known)
{
    struct queue_item *item = known->item;
    switch (rng_below(rng, 6)) {
    case 0:
        tr__items_remove(&queues, item);
        tr__item_free(&worker, item);
        known->is_there = false;
        return;
    case 1:
        tr__item_move(&queues, item, ITEM_NOWHERE);
        known->place = ITEM_NOWHERE;
        known->class = (enum item_class)rng_below(rng, 3);
        tr__item_set_class(item, known->class);
        return;
    default:
        if (known->class == ITEM_DEAD)
            return;
        known->place = (enum item_place)rng_below(rng, 4);
        tr__item_move(&queues, item, ITEM_NOWHERE);
        item->due_ns = known->due_ns = (tr_time)rng_below(rng, 40);
        item->span_ns = (tr_time)rng_below(rng, 40);
        tr__item_move(&queues, item, known->place);
    }
}

/* The clock is set back: nothing waits longer than its span. */
static void set_back(struct rng *rng)
{
    tr_time now = (tr_time)rng_below(rng, 20);
    tr__items_follow(&queues, now);
    for (int i = 0; i < ITEMS_MAX; i++) {
        struct known *known = &all[i];
        if (!known->is_there || known->place != ITEM_WAITING)
            continue;
        tr_time most = now + known->item->span_ns;
        known->due_ns = known->due_ns > most ? most : known->due_ns;
        ck_assert_int_eq(known->item->due_ns, known->due_ns);
    }
}

TEST(items_are_found_by_id_and_by_time_whatever_happens, "K-21")
{
    for (uint64_t round = 0; round < 20; round++) {
        struct rng rng;
        struct scarce scarce = {.fails_every = round % 2 ? 7 : 0};
        rng_init(&rng, test_seed() + round);
        memset(all, 0, sizeof all);
        worker.source = (struct memory_source){.resize = scarce_resize, .context = &scarce};
        tr__items_init(&queues);
        for (int step = 0; step < 3000; step++) {
            int number = (int)rng_below(&rng, ITEMS_MAX);
            if (!all[number].is_there)
                add(&rng, number);
            else
                change(&rng, &all[number]);
            if (step % 50 == 0)
                set_back(&rng);
            if (step % 10 == 0)
                check();
        }
        tr__items_deinit(&worker, &queues);
        ck_assert_uint_eq(scarce.blocks, 0);
    }
}

SUITE("durable items", items_are_found_by_id_and_by_time_whatever_happens)
