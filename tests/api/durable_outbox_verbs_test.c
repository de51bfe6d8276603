/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What a durable turn sends is held until the turn is stored, whatever verb sends it: after a turn that fails,
 * nobody has got anything.
 */
#include <troupe/durable.h>
#include <troupe/group.h>
#include <troupe/kit.h>
#include <troupe/topic.h>
#include <troupe/troupe.h>

#include "support/test.h"

#include <string.h>

enum { SEEDS = 20 };

/* How a word was sent. */
enum way { BY_TELL, BY_LARGE, BY_ASK, BY_SETUP, BY_TOPIC, BY_GROUP, WAYS };

static const char *const ways[WAYS] = {
    "tr_tell", "tr_tell of a large one", "tr_ask", "a set-up", "tr_publish", "a group"};

TR_MESSAGE(word, (u64, way));
TR_MESSAGE(large_word, (u64, way), (array(u64, 12), rest));
TR_REQUEST(question, word, (u64, way));
TR_TOPIC(news, word);
TR_MESSAGE(listen);
TR_MESSAGE(found);
TR_ACTOR(hearer, word, large_word, question, listen, found);
TR_ACTOR(child, word);
TR_REQUEST(speak, word, (bool, fails));
TR_ACTOR(speaker, speak, question, word);
TR_MESSAGE(speaker_state, (u64, count));

static unsigned heard[WAYS];
static unsigned stopped;
static hearer_ref hearer;
static hearer_ref group;
static hearer_ref victim;
static news_topic news;

/* ---- Those that get it. ---- */

static tr_next on_listen(tr_self *self)
{
    tr_subscribe(self, news);
    return TR_SAME;
}

static tr_next on_found(tr_self *self)
{
    group = tr_spawn_group(self, hearer, "group", 2);
    return TR_SAME;
}

static tr_next on_word(const struct word *message)
{
    heard[message->way]++;
    return TR_SAME;
}

static tr_next on_large_word(const struct large_word *message)
{
    heard[message->way]++;
    return TR_SAME;
}

static tr_next on_question(tr_self *self, const struct question *message)
{
    heard[message->way]++;
    return tr_reply(self, word, .way = message->way);
}

static tr_next on_end(tr_self *self)
{
    stopped += tr_is_same(victim, tr_me(self));
    return TR_SAME;
}

TR_BEHAVIOR(hearer, void, TR_ON(word, on_word), TR_ON(large_word, on_large_word),
            TR_ON(question, on_question), TR_ON(listen, on_listen), TR_ON(found, on_found),
            TR_ON(tr_post_stop, on_end));

/* ---- The durable one. ---- */

static tr_next child_begins(tr_self *self)
{
    tr_tell(self, hearer, word, .way = BY_SETUP);
    return TR_SAME;
}

TR_BEHAVIOR(child, void, TR_SETUP(child_begins), TR_ON(word, on_word));

static tr_next end_of(tr_self *self, bool fails)
{
    return fails ? tr_fail(self, TR_FAILED, "as it was told") : TR_SAME;
}

static tr_next on_speak(tr_self *self, struct speaker_state *state, const struct speak *message)
{
    state->count++;
    ck_assert_int_eq(tr_tell(self, hearer, word, .way = BY_TELL), TR_OK);
    ck_assert_int_eq(tr_tell(self, hearer, large_word, .way = BY_LARGE), TR_OK);
    (void)tr_ask(self, hearer, question, .way = BY_ASK);
    (void)tr_spawn(self, child, NULL);
    ck_assert_uint_eq(tr_publish(self, news, word, .way = BY_TOPIC).taken, 1);
    ck_assert_int_eq(tr_tell(self, group, word, .way = BY_GROUP), TR_OK);
    ck_assert_int_eq(tr_stop(self, victim), TR_OK);
    (void)tr_reply(self, word, .way = 0);
    return end_of(self, message->fails);
}

static bool fails_forward;

static tr_next on_request(tr_self *self, struct speaker_state *state)
{
    state->count++;
    (void)tr_forward(self, hearer);
    return end_of(self, fails_forward);
}

static tr_next on_notice(tr_self *self, struct speaker_state *state)
{
    state->count++;
    (void)tr_forward(self, hearer);
    return end_of(self, fails_forward);
}

TR_BEHAVIOR(speaker, struct speaker_state, TR_ON(speak, on_speak), TR_ON(question, on_request),
            TR_ON(word, on_notice));
