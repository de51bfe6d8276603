/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Budgets of trees: an actor and all below it, on one worker and on three.
 */
#include "support/kits.h"

#define KIB ((size_t)1024)

/* A page is a line of the envelope and 4,000 bytes, which are 63 lines. */
enum { PAGE = 64 * 64 };

TR_MESSAGE(page, (array(u8, 4000), bytes));
TR_ACTOR(saver, run, page);
TR_ACTOR(free_one, run, page);
TR_ACTOR(root, run, page);

static tr_usage used; /* what the last turn of `measure` saw */
static size_t amount;

static tr_next on_stop(tr_self *self)
{
    say("end %s", tr_name(self));
    return TR_SAME;
}

static tr_next on_page(void)
{
    return TR_SAME;
}

static tr_next measure(tr_self *self)
{
    used = tr_budget_used(self);
    return TR_SAME;
}

#define ROWS TR_ON(run, on_run), TR_ON(page, on_page), TR_ON(tr_post_stop, on_stop)
TR_BEHAVIOR(saver, void, ROWS, TR_OPTIONS(.restart = TR_TEMPORARY, .budget_bytes = 64 * KIB));
TR_BEHAVIOR(free_one, void, ROWS, TR_OPTIONS(.restart = TR_TEMPORARY));
TR_BEHAVIOR(root, void, ROWS, TR_OPTIONS(.restart = TR_TEMPORARY, .tree_budget_bytes = 256 * KIB));

static tr_usage usage_of(tr_ref who)
{
    used = (tr_usage){.bytes = SIZE_MAX};
    ck_assert_int_eq(
        tr_client_tell(test, who, &tr_type_run, &(struct run){(uint64_t)(uintptr_t)measure}),
        TR_OK);
    tr_kit_settle(kit);
    ck_assert_uint_ne(used.bytes, SIZE_MAX);
    return used;
}

static root_ref root;
static tr_ref children[3];

static tr_next spawn_children(tr_self *self)
{
    int workers = tr_system_workers(tr_system_of(self));
    for (int i = 0; i < 3; i++) {
        char name[16];
        snprintf(name, sizeof name, "c%d", i);
        children[i] = tr_any(tr_spawn_at(self, i % workers, free_one, name));
    }
    return TR_SAME;
}

static tr_next save(tr_self *self)
{
    (void)tr_alloc(self, amount);
    say("saved");
    return TR_SAME;
}

static tr_next try_save(tr_self *self)
{
    say(tr_try_alloc(self, amount) ? "saved" : "refused");
    return TR_SAME;
}

static void do_save(tr_ref who, size_t size, turn *how)
{
    amount = size;
    (void)tr_client_tell(test, who, &tr_type_run, &(struct run){(uint64_t)(uintptr_t)how});
    tr_kit_settle(kit);
}

static size_t begin_tree(void)
{
    ck_assert_int_eq(tr_try_spawn_at(test, &root, home, root, "root"), TR_OK);
    size_t alone = usage_of(tr_any(root)).tree_bytes;
    ck_assert_uint_eq(alone, used.bytes);
    TELL_RUN(test, root, spawn_children);
    tr_kit_settle(kit);
    return alone;
}

static void play_tree(void)
{
    size_t alone = begin_tree();
    size_t with_children = usage_of(tr_any(root)).tree_bytes;
    ck_assert_uint_eq(with_children, 4 * alone);
    do_save(children[0], 100 * KIB, save);
    do_save(children[1], 100 * KIB, save);
    ck_assert_uint_ge(usage_of(tr_any(root)).tree_bytes, with_children + 200 * KIB);
    ck_assert_uint_lt(used.tree_bytes, with_children + 203 * KIB);
    ck_assert_uint_eq(used.bytes, alone);
    do_save(children[2], 100 * KIB, try_save); /* who asks politely does no harm */
    SAID("saved; saved; refused");
    tr_stop(test, children[0]);
    tr_kit_settle(kit);
    do_save(children[2], 100 * KIB, save); /* what it had is there again */
    SAID("end c0; saved");
    tr_kill(test, children[1]);
    tr_stop(test, children[2]);
    tr_kit_settle(kit);
    ck_assert_uint_eq(usage_of(tr_any(root)).tree_bytes, alone);
    (void)said();
    TELL_RUN(test, root, spawn_children);
    tr_kit_settle(kit);
    do_save(children[1], 250 * KIB, save);
    do_save(children[2], 100 * KIB, save); /* its turn ends, and so do they all */
    const char *end = said();
    ck_assert_msg(strncmp(end, "saved; end c", 12) == 0, "%s", end);
    ck_assert_msg(strcmp(end + strlen(end) - 8, "end root") == 0, "%s", end);
    ck_assert_int_eq(tr_tell(test, root, page), TR_STOPPED);
}

