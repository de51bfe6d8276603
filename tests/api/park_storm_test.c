/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Many actors with small mailboxes that send to each other along random edges, rings included, on
 * three workers, while others are suspended, stopped and killed. The books are right after every
 * step; nobody hangs for longer than the five seconds; what was accepted is handled or a dead letter.
 */
#include "support/kits.h"

#include <stdlib.h>

enum { NODES = 12, ROUNDS = 60, EDGES_MAX = 4 };

TR_MESSAGE(ball, (u32, from), (u32, n), (u32, hops));
TR_MESSAGE(heavy, (u32, from), (u32, n), (bytes, data));
TR_MESSAGE(spin, (u32, n));
TR_ACTOR(node, ball, heavy, spin, run);
TR_BEHAVIOR_DECLARE(node_wide);
TR_BEHAVIOR_DECLARE(node_bytes);

struct node {
    uint32_t index;
    uint32_t begun;
};
struct node_wide {
    uint64_t words[8];
};

static node_ref nodes[NODES];
static uint32_t sent[NODES + 1][NODES]; /* numbers of what was sent along an edge, */
static uint32_t next[NODES][NODES];     /* and what its receiver may see next */
static uint64_t waits_over;
static uint64_t statuses_seen; /* bits */
static struct rng {
    uint64_t state;
} rng;

static uint32_t below(uint32_t limit)
{
    rng.state = rng.state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(rng.state >> 33) % limit;
}

static uint32_t index_of(tr_self *self)
{
    for (uint32_t i = 0; i < NODES; i++) {
        if (tr_any(nodes[i]).bits == tr_me(self).bits)
            return i;
    }
    return NODES; /* one that was replaced */
}

/*
 * Sends to a few others. Turns of notices follow each other. That of a timer may begin while another
 * waits for capacity: what it sends comes behind what that one is about to send.
 */
static void pass(tr_self *self, uint32_t hops)
{
    static const char data[700];
    uint32_t me = index_of(self);
    uint32_t edges = hops ? below(EDGES_MAX) : 0;
    if (me == NODES)
        return;
    for (uint32_t i = 0; i < edges; i++) {
        uint32_t to = below(NODES);
        node_ref target = nodes[to];
        tr_time begin_ns = tr_now(self);
        tr_status status;
        uint32_t n = sent[me][to]++;
        if (below(5) == 0)
            status = tr_tell(self,
                             target,
                             heavy,
                             .from = me,
                             .n = n,
                             .data = {.data = data, .size = below(sizeof data)});
        else
            status = tr_tell(self, target, ball, .from = me, .n = n, .hops = hops - 1);
        tr_time took_ns = tr_now(self) - begin_ns;
        waits_over += took_ns > 0;
        statuses_seen |= UINT64_C(1) << -status;
        if (below(40) == 0)
            tr_crash(self, TR_BAD_DATA, "on purpose");
    }
}

static tr_next receive(tr_self *self, uint32_t from, uint32_t n, uint32_t hops)
{
    uint32_t to = index_of(self);
    if (to < NODES && from < NODES) {
        ck_assert_uint_ge(n, next[from][to]); /* some were refused; none comes twice, or late */
        next[from][to] = n + 1;
    }
    pass(self, hops);
    switch (below(60)) {
    case 0:
        return tr_become(self, node_wide);
    case 1:
        return tr_become(self, node_bytes);
    case 2:
        return tr_become(self, node);
    case 3:
        return TR_STOP;
    default:
        return TR_SAME;
    }
}

static tr_next on_ball(tr_self *self, const struct ball *message)
{
    uint32_t hops = message->hops;
    tr_next result = receive(self, message->from, message->n, hops);
    ck_assert_uint_eq(message->hops, hops); /* the message is there until the turn ends */
    return result;
}
static tr_next on_heavy(tr_self *self, const struct heavy *message)
{
    return receive(self, message->from, message->n, 2);
}
static tr_next on_spin(tr_self *self)
{
    pass(self, 3);
    return TR_SAME;
}
static tr_next wide_ball(tr_self *self, struct node_wide *state, const struct ball *message)
{
    uint64_t word = ++state->words[7];
    tr_next result = on_ball(self, message);
    ck_assert_uint_ge(state->words[7], word);
    return result;
}
static tr_next small_ball(tr_self *self, struct node *state, const struct ball *message)
{
    uint32_t begun = ++state->begun;
    tr_next result = on_ball(self, message);
    ck_assert_uint_ge(state->begun, begun);
    return result;
}
static tr_next set_up(tr_self *self)
{
    tr_timer_fixed_rate(self, "spin", 700 * MS, spin, .n = 1);
    return TR_SAME;
}

TR_BEHAVIOR(node, struct node, TR_SETUP(set_up), TR_ON(ball, small_ball), TR_ON(heavy, on_heavy),
            TR_ON(spin, on_spin), TR_ON(run, on_run),
            TR_OPTIONS(.mailbox_max = 2, .overflow = TR_PARK));
TR_BEHAVIOR(node_wide, struct node_wide, TR_ON(ball, wide_ball), TR_ON(heavy, on_heavy),
            TR_ON(spin, on_spin), TR_ON(run, on_run),
            TR_OPTIONS(.mailbox_max = 5, .overflow = TR_PARK));
TR_BEHAVIOR(node_bytes, struct node, TR_ON(ball, small_ball), TR_ON(heavy, on_heavy),
            TR_ON(spin, on_spin), TR_ON(run, on_run),
            TR_OPTIONS(.mailbox_bytes_max = 1024, .overflow = TR_PARK));