TR_DURABLE(speaker, speaker_state, .version = 1);

/* ---- Plays. ---- */

static tr_kit *kit;
static tr_client *test;
static speaker_ref speaker;

static void begin(uint64_t seed)
{
    memset(heard, 0, sizeof heard);
    stopped = 0;
    kit = tr_kit_new(&(tr_kit_options){.size = sizeof(tr_kit_options),
                                       .seed = seed,
                                       .workers = 1 + (int)seed % 2,
                                       .durable = TR_DURABLES(speaker)});
    test = tr_kit_client(kit);
    ck_assert_int_eq(tr_try_topic_open(test, &news, news, "news"), TR_OK);
    ck_assert_int_eq(tr_try_spawn(test, &hearer, hearer, "hearer"), TR_OK);
    ck_assert_int_eq(tr_try_spawn(test, &victim, hearer, "victim"), TR_OK);
    tr_tell(test, hearer, listen);
    tr_tell(test, hearer, found);
    ck_assert_int_eq(tr_try_durable(test, &speaker, speaker, "a"), TR_OK);
    tr_kit_settle(kit);
}

static void all_heard(unsigned first, unsigned last, unsigned times)
{
    tr_kit_settle(kit);
    for (unsigned way = 0; way < WAYS; way++) {
        unsigned expected = way >= first && way <= last ? times : 0;
        ck_assert_msg(heard[way] == expected, "%s: %u of %u", ways[way], heard[way], expected);
    }
}

static tr_status ask_to_speak(bool fails)
{
    const struct word *answer;
    return tr_try_await(test, tr_ask(test, speaker, speak, .fails = fails), &answer);
}

static tr_status ask_to_forward(bool fails)
{
    const struct word *answer;
    fails_forward = fails;
    return tr_try_await(test, tr_ask(test, speaker, question, .way = BY_ASK), &answer);
}

TEST(what_a_failed_turn_has_sent_by_any_verb_reaches_nobody, "Z-14")
{
    for (uint64_t seed = 1; seed <= TEST_SEEDS(SEEDS); seed++) {
        begin(seed);
        ck_assert_int_eq(ask_to_speak(true), TR_FAILED); /* and not its reply */
        all_heard(0, WAYS, 0);
        ck_assert_uint_eq(stopped, 0);
        tr_kit_free(kit);
    }
}

TEST(what_a_stored_turn_has_sent_by_any_verb_arrives_once, "Z-14")
{
    for (uint64_t seed = 1; seed <= TEST_SEEDS(SEEDS); seed++) {
        begin(seed);
        ck_assert_int_eq(ask_to_speak(false), TR_OK);
        all_heard(0, WAYS, 1);
        ck_assert_uint_eq(stopped, 1);
        tr_kit_free(kit);
    }
}

TEST(a_request_that_a_failed_turn_has_forwarded_reaches_nobody, "Z-14")
{
    for (uint64_t seed = 1; seed <= TEST_SEEDS(SEEDS); seed++) {
        begin(seed);
        ck_assert_int_eq(ask_to_forward(true), TR_FAILED);
        all_heard(0, WAYS, 0);
        ck_assert_int_eq(ask_to_forward(false), TR_OK);
        all_heard(BY_ASK, BY_ASK, 1);
        tr_kit_free(kit);
    }
}

TEST(a_notice_that_a_failed_turn_has_forwarded_reaches_nobody, "Z-14")
{
    for (uint64_t seed = 1; seed <= TEST_SEEDS(SEEDS); seed++) {
        begin(seed);
        fails_forward = true;
        ck_assert_int_eq(tr_tell(test, speaker, word, .way = BY_TELL), TR_OK);
        all_heard(0, WAYS, 0);
        fails_forward = false;
        ck_assert_int_eq(tr_tell(test, speaker, word, .way = BY_TELL), TR_OK);
        all_heard(BY_TELL, BY_TELL, 1);
        tr_kit_free(kit);
    }
}

SUITE("durable outbox verbs", what_a_failed_turn_has_sent_by_any_verb_reaches_nobody,
      what_a_stored_turn_has_sent_by_any_verb_arrives_once,
      a_request_that_a_failed_turn_has_forwarded_reaches_nobody,
      a_notice_that_a_failed_turn_has_forwarded_reaches_nobody)
