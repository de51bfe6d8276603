/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Kill: after the current turn, nothing more.
 */
#include "support/stage.h"

TR_MESSAGE(note, (u64, n));
TR_MESSAGE(peer, (ref, who));
TR_MESSAGE(family, (u32, levels), (i32, worker), (i32, workers));

enum { QUEUED = 100 };

/* ---- A victim that counts. ---- */

static uint64_t handled;
static unsigned post_stops;

TR_ACTOR(victim, note);
static tr_next victim_note(tr_self *self, const struct note *note)
{
    (void)self;
    (void)note;
    handled++;
    return TR_SAME;
}

static tr_next victim_stop(void)
{
    post_stops++;
    return TR_SAME;
}
TR_BEHAVIOR(victim, void, TR_ON(note, victim_note), TR_ON(tr_post_stop, victim_stop));

static victim_ref victim_at(struct stage *stage, int worker)
{
    victim_ref victim;
    handled = post_stops = 0;
    ck_assert_int_eq(tr_try_spawn_at(stage->client, &victim, worker, victim, NULL), TR_OK);
    return victim;
}

static void queue_notes(struct stage *stage, victim_ref victim, uint64_t count)
{
    for (uint64_t n = 0; n < count; n++)
        ck_assert_int_eq(tr_tell(stage->client, victim, note, .n = n), TR_OK);
}

static void play_nothing_queued_is_handled(struct stage *stage)
{
    victim_ref victim = victim_at(stage, stage_far(stage));
    tr_kit_settle(stage->kit);
    queue_notes(stage, victim, QUEUED);
    ck_assert_int_eq(tr_kill(stage->client, victim), TR_OK);
    ck_assert_int_eq(tr_tell(stage->client, victim, note), TR_OK);
    tr_kit_settle(stage->kit);
    ck_assert_uint_eq(handled, 0);
    ck_assert_uint_eq(post_stops, 1);
    ck_assert_uint_eq(stage_dead_letters_to(stage, tr_any(victim), "note", TR_STOPPED), QUEUED + 1);
    ck_assert_uint_eq(stage_live(stage), 0);
    ck_assert_int_eq(tr_kill(stage->client, victim), TR_STOPPED);
    ck_assert_int_eq(tr_kill(stage->client, TR_NOBODY), TR_STOPPED);
    ck_assert_uint_eq(stage_dead_letters(stage), QUEUED + 1);
}

TEST(after_a_kill_nothing_queued_is_handled_and_post_stop_runs, "Y-02", "LC-08", "L-06")
{
    stage_play(play_nothing_queued_is_handled);
}

static void play_in_the_middle(struct stage *stage)
{
    victim_ref victim = victim_at(stage, stage_far(stage));
    tr_kit_settle(stage->kit);
    queue_notes(stage, victim, QUEUED);
    for (uint64_t steps = stage->seed * 2; steps; steps--)
        tr_kit_step(stage->kit);
    uint64_t before = handled;
    tr_status status = tr_kill(stage->client, victim);
    tr_kit_settle(stage->kit);
    ck_assert_int_eq(status, TR_OK);
    ck_assert_uint_eq(handled, before);
    ck_assert_uint_eq(post_stops, 1);
    ck_assert_uint_eq(stage_dead_letters(stage), QUEUED - before);
}

TEST(a_kill_in_the_middle_of_a_queue_ends_it_there, "Y-02", "LC-08")
{
    stage_play(play_in_the_middle);
}

/* ---- Before the set-up. ---- */

static void play_unborn(struct stage *stage)
{
    victim_ref victim = victim_at(stage, stage_far(stage));
    tr_error error;
    queue_notes(stage, victim, 5);
    ck_assert_int_eq(tr_kill(stage->client, victim), TR_OK);
    ck_assert_int_eq(tr_spawn_wait(stage->client, victim, TR_SECOND, &error), TR_INIT_FAILED);
    ck_assert_int_eq(error.status, TR_STOPPING);
    tr_kit_settle(stage->kit);
    ck_assert_uint_eq(handled, 0);
    ck_assert_uint_eq(post_stops, 0);
    ck_assert_uint_eq(stage_dead_letters_to(stage, tr_any(victim), "note", TR_STOPPED), 5);
    ck_assert_uint_eq(stage_live(stage), 0);
}

