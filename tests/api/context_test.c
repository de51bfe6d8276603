/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What a handler has: who and where it is, whom it answers, chance and time, and its defers; in
 * every kind of turn.
 */
#include "support/story.h"
#include "support/test.h"

#include <inttypes.h>
#include <troupe/kit.h>
#include <troupe/troupe.h>

static tr_kit *kit;
static tr_client *test;

static void begin(uint64_t seed, int workers)
{
    kit = tr_kit_new(&(tr_kit_options){.seed = seed, .workers = workers});
    ck_assert_ptr_nonnull(kit);
    test = tr_kit_client(kit);
}

static void end(void)
{
    tr_kit_settle(kit);
    tr_kit_check(kit);
    tr_kit_free(kit);
}

TR_MESSAGE(poke, (i32, n));
TR_MESSAGE(seen, (u64, causal), (ref, sender), (ref, me));
TR_MESSAGE(relay, (list(ref), path));
TR_MESSAGE(pass_on, (ref, to), (str, text));
TR_MESSAGE(grow, (str, name), (u32, worker));
TR_MESSAGE(ask_born);
TR_MESSAGE(born, (u64, causal));
TR_MESSAGE(values, (array(u64, 4), random), (i64, now), (i64, wall));

struct node {
    uint64_t started_by;
};
TR_BEHAVIOR_DECLARE(brooding);

/* ---- Everything, in every kind of turn. ---- */

TR_ACTOR(leaf, poke);
static tr_next leaf_poked(tr_self *self, const struct poke *m)
{
    bool is_parent = tr_is_same(tr_sender(self), tr_parent(self));
    story_add("leaf %d from %s", (int)m->n, is_parent ? "parent" : "?");
    return TR_SAME;
}
TR_BEHAVIOR(leaf, void, TR_ON(poke, leaf_poked), TR_OPTIONS(.restart = TR_TEMPORARY));

struct whole {
    tr_ref me;
    int turns;
    char *kept;
};
static tr_ref outside;

/* Uses each verb that needs no message, and says what kind of turn it was. */
static void use_all(tr_self *self, struct whole *w, const char *kind, bool may_spawn)
{
    tr_ref children[4];
    w->turns++;
    ck_assert(!tr_is_nobody(tr_me(self)));
    ck_assert(tr_is_nobody(w->me) || tr_is_same(w->me, tr_me(self)));
    w->me = tr_me(self);
    ck_assert(tr_is_nobody(tr_parent(self)));
    ck_assert_str_eq(tr_path(self), "/user/whole");
    ck_assert_str_eq(tr_name(self), "whole");
    ck_assert_int_eq(tr_worker(self), 0);
    ck_assert_ptr_eq(tr_system_of(self), tr_kit_system(kit));
    ck_assert_int_eq(tr_now(self), tr_kit_now(kit));
    ck_assert_int_gt(tr_wall_now(self), 1704067199 * TR_SECOND);
    (void)tr_random(self);
    tr_log_info(self, "in %s", kind);
    tr_defer(self, tr_format(self, "end of %s", kind), story_release);

    char *block = tr_alloc(self, 100);
    ck_assert_int_eq(block[99], 0);
    block = tr_realloc(self, block, 5000);
    ck_assert_int_eq(block[4999], 0);
    tr_free(self, block);
    if (w->kept)
        ck_assert_str_eq(w->kept, "kept");
    else
        w->kept = tr_strdup(self, "kept");
    ck_assert_str_eq(tr_format(self, "%d-%s", 5, "x"), "5-x");
    ck_assert_ptr_nonnull(tr_scratch(self, 10000));
    ck_assert_int_eq(tr_tell(self, outside, seen, .causal = tr_causal_id(self)), TR_OK);

    leaf_ref child = {0};
    char *name = tr_format(self, "leaf-%s", kind);
    tr_status status = tr_try_spawn(self, &child, leaf, name);
    ck_assert_int_eq(status, may_spawn ? TR_OK : TR_STOPPING);
    if (may_spawn) {
        size_t count = tr_children(self, children, 4);
        ck_assert_uint_ge(count, 1);
        ck_assert(tr_is_same(children[count - 1], child));
        ck_assert(tr_is_same(tr_child(self, leaf, name), child));
        ck_assert(tr_is_same(tr_find(self, leaf, tr_format(self, "/user/whole/%s", name)), child));
        ck_assert_int_eq(tr_tell(self, child, poke, .n = w->turns), TR_OK);
        ck_assert_int_eq(tr_stop_child(self, child), TR_OK);
    } else {
        ck_assert_uint_eq(tr_children(self, children, 4), 0);
        ck_assert(tr_is_nobody(tr_child(self, leaf, "leaf-a message")));
    }
    ck_assert_int_eq(tr_stop_child(self, outside), TR_NOT_FOUND);
    ck_assert_int_eq(tr_stop_child(self, tr_me(self)), TR_NOT_FOUND);
    story_add("%s", kind);
}

