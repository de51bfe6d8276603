/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Budgets of trees whose actors are on several threads: at rest the sum is exact, everything comes
 * back when the actors end, and a tree that goes over fails once, whoever finds it.
 */
#include "support/stage.h"

enum {
    WORKERS = 4,
    ROOMS = 8,
    ROUNDS = TEST_HAS_SANITIZER ? 20 : 100,
    STEPS = TEST_HAS_SANITIZER ? 60 : 300,
};

TR_MESSAGE(open_house, (ref, client));
TR_MESSAGE(opened, (list(ref), rooms));
TR_MESSAGE(churn, (u64, seed), (u32, left), (ref, client), (ref, neighbour));
TR_MESSAGE(cargo, (array(u8, 1500), bytes));
TR_MESSAGE(hold, (u64, bytes));
TR_MESSAGE(report, (ref, client));
TR_MESSAGE(reported, (u64, bytes), (u64, tree_bytes));
TR_MESSAGE(done);
TR_MESSAGE(gone);
TR_ACTOR(house, open_house, report);
TR_ACTOR(room, churn, cargo, hold, report);
TR_ACTOR(closet, hold);

struct room {
    void *kept[8];
};

struct house {
    tr_ref client;
};

static tr_next on_hold(tr_self *self, const struct hold *message)
{
    (void)tr_alloc(self, message->bytes);
    return TR_SAME;
}

static tr_next on_report(tr_self *self, const struct report *message)
{
    tr_usage used = tr_budget_used(self);
    tr_tell(self, message->client, reported, .bytes = used.bytes, .tree_bytes = used.tree_bytes);
    return TR_SAME;
}

TR_BEHAVIOR(closet, void, TR_ON(hold, on_hold), TR_OPTIONS(.restart = TR_TEMPORARY));

/* Some memory, some mail, now and then a child that ends at once; and on. */
static tr_next on_churn(tr_self *self, struct room *room, const struct churn *message)
{
    uint64_t random = message->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    void **kept = &room->kept[random >> 40 & 7];
    *kept = tr_realloc(self, *kept, random >> 20 & 0x3fff);
    if ((random >> 50 & 3) == 0) {
        tr_free(self, *kept);
        *kept = NULL;
    }
    tr_tell(self, message->neighbour, cargo);
    if ((random >> 55 & 15) == 0) {
        closet_ref closet = tr_spawn_at(self, (int)(random >> 60 & 3), closet, NULL);
        tr_tell(self, closet, hold, .bytes = random >> 30 & 0xffff);
        tr_stop(self, closet);
    }
    if (!message->left) {
        tr_tell(self, message->client, done);
        return TR_SAME;
    }
    tr_tell(self,
            tr_me(self),
            churn,
            .seed = random,
            .left = message->left - 1,
            .client = message->client,
            .neighbour = message->neighbour);
    return TR_SAME;
}

static tr_next on_cargo(void)
{
    return TR_SAME;
}

TR_BEHAVIOR(room, struct room, TR_ON(churn, on_churn), TR_ON(cargo, on_cargo), TR_ON(hold, on_hold),
            TR_ON(report, on_report), TR_OPTIONS(.restart = TR_TEMPORARY));

static tr_next on_open(tr_self *self, struct house *house, const struct open_house *message)
{
    tr_ref rooms[ROOMS];
    house->client = message->client;
    for (int i = 0; i < ROOMS; i++)
        rooms[i] = tr_any(tr_spawn_at(self, i % WORKERS, room, NULL));
    tr_tell(self, message->client, opened, .rooms = {rooms, ROOMS});
    return TR_SAME;
}

static tr_next on_house_end(tr_self *self, struct house *house)
{
    tr_tell(self, house->client, gone);
    return TR_SAME;
}

TR_BEHAVIOR(house, struct house, TR_ON(open_house, on_open), TR_ON(report, on_report),
            TR_ON(tr_post_stop, on_house_end),
            TR_OPTIONS(.restart = TR_TEMPORARY, .tree_budget_bytes = 16 << 20,
                       .tree_budget_cpu_ns = TR_HOUR));