TEST(an_actor_that_is_killed_before_its_set_up_gets_no_signal, "Y-02", "L-01", "L-04")
{
    stage_play(play_unborn);
}

/* ---- Oneself, a child, a stranger: the current turn continues to its end. ---- */

TR_ACTOR(suicide, note);
static tr_next suicide_note(tr_self *self, const struct note *note)
{
    diary("%" PRIu64, note->n);
    if (note->n == 2) {
        ck_assert_int_eq(tr_kill(self, tr_me(self)), TR_OK);
        ck_assert_int_eq(tr_kill(self, tr_me(self)), TR_OK);
        /* Until the turn ends it is alive. */
        ck_assert_int_eq(tr_tell(self, tr_me(self), note, .n = 9), TR_OK);
        diary("still");
    }
    return TR_SAME;
}

static tr_next suicide_stop(void)
{
    diary("stop");
    return TR_SAME;
}
TR_BEHAVIOR(suicide, void, TR_ON(note, suicide_note), TR_ON(tr_post_stop, suicide_stop));

static void play_suicide(struct stage *stage)
{
    suicide_ref suicide;
    ck_assert_int_eq(tr_try_spawn_at(stage->client, &suicide, stage_far(stage), suicide, NULL),
                     TR_OK);
    for (uint64_t n = 1; n <= 5; n++)
        tr_tell(stage->client, suicide, note, .n = n);
    tr_kit_settle(stage->kit);
    ck_assert_str_eq(diary_read(), "1 2 still stop");
    ck_assert_uint_eq(stage_dead_letters(stage), 4);
    ck_assert_uint_eq(stage_live(stage), 0);
}

TEST(an_actor_that_kills_itself_ends_its_turn_first, "Y-02", "LC-08")
{
    stage_play(play_suicide);
}

TR_ACTOR(killer, peer, family);
static tr_next killer_peer(tr_self *self, const struct peer *peer)
{
    for (uint64_t n = 0; n < QUEUED; n++)
        ck_assert_int_eq(tr_tell(self, peer->who, note, .n = n), TR_OK);
    uint64_t before = handled;
    ck_assert_int_eq(tr_kill(self, peer->who), TR_OK);
    ck_assert_uint_eq(handled, before);
    (void)tr_stop(self, peer->who);
    return TR_SAME;
}

static tr_next killer_family(tr_self *self, const struct family *family)
{
    victim_ref child = tr_spawn_at(self, family->worker, victim, "child");
    for (uint64_t n = 0; n < QUEUED; n++)
        ck_assert_int_eq(tr_tell(self, child, note, .n = n), TR_OK);
    ck_assert_int_eq(tr_kill(self, child), TR_OK);
    return TR_SAME;
}
TR_BEHAVIOR(killer, void, TR_ON(peer, killer_peer), TR_ON(family, killer_family));

static void play_stranger_and_child(struct stage *stage)
{
    killer_ref killer;
    ck_assert_int_eq(tr_try_spawn(stage->client, &killer, killer, "killer"), TR_OK);
    for (int worker = 0; worker < stage->workers; worker++) {
        victim_ref victim = victim_at(stage, worker);
        tr_kit_settle(stage->kit);
        tr_tell(stage->client, killer, peer, .who = tr_any(victim));
        tr_kit_settle(stage->kit);
        ck_assert_uint_eq(handled, 0);
        ck_assert_uint_eq(post_stops, 1);
        ck_assert_uint_eq(stage_dead_letters_to(stage, tr_any(victim), "note", TR_STOPPED), QUEUED);

        handled = post_stops = 0;
        tr_tell(stage->client, killer, family, .worker = worker);
        tr_kit_settle(stage->kit);
        ck_assert_uint_eq(handled, 0);
        /* A child on another worker had not been set up. */
        ck_assert_uint_eq(post_stops, worker == 0 ? 1 : 0);
        ck_assert(tr_is_nobody(tr_find(stage->client, victim, "/user/killer/child")));
        ck_assert_uint_eq(stage_live(stage), 1);
    }
}

