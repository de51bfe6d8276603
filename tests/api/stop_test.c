/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The poison pill, and how actors end: leaf first, with nothing lost.
 */
#include "support/stage.h"

TR_MESSAGE(note, (u64, n));
TR_MESSAGE(grow, (u32, levels), (u32, width), (i32, workers), (u64, id));
TR_MESSAGE(end, (u32, how));
TR_MESSAGE(peer, (ref, who));

/* ---- A tree over all workers. As in a heap, child c of node n is n * width + c, c from 1. ---- */

enum { NODES_MAX = 512 };
static uint64_t ended_at[NODES_MAX]; /* when a node's PostStop ran, from 1 on */
static uint64_t ended;
static uint64_t noted;
static unsigned tree_width;
static tr_ref nodes[NODES_MAX];

enum end_how { END_BY_STOP, END_BY_FAILURE, END_BY_CRASH, END_BY_PILL, END_BY_KILL, END_HOWS };

struct node {
    uint64_t id;
};

TR_ACTOR(node, note, end);
static tr_next node_set_up(tr_self *self, struct node *node, const struct grow *grow)
{
    node->id = grow->id;
    nodes[grow->id] = tr_me(self);
    for (uint32_t i = 0; grow->levels && i < grow->width; i++) {
        uint64_t id = grow->id * grow->width + i + 1;
        int worker = (int)(tr_random(self) % (uint64_t)grow->workers);
        (void)tr_spawn_at(self,
                          worker,
                          node,
                          tr_format(self, "n%" PRIu64, id),
                          grow,
                          .id = id,
                          .levels = grow->levels - 1,
                          .width = grow->width,
                          .workers = grow->workers);
    }
    return TR_SAME;
}

static tr_next node_note(void)
{
    noted++;
    return TR_SAME;
}

static tr_next node_end(tr_self *self, const struct end *end)
{
    switch ((enum end_how)end->how) {
    case END_BY_FAILURE:
        return tr_fail(self, TR_FAILED, "on purpose");
    case END_BY_CRASH:
        tr_crash(self, TR_FAILED, "on purpose");
    case END_BY_STOP:
    case END_BY_PILL:
    case END_BY_KILL:
    case END_HOWS:
        break;
    }
    return TR_STOP;
}

static tr_next node_stop(tr_self *self, struct node *node)
{
    node_ref child = node_ref_of(TR_NOBODY);
    tr_error error;
    ended_at[node->id] = ++ended;
    /* The children are gone, and so are their names. */
    ck_assert_uint_eq(tr_children(self, NULL, 0), 0);
    for (unsigned i = 1; i <= tree_width; i++) {
        const char *name = tr_format(self, "n%" PRIu64, node->id * tree_width + i);
        ck_assert(tr_is_nobody(tr_child(self, node, name)));
    }
    ck_assert(tr_is_same(tr_find(self, node, tr_path(self)), tr_me(self)));
    ck_assert_int_eq(tr_try_spawn_error(self, &child, &error, node, NULL, grow), TR_STOPPING);
    ck_assert_int_eq(error.status, TR_STOPPING);
    ck_assert(tr_is_nobody(child));
    /* Nobody reaches it any more, itself included. */
    ck_assert_int_eq(tr_tell(self, tr_me(self), note), TR_STOPPED);
    return TR_SAME;
}
TR_BEHAVIOR(node, struct node, TR_SETUP_WITH(grow, node_set_up), TR_ON(note, node_note),
            TR_ON(end, node_end), TR_ON(tr_post_stop, node_stop),
            TR_OPTIONS(.restart = TR_TEMPORARY));

static node_ref plant(struct stage *stage, uint32_t levels, uint32_t width)
{
    node_ref root;
    ended = noted = 0;
    tree_width = width;
    memset(ended_at, 0, sizeof ended_at);
    ck_assert_int_eq(tr_try_spawn_at(stage->client,
                                     &root,
                                     stage_far(stage),
                                     node,
                                     "root",
                                     grow,
                                     .levels = levels,
                                     .width = width,
                                     .workers = stage->workers),
                     TR_OK);
    tr_kit_settle(stage->kit);
    return root;
}

