/* SPDX-License-Identifier: Apache-2.0 */
/** Actors whose behavior has no channels: each verb says so. On the network of kits. */
#include "support/net.h"

static tr_next on_line(tr_self *self, const struct tr_received *message)
{
    (void)self;
    (void)message;
    return TR_SAME;
}

TR_BEHAVIOR(session, void, TR_ON(tr_received, on_line));
TR_BEHAVIOR(mute, void, TR_ON(tr_received, on_line), TR_OPTIONS(.has_no_channels = true));
TR_BEHAVIOR(host, void, TR_ON(run, on_run), TR_SUPERVISE(TR_ONE_FOR_ONE),
            TR_OPTIONS(.has_no_channels = true));
TR_BEHAVIOR(plain, void, TR_ON(run, on_run));

static tr_channel other; /* a channel of another actor */

static tr_next use_verbs(tr_self *self)
{
    tr_channel channel;
    tr_bytes bytes = {NULL, 0};
    tr_address to = {.family = TR_FAMILY_V4};
    const struct tr_received *reply;
    const struct tr_connection request = {.number = 1};
    tr_listener_ref none;
    const tr_status all[] = {
        tr_try_listen(self, &none, session, TR_TCP(SERVER)),
        tr_try_connect(self, TR_TCP(SERVER), &channel),
        tr_try_bind(self, TR_UDP("127.0.0.1:0"), &channel),
        tr_accept(self, &request, &channel),
        tr_try_read(self, other, &bytes),
        tr_write(self, other, TR_BYTES("x")),
        tr_try_write(self, other, TR_BYTES("x")),
        tr_flush(self, other),
        tr_send_to(self, other, &to, TR_BYTES("x")),
        tr_hand_over(self, other, host),
        tr_start_tls(self, other),
        tr_try_await(self, tr_readable(self, other), &reply),
        tr_try_await(self, tr_exchange(self, other, TR_BYTES("x")), &reply),
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        ck_assert_msg(all[i] == TR_NOT_A_CHANNEL_ACTOR, "%zu: %s", i, tr_status_name(all[i]));
    say("all");
    return TR_SAME;
}

static tr_next dial_it(tr_self *self)
{
    (void)tr_dial(self, TR_TCP(SERVER));
    say("not reached");
    return TR_SAME;
}

static tr_next close_it(tr_self *self)
{
    tr_close(self, other);
    say("not reached");
    return TR_SAME;
}

TEST(a_behavior_without_channels_gets_a_status_from_each_verb, "C-01")
{
    kit_open(1, 1);
    HOST(host, use_verbs);
    SAID("all");
    ck_assert_uint_eq(tr_kit_open_channels(kit), 0);
    host_run(dial_it); /* ends the turn */
    host_run(close_it);
    SAID("");
    kit_close();
}

/* ---- Others give it no channels. ---- */

static host_ref without;

static tr_next connect_it(tr_self *self)
{
    other = tr_connect(self, TR_TCP(SERVER));
    return TR_SAME;
}

static tr_next hand_over(tr_self *self)
{
    tr_listener_ref none;
    say("%s", tr_status_name(tr_try_listen(self, &none, mute, TR_TCP("127.0.0.1:7001"))));
    say("%s", tr_status_name(tr_hand_over(self, other, without)));
    return TR_SAME;
}

static tr_next nothing(tr_self *self)
{
    (void)self;
    return TR_SAME;
}

TEST(a_channel_that_is_handed_to_it_is_reset, "C-01", "C-10")
{
    for (int workers = 1; workers <= 3; workers += 2) {
        kit_open(workers, 1);
        ck_assert_ptr_null(tr_kit_accept(kit, SERVER, 0));
        HOST(host, nothing);
        without = host;
        ck_assert_int_eq(
            tr_client_try_spawn(
                test,
                TR_SPAWN_ARGS_(&tr_behavior_plain, NULL, "plain", home, NULL, NULL, NULL),
                &host.bits),
            TR_OK);
        host_run(connect_it);
        tr_kit_peer *peer = tr_kit_accept(kit, SERVER, TR_SECOND);
        ck_assert_ptr_nonnull(peer);
        host_run(hand_over);
        SAID("TR_NOT_A_CHANNEL_ACTOR; TR_OK");
        ck_assert_int_eq(tr_kit_peer_status(peer), TR_RESET);
        ck_assert_uint_eq(tr_kit_open_channels(kit), 0);
        tr_kit_close(peer);
        kit_close();
    }
}

SUITE("behaviors without channels", a_behavior_without_channels_gets_a_status_from_each_verb,
      a_channel_that_is_handed_to_it_is_reset)
