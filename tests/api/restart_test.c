/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A restart: what stays, what goes, and in which order.
 */
#include "support/crew.h"

/* ---- An actor that has something of everything. ---- */

TR_MESSAGE(tick, (u64, n));

enum { BREAK = 1, SLEEP, LATER, STASH, REPLY };

struct rich {
    uint64_t sum;
    tr_later later;
    unsigned char large[200];
};
TR_ACTOR(rich, run, note, query, tick);
TR_BEHAVIOR_DECLARE(rich);
TR_BEHAVIOR_DECLARE(changed);

static rich_ref rich;
static int down_fails;  /* PreRestarts that fail */
static int setup_fails; /* set-ups that fail */
static int start_fails; /* PreStarts that fail */
static bool setup_stops;

static void word(void *text)
{
    say("%s", (const char *)text);
}

static char cleaner[] = "cleaner";
static char defer[] = "defer";

static tr_next rich_setup(tr_self *self, struct rich *state, const struct label *message)
{
    say("set-up %s", message->text);
    ck_assert_uint_eq(state->sum, 0);
    ck_assert_uint_eq(state->large[199], 0);
    ck_assert_uint_eq(tr_stash_count(self), 0);
    ck_assert_uint_eq(tr_children(self, NULL, 0), 0);
    memset(state->large, 1, sizeof state->large);
    tr_at_end(self, cleaner, word);
    if (setup_stops)
        return TR_STOP;
    return setup_fails-- > 0 ? fall(self) : TR_SAME;
}

static tr_next rich_start(tr_self *self)
{
    say("start");
    return start_fails-- > 0 ? fall(self) : TR_SAME;
}

static tr_next rich_stop(void)
{
    say("stop");
    return TR_SAME;
}

static tr_next rich_down(tr_self *self, struct rich *state, const struct tr_pre_restart *message)
{
    say("down");
    ck_assert_uint_eq(state->large[199], 1); /* its state is still there */
    ck_assert_int_eq(message->cause.status, TR_BAD_DATA);
    ck_assert_str_eq(message->cause.text, "fell");
    ck_assert_int_eq(tr_sleep(self, TR_SECOND), TR_NOT_IN_A_TURN);
    const tr_spawn_args args = {.size = sizeof args, .behavior = &tr_behavior_kid_plain};
    uint64_t bits;
    ck_assert_int_eq(tr_self_try_spawn(self, &args, &bits), TR_STOPPING);
    return down_fails-- > 0 ? tr_fail(self, TR_BAD_DATA, "again") : TR_SAME;
}

static tr_next rich_up(struct rich *state, const struct tr_post_restart *message)
{
    say("up");
    ck_assert_uint_eq(state->sum, 0);
    ck_assert_str_eq(message->cause.text, "fell");
    return TR_SAME;
}

static tr_next rich_note(struct rich *state, const struct note *message)
{
    state->sum += message->n;
    say("%" PRIu64 "=%" PRIu64, message->n, state->sum);
    return TR_SAME;
}

static tr_next rich_tick(const struct tick *message)
{
    say("tick %" PRIu64, message->n);
    return TR_SAME;
}

static tr_next rich_query(tr_self *self, struct rich *state, const struct query *message)
{
    switch (message->n) {
    case BREAK:
        return fall(self);
    case SLEEP:
        tr_defer(self, defer, word);
        say("woken %s", tr_status_name(tr_sleep(self, TR_MINUTE)));
        /* The state of its incarnation lives until it has returned. */
        ck_assert_uint_eq(state->large[199], 1);
        ck_assert_int_eq(tr_tell(self, rich, note, .n = 999), TR_CANCELLED);
        return tr_reply(self, note, .n = 1);
    case LATER:
        state->later = tr_reply_later(self);
        return TR_SAME;
    case STASH:
        return tr_stash(self);
    default:
        return tr_reply(self, note, .n = message->n);
    }
}

static tr_next rich_idle(void)
{
    say("idle");
    return TR_SAME;
}