TEST(a_stranger_and_a_child_are_killed_on_every_worker, "Y-02", "LC-08")
{
    stage_play(play_stranger_and_child);
}

/* ---- Which reason was first. ---- */

static void play_stop_then_kill(struct stage *stage)
{
    victim_ref victim = victim_at(stage, stage_far(stage));
    tr_kit_settle(stage->kit);
    queue_notes(stage, victim, QUEUED);
    tr_stop(stage->client, victim);
    for (uint64_t steps = stage->seed; steps; steps--)
        tr_kit_step(stage->kit);
    uint64_t before = handled;
    ck_assert_int_eq(tr_kill(stage->client, victim), TR_OK);
    tr_kit_settle(stage->kit);
    ck_assert_uint_eq(handled, before);
    ck_assert_uint_eq(post_stops, 1);
    ck_assert_uint_eq(stage_dead_letters(stage), QUEUED - before);

    victim = victim_at(stage, stage_far(stage));
    tr_kit_settle(stage->kit);
    queue_notes(stage, victim, QUEUED);
    tr_kill(stage->client, victim);
    tr_stop(stage->client, victim);
    tr_kit_settle(stage->kit);
    ck_assert_uint_eq(handled, 0);
    ck_assert_uint_eq(post_stops, 1);
    ck_assert_uint_eq(stage_live(stage), 0);
}

TEST(a_kill_overtakes_a_pill_and_a_pill_does_not_undo_a_kill, "LC-09", "Y-02")
{
    stage_play(play_stop_then_kill);
}

/* ---- Families: three levels, each on a worker of its own choosing. ---- */

static tr_ref grandchild;
static tr_ref middle;

TR_ACTOR(elder, note, family);
static tr_next elder_set_up(tr_self *self, const struct family *family)
{
    if (family->levels == 1)
        middle = tr_me(self);
    if (family->levels == 0)
        grandchild = tr_any(tr_spawn_at(self, family->worker, victim, "victim"));
    else
        (void)tr_spawn_at(self,
                          (family->worker + 1) % family->workers,
                          elder,
                          "elder",
                          family,
                          .levels = family->levels - 1,
                          .workers = family->workers,
                          .worker = (family->worker + 1) % family->workers);
    return TR_SAME;
}

static tr_next elder_note(tr_self *self, const struct note *note)
{
    /* Killed and stopping in one turn: the kill came first. */
    if (note->n == 1)
        tr_kill(self, tr_me(self));
    return TR_STOP;
}

static tr_next elder_stop(void)
{
    diary("elder");
    return TR_SAME;
}
TR_BEHAVIOR(elder, void, TR_SETUP_WITH(family, elder_set_up), TR_ON(note, elder_note),
            TR_ON(tr_post_stop, elder_stop));

static elder_ref elder_at(struct stage *stage, uint32_t levels)
{
    elder_ref elder;
    handled = post_stops = 0;
    ck_assert_int_eq(tr_try_spawn_at(stage->client,
                                     &elder,
                                     stage_far(stage),
                                     elder,
                                     "elder",
                                     family,
                                     .levels = levels,
                                     .worker = stage_far(stage),
                                     .workers = stage->workers),
                     TR_OK);
    tr_kit_settle(stage->kit);
    ck_assert_uint_eq(stage_live(stage), levels + 2);
    return elder;
}

