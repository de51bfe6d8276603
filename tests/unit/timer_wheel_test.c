/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The timing wheel: a model that is a sorted list, and the places where a wheel goes wrong.
 */
#include "support/test.h"
#include "support/fake_memory.h"

#include "timer/wheel.h"

enum { NODES_MAX = 256 };

#define DAY_NS (INT64_C(86400) * 1000 * 1000 * 1000)
#define TEN_YEARS_NS (3653 * DAY_NS)

/* A wheel, and what it must be like: its nodes in the order in which they must expire. */
struct model {
    struct wheel wheel;
    struct timer_node nodes[NODES_MAX];
    struct model_entry {
        tr_time due_ns;
        unsigned node;
    } sorted[NODES_MAX];
    unsigned count;
    tr_time time_ns; /* The wheel's, by its contract. */
    tr_time now_ns;  /* The clock. */
};

static struct model model;

static void model_init(tr_time now_ns)
{
    memset(&model, 0, sizeof model);
    model.time_ns = now_ns;
    model.now_ns = now_ns;
    tr__wheel_init(&model.wheel, now_ns);
}

static void model_arm(unsigned node, tr_time deadline_ns)
{
    tr__wheel_arm(&model.wheel, &model.nodes[node], deadline_ns);
    tr_time due_ns = deadline_ns > model.time_ns ? deadline_ns : model.time_ns;
    unsigned at = model.count++;
    for (; at > 0 && model.sorted[at - 1].due_ns > due_ns; at--)
        model.sorted[at] = model.sorted[at - 1];
    model.sorted[at] = (struct model_entry){due_ns, node};
}

static void model_remove(unsigned at)
{
    model.count--;
    for (; at < model.count; at++)
        model.sorted[at] = model.sorted[at + 1];
}

static void model_cancel(unsigned node)
{
    unsigned at = 0;
    while (at < model.count && model.sorted[at].node != node)
        at++;
    bool is_armed = at < model.count;
    MODEL_ASSERT(timer_is_armed(&model.nodes[node]) == is_armed);
    MODEL_ASSERT(tr__wheel_cancel(&model.wheel, &model.nodes[node]) == is_armed);
    MODEL_ASSERT(!timer_is_armed(&model.nodes[node]));
    if (is_armed)
        model_remove(at);
}

/* Expires one node, or nothing. True for a node. */
static bool model_expire(void)
{
    struct timer_node *given = tr__wheel_expire(&model.wheel, model.now_ns);
    if (model.count == 0 || model.sorted[0].due_ns > model.now_ns) {
        MODEL_ASSERT(!given);
        if (model.time_ns < model.now_ns)
            model.time_ns = model.now_ns;
        return false;
    }
    MODEL_ASSERT(given == &model.nodes[model.sorted[0].node]);
    MODEL_ASSERT(given->deadline_ns <= model.now_ns);
    MODEL_ASSERT(!timer_is_armed(given));
    model.time_ns = model.sorted[0].due_ns;
    model_remove(0);
    return true;
}

static void model_check(void)
{
    MODEL_ASSERT(model.wheel.count == model.count);
    MODEL_ASSERT(model.wheel.time_ns == model.time_ns);
    tr_time next_ns = tr__wheel_next(&model.wheel);
    tr_time first_ns = model.count > 0 ? model.sorted[0].due_ns : TR_NEVER;
    MODEL_ASSERT(next_ns <= first_ns);
    MODEL_ASSERT(next_ns >= model.time_ns);
    if (model.count <= WHEEL_LOOK_MAX)
        MODEL_ASSERT(next_ns == first_ns);
}

/* A number whose size is as random as its digits. */
static tr_time random_span(uint64_t *random, unsigned bits_max)
{
    uint64_t bits = fake_random(random) % (bits_max + 1);
    return (tr_time)(fake_random(random) & ((UINT64_C(1) << bits) - 1));
}

static tr_time random_deadline(uint64_t *random, unsigned bits_max)
{
    switch (fake_random(random) % 16) {
    case 0: /* The past, also before the wheel's time. */
        return model.now_ns - random_span(random, bits_max);
    case 1: /* As another one. */
        return model.nodes[fake_random(random) % NODES_MAX].deadline_ns;
    case 2: /* On a border of some level. */
        return timer_deadline(model.now_ns, random_span(random, bits_max)) &
               ~(tr_time)((UINT64_C(1) << fake_random(random) % 60) - 1);
    case 3:
        return model.now_ns;
    default:
        return timer_deadline(model.now_ns, random_span(random, bits_max));
    }
}

