/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The table of durable.h: which verbs of a durable actor act at once, and which wait for the commit. A turn uses one
 * verb and fails: what waits for the commit has never happened, what acts at once has.
 */
#include <troupe/kit.h>
#include <troupe/troupe.h>

#include "support/test.h"

enum verb {
    TELL,
    TELL_COPY,
    ASK,
    PUBLISH,
    FORWARD,
    STOP,
    HELD_COUNT, /* the verbs before this one leave with the commit */
    KILL = HELD_COUNT,
    SUSPEND,
    SPAWN,
    POOL_SPAWN,
    WAKE,
    SUBSCRIBE,
    SCHEDULE,
    VERB_COUNT
};

TR_MESSAGE(note);
TR_REQUEST(question, tr_done);
TR_ACTOR(listener, note, question);
TR_REQUEST(use, tr_done, (i32, verb), (ref, to), (bool, fails), (bool, saves));
TR_ACTOR(user, use);
TR_MESSAGE(user_state, (u64, uses));
TR_TOPIC(news, note);

static unsigned heard, births, wakes;

static tr_next be_born(tr_self *self)
{
    births++;
    tr_subscribe(self, tr_topic_open(self, news, "heard"));
    return TR_SAME;
}

static tr_next on_note(void)
{
    heard++;
    return TR_SAME;
}

static tr_next on_question(tr_self *self)
{
    heard++;
    return tr_reply(self, tr_done);
}

TR_BEHAVIOR(listener, void, TR_ON(tr_pre_start, be_born), TR_ON(note, on_note),
            TR_ON(question, on_question), TR_ON(use, on_question));

TR_ACTOR(other, note);
TR_MESSAGE(other_state, (u64, wakes));

static tr_next on_awake(void)
{
    wakes++;
    return TR_SAME;
}

TR_BEHAVIOR(other, struct other_state, TR_ON(tr_awake, on_awake));
TR_DURABLE(other, other_state);

static void use_verb(tr_self *self, enum verb verb, listener_ref to)
{
    tr_schedule schedule;
    switch (verb) {
    case TELL:
        tr_tell(self, to, note);
        return;
    case TELL_COPY:
        tr_tell_copy(self, to, note, &(struct note){0});
        return;
    case ASK:
        (void)tr_ask(self, to, question);
        return;
    case PUBLISH:
        tr_publish(self, tr_topic_open(self, news, "heard"), note);
        return;
    case FORWARD:
        (void)tr_forward(self, to);
        return;
    case STOP:
        tr_stop(self, to);
        return;
    case KILL:
        tr_kill(self, to);
        return;
    case SUSPEND:
        tr_suspend(self, to);
        return;
    case SPAWN:
        tr_spawn(self, listener, NULL);
        return;
    case POOL_SPAWN:
        tr_pool_spawn(self, listener, "pooled");
        return;
    case WAKE:
        tr_durable(self, other, "b");
        return;
    case SUBSCRIBE:
        tr_subscribe(self, tr_topic_open(self, news, "used"));
        return;
    case SCHEDULE:
        ck_assert_int_eq(tr_schedule_once(tr_system_of(self), &schedule, TR_SECOND, to, note),
                         TR_OK);
        return;
    case VERB_COUNT:
        return;
    }
}

static tr_next on_use(tr_self *self, struct user_state *state, const struct use *message)
{
    state->uses++;
    use_verb(self, (enum verb)message->verb, listener_ref_of(message->to));
    if (message->saves)
        tr_save(self);
    if (message->fails)
        return tr_fail(self, TR_BAD_DATA, "as told");
    return message->verb == FORWARD ? TR_SAME : tr_reply(self, tr_done);
}

TR_BEHAVIOR(user, struct user_state, TR_ON(use, on_use));
TR_DURABLE(user, user_state);

/* Whether the verb has done what it does. */
static bool has_acted(tr_kit *kit, enum verb verb, listener_ref listener)
{
    tr_client *test = tr_kit_client(kit);
    news_topic used;
    switch (verb) {
    case STOP:
    case KILL:
        return tr_tell(test, listener, note) == TR_STOPPED;
    case SUSPEND:
        tr_tell(test, listener, note);
        tr_kit_settle(kit);
        return heard == 0;
    case SPAWN:
    case POOL_SPAWN:
        return births == 2;
    case WAKE:
        return wakes == 1;
    case SUBSCRIBE:
        ck_assert_int_eq(tr_try_topic_open(test, &used, news, "used"), TR_OK);
        return tr_topic_count(test, used) == 1;
    case SCHEDULE:
        tr_kit_advance(kit, TR_SECOND);
        return heard == 1;
    default:
        return heard == 1;
    }
}

static bool play(enum verb verb, bool saves, bool fails)
{
    tr_kit *kit = tr_kit_new(&(tr_kit_options){.durable = TR_DURABLES(user, other)});
    tr_client *test = tr_kit_client(kit);
    listener_ref listener;
    user_ref user;
    heard = births = wakes = 0;
    ck_assert_int_eq(tr_try_spawn(test, &listener, listener, "listener"), TR_OK);
    ck_assert_int_eq(tr_try_durable(test, &user, user, "a"), TR_OK);
    tr_kit_settle(kit);
    use_ask asked = tr_ask(test,
                           user,
                           use,
                           .verb = (int32_t)verb,
                           .to = tr_any(listener),
                           .fails = fails,
                           .saves = saves);
    tr_status status = tr_try_await(test, asked, NULL);
    ck_assert_msg((status == TR_OK) == !fails, "verb %d: %s", verb, tr_status_name(status));
    tr_kit_settle(kit);
    bool acted = has_acted(kit, verb, listener);
    if (verb == SUSPEND)
        tr_resume(test, listener);
    tr_kit_free(kit);
    return acted;
}

TEST(what_leaves_with_the_commit_never_leaves_a_stretch_that_fails, "K-01", "Z-14")
{
    for (enum verb verb = 0; verb < HELD_COUNT; verb++) {
        ck_assert_msg(play(verb, false, false), "verb %d has not acted", verb);
        ck_assert_msg(
            !play(verb, false, true), "verb %d has acted, and its stretch has failed", verb);
    }
}

TEST(what_acts_at_once_has_acted_in_a_stretch_that_fails, "Z-14")
{
    for (enum verb verb = HELD_COUNT; verb < VERB_COUNT; verb++)
        ck_assert_msg(play(verb, false, true), "verb %d has not acted", verb);
}

TEST(tr_save_lets_all_before_it_leave, "K-01", "Z-14")
{
    for (enum verb verb = 0; verb < HELD_COUNT; verb++) {
        if (verb != FORWARD) /* a request that was forwarded does not fail with its turn */
            ck_assert_msg(play(verb, true, true), "verb %d has not acted", verb);
    }
}

SUITE("durable verbs", what_leaves_with_the_commit_never_leaves_a_stretch_that_fails,
      what_acts_at_once_has_acted_in_a_stretch_that_fails, tr_save_lets_all_before_it_leave)
