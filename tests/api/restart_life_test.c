/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Restarts of actors in the middle of something: barriers, batches, budgets, helper threads, asks
 * whose answers come as turns; and the end of a system whose top fails.
 */
#include "support/crew.h"

#include <pthread.h>
#include <stdatomic.h>

/* ---- Mail that a barrier or a batch holds. ---- */

TR_MESSAGE(hold);
TR_MESSAGE(part, (u64, n));

static tr_next on_hold(tr_self *self)
{
    say("hold");
    tr_status status = tr_sleep(self, TR_SECOND);
    say("%s", tr_status_name(status));
    return status == TR_OK ? fall(self) : TR_SAME;
}

static tr_next on_parts(tr_self *self, const struct part *const *parts, size_t count)
{
    say("parts %" PRIu64 "+%zu", parts[0]->n, count);
    return parts[0]->n == 1 ? fall(self) : TR_SAME;
}

TR_BEHAVIOR(holder, void, TR_ON(run, on_run), TR_ON(note, crew_note), TR_ON(query, crew_query),
            TR_ON(hold, on_hold, .is_barrier = true), TR_ON_BATCH(part, on_parts, .batch_max = 3),
            TR_ON(tr_post_restart, crew_up));
TR_BEHAVIOR(kind_holder, void, TR_ON(run, on_run), TR_ON(note, crew_note), TR_ON(query, crew_query),
            TR_ON(hold, on_hold, .is_barrier = true), TR_ON(tr_post_restart, crew_up),
            TR_OPTIONS(.ordering = TR_BY_KIND));

static void play_barrier(void)
{
    is_quiet = false;
    tr_ref who = crew_spawn_top(&tr_behavior_holder, "h");
    tr_tell(test, who, hold);
    tell_notes(who, 1, 3);
    tr_kit_settle(kit);
    tell_notes(who, 4, 5);
    tr_kit_settle(kit);
    SAID("hold");
    tr_kit_advance(kit, TR_SECOND); /* the barrier itself fails */
    SAID("TR_OK; h up; h 1; h 2; h 3; h 4; h 5");
    /* A timer fails it while the barrier waits. */
    tr_tell(test, who, hold);
    tell_notes(who, 6, 7);
    tr_kit_settle(kit);
    SAID("hold");
    tr_kill(test, who);
    tr_kit_settle(kit);
    SAID("TR_CANCELLED");
    ck_assert_uint_eq(dead_letters(TR_STOPPED), 2);
}

TEST(mail_behind_a_barrier_is_kept_in_order, "S-04", "D-05")
{
    kits_each(play_barrier);
}

static tr_next fall_in_a_second(tr_self *self)
{
    tr_timer_once(self, "fall", TR_SECOND / 2, run, .function = (uint64_t)(uintptr_t)fall);
    return TR_SAME;
}

static void play_cancelled_barrier(void)
{
    is_quiet = false;
    tr_ref who =
        crew_spawn_top(kits_seed % 2 ? &tr_behavior_holder : &tr_behavior_kind_holder, "h");
    DO(who, fall_in_a_second);
    tr_tell(test, who, hold);
    tell_notes(who, 1, 2);
    tr_kit_settle(kit);
    query_ask asked = tr_ask(test, who, query, .n = 9);
    tell_notes(who, 3, 3);
    tr_kit_settle(kit);
    tr_kit_advance(kit, TR_SECOND / 2);
    SAID("hold; TR_CANCELLED; h up; h 1; h 2; h? 9; h 3");
    const struct note *reply;
    ck_assert_int_eq(tr_try_await(test, asked, &reply), TR_OK);
}

TEST(a_barrier_that_is_cancelled_lets_its_mail_go, "S-04", "D-05", "AK-06")
{
    kits_each(play_cancelled_barrier);
}

static void play_batch(void)
{
    is_quiet = false;
    tr_ref who = crew_spawn_top(&tr_behavior_holder, "h");
    tr_suspend(test, who);
    tr_kit_settle(kit);
    for (uint64_t n = 1; n <= 8; n++)
        tr_tell(test, who, part, .n = n);
    tr_resume(test, who);
    tr_kit_settle(kit);
    SAID("parts 1+3; h up; parts 4+3; parts 7+2");
}

TEST(a_batch_that_fails_is_gone_as_a_whole, "S-04", "SU-03")
{
    kits_each(play_batch);
}