static tr_next whole_set_up(tr_self *self, struct whole *w)
{
    ck_assert(tr_is_nobody(tr_sender(self)));
    ck_assert_int_eq(tr_try_reply(self, poke), TR_NO_SENDER);
    use_all(self, w, "set-up", true);
    return TR_SAME;
}
static tr_next whole_start(tr_self *self, struct whole *w)
{
    ck_assert_int_eq(tr_try_reply(self, poke), TR_NO_SENDER);
    use_all(self, w, "start", true);
    return TR_SAME;
}
static tr_next whole_poked(tr_self *self, struct whole *w)
{
    ck_assert(tr_is_same(tr_sender(self), outside));
    ck_assert_int_eq(tr_try_reply(self, poke, .n = 1), TR_OK);
    use_all(self, w, "message", true);
    return TR_SAME;
}
static tr_next whole_stop(tr_self *self, struct whole *w)
{
    ck_assert_int_eq(tr_try_reply(self, poke), TR_NO_SENDER);
    use_all(self, w, "stop", false);
    ck_assert_int_eq(w->turns, 4);
    /* It stops already: nobody can call it. */
    ck_assert_int_eq(tr_tell(self, tr_me(self), poke), TR_STOPPED);
    ck_assert_int_eq(tr_stop(self, tr_me(self)), TR_STOPPED);
    ck_assert_int_eq(tr_kill(self, tr_me(self)), TR_STOPPED);
    return tr_become(self, leaf);
}
TR_BEHAVIOR(whole, struct whole, TR_SETUP(whole_set_up), TR_ON(tr_pre_start, whole_start),
            TR_ON(poke, whole_poked), TR_ON(tr_post_stop, whole_stop),
            TR_OPTIONS(.restart = TR_TEMPORARY));
TR_ACTOR(whole, poke);

TEST(every_verb_works_in_every_kind_of_turn, "B-04", "G-06", "L-06")
{
    begin(1, 1);
    outside = tr_client_ref(test);
    whole_ref w = {0};
    ck_assert_int_eq(tr_try_spawn(test, &w, whole, "whole"), TR_OK);
    tr_kit_settle(kit);
    ck_assert_str_eq(story_take(),
                     "set-up; end of set-up; start; end of start; "
                     "leaf 1 from parent; leaf 2 from parent");
    tr_tell(test, w, poke);
    tr_kit_settle(kit);
    ck_assert_str_eq(story_take(), "message; end of message; leaf 3 from parent");
    tr_stop(test, w);
    tr_kit_settle(kit);
    ck_assert_str_eq(story_take(), "stop; end of stop");
    for (int i = 0; i < 4; i++)
        ck_assert_ptr_nonnull(tr_receive(test, seen, 0));
    end();
}

/* ---- Sender, reply, forward, causal id. ---- */

