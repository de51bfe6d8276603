/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The helper threads of tr_blocking on platforms that count them, or have none.
 */
#include "support/stage.h"

#include <stdatomic.h>

TR_MESSAGE(worked, (i32, status), (u64, result));
TR_REQUEST(work, worked, (u64, n));
TR_ACTOR(labourer, work);

struct job {
    uint64_t n;
    uint64_t result;
};

static void square(void *argument)
{
    struct job *job = argument;
    job->result = job->n * job->n;
}

static tr_next on_work(tr_self *self, const struct work *message)
{
    struct job job = {.n = message->n};
    tr_status status = tr_try_blocking(self, square, &job);
    return tr_reply(self, worked, .status = status, .result = job.result);
}

TR_BEHAVIOR(labourer, void, TR_ON(work, on_work));

static labourer_ref hire(struct theatre *theatre)
{
    labourer_ref labourer;
    ck_assert_int_eq(tr_try_spawn(theatre->client, &labourer, labourer, NULL), TR_OK);
    return labourer;
}

/* The first time there is no memory; later there are no threads at all. */
static tr_status no_thread(const tr_platform *platform, const char *name,
                           void (*main)(void *context), void *context, tr_thread **thread)
{
    static int made;
    (void)platform;
    (void)name;
    (void)main;
    (void)context;
    (void)thread;
    return made++ ? TR_NOT_SUPPORTED : TR_NO_MEMORY;
}

TEST(threads_that_cannot_be_made_are_a_status, "B-10", "U-03")
{
    struct theatre theatre;
    static tr_platform platform;
    platform = *tr_platform_real();
    platform.thread_start = no_thread;
    const tr_system_options options = {
        .size = sizeof options, .workers = 1, .on_log = theatre_no_log, .platform = &platform};
    ck_assert_int_eq(tr_system_new(&options, &theatre.system), TR_OK);
    ck_assert_int_eq(tr_client_new(theatre.system, &theatre.client), TR_OK);
    labourer_ref labourer;
    ck_assert_int_eq(tr_try_spawn(theatre.client, &labourer, labourer, NULL), TR_OK);
    tr_tell(theatre.client, labourer, work, .n = 3);
    tr_tell(theatre.client, labourer, work, .n = 4);
    for (int i = 0; i < 20; i++)
        ck_assert_int_eq(tr_system_run_once(theatre.system, 0), TR_OK);
    const struct worked *worked = tr_receive(theatre.client, worked, 0);
    ck_assert_int_eq(worked->status, TR_NO_MEMORY);
    worked = tr_receive(theatre.client, worked, 0);
    ck_assert_int_eq(worked->status, TR_OK);
    ck_assert_uint_eq(worked->result, 16);
    tr_client_free(theatre.client);
    tr_system_free(theatre.system);
}

#define AGES_NS (50 * 365 * 24 * TR_HOUR)

/* A clock that a helper which sleeps moves to the end of its sleep. */
static atomic_llong moved_ns;
static atomic_int helpers_made;

static tr_time moved_now(const tr_platform *platform)
{
    return tr_platform_real()->mono_now(platform) + atomic_load(&moved_ns);
}

static _Thread_local bool is_helper;

static void moved_park(const tr_platform *platform, tr_parker *parker, tr_time deadline)
{
    if (is_helper)
        atomic_fetch_add(&moved_ns, deadline - moved_now(platform));
    else
        tr_platform_real()->park(
            platform, parker, deadline == TR_NEVER ? deadline : deadline - atomic_load(&moved_ns));
}

struct start {
    void (*main)(void *context);
    void *context;
};

static void helper_begin(void *context)
{
    const struct start *start = context;
    is_helper = true;
    start->main(start->context);
}

static tr_status counted_start(const tr_platform *platform, const char *name,
                               void (*main)(void *context), void *context, tr_thread **thread)
{
    static struct start starts[16];
    if (strcmp(name, "troupe-helper") != 0)
        return tr_platform_real()->thread_start(platform, name, main, context, thread);
    struct start *start = &starts[atomic_fetch_add(&helpers_made, 1)];
    *start = (struct start){main, context};
    return tr_platform_real()->thread_start(platform, name, helper_begin, start, thread);
}