/* ---- Answers to the old incarnation. ---- */

struct asking {
    int number;
};
static tr_ref partner;
static tr_next on_answered(struct asking *state, const query_answer *answer)
{
    say("answer %d in %d", (int)answer->status, state->number);
    return TR_SAME;
}
TR_THEN(answered, query, struct asking, on_answered);

static tr_next asking_note(tr_self *self, const struct note *message)
{
    if (message->n == 1) {
        tr_ask_then(self, answered, NULL, partner, query, .n = 1);
        tr_ask_then(self, answered, NULL, partner, query, .n = 2);
        return TR_SAME;
    }
    return fall(self);
}
TR_BEHAVIOR(asking, struct asking, TR_ON(run, on_run), TR_ON(note, asking_note),
            TR_ON(tr_post_restart, crew_up));

static void play_then(void)
{
    is_quiet = false;
    partner = crew_spawn_top(&tr_behavior_holder, "p");
    tr_ref who = crew_spawn_top(&tr_behavior_asking, "w");
    tr_suspend(test, partner);
    tr_kit_settle(kit);
    tell_notes(who, 1, 2);
    if (kits_seed % 2)
        tr_kit_settle(kit);
    else
        for (uint64_t i = kits_seed / 2; i; i--)
            tr_kit_step(kit);
    tr_resume(test, partner);
    tr_kit_settle(kit);
    const char *text = said();
    ck_assert_ptr_nonnull(strstr(text, "w up"));
    /* An answer that came before the failure may be heard; none is heard after it. */
    ck_assert_ptr_null(strstr(strstr(text, "w up"), "answer"));
    tr_kit_advance(kit, TR_MINUTE);
    SAID("");
}

TEST(answers_to_the_old_incarnation_are_not_heard, "SU-20", "AK-06")
{
    kits_each(play_then);
}

/* ---- Budgets. ---- */

static tr_usage used;
static bool is_greedy;
static tr_next look(tr_self *self)
{
    used = tr_budget_used(self);
    return TR_SAME;
}
static tr_next take(tr_self *self)
{
    for (int i = 0; i < 8; i++)
        (void)tr_alloc(self, 4096);
    return TR_SAME;
}
static tr_next metered_setup(tr_self *self)
{
    (void)tr_alloc(self, 1000);
    return is_greedy ? take(self) : TR_SAME;
}
TR_BEHAVIOR(metered, void, TR_SETUP(metered_setup), TR_ON(run, on_run), TR_ON(note, crew_note),
            TR_ON(tr_post_restart, crew_up), TR_OPTIONS(.budget_bytes = 20000));

static void play_budget(void)
{
    is_quiet = false;
    is_greedy = false;
    tr_ref who = crew_spawn_top(&tr_behavior_metered, "m");
    DO(who, look);
    size_t first = used.bytes;
    DO(who, take); /* goes over, fails, and starts again */
    SAID("m up");
    DO(who, look);
    ck_assert_uint_eq(used.bytes, first);
    DO(who, fall);
    DO(who, look);
    ck_assert_uint_eq(used.bytes, first);
    SAID("m up");
    /* What goes over in its set-up does so each time. */
    is_greedy = true;
    TELL_RUN(test, who, fall);
    tr_kit_settle(kit);
    SAID("");
    ck_assert_int_eq(tr_tell(test, who, note), TR_STOPPED);
}

TEST(an_incarnation_begins_with_its_budget_unused, "SU-01", "O-06", "S-10")
{
    kits_each(play_budget);
}

TEST(mail_over_the_budget_fails_every_incarnation, "SU-01", "O-06")
{
    kit_open(1, 1);
    is_quiet = true;
    is_greedy = false;
    tr_ref who = crew_spawn_top(&tr_behavior_metered, "m");
    tr_suspend(test, who);
    tr_kit_settle(kit);
    for (uint64_t n = 0; n < 400; n++)
        tr_tell(test, who, note, .n = n);
    tr_resume(test, who);
    tr_kit_settle(kit);
    /* Mail outlives a restart, so it is over again each time, and ends. */
    tr_counters counters;
    tr_system_counters(tr_kit_system(kit), &counters);
    ck_assert_uint_eq(counters.restarts, 3);
    ck_assert_uint_eq(counters.live, 0);
    ck_assert_uint_eq(counters.queued, 0);
    said_length = 0;
    kit_close();
}

