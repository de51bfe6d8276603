/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What an idle actor costs, and that it is given back: actors that stop after a receive timeout, as
 * docs/guide teaches it for sessions.
 */
#include "actor/cell/names.h"
#include "actor/cell/slots.h"
#include "actor/cell/system.h"
#include "os/virtual.h"
#include "support/test.h"

#include <troupe/kit.h>
#include <troupe/troupe.h>

enum {
    SESSIONS = 10240,
    COST_MAX = 400,
    BLOCK_COST = 8, /* what the C library adds to a block */
    IDLE_S = 100,
    SLACK = 4096 /* of pools */
};

TR_MESSAGE(poke, (u32, n));
TR_MESSAGE(open_session, (u32, a), (u32, b), (i64, idle_ns));
TR_REQUEST(fill, tr_done, (u32, count));

struct session {
    double balance;
    tr_time opened_ns;
    uint32_t a;
    uint32_t b;
};
TR_ACTOR(session, poke);
static tr_next session_set_up(tr_self *self, struct session *s, const struct open_session *m)
{
    s->a = m->a;
    s->b = m->b;
    tr_set_receive_timeout(self, m->idle_ns);
    return TR_SAME;
}
static tr_next session_poke(tr_self *self, struct session *s, const struct poke *m)
{
    (void)self;
    ck_assert_uint_eq(s->a, m->n);
    ck_assert_uint_eq(s->b, ~m->n);
    return TR_SAME;
}
static tr_next session_idle(void)
{
    return TR_STOP;
}
TR_BEHAVIOR(session, struct session, TR_SETUP_WITH(open_session, session_set_up),
            TR_ON(poke, session_poke), TR_ON(tr_receive_timeout, session_idle));

TR_ACTOR(porch, fill);
static tr_next porch_fill(tr_self *self, const struct fill *m)
{
    for (uint32_t i = 0; i < m->count; i++)
        (void)tr_spawn(self,
                       session,
                       tr_format(self, "757365723a%07u", (unsigned)i),
                       open_session,
                       .a = i,
                       .b = ~i,
                       .idle_ns = IDLE_S * TR_SECOND);
    return tr_reply(self, tr_done);
}
TR_BEHAVIOR(porch, void, TR_ON(fill, porch_fill));

static tr_kit *kit;
static tr_client *test;
static porch_ref porch;

static void begin(void)
{
    kit = tr_kit_new(NULL);
    ck_assert_ptr_nonnull(kit);
    test = tr_kit_client(kit);
    ck_assert_int_eq(tr_try_spawn(test, &porch, porch, "p"), TR_OK);
    tr_kit_settle(kit);
}

static void end(void)
{
    tr_kit_check(kit);
    tr_kit_free(kit);
}

static size_t cost(void)
{
    tr_system *system = tr_kit_system(kit);
    tr__slots_trim(system->slots, &system->workers[0]->slot_cache);
    const struct virtual_platform *platform =
        (const struct virtual_platform *)(const void *)system->platform;
    return tr__virtual_live_bytes(platform) + BLOCK_COST * tr__virtual_live_blocks(platform);
}

static void fill_porch(void)
{
    ck_assert_int_eq(tr_try_await(test, tr_ask(test, porch, fill, .count = SESSIONS), NULL), TR_OK);
    tr_kit_settle(kit);
}

static void empty_porch(void)
{
    tr_kit_advance(kit, 2 * IDLE_S * TR_SECOND);
    tr_kit_settle(kit);
    ck_assert_uint_eq(tr__names_count(tr_kit_system(kit)->names), 2);
}

TEST(an_idle_session_costs_400_bytes_which_are_given_back, "B-11")
{
    begin();
    fill_porch(); /* the cells are made, which stay */
    empty_porch();
    size_t before = cost();
    for (int round = 0; round < 3; round++) {
        fill_porch();
        size_t each = sizeof(struct cell) + (cost() - before) / SESSIONS;
        ck_assert_uint_gt(each, COST_MAX / 4 * 3); /* otherwise less was given back before */
        ck_assert_uint_le(each, COST_MAX);
        session_ref seventh = tr_find(test, session, "/user/p/757365723a0000007");
        ck_assert_int_eq(tr_tell(test, seventh, poke, .n = 7), TR_OK);
        empty_porch();
        ck_assert_uint_le(cost(), before + SLACK);
    }
    end();
}

SUITE("actor footprint", an_idle_session_costs_400_bytes_which_are_given_back)