static void check_leaf_first(uint64_t count, uint64_t width)
{
    ck_assert_uint_eq(ended, count);
    for (uint64_t id = 1; id < count; id++) {
        ck_assert_uint_ne(ended_at[id], 0);
        ck_assert_uint_lt(ended_at[id], ended_at[(id - 1) / width]);
    }
}

static void play_leaf_first(struct stage *stage)
{
    enum { LEVELS = 3, COUNT = 1 + 3 + 9 + 27 };
    for (uint32_t how = 0; how < END_HOWS; how++) {
        node_ref root = plant(stage, LEVELS, 3);
        ck_assert_uint_eq(stage_live(stage), COUNT);
        uint64_t letters = stage_dead_letters(stage);
        for (uint64_t id = 1; id < COUNT; id++)
            ck_assert_int_eq(tr_tell(stage->client, nodes[id], note, .n = id), TR_OK);
        if (how == END_BY_PILL)
            tr_stop(stage->client, root);
        else if (how == END_BY_KILL)
            tr_kill(stage->client, root);
        else
            tr_tell(stage->client, root, end, .how = how);
        tr_kit_settle(stage->kit);
        check_leaf_first(COUNT, 3);
        ck_assert_uint_eq(stage_live(stage), 0);
        /* Each node told itself a note in PostStop; who was not killed handled the one it had. */
        uint64_t lost = stage_dead_letters(stage) - letters - COUNT;
        ck_assert_uint_eq(lost + noted, COUNT - 1);
        if (how != END_BY_KILL)
            ck_assert_uint_eq(lost, 0);
        tr_kit_check(stage->kit);
    }
}

TEST(the_end_goes_leaf_first_over_levels_and_workers, "L-06", "Y-01", "G-06")
{
    stage_play(play_leaf_first);
}

static void play_inner_node(struct stage *stage)
{
    enum { COUNT = 1 + 3 + 9 };
    node_ref root = plant(stage, 2, 3);
    tr_stop(stage->client, nodes[2]);
    tr_kit_settle(stage->kit);
    ck_assert_uint_eq(ended, 4);
    ck_assert_uint_eq(ended_at[2], 4);
    ck_assert_uint_eq(stage_live(stage), COUNT - 4);
    ck_assert(tr_is_nobody(tr_find(stage->client, node, "/user/root/n2")));
    ck_assert(tr_is_nobody(tr_find(stage->client, node, "/user/root/n2/n7")));
    ck_assert(!tr_is_nobody(tr_find(stage->client, node, "/user/root/n1/n4")));
    tr_stop(stage->client, root);
}

TEST(the_end_of_an_inner_actor_takes_its_own_tree_only, "L-06", "L-07")
{
    stage_play(play_inner_node);
}

/* ---- What is left. ---- */

static void play_leftovers(struct stage *stage)
{
    node_ref root = plant(stage, 1, 3);
    uint64_t before = stage_dead_letters(stage);
    tr_tell(stage->client, root, note, .n = 1);
    tr_tell(stage->client, root, end);
    for (uint64_t n = 0; n < 10; n++)
        ck_assert_int_eq(tr_tell(stage->client, root, note, .n = n), TR_OK);
    tr_stop(stage->client, root);
    tr_kit_settle(stage->kit);
    ck_assert_uint_eq(noted, 1);
    /* Ten that were taken, and one of each PostStop that was not. */
    ck_assert_uint_eq(stage_dead_letters(stage) - before, 10 + 4);
    ck_assert_uint_eq(stage_dead_letters_to(stage, tr_any(root), "note", TR_STOPPED), 11);
    ck_assert_uint_eq(stage_counters(stage).refused, 4);
    ck_assert_int_eq(tr_tell(stage->client, root, note), TR_STOPPED);
    ck_assert_uint_eq(stage_dead_letters_to(stage, tr_any(root), "note", TR_STOPPED), 12);
}