static tr_directive resume_all(tr_self *self, const tr_error *cause)
{
    (void)self;
    ck_assert_int_eq(cause->status, TR_OVER_BUDGET);
    return TR_RESUME;
}
PARENT(lenient_boss,
       TR_SUPERVISE(TR_ONE_FOR_ONE, .decide = resume_all, .backoff = {.initial_ns = TR_SECOND}));
PARENT(slow_boss, TR_SUPERVISE(TR_ONE_FOR_ONE, .backoff = {.initial_ns = TR_SECOND}));
TR_BEHAVIOR(frugal, void, TR_ON(run, on_run), TR_ON(note, crew_note),
            TR_ON(tr_child_failed, crew_child_failed), TR_ON(tr_post_restart, crew_up),
            TR_OPTIONS(.tree_budget_bytes = 60000));

static void play_over_while_suspended(void)
{
    /* More mail than its budget allows comes while it waits for its restart. */
    is_greedy = false;
    crew_open(&tr_behavior_slow_boss, &tr_behavior_metered, 1);
    DO(kid[0], fall);
    tell_notes(kid[0], 1, 400);
    tr_kit_settle(kit);
    SAID("");
    tr_kit_advance(kit, 100 * TR_SECOND);
    ck_assert_int_eq(tr_tell(test, kid[0], note), TR_STOPPED);
    (void)said();
    told_text[0] = '\0';
    tr_stop(test, boss);
    tr_kit_settle(kit);
    /* One that continues over its budget fails again, as often as somebody looks. */
    crew_open(&tr_behavior_lenient_boss, &tr_behavior_metered, 1);
    tr_suspend(test, kid[0]);
    tr_kit_settle(kit);
    tell_notes(kid[0], 1, 400);
    tr_resume(test, kid[0]);
    tr_kit_settle(kit);
    ck_assert_uint_gt(strlen(told_text), 10);
    ck_assert(is_up(kid[0]));
    (void)said();
    told_text[0] = '\0';
}

TEST(to_go_over_while_suspended_holds_up_nothing, "Y-03", "O-06")
{
    kits_each(play_over_while_suspended);
}

static tr_next take_tree(tr_self *self)
{
    for (int i = 0; i < 20; i++)
        (void)tr_alloc(self, 4096);
    return TR_SAME;
}

static void play_tree(void)
{
    /* A tree goes over by its child, in each incarnation again. */
    is_quiet = false;
    told_text[0] = '\0';
    kid_count = 1;
    kid_behavior = &tr_behavior_holder;
    boss = crew_spawn_top(&tr_behavior_frugal, "boss");
    for (int i = 0; i < 3; i++) {
        DO(boss, crew_spawn);
        DO(kid[0], take_tree);
        const char *text = said();
        ck_assert_msg(strstr(text, "boss up"), "home %d, seed %d: %s", home, (int)kits_seed, text);
        ck_assert_int_eq(tr_tell(test, kid[0], note), TR_STOPPED);
    }
    DO(boss, crew_spawn);
    DO(kid[0], take_tree);
    ck_assert_int_eq(tr_tell(test, boss, note), TR_STOPPED);
    (void)said();
}

TEST(a_tree_goes_over_its_budget_in_each_incarnation, "SU-01", "O-06")
{
    kits_each(play_tree);
}

/* ---- Helper threads. ---- */

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool is_inside;
    bool is_open;
} gate = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void pass_gate(void *argument)
{
    (void)argument;
    pthread_mutex_lock(&gate.mutex);
    gate.is_inside = true;
    pthread_cond_broadcast(&gate.changed);
    while (!gate.is_open)
        pthread_cond_wait(&gate.changed, &gate.mutex);
    pthread_mutex_unlock(&gate.mutex);
}

static atomic_int ups;
static atomic_int downs;
static atomic_int stops;
static tr_next busy_query(tr_self *self, const struct query *message)
{
    if (message->n == 1)
        return fall(self);
    if (message->n == 2)
        tr_blocking(self, pass_gate, NULL);
    return tr_reply(self, note, .n = message->n);
}
static tr_next busy_up(void)
{
    ups++;
    return TR_SAME;
}
static tr_next busy_down(void)
{
    downs++;
    return TR_SAME;
}
static tr_next busy_stop(void)
{
    stops++;
    return TR_SAME;
}
TR_ACTOR(busy, query);
TR_BEHAVIOR(busy, void, TR_ON(query, busy_query), TR_ON(tr_post_restart, busy_up),
            TR_ON(tr_pre_restart, busy_down), TR_ON(tr_post_stop, busy_stop));

