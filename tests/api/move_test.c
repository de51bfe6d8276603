/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Actors that move between workers: the order of their mail, what they take along, and who stays.
 *
 * move_timers_test.c has their timers, move_orders_test.c what others do to them meanwhile,
 * move_model_test.c all of it by chance and without memory; tests/stress has real threads.
 */
#include "support/kits.h"

static uint64_t chance_bits;

/* The test's own dice: the same for the same seed, wherever actors are. */
static uint32_t chance(uint32_t count)
{
    chance_bits = chance_bits * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(chance_bits >> 33) % count;
}

/* ---- Order. ---- */

TR_MESSAGE(letter, (u32, from), (u32, n), (u32, lives), (str, text));
TR_MESSAGE(number, (u32, index));
TR_ACTOR(walker, letter);

enum { WALKERS = 6, CLIENT = WALKERS, LIVES = 6 };

static walker_ref walkers[WALKERS];
static uint32_t sent[WALKERS + 1][WALKERS];
static uint32_t arrived[WALKERS + 1][WALKERS];
static uint32_t places[WALKERS]; /* one bit for each worker that has run it */

struct walker {
    uint32_t index;
};

static tr_next walker_setup(struct walker *walker, const struct number *message)
{
    walker->index = message->index;
    return TR_SAME;
}

static char large_text[700];

/* One in four does not fit into its envelope. */
static const char *letter_text(uint32_t n)
{
    memset(large_text, 'a' + (char)(n % 26), sizeof large_text - 1);
    return n % 4 ? NULL : large_text;
}

static tr_next walker_letter(tr_self *self, struct walker *walker, const struct letter *message)
{
    uint32_t me = walker->index;
    ck_assert_msg(message->n == arrived[message->from][me],
                  "seed %" PRIu64 ": %u got %u of %u, not %u",
                  kits_seed,
                  me,
                  message->n,
                  message->from,
                  arrived[message->from][me]);
    arrived[message->from][me]++;
    places[me] |= 1u << tr_worker(self);
    ck_assert_int_eq(message->text != NULL, message->n % 4 == 0);
    ck_assert(!message->text || message->text[698] == 'a' + (char)(message->n % 26));
    for (uint32_t i = chance(3); message->lives && i < 3; i++) {
        uint32_t to = chance(WALKERS);
        uint32_t n = sent[me][to]++;
        ck_assert_int_eq(tr_tell(self,
                                 walkers[to],
                                 letter,
                                 .from = me,
                                 .n = n,
                                 .lives = message->lives - 1,
                                 .text = letter_text(n)),
                         TR_OK);
    }
    return TR_SAME;
}
TR_BEHAVIOR(walker, struct walker, TR_SETUP_WITH(number, walker_setup),
            TR_ON(letter, walker_letter));

static uint64_t places_seen; /* of all walkers of all plays */

static void play_order(void)
{
    chance_bits = kits_seed;
    memset(sent, 0, sizeof sent);
    memset(arrived, 0, sizeof arrived);
    memset(places, 0, sizeof places);
    for (uint32_t i = 0; i < WALKERS; i++)
        ck_assert_int_eq(
            tr_try_spawn_at(
                test, &walkers[i], (int)i % (home + 1), walker, NULL, number, .index = i),
            TR_OK);
    for (int i = 0; i < 40; i++) {
        uint32_t to = chance(WALKERS);
        uint32_t n = sent[CLIENT][to]++;
        ck_assert_int_eq(tr_tell(test,
                                 walkers[to],
                                 letter,
                                 .from = CLIENT,
                                 .n = n,
                                 .lives = LIVES,
                                 .text = letter_text(n)),
                         TR_OK);
        kit_steps(chance(12));
        tr_kit_check(kit);
    }
    tr_kit_settle(kit);
    ck_assert_mem_eq(sent, arrived, sizeof sent);
    for (int i = 0; i < WALKERS; i++)
        places_seen += (uint64_t)__builtin_popcount(places[i]);
}

TEST(mail_of_one_to_another_stays_in_order_while_both_move, "D-07", "WP-12")
{
    places_seen = 0;
    kits_each_moving(40, play_order);
    ck_assert_uint_gt(places_seen, 3 * TEST_SEEDS(40) * WALKERS * 3 / 2);
}