static void report(tr_self *self)
{
    tr_tell(self,
            outside,
            seen,
            .causal = tr_causal_id(self),
            .sender = tr_sender(self),
            .me = tr_me(self));
}
static tr_next on_relay(tr_self *self, const struct relay *m)
{
    report(self);
    if (m->path.count == 0)
        return tr_reply(self, poke, .n = 1);
    tr_tell(self, m->path.items[0], relay, .path = {m->path.items + 1, m->path.count - 1});
    return TR_SAME;
}
static tr_next on_poke(tr_self *self)
{
    report(self);
    return TR_SAME;
}
static tr_next on_pass(tr_self *self, const struct pass_on *m)
{
    report(self);
    if (tr_is_same(m->to, tr_me(self)))
        return tr_reply(self, poke, .n = 1);
    return tr_forward(self, m->to);
}
static tr_next on_grow(tr_self *self, const struct grow *m);
static tr_next node_start(tr_self *self, struct node *n)
{
    n->started_by = tr_causal_id(self);
    return TR_SAME;
}
static tr_next on_born(tr_self *self, struct node *n)
{
    return tr_reply(self, born, .causal = n->started_by);
}
TR_BEHAVIOR(node, struct node, TR_ON(relay, on_relay), TR_ON(poke, on_poke),
            TR_ON(pass_on, on_pass), TR_ON(grow, on_grow), TR_ON(tr_pre_start, node_start),
            TR_ON(ask_born, on_born), TR_OPTIONS(.restart = TR_TEMPORARY));
TR_ACTOR(node, relay, poke, pass_on, grow, ask_born);

static tr_next on_grow(tr_self *self, const struct grow *m)
{
    report(self);
    tr_spawn_at(self, (int)m->worker, node, m->name);
    return TR_SAME;
}

static node_ref nodes[3];
static void spawn_nodes(void)
{
    outside = tr_client_ref(test);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(tr_try_spawn_at(test, &nodes[i], i, node, NULL), TR_OK);
}

static struct seen next_seen(void)
{
    const struct seen *s = tr_receive(test, seen, TR_SECOND);
    ck_assert_ptr_nonnull(s);
    ck_assert_uint_ne(s->causal, 0);
    return *s;
}

TEST(a_causal_id_goes_along_and_outer_ones_differ, "B-04")
{
    begin(1, 3);
    spawn_nodes();
    uint64_t before = 0;
    for (int round = 0; round < 20; round++) {
        tr_ref path[] = {tr_any(nodes[1]), tr_any(nodes[2])};
        tr_tell(test, nodes[0], relay, .path = {path, 2});
        struct seen first = next_seen();
        ck_assert(tr_is_same(first.sender, outside));
        ck_assert_uint_ne(first.causal, before);
        before = first.causal;
        static const int who[] = {1, 2, 1};
        static const int from[] = {0, 1, 2};
        for (int i = 0; i < 3; i++) {
            struct seen next = next_seen();
            ck_assert_uint_eq(next.causal, first.causal);
            ck_assert(tr_is_same(next.me, nodes[who[i]]));
            ck_assert(tr_is_same(next.sender, nodes[from[i]]));
        }
    }
    end();
}

TEST(who_is_forwarded_to_sees_the_first_sender_and_cause, "B-04")
{
    begin(1, 3);
    spawn_nodes();
    for (int to = 0; to < 3; to++) {
        tr_tell(test, nodes[1], pass_on, .to = tr_any(nodes[to]), .text = "as it was");
        struct seen first = next_seen();
        struct seen last = to == 1 ? first : next_seen();
        ck_assert(tr_is_same(last.me, nodes[to]));
        ck_assert(tr_is_same(last.sender, outside));
        ck_assert_uint_eq(last.causal, first.causal);
        ck_assert_ptr_nonnull(tr_receive(test, poke, TR_SECOND));
    }
    /* To nobody and to the dead: a dead letter that names the first sender. */
    tr_tell(test, nodes[1], pass_on, .to = TR_NOBODY);
    tr_kit_settle(kit);
    tr_dead_letter_record record;
    ck_assert_uint_eq(tr_system_dead_letters(tr_kit_system(kit), &record, 1, NULL), 1);
    ck_assert_str_eq(record.type, "pass_on");
    ck_assert_int_eq(record.reason, TR_STOPPED);
    end();
}

