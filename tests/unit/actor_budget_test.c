/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The books of budgets: random actors do random things, and whenever nothing runs each tree knows
 * what the actors below it hold, to the byte, and how long they have run, to the nanosecond.
 */
#include "support/test.h"

#include <stdio.h>
#include <string.h>
#include <troupe/kit.h>

#include "actor/cell/slots.h"
#include "actor/turn/budget.h"
#include "base/rng.h"
#include "os/virtual.h"
#include "actor/cell/system.h"
#include "mem/heap.h"

enum { WORKERS = 3, ACTORS = 24, STEPS = 400, KEPT = 8 };

TR_MESSAGE(step, (u64, random));
TR_MESSAGE(freight, (array(u8, 300), bytes));
TR_ACTOR(top, step, freight);
TR_ACTOR(middle, step, freight);
TR_ACTOR(leaf, step, freight);
TR_ACTOR(guarded, step, freight);

struct node {
    void *kept[KEPT];
    bool stashes;
};

static tr_kit *kit;
static tr_ref actors[ACTORS]; /* some have ended */
static int64_t ran_ns;        /* by all */

static void clock_move(tr_self *self, uint64_t ns)
{
    struct virtual_platform *virtual = (struct virtual_platform *)(uintptr_t)
                                           self->worker->system->platform;
    tr__virtual_advance(virtual, (tr_time)ns);
    ran_ns += (int64_t)ns;
}

static void spawn_one(tr_self *self, struct rng *rng)
{
    tr_ref ref = TR_NOBODY;
    int worker = (int)rng_below(rng, WORKERS);
    switch (rng_below(rng, 3)) {
    case 0:
        ref = tr_any(tr_spawn_at(self, worker, middle, NULL));
        break;
    case 1:
        ref = tr_any(tr_spawn_at(self, worker, leaf, NULL));
        break;
    default:
        ref = tr_any(tr_spawn_at(self, worker, guarded, NULL));
        break;
    }
    actors[rng_below(rng, ACTORS)] = ref;
}

static tr_next on_step(tr_self *self, struct node *node, const struct step *message)
{
    struct rng rng;
    rng_init(&rng, message->random);
    clock_move(self, rng_below(&rng, 1000000));
    void **kept = &node->kept[rng_below(&rng, KEPT)];
    switch (rng_below(&rng, 12)) {
    case 0:
    case 1:
        spawn_one(self, &rng);
        break;
    case 2:
        *kept = tr_realloc(self, *kept, rng_below(&rng, 20000));
        break;
    case 3:
        tr_free(self, *kept);
        *kept = NULL;
        break;
    case 4:
        tr_timer_fixed_rate(self, "tick", 1 + (tr_time)rng_below(&rng, 100000000), freight);
        break;
    case 5:
        tr_timer_cancel(self, "tick");
        break;
    case 6:
        node->stashes = !node->stashes;
        if (!node->stashes)
            tr_unstash(self, 3);
        break;
    case 7:
        for (int i = 0; i < 5; i++)
            tr_tell(self, actors[rng_below(&rng, ACTORS)], freight);
        break;
    case 8:
        tr_suspend(self, actors[rng_below(&rng, ACTORS)]);
        break;
    case 9:
        tr_resume(self, actors[rng_below(&rng, ACTORS)]);
        break;
    case 10:
        if (rng_below(&rng, 4) == 0 && tr_parent(self).bits)
            return TR_STOP;
        break;
    default:
        if (rng_below(&rng, 8) == 0 && tr_parent(self).bits)
            return tr_fail(self, TR_FAILED, "now and then");
        break;
    }
    return TR_SAME;
}

static tr_next on_freight(tr_self *self, struct node *node)
{
    clock_move(self, 1000);
    return node->stashes && tr_stash_count(self) < 20 ? tr_stash(self) : TR_SAME;
}

static tr_next set_up(tr_self *self)
{
    clock_move(self, 50000);
    (void)tr_alloc(self, 10);
    return TR_SAME;
}

static tr_next on_end(tr_self *self)
{
    clock_move(self, 70000);
    return TR_SAME;
}

#define ROWS                                                                                       \
    TR_SETUP(set_up), TR_ON(step, on_step), TR_ON(freight, on_freight), TR_ON(tr_post_stop, on_end)