TEST(what_is_left_in_the_mailbox_becomes_dead_letters, "L-06", "L-03", "Y-01")
{
    stage_play(play_leftovers);
}

/* While it waits for its children a stopping actor handles nothing. */
static void play_closed_while_stopping(struct stage *stage)
{
    if (stage->workers == 1)
        return;
    node_ref root = plant(stage, 2, 2);
    tr_tell(stage->client, root, end);
    unsigned refused = 0;
    bool is_busy = true;
    while (is_busy) {
        is_busy = tr_kit_step(stage->kit);
        bool is_ended = ended_at[0] != 0;
        uint64_t live = stage_live(stage);
        if (tr_tell(stage->client, root, note) == TR_STOPPED)
            refused += !is_ended && live == 7;
        tr_kit_check(stage->kit);
    }
    tr_kit_settle(stage->kit);
    ck_assert_uint_gt(refused, 0);
    check_leaf_first(7, 2);
    ck_assert_uint_eq(stage_live(stage), 0);
}

TEST(a_stopping_actor_refuses_mail_while_its_children_end, "L-03", "L-06")
{
    stage_play(play_closed_while_stopping);
}

/* ---- The pill: what came before it is handled, what comes behind is not. ---- */

TR_ACTOR(reader, note);
static tr_next reader_note(const struct note *note)
{
    diary("%" PRIu64, note->n);
    return TR_SAME;
}

static tr_next reader_stop(void)
{
    diary("stop");
    return TR_SAME;
}
TR_BEHAVIOR(reader, void, TR_ON(note, reader_note), TR_ON(tr_post_stop, reader_stop),
            TR_OPTIONS(.restart = TR_TEMPORARY));

TR_ACTOR(writer, peer);
static tr_next writer_peer(tr_self *self, const struct peer *peer)
{
    reader_ref reader = reader_ref_of(peer->who);
    for (uint64_t n = 1; n <= 3; n++)
        ck_assert_int_eq(tr_tell(self, reader, note, .n = n), TR_OK);
    ck_assert_int_eq(tr_stop(self, reader), TR_OK);
    for (uint64_t n = 4; n <= 6; n++)
        (void)tr_tell(self, reader, note, .n = n);
    (void)tr_stop(self, reader);
    return TR_SAME;
}
TR_BEHAVIOR(writer, void, TR_ON(peer, writer_peer), TR_OPTIONS(.restart = TR_TEMPORARY));

static void play_order_of_the_pill(struct stage *stage)
{
    for (int place = 0; place < stage->workers; place++) {
        reader_ref reader;
        writer_ref writer;
        ck_assert_int_eq(tr_try_spawn_at(stage->client, &reader, place, reader, NULL), TR_OK);
        ck_assert_int_eq(tr_try_spawn(stage->client, &writer, writer, NULL), TR_OK);
        tr_kit_settle(stage->kit);
        tr_tell(stage->client, writer, peer, .who = tr_any(reader));
        tr_kit_settle(stage->kit);
        ck_assert_str_eq(diary_read(), "1 2 3 stop");
        ck_assert_uint_eq(stage_dead_letters_to(stage, tr_any(reader), "note", TR_STOPPED), 3);
        ck_assert_int_eq(tr_stop(stage->client, reader), TR_STOPPED);
        tr_stop(stage->client, writer);
        tr_kit_settle(stage->kit);
        ck_assert_str_eq(diary_read(), "");
        ck_assert_uint_eq(stage_live(stage), 0);
    }
}

TEST(the_pill_keeps_its_place_behind_earlier_messages, "Y-01", "LC-07", "SG-02", "LC-09")
{
    stage_play(play_order_of_the_pill);
}