TEST(a_child_is_caused_by_what_its_parent_handled, "B-04")
{
    begin(1, 2);
    outside = tr_client_ref(test);
    ck_assert_int_eq(tr_try_spawn(test, &nodes[0], node, "top"), TR_OK);
    for (uint32_t worker = 0; worker < 2; worker++) {
        tr_tell(test, nodes[0], grow, .name = worker ? "far" : "near", .worker = worker);
        uint64_t cause = next_seen().causal;
        node_ref child = tr_find(test, node, worker ? "/user/top/far" : "/user/top/near");
        ck_assert(!tr_is_nobody(child));
        tr_tell(test, child, ask_born);
        const struct born *b = tr_receive(test, born, TR_SECOND);
        ck_assert_ptr_nonnull(b);
        ck_assert_uint_eq(b->causal, cause);
    }
    end();
}

/* A client is a sender, too; what comes without one cannot be answered. */
static tr_next orphan_start(tr_self *self)
{
    tr_tell(self, tr_me(self), poke, .n = 1);
    return TR_SAME;
}
static tr_next orphan_poked(tr_self *self, const struct poke *m)
{
    story_add("%s %s",
              tr_is_same(tr_sender(self), tr_me(self)) ? "self" : "other",
              tr_status_name(tr_try_reply(self, seen)));
    if (m->n == 1)
        tr_tell(self, tr_me(self), poke, .n = 2);
    return TR_SAME;
}
static tr_next orphan_letter(tr_self *self, const struct tr_dead_letter *m)
{
    story_add("%s", m->type);
    /* This is a dead letter too, of which it will hear. */
    if (!strcmp(m->type, "poke"))
        ck_assert_int_eq(tr_try_reply(self, seen), TR_NO_SENDER);
    ck_assert(tr_is_nobody(tr_sender(self)));
    return TR_SAME;
}
static tr_next orphan_seen(void)
{
    return TR_SAME;
}
TR_BEHAVIOR(orphan, void, TR_ON(tr_pre_start, orphan_start), TR_ON(poke, orphan_poked),
            TR_ON(seen, orphan_seen), TR_ON(tr_dead_letter, orphan_letter),
            TR_OPTIONS(.restart = TR_TEMPORARY));
TR_ACTOR(orphan, poke, seen, tr_dead_letter);

TEST(a_reply_needs_a_sender, "B-04", "SG-15")
{
    begin(1, 1);
    orphan_ref o = {0};
    ck_assert_int_eq(tr_try_spawn(test, &o, orphan, NULL), TR_OK);
    tr_kit_settle(kit);
    ck_assert_str_eq(story_take(), "self TR_OK; self TR_OK");
    ck_assert_int_eq(tr_system_subscribe_dead_letters(tr_kit_system(kit), tr_any(o)), TR_OK);
    ck_assert_int_eq(tr_tell(test, TR_NOBODY, poke), TR_STOPPED);
    tr_kit_settle(kit);
    ck_assert_str_eq(story_take(), "poke; seen");
    ck_assert_int_eq(tr_system_unsubscribe_dead_letters(tr_kit_system(kit), tr_any(o)), TR_OK);
    end();
}

/* ---- Children. ---- */

