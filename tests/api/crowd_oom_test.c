/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Groups, routers and topics out of memory: each scenario runs once for every n, with the n-th
 * allocation refused, and once more with all from the n-th on. What is refused is a status; nothing is
 * lost or leaked (the kit aborts), what is shared is freed once, and afterwards all works again.
 */
#include "support/kits.h"

TR_MESSAGE(open_it, (str, text));
TR_MESSAGE(item, (u64, key), (str, text));
TR_MESSAGE(told_key, (u64, key));
TR_REQUEST(look, told_key, (u64, key));
TR_ACTOR(member, item, look, run);
TR_ROUTES(member, TR_ROUTE_BY(item, key), TR_ROUTE_BY(look, key));
TR_TOPIC(news, item);

static int items;
static news_topic news;
static member_ref made;

static bool is_fair(tr_status status)
{
    return status == TR_OK || status == TR_NO_MEMORY || status == TR_STOPPED ||
           status == TR_INIT_FAILED || status == TR_FAILED;
}
#define FAIR(call) ck_assert_msg(is_fair(call), "%s", #call)

static tr_next set_up(tr_self *self, const struct open_it *message)
{
    ck_assert_str_eq(message->text, "a text that is not short");
    (void)tr_strdup(self, message->text);
    return TR_SAME;
}
static tr_next on_item(const struct item *message)
{
    ck_assert_str_eq(message->text, "a text that is shared by all");
    items++;
    return TR_SAME;
}
static tr_next on_look(tr_self *self, const struct look *message)
{
    return tr_reply(self, told_key, .key = message->key);
}
TR_BEHAVIOR(member, void, TR_SETUP_WITH(open_it, set_up), TR_ON(item, on_item),
            TR_ON(look, on_look), TR_ON(run, on_run));

TR_ACTOR(boss, run, item);
static tr_next ignore(void)
{
    return TR_SAME;
}
TR_BEHAVIOR(boss, void, TR_ON(run, on_run), TR_ON(item, on_item), TR_ON(tr_terminated, ignore));

/* ---- Scenarios. ---- */

static tr_next spawn_both(tr_self *self)
{
    member_ref group;
    FAIR(tr_try_spawn_group(
        self, &group, member, "group", 3, open_it, .text = "a text that is not short"));
    made = TR_VALUE(member_ref, 0);
    tr_status status = tr_try_spawn_router(
        self, &made, member, NULL, 3, open_it, .text = "a text that is not short");
    FAIR(status);
    ck_assert((status == TR_OK) == !tr_is_nobody(made));
    for (uint64_t i = 0; i < 4; i++)
        FAIR(tr_tell(self, made, item, .key = i, .text = "a text that is shared by all"));
    tr_status watched = tr_try_watch(self, made);
    ck_assert(watched == TR_OK || watched == TR_NO_MEMORY || watched == TR_INVALID_ARGUMENT);
    const struct told_key *reply;
    FAIR(tr_try_await(self, tr_ask(self, made, look, .key = 1), &reply));
    FAIR(tr_suspend(self, made));
    FAIR(tr_resume(self, made));
    FAIR(tr_stop(self, made));
    return TR_SAME;
}
static void groups(void)
{
    boss_ref boss;
    tr_status status = tr_try_spawn_at(test, &boss, home, boss, NULL);
    FAIR(status);
    if (status == TR_OK)
        TELL_RUN(test, boss, spawn_both);
    tr_kit_settle(kit);
}

static void groups_of_clients(void)
{
    member_ref group;
    tr_status status = tr_try_spawn_group(
        test, &group, member, "clients", 3, open_it, .text = "a text that is not short");
    FAIR(status);
    if (status != TR_OK)
        return;
    FAIR(tr_tell(test, group, item, .key = 1, .text = "a text that is shared by all"));
    FAIR(tr_spawn_wait(test, group, TR_SECOND, NULL));
    FAIR(tr_tell(test, group, item, .key = 1, .text = "a text that is shared by all"));
    const struct told_key *reply;
    FAIR(tr_try_await(test, tr_ask(test, group, look, .key = 1), &reply));
    FAIR(tr_watch(test, group));
    FAIR(tr_kill(test, group));
    tr_kit_settle(kit);
}

static tr_next subscribe(tr_self *self)
{
    FAIR(tr_try_subscribe(self, news));
    return TR_SAME;
}
static tr_next publish(tr_self *self)
{
    tr_published published =
        tr_publish(self, news, item, .key = 1, .text = "a text that is shared by all");
    FAIR(published.status);
    ck_assert(published.status == TR_OK || !published.taken);
    return TR_SAME;
}
static void topics(void)
{
    boss_ref bosses[12];
    tr_status status = tr_try_topic_open(test, &news, news, "news");
    FAIR(status);
    if (status != TR_OK)
        return;
    for (int i = 0; i < 12; i++) {
        bosses[i] = TR_VALUE(boss_ref, 0);
        FAIR(tr_try_spawn_at(test, &bosses[i], i % (home + 1), boss, NULL));
        TELL_RUN(test, bosses[i], subscribe);
    }
    tr_kit_settle(kit);
    items = 0;
    size_t count = tr_topic_count(test, news);
    tr_published published =
        tr_publish(test, news, item, .key = 1, .text = "a text that is shared by all");
    FAIR(published.status);
    ck_assert_uint_eq(published.taken, published.status == TR_OK ? count : 0);
    tr_kit_settle(kit);
    ck_assert_uint_eq((size_t)items, published.taken);
    for (int i = 0; i < 12; i += 2)
        tr_kill(test, bosses[i]);
    tr_kit_settle(kit);
    TELL_RUN(test, bosses[1], publish);
    tr_kit_settle(kit);
    FAIR(tr_topic_close(test, news));
}

/* ---- Each allocation once. ---- */

static void starve(void (*scenario)(void), bool and_all_after)
{
    uint64_t n = 1;
    for (bool was_refused = true; was_refused; n++) {
        kit_open(3, 1 + n % 5);
        uint64_t before = tr_kit_allocations(kit);
        tr_kit_fail_allocation(kit, n, and_all_after);
        scenario();
        was_refused = tr_kit_allocations(kit) - before >= n;
        tr_kit_fail_allocation(kit, 0, false);
        tr_kit_check(kit);
        scenario(); /* and now it works */
        kit_close();
    }
    ck_assert_uint_gt(n, 20);
}

TEST(groups_live_without_memory, "")
{
    starve(groups, false);
    starve(groups, true);
}
TEST(groups_of_clients_live_without_memory, "")
{
    starve(groups_of_clients, false);
    starve(groups_of_clients, true);
}
TEST(topics_live_without_memory, "")
{
    starve(topics, false);
    starve(topics, true);
}

SUITE("crowd out of memory", groups_live_without_memory, groups_of_clients_live_without_memory,
      topics_live_without_memory)