static tr_ref rooms[ROOMS];

static house_ref house_open(struct theatre *theatre)
{
    house_ref house;
    ck_assert_int_eq(tr_try_spawn_at(theatre->client, &house, 1, house, NULL), TR_OK);
    tr_tell(theatre->client, house, open_house, .client = tr_client_ref(theatre->client));
    const struct opened *opened = tr_receive(theatre->client, opened, STAGE_PATIENCE);
    ck_assert_ptr_nonnull(opened);
    memcpy(rooms, opened->rooms.items, sizeof rooms);
    return house;
}

static struct reported report_of(struct theatre *theatre, tr_ref who)
{
    (void)tr_client_tell(theatre->client,
                         who,
                         &tr_type_report,
                         &(struct report){.client = tr_client_ref(theatre->client)});
    const struct reported *reported = tr_receive(theatre->client, reported, STAGE_PATIENCE);
    ck_assert_ptr_nonnull(reported);
    return *reported;
}

/* Until the tree holds what its actors do: what is under way takes a moment, only a hang more. */
static void wait_for(struct theatre *theatre, house_ref house, bool with_rooms)
{
    struct reported last;
    for (int i = 0; i < 100000; i++) {
        last = report_of(theatre, tr_any(house));
        uint64_t expected = last.bytes;
        for (int k = 0; k < ROOMS && with_rooms; k++)
            expected += report_of(theatre, rooms[k]).bytes;
        if (last.tree_bytes == expected)
            return;
    }
    ck_abort_msg("the tree holds %llu bytes", (unsigned long long)last.tree_bytes);
}

TEST(threads_give_back_what_they_took, "O-06")
{
    struct theatre theatre = theatre_open(WORKERS);
    for (int round = 0; round < ROUNDS / 10; round++) {
        house_ref house = house_open(&theatre);
        for (int i = 0; i < ROOMS; i++)
            (void)tr_client_tell(theatre.client,
                                 rooms[i],
                                 &tr_type_churn,
                                 &(struct churn){.seed = (uint64_t)(round * ROOMS + i + 1),
                                                 .left = STEPS,
                                                 .client = tr_client_ref(theatre.client),
                                                 .neighbour = rooms[(i + 3) % ROOMS]});
        for (int i = 0; i < ROOMS; i++)
            ck_assert_ptr_nonnull(tr_receive(theatre.client, done, STAGE_PATIENCE));
        wait_for(&theatre, house, true);
        for (int i = 0; i < ROOMS; i++)
            tr_stop(theatre.client, rooms[i]);
        wait_for(&theatre, house, false);
        tr_stop(theatre.client, house);
        ck_assert_ptr_nonnull(tr_receive(theatre.client, gone, STAGE_PATIENCE));
    }
    theatre_close(&theatre);
}

TEST(a_tree_that_goes_over_fails_once, "O-06")
{
    struct theatre theatre = theatre_open(WORKERS);
    for (int round = 0; round < ROUNDS; round++) {
        house_ref house = house_open(&theatre);
        /* All at once, from all sides: together they are over, none of them is alone. */
        for (int k = 0; k < 3; k++) {
            for (int i = 0; i < ROOMS; i++)
                (void)tr_client_tell(
                    theatre.client, rooms[i], &tr_type_hold, &(struct hold){.bytes = 1 << 20});
        }
        ck_assert_ptr_nonnull(tr_receive(theatre.client, gone, STAGE_PATIENCE));
        ck_assert_ptr_null(tr_receive(theatre.client, gone, 0));
        ck_assert_int_eq(tr_tell(theatre.client, house, report), TR_STOPPED);
    }
    tr_system_shutdown(theatre.system, STAGE_PATIENCE);
    ck_assert_int_eq(tr_system_wait(theatre.system), TR_OK);
    tr_client_free(theatre.client);
    tr_system_free(theatre.system);
}

SUITE("budget threads", threads_give_back_what_they_took, a_tree_that_goes_over_fails_once)