static void play_family(struct stage *stage)
{
    elder_ref elder = elder_at(stage, 2);
    queue_notes(stage, victim_ref_of(grandchild), QUEUED);
    tr_kill(stage->client, elder);
    /* Meanwhile the victim may handle some; but the kill arrives, and what is left is lost. */
    tr_kit_settle(stage->kit);
    ck_assert_str_eq(diary_read(), "elder elder elder");
    ck_assert_uint_eq(post_stops, 1);
    ck_assert_uint_eq(handled + stage_dead_letters(stage), QUEUED);
    ck_assert_uint_eq(stage_live(stage), 0);
    if (stage->workers == 1)
        ck_assert_uint_lt(handled, QUEUED);
}

TEST(a_kill_kills_the_whole_tree_below, "Y-02", "L-06", "LC-08")
{
    stage_play(play_family);
}

/* Steps until an actor is closed, that is, stopping. */
static void step_until_closed(struct stage *stage, tr_ref ref)
{
    while (tr_stop(stage->client, ref) != TR_STOPPED)
        ck_assert(tr_kit_step(stage->kit));
}

/* The middle one stops by a pill and waits for a child with a long queue; then all are killed. */
static void play_escalation(struct stage *stage)
{
    enum { LONG = 1000 };
    elder_ref elder = elder_at(stage, 2);
    queue_notes(stage, victim_ref_of(grandchild), LONG);
    tr_stop(stage->client, middle);
    step_until_closed(stage, middle);
    ck_assert_int_eq(tr_kill(stage->client, elder), TR_OK);
    tr_kit_settle(stage->kit);
    ck_assert_uint_lt(handled, LONG);
    ck_assert_uint_eq(handled + stage_dead_letters(stage), LONG);
    ck_assert_uint_eq(post_stops, 1);
    ck_assert_str_eq(diary_read(), "elder elder elder");
    ck_assert_uint_eq(stage_live(stage), 0);
}

TEST(a_kill_from_above_reaches_children_of_one_that_is_stopping, "Y-02", "L-06", "LC-09")
{
    stage_play(play_escalation);
}

static void play_pill_then_kill_of_the_top(struct stage *stage)
{
    enum { LONG = 1000 };
    elder_ref elder = elder_at(stage, 0);
    queue_notes(stage, victim_ref_of(grandchild), LONG);
    tr_stop(stage->client, elder);
    step_until_closed(stage, tr_any(elder));
    tr_kit_settle(stage->kit);
    /* Children of one that stops by a pill handle what they have. */
    ck_assert_uint_eq(handled, LONG);
    ck_assert_uint_eq(post_stops, 1);
    ck_assert_uint_eq(stage_dead_letters(stage), 0);
}

TEST(a_pill_lets_the_children_handle_what_they_have, "Y-01", "L-06")
{
    stage_play(play_pill_then_kill_of_the_top);
}

static void play_kill_and_stop_in_one_turn(struct stage *stage)
{
    elder_ref elder = elder_at(stage, 0);
    if (stage->seed % 2) {
        /* Killed by itself in the turn in which it answers with stop. */
        queue_notes(stage, victim_ref_of(grandchild), QUEUED);
        tr_tell(stage->client, elder, note, .n = 1);
        tr_kit_settle(stage->kit);
        ck_assert_uint_lt(handled, QUEUED / 2);
        ck_assert_uint_eq(handled + stage_dead_letters(stage), QUEUED);
    } else {
        queue_notes(stage, victim_ref_of(grandchild), QUEUED);
        tr_tell(stage->client, elder, note, .n = 0);
        tr_kit_settle(stage->kit);
        ck_assert_uint_eq(handled, QUEUED);
        ck_assert_uint_eq(stage_dead_letters(stage), 0);
    }
    ck_assert_uint_eq(post_stops, 1);
    ck_assert_uint_eq(stage_live(stage), 0);
}

TEST(a_kill_before_the_answer_stop_counts_as_a_kill, "LC-09", "Y-02")
{
    stage_play_once(play_kill_and_stop_in_one_turn, 1, 1);
    stage_play_once(play_kill_and_stop_in_one_turn, 1, 2);
}

/* ---- Real threads. ---- */