#define PLENTY ((size_t)1 << 40)
TR_BEHAVIOR(top, struct node, ROWS,
            TR_OPTIONS(.restart = TR_TEMPORARY, .tree_budget_bytes = PLENTY,
                       .tree_budget_cpu_ns = INT64_MAX / 2));
TR_BEHAVIOR(middle, struct node, ROWS,
            TR_OPTIONS(.restart = TR_TEMPORARY, .tree_budget_bytes = 400000));
TR_BEHAVIOR(leaf, struct node, ROWS, TR_OPTIONS(.restart = TR_TEMPORARY));
TR_BEHAVIOR(guarded, struct node, ROWS, TR_OPTIONS(.restart = TR_TEMPORARY, .budget_bytes = 40000));

static bool is_below(const struct slots *slots, const struct cell *cell, const struct cell *top)
{
    while (cell && cell != top)
        cell = slots_parent(slots, cell);
    return cell;
}

static const struct cell *cell_at(struct tr_system *system, uint32_t slot)
{
    const struct cell *cell = slots_at(system->slots, slot);
    bool is_budgeted = cell->life != LIFE_NEW && cell->flags & CELL_METERED;
    return cell_owner(cell) != CELL_FOREIGN && is_budgeted ? cell : NULL;
}

/* Adds up what there is and compares it with what is known. Gives how many actors were looked at. */
static size_t books_check(struct tr_system *system)
{
    size_t count = 0;
    uint32_t used = tr__slots_used(system->slots);
    for (uint32_t slot = 1; slot < used; slot++) {
        const struct cell *cell = cell_at(system, slot);
        if (!cell || cell->life == LIFE_STOPPED)
            continue;
        const struct budget *budget = cell->extra->budget;
        ck_assert_uint_eq(budget->charged, tr__cell_bytes(system->workers[cell_owner(cell)], cell));
        count++;
        const struct budget_tree *tree = budget->own_tree;
        if (!tree)
            continue;
        int64_t bytes = 0;
        for (uint32_t other = 1; other < used; other++) {
            const struct cell *below = cell_at(system, other);
            if (below && below->life != LIFE_STOPPED && is_below(system->slots, below, cell))
                bytes += (int64_t)tr__cell_bytes(system->workers[cell_owner(below)], below);
        }
        ck_assert_int_eq(
            tally_read(&tree->bytes, &tree->parts[0].bytes, WORKERS, sizeof *tree->parts), bytes);
        if (tree->above)
            continue;
        ck_assert_int_eq(
            tally_read(&tree->cpu_ns, &tree->parts[0].cpu_ns, WORKERS, sizeof *tree->parts),
            ran_ns);
    }
    return count;
}

static size_t play(uint64_t seed)
{
    struct rng rng;
    rng_init(&rng, seed);
    ran_ns = 0;
    memset(actors, 0, sizeof actors);
    kit = tr_kit_new(&(tr_kit_options){.workers = WORKERS, .seed = seed});
    ck_assert_ptr_nonnull(kit);
    tr_client *client = tr_kit_client(kit);
    top_ref top;
    ck_assert_int_eq(tr_try_spawn_at(client, &top, (int)rng_below(&rng, WORKERS), top, "top"),
                     TR_OK);
    actors[0] = tr_any(top);
    size_t looked_at = 0;
    for (int i = 0; i < STEPS; i++) {
        tr_ref to = rng_below(&rng, 4) ? actors[rng_below(&rng, ACTORS)] : tr_any(top);
        (void)tr_client_tell(client, to, &tr_type_step, &(struct step){rng_next(&rng)});
        if (rng_below(&rng, 3))
            continue;
        tr_kit_settle(kit);
        looked_at += books_check(tr_kit_system(kit));
        if (rng_below(&rng, 20) == 0)
            tr_resume(client, top);
        if (rng_below(&rng, 10) == 0)
            tr_kit_advance(kit, (tr_time)rng_below(&rng, 200000000));
    }
    tr_kit_check(kit);
    tr_kit_free(kit);
    return looked_at;
}

TEST(the_books_agree_whenever_nothing_runs, "O-06")
{
    size_t looked_at = 0;
    uint64_t seeds = TEST_HAS_SANITIZER ? 40 : 200;
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        printf("seed %llu\n", (unsigned long long)seed);
        looked_at += play(seed);
    }
    ck_assert_uint_gt(looked_at, seeds * STEPS / 4);
}