static void random_advance(uint64_t *random, unsigned bits_max)
{
    tr_time next_ns = tr__wheel_next(&model.wheel);
    uint64_t choice = fake_random(random) % 8;
    if (choice < 4 && next_ns != TR_NEVER && next_ns > model.now_ns)
        model.now_ns = next_ns - (choice == 0 && next_ns - 1 > model.now_ns);
    else
        model.now_ns = timer_deadline(model.now_ns, random_span(random, bits_max));
}

static void model_run(uint64_t *random, uint64_t steps)
{
    unsigned live = 1 + (unsigned)(fake_random(random) % NODES_MAX);
    unsigned delay_bits = 1 + (unsigned)(fake_random(random) % 60);
    unsigned advance_bits = delay_bits > 8 ? delay_bits - (unsigned)(fake_random(random) % 8) : 4;
    model_init(random_span(random, 60));
    for (uint64_t step = 0; step < steps && model.now_ns < TR_NEVER / 2; step++) {
        unsigned node = (unsigned)(fake_random(random) % live);
        uint64_t choice = fake_random(random) % 16;
        if (choice < 8 && !timer_is_armed(&model.nodes[node]))
            model_arm(node, random_deadline(random, delay_bits));
        else if (choice < 11)
            model_cancel(node);
        else if (choice < 12)
            random_advance(random, advance_bits);
        else
            (void)model_expire(); /* One at a time: others are armed and cancelled in between. */
        model_check();
    }
    model.now_ns = TR_NEVER;
    while (model_expire())
        model_check();
    model_check();
    MODEL_ASSERT(model.wheel.levels == 0);
}

TEST(random_steps_agree_with_a_sorted_list, "TM-01", "TM-10")
{
    uint64_t random = test_seed();
    for (uint64_t round = 0; round < test_scale(2000, 200000); round++)
        model_run(&random, 1000);
}

/* Arms one node and steps on its deadline. */
static void check_exact(tr_time start_ns, tr_time delay_ns)
{
    model_init(start_ns);
    model_arm(0, timer_deadline(start_ns, delay_ns));
    model_check();
    if (delay_ns > 0) {
        model.now_ns = start_ns + delay_ns - 1;
        ck_assert(!model_expire());
        model_check();
        model.now_ns++;
    }
    ck_assert(model_expire());
    ck_assert(!model_expire());
}

TEST(a_node_expires_at_its_deadline_and_not_before, "TM-01", "TM-10")
{
    static const tr_time offsets[] = {-1, 0, 1};
    for (unsigned from = 0; from < 62; from++) {
        for (unsigned to = 0; to < 62; to++) {
            for (unsigned i = 0; i < 9; i++) {
                tr_time start_ns = ((tr_time)1 << from) + offsets[i % 3];
                tr_time delay_ns = ((tr_time)1 << to) + offsets[i / 3];
                check_exact(start_ns, delay_ns);
            }
        }
    }
}

/* Turns of each level, in ticks and in milliseconds, and what other wheels count in 32 bits. */
TEST(multiples_of_a_wheel_expire_once_and_in_time, "TM-10")
{
    for (unsigned level = 0; level < WHEEL_LEVELS - 1; level++) {
        tr_time turn_ns = (tr_time)1 << (level + 1) * WHEEL_DIGIT_BITS;
        if (level == WHEEL_LEVELS - 2)
            turn_ns /= WHEEL_SLOTS; /* Seven of the next larger one would not fit a time. */
        for (tr_time times = 1; times <= 7; times++) {
            check_exact(0, times * turn_ns);
            check_exact(turn_ns - 1, times * turn_ns);
            check_exact(turn_ns / 2 + 1, times * turn_ns);
            check_exact(turn_ns / 2 + 1, times * turn_ns - 1);
        }
    }
    static const tr_time wraps[] = {INT64_C(1) << 32, (INT64_C(1) << 32) * 1000000};
    for (unsigned i = 0; i < 2; i++) {
        check_exact(wraps[i] - 5, 10);
        check_exact(wraps[i] - 5, wraps[i]);
        check_exact(5, wraps[i]);
        check_exact(wraps[i] * 2 - 1, 1);
    }
}

