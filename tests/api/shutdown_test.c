/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Graceful shutdown in virtual time: order, deadline, hooks, and that nothing which waits delays it.
 * tests/stress/shutdown_threads_test.c has what needs threads.
 */
#include "support/stage.h"

TR_MESSAGE(make_children, (u64, depth));
TR_MESSAGE(work, (u64, n));
TR_MESSAGE(quit);
TR_MESSAGE(doze);
TR_MESSAGE(wonder);
TR_MESSAGE(shut_down, (i64, timeout));
TR_MESSAGE(arm);
TR_MESSAGE(forget);
TR_REQUEST(question, tr_done);
TR_ACTOR(member, make_children, work, quit, doze, wonder, shut_down, arm, forget, question);

static tr_system *system_now;
static int statuses[8];
static int status_count;
static int fired;

static void note_status(tr_status status)
{
    ck_assert_int_lt(status_count, 8);
    statuses[status_count++] = status;
}

static const char *last_name(tr_self *self)
{
    const char *path = tr_path(self);
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static tr_next on_make_children(tr_self *self, const struct make_children *message)
{
    if (!message->depth)
        return TR_SAME;
    static const char *const names[] = {"a", "b"};
    for (int i = 0; i < 2; i++) {
        member_ref child;
        int worker = (int)(message->depth + (uint64_t)i) % tr_system_workers(tr_system_of(self));
        ck_assert_int_eq(tr_try_spawn_at(self, &child, worker, member, names[i]), TR_OK);
        tr_tell(self, child, make_children, .depth = message->depth - 1);
    }
    return TR_SAME;
}

static tr_next on_work(tr_self *self, const struct work *message)
{
    diary("%s%u", last_name(self), (unsigned)message->n);
    return TR_SAME;
}

static tr_next on_quit(void)
{
    return TR_STOP;
}

static tr_next on_doze(tr_self *self)
{
    note_status(tr_sleep(self, TR_HOUR));
    return TR_SAME;
}

static tr_next on_question(tr_self *self)
{
    (void)tr_reply_later(self);
    return TR_SAME;
}

static tr_next on_wonder(tr_self *self)
{
    question_ask asked = tr_ask_within(self, TR_HOUR, tr_me(self), question);
    const struct tr_done *reply;
    note_status(tr_try_await(self, asked, &reply));
    return TR_SAME;
}

/* An ask that nobody waits for any more, and its timer. */
static tr_next on_forget(tr_self *self)
{
    question_ask asked = tr_ask_within(self, TR_HOUR, tr_me(self), question);
    (void)asked;
    return TR_SAME;
}

static tr_next on_shut_down(tr_self *self, const struct shut_down *message)
{
    tr_system_shutdown(tr_system_of(self), message->timeout);
    member_ref late;
    note_status(tr_try_spawn(self, &late, member, NULL));
    return TR_SAME;
}

static tr_next count_fired(tr_self *self, void *context)
{
    (void)self;
    (void)context;
    fired++;
    return TR_SAME;
}

static tr_next on_arm(tr_self *self)
{
    tr_timer timer = tr_timer_once(self, NULL, TR_HOUR, quit);
    (void)timer;
    return TR_SAME;
}

static tr_next on_stop(tr_self *self)
{
    diary("%s", tr_path(self));
    return TR_SAME;
}

TR_BEHAVIOR(member, void, TR_ON(make_children, on_make_children), TR_ON(work, on_work),
            TR_ON(quit, on_quit), TR_ON(doze, on_doze), TR_ON(wonder, on_wonder),
            TR_ON(shut_down, on_shut_down), TR_ON(arm, on_arm), TR_ON(forget, on_forget),
            TR_ON(question, on_question), TR_ON(tr_post_stop, on_stop));

static member_ref put(struct stage *stage, const char *name)
{
    member_ref member;
    ck_assert_int_eq(tr_try_spawn_at(stage->client, &member, stage_far(stage), member, name),
                     TR_OK);
    tr_kit_settle(stage->kit);
    system_now = tr_kit_system(stage->kit);
    status_count = 0;
    fired = 0;
    return member;
}

static void shut(struct stage *stage, tr_time timeout_ns)
{
    tr_system_shutdown(tr_kit_system(stage->kit), timeout_ns);
}

static tr_shutdown_report report_of(struct stage *stage)
{
    tr_shutdown_report report;
    ck_assert_int_eq(tr_system_report(tr_kit_system(stage->kit), &report), TR_OK);
    return report;
}

/* ---- Order. ---- */

static void play_leaves_first(struct stage *stage)
{
    member_ref top = put(stage, "t");
    tr_tell(stage->client, top, make_children, .depth = 3);
    tr_kit_settle(stage->kit);
    ck_assert_uint_eq(stage_live(stage), 15);
    (void)diary_read();
    shut(stage, TR_HOUR);
    tr_kit_settle(stage->kit);
    ck_assert_uint_eq(stage_live(stage), 0);
    /* A path comes after all that begin with it. */
    static char text[sizeof diary_text];
    (void)snprintf(text, sizeof text, "%s", diary_read());
    char *paths[16];
    size_t count = 0;
    for (char *path = strtok(text, " "); path; path = strtok(NULL, " "))
        paths[count++] = path;
    ck_assert_uint_eq(count, 15);
    for (size_t i = 0; i < count; i++) {
        for (size_t j = i + 1; j < count; j++)
            ck_assert(strncmp(paths[j], paths[i], strlen(paths[i])) != 0);
    }
    ck_assert_uint_eq(report_of(stage).stopped, 15);
    ck_assert_uint_eq(report_of(stage).forced, 0);
}

TEST(leaves_stop_before_their_parents, "X-01", "SH-01", "LC-06", "L-06")
{
    stage_play(play_leaves_first);
}

static void play_backlog(struct stage *stage)
{
    member_ref member = put(stage, "m");
    for (uint64_t i = 1; i <= 5; i++)
        tr_tell(stage->client, member, work, .n = i);
    shut(stage, TR_HOUR);
    tr_kit_settle(stage->kit);
    ck_assert_str_eq(diary_read(), "m1 m2 m3 m4 m5 /user/m");
    ck_assert_uint_eq(report_of(stage).dead_letters, 0);
    ck_assert_uint_eq(report_of(stage).handled, 5);
}

TEST(what_was_sent_before_is_handled_before, "X-01", "SH-01", "LC-07")
{
    stage_play(play_backlog);
}

/* ---- Who calls, and how often. ---- */

static void play_idempotent(struct stage *stage)
{
    member_ref member = put(stage, "m");
    member_ref other;
    ck_assert_int_eq(tr_try_spawn(stage->client, &other, member, "o"), TR_OK);
    tr_tell(stage->client, member, shut_down, .timeout = TR_MINUTE);
    tr_tell(stage->client, other, shut_down, .timeout = TR_HOUR);
    tr_kit_settle(stage->kit);
    shut(stage, 0);
    tr_kit_settle(stage->kit);
    tr_time timeout_ns = report_of(stage).timeout_ns; /* whichever came first */
    ck_assert(timeout_ns == TR_MINUTE || timeout_ns == TR_HOUR);
    ck_assert_int_eq(status_count, 2);
    ck_assert_int_eq(statuses[0], TR_STOPPING);
    ck_assert_int_eq(statuses[1], TR_STOPPING);
    ck_assert_uint_eq(stage_live(stage), 0);
    member_ref late;
    ck_assert_int_eq(tr_try_spawn(stage->client, &late, member, NULL), TR_STOPPING);
}

TEST(the_first_call_counts_from_wherever, "X-01", "X-02", "SH-02", "SH-04")
{
    stage_play(play_idempotent);
}

/* Spawned from outside, not yet set up when it begins: it starts and stops, or never starts. */
static void play_in_flight(struct stage *stage)
{
    member_ref members[6];
    (void)put(stage, "m");
    for (int i = 0; i < 6; i++)
        ck_assert_int_eq(
            tr_try_spawn_at(stage->client, &members[i], i % stage->workers, member, NULL), TR_OK);
    for (uint64_t i = 0; i < stage->seed % 7; i++)
        (void)tr_kit_step(stage->kit);
    shut(stage, stage->seed % 2 ? 0 : TR_HOUR);
    tr_kit_settle(stage->kit);
    tr_kit_advance(stage->kit, TR_MILLISECOND);
    ck_assert_uint_eq(stage_live(stage), 0);
}

TEST(what_is_on_its_way_does_not_stay, "X-02", "SH-04")
{
    stage_play(play_in_flight);
}

static void play_by_themselves(struct stage *stage)
{
    member_ref top = put(stage, "t");
    tr_tell(stage->client, top, make_children, .depth = 2);
    member_ref more[4];
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(tr_try_spawn_at(stage->client, &more[i], i % stage->workers, member, NULL),
                         TR_OK);
    tr_kit_settle(stage->kit);
    for (int i = 0; i < 4; i++)
        tr_tell(stage->client, more[i], quit);
    shut(stage, TR_HOUR);
    for (int i = 0; i < 4; i++)
        tr_stop(stage->client, more[i]);
    tr_kill(stage->client, top);
    tr_kit_settle(stage->kit);
    ck_assert_uint_eq(stage_live(stage), 0);
    ck_assert_uint_eq(report_of(stage).stopped, 11);
}

TEST(those_who_stop_by_themselves_meanwhile_confuse_nobody, "SH-05")
{
    stage_play(play_by_themselves);
}

/* ---- The deadline. ---- */

/* A turn that has begun is handled as what was sent before is: until the deadline. */
static void play_deadline(struct stage *stage)
{
    member_ref top = put(stage, "t");
    tr_tell(stage->client, top, make_children, .depth = 1);
    tr_kit_settle(stage->kit);
    (void)diary_read();
    tr_tell(stage->client, top, doze);
    tr_tell(stage->client, top, wonder);
    tr_kit_settle(stage->kit);
    tr_time begin_ns = tr_kit_now(stage->kit);
    shut(stage, 10 * TR_SECOND);
    tr_kit_settle(stage->kit);
    ck_assert_uint_eq(stage_live(stage), 3);
    tr_kit_advance(stage->kit, 10 * TR_SECOND - 1);
    ck_assert_uint_eq(stage_live(stage), 3);
    tr_kit_advance(stage->kit, 1);
    tr_kit_settle(stage->kit);
    ck_assert_uint_eq(stage_live(stage), 0);
    ck_assert_int_eq(tr_kit_now(stage->kit), begin_ns + 10 * TR_SECOND);
    ck_assert_int_eq(status_count, 2);
    ck_assert_int_eq(statuses[0], TR_CANCELLED);
    ck_assert_int_eq(statuses[1], TR_CANCELLED);
    ck_assert_str_eq(diary_read() + strlen("/user/t/a /user/t/b "), "/user/t");
    tr_shutdown_report report = report_of(stage);
    ck_assert_uint_eq(report.forced, 3);
    ck_assert_uint_eq(report.stopped, 3);
    ck_assert_int_eq(report.took_ns, 10 * TR_SECOND);
    ck_assert_uint_ge(report.slow_count, 1);
    ck_assert_int_eq(report.slow[0].after_ns, 10 * TR_SECOND);
}

TEST(turns_that_wait_are_cancelled_at_the_deadline, "X-01", "SH-03", "LC-06")
{
    stage_play(play_deadline);
}

static void play_forced(struct stage *stage)
{
    member_ref top = put(stage, "t");
    tr_tell(stage->client, top, make_children, .depth = 2);
    tr_kit_settle(stage->kit);
    (void)diary_read();
    tr_time begin_ns = tr_kit_now(stage->kit);
    for (uint64_t i = 1; i <= 100; i++)
        tr_tell(stage->client, top, work, .n = i);
    shut(stage, 0);
    tr_kit_settle(stage->kit);
    ck_assert_uint_eq(stage_live(stage), 0);
    ck_assert_int_eq(tr_kit_now(stage->kit), begin_ns);
    tr_shutdown_report report = report_of(stage);
    ck_assert_uint_eq(report.stopped, 7);
    ck_assert_uint_eq(report.handled + report.dead_letters, 100);
    ck_assert_int_eq(report.timeout_ns, 0);
    /* All seven had their tr_post_stop, forced or not. */
    size_t slashes = 0;
    const char *text = diary_read();
    for (const char *at = strstr(text, "/user"); at; at = strstr(at + 1, "/user"))
        slashes++;
    ck_assert_uint_eq(slashes, 7);
}

TEST(at_the_deadline_the_rest_is_killed_with_its_post_stop, "X-01", "SH-03", "SH-09", "LC-06")
{
    stage_play(play_forced);
}

/* ---- What waits delays nothing. ---- */

static void play_waiting(struct stage *stage)
{
    member_ref member = put(stage, "m");
    member_ref other;
    ck_assert_int_eq(tr_try_spawn(stage->client, &other, member, "o"), TR_OK);
    tr_tell(stage->client, member, arm);
    tr_tell(stage->client, other, forget);
    question_ask asked = tr_ask_within(stage->client, TR_HOUR, other, question);
    tr_schedule schedule;
    ck_assert_int_eq(
        tr_schedule_call(system_now, &schedule, TR_TIMER_ONCE, TR_HOUR, count_fired, NULL), TR_OK);
    tr_kit_settle(stage->kit);
    tr_time begin_ns = tr_kit_now(stage->kit);
    shut(stage, TR_HOUR * 2);
    tr_kit_settle(stage->kit);
    ck_assert_uint_eq(stage_live(stage), 0);
    ck_assert_int_eq(tr_kit_now(stage->kit), begin_ns);
    const struct tr_done *reply;
    ck_assert_int_eq(tr_try_await(stage->client, asked, &reply), TR_STOPPED);
    ck_assert_int_eq(tr_kit_now(stage->kit), begin_ns);
    /* No new ones either. */
    ck_assert_int_eq(
        tr_schedule_call(system_now, &schedule, TR_TIMER_ONCE, TR_HOUR, count_fired, NULL),
        TR_STOPPING);
    tr_kit_advance(stage->kit, 3 * TR_HOUR);
    ck_assert_int_eq(fired, 0);
}

TEST(timers_asks_and_schedules_delay_nothing, "SH-08", "AK-10", "TM-15", "SH-07")
{
    stage_play(play_waiting);
}

/* Nobody shuts it down: it does not end because all are idle. */
static void play_idle(struct stage *stage)
{
    (void)put(stage, "m");
    tr_kit_advance(stage->kit, TR_HOUR);
    ck_assert_uint_eq(stage_live(stage), 1);
    tr_shutdown_report report;
    ck_assert_int_eq(tr_system_report(system_now, &report), TR_INVALID_TRANSITION);
    ck_assert_int_eq(tr_system_report(NULL, &report), TR_INVALID_ARGUMENT);
}

TEST(an_idle_system_lives_on, "X-06", "SH-07")
{
    stage_play(play_idle);
}

/* ---- Hooks. ---- */

static tr_status hook(void *context)
{
    const char *word = context;
    tr_counters counters;
    tr_system_counters(system_now, &counters);
    diary("%s:%u", word, (unsigned)counters.live);
    return *word == '!' ? TR_BAD_DATA : TR_OK;
}

static void add_hook(tr_hook_phase phase, const char *word)
{
    ck_assert_int_eq(tr_system_add_hook(system_now, phase, word, 0, hook, (void *)(uintptr_t)word),
                     TR_OK);
}

/* On a kit hooks are called in place; those after by who waits, which a kit does not. */
static void play_hooks(struct stage *stage)
{
    (void)put(stage, "m");
    add_hook(TR_BEFORE_STOP, "one");
    add_hook(TR_BEFORE_STOP, "!two");
    add_hook(TR_BEFORE_STOP, "three");
    shut(stage, TR_HOUR);
    ck_assert_int_eq(tr_system_add_hook(system_now, TR_AFTER_STOP, "late", 0, hook, NULL),
                     TR_STOPPING);
    tr_kit_settle(stage->kit);
    ck_assert_str_eq(diary_read(), "one:1 !two:1 three:1 /user/m");
    tr_shutdown_report report = report_of(stage);
    ck_assert_uint_eq(report.hook_count, 3);
    ck_assert_str_eq(report.hook[0].name, "!two");
    ck_assert_int_eq(report.hook[0].status, TR_BAD_DATA);
    ck_assert_int_eq(report.status, TR_OK);
}

TEST(hooks_before_run_in_order_and_one_that_fails_stops_no_other, "X-05", "SH-10")
{
    stage_play(play_hooks);
}

static void play_hooks_unused(struct stage *stage)
{
    (void)put(stage, "m");
    for (int i = 0; i < TR_HOOKS_MAX; i++)
        add_hook(i % 2 ? TR_BEFORE_STOP : TR_AFTER_STOP, "never");
    ck_assert_int_eq(tr_system_add_hook(system_now, TR_AFTER_STOP, "more", 0, hook, NULL),
                     TR_LIMIT);
    ck_assert_int_eq(tr_system_add_hook(NULL, TR_AFTER_STOP, "x", 0, hook, NULL),
                     TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_system_add_hook(system_now, TR_AFTER_STOP, NULL, 0, hook, NULL),
                     TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_system_add_hook(system_now, TR_AFTER_STOP, "x", -1, hook, NULL),
                     TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_system_add_hook(system_now, TR_AFTER_STOP, "x", 0, NULL, NULL),
                     TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_system_add_hook(system_now, (tr_hook_phase)7, "x", 0, hook, NULL),
                     TR_INVALID_ARGUMENT);
}

TEST(hooks_have_limits_and_a_system_that_never_ran_calls_none, "X-05", "U-01")
{
    stage_play(play_hooks_unused);
    ck_assert_ptr_null(strstr(diary_read(), "never"));
}

/* A system in another's loop: all hooks, and the first TR_STOPPED comes after them. */
TEST(hooks_of_a_system_in_anothers_loop_are_called, "X-05", "SH-10", "TM-15")
{
    const tr_system_options options = {.size = sizeof options, .workers = 1};
    tr_system *system;
    tr_client *client;
    member_ref member;
    ck_assert_int_eq(tr_system_new(&options, &system), TR_OK);
    ck_assert_int_eq(tr_client_new(system, &client), TR_OK);
    ck_assert_int_eq(tr_try_spawn(client, &member, member, "m"), TR_OK);
    ck_assert_int_eq(tr_system_run_once(system, 0), TR_OK);
    system_now = system;
    add_hook(TR_AFTER_STOP, "after");
    add_hook(TR_BEFORE_STOP, "before");
    tr_system_shutdown(system, TR_HOUR);
    tr_status status;
    while ((status = tr_system_run_once(system, TR_MILLISECOND)) == TR_OK)
        ;
    ck_assert_int_eq(status, TR_STOPPED);
    ck_assert_int_eq(tr_system_run_once(system, 0), TR_STOPPED);
    ck_assert_str_eq(diary_read(), "before:1 /user/m after:0");
    tr_client_free(client);
    tr_system_free(system);
}

SUITE("shutdown", leaves_stop_before_their_parents, what_was_sent_before_is_handled_before,
      the_first_call_counts_from_wherever, what_is_on_its_way_does_not_stay,
      those_who_stop_by_themselves_meanwhile_confuse_nobody,
      turns_that_wait_are_cancelled_at_the_deadline,
      at_the_deadline_the_rest_is_killed_with_its_post_stop,
      timers_asks_and_schedules_delay_nothing, an_idle_system_lives_on,
      hooks_before_run_in_order_and_one_that_fails_stops_no_other,
      hooks_have_limits_and_a_system_that_never_ran_calls_none,
      hooks_of_a_system_in_anothers_loop_are_called)