static void no_log(void *context, tr_level level, const char *path, const char *text)
{
    (void)context;
    (void)level;
    (void)path;
    (void)text;
}

static void blocked(bool is_stopped)
{
    tr_system *system;
    const tr_system_options options = {.size = sizeof options, .workers = 2, .on_log = no_log};
    ck_assert_int_eq(tr_system_new(&options, &system), TR_OK);
    ck_assert_int_eq(tr_client_new(system, &test), TR_OK);
    ck_assert_int_eq(tr_system_start(system), TR_OK);
    gate.is_inside = gate.is_open = false;
    ups = downs = stops = 0;
    busy_ref busy;
    const struct note *reply;
    ck_assert_int_eq(tr_try_spawn(test, &busy, busy, "busy"), TR_OK);
    query_ask working = tr_ask_within(test, TR_MINUTE, busy, query, .n = 2);
    pthread_mutex_lock(&gate.mutex);
    while (!gate.is_inside)
        pthread_cond_wait(&gate.changed, &gate.mutex);
    pthread_mutex_unlock(&gate.mutex);
    query_ask failing = tr_ask_within(test, TR_MINUTE, busy, query, .n = 1);
    query_ask queued = tr_ask_within(test, TR_MINUTE, busy, query, .n = 3);
    ck_assert_int_eq(tr_try_await(test, failing, &reply), TR_FAILED);
    /* The function uses the stack of its turn: nothing is taken from under it. */
    ck_assert_int_eq(downs, 0);
    if (is_stopped)
        ck_assert_int_eq(tr_stop(test, busy), TR_OK);
    pthread_mutex_lock(&gate.mutex);
    gate.is_open = true;
    pthread_cond_broadcast(&gate.changed);
    pthread_mutex_unlock(&gate.mutex);
    ck_assert_int_eq(tr_try_await(test, working, &reply), is_stopped ? TR_STOPPED : TR_RESTARTED);
    ck_assert_int_eq(tr_try_await(test, queued, &reply), is_stopped ? TR_STOPPED : TR_OK);
    tr_system_shutdown(system, TR_MINUTE);
    ck_assert_int_eq(tr_system_wait(system), TR_OK);
    ck_assert_int_eq(ups, !is_stopped);
    ck_assert_int_eq(downs, !is_stopped);
    ck_assert_int_eq(stops, 1);
    tr_client_free(test);
    tr_system_free(system);
}

TEST(a_restart_waits_for_a_function_on_a_helper_thread, "S-04", "L-05", "SG-08")
{
    blocked(false);
}

TEST(a_stop_while_a_restart_waits_for_a_function, "S-05", "L-05", "LC-06")
{
    blocked(true);
}

/* ---- The top. ---- */

static tr_directive always_escalate(tr_self *self, const tr_error *cause)
{
    (void)self;
    (void)cause;
    return TR_ESCALATE;
}

static void escalate_at_top(const tr_supervision *supervision, int failures)
{
    tr_system *system;
    const tr_system_options options = {
        .size = sizeof options, .workers = 2, .on_log = no_log, .supervision = supervision};
    ck_assert_int_eq(tr_system_new(&options, &system), TR_OK);
    ck_assert_int_eq(tr_client_new(system, &test), TR_OK);
    ck_assert_int_eq(tr_system_start(system), TR_OK);
    ups = downs = stops = 0;
    busy_ref first;
    busy_ref second;
    const struct note *reply;
    ck_assert_int_eq(tr_try_spawn_at(test, &first, 0, busy, "first"), TR_OK);
    ck_assert_int_eq(tr_try_spawn_at(test, &second, 1, busy, "second"), TR_OK);
    ck_assert_int_eq(tr_spawn_wait(test, second, TR_MINUTE, NULL), TR_OK);
    for (int i = 0; i < failures; i++) {
        query_ask failing = tr_ask_within(test, TR_MINUTE, first, query, .n = 1);
        ck_assert_int_eq(tr_try_await(test, failing, &reply), TR_FAILED);
    }
    tr_status ended = tr_system_wait(system); /* nobody shuts it down but the failure */
    ck_assert_int_le(ended, TR_OK);
    /* One that was about to come up again has had its PreRestart, and no more. */
    ck_assert_int_eq(stops + downs - ups, 2);
    tr_client_free(test);
    tr_counters counters;
    tr_system_counters(system, &counters);
    ck_assert_uint_eq(counters.live, 0);
    tr_system_free(system);
}

