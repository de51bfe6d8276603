/* SPDX-License-Identifier: Apache-2.0 */
/** Names: how long a look-up may take, and the order of addresses. On the network of kits. */
#include "support/net.h"

#define NAME "shop.example"

static tr_channel channel;

static tr_next on_opened(void)
{
    say("opened");
    return TR_SAME;
}

static tr_next on_closed(const struct tr_closed *message)
{
    say("closed %s", tr_status_name(message->status));
    return TR_SAME;
}

TR_BEHAVIOR(host, void, TR_ON(run, on_run), TR_ON(tr_opened, on_opened),
            TR_ON(tr_closed, on_closed));

static tr_time began_ns;

/* Says what became of a connect, and how many milliseconds it took. */
static tr_next connect_named(tr_self *self)
{
    began_ns = tr_now(self);
    tr_status status =
        tr_try_connect(self, TR_TCP(NAME ":7000", .connect_ns = 2 * TR_SECOND), &channel);
    say("%s %d", tr_status_name(status), (int)((tr_now(self) - began_ns) / MS));
    return TR_SAME;
}

static tr_next dial_named(tr_self *self)
{
    channel = tr_dial(self, TR_TCP(NAME ":7000", .connect_ns = 2 * TR_SECOND));
    return TR_SAME;
}

static tr_next close_it(tr_self *self)
{
    tr_close(self, channel);
    return TR_SAME;
}

static tr_next stop(tr_self *self)
{
    (void)self;
    return TR_STOP;
}

TEST(a_name_that_hangs_holds_a_connect_no_longer_than_its_time, "C-05", "CH-10")
{
    kit_open(1, 1);
    ck_assert(tr_kit_add_name(kit, NAME, "127.0.0.1"));
    ck_assert(tr_kit_delay_name(kit, NAME, TR_NEVER));
    HOST(host, connect_named);
    tr_kit_advance(kit, 2 * TR_SECOND - MS);
    SAID("");
    tr_kit_advance(kit, MS);
    SAID("TR_TIMEOUT 2000");
    ck_assert_uint_eq(tr_kit_open_channels(kit), 0);
    kit_close();
}

TEST(a_name_that_hangs_holds_a_dial_no_longer_than_its_time, "C-05", "CH-10")
{
    for (uint64_t seed = 1; seed <= 10; seed++) {
        kit_open(2, seed);
        ck_assert(tr_kit_delay_name(kit, NAME, TR_NEVER));
        HOST(host, dial_named);
        tr_kit_advance(kit, 2 * TR_SECOND - MS);
        SAID("");
        tr_kit_advance(kit, MS);
        SAID("closed TR_TIMEOUT");
        /* The slot of that channel is used again, and no turn is left that would dial for it. */
        host_run(dial_named);
        tr_kit_advance(kit, TR_SECOND);
        ck_assert(tr_kit_delay_name(kit, NAME, 0));
        ck_assert(tr_kit_add_name(kit, NAME, "127.0.0.1"));
        ck_assert_ptr_null(tr_kit_accept(kit, SERVER, 0));
        ck_assert_ptr_nonnull(tr_kit_accept(kit, SERVER, TR_SECOND));
        ck_assert_ptr_null(tr_kit_accept(kit, SERVER, 10 * TR_SECOND));
        SAID("opened");
        kit_close();
    }
}

TEST(a_slow_name_is_waited_for, "C-05")
{
    kit_open(1, 1);
    ck_assert(tr_kit_add_name(kit, NAME, "127.0.0.1"));
    ck_assert(tr_kit_delay_name(kit, NAME, TR_SECOND));
    ck_assert_ptr_null(tr_kit_accept(kit, SERVER, 0));
    HOST(host, connect_named);
    ck_assert_ptr_nonnull(tr_kit_accept(kit, SERVER, 10 * TR_SECOND));
    tr_kit_settle(kit);
    SAID("TR_OK 1000");
    kit_close();
}

TEST(a_slow_name_answers_all_who_ask, "C-05", "C-14")
{
    kit_open(1, 1);
    ck_assert(tr_kit_add_name(kit, NAME, "127.0.0.1"));
    ck_assert(tr_kit_delay_name(kit, NAME, TR_SECOND));
    ck_assert_ptr_null(tr_kit_accept(kit, SERVER, 0));
    HOST(host, dial_named);
    tr_kit_advance(kit, 5 * MS);
    host_run(dial_named);
    tr_kit_advance(kit, TR_SECOND + 10 * MS);
    SAID("opened; opened");
    kit_close();
}