#define RICH_ROWS                                                                                  \
    TR_ON(run, on_run), TR_ON(tick, rich_tick), TR_ON(query, rich_query),                          \
        TR_ON(tr_pre_start, rich_start), TR_ON(tr_post_stop, rich_stop),                           \
        TR_ON(tr_pre_restart, rich_down), TR_ON(tr_post_restart, rich_up),                         \
        TR_ON(tr_receive_timeout, rich_idle)

TR_BEHAVIOR(rich, struct rich, TR_SETUP_WITH(label, rich_setup), TR_ON(note, rich_note), RICH_ROWS);
TR_BEHAVIOR(changed, struct rich, TR_ON(note, tr_stash), RICH_ROWS);

static void rich_open(void)
{
    down_fails = setup_fails = start_fails = 0;
    setup_stops = false;
    char text[] = "anna";
    ck_assert_int_eq(tr_try_spawn_at(test, &rich, home, rich, "rich", label, .text = text), TR_OK);
    memset(text, 'x', sizeof text - 1); /* it is copied */
    tr_kit_settle(kit);
    SAID("set-up anna; start");
}

static tr_next arm(tr_self *self)
{
    tr_timer_once(self, "once", TR_SECOND, tick, .n = 1);
    tr_timer_fixed_rate(self, "rate", TR_SECOND, tick, .n = 2);
    tr_timer_once(self, NULL, TR_SECOND, tick, .n = 3);
    tr_set_receive_timeout(self, 2 * TR_SECOND);
    const tr_spawn_args args = {
        .size = sizeof args, .behavior = &tr_behavior_kid_plain, .name = "child", .worker = 0};
    uint64_t bits;
    ck_assert_int_eq(tr_self_try_spawn(self, &args, &bits), TR_OK);
    return TR_SAME;
}

#define ASK(n_) tr_ask(test, rich, query, .n = (n_))

static tr_status outcome(query_ask asked)
{
    const struct note *reply;
    return tr_try_await(test, asked, &reply);
}

static void play_order(void)
{
    is_quiet = false;
    rich_open();
    DO(rich, arm);
    (void)said();
    query_ask sleeping = ASK(SLEEP);
    query_ask later = ASK(LATER);
    query_ask stashed = ASK(STASH);
    tr_kit_settle(kit);
    query_ask breaking = ASK(BREAK);
    query_ask queued = ASK(REPLY);
    tr_tell(test, rich, note, .n = 7);
    tr_tell(test, rich, note, .n = 8);
    tr_kit_settle(kit);
    SAID("woken TR_CANCELLED; defer; down; child stop; cleaner; set-up anna; start; up; 7=7; 8=15");
    ck_assert_int_eq(outcome(breaking), TR_FAILED);
    ck_assert_int_eq(outcome(sleeping), TR_RESTARTED);
    ck_assert_int_eq(outcome(later), TR_RESTARTED);
    ck_assert_int_eq(outcome(stashed), TR_RESTARTED);
    ck_assert_int_eq(outcome(queued), TR_OK);
    ck_assert(tr_is_same(tr_any(tr_find(test, rich, "/user/rich")), tr_any(rich)));
    /* Neither timers nor the receive timeout of the old one come. */
    tr_kit_advance(kit, TR_MINUTE);
    SAID("");
    tr_counters counters;
    tr_system_counters(tr_kit_system(kit), &counters);
    ck_assert_uint_eq(counters.live, 1);
    ck_assert_uint_eq(counters.queued, 0);
    tr_stop(test, rich);
    tr_kit_settle(kit);
    SAID("stop; cleaner");
}

TEST(a_restart_has_its_order_and_keeps_what_is_queued, "S-04", "S-05", "G-02", "G-08", "L-05",
     "SU-03", "SU-19", "SU-20", "AK-06", "ST-05", "TM-05")
{
    kits_each(play_order);
}

/* What is due at the very moment of the failure belongs to the old incarnation too. */
static tr_next arm_and_wait(tr_self *self)
{
    (void)arm(self);
    tr_timer_once(self, "fall", TR_SECOND, run, .function = (uint64_t)(uintptr_t)fall);
    return TR_SAME;
}

static void play_due(void)
{
    rich_open();
    for (int i = 0; i < 3; i++) {
        DO(rich, arm_and_wait);
        tr_kit_advance(kit, TR_SECOND);
        (void)said();
        tr_kit_advance(kit, TR_MINUTE);
        SAID("");
    }
}