static tr_next on_brood(tr_self *self, const struct poke *m)
{
    tr_ref all[40];
    tr_ref some[3];
    leaf_ref spawned[40];
    for (int i = 0; i < m->n; i++)
        spawned[i] = tr_spawn(self, leaf, i % 2 ? NULL : tr_format(self, "child-%d", i));
    ck_assert_uint_eq(tr_children(self, NULL, 0), (size_t)m->n);
    ck_assert_uint_eq(tr_children(self, NULL, 100), (size_t)m->n);
    ck_assert_uint_eq(tr_children(self, all, 40), (size_t)m->n);
    for (int i = 0; i < m->n; i++)
        ck_assert(tr_is_same(all[i], spawned[i]));
    some[2] = TR_NOBODY;
    ck_assert_uint_eq(tr_children(self, some, 2), (size_t)m->n);
    ck_assert(tr_is_same(some[1], spawned[1]));
    ck_assert(tr_is_nobody(some[2]));
    ck_assert_uint_eq(tr_children(self, some, 0), (size_t)m->n);
    ck_assert(tr_is_same(tr_child(self, leaf, "child-4"), spawned[4]));
    ck_assert(tr_is_nobody(tr_child(self, leaf, "child-5")));
    for (int i = 0; i < m->n; i += 3)
        ck_assert_int_eq(tr_stop_child(self, spawned[i]), TR_OK);
    return tr_become(self, brooding);
}
static tr_next on_brooding(tr_self *self, const struct poke *m)
{
    tr_ref all[40];
    size_t count = tr_children(self, all, 40);
    ck_assert_uint_eq(count, (size_t)m->n);
    for (size_t i = 1; i < count; i++)
        ck_assert_uint_ne(all[i].bits, all[i - 1].bits);
    ck_assert(tr_is_nobody(tr_child(self, leaf, "child-6")));
    ck_assert(!tr_is_nobody(tr_child(self, leaf, "child-4")));
    story_add("counted");
    return TR_SAME;
}
TR_BEHAVIOR(brood, void, TR_ON(poke, on_brood), TR_OPTIONS(.restart = TR_TEMPORARY));
TR_BEHAVIOR(brooding, void, TR_ON(poke, on_brooding), TR_OPTIONS(.restart = TR_TEMPORARY));
TR_ACTOR(brood, poke);

TEST(children_are_listed_oldest_first, "B-04", "LC-19")
{
    begin(1, 1);
    brood_ref b = {0};
    ck_assert_int_eq(tr_try_spawn(test, &b, brood, "b"), TR_OK);
    tr_tell(test, b, poke, .n = 30);
    tr_kit_settle(kit);
    tr_tell(test, b, poke, .n = 20);
    tr_kit_settle(kit);
    ck_assert_str_eq(story_take(), "counted");
    end();
}

/* ---- Defers. ---- */

static int released;
static void count_release(void *resource)
{
    ck_assert_ptr_eq(resource, &released);
    released++;
}
static tr_next on_defer(tr_self *self, const struct poke *m)
{
    for (int i = 0; i < m->n; i++)
        tr_defer(self, &released, count_release);
    ck_assert_int_le(m->n, TR_DEFERS_MAX);
    story_add("all");
    return m->n == 7 ? TR_DECLINE : TR_SAME;
}
static tr_next on_order(tr_self *self)
{
    static char words[3][2] = {"a", "b", "c"};
    for (int i = 0; i < 3; i++)
        tr_defer(self, words[i], story_release);
    story_add("body");
    return TR_SAME;
}
TR_BEHAVIOR(defers, void, TR_ON(poke, on_defer), TR_ON(relay, on_order),
            TR_OPTIONS(.restart = TR_TEMPORARY));
TR_ACTOR(defers, poke, relay);

TEST(defers_run_last_first_when_the_turn_ends, "B-04")
{
    begin(1, 1);
    defers_ref d = {0};
    ck_assert_int_eq(tr_try_spawn(test, &d, defers, NULL), TR_OK);
    tr_tell(test, d, relay);
    tr_tell(test, d, relay);
    tr_kit_settle(kit);
    ck_assert_str_eq(story_take(), "body; c; b; a; body; c; b; a");
    tr_tell(test, d, poke, .n = 7);
    tr_tell(test, d, poke, .n = TR_DEFERS_MAX);
    tr_kit_settle(kit);
    ck_assert_int_eq(released, 7 + TR_DEFERS_MAX);
    ck_assert_str_eq(story_take(), "all; all");
    /* One more is released too, and the turn ends there. */
    released = 0;
    tr_tell(test, d, poke, .n = TR_DEFERS_MAX + 1);
    tr_kit_settle(kit);
    ck_assert_int_eq(released, TR_DEFERS_MAX + 1);
    ck_assert_str_eq(story_take(), "");
    ck_assert_int_eq(tr_tell(test, d, poke), TR_STOPPED);
    end();
}

