/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The run queues: order within a class, and the share of normal tasks under a flood of high ones.
 */
#include "support/test.h"

#include "base/rng.h"
#include "sched/runqueue.h"

#include <string.h>

enum { TASKS = 64 };

static struct runqueue queue;
static struct task tasks[TASKS];

TEST(an_empty_queue_gives_nothing, "D-02")
{
    enum task_class class;
    ck_assert(runqueue_is_empty(&queue));
    ck_assert_ptr_null(runqueue_pop(&queue, &class));
    for (int i = 0; i < TASK_CLASSES; i++)
        ck_assert_ptr_null(runqueue_pop_class(&queue, (enum task_class)i));
}

TEST(a_class_is_first_come_first_served, "D-02")
{
    enum task_class class;
    for (int i = 0; i < 10; i++)
        runqueue_push(&queue, &tasks[i], TASK_NORMAL);
    for (int i = 0; i < 10; i++) {
        ck_assert_ptr_eq(runqueue_pop(&queue, &class), &tasks[i]);
        ck_assert_int_eq(class, TASK_NORMAL);
        /* A task that goes to the end of the queue again comes after all others. */
        runqueue_push(&queue, &tasks[i], TASK_NORMAL);
    }
    for (int i = 0; i < 10; i++)
        ck_assert_ptr_eq(runqueue_pop(&queue, &class), &tasks[i]);
    ck_assert(runqueue_is_empty(&queue));
}

/* The name of the task that is next, charged with one turn. */
static char run_next(void)
{
    enum task_class class;
    struct task *task = runqueue_pop(&queue, &class);
    if (!task)
        return '-';
    runqueue_charge(&queue, class, 1);
    return (char)('a' + (task - tasks));
}

TEST(what_a_task_makes_ready_goes_next_and_in_order, "D-02")
{
    enum task_class class;
    runqueue_push(&queue, &tasks[0], TASK_NORMAL);
    runqueue_push(&queue, &tasks[1], TASK_NORMAL);
    ck_assert_ptr_eq(runqueue_pop(&queue, &class), &tasks[0]);
    for (int i = 2; i < 5; i++)
        runqueue_push(&queue, &tasks[i], TASK_NORMAL); /* by the first */
    runqueue_charge(&queue, class, 1);
    ck_assert_ptr_eq(runqueue_pop(&queue, &class), &tasks[2]);
    runqueue_push(&queue, &tasks[5], TASK_NORMAL); /* by the third: before those of the first */
    runqueue_push(&queue, &tasks[6], TASK_NORMAL);
    runqueue_charge(&queue, class, 1);
    runqueue_push(&queue, &tasks[7], TASK_NORMAL); /* by nobody: behind all */
    static const char order[] = "fgdebh-";
    for (int i = 0; order[i]; i++)
        ck_assert_int_eq(run_next(), order[i]);
}

TEST(a_task_that_goes_on_with_the_next_one_keeps_that_order, "D-02")
{
    enum task_class class;
    for (int i = 0; i < 2; i++)
        runqueue_push(&queue, &tasks[i], TASK_NORMAL);
    ck_assert_ptr_eq(runqueue_pop(&queue, &class), &tasks[0]);
    for (int i = 2; i < 5; i++)
        runqueue_push(&queue, &tasks[i], TASK_NORMAL);
    ck_assert_ptr_eq(runqueue_pop_next(&queue), &tasks[2]);
    runqueue_push(&queue, &tasks[5], TASK_NORMAL);
    static const int order[] = {5, 3, 4, 1};
    for (int i = 0; i < 4; i++)
        ck_assert_ptr_eq(runqueue_pop_next(&queue), &tasks[order[i]]);
    ck_assert_ptr_null(runqueue_pop_next(&queue));
}

TEST(an_even_queue_has_all_behind_those_who_waited, "D-02")
{
    enum task_class class;
    for (int i = 0; i < 3; i++)
        runqueue_push(&queue, &tasks[i], TASK_NORMAL);
    ck_assert_ptr_eq(runqueue_pop(&queue, &class), &tasks[0]);
    runqueue_push(&queue, &tasks[3], TASK_NORMAL);
    runqueue_push(&queue, &tasks[4], TASK_NORMAL);
    ck_assert_ptr_eq(runqueue_pop_next(&queue), &tasks[3]);
    runqueue_push(&queue, &tasks[5], TASK_NORMAL);
    runqueue_even(&queue);
    static const char order[] = "bcef-";
    for (int i = 0; order[i]; i++)
        ck_assert_int_eq(run_next(), order[i]);
    runqueue_even(&queue);
    ck_assert(runqueue_is_empty(&queue));
}

TEST(high_goes_before_normal, "D-01")
{
    enum task_class class;
    runqueue_push(&queue, &tasks[0], TASK_NORMAL);
    runqueue_push(&queue, &tasks[1], TASK_HIGH);
    ck_assert_ptr_eq(runqueue_pop(&queue, &class), &tasks[1]);
    ck_assert_int_eq(class, TASK_HIGH);
    ck_assert_ptr_eq(runqueue_pop(&queue, &class), &tasks[0]);
    ck_assert_int_eq(class, TASK_NORMAL);
}