TEST(a_tree_has_a_budget_over_all_workers, "O-06")
{
    kits_each(play_tree);
}

static void play_tree_mail(void)
{
    size_t with_children = 4 * begin_tree();
    for (int i = 0; i < 3; i++)
        tr_suspend(test, children[i]);
    tr_kit_settle(kit);
    size_t fit = (256 * KIB - with_children) / PAGE;
    for (size_t i = 0; i < fit; i++)
        tr_client_tell(test, children[i % 3], &tr_type_page, &(struct page){.bytes = {0}});
    tr_kit_settle(kit);
    ck_assert_uint_eq(usage_of(tr_any(root)).tree_bytes, with_children + fit * PAGE);
    SAID("");
    tr_client_tell(test, children[1], &tr_type_page, &(struct page){.bytes = {0}});
    tr_kit_settle(kit);
    const char *end = said();
    ck_assert_msg(strlen(end) > 8 && strcmp(end + strlen(end) - 8, "end root") == 0, "%s", end);
}

TEST(mail_in_a_tree_counts, "O-06")
{
    kits_each(play_tree_mail);
}

static tr_next spawn_saver(tr_self *self)
{
    children[0] = tr_any(tr_spawn_at(self, 0, saver, "saver"));
    return TR_SAME;
}

static void play_nested(void)
{
    (void)begin_tree();
    /* A grandchild with a budget of its own fails alone. */
    TELL_RUN(test, root, spawn_saver);
    tr_kit_settle(kit);
    do_save(children[0], 100 * KIB, save);
    SAID("end saver");
    do_save(children[1], 100 * KIB, save);
    SAID("saved");
    ck_assert_uint_gt(usage_of(tr_any(root)).tree_bytes, 100 * KIB);
    tr_stop(test, root);
    tr_kit_settle(kit);
    (void)said();
}

TEST(a_budget_in_a_tree_fails_alone, "O-06")
{
    kits_each(play_nested);
}

static tr_next set_up_family(tr_self *self)
{
    int workers = tr_system_workers(tr_system_of(self));
    for (int i = 0; i < workers; i++)
        (void)tr_spawn_at(self, i, free_one, NULL);
    return tr_fail(self, TR_FAILED, "on purpose");
}

TR_ACTOR(stillborn, run);
TR_BEHAVIOR(stillborn, void, TR_SETUP(set_up_family),
            TR_OPTIONS(.restart = TR_TEMPORARY, .tree_budget_bytes = 256 * KIB,
                       .tree_budget_cpu_ns = TR_SECOND));

static void play_stillborn(void)
{
    stillborn_ref stillborn;
    ck_assert_int_eq(tr_try_spawn_at(test, &stillborn, home, stillborn, "s"), TR_OK);
    ck_assert_int_eq(tr_spawn_wait(test, stillborn, TR_SECOND, NULL), TR_INIT_FAILED);
    tr_kit_settle(kit);
    (void)said();
}

TEST(a_tree_outlives_the_failure_of_its_set_up, "O-06")
{
    kits_each(play_stillborn);
}

/* ---- Out of memory, at each allocation. ---- */

static void play_without_memory(uint64_t nth, bool and_all_after)
{
    tr_kit_fail_allocation(kit, nth, and_all_after);
    root_ref who;
    if (tr_try_spawn_at(test, &who, home, root, NULL) == TR_OK) {
        TELL_RUN(test, who, spawn_children);
        tr_kit_settle(kit);
        for (int i = 0; i < 3; i++)
            do_save(children[i], 10 * KIB, try_save);
        tr_tell(test, who, page);
        tr_kit_settle(kit);
    }
    tr_kit_fail_allocation(kit, 0, false);
    tr_kill(test, who);
    tr_kit_settle(kit);
    (void)said();
    tr_kit_check(kit);
}

TEST(budgets_survive_without_memory, "O-06")
{
    for (uint64_t nth = 1; nth <= 60; nth++) {
        kit_open(3, nth);
        memset(children, 0, sizeof children);
        play_without_memory(nth, false);
        play_without_memory(nth, true);
        begin_tree(); /* and all works again */
        tr_kill(test, root);
        tr_kit_settle(kit);
        kit_close();
    }
}

SUITE("budget of a tree", a_tree_has_a_budget_over_all_workers, mail_in_a_tree_counts,
      a_budget_in_a_tree_fails_alone, a_tree_outlives_the_failure_of_its_set_up,
      budgets_survive_without_memory)