/* ---- Chance and time. ---- */

static tr_next on_values(tr_self *self)
{
    struct values v = {.now = tr_now(self), .wall = tr_wall_now(self)};
    for (int i = 0; i < 4; i++)
        v.random[i] = tr_random(self);
    tr_tell_copy(self, tr_sender(self), values, &v);
    return TR_SAME;
}
TR_BEHAVIOR(chance, void, TR_ON(poke, on_values), TR_OPTIONS(.restart = TR_TEMPORARY));
TR_ACTOR(chance, poke);

static struct values draw(uint64_t seed, int worker)
{
    begin(seed, 2);
    chance_ref c = {0};
    ck_assert_int_eq(tr_try_spawn_at(test, &c, worker, chance, NULL), TR_OK);
    tr_kit_advance(kit, 3 * TR_SECOND);
    tr_tell(test, c, poke);
    const struct values *v = tr_receive(test, values, TR_SECOND);
    ck_assert_ptr_nonnull(v);
    struct values copy = *v;
    ck_assert_int_eq(copy.now, tr_kit_now(kit));
    end();
    return copy;
}

TEST(chance_depends_on_the_seed_alone, "B-04", "V-01")
{
    struct values a = draw(7, 0);
    struct values b = draw(7, 0);
    struct values c = draw(8, 0);
    struct values d = draw(7, 1);
    ck_assert_mem_eq(a.random, b.random, sizeof a.random);
    ck_assert_mem_ne(a.random, c.random, sizeof a.random);
    ck_assert_mem_ne(a.random, d.random, sizeof a.random);
    for (int i = 1; i < 4; i++)
        ck_assert_uint_ne(a.random[i], a.random[i - 1]);
    ck_assert_int_eq(a.now, b.now);
    ck_assert_int_eq(a.wall, b.wall);
    ck_assert_int_ge(a.now, 3 * TR_SECOND);
}

/* ---- Names that nobody chose. ---- */

static tr_next on_who(tr_self *self)
{
    tr_ref found = tr_any(tr_find(self, leaf, tr_path(self)));
    ck_assert(tr_is_nobody(found));
    ck_assert_ptr_nonnull(strstr(tr_path(self), tr_name(self)));
    story_add("%s", tr_path(self));
    return TR_SAME;
}
TR_BEHAVIOR(unnamed, void, TR_ON(poke, on_who), TR_OPTIONS(.restart = TR_TEMPORARY));
TR_ACTOR(unnamed, poke);

TEST(an_anonymous_actor_has_a_path_of_its_own, "B-04", "L-07")
{
    begin(1, 1);
    unnamed_ref u[2] = {{0}};
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(tr_try_spawn(test, &u[i], unnamed, NULL), TR_OK);
        tr_tell(test, u[i], poke);
    }
    tr_kit_settle(kit);
    const char *first = story_take();
    const char *second = strstr(first, "; ");
    ck_assert_ptr_nonnull(second);
    ck_assert_int_eq(strncmp(first, "/user/", 6), 0);
    ck_assert_int_eq(strncmp(second + 2, "/user/", 6), 0);
    ck_assert_int_ne(strncmp(first, second + 2, (size_t)(second - first)), 0);
    end();
}

SUITE("context", every_verb_works_in_every_kind_of_turn,
      a_causal_id_goes_along_and_outer_ones_differ,
      who_is_forwarded_to_sees_the_first_sender_and_cause,
      a_child_is_caused_by_what_its_parent_handled, a_reply_needs_a_sender,
      children_are_listed_oldest_first, defers_run_last_first_when_the_turn_ends,
      chance_depends_on_the_seed_alone, an_anonymous_actor_has_a_path_of_its_own)