TEST(a_failure_that_reaches_the_top_shuts_the_system_down, "S-06", "SU-04")
{
    escalate_at_top(&(tr_supervision){.decide = always_escalate}, 1);
    /* The group of all top-level actors has failed too often. */
    escalate_at_top(&(tr_supervision){.strategy = TR_ALL_FOR_ONE}, 4);
}

/* ---- The report. ---- */

static char log_text[4096];
static void log_line(void *context, tr_level level, const char *path, const char *text)
{
    (void)context;
    size_t length = strlen(log_text);
    if (level == TR_LEVEL_ERROR)
        snprintf(log_text + length, sizeof log_text - length, "%s %s\n", path ? path : "", text);
}

TEST(the_report_names_path_incarnation_cause_and_message, "S-10", "SU-26")
{
    tr_system *system;
    const tr_system_options options = {.size = sizeof options, .workers = 1, .on_log = log_line};
    ck_assert_int_eq(tr_system_new(&options, &system), TR_OK);
    ck_assert_int_eq(tr_client_new(system, &test), TR_OK);
    is_quiet = true;
    const tr_spawn_args args = {
        .size = sizeof args, .behavior = &tr_behavior_kid_plain, .name = "kid", .worker = -1};
    uint64_t bits = 0;
    ck_assert_int_eq(tr_client_try_spawn(test, &args, &bits), TR_OK);
    for (int i = 0; i < 2; i++) {
        TELL_RUN(test, tr_ref_from_bits(bits), fall);
        for (int j = 0; j < 10; j++)
            ck_assert_int_eq(tr_system_run_once(system, 0), TR_OK);
    }
    ck_assert_ptr_nonnull(strstr(
        log_text, "/user/kid failed in run: TR_BAD_DATA: fell (incarnation 1 of kid_plain, "));
    ck_assert_ptr_nonnull(strstr(
        log_text, "/user/kid failed in run: TR_BAD_DATA: fell (incarnation 2 of kid_plain, "));
    ck_assert_ptr_nonnull(strstr(log_text, "crew.h:"));
    tr_system_shutdown(system, TR_SECOND);
    while (tr_system_run_once(system, 0) != TR_STOPPED)
        ;
    tr_client_free(test);
    tr_system_free(system);
}

/* ---- Orders that come while somebody decides. ---- */

static tr_directive kill_myself(tr_self *self, const tr_error *cause)
{
    (void)cause;
    ck_assert_int_eq(tr_kill(self, tr_me(self)), TR_OK);
    return TR_STOP_CHILD;
}
PARENT(desperate, TR_SUPERVISE(TR_ONE_FOR_ONE, .decide = kill_myself));

static void play_kill_in_a_decider(void)
{
    crew_open(&tr_behavior_desperate, &tr_behavior_kid_plain, 1);
    tr_suspend(test, boss);
    tr_kit_settle(kit);
    DO(kid[0], fall);
    ck_assert_int_eq(tr_tell(test, boss, note), TR_STOPPED);
    (void)said();
    told_text[0] = '\0';
}

TEST(a_suspended_supervisor_hears_what_its_decider_orders, "Y-02", "Y-03", "S-09")
{
    kits_each(play_kill_in_a_decider);
}

SUITE("restart life", mail_behind_a_barrier_is_kept_in_order,
      a_barrier_that_is_cancelled_lets_its_mail_go, a_batch_that_fails_is_gone_as_a_whole,
      answers_to_the_old_incarnation_are_not_heard, an_incarnation_begins_with_its_budget_unused,
      mail_over_the_budget_fails_every_incarnation, to_go_over_while_suspended_holds_up_nothing,
      a_tree_goes_over_its_budget_in_each_incarnation,
      a_restart_waits_for_a_function_on_a_helper_thread,
      a_stop_while_a_restart_waits_for_a_function,
      a_failure_that_reaches_the_top_shuts_the_system_down,
      the_report_names_path_incarnation_cause_and_message,
      a_suspended_supervisor_hears_what_its_decider_orders)