/* ---- What it takes along. ---- */

TR_MESSAGE(poke, (u32, n));
TR_MESSAGE(keep, (u32, n));
TR_ACTOR(rich, poke, keep);
TR_BEHAVIOR_DECLARE(richer);
TR_BEHAVIOR_DECLARE(richest);

enum { LARGE = 5000 };

struct rich {
    uint32_t pokes;
    uint32_t *heap; /* of tr_alloc: as many words as pokes */
    unsigned char large[LARGE];
};

static rich_ref rich;
static uint32_t rich_next;    /* the number of the next poke */
static uint32_t rich_cleaned; /* incarnations that have ended */
static uint32_t rich_begun;
static uint32_t keep_next;                     /* of those that were stashed */
static enum { RICH, RICHER, RICHEST } rich_as; /* its behavior */
static bool rich_has_failed;
static int rich_worker;
static uint32_t rich_walks;

static void rich_clean(void *counter)
{
    (*(uint32_t *)counter)++;
}

static tr_next rich_setup(tr_self *self, struct rich *state)
{
    rich_begun++;
    rich_as = RICH;
    memset(state->large, (int)rich_begun, sizeof state->large);
    tr_at_end(self, &rich_cleaned, rich_clean);
    return TR_SAME;
}

static void rich_look(tr_self *self, struct rich *state)
{
    for (uint32_t i = 0; i < state->pokes; i++)
        ck_assert_uint_eq(state->heap[i], i * rich_begun);
    ck_assert_uint_eq(state->large[0], (unsigned char)rich_begun);
    ck_assert_uint_eq(state->large[LARGE - 1], (unsigned char)rich_begun);
    ck_assert_str_eq(tr_path(self), "/user/rich");
    ck_assert(tr_is_same(tr_me(self), tr_any(rich)));
    ck_assert(tr_is_same(tr_any(tr_find(self, rich, "/user/rich")), tr_any(rich)));
    rich_walks += tr_worker(self) != rich_worker;
    rich_worker = tr_worker(self);
}

static tr_next rich_act(tr_self *self, struct rich *state, uint32_t n)
{
    ck_assert_uint_eq(n, rich_next++);
    rich_look(self, state);
    state->heap = tr_realloc(self, state->heap, (state->pokes + 1) * sizeof *state->heap);
    state->heap[state->pokes] = state->pokes * rich_begun;
    state->pokes++;
    switch (chance(16)) {
    case 0:
        if (rich_has_failed)
            break;
        rich_has_failed = true; /* too often would be its end */
        return tr_fail(self, TR_FAILED, "by chance");
    case 1:
        (void)tr_unstash(self, 1 + chance(3));
        break;
    case 2:
        rich_as = rich_as == RICHER ? RICHEST : RICHER;
        return rich_as == RICHER ? tr_become(self, richer) : tr_become(self, richest);
    default:
        break;
    }
    return TR_SAME;
}

#define RICH_POKE(function, as)                                                                    \
    static tr_next function(tr_self *self, struct rich *state, const struct poke *message)         \
    {                                                                                              \
        ck_assert_int_eq(rich_as, as);                                                             \
        return rich_act(self, state, message->n);                                                  \
    }
RICH_POKE(rich_poke, RICH)
RICH_POKE(richer_poke, RICHER)
RICH_POKE(richest_poke, RICHEST)

/* The first time it is set aside; those that come back do so in order. */
static bool keep_was_here[1000];

static tr_next rich_keep(tr_self *self, struct rich *state, const struct keep *message)
{
    rich_look(self, state);
    if (!keep_was_here[message->n]) {
        keep_was_here[message->n] = true;
        return tr_stash(self);
    }
    ck_assert_uint_ge(message->n, keep_next);
    keep_next = message->n + 1;
    return TR_SAME;
}
TR_BEHAVIOR(rich, struct rich, TR_SETUP(rich_setup), TR_ON(poke, rich_poke),
            TR_ON(keep, rich_keep));
TR_BEHAVIOR(richer, struct rich, TR_ON(poke, richer_poke), TR_ON(keep, rich_keep));
TR_BEHAVIOR(richest, struct rich, TR_ON(poke, richest_poke), TR_ON(keep, rich_keep));