TEST(events_that_have_fallen_due_go_with_their_incarnation, "SU-20", "TM-05", "S-04")
{
    kits_each(play_due);
}

/* ---- Stash. ---- */

static tr_next back(tr_self *self)
{
    say("back %zu", tr_unstash(self, SIZE_MAX));
    return TR_SAME;
}

static tr_next stash_break(tr_self *self, const struct note *message)
{
    if (message->n == 3)
        return fall(self);
    return tr_stash(self);
}
static tr_next open_note(tr_self *self, const struct note *message)
{
    say("open %" PRIu64, message->n);
    return message->n == 2 ? fall(self) : TR_SAME;
}
TR_BEHAVIOR(opened, void, TR_ON(run, on_run), TR_ON(note, open_note));
TR_BEHAVIOR(stasher, void, TR_ON(run, on_run), TR_ON(note, stash_break),
            TR_ON(tr_post_restart, crew_up));
static tr_next open_up(tr_self *self)
{
    (void)back(self);
    return tr_become(self, opened);
}

static void play_stash(void)
{
    tr_ref who = crew_spawn_top(&tr_behavior_stasher, "s");
    is_quiet = false;
    tell_notes(who, 0, 2);
    tell_notes(who, 4, 6);
    tr_kit_settle(kit);
    /* Two of them are handled; the second one fails. The others have come back: they are mail. */
    ck_assert_int_eq(TELL_RUN(test, who, open_up), TR_OK);
    tr_kit_settle(kit);
    SAID("back 6; open 0; open 1; open 2; s up");
    /* ... and the fresh incarnation has stashed them. At the next failure they are dead letters. */
    uint64_t before = dead_letters(TR_RESTARTED);
    tell_notes(who, 3, 3);
    tr_kit_settle(kit);
    SAID("s up");
    ck_assert_uint_eq(dead_letters(TR_RESTARTED) - before, 3);
    DO(who, back);
    SAID("back 0");
}

TEST(what_is_stashed_is_dead_letters_and_what_came_back_is_mail, "ST-05", "S-04", "SU-20")
{
    kits_each(play_stash);
}

/* ---- Behaviors. ---- */

static tr_next become_changed(tr_self *self)
{
    return tr_become(self, changed);
}

static void play_behavior(void)
{
    rich_open();
    DO(rich, become_changed);
    tr_tell(test, rich, note, .n = 1);
    tr_kit_settle(kit);
    SAID("");
    DO(rich, fall);
    SAID("down; cleaner; set-up anna; start; up");
    tr_tell(test, rich, note, .n = 2);
    tr_kit_settle(kit);
    SAID("2=2");
}

TEST(a_restart_goes_back_to_the_behavior_that_was_spawned, "S-04", "B-01")
{
    kits_each(play_behavior);
}

/* ---- Suspended. ---- */

static void play_suspended(void)
{
    rich_open();
    /* The order comes while the failure waits for the decision, before it, or in the same moment. */
    TELL_RUN(test, rich, fall);
    for (uint64_t i = 0; i < kits_seed % 8; i++)
        tr_kit_step(kit);
    tr_suspend(test, rich);
    tr_tell(test, rich, note, .n = 1);
    tr_kit_settle(kit);
    const char *text = said();
    ck_assert_ptr_null(strstr(text, "1=1"));
    tr_resume(test, rich);
    tr_kit_settle(kit);
    text = said();
    ck_assert_ptr_nonnull(strstr(text, "1=1"));
}

TEST(to_be_suspended_survives_a_restart, "Y-03", "LC-13")
{
    kits_each(play_suspended);
}

/* ---- Failures on the way. ---- */

static void play_on_the_way(void)
{
    rich_open();
    down_fails = 1; /* is logged, and no more */
    DO(rich, fall);
    SAID("down; cleaner; set-up anna; start; up");
    setup_fails = 1; /* counts: no PreRestart for what has not started */
    DO(rich, fall);
    SAID("down; cleaner; set-up anna; cleaner; set-up anna; start; up");
    DO(rich, fall); /* the fourth one */
    SAID("stop; cleaner");
}