static void replace(uint32_t i, int workers)
{
    ck_assert_int_eq(tr_try_spawn_at(test, &nodes[i], (int)below((uint32_t)workers), node, NULL),
                     TR_OK);
    for (uint32_t j = 0; j < NODES; j++) {
        next[j][i] = sent[j][i]; /* what is on its way is for the last tenant */
        next[i][j] = 0;
    }
}

static void disturb(uint32_t i)
{
    switch (below(8)) {
    case 0:
        tr_kill(test, nodes[i]);
        break;
    case 1:
        tr_stop(test, nodes[i]);
        break;
    case 2:
    case 3:
        tr_suspend(test, nodes[i]);
        break;
    case 4:
    case 5:
        tr_resume(test, nodes[i]);
        break;
    default:
        break;
    }
}

/* A client's send would wait, and run the kit meanwhile: spins come from an actor without bounds. */
TR_ACTOR(starter, run);
TR_BEHAVIOR(starter, void, TR_ON(run, on_run));

static tr_next start_one(tr_self *self)
{
    uint32_t to = below(NODES);
    tr_tell(self, nodes[to], ball, .from = NODES, .n = 0, .hops = 4);
    return TR_SAME;
}

static void storm(int workers, uint64_t seed)
{
    starter_ref starters[3];
    kit_open_anywhere(workers, seed);
    rng.state = seed * 77 + 1;
    memset(sent, 0, sizeof sent);
    memset(next, 0, sizeof next);
    for (uint32_t i = 0; i < NODES; i++)
        replace(i, workers);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(tr_try_spawn_at(test, &starters[i], i % workers, starter, NULL), TR_OK);
    tr_kit_settle(kit);
    for (int round = 0; round < ROUNDS; round++) {
        TELL_RUN(test, starters[below(3)], start_one);
        uint32_t steps = below(30);
        for (uint32_t i = 0; i < steps && tr_kit_step(kit); i++)
            tr_kit_check(kit);
        if (below(3) == 0)
            disturb(below(NODES));
        if (below(10) == 0)
            tr_kit_advance(kit, (tr_time)below(3000) * MS);
        tr_kit_check(kit);
        uint32_t i = below(NODES);
        if (tr_suspend(test, nodes[i]) == TR_STOPPED)
            replace(i, workers);
        else
            tr_resume(test, nodes[i]);
    }
    for (uint32_t i = 0; i < NODES; i++)
        tr_resume(test, nodes[i]);
    /* Chains of waits, each of five seconds at most. */
    for (int i = 0; i < 40; i++)
        tr_kit_advance(kit, TR_PARK_NS);
    tr_kit_settle(kit);
    tr_kit_check(kit);
    for (uint32_t i = 0; i < NODES; i++)
        tr_stop(test, nodes[i]);
    tr_kit_settle(kit);
    tr_kit_advance(kit, 4 * TR_PARK_NS);
    tr_kit_check(kit);
    for (int i = 0; i < 3; i++)
        tr_stop(test, starters[i]);
    tr_kit_settle(kit);
    tr_counters counters;
    tr_system_counters(tr_kit_system(kit), &counters);
    ck_assert_uint_eq(counters.accepted,
                      counters.handled + counters.dead_letters - counters.refused);
    ck_assert_uint_eq(counters.live, 0); /* nobody hangs */
    kit_close();
}

TEST(a_storm_of_waits_ends_with_the_books_in_order, "MB-08", "MB-09", "M-02", "M-04", "B-05")
{
    uint64_t first = test_seed();
    uint64_t count = test_scale(150, 5000);
    for (uint64_t i = 0; i < count; i++)
        storm(i % 4 ? 3 : 1, first + i);
    ck_assert_uint_gt(waits_over, 0);
    ck_assert(statuses_seen >> -TR_MAILBOX_FULL & 1);
    ck_assert(statuses_seen >> -TR_CANCELLED & 1);
    ck_assert(statuses_seen >> -TR_STOPPED & 1);
}

/* The same with memory that runs out now and then. */
TEST(so_does_one_without_memory, "MB-08", "M-02", "U-02")
{
    uint64_t first = test_seed();
    uint64_t count = test_scale(60, 2000);
    for (uint64_t i = 0; i < count; i++) {
        kit_open_anywhere(3, first + i);
        rng.state = first + i;
        for (uint32_t j = 0; j < NODES; j++)
            replace(j, 3);
        tr_kit_settle(kit);
        for (int round = 0; round < ROUNDS; round++) {
            tr_kit_fail_allocation(kit, 1 + below(12), below(4) == 0);
            TELL_RUN(test, nodes[below(NODES)], start_one);
            uint32_t steps = below(30);
            for (uint32_t k = 0; k < steps && tr_kit_step(kit); k++)
                tr_kit_check(kit);
            tr_kit_fail_allocation(kit, 0, false);
            uint32_t one = below(NODES);
            if (tr_suspend(test, nodes[one]) == TR_STOPPED)
                replace(one, 3);
            else if (below(2))
                tr_resume(test, nodes[one]);
        }
        for (uint32_t j = 0; j < NODES; j++)
            tr_kill(test, nodes[j]);
        tr_kit_settle(kit);
        tr_kit_advance(kit, TR_PARK_NS);
        kit_close();
    }
}

SUITE("park, storm", a_storm_of_waits_ends_with_the_books_in_order, so_does_one_without_memory)
