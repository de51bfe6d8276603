/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Random trees with random strategies and random failures, against a reference that says who must be
 * alive, and how often each has begun.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <troupe/kit.h>
#include <troupe/troupe.h>

#include "support/test.h"

enum { NODES = 40, DEPTH = 6, KINDS = 27, FAILURES = 400, TREES = 25 };

TR_MESSAGE(plan, (u32, id));
TR_MESSAGE(fail_with, (i32, status));
TR_MESSAGE(end_well);
TR_ACTOR(node, fail_with, end_well);

static uint64_t random_bits;

static unsigned below(unsigned limit)
{
    random_bits = random_bits * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(random_bits >> 33) % limit;
}

/* ---- The tree as it is. ---- */

/* What each node is, by its number: chosen once for a tree, the same in all incarnations. */
struct spec {
    unsigned kind;
    int worker;
    unsigned depth;
    unsigned parent;
    unsigned child_count;
    unsigned children[NODES];
};

static struct spec specs[NODES];
static unsigned begun[NODES];
static unsigned ended[NODES];
static tr_ref refs[NODES];
static tr_behavior kinds[KINDS];

struct node {
    unsigned id;
};

static tr_next set_up(tr_self *self, struct node *node, const struct plan *message)
{
    const struct spec *spec = &specs[message->id];
    node->id = message->id;
    begun[node->id]++;
    refs[node->id] = tr_me(self);
    for (unsigned i = 0; i < spec->child_count; i++) {
        const struct spec *child = &specs[spec->children[i]];
        uint64_t bits;
        char name[16];
        snprintf(name, sizeof name, "n%u", spec->children[i]);
        const struct plan plan = {.id = spec->children[i]};
        const tr_spawn_args args = {.size = sizeof args,
                                    .behavior = &kinds[child->kind],
                                    .name = name,
                                    .worker = child->worker,
                                    .setup_type = &tr_type_plan,
                                    .setup = &plan};
        if (tr_self_try_spawn(self, &args, &bits) != TR_OK)
            tr_crash(self, TR_INIT_FAILED, "no child");
    }
    return TR_SAME;
}

static tr_next on_fail(tr_self *self, const struct fail_with *message)
{
    return tr_fail(self, (tr_status)message->status, "as told");
}

static tr_next on_end(void)
{
    return TR_STOP;
}

static tr_next on_over(struct node *node)
{
    ended[node->id]++;
    return TR_SAME;
}

static tr_directive directive_of(tr_status status)
{
    switch (status) {
    case TR_TIMEOUT:
        return TR_RESUME;
    case TR_LIMIT:
        return TR_STOP_CHILD;
    case TR_NOT_FOUND:
        return TR_ESCALATE;
    default:
        return TR_RESTART;
    }
}

static tr_directive decide(tr_self *self, const tr_error *cause)
{
    (void)self;
    return directive_of(cause->status);
}

TR_BEHAVIOR(node, struct node, TR_SETUP_WITH(plan, set_up), TR_ON(fail_with, on_fail),
            TR_ON(end_well, on_end), TR_ON(tr_post_stop, on_over), TR_ON(tr_pre_restart, on_over));

/* Strategy, restarts and type of a kind. */
static void kinds_make(void)
{
    static const int restarts[] = {TR_NO_RESTARTS, 1, 3};
    for (unsigned i = 0; i < KINDS; i++) {
        kinds[i] = tr_behavior_node;
        kinds[i].supervision = (tr_supervision){.strategy = (tr_strategy)(i % 3),
                                                .restarts_max = restarts[i / 3 % 3],
                                                .window_ns = TR_SECOND,
                                                .decide = decide};
        kinds[i].options.restart = (tr_restart)(1 + i / 9);
    }
}

/* ---- The reference. ---- */

struct model {
    bool is_alive;
    unsigned begun;
    unsigned order[NODES]; /* its living children, in start order */
    unsigned count;
    tr_time times[4]; /* of its restarts */
    unsigned restarts;
};