static void play_rich(void)
{
    uint32_t pokes = 0;
    uint32_t keeps = 0;
    chance_bits = kits_seed;
    rich_next = rich_cleaned = rich_begun = keep_next = 0;
    memset(keep_was_here, 0, sizeof keep_was_here);
    ck_assert_int_eq(tr_try_spawn_at(test, &rich, home, rich, "rich"), TR_OK);
    for (int i = 0; i < 60; i++) {
        for (uint32_t k = chance(4); k; k--)
            ck_assert_int_eq(tr_tell(test, rich, poke, .n = pokes++), TR_OK);
        if (!chance(3))
            ck_assert_int_eq(tr_tell(test, rich, keep, .n = keeps++), TR_OK);
        kit_steps(chance(6));
        ck_assert(i == 0 || tr_is_same(tr_any(tr_find(test, rich, "/user/rich")), tr_any(rich)));
        tr_kit_check(kit);
        tr_kit_advance(kit, MS);
        if (rich_has_failed)
            tr_kit_advance(kit, TR_HOUR);
        rich_has_failed = false;
    }
    tr_kit_advance(kit, TR_MINUTE);
    ck_assert_uint_eq(rich_next, pokes);
    ck_assert_uint_eq(rich_cleaned + 1, rich_begun);
    tr_stop(test, rich);
    tr_kit_settle(kit);
    ck_assert_uint_eq(rich_cleaned, rich_begun);
}

TEST(state_heap_stash_name_and_behavior_go_along, "D-07", "WP-12")
{
    rich_walks = 0;
    kits_each_moving(40, play_rich);
    ck_assert_uint_gt(rich_walks, 3 * TEST_SEEDS(40));
}

/* ---- Replies that were put off. ---- */

TR_MESSAGE(answer, (u32, n));
TR_REQUEST(question, answer, (u32, n));
TR_ACTOR(oracle, question, poke);

enum { QUESTIONS = 24 };

struct oracle {
    tr_later laters[QUESTIONS];
    uint32_t asked[QUESTIONS];
    uint32_t count;
};

static tr_next oracle_question(tr_self *self, struct oracle *oracle, const struct question *message)
{
    oracle->laters[oracle->count] = tr_reply_later(self);
    oracle->asked[oracle->count++] = message->n;
    return TR_SAME;
}

/* Answers any one of them. */
static tr_next oracle_poke(tr_self *self, struct oracle *oracle)
{
    if (!oracle->count)
        return TR_SAME;
    uint32_t which = chance(oracle->count);
    tr_later later = oracle->laters[which];
    uint32_t n = oracle->asked[which];
    oracle->laters[which] = oracle->laters[--oracle->count];
    oracle->asked[which] = oracle->asked[oracle->count];
    ck_assert_int_eq(tr_reply_to(self, later, answer, .n = n + 1000), TR_OK);
    ck_assert_int_eq(tr_reply_to(self, later, answer, .n = n), TR_NOT_FOUND);
    return TR_SAME;
}
TR_BEHAVIOR(oracle, struct oracle, TR_ON(question, oracle_question), TR_ON(poke, oracle_poke));

static void play_later(void)
{
    oracle_ref oracle = {0};
    question_ask asks[QUESTIONS];
    chance_bits = kits_seed;
    ck_assert_int_eq(tr_try_spawn_at(test, &oracle, home, oracle, NULL), TR_OK);
    for (uint32_t i = 0; i < QUESTIONS; i++) {
        asks[i] = tr_ask(test, oracle, question, .n = i);
        if (chance(2))
            ck_assert_int_eq(tr_tell(test, oracle, poke), TR_OK);
        kit_steps(chance(8));
    }
    for (uint32_t i = 0; i < QUESTIONS; i++)
        ck_assert_int_eq(tr_tell(test, oracle, poke), TR_OK);
    for (uint32_t i = 0; i < QUESTIONS; i++) {
        const struct answer *reply;
        ck_assert_int_eq(tr_try_await(test, asks[i], &reply), TR_OK);
        ck_assert_msg(reply->n == i + 1000,
                      "seed %" PRIu64 ": question %u got the answer to %u",
                      kits_seed,
                      i,
                      reply->n - 1000);
    }
}