static void play_pill_from_outside(struct stage *stage)
{
    reader_ref reader;
    ck_assert_int_eq(tr_try_spawn_at(stage->client, &reader, stage_far(stage), reader, NULL),
                     TR_OK);
    if (stage->seed % 2)
        tr_kit_settle(stage->kit); /* otherwise all of it finds the actor New */
    tr_tell(stage->client, reader, note, .n = 1);
    tr_tell(stage->client, reader, note, .n = 2);
    ck_assert_int_eq(tr_stop(stage->client, reader), TR_OK);
    ck_assert_int_eq(tr_tell(stage->client, reader, note, .n = 3), TR_OK);
    ck_assert_int_eq(tr_stop(stage->client, reader), TR_OK);
    tr_kit_settle(stage->kit);
    ck_assert_str_eq(diary_read(), "1 2 stop");
    ck_assert_uint_eq(stage_dead_letters(stage), 1);
    ck_assert_uint_eq(stage_dead_letters_to(stage, tr_any(reader), "note", TR_STOPPED), 1);
    /* Stopping the stopped does no harm and makes no dead letter. */
    ck_assert_int_eq(tr_stop(stage->client, reader), TR_STOPPED);
    ck_assert_int_eq(tr_stop(stage->client, TR_NOBODY), TR_STOPPED);
    ck_assert_uint_eq(stage_dead_letters(stage), 1);
    ck_assert_str_eq(diary_read(), "");
}

TEST(two_pills_from_outside_stop_once, "Y-01", "LC-07", "LC-09", "LC-10", "SG-02")
{
    stage_play(play_pill_from_outside);
}

/* ---- To oneself. ---- */

TR_ACTOR(quitter, note);
static tr_next quitter_note(tr_self *self, const struct note *note)
{
    diary("%" PRIu64, note->n);
    if (note->n == 2) {
        ck_assert_int_eq(tr_tell(self, tr_me(self), note, .n = 10), TR_OK);
        ck_assert_int_eq(tr_stop(self, tr_me(self)), TR_OK);
        ck_assert_int_eq(tr_tell(self, tr_me(self), note, .n = 11), TR_STOPPED);
        ck_assert_int_eq(tr_stop(self, tr_me(self)), TR_OK);
        diary("still");
    }
    return TR_SAME;
}
TR_BEHAVIOR(quitter, void, TR_ON(note, quitter_note), TR_ON(tr_post_stop, reader_stop),
            TR_OPTIONS(.restart = TR_TEMPORARY));

static void play_self_stop(struct stage *stage)
{
    quitter_ref quitter;
    ck_assert_int_eq(tr_try_spawn_at(stage->client, &quitter, stage_far(stage), quitter, NULL),
                     TR_OK);
    for (uint64_t n = 1; n <= 4; n++)
        tr_tell(stage->client, quitter, note, .n = n);
    tr_kit_settle(stage->kit);
    ck_assert_str_eq(diary_read(), "1 2 still 3 4 10 stop");
    ck_assert_uint_eq(stage_dead_letters(stage), 1);
    ck_assert_uint_eq(stage_live(stage), 0);
}

TEST(an_actor_that_stops_itself_handles_what_it_has, "Y-01", "LC-07")
{
    stage_play(play_self_stop);
}

/* ---- Children and strangers. ---- */

TR_ACTOR(father, peer, note);
static tr_next father_peer(tr_self *self, const struct peer *peer)
{
    reader_ref child = tr_spawn(self, reader, "child");
    ck_assert_int_eq(tr_stop_child(self, peer->who), TR_NOT_FOUND);
    ck_assert_int_eq(tr_stop_child(self, tr_me(self)), TR_NOT_FOUND);
    ck_assert_int_eq(tr_stop_child(self, TR_NOBODY), TR_NOT_FOUND);
    ck_assert_int_eq(tr_stop_child(self, child), TR_OK);
    ck_assert_int_eq(tr_stop_child(self, child), TR_OK);
    return TR_SAME;
}

static tr_next father_note(tr_self *self, const struct note *note)
{
    (void)note;
    ck_assert(tr_is_nobody(tr_child(self, reader, "child")));
    ck_assert_uint_eq(tr_children(self, NULL, 0), 0);
    diary("alone");
    return TR_SAME;
}
TR_BEHAVIOR(father, void, TR_ON(peer, father_peer), TR_ON(note, father_note),
            TR_OPTIONS(.restart = TR_TEMPORARY));