TR_MESSAGE(flood, (ref, client));
TR_MESSAGE(flooded, (u64, n));
TR_MESSAGE(over, (u64, n));

struct flooder {
    tr_ref client;
    uint64_t turns;
};

/* Never without mail: each turn sends the next. */
TR_ACTOR(flooder, flood, note);
static tr_next flooder_flood(tr_self *self, struct flooder *flooder, const struct flood *flood)
{
    flooder->client = flood->client;
    for (uint64_t n = 0; n < 8; n++)
        tr_tell(self, tr_me(self), note, .n = n);
    tr_tell(self, flood->client, flooded);
    return TR_SAME;
}

static tr_next flooder_note(tr_self *self, struct flooder *flooder, const struct note *note)
{
    flooder->turns++;
    tr_tell(self, tr_me(self), note, .n = note->n);
    return TR_SAME;
}

static tr_next flooder_stop(tr_self *self, struct flooder *flooder)
{
    tr_tell(self, flooder->client, over, .n = flooder->turns);
    return TR_SAME;
}
TR_BEHAVIOR(flooder, struct flooder, TR_ON(flood, flooder_flood), TR_ON(note, flooder_note),
            TR_ON(tr_post_stop, flooder_stop));

TEST(on_threads_a_kill_ends_an_actor_that_is_never_idle, "Y-02", "LC-08")
{
    struct theatre theatre = theatre_open(3);
    uint64_t rounds = test_scale(200, 20000);
    for (uint64_t round = 0; round < rounds; round++) {
        flooder_ref flooder;
        ck_assert_int_eq(tr_try_spawn_at(theatre.client, &flooder, (int)(round % 3), flooder, NULL),
                         TR_OK);
        tr_tell(theatre.client, flooder, flood, .client = tr_client_ref(theatre.client));
        ck_assert_ptr_nonnull(tr_receive(theatre.client, flooded, STAGE_PATIENCE));
        ck_assert_int_eq(tr_kill(theatre.client, flooder), TR_OK);
        ck_assert_ptr_nonnull(tr_receive(theatre.client, over, STAGE_PATIENCE));
        ck_assert_int_eq(tr_kill(theatre.client, flooder), TR_STOPPED);
    }
    theatre_close(&theatre);
}

TEST(on_threads_a_pill_ends_an_actor_that_is_never_idle, "Y-01", "LC-07")
{
    struct theatre theatre = theatre_open(3);
    uint64_t rounds = test_scale(200, 20000);
    for (uint64_t round = 0; round < rounds; round++) {
        flooder_ref flooder;
        ck_assert_int_eq(tr_try_spawn_at(theatre.client, &flooder, (int)(round % 3), flooder, NULL),
                         TR_OK);
        tr_tell(theatre.client, flooder, flood, .client = tr_client_ref(theatre.client));
        ck_assert_ptr_nonnull(tr_receive(theatre.client, flooded, STAGE_PATIENCE));
        ck_assert_int_eq(tr_stop(theatre.client, flooder), TR_OK);
        ck_assert_ptr_nonnull(tr_receive(theatre.client, over, STAGE_PATIENCE));
    }
    theatre_close(&theatre);
}

SUITE("kill", after_a_kill_nothing_queued_is_handled_and_post_stop_runs,
      a_kill_in_the_middle_of_a_queue_ends_it_there,
      an_actor_that_is_killed_before_its_set_up_gets_no_signal,
      an_actor_that_kills_itself_ends_its_turn_first,
      a_stranger_and_a_child_are_killed_on_every_worker,
      a_kill_overtakes_a_pill_and_a_pill_does_not_undo_a_kill, a_kill_kills_the_whole_tree_below,
      a_kill_from_above_reaches_children_of_one_that_is_stopping,
      a_pill_lets_the_children_handle_what_they_have,
      a_kill_before_the_answer_stop_counts_as_a_kill,
      on_threads_a_kill_ends_an_actor_that_is_never_idle,
      on_threads_a_pill_ends_an_actor_that_is_never_idle)