TEST(zero_negative_and_very_long_delays_are_fine, "TM-10")
{
    model_init(5 * DAY_NS);
    tr_time now_ns = model.now_ns;
    ck_assert_int_eq(timer_deadline(now_ns, 0), now_ns);
    ck_assert_int_eq(timer_deadline(now_ns, -1), now_ns);
    ck_assert_int_eq(timer_deadline(now_ns, INT64_MIN), now_ns);
    ck_assert_int_eq(timer_deadline(now_ns, TEN_YEARS_NS), now_ns + TEN_YEARS_NS);
    ck_assert_int_eq(timer_deadline(now_ns, TR_NEVER), TR_NEVER);
    ck_assert_int_eq(timer_deadline(now_ns, TR_NEVER - now_ns), TR_NEVER);
    ck_assert_int_eq(timer_deadline(now_ns, TR_NEVER - now_ns - 1), TR_NEVER - 1);

    model_arm(0, TR_NEVER);
    model_arm(1, now_ns + TEN_YEARS_NS);
    model_arm(2, now_ns);
    model_arm(3, INT64_MIN);
    model_arm(4, -1);
    model_arm(5, 0);
    model_arm(6, now_ns - 1);
    for (unsigned i = 0; i < 5; i++) {
        ck_assert(model_expire());
        model_check();
    }
    ck_assert(!model_expire());
    ck_assert_int_eq(tr__wheel_next(&model.wheel), now_ns + TEN_YEARS_NS);
    model.now_ns = now_ns + TEN_YEARS_NS - 1;
    ck_assert(!model_expire());
    model.now_ns++;
    ck_assert(model_expire());
    ck_assert(!model_expire());
    model.now_ns = TR_NEVER - 1;
    ck_assert(!model_expire());
    ck_assert_int_eq(tr__wheel_next(&model.wheel), TR_NEVER);
    model_cancel(0);
    ck_assert_int_eq(tr__wheel_next(&model.wheel), TR_NEVER);
}

/* Each is armed when the deadline is at another distance, so in another level. */
TEST(equal_deadlines_expire_in_the_order_of_arming, "TM-01")
{
    static const tr_time deadlines[] = {
        TEN_YEARS_NS, (tr_time)1 << 60, ((tr_time)1 << 42) - 1, 1000000};
    for (unsigned i = 0; i < 4; i++) {
        model_init(0);
        tr_time distance_ns = deadlines[i];
        unsigned node = 0;
        for (; distance_ns > 0 && node < NODES_MAX - 2; distance_ns /= 3) {
            model.now_ns = deadlines[i] - distance_ns;
            ck_assert(!model_expire());
            model_arm(node++, deadlines[i]);
            model_arm(node++, deadlines[i]);
            model_check();
        }
        model.now_ns = deadlines[i];
        model_arm(node++, deadlines[i]);
        for (unsigned given = 0; given < node; given++) {
            ck_assert_uint_eq(model.sorted[0].node, given);
            ck_assert(model_expire());
        }
        ck_assert(!model_expire());
    }
}

TEST(a_cancelled_node_is_never_given, "")
{
    model_init(1000);
    for (unsigned i = 0; i < 100; i++)
        model_arm(i, 2000 + i % 3);
    model.now_ns = 5000;
    for (unsigned i = 0; i < 10; i++)
        ck_assert(model_expire());
    /* These are due: first, in the middle and last of theirs, and all of one deadline. */
    model_cancel(model.sorted[0].node);
    model_cancel(model.sorted[10].node);
    model_cancel(99);
    for (unsigned i = 1; i < 100; i += 3)
        model_cancel(i);
    model_cancel(1);
    unsigned left = model.count;
    ck_assert_uint_lt(left, 60);
    for (unsigned i = 0; i < left; i++)
        ck_assert(model_expire());
    ck_assert(!model_expire());
    for (unsigned i = 0; i < 100; i++)
        ck_assert(!tr__wheel_cancel(&model.wheel, &model.nodes[i]));
}

TEST(a_node_armed_between_two_others_is_given_between_them, "TM-01")
{
    model_init(0);
    model_arm(0, 1000);
    model_arm(1, 3000);
    model.now_ns = 1000000;
    ck_assert(model_expire());
    model_arm(2, 2000);
    model_arm(3, 3000);
    model_arm(4, 500); /* As if it were 1000: that is gone. */
    model_arm(5, 1000);
    static const unsigned order[] = {4, 5, 2, 1, 3};
    for (unsigned i = 0; i < 5; i++) {
        ck_assert_uint_eq(model.sorted[0].node, order[i]);
        ck_assert(model_expire());
    }
    ck_assert(!model_expire());
}

