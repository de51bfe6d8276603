/* SPDX-License-Identifier: Apache-2.0 */
/** What counts as idle time of a channel (.idle_ns), and what does not. On the network of kits. */
#include "support/net.h"

#define IDLE_NS (5 * TR_SECOND)
#define LISTEN(name, ...)                                                                          \
    static tr_next name(tr_self *self)                                                             \
    {                                                                                              \
        listener = tr_listen(                                                                      \
            self, worker, TR_TCP(SERVER, .framing = TR_LINES, .idle_ns = IDLE_NS, __VA_ARGS__));   \
        return TR_SAME;                                                                            \
    }
TR_BEHAVIOR(host, void, TR_ON(run, on_run));
TR_ACTOR(worker, tr_received, tr_closed);
TR_ACTOR(second, tr_opened, tr_closed);

/* Each byte of a line is something that its turn does. */
static tr_next on_line(tr_self *self, const struct tr_received *line)
{
    tr_channel channel = line->channel;
    char text[20];
    tr_bytes more;
    snprintf(text, sizeof text, "%s", (const char *)line->bytes.data);
    for (const char *at = text; *at; at++) {
        if (*at == 'w') /* works */
            tr_sleep(self, 20 * TR_SECOND);
        if (*at == 'r') /* reads */
            say("%s", tr_status_name(tr_try_read(self, channel, &more)));
        if (*at == 'l') { /* reads, and looks around each second */
            tr_channel_within(self, channel, TR_SECOND);
            for (int i = 0; i < 100 && tr_try_read(self, channel, &more) == TR_TIMEOUT;)
                i++;
            break;
        }
        if (*at == 'h') { /* hands over */
            second_ref to = tr_find(self, second, "/user/host/second");
            ck_assert_int_eq(tr_hand_over(self, channel, to), TR_OK);
            return TR_SAME;
        }
    }
    tr_print(self, channel, "done %s\n", text);
    return TR_SAME;
}
static tr_next on_closed(tr_self *self, const struct tr_closed *message)
{
    (void)self;
    say("closed %s", tr_status_name(message->status));
    return TR_STOP;
}
TR_BEHAVIOR(worker, void, TR_ON(tr_received, on_line), TR_ON(tr_closed, on_closed));
static tr_next on_opened(tr_self *self, const struct tr_opened *message)
{
    (void)self;
    (void)message;
    say("taken");
    return TR_SAME;
}
TR_BEHAVIOR(second, void, TR_ON(tr_opened, on_opened), TR_ON(tr_closed, on_closed));
LISTEN(listen_one, .delays = false)
LISTEN(listen_many, .interleaves = true, .answers_in_order = true)
static tr_next listen_two(tr_self *self)
{
    tr_spawn(self, second, "second");
    return listen_one(self);
}

/* Opens, sends, and lets that much time pass. */
static tr_kit_peer *peer_after(turn *listen, const char *sent, tr_time ns)
{
    kit_open(1, 1);
    HOST(host, listen);
    tr_kit_peer *peer = peer_new();
    peer_send(peer, sent);
    tr_kit_advance(kit, ns);
    return peer;
}

TEST(a_connection_whose_request_is_worked_on_is_not_idle, "C-05")
{
    tr_kit_peer *peer = peer_after(listen_one, "w\n", 20 * TR_SECOND);
    SAID("");
    ck_assert_str_eq(tr_kit_receive_text(peer, 0), "done w\n");
    tr_kit_advance(kit, IDLE_NS - TR_MILLISECOND); /* begins again when the turn ends */
    SAID("");
    tr_kit_advance(kit, 2 * TR_MILLISECOND);
    SAID("closed TR_TIMEOUT");
    kit_close();
}
TEST(requests_that_are_worked_on_at_once_are_not_idle, "C-03", "C-05")
{
    tr_kit_peer *peer = peer_after(listen_many, "w\nww\nx\n", 40 * TR_SECOND);
    SAID("");
    ck_assert_str_eq(tr_kit_receive_text(peer, 0), "done w\ndone ww\ndone x\n");
    tr_kit_advance(kit, IDLE_NS + TR_MILLISECOND);
    SAID("closed TR_TIMEOUT");
    kit_close();
}
TEST(a_turn_that_waits_for_bytes_is_idle, "C-05")
{
    peer_after(listen_one, "r\n", IDLE_NS + TR_MILLISECOND);
    SAID("TR_TIMEOUT; closed TR_TIMEOUT");
    kit_close();
    peer_after(listen_one, "wr\n", 20 * TR_SECOND + IDLE_NS - TR_MILLISECOND);
    SAID("");
    tr_kit_advance(kit, 2 * TR_MILLISECOND);
    SAID("TR_TIMEOUT; closed TR_TIMEOUT");
    kit_close();
}
TEST(waits_with_limits_of_their_own_add_up_to_idle_time, "C-05")
{
    peer_after(listen_one, "wl\n", 20 * TR_SECOND + IDLE_NS - TR_MILLISECOND);
    SAID("");
    tr_kit_advance(kit, 2 * TR_MILLISECOND);
    SAID("closed TR_TIMEOUT");
    kit_close();
}
TEST(idle_time_begins_again_with_a_hand_over, "C-05", "C-10")
{
    peer_after(listen_two, "wh\n", 20 * TR_SECOND + IDLE_NS - TR_MILLISECOND);
    SAID("taken");
    tr_kit_advance(kit, 2 * TR_MILLISECOND);
    SAID("closed TR_TIMEOUT");
    kit_close();
}

SUITE("idle time of channels", a_connection_whose_request_is_worked_on_is_not_idle,
      requests_that_are_worked_on_at_once_are_not_idle, a_turn_that_waits_for_bytes_is_idle,
      waits_with_limits_of_their_own_add_up_to_idle_time, idle_time_begins_again_with_a_hand_over)