TEST(replies_that_were_put_off_go_to_who_asked, "D-07", "AK-13")
{
    kits_each_moving(40, play_later);
}

/* ---- Parents and children. ---- */

TR_MESSAGE(grow, (u32, depth));
TR_MESSAGE(wither, (u32, n));
TR_ACTOR(tree, grow, wither, poke);
TR_BEHAVIOR_DECLARE(tree);

enum { TREES = 400 };
static tr_ref trees[TREES];
static bool tree_lives[TREES];
static uint32_t tree_count;

static tr_next tree_start(tr_self *self)
{
    for (uint32_t i = 0; i < tree_count; i++)
        tree_lives[i] |= tr_is_same(trees[i], tr_me(self));
    return TR_SAME;
}

static tr_next tree_grow(tr_self *self, const struct grow *message)
{
    for (uint32_t i = 1 + chance(3); i && tree_count < TREES; i--) {
        tree_ref child = tr_spawn_at(self, (int)chance((uint32_t)home + 1), tree, NULL);
        trees[tree_count++] = tr_any(child);
        if (message->depth)
            tr_tell(self, child, grow, .depth = message->depth - 1);
    }
    return TR_SAME;
}

static tr_next tree_wither(tr_self *self)
{
    tr_ref children[64];
    size_t count = tr_children(self, children, 64);
    if (count && chance(2))
        tr_stop_child(self, children[chance((uint32_t)count)]);
    return chance(3) ? TR_SAME : TR_STOP;
}

static tr_next tree_end(tr_self *self)
{
    ck_assert_uint_eq(tr_children(self, NULL, 0), 0); /* it ends after its children */
    for (uint32_t i = 0; i < tree_count; i++) {
        if (tr_is_same(trees[i], tr_me(self)))
            tree_lives[i] = false;
    }
    return TR_SAME;
}

static tr_next tree_poke(void)
{
    return TR_SAME;
}
TR_BEHAVIOR(tree, void, TR_ON(tr_pre_start, tree_start), TR_ON(grow, tree_grow),
            TR_ON(wither, tree_wither), TR_ON(tr_post_stop, tree_end), TR_ON(poke, tree_poke));

static void play_trees(void)
{
    tree_ref root = {0};
    chance_bits = kits_seed;
    tree_count = 0;
    memset(tree_lives, 0, sizeof tree_lives);
    ck_assert_int_eq(tr_try_spawn_at(test, &root, home, tree, NULL), TR_OK);
    tr_tell(test, root, grow, .depth = 3);
    for (int i = 0; i < 200; i++) {
        tr_ref to = tree_count ? trees[chance(tree_count)] : tr_any(root);
        if (chance(4))
            tr_tell(test, to, poke); /* which makes it move */
        else if (chance(2))
            tr_tell(test, to, wither);
        else
            tr_tell(test, to, grow, .depth = 0);
        tr_tell(test, root, poke);
        kit_steps(chance(8));
        if (i % 8 == 0)
            tr_kit_check(kit);
    }
    if (chance(2))
        tr_stop(test, root);
    else
        tr_kill(test, root);
    tr_kit_settle(kit);
    tr_counters counters;
    tr_system_counters(tr_kit_system(kit), &counters);
    ck_assert_uint_eq(counters.live, 0);
    for (uint32_t i = 0; i < tree_count; i++)
        ck_assert(!tree_lives[i]);
}

TEST(children_end_on_other_workers_while_their_parent_moves, "D-07", "WP-12")
{
    kits_each_moving(60, play_trees);
}

/* ---- Who stays. ---- */

TR_ACTOR(stayer, poke);
TR_BEHAVIOR_DECLARE(stayer);
static int stayer_worker; /* where it is */
static uint32_t stayer_pokes;

static oracle_ref stayer_oracle;
static uint32_t stayer_outcomes;

enum { SLEEP = 1, ASK };

static tr_next stayer_heard(tr_self *self, const question_answer *answer)
{
    ck_assert_int_eq(tr_worker(self), stayer_worker);
    ck_assert_int_eq(answer->status, TR_TIMEOUT);
    stayer_outcomes++;
    return TR_SAME;
}
TR_THEN(heard, question, void, stayer_heard);

