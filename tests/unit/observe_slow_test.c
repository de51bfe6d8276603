/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Slow turns: for how long they are followed, and for how long what they have led to is kept.
 */
#include "support/kits.h"

#include <troupe/observe.h>

#include "observe/slow_trees.h"
#include "observe/trials.h"
#include "observe/visitor.h"

TR_MESSAGE(deposit, (u64, cents));
TR_ACTOR(purse, deposit);

static tr_next on_deposit(void)
{
    return TR_SAME;
}
TR_BEHAVIOR(purse, void, TR_ON(deposit, on_deposit));

static purse_ref purse_;
static struct observer observer;
static struct visitor visitor;

static void begin(void)
{
    ck_assert_int_eq(tr_try_spawn_at(test, &purse_, home, purse, "purse"), TR_OK);
    tr_kit_settle(kit);
    observer = (struct observer){.system = tr_kit_system(kit), .client = test, .app = "play"};
    tr__visitor_open(&visitor, &observer, 1000);
    visitor.output.length = 0;
}

/* Returns the answer to a request. */
static const char *ask(const char *line)
{
    static char text[VISITOR_PAGE_MAX];
    tr__visitor_input(&visitor, line, strlen(line));
    tr__visitor_input(&visitor, "\n", 1);
    tr__visitor_work(&visitor);
    tr_kit_settle(kit);
    tr__visitor_work(&visitor);
    size_t length = visitor.output.length;
    ck_assert_uint_lt(length, sizeof text);
    memcpy(text, visitor.output.data, length);
    text[length] = '\0';
    visitor.output.length = 0;
    return text;
}

/* ---- For how long they are followed. ---- */

static bool is_following(void)
{
    return observer.trials.until_ns != 0;
}

static int follows_ms(void)
{
    return (int)((observer.trials.until_ns - tr__observer_now(&observer)) / TR_MILLISECOND);
}

static void deposits(uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        tr_tell(test, purse_, deposit, .cents = 1);
        if (i % 100 == 0)
            tr_kit_settle(kit);
    }
    tr_kit_settle(kit);
}

/* The more a program handles, the shorter: the time of all its turns has a bound. */
static void play_trials(void)
{
    static const char request[] = "{\"id\":1,\"do\":\"slow\",\"follow\":true}";
    begin();
    (void)ask("{\"id\":1,\"do\":\"slow\"}");
    ck_assert(!is_following());
    ck_assert_int_eq(tr__trials_look(&observer), -1);
    ck_assert(strstr(ask(request), "\"ok\""));
    ck_assert(is_following());
    ck_assert_int_le(follows_ms(), 501); /* how busy it is is not known yet */
    ck_assert_int_gt(tr__trials_look(&observer), 400);
    tr_kit_advance(kit, TR_SECOND);
    ck_assert_int_gt(tr__trials_look(&observer), 400);
    ck_assert_int_gt(follows_ms(), 4900); /* it handled nothing in the first window */
    tr_kit_advance(kit, 3 * TR_SECOND);
    (void)ask(request); /* nor until now */
    ck_assert_int_gt(follows_ms(), 5900);
    tr_kit_advance(kit, 7 * TR_SECOND);
    ck_assert_int_gt(tr__trials_look(&observer), 50000); /* then the trees are given up */
    ck_assert(!is_following());
    (void)ask(request);
    tr_kit_advance(kit, 5 * TR_MILLISECOND);
    deposits(10000); /* two million a second */
    tr__trials_end(&observer);
    (void)ask(request);
    int busy_ms = follows_ms();
    ck_assert_int_gt(busy_ms, 0);
    ck_assert_int_lt(busy_ms, 1000);
    tr__trials_end(&observer);
    ck_assert(!is_following());
    tr_kit_advance(kit, 70 * TR_SECOND);
    ck_assert_int_eq(tr__trials_look(&observer), -1);
    ck_assert_ptr_null(observer.trees);
    tr__visitor_close(&visitor);
}

TEST(slow_turns_are_followed_for_a_part_of_the_time, "I-11")
{
    kits_each(play_trials);
}

/* ---- For how long their trees stay. ---- */

/* Returns the causal id of the first turn of a list that has a tree; NULL: none has. */
static const char *tree_id(const char *list)
{
    static char id[17];
    const char *found = strstr(list, "\",\"followed\":true");
    if (!found)
        return NULL;
    ck_assert_int_ge(found - list, 16);
    memcpy(id, found - 16, 16);
    return id;
}

/* The rings may be written over many times between the list and the look at a tree that it has named. */
static void play_trees(void)
{
    static const char follow[] = "{\"id\":1,\"do\":\"slow\",\"follow\":true}";
    char request[200];
    begin();
    ck_assert_ptr_null(tree_id(ask(follow)));
    deposits(100);
    const char *answer = ask(follow);
    const char *id = tree_id(answer);
    ck_assert_ptr_nonnull(id);
    (void)ask(
        "{\"id\":2,\"do\":\"trace\",\"path\":\"/user/purse\",\"after\":18446744073709551615}");
    deposits(5000);
    tr_kit_advance(kit, TR_SECOND);
    (void)tr__trials_look(&observer);
    answer = ask("{\"id\":7,\"do\":\"trace\",\"path\":\"/user/purse\",\"limit\":1}");
    ck_assert_ptr_null(strstr(answer, "\"missed\":0,")); /* the oldest records were replaced */
    (void)snprintf(
        request, sizeof request, "{\"id\":3,\"do\":\"trace\",\"causal\":\"%s\",\"limit\":1}", id);
    answer = ask(request);
    ck_assert_ptr_nonnull(strstr(answer, "\"what\":\"began\""));
    ck_assert_ptr_nonnull(strstr(answer, "\"more\":true"));
    (void)snprintf(request, sizeof request, "{\"id\":4,\"do\":\"trace\",\"causal\":\"%s\"}", id);
    answer = ask(request);
    ck_assert_ptr_nonnull(strstr(answer, "\"what\":\"began\""));
    ck_assert_ptr_nonnull(strstr(answer, "\"what\":\"ended\""));
    ck_assert_ptr_nonnull(strstr(answer, "\"missed\":0"));
    ck_assert_ptr_nonnull(
        strstr(answer, "\"cut\":true")); /* what came later may have been replaced */
    /* Its records are given once, whether they are still in a ring or not. */
    size_t began = 0;
    for (const char *at = answer; (at = strstr(at, "\"what\":\"began\"")); at++)
        began++;
    ck_assert_uint_eq(began, 1);
    tr_kit_advance(kit, 70 * TR_SECOND);
    ck_assert_ptr_null(tree_id(ask("{\"id\":5,\"do\":\"slow\"}")));
    tr__visitor_close(&visitor);
    tr__trials_end(&observer);
    tr__slow_trees_free(&observer);
}

TEST(a_tree_that_a_list_has_named_is_there, "I-11")
{
    kits_each(play_trees);
}

SUITE("observe slow", slow_turns_are_followed_for_a_part_of_the_time,
      a_tree_that_a_list_has_named_is_there)