TEST(failures_on_the_way_are_counted_or_logged, "G-07", "S-05", "SU-18", "L-05")
{
    kits_each(play_on_the_way);
}

static void play_start_fails(void)
{
    rich_open();
    start_fails = 2; /* one that has started gets its PreRestart */
    DO(rich, fall);
    SAID("down; cleaner; set-up anna; start; down; cleaner; set-up anna; start; down; cleaner; "
         "set-up anna; start; up");
}

TEST(a_failure_in_pre_start_is_one_like_any_other, "G-07", "L-05")
{
    kits_each(play_start_fails);
}

static void play_exhausted_setup(void)
{
    rich_open();
    setup_fails = 10;
    tr_tell(test, rich, note, .n = 1);
    tr_tell(test, rich, note, .n = 2);
    tr_kit_settle(kit);
    (void)said();
    TELL_RUN(test, rich, fall);
    query_ask asked = ASK(REPLY);
    tr_kit_settle(kit);
    /* PreRestart was its last signal. */
    SAID("down; cleaner; set-up anna; cleaner; set-up anna; cleaner; set-up anna; cleaner");
    ck_assert_int_eq(outcome(asked), TR_STOPPED);
    ck_assert(tr_is_nobody(tr_find(test, rich, "/user/rich")));
}

TEST(set_ups_that_go_on_failing_use_up_the_budget, "S-05", "L-05", "SU-18", "LC-06")
{
    kits_each(play_exhausted_setup);
}

static void play_setup_stops(void)
{
    rich_open();
    setup_stops = true;
    DO(rich, fall);
    SAID("down; cleaner; set-up anna; cleaner");
    ck_assert_int_eq(tr_tell(test, rich, note), TR_STOPPED);
}

TEST(a_set_up_may_say_that_it_is_not_needed_any_more, "L-01", "L-05")
{
    kits_each(play_setup_stops);
}

/* A set-up that fails says so by a code; to continue is all that its supervisor wants. */
static tr_directive restart_once(tr_self *self, const tr_error *cause)
{
    (void)self;
    (void)cause;
    static int count;
    return count++ % 2 ? TR_RESUME : TR_RESTART;
}
PARENT(lenient_boss, TR_SUPERVISE(TR_ONE_FOR_ONE, .decide = restart_once));

static void play_resume_means_restart(void)
{
    crew_open(&tr_behavior_lenient_boss, &tr_behavior_kid_plain, 1);
    broken_setup.name = "a";
    broken_setup.times = 1;
    DO(kid[0], fall);
    SAID("a down; a set-up; a set-up; a start; a up");
    TOLD("RR");
}

TEST(to_resume_what_was_not_set_up_is_to_restart_it, "S-05")
{
    kits_each(play_resume_means_restart);
}

/* ---- Ends at every moment of a restart. ---- */

enum { LIVES = 4 };
static int starts;
static int ends;
static tr_next life_start(tr_self *self)
{
    starts++;
    return broken_start.times-- > 0 ? fall(self) : TR_SAME;
}
static tr_next life_end(void)
{
    ends++;
    return TR_SAME;
}
static tr_next life_setup(tr_self *self)
{
    const tr_spawn_args args = {
        .size = sizeof args, .behavior = &tr_behavior_kid_plain, .name = "child", .worker = 0};
    uint64_t bits;
    ck_assert_int_eq(tr_self_try_spawn(self, &args, &bits), TR_OK);
    return broken_setup.times-- > 0 ? fall(self) : TR_SAME;
}
TR_BEHAVIOR(life, void, TR_SETUP(life_setup), TR_ON(run, on_run), TR_ON(note, crew_note),
            TR_ON(tr_pre_start, life_start), TR_ON(tr_post_stop, life_end),
            TR_ON(tr_pre_restart, life_end));

static tr_status (*const ways[])(tr_client *, tr_ref) = {
    tr_client_stop, tr_client_kill, tr_client_suspend, tr_client_resume};