TEST(a_slow_name_takes_its_time_again, "C-05", "C-14")
{
    kit_open(1, 1);
    ck_assert(tr_kit_add_name(kit, NAME, "127.0.0.1"));
    ck_assert(tr_kit_delay_name(kit, NAME, TR_SECOND));
    ck_assert_ptr_null(tr_kit_accept(kit, SERVER, 0));
    HOST(host, dial_named);
    host_run(close_it); /* nobody waits for this look-up */
    SAID("closed TR_OK");
    tr_kit_advance(kit, 5 * TR_SECOND);
    host_run(connect_named);
    tr_kit_advance(kit, 2 * TR_SECOND);
    SAID("TR_OK 1000");
    kit_close();
}

TEST(a_dial_that_hangs_can_be_closed_and_its_actor_can_stop, "C-05", "C-09")
{
    for (uint64_t seed = 1; seed <= 10; seed++) {
        kit_open(1, seed);
        ck_assert(tr_kit_delay_name(kit, NAME, TR_NEVER));
        HOST(host, dial_named);
        tr_kit_advance(kit, 100 * MS);
        host_run(close_it);
        SAID("closed TR_OK");
        host_run(dial_named);
        tr_kit_advance(kit, 100 * MS);
        host_run(stop);
        ck_assert_uint_eq(tr_kit_open_channels(kit), 0);
        kit_close();
    }
}

/* ---- Happy eyeballs. ---- */

/* Makes an address silent: as many as the backlog takes have connected, and nobody accepts them. */
static void silence(const char *address)
{
    ck_assert_ptr_null(tr_kit_accept(kit, address, 0));
    for (int i = 0; i < 128; i++)
        ck_assert_ptr_nonnull(tr_kit_connect(kit, address));
}

TEST(a_silent_address_has_250_ms_before_the_next_is_tried_too, "C-05", "CH-10")
{
    kit_open(1, 1);
    ck_assert(tr_kit_add_name(kit, NAME, "10.0.0.1"));
    ck_assert(tr_kit_add_name(kit, NAME, "127.0.0.1"));
    silence("10.0.0.1:7000");
    ck_assert_ptr_null(tr_kit_accept(kit, SERVER, 0));
    size_t before = tr_kit_open_channels(kit);
    HOST(host, connect_named);
    tr_kit_advance(kit, 249 * MS);
    ck_assert_uint_eq(tr_kit_open_channels(kit), before + 1); /* one attempt */
    tr_kit_advance(kit, MS);
    SAID("TR_OK 250");
    ck_assert_uint_eq(tr_kit_open_channels(kit), before + 1); /* the loser is closed */
    kit_close();
}

TEST(the_families_of_addresses_take_turns, "C-05", "CH-10")
{
    kit_open(1, 1);
    ck_assert(tr_kit_add_name(kit, NAME, "fd00::1"));
    ck_assert(tr_kit_add_name(kit, NAME, "fd00::2"));
    ck_assert(tr_kit_add_name(kit, NAME, "fd00::3"));
    ck_assert(tr_kit_add_name(kit, NAME, "127.0.0.1"));
    silence("[fd00::1]:7000");
    silence("[fd00::2]:7000");
    silence("[fd00::3]:7000");
    ck_assert_ptr_null(tr_kit_accept(kit, SERVER, 0));
    HOST(host, connect_named);
    tr_kit_advance(kit, TR_SECOND);
    SAID("TR_OK 250"); /* not 750 */
    kit_close();
}

SUITE("names of channels", a_name_that_hangs_holds_a_connect_no_longer_than_its_time,
      a_name_that_hangs_holds_a_dial_no_longer_than_its_time, a_slow_name_is_waited_for,
      a_slow_name_answers_all_who_ask, a_slow_name_takes_its_time_again,
      a_dial_that_hangs_can_be_closed_and_its_actor_can_stop,
      a_silent_address_has_250_ms_before_the_next_is_tried_too,
      the_families_of_addresses_take_turns)