/* A wheel that went through its slots would need 10^9 steps for each of these days. */
TEST(a_clock_that_jumps_costs_what_is_due, "TM-10")
{
    model_init(0);
    for (unsigned i = 0; i < NODES_MAX; i++)
        model_arm(i, TEN_YEARS_NS + (tr_time)i * 1000);
    for (unsigned day = 0; day < 3652; day++) {
        model.now_ns += DAY_NS;
        ck_assert(!model_expire());
        model_check();
        model_cancel(day % NODES_MAX);
        model_arm(day % NODES_MAX, day % 2 ? TEN_YEARS_NS : model.now_ns + DAY_NS / 7);
        ck_assert(!model_expire());
        model_cancel(day % NODES_MAX);
        model_arm(day % NODES_MAX, TEN_YEARS_NS + (tr_time)day);
    }
    model.now_ns = 2 * TEN_YEARS_NS;
    for (unsigned i = 0; i < NODES_MAX; i++)
        ck_assert(model_expire());
    ck_assert(!model_expire());
}

TEST(a_clock_that_goes_back_gives_nothing_early, "TM-01")
{
    model_init(0);
    model_arm(0, 1000);
    model_arm(1, 1000);
    model_arm(2, 5000);
    model.now_ns = 2000;
    ck_assert(model_expire());
    model.now_ns = 999;
    ck_assert(!model_expire());
    model_check();
    model.now_ns = -5;
    ck_assert(!model_expire());
    model_check();
    model.now_ns = 1000;
    ck_assert(model_expire());
    model.now_ns = 4999;
    ck_assert(!model_expire());
    model.now_ns = 10;
    ck_assert(!model_expire());
    model_check();
    model.now_ns = 5000;
    ck_assert(model_expire());
}

/* Sleeps from one next time to the other, as an idle worker does, until nothing is armed. */
static void check_sleeps(uint64_t *random, unsigned nodes, unsigned delay_bits)
{
    model_init(random_span(random, 60));
    for (unsigned i = 0; i < nodes; i++)
        model_arm(i, model.now_ns + random_span(random, delay_bits));
    unsigned vain = 0;
    while (model.count > 0) {
        unsigned vain_in_row = 0;
        for (;;) {
            model.now_ns = tr__wheel_next(&model.wheel);
            if (model_expire())
                break;
            vain_in_row++;
            MODEL_ASSERT(vain_in_row < WHEEL_LEVELS);
        }
        vain += vain_in_row;
        while (model_expire())
            model_check();
    }
    MODEL_ASSERT(vain < nodes);
    if (nodes <= WHEEL_LOOK_MAX)
        MODEL_ASSERT(vain == 0);
}

TEST(an_idle_worker_sleeps_until_the_deadline, "")
{
    uint64_t random = test_seed();
    for (unsigned delay_bits = 0; delay_bits < 61; delay_bits++) {
        for (unsigned round = 0; round < 20; round++) {
            check_sleeps(&random, 1, delay_bits);
            check_sleeps(
                &random, 1 + (unsigned)(fake_random(&random) % WHEEL_LOOK_MAX), delay_bits);
            check_sleeps(&random, 1 + (unsigned)(fake_random(&random) % NODES_MAX), delay_bits);
        }
    }
}

TEST_ABORTS(a_node_is_not_armed_twice, "")
{
    model_init(0);
    tr__wheel_arm(&model.wheel, &model.nodes[0], 10);
    tr__wheel_arm(&model.wheel, &model.nodes[0], 20);
}

TEST_ABORTS(a_node_of_another_wheel_is_not_cancelled, "")
{
    static struct wheel other;
    model_init(0);
    tr__wheel_init(&other, 0);
    tr__wheel_arm(&other, &model.nodes[0], 10);
    (void)tr__wheel_cancel(&model.wheel, &model.nodes[0]);
}

SUITE("timer wheel", random_steps_agree_with_a_sorted_list,
      a_node_expires_at_its_deadline_and_not_before, multiples_of_a_wheel_expire_once_and_in_time,
      zero_negative_and_very_long_delays_are_fine, equal_deadlines_expire_in_the_order_of_arming,
      a_cancelled_node_is_never_given, a_node_armed_between_two_others_is_given_between_them,
      a_clock_that_jumps_costs_what_is_due, a_clock_that_goes_back_gives_nothing_early,
      an_idle_worker_sleeps_until_the_deadline, a_node_is_not_armed_twice,
      a_node_of_another_wheel_is_not_cancelled)