static struct model models[NODES];
static tr_time now_ns;

static void model_fail(unsigned id, tr_status status);

static void model_clear(unsigned id)
{
    models[id].is_alive = false;
    for (unsigned i = 0; i < models[id].count; i++)
        model_clear(models[id].order[i]);
    models[id].count = 0;
}

/* A fresh incarnation; `is_new`: of a fresh actor, with no past. */
static void model_begin(unsigned id, bool is_new)
{
    struct model *model = &models[id];
    model_clear(id);
    model->is_alive = true;
    model->begun++;
    if (is_new)
        model->restarts = 0;
    for (unsigned i = 0; i < specs[id].child_count; i++) {
        model->order[model->count++] = specs[id].children[i];
        model_begin(specs[id].children[i], true);
    }
}

static void model_stop(unsigned id)
{
    model_clear(id);
    if (!id)
        return;
    struct model *parent = &models[specs[id].parent];
    unsigned kept = 0;
    for (unsigned i = 0; i < parent->count; i++) {
        if (parent->order[i] != id)
            parent->order[kept++] = parent->order[i];
    }
    parent->count = kept;
}

/* How the parent of a node treats it; that of the first is /user. */
static tr_supervision supervision_of(unsigned id)
{
    if (id)
        return kinds[specs[specs[id].parent].kind].supervision;
    return (tr_supervision){.restarts_max = 3, .window_ns = TR_MINUTE};
}

static bool model_allows(unsigned id)
{
    struct model *model = &models[id];
    tr_supervision how = supervision_of(id);
    unsigned max = how.restarts_max < 0 ? 0 : (unsigned)how.restarts_max;
    unsigned kept = 0;
    for (unsigned i = 0; i < model->restarts; i++) {
        if (now_ns - model->times[i] < how.window_ns)
            model->times[kept++] = model->times[i];
    }
    model->restarts = kept;
    if (kept >= max)
        return false;
    model->times[model->restarts++] = now_ns;
    return true;
}

/* Those who go along with a node, itself included; in start order. */
static unsigned members_of(unsigned id, unsigned *members)
{
    const struct model *parent = &models[specs[id].parent];
    bool is_in = supervision_of(id).strategy == TR_ALL_FOR_ONE;
    unsigned count = 0;
    for (unsigned i = 0; i < parent->count; i++) {
        is_in |= parent->order[i] == id;
        if (is_in)
            members[count++] = parent->order[i];
    }
    return count;
}

static void model_restart(unsigned id, tr_status status)
{
    unsigned members[NODES];
    bool is_alone = !id || supervision_of(id).strategy == TR_ONE_FOR_ONE;
    bool is_allowed = model_allows(id);
    unsigned count = 1;
    members[0] = id;
    if (!is_alone)
        count = members_of(id, members);
    for (unsigned i = 0; i < count; i++) {
        if (!is_allowed || kinds[specs[members[i]].kind].options.restart == TR_TEMPORARY)
            model_stop(members[i]);
        else
            model_begin(members[i], false);
    }
    if (!is_allowed && !is_alone)
        model_fail(specs[id].parent, status);
}

static void model_fail(unsigned id, tr_status status)
{
    tr_directive directive = id ? directive_of(status) : TR_RESTART;
    if (kinds[specs[id].kind].options.restart == TR_TEMPORARY)
        directive = TR_STOP_CHILD;
    if (directive == TR_RESTART)
        model_restart(id, status);
    if (directive == TR_STOP_CHILD || directive == TR_ESCALATE)
        model_stop(id);
    if (directive == TR_ESCALATE)
        model_fail(specs[id].parent, status);
}

/* It stops by itself: one that should always be there comes back, as a new actor with its past. */
static void model_end(unsigned id)
{
    if (kinds[specs[id].kind].options.restart != TR_PERMANENT) {
        model_stop(id);
    } else if (model_allows(id)) {
        model_begin(id, false);
    } else {
        model_stop(id);
        if (id && supervision_of(id).strategy != TR_ONE_FOR_ONE)
            model_fail(specs[id].parent, TR_STOPPED);
    }
}

