/* SPDX-License-Identifier: Apache-2.0 */
/** Timers that end with a channel; on the network of kits. */
#include "support/net.h"

TR_MESSAGE(late, (u32, number));

static tr_channel channel;
static tr_ref session_actor;
static tr_timer timer;

static void bind_timer(tr_self *self, tr_time ns, uint32_t number)
{
    timer = tr_timer_once(self, NULL, ns, late, .number = number);
    tr_status status = tr_timer_ends_with(self, timer, channel);
    if (status != TR_OK)
        say("%s", tr_status_name(status));
}

static tr_next on_opened(tr_self *self, const struct tr_opened *message)
{
    channel = message->channel;
    session_actor = tr_me(self);
    bind_timer(self, TR_SECOND, 1);
    bind_timer(self, 2 * TR_SECOND, 2);
    tr_timer_once(self, NULL, 3 * TR_SECOND, late, .number = 3); /* belongs to no channel */
    return TR_SAME;
}

static tr_next on_late(const struct late *message)
{
    say("late %u", message->number);
    return TR_SAME;
}

static tr_next on_received(tr_self *self, const struct tr_received *message)
{
    switch (((const char *)message->bytes.data)[0]) {
    case 'c':
        tr_close(self, message->channel);
        break;
    case 'r':
        tr_reset(self, message->channel);
        break;
    case 'm': /* many: those that are over make way */
        for (uint32_t i = 0; i < TR_CHANNEL_TIMERS_MAX; i++)
            bind_timer(self, TR_MILLISECOND, 4);
        break;
    case 'h':
        say("%s", tr_status_name(tr_hand_over(self, channel, host)));
        break;
    default:
        break;
    }
    return TR_SAME;
}

static tr_next on_closed(const struct tr_closed *message)
{
    say("closed %s", tr_status_name(message->status));
    return TR_SAME;
}

TR_ACTOR(session, late);
TR_BEHAVIOR(session, void, TR_ON(tr_opened, on_opened), TR_ON(late, on_late),
            TR_ON(tr_received, on_received), TR_ON(tr_closed, on_closed));
TR_BEHAVIOR(host, void, TR_ON(run, on_run));

static tr_next listen(tr_self *self)
{
    listener = tr_listen(self, session, TR_TCP(SERVER));
    return TR_SAME;
}

static tr_kit_peer *begin(void)
{
    HOST(host, listen);
    tr_kit_peer *peer = peer_new();
    tr_kit_settle(kit);
    return peer;
}

static void play_open(void)
{
    (void)begin();
    tr_kit_advance(kit, 5 * TR_SECOND);
    SAID("late 1; late 2; late 3");
}

TEST(timers_of_a_channel_fire_while_it_is_open, "C-05")
{
    kits_each(play_open);
}

static void play_finish(void)
{
    tr_kit_peer *peer = begin();
    tr_kit_advance(kit, 1500 * MS);
    tr_kit_finish(peer);
    tr_kit_settle(kit);
    tr_kit_advance(kit, 5 * TR_SECOND);
    SAID("late 1; closed TR_CLOSED; late 3");
}

TEST(timers_end_with_their_channel, "C-05")
{
    kits_each(play_finish);
}

static void play_send(const char *text, const char *words)
{
    kit_open(1, 1);
    tr_kit_peer *peer = begin();
    peer_send(peer, text);
    tr_kit_advance(kit, 10 * TR_SECOND);
    SAID(words);
    kit_close();
}

TEST(timers_end_by_close_reset_and_hand_over, "C-05", "C-10")
{
    play_send("c", "late 3; closed TR_TIMEOUT"); /* the peer does not end: it lingers for 5 s */
    play_send("r", "closed TR_OK; late 3");
    play_send("h", "TR_OK; late 3");
}

TEST(a_channel_has_a_limit_of_timers, "C-05", "U-01")
{
    kit_open(1, 1);
    tr_kit_peer *peer = begin();
    peer_send(peer, "m");
    SAID("TR_LIMIT; TR_LIMIT"); /* two were there */
    tr_kit_advance(kit, 10 * MS);
    said();
    peer_send(peer, "m"); /* the others are over */
    SAID("TR_LIMIT; TR_LIMIT");
    kit_close();
}

static tr_next bind_wrong(tr_self *self)
{
    say("%s", tr_status_name(tr_timer_ends_with(self, timer, channel)));
    tr_timer keyed = tr_timer_once(self, "key", TR_SECOND, late, .number = 8);
    say("%s", tr_status_name(tr_timer_ends_with(self, keyed, TR_NO_CHANNEL)));
    say("%s", tr_status_name(tr_timer_ends_with(self, (tr_timer){0}, channel)));
    return TR_SAME;
}

static tr_next connect(tr_self *self)
{
    channel = tr_connect(self, TR_TCP(SERVER));
    bind_timer(self, TR_SECOND, 5);
    return TR_SAME;
}

static tr_next close_it(tr_self *self)
{
    tr_reset(self, channel);
    tr_timer mine = tr_timer_once(self, NULL, TR_SECOND, late, .number = 6);
    say("%s", tr_status_name(tr_timer_ends_with(self, mine, channel)));
    return TR_SAME;
}

/* It ends its own channel, in the turn of its own timer. */
static tr_next on_late_reset(tr_self *self, const struct late *message)
{
    say("late %u", message->number);
    tr_reset(self, channel);
    return TR_SAME;
}

TR_BEHAVIOR(client, void, TR_ON(run, on_run), TR_ON(late, on_late_reset),
            TR_ON(tr_closed, on_closed));

static void play_client(void)
{
    ck_assert_ptr_null(tr_kit_accept(kit, SERVER, 0));
    HOST(client, connect);
    tr_kit_peer *peer = tr_kit_accept(kit, SERVER, TR_SECOND);
    ck_assert_ptr_nonnull(peer);
    tr_kit_settle(kit);
}

TEST(a_timer_may_end_its_own_channel, "C-05")
{
    kit_open(1, 1);
    play_client();
    tr_kit_advance(kit, 3 * TR_SECOND);
    SAID("late 5; closed TR_OK");
    kit_close();
}

TEST(a_timer_for_a_channel_that_has_ended_ends_at_once, "C-05")
{
    kit_open(1, 1);
    play_client();
    host_run(close_it);
    tr_kit_advance(kit, 3 * TR_SECOND);
    SAID("TR_CLOSED; closed TR_OK");
    host_run(bind_wrong);
    SAID("TR_NOT_FOUND; TR_NOT_OWNER; TR_NOT_FOUND");
    kit_close();
}

SUITE("timers of channels", timers_of_a_channel_fire_while_it_is_open,
      timers_end_with_their_channel, timers_end_by_close_reset_and_hand_over,
      a_channel_has_a_limit_of_timers, a_timer_may_end_its_own_channel,
      a_timer_for_a_channel_that_has_ended_ends_at_once)
