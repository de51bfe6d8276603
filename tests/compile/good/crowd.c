/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Groups, routers and topics: every declaration and every verb once.
 */
#include <troupe/troupe.h>

TR_MESSAGE(told, (u64, n), (str, name));
TR_MESSAGE(open_it, (u32, n));
TR_REQUEST(look, tr_done, (ref, whom));
TR_ACTOR(member, told, look);

static uint64_t key_of_told(const struct told *message)
{
    return message->n;
}

TR_ROUTES(member, TR_ROUTE_WITH(told, key_of_told), TR_ROUTE_BY(look, whom), );

TR_TOPIC(news, told, );

static tr_next set_up(const struct open_it *message)
{
    return message->n ? TR_SAME : TR_STOP;
}

static tr_next on_told(tr_self *self, const struct told *message)
{
    tr_ref members[4];
    member_ref group = tr_spawn_group(self, member, "group", 4, open_it, .n = 1);
    member_ref router = tr_spawn_router(self, member, NULL, TR_ONE_PER_WORKER, open_it, .n = 1);
    member_ref plain = tr_spawn_group(self, member, NULL, 2);
    if (tr_try_spawn_group(self, &group, member, NULL, 2) != TR_OK ||
        tr_try_spawn_router(self, &router, member, "router", 3, open_it, .n = 1) != TR_OK)
        return TR_STOP;
    tr_tell(self, group, told, .n = tr_group_count(self, plain));
    tr_await(self, tr_ask(self, router, look, .whom = tr_any(group)));
    if (tr_group_members(self, group, members, 4) > 4)
        return tr_forward(self, group);
    news_topic news = tr_topic_open(self, news, "news");
    tr_subscribe(self, news);
    if (tr_try_subscribe(self, news) != TR_OK || tr_unsubscribe(self, news) != TR_OK)
        tr_topic_close(self, news);
    tr_publish(self, news, told, .n = tr_topic_count(self, news), .name = "all");
    tr_published published = tr_publish_copy(self, news, told, message);
    tr_topic any = tr_topic_from_bits(news.bits);
    tr_publish(self, any, open_it, .n = (uint32_t)(published.taken + published.refused));
    return published.status == TR_OK ? TR_SAME : TR_STOP;
}

TR_BEHAVIOR(member, void, TR_SETUP_WITH(open_it, set_up), TR_ON(told, on_told));

tr_status from_outside(tr_client *client);
tr_status from_outside(tr_client *client)
{
    member_ref group;
    news_topic news;
    if (tr_try_spawn_group(client, &group, member, "group", 2, open_it, .n = 1) != TR_OK ||
        tr_try_spawn_router(client, &group, member, "router", 2) != TR_OK ||
        tr_try_topic_open(client, &news, news, "news") != TR_OK)
        return TR_STOPPED;
    tr_tell(client, group, told, .n = tr_group_count(client, group));
    tr_subscribe(client, news);
    if (tr_try_subscribe(client, news) != TR_OK || tr_topic_count(client, news) == 0)
        return tr_unsubscribe(client, news);
    tr_publish(client, news, told, .name = "all");
    return tr_topic_close(client, news);
}
