/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What is said of things that were forgotten: the text names the place where the mistake is, and not only where it was noticed.
 */
#include <string.h>
#include <troupe/kit.h>
#include <troupe/troupe.h>

#include "support/test.h"

TR_MESSAGE(heard, (str, text));
TR_REQUEST(be_silent, heard);
TR_REQUEST(spoil, heard);
TR_REQUEST(ask_it, heard);
TR_REQUEST(use_it, heard);
TR_REQUEST(ask_user, heard);
TR_REQUEST(ask_leaf, heard);
TR_ACTOR(mute, be_silent);
TR_ACTOR(asker, ask_it, ask_user, ask_leaf);
TR_ACTOR(user, use_it);
TR_MESSAGE(leaf_state, (u64, number), (str, title));
TR_ACTOR(leaf, spoil);

static tr_next on_be_silent(void)
{
    return TR_SAME;
}
TR_BEHAVIOR(mute, void, TR_ON(be_silent, on_be_silent));

/* No UTF-8, as what a pointer that is no longer valid points to. */
static tr_next on_spoil(struct leaf_state *leaf)
{
    leaf->number++;
    leaf->title = "\xff\xfe";
    return TR_SAME; /* a reply that is held back would be dropped with a status and no text */
}
TR_BEHAVIOR(leaf, struct leaf_state, TR_ON(spoil, on_spoil));
TR_DURABLE(leaf, leaf_state);

static tr_next on_ask_it(tr_self *self)
{
    mute_ref ref = tr_spawn(self, mute, "mute");
    be_silent_ask ask = tr_ask(self, ref, be_silent);
    const struct heard *answer;
    ck_assert_int_eq(tr_try_await(self, ask, &answer), TR_NO_REPLY);
    return tr_reply(self, heard, .text = tr_ask_error(self, ask)->text);
}

static tr_next on_use_it(tr_self *self)
{
    (void)tr_durable(self, leaf, "one");
    return TR_SAME;
}
TR_BEHAVIOR(user, void, TR_ON(use_it, on_use_it));

static tr_next on_ask_user(tr_self *self)
{
    use_it_ask ask = tr_ask(self, tr_spawn(self, user, "user"), use_it);
    const struct heard *answer;
    ck_assert_int_eq(tr_try_await(self, ask, &answer), TR_FAILED);
    return tr_reply(self, heard, .text = tr_ask_error(self, ask)->text);
}

static tr_next on_ask_leaf(tr_self *self)
{
    spoil_ask ask = tr_ask_key(self, leaf, "one", spoil);
    const struct heard *answer;
    ck_assert_int_ne(tr_try_await(self, ask, &answer), TR_OK);
    return tr_reply(self, heard, .text = tr_ask_error(self, ask)->text);
}
TR_BEHAVIOR(asker, void, TR_ON(ask_it, on_ask_it), TR_ON(ask_user, on_ask_user),
            TR_ON(ask_leaf, on_ask_leaf));

static tr_kit *kit;
static tr_client *test;
static asker_ref asker;

static void begin(const tr_durables *durable)
{
    kit = tr_kit_new(&(tr_kit_options){
        .size = sizeof(tr_kit_options), .durable = durable, .log = TR_KIT_LOG_NONE});
    ck_assert_ptr_nonnull(kit);
    test = tr_kit_client(kit);
    ck_assert_int_eq(tr_try_spawn(test, &asker, asker, "asker"), TR_OK);
}

TEST(a_reply_that_was_forgotten_names_the_handler, "A-01")
{
    const struct heard *is;
    begin(NULL);
    ck_assert_int_eq(tr_try_await(test, tr_ask(test, asker, ask_it), &is), TR_OK);
    ck_assert_str_eq(is->text,
                     "be_silent: on_be_silent of /user/asker/mute ended without a reply (tr_reply, "
                     "tr_refuse, tr_reply_later)");
    tr_kit_free(kit);
}

TEST(a_kind_that_was_not_listed_is_said_with_its_option, "O-60")
{
    const struct heard *is;
    begin(NULL);
    ck_assert_int_eq(tr_try_await(test, tr_ask(test, asker, ask_user), &is), TR_OK);
    ck_assert_msg(strstr(is->text,
                         "tr_durable: leaf \"one\": this kind is not in the .durable = "
                         "TR_DURABLES(...) of this program"),
                  "%s",
                  is->text);
    tr_kit_free(kit);
}

TEST(a_state_that_cannot_be_stored_names_its_field, "K-01")
{
    const struct heard *is;
    begin(TR_DURABLES(leaf));
    ck_assert_int_eq(tr_try_await(test, tr_ask(test, asker, ask_leaf), &is), TR_OK);
    ck_assert_msg(strstr(is->text, "the field title: "), "%s", is->text);
    tr_kit_free(kit);
}

SUITE("forgotten", a_reply_that_was_forgotten_names_the_handler,
      a_kind_that_was_not_listed_is_said_with_its_option,
      a_state_that_cannot_be_stored_names_its_field)