/* ---- The story of a failure. ---- */

TR_MESSAGE(grow);
TR_ACTOR(house, grow);
TR_ACTOR(room, grow);

static tr_next hold_much(tr_self *self)
{
    (void)tr_alloc(self, 100000);
    return TR_SAME;
}

TR_BEHAVIOR(room, void, TR_ON(grow, hold_much), TR_OPTIONS(.restart = TR_TEMPORARY));

static tr_next open_room(tr_self *self)
{
    actors[0] = tr_any(tr_spawn_at(self, 1, room, "room"));
    return TR_SAME;
}

TR_BEHAVIOR(house, void, TR_ON(grow, open_room),
            TR_OPTIONS(.restart = TR_TEMPORARY, .tree_budget_bytes = 90000));

static bool log_has(const char *path, const char *text)
{
    struct virtual_platform *virtual = (struct virtual_platform *)(uintptr_t)tr_kit_system(kit)
                                           ->platform;
    for (uint64_t i = 0; i < virtual->lines_count && i < VIRTUAL_LOG_LINES; i++) {
        const struct virtual_line *line = &virtual->lines[i];
        if (strcmp(line->path, path) == 0 && strstr(line->text, text))
            return true;
    }
    return false;
}

TEST(the_failure_names_who_went_over, "O-06", "S-10")
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        kit = tr_kit_new(&(tr_kit_options){.workers = 2, .seed = seed});
        ck_assert_ptr_nonnull(kit);
        tr_client *client = tr_kit_client(kit);
        house_ref house;
        ck_assert_int_eq(tr_try_spawn_at(client, &house, 0, house, "house"), TR_OK);
        tr_tell(client, house, grow);
        tr_kit_settle(kit);
        static const struct grow grow;
        ck_assert_int_eq(tr_client_tell(client, actors[0], &tr_type_grow, &grow), TR_OK);
        tr_kit_settle(kit);
        ck_assert(log_has("/user/house/room",
                          "failed in grow: TR_OVER_BUDGET: tree budget exceeded: 100000 bytes "
                          "requested, the tree of /user/house holds 384, limit 90000"));
        ck_assert(
            log_has("/user/house", "failed: TR_OVER_BUDGET: tree budget exceeded: holds 100"));
        ck_assert(log_has("/user/house", "limit 90000 bytes; pushed over by /user/house/room"));
        ck_assert_int_eq(tr_tell(client, house, grow), TR_STOPPED);
        tr_kit_check(kit);
        tr_kit_free(kit);
    }
}

/* ---- What a heap says it needs. ---- */

TEST(a_heap_takes_what_it_says, "")
{
    struct virtual_platform *virtual = tr__virtual_new(1);
    struct memory_source source = {.platform = &virtual->table};
    for (uint64_t seed = 1; seed <= 50; seed++) {
        struct heap *heap = NULL;
        struct rng rng;
        rng_init(&rng, seed);
        void *kept[16] = {0};
        for (int i = 0; i < 2000; i++) {
            void **block = &kept[rng_below(&rng, 16)];
            size_t size = rng_below(&rng, 2) ? rng_below(&rng, 300) : rng_below(&rng, 9000);
            size_t before = tr__heap_bytes(heap);
            size_t need = tr__heap_need(heap, *block, size);
            switch (rng_below(&rng, 3)) {
            case 0:
                tr__heap_free(&heap, &source, *block);
                *block = NULL;
                need = tr__heap_need(heap, NULL, size);
                before = tr__heap_bytes(heap);
                *block = tr__heap_alloc(&heap, &source, size);
                ck_assert_uint_eq(tr__heap_bytes(heap), before + need);
                break;
            case 1:
                *block = tr__heap_realloc(&heap, &source, *block, size);
                ck_assert_uint_le(tr__heap_bytes(heap), before + need);
                break;
            default:
                tr__heap_free(&heap, &source, *block);
                *block = NULL;
                break;
            }
        }
        tr__heap_drop(&heap, &source);
    }
    ck_assert_uint_eq(tr__virtual_live_blocks(virtual), 0);
    tr__virtual_free(virtual);
}

SUITE("actor budget", the_books_agree_whenever_nothing_runs, the_failure_names_who_went_over,
      a_heap_takes_what_it_says)