static void play_strangers(struct stage *stage)
{
    reader_ref stranger;
    father_ref father;
    ck_assert_int_eq(tr_try_spawn_at(stage->client, &stranger, stage_far(stage), reader, NULL),
                     TR_OK);
    ck_assert_int_eq(tr_try_spawn(stage->client, &father, father, NULL), TR_OK);
    tr_tell(stage->client, father, peer, .who = tr_any(stranger));
    tr_kit_settle(stage->kit);
    ck_assert_str_eq(diary_read(), "stop");
    tr_tell(stage->client, stranger, note, .n = 5);
    tr_tell(stage->client, father, note);
    tr_kit_settle(stage->kit);
    const char *text = diary_read();
    ck_assert_ptr_nonnull(strstr(text, "5"));
    ck_assert_ptr_nonnull(strstr(text, "alone"));
    ck_assert_uint_eq(stage_live(stage), 2);
    ck_assert_uint_eq(stage_dead_letters(stage), 0);
}

TEST(stop_child_refuses_strangers_and_is_harmless_twice, "LC-10")
{
    stage_play(play_strangers);
}

/* ---- Real threads: what one sender sent before its pill is handled. ---- */

struct tally {
    uint64_t notes;
    bool is_disordered;
};

TR_MESSAGE(tally_is, (u64, notes), (bool, is_ordered));
TR_MESSAGE(tally_for, (ref, client), (u64, count));

struct counted {
    struct tally tally;
    tr_ref client;
};

TR_ACTOR(counted, note);
static tr_next counted_set_up(struct counted *counted, const struct tally_for *with)
{
    counted->client = with->client;
    return TR_SAME;
}

static tr_next counted_note(struct counted *counted, const struct note *note)
{
    counted->tally.is_disordered |= note->n != counted->tally.notes;
    counted->tally.notes++;
    return TR_SAME;
}

static tr_next counted_stop(tr_self *self, struct counted *counted)
{
    tr_tell(self,
            counted->client,
            tally_is,
            .notes = counted->tally.notes,
            .is_ordered = !counted->tally.is_disordered);
    return TR_SAME;
}
TR_BEHAVIOR(counted, struct counted, TR_SETUP_WITH(tally_for, counted_set_up),
            TR_ON(note, counted_note), TR_ON(tr_post_stop, counted_stop),
            TR_OPTIONS(.restart = TR_TEMPORARY));

TR_ACTOR(sender, tally_for);
static tr_next sender_go(tr_self *self, const struct tally_for *with)
{
    int other = (tr_worker(self) + 1) % tr_system_workers(tr_system_of(self));
    counted_ref counted =
        tr_spawn_at(self, other, counted, NULL, tally_for, .client = with->client);
    for (uint64_t n = 0; n < with->count; n++)
        tr_tell(self, counted, note, .n = n);
    tr_stop(self, counted);
    for (uint64_t n = 0; n < 5; n++)
        tr_tell(self, counted, note, .n = 1000000);
    return TR_SAME;
}
TR_BEHAVIOR(sender, void, TR_ON(tally_for, sender_go), TR_OPTIONS(.restart = TR_TEMPORARY));

TEST(on_threads_the_pill_keeps_its_place, "SG-02", "LC-07", "Y-01")
{
    enum { NOTES = 200, SENDERS = 3 };
    struct theatre theatre = theatre_open(3);
    uint64_t rounds = test_scale(300, 20000);
    sender_ref senders[SENDERS];
    for (int i = 0; i < SENDERS; i++)
        ck_assert_int_eq(tr_try_spawn_at(theatre.client, &senders[i], i, sender, NULL), TR_OK);
    for (uint64_t round = 0; round < rounds; round++) {
        for (int i = 0; i < SENDERS; i++)
            tr_tell(theatre.client,
                    senders[i],
                    tally_for,
                    .count = NOTES,
                    .client = tr_client_ref(theatre.client));
        for (int i = 0; i < SENDERS; i++) {
            const struct tally_is *tally = tr_receive(theatre.client, tally_is, STAGE_PATIENCE);
            ck_assert_ptr_nonnull(tally);
            ck_assert_uint_eq(tally->notes, NOTES);
            ck_assert(tally->is_ordered);
        }
    }
    theatre_close(&theatre);
}

