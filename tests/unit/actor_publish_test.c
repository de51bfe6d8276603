/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What a client publishes after the deadline of a shutdown reaches no actor, as what it tells.
 */
#include "support/test.h"

#include <troupe/kit.h>
#include <troupe/troupe.h>

#include "actor/cell/system.h"

TR_MESSAGE(headline, (u32, n));
TR_TOPIC(news, headline);
TR_ACTOR(reader, headline);

static int got;
static tr_next reader_set_up(tr_self *self)
{
    news_topic news = tr_topic_open(self, news, "news");
    tr_subscribe(self, news);
    return TR_SAME;
}
static tr_next on_headline(void)
{
    got++;
    return TR_SAME;
}
TR_BEHAVIOR(reader, void, TR_SETUP(reader_set_up), TR_ON(headline, on_headline));

TEST(a_publish_after_the_deadline_reaches_no_actor, "X-01", "M-03")
{
    tr_kit *kit = tr_kit_new(NULL);
    ck_assert_ptr_nonnull(kit);
    tr_client *client = tr_kit_client(kit);
    tr_system *system = tr_kit_system(kit);
    reader_ref reader;
    news_topic news;
    got = 0;
    ck_assert_int_eq(tr_try_spawn(client, &reader, reader, NULL), TR_OK);
    tr_kit_settle(kit);
    ck_assert_int_eq(tr_try_topic_open(client, &news, news, "news"), TR_OK);
    ck_assert_uint_eq(tr_publish(client, news, headline, .n = 1).taken, 1);
    tr_kit_settle(kit);
    ck_assert_int_eq(got, 1);
    /* The deadline has passed, and the order to stop has not reached the actor yet. */
    atom32_store(&system->ending.is_forced, 1, ATOM_RELAXED);
    ck_assert_int_eq(tr_tell(client, reader, headline, .n = 2), TR_STOPPED);
    ck_assert_uint_eq(tr_publish(client, news, headline, .n = 2).taken, 0);
    atom32_store(&system->ending.is_forced, 0, ATOM_RELAXED);
    tr_kit_settle(kit);
    ck_assert_int_eq(got, 1);
    tr_kit_check(kit);
    tr_kit_free(kit);
}

SUITE("actor publish", a_publish_after_the_deadline_reaches_no_actor)