TEST(an_actor_can_be_stopped_at_every_moment_of_a_restart, "L-05", "LC-06", "S-09", "SU-15",
     "SU-19")
{
    for (uint64_t i = 0; i < 4 * 30 * 12; i++) {
        kit_open(i % 2 ? 3 : 1, 1 + i % 30);
        is_quiet = true;
        starts = ends = 0;
        broken_start.times = broken_setup.times = 0;
        tr_ref who = crew_spawn_top(&tr_behavior_life, "life");
        broken_start.times = i % 5 == 0;
        broken_setup.times = i % 7 == 0;
        TELL_RUN(test, who, fall);
        tr_tell(test, who, note, .n = 1);
        for (uint64_t steps = i / 4 % 30; steps; steps--)
            tr_kit_step(kit);
        ck_assert_int_eq(ways[i % 4](test, who), TR_OK);
        tr_tell(test, who, note, .n = 2);
        tr_kit_settle(kit);
        if (i % 4 == 2)
            tr_resume(test, who);
        tr_kit_settle(kit);
        if (i % 4 < 2) {
            ck_assert_int_eq(tr_tell(test, who, note), TR_STOPPED);
            tr_counters counters;
            tr_system_counters(tr_kit_system(kit), &counters);
            ck_assert_uint_eq(counters.live, 0);
            ck_assert_int_eq(starts, ends);
        } else {
            ck_assert_int_eq(starts, ends + 1);
            ck_assert(is_up(who));
        }
        said_length = 0;
        kit_close();
        ck_assert_int_eq(starts, ends);
    }
}

/* ---- Out of memory. ---- */

PARENT(group_boss, TR_SUPERVISE(TR_ALL_FOR_ONE));
PARENT(single_boss, TR_SUPERVISE(TR_ONE_FOR_ONE, .backoff = {.initial_ns = 1}));

static void sweep(const tr_behavior *parent, bool and_all_after, int workers)
{
    for (uint64_t nth = 1; nth < 40; nth++) {
        kit_open(workers, nth);
        crew_open(parent, &tr_behavior_kid_plain, 3);
        DO(kid[1], arm);
        is_quiet = true;
        tell_notes(kid[1], 1, 2);
        TELL_RUN(test, kid[1], fall);
        tell_notes(kid[1], 3, 4);
        tr_kit_fail_allocation(kit, nth, and_all_after);
        tr_kit_advance(kit, MS);
        tr_kit_fail_allocation(kit, 0, false);
        tr_kit_advance(kit, MS);
        tr_kit_check(kit);
        /* Nobody hangs: each is up or gone. */
        for (int i = 0; i < 3; i++) {
            bool is_gone = tr_tell(test, kid[i], note, .n = 5) == TR_STOPPED;
            ck_assert_msg(is_gone || is_up(kid[i]), "allocation %d: child %d hangs", (int)nth, i);
        }
        ck_assert(tr_tell(test, boss, note) == TR_STOPPED || is_up(boss));
        said_length = 0;
        told_text[0] = '\0';
        kit_close();
    }
}

TEST(out_of_memory_at_any_moment_of_a_restart_loses_nothing, "O-03", "S-04", "S-07")
{
    broken_start.times = broken_setup.times = 0;
    for (int workers = 1; workers <= 3; workers += 2) {
        sweep(&tr_behavior_single_boss, false, workers);
        sweep(&tr_behavior_single_boss, true, workers);
        sweep(&tr_behavior_group_boss, false, workers);
        sweep(&tr_behavior_group_boss, true, workers);
    }
}

SUITE("restart", a_restart_has_its_order_and_keeps_what_is_queued,
      events_that_have_fallen_due_go_with_their_incarnation,
      what_is_stashed_is_dead_letters_and_what_came_back_is_mail,
      a_restart_goes_back_to_the_behavior_that_was_spawned, to_be_suspended_survives_a_restart,
      failures_on_the_way_are_counted_or_logged, a_failure_in_pre_start_is_one_like_any_other,
      set_ups_that_go_on_failing_use_up_the_budget, a_set_up_may_say_that_it_is_not_needed_any_more,
      to_resume_what_was_not_set_up_is_to_restart_it,
      an_actor_can_be_stopped_at_every_moment_of_a_restart,
      out_of_memory_at_any_moment_of_a_restart_loses_nothing)