/* ---- A hundred thousand. ---- */

TR_MESSAGE(crowd, (u32, levels), (u32, width), (i32, workers), (ref, client));
TR_ACTOR(member);
static tr_next member_set_up(tr_self *self, const struct crowd *crowd)
{
    for (uint32_t i = 0; crowd->levels && i < crowd->width; i++) {
        (void)tr_spawn_at(self,
                          (int)(i % (uint32_t)crowd->workers),
                          member,
                          NULL,
                          crowd,
                          .levels = crowd->levels - 1,
                          .width = crowd->width,
                          .workers = crowd->workers,
                          .client = crowd->client);
    }
    return TR_SAME;
}
TR_BEHAVIOR(member, void, TR_SETUP_WITH(crowd, member_set_up), TR_OPTIONS(.restart = TR_TEMPORARY));

/* A sanitizer needs too long for all of them. */
enum { WIDTH = TEST_HAS_SANITIZER ? 60 : 317, CROWD = 1 + WIDTH + WIDTH * WIDTH };

static void play_crowd(struct stage *stage)
{
    member_ref root;
    ck_assert_int_eq(tr_try_spawn(stage->client,
                                  &root,
                                  member,
                                  NULL,
                                  crowd,
                                  .levels = 2,
                                  .width = WIDTH,
                                  .workers = stage->workers),
                     TR_OK);
    tr_kit_settle(stage->kit);
    ck_assert_uint_eq(stage_live(stage), CROWD);
    if (stage->seed % 2)
        tr_stop(stage->client, root);
    else
        tr_kill(stage->client, root);
    tr_kit_settle(stage->kit);
    ck_assert_uint_eq(stage_live(stage), 0);
    ck_assert_uint_eq(stage_dead_letters(stage), 0);
}

TEST(the_end_of_a_hundred_thousand_makes_no_dead_letters, "MB-12", "L-06")
{
    for (uint64_t seed = 1; seed <= 2; seed++) {
        stage_play_once(play_crowd, 1, seed);
        stage_play_once(play_crowd, STAGE_WORKERS, seed);
    }
}

TEST(on_threads_the_end_of_a_hundred_thousand_makes_no_dead_letters, "MB-12", "L-06")
{
    struct theatre theatre = theatre_open(3);
    member_ref root;
    ck_assert_int_eq(
        tr_try_spawn(
            theatre.client, &root, member, NULL, crowd, .levels = 2, .width = WIDTH, .workers = 3),
        TR_OK);
    ck_assert_int_eq(tr_spawn_wait(theatre.client, root, STAGE_PATIENCE, NULL), TR_OK);
    tr_system_shutdown(theatre.system, STAGE_PATIENCE);
    ck_assert_int_eq(tr_system_wait(theatre.system), TR_OK);
    ck_assert_uint_eq(tr_system_dead_letters(theatre.system, NULL, 0, NULL), 0);
    tr_counters counters;
    tr_system_counters(theatre.system, &counters);
    ck_assert_uint_eq(counters.spawned, counters.stopped);
    theatre_close(&theatre);
}

SUITE("stop", the_end_goes_leaf_first_over_levels_and_workers,
      the_end_of_an_inner_actor_takes_its_own_tree_only,
      what_is_left_in_the_mailbox_becomes_dead_letters,
      a_stopping_actor_refuses_mail_while_its_children_end,
      the_pill_keeps_its_place_behind_earlier_messages, two_pills_from_outside_stop_once,
      an_actor_that_stops_itself_handles_what_it_has,
      stop_child_refuses_strangers_and_is_harmless_twice, on_threads_the_pill_keeps_its_place,
      the_end_of_a_hundred_thousand_makes_no_dead_letters,
      on_threads_the_end_of_a_hundred_thousand_makes_no_dead_letters)
