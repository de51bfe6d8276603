/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Messages between workers that spin before they sleep, for long, for a moment or not at all: each
 * sender's arrive in order, and as many as were sent. Few are under way at a time, so that workers
 * are without work again and again, and messages meet them in every state between awake and
 * asleep.
 */
#include "support/stage.h"

#include <stdatomic.h>

enum { WORKERS = 4, PLAYERS = 8, TOKENS = 3, LETTERS_MAX = 5 };

TR_MESSAGE(player_is, (u32, index));
TR_MESSAGE(hop, (u64, left));
TR_MESSAGE(letter, (u32, from), (u64, n));
TR_MESSAGE(settle);
TR_MESSAGE(hopped);
TR_MESSAGE(books, (u32, index), (u64, wrong), (array(u64, 8), sent), (array(u64, 8), received));
TR_ACTOR(player, hop, letter, settle);

static struct theatre theatre;
static player_ref players[PLAYERS];

struct player {
    uint32_t index;
    uint64_t wrong;
    uint64_t sent[PLAYERS];
    uint64_t received[PLAYERS];
};

static tr_next set_up_player(struct player *player, const struct player_is *message)
{
    player->index = message->index;
    return TR_SAME;
}

/* Passes the token on, and with it a few letters to anybody. */
static tr_next on_hop(tr_self *self, struct player *player, const struct hop *message)
{
    uint64_t random = tr_random(self);
    for (uint64_t i = random % (LETTERS_MAX + 1); i; i--) {
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
        uint32_t to = (uint32_t)(random >> 33) % PLAYERS;
        tr_tell(self, players[to], letter, .from = player->index, .n = player->sent[to]++);
    }
    if (message->left)
        tr_tell(self, players[(random >> 40) % PLAYERS], hop, .left = message->left - 1);
    else
        tr_tell(self, tr_client_ref(theatre.client), hopped);
    return TR_SAME;
}

static tr_next on_letter(struct player *player, const struct letter *message)
{
    player->wrong += message->n != player->received[message->from];
    player->received[message->from] = message->n + 1;
    return TR_SAME;
}

static tr_next on_settle(tr_self *self, struct player *player)
{
    struct books books = {.index = player->index, .wrong = player->wrong};
    memcpy(books.sent, player->sent, sizeof books.sent);
    memcpy(books.received, player->received, sizeof books.received);
    (void)tr_tell_copy(self, tr_client_ref(theatre.client), books, &books);
    return TR_SAME;
}
TR_BEHAVIOR(player, struct player, TR_SETUP_WITH(player_is, set_up_player), TR_ON(hop, on_hop),
            TR_ON(letter, on_letter), TR_ON(settle, on_settle));

/* Letters from before the last hop may be on their way still: the test asks until all agree. */
static bool books_agree(void)
{
    struct books books[PLAYERS];
    bool agree = true;
    for (int i = 0; i < PLAYERS; i++)
        tr_tell(theatre.client, players[i], settle);
    for (int i = 0; i < PLAYERS; i++) {
        const struct books *message = tr_receive(theatre.client, books, STAGE_PATIENCE);
        ck_assert_ptr_nonnull(message);
        ck_assert_uint_eq(message->wrong, 0);
        books[message->index] = *message;
    }
    for (int from = 0; from < PLAYERS; from++) {
        for (int to = 0; to < PLAYERS; to++) {
            ck_assert_uint_le(books[to].received[from], books[from].sent[to]);
            agree &= books[to].received[from] == books[from].sent[to];
        }
    }
    return agree;
}

static void play(tr_time spin_ns, tr_balance balance, uint64_t hops)
{
    const tr_system_options options = {.size = sizeof options,
                                       .workers = WORKERS,
                                       .spin_ns = spin_ns,
                                       .balance = balance,
                                       .on_log = theatre_no_log};
    tr_counters counters;
    ck_assert_int_eq(tr_system_new(&options, &theatre.system), TR_OK);
    ck_assert_int_eq(tr_client_new(theatre.system, &theatre.client), TR_OK);
    ck_assert_int_eq(tr_system_start(theatre.system), TR_OK);
    for (uint32_t i = 0; i < PLAYERS; i++) {
        ck_assert_int_eq(
            tr_try_spawn_at(
                theatre.client, &players[i], (int)i % WORKERS, player, NULL, player_is, .index = i),
            TR_OK);
        ck_assert_int_eq(tr_spawn_wait(theatre.client, players[i], STAGE_PATIENCE, NULL), TR_OK);
    }
    for (int i = 0; i < TOKENS; i++)
        tr_tell(theatre.client, players[i], hop, .left = hops / TOKENS);
    for (int i = 0; i < TOKENS; i++)
        ck_assert_ptr_nonnull(tr_receive(theatre.client, hopped, STAGE_PATIENCE));
    while (!books_agree())
        ;
    tr_system_counters(theatre.system, &counters);
    printf("spin_ns %lld, balance %d: %" PRIu64 " posts, %" PRIu64 " parks, %" PRIu64
           " wakes, %" PRIu64 " moves\n",
           (long long)spin_ns,
           (int)balance,
           counters.posts,
           counters.parks,
           counters.wakes,
           counters.moves);
    /* Without a spin whoever has nothing to do sleeps, and has to be woken. */
    if (spin_ns < 0 && balance == TR_BALANCE_OFF)
        ck_assert_uint_gt(counters.wakes, hops / 1000);
    theatre_close(&theatre);
}

TEST(order_and_conservation_where_workers_are_woken, "WP-15", "SG-01", "M-04")
{
    uint64_t hops = test_scale(10000, 2000000);
    play(-1, TR_BALANCE_OFF, hops);
    play(-1, TR_BALANCE_ON, hops);
    play(-1, TR_BALANCE_RESTLESS, hops);
}

TEST(order_and_conservation_where_workers_spin_for_a_moment, "WP-15", "SG-01", "M-04")
{
    uint64_t hops = test_scale(10000, 2000000);
    play(TR_MICROSECOND, TR_BALANCE_OFF, hops);
    play(0, TR_BALANCE_OFF, hops);
    play(0, TR_BALANCE_ON, hops);
    play(0, TR_BALANCE_RESTLESS, hops);
}

TEST(order_and_conservation_where_workers_spin_for_long, "WP-15", "SG-01", "M-04")
{
    uint64_t hops = test_scale(1500, 2000000);
    play(TR_MILLISECOND, TR_BALANCE_OFF, hops);
    play(TR_MILLISECOND, TR_BALANCE_ON, hops);
    play(TR_MILLISECOND, TR_BALANCE_RESTLESS, hops);
}

SUITE("polling on threads", order_and_conservation_where_workers_are_woken,
      order_and_conservation_where_workers_spin_for_a_moment,
      order_and_conservation_where_workers_spin_for_long)
