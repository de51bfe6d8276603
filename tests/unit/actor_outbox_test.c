/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The outbox of a durable turn, from inside: while a turn has one, no quick way to send is open.
 *
 * The turns here are those of ordinary actors that are given an outbox by hand.
 */
#include "support/aborts.h"

#include <troupe/kit.h>
#include <troupe/troupe.h>

#include "actor/mail/outbox.h"

TR_MESSAGE(go, (ref, to));
TR_MESSAGE(word, (u64, n));
TR_ACTOR(sender, go);
TR_ACTOR(hearer, word);

static unsigned heard;
static unsigned held;
static void (*act)(tr_self *self, struct outbox *outbox);
static tr_ref receiver;

static tr_next on_go(tr_self *self, const struct go *message)
{
    struct outbox outbox = {.is_open = false};
    receiver = message->to;
    act(self, &outbox);
    return TR_SAME;
}

static tr_next on_word(const struct word *message)
{
    heard += (unsigned)message->n;
    return TR_SAME;
}

TR_BEHAVIOR(sender, void, TR_ON(go, on_go));
TR_BEHAVIOR(hearer, void, TR_ON(word, on_word));

static void play(void (*function)(tr_self *self, struct outbox *outbox))
{
    tr_kit *kit = tr_kit_new(NULL);
    tr_client *test = tr_kit_client(kit);
    sender_ref sender;
    hearer_ref hearer;
    act = function;
    ck_assert_int_eq(tr_try_spawn(test, &hearer, hearer, NULL), TR_OK);
    ck_assert_int_eq(tr_try_spawn(test, &sender, sender, NULL), TR_OK);
    tr_tell(test, sender, go, .to = tr_any(hearer));
    (void)tr_kit_settle(kit);
    tr_kit_free(kit);
}

typedef void turn_function(tr_self *self, struct outbox *outbox);

static void play_on(void *context)
{
    play(*(turn_function **)context);
}

static void expect(turn_function *function, enum asserts asserts, const char *where,
                   const char *condition)
{
    expect_assertion(play_on, &function, asserts, where, condition);
}

static tr_status tell(tr_self *self, uint64_t n)
{
    return tr_tell(self, hearer_ref_of(receiver), word, .n = n);
}

static void hold_and_release(tr_self *self, struct outbox *outbox)
{
    outbox_begin(self, outbox);
    ck_assert(outbox_is_in_use(self));
    ck_assert(outbox_holds(self->worker));
    ck_assert_int_eq(tell(self, 1), TR_OK);
    ck_assert_int_eq(tell(self, 10), TR_OK);
    held = outbox->count;
    outbox_leave(self);
    ck_assert(!outbox_holds(self->worker));
    outbox_return(self);
    tr__outbox_release(self->worker, outbox);
    ck_assert(outbox_is_in_use(self));
    outbox_end(self);
    ck_assert_ptr_null(self->outbox);
    ck_assert(!outbox_holds(self->worker));
}

TEST(a_turn_with_an_outbox_holds_what_it_sends, "")
{
    play(hold_and_release);
    ck_assert_uint_eq(held, 2);
    ck_assert_uint_eq(heard, 11);
}

static void hold_twice(tr_self *self, struct outbox *outbox)
{
    outbox_begin(self, outbox);
    outbox_begin(self, outbox);
}

TEST(a_turn_has_one_outbox_at_most, "")
{
    expect(hold_twice, ALWAYS, "outbox_begin", "!self->outbox");
}

static void return_without_one(tr_self *self, struct outbox *outbox)
{
    (void)outbox;
    outbox_return(self);
}

TEST(a_turn_without_an_outbox_returns_to_none, "")
{
    expect(return_without_one, ALWAYS, "outbox_return", "self->outbox");
}

#ifdef TR_DEBUG
/* What worker_hold_sends is there for: a quick way to send that is left open. */
static void send_quickly_all_the_same(tr_self *self, struct outbox *outbox)
{
    outbox_begin(self, outbox);
    self->worker->fast_owner = self->worker->index;
    (void)tell(self, 1);
}

TEST(a_quick_send_with_an_outbox_fails_an_assertion, "")
{
    expect(send_quickly_all_the_same, IN_DEBUG_BUILDS, "send_quickly", "!self->outbox");
}

static void send_for_another(tr_self *self, struct outbox *outbox)
{
    ck_assert_int_eq(tell(self, 0), TR_OK); /* now the pool has envelopes */
    outbox_begin(self, outbox);
    self->worker->fast_owner = self->worker->index;
    self->outbox = NULL; /* as a set-up that runs inside the turn */
    (void)tell(self, 1);
}

TEST(a_quick_send_inside_a_turn_with_an_outbox_fails_an_assertion, "")
{
    expect(send_for_another, IN_DEBUG_BUILDS, "mail_send_fast", "!worker->outbox_turn");
}

static void nothing(void *resource)
{
    (void)resource;
}

/* A verb that forgets to ask for the slow end of its turn. */
static void forget_the_slow_end(tr_self *self, struct outbox *outbox)
{
    (void)outbox;
    tr_defer(self, self, nothing);
    self->needs_slow_end = false;
}

TEST(a_quick_end_of_a_turn_with_a_defer_fails_an_assertion, "")
{
    expect(forget_the_slow_end, IN_DEBUG_BUILDS, "message_turn", "turn_is_plain(self)");
}

#define SLOW_CASES                                                                                 \
    , a_quick_send_with_an_outbox_fails_an_assertion,                                              \
        a_quick_send_inside_a_turn_with_an_outbox_fails_an_assertion,                              \
        a_quick_end_of_a_turn_with_a_defer_fails_an_assertion
#else
#define SLOW_CASES
#endif

SUITE("actor outbox", a_turn_with_an_outbox_holds_what_it_sends, a_turn_has_one_outbox_at_most,
      a_turn_without_an_outbox_returns_to_none SLOW_CASES)