TEST(a_helper_without_work_leaves, "B-10", "U-01")
{
    static tr_platform platform;
    platform = *tr_platform_real();
    platform.mono_now = moved_now;
    platform.park = moved_park;
    platform.thread_start = counted_start;
    const tr_system_options options = {
        .size = sizeof options, .workers = 1, .on_log = theatre_no_log, .platform = &platform};
    struct theatre theatre;
    const struct worked *worked;
    ck_assert_int_eq(tr_system_new(&options, &theatre.system), TR_OK);
    ck_assert_int_eq(tr_client_new(theatre.system, &theatre.client), TR_OK);
    ck_assert_int_eq(tr_system_start(theatre.system), TR_OK);
    labourer_ref labourer = hire(&theatre);
    while (atomic_load(&helpers_made) < 5) {
        /* A helper that is not known to its system yet cannot leave: it rests again and again, by the clock for days. */
        work_ask asked = tr_ask_within(theatre.client, AGES_NS, labourer, work, .n = 6);
        ck_assert_int_eq(tr_try_await(theatre.client, asked, &worked), TR_OK);
        ck_assert_uint_eq(worked->result, 36);
    }
    theatre_close(&theatre);
}

/* Two helpers are started at the same time, and neither can be. */
static atomic_int starts_tried;

static tr_status fail_together(const tr_platform *platform, const char *name,
                               void (*main)(void *context), void *context, tr_thread **thread)
{
    if (strcmp(name, "troupe-helper") != 0)
        return tr_platform_real()->thread_start(platform, name, main, context, thread);
    /* Not forever: the other worker may need this one before it comes here. The outcome is the same then. */
    if (atomic_fetch_add(&starts_tried, 1) == 0)
        for (int i = 0; i < 10000 && atomic_load(&starts_tried) < 2; i++)
            platform->yield(platform);
    return TR_NO_MEMORY;
}

TR_BEHAVIOR(settler, void, TR_ON(work, on_work), TR_OPTIONS(.is_pinned = true));

static labourer_ref hire_at(struct theatre *theatre, int worker)
{
    labourer_ref made;
    const tr_spawn_args args = {
        .size = sizeof args, .behavior = &tr_behavior_settler, .worker = worker};
    ck_assert_int_eq(tr_client_try_spawn(theatre->client, &args, &made.bits), TR_OK);
    return made;
}

TEST(helpers_that_fail_together_leave_no_job, "B-10", "U-03")
{
    static tr_platform platform;
    platform = *tr_platform_real();
    platform.thread_start = fail_together;
    const tr_system_options options = {
        .size = sizeof options, .workers = 2, .on_log = theatre_no_log, .platform = &platform};
    struct theatre theatre;
    for (int round = 0; round < 20; round++) {
        atomic_store(&starts_tried, 0);
        ck_assert_int_eq(tr_system_new(&options, &theatre.system), TR_OK);
        ck_assert_int_eq(tr_client_new(theatre.system, &theatre.client), TR_OK);
        ck_assert_int_eq(tr_system_start(theatre.system), TR_OK);
        labourer_ref labourers[] = {hire_at(&theatre, 0), hire_at(&theatre, 1)};
        for (int i = 0; i < 2; i++)
            tr_tell(theatre.client, labourers[i], work, .n = 3);
        for (int i = 0; i < 2; i++) {
            const struct worked *worked = tr_receive(theatre.client, worked, STAGE_PATIENCE);
            ck_assert_ptr_nonnull(worked);
            ck_assert_int_eq(worked->status, TR_NO_MEMORY);
        }
        theatre_close(&theatre);
    }
}

SUITE("api blocking threads", helpers_that_fail_together_leave_no_job,
      threads_that_cannot_be_made_are_a_status, a_helper_without_work_leaves)