/* How many turns of each class a flood of both got, when a run of a class takes so many turns. */
static void flood(uint32_t high_turns, uint32_t normal_turns, uint64_t *high, uint64_t *normal)
{
    *high = 0;
    *normal = 0;
    for (int i = 0; i < 8; i++) {
        runqueue_push(&queue, &tasks[2 * i], TASK_HIGH);
        runqueue_push(&queue, &tasks[2 * i + 1], TASK_NORMAL);
    }
    for (int i = 0; i < 10000; i++) {
        enum task_class class;
        struct task *task = runqueue_pop(&queue, &class);
        uint32_t turns = class == TASK_HIGH ? high_turns : normal_turns;
        *(class == TASK_HIGH ? high : normal) += turns;
        runqueue_push(&queue, task, class);
        runqueue_charge(&queue, class, turns);
    }
}

TEST(normal_gets_an_eighth_of_the_turns, "D-02", "WP-08")
{
    static const uint32_t runs[][2] = {{1, 1}, {64, 1}, {1, 64}, {64, 64}, {7, 3}, {5, 64}};
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        uint64_t high;
        uint64_t normal;
        memset(&queue, 0, sizeof queue);
        flood(runs[i][0], runs[i][1], &high, &normal);
        /* At least an eighth, less one run for where the count ended; and not much more. */
        ck_assert_uint_ge(8 * (normal + runs[i][1] + runs[i][0]), high + normal);
        ck_assert_uint_le(8 * normal, high + normal + 8 * (64 + runs[i][0] + runs[i][1]));
    }
}

TEST(high_alone_owes_nothing_later, "D-02")
{
    enum task_class class;
    /* A thousand turns while nobody else waited do not count. */
    for (int i = 0; i < 1000; i++) {
        runqueue_push(&queue, &tasks[0], TASK_HIGH);
        ck_assert_ptr_eq(runqueue_pop(&queue, &class), &tasks[0]);
        runqueue_charge(&queue, TASK_HIGH, 64);
    }
    runqueue_push(&queue, &tasks[0], TASK_HIGH);
    runqueue_push(&queue, &tasks[1], TASK_NORMAL);
    ck_assert_ptr_eq(runqueue_pop(&queue, &class), &tasks[0]);
    ck_assert_int_eq(class, TASK_HIGH);
}

/* While both wait, high never gets more than seven turns for each normal one and one run on top. */
TEST(random_arrivals_keep_the_quota_in_every_window, "D-02", "WP-08")
{
    struct rng rng;
    rng_init(&rng, test_seed());
    for (uint64_t round = test_scale(200, 20000); round > 0; round--) {
        memset(&queue, 0, sizeof queue);
        struct task *free_tasks[TASKS];
        int free_count = TASKS;
        int waiting[TASK_CLASSES] = {0};
        int64_t owed = 0; /* high turns beyond seven for each normal one, while both waited */
        for (int i = 0; i < TASKS; i++)
            free_tasks[i] = &tasks[i];
        for (int step = 0; step < 1000; step++) {
            if (free_count && rng_below(&rng, 2)) {
                enum task_class class = rng_below(&rng, 4) ? TASK_HIGH : TASK_NORMAL;
                runqueue_push(&queue, free_tasks[--free_count], class);
                waiting[class]++;
                continue;
            }
            enum task_class class;
            struct task *task = runqueue_pop(&queue, &class);
            ck_assert_int_eq(task != NULL, waiting[TASK_HIGH] + waiting[TASK_NORMAL] > 0);
            if (!task)
                continue;
            bool had_both = waiting[TASK_HIGH] && waiting[TASK_NORMAL];
            waiting[class]--;
            ck_assert_int_ge(waiting[class], 0);
            uint32_t turns = 1 + (uint32_t)rng_below(&rng, 64);
            if (class == TASK_NORMAL)
                owed -= owed > 0 ? 7 * (int64_t)turns : 0;
            else
                owed = had_both ? owed + turns : 0;
            ck_assert_int_le(owed, 64);
            runqueue_charge(&queue, class, turns);
            if (rng_below(&rng, 2)) {
                runqueue_push(&queue, task, class);
                waiting[class]++;
            } else {
                free_tasks[free_count++] = task;
            }
        }
    }
}

SUITE("sched runqueue", an_empty_queue_gives_nothing, a_class_is_first_come_first_served,
      what_a_task_makes_ready_goes_next_and_in_order,
      a_task_that_goes_on_with_the_next_one_keeps_that_order,
      an_even_queue_has_all_behind_those_who_waited, high_goes_before_normal,
      normal_gets_an_eighth_of_the_turns, high_alone_owes_nothing_later,
      random_arrivals_keep_the_quota_in_every_window)