static tr_next stayer_poke(tr_self *self, const struct poke *message)
{
    if (message->n == ASK) {
        stayer_worker = tr_worker(self);
        tr_ask_then_within(self, TR_SECOND, heard, NULL, stayer_oracle, question);
    }
    if (message->n == SLEEP) {
        stayer_worker = tr_worker(self);
        ck_assert_int_eq(tr_sleep(self, TR_SECOND), TR_OK);
    }
    ck_assert_int_eq(tr_worker(self), stayer_worker);
    stayer_pokes++;
    return TR_SAME;
}
TR_BEHAVIOR(stayer, void, TR_ON(poke, stayer_poke));
TR_BEHAVIOR(pinned, void, TR_ON(poke, stayer_poke), TR_OPTIONS(.is_pinned = true));
TR_BEHAVIOR(metered, void, TR_ON(poke, stayer_poke), TR_OPTIONS(.budget_bytes = 1 << 20));
TR_BEHAVIOR(tree_metered, void, TR_ON(poke, stayer_poke), TR_OPTIONS(.tree_budget_bytes = 1 << 20));

static void stayer_check(tr_ref stayer)
{
    stayer_pokes = 0;
    for (int i = 0; i < 30; i++) {
        tr_tell(test, stayer, poke);
        kit_steps((uint64_t)i % 3);
    }
    tr_kit_settle(kit);
    ck_assert_uint_eq(stayer_pokes, 30);
}

static uint64_t rovers; /* turns of one who may move, elsewhere than before */

static tr_next rover_poke(tr_self *self)
{
    rovers += tr_worker(self) != stayer_worker;
    stayer_worker = tr_worker(self);
    return TR_SAME;
}
TR_ACTOR(rover, poke);
TR_BEHAVIOR(rover, void, TR_ON(poke, rover_poke));

static void play_stay(void)
{
    static const tr_behavior *const behaviors[] = {
        &tr_behavior_pinned, &tr_behavior_metered, &tr_behavior_tree_metered};
    for (int i = 0; i < 3; i++) {
        const tr_spawn_args args = {
            .size = sizeof args, .behavior = behaviors[i], .worker = home - 1};
        uint64_t bits;
        ck_assert_int_eq(tr_client_try_spawn(test, &args, &bits), TR_OK);
        stayer_worker = home - 1;
        stayer_check(tr_ref_from_bits(bits));
    }
    /* One whose turn waits. */
    stayer_ref stayer = {0};
    ck_assert_int_eq(tr_try_spawn(test, &stayer, stayer, NULL), TR_OK);
    tr_tell(test, stayer, poke, .n = SLEEP);
    tr_kit_settle(kit);
    stayer_check(tr_any(stayer));
    tr_kit_advance(kit, 2 * TR_SECOND);
    /* One that has asked somebody who does not answer. */
    stayer_outcomes = 0;
    ck_assert_int_eq(tr_try_spawn(test, &stayer_oracle, oracle, NULL), TR_OK);
    tr_tell(test, stayer, poke, .n = ASK);
    tr_kit_settle(kit);
    stayer_check(tr_any(stayer));
    ck_assert_uint_eq(stayer_outcomes, 0);
    tr_kit_advance(kit, 2 * TR_SECOND);
    ck_assert_uint_eq(stayer_outcomes, 1);
    /* And one that does not. */
    rover_ref rover = {0};
    ck_assert_int_eq(tr_try_spawn(test, &rover, rover, NULL), TR_OK);
    for (int i = 0; i < 30; i++) {
        tr_tell(test, rover, poke);
        tr_kit_settle(kit);
    }
}

TEST(pinned_metered_and_waiting_actors_stay, "D-07", "WP-12", "AK-13")
{
    rovers = 0;
    kits_each_moving(20, play_stay);
    ck_assert_uint_gt(rovers, 3 * TEST_SEEDS(20));
}

SUITE("moves", mail_of_one_to_another_stays_in_order_while_both_move,
      state_heap_stash_name_and_behavior_go_along, replies_that_were_put_off_go_to_who_asked,
      children_end_on_other_workers_while_their_parent_moves,
      pinned_metered_and_waiting_actors_stay)