/* ---- Both together. ---- */

static void tree_make(int workers)
{
    memset(specs, 0, sizeof specs);
    memset(models, 0, sizeof models);
    memset(begun, 0, sizeof begun);
    memset(ended, 0, sizeof ended);
    for (unsigned id = 0; id < NODES; id++) {
        struct spec *spec = &specs[id];
        spec->kind = below(KINDS);
        spec->worker = (int)below((unsigned)workers);
        if (!id)
            continue;
        do
            spec->parent = below(id);
        while (specs[spec->parent].depth + 1 >= DEPTH);
        struct spec *parent = &specs[spec->parent];
        spec->depth = parent->depth + 1;
        parent->children[parent->child_count++] = id;
    }
}

static void tree_spawn(tr_client *client)
{
    static const struct plan plan = {.id = 0};
    const tr_spawn_args args = {.size = sizeof args,
                                .behavior = &kinds[specs[0].kind],
                                .name = "n0",
                                .worker = specs[0].worker,
                                .setup_type = &tr_type_plan,
                                .setup = &plan};
    uint64_t bits;
    ck_assert_int_eq(tr_client_try_spawn(client, &args, &bits), TR_OK);
    model_begin(0, true);
}

static void compare(tr_kit *kit, unsigned step)
{
    tr_counters counters;
    unsigned alive = 0;
    tr_kit_check(kit);
    tr_system_counters(tr_kit_system(kit), &counters);
    for (unsigned id = 0; id < NODES; id++) {
        alive += models[id].is_alive;
        ck_assert_msg(begun[id] == models[id].begun,
                      "step %u: %u has begun %u times, not %u",
                      step,
                      id,
                      begun[id],
                      models[id].begun);
        /* Each incarnation has ended, but for the one that lives. */
        ck_assert_msg(begun[id] - ended[id] == models[id].is_alive,
                      "step %u: %u should be %s",
                      step,
                      id,
                      models[id].is_alive ? "alive" : "dead");
    }
    ck_assert_uint_eq(counters.live, alive);
}

static void tree_play(uint64_t seed)
{
    static const tr_status statuses[] = {
        TR_BAD_DATA, TR_BAD_DATA, TR_TIMEOUT, TR_LIMIT, TR_NOT_FOUND};
    random_bits = seed;
    int workers = 1 + (int)below(4);
    const tr_kit_options options = {
        .size = sizeof options, .seed = seed, .workers = workers, .moves = seed / 8 % 2};
    tr_kit *kit = tr_kit_new(&options);
    tr_client *client = tr_kit_client(kit);
    tree_make(workers);
    for (unsigned step = 0; step < FAILURES; step++) {
        if (!models[0].is_alive)
            tree_spawn(client);
        tr_kit_settle(kit);
        now_ns = tr_kit_now(kit);
        unsigned id = below(NODES);
        while (!models[id].is_alive)
            id = (id + 1) % NODES;
        if (below(4)) {
            tr_status status = statuses[below(sizeof statuses / sizeof *statuses)];
            tr_tell(client, node_ref_of(refs[id]), fail_with, .status = status);
            model_fail(id, status);
        } else {
            tr_tell(client, node_ref_of(refs[id]), end_well);
            model_end(id);
        }
        tr_kit_settle(kit);
        compare(kit, step);
        tr_kit_advance(kit, (tr_time)below(TR_SECOND));
    }
    tr_kit_free(kit);
}

TEST(random_trees_live_as_the_reference_says, "SU-25", "S-01", "S-02", "S-03", "S-06", "S-07",
     "S-08")
{
    uint64_t seed = 20260101;
    kinds_make();
    for (int tree = 0; tree < TREES; tree++)
        tree_play(seed + (uint64_t)tree);
}

SUITE("supervision model", random_trees_live_as_the_reference_says)
