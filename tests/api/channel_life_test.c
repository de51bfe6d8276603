/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Channels and the life of their actors and of the system: shutdown, closes before a channel is open, turns that fail. On the network of kits.
 */
#include "support/net.h"

#define ONCE(name, ...)                                                                            \
    static tr_next name(tr_self *self)                                                             \
    {                                                                                              \
        __VA_ARGS__;                                                                               \
        return TR_SAME;                                                                            \
    }

static tr_channel channel;

static tr_next on_opened(const struct tr_opened *message)
{
    say("opened");
    channel = message->channel;
    return TR_SAME;
}

static tr_next on_received(const struct tr_received *message)
{
    say("got %.*s", (int)message->bytes.size, (const char *)message->bytes.data);
    return TR_SAME;
}

static tr_next on_closed(const struct tr_closed *message)
{
    say("closed %s", tr_status_name(message->status));
    return TR_SAME;
}

TR_BEHAVIOR(host, void, TR_ON(run, on_run), TR_ON(tr_opened, on_opened),
            TR_ON(tr_received, on_received), TR_ON(tr_closed, on_closed));

/* ---- Shutdown. ---- */

TR_ACTOR(line_session, run);

/* Reads its requests in a loop: "sleep" takes two seconds. */
static tr_next on_line_opened(tr_self *self, const struct tr_opened *message)
{
    tr_bytes line;
    while (tr_read_line(self, message->channel, &line)) {
        if (strcmp(line.data, "sleep") == 0)
            tr_sleep(self, 2 * TR_SECOND);
        tr_print(self, message->channel, "did %s\n", (const char *)line.data);
    }
    say("end");
    return TR_STOP;
}

TR_BEHAVIOR(line_session, void, TR_ON(run, on_run), TR_ON(tr_opened, on_line_opened));

ONCE(listen_lines, listener = tr_listen(self, line_session, TR_TCP(SERVER)))
ONCE(sleep_long, tr_sleep(self, 3 * TR_SECOND); say("slept"))

static void play_listeners_close(void)
{
    HOST(host, listen_lines);
    tr_kit_peer *peer = peer_new();
    peer_send(peer, "a\n");
    PEER_GETS(peer, "did a\n");
    TELL_RUN(test, host, sleep_long); /* so the host stops three seconds after the pill */
    tr_kit_settle(kit);
    tr_system_shutdown(tr_kit_system(kit), 10 * TR_SECOND);
    tr_kit_settle(kit);
    ck_assert_ptr_null(tr_kit_connect(kit, SERVER));
    SAID("end"); /* the session was idle; the host is still there */
    PEER_GETS(peer, "");
    ck_assert_int_eq(tr_kit_peer_status(peer), TR_CLOSED);
    tr_kit_close(peer);
    tr_kit_advance(kit, 4 * TR_SECOND);
    SAID("slept");
    ck_assert_uint_eq(tr_kit_open_channels(kit), 0);
}

TEST(a_shutdown_closes_listeners_and_idle_sessions_first, "X-01", "CH-22")
{
    kits_each(play_listeners_close);
}

static void play_busy_sessions(void)
{
    HOST(host, listen_lines);
    tr_kit_peer *busy = peer_new();
    tr_kit_peer *half = peer_new();
    peer_send(busy, "sleep\n");
    peer_send(half, "one and a ha");
    tr_system_shutdown(tr_kit_system(kit), 10 * TR_SECOND);
    tr_kit_settle(kit);
    peer_send(half, "lf\n");
    PEER_GETS(half, "did one and a half\n");
    PEER_GETS(half, "");
    ck_assert_int_eq(tr_kit_peer_status(half), TR_CLOSED);
    tr_kit_advance(kit, 2 * TR_SECOND);
    PEER_GETS(busy, "did sleep\n");
    PEER_GETS(busy, "");
    ck_assert_int_eq(tr_kit_peer_status(busy), TR_CLOSED);
    tr_kit_close(busy);
    tr_kit_close(half);
    tr_kit_settle(kit);
    SAID("end; end");
    ck_assert_uint_eq(tr_kit_open_channels(kit), 0);
}

TEST(a_shutdown_lets_busy_sessions_answer, "X-01", "CH-22")
{
    kits_each(play_busy_sessions);
}

TR_ACTOR(message_session, run);

static tr_next on_message_line(tr_self *self, const struct tr_received *line)
{
    tr_print(self, line->channel, "did %s\n", (const char *)line->bytes.data);
    return TR_SAME;
}

TR_BEHAVIOR(message_session, void, TR_ON(run, on_run), TR_ON(tr_received, on_message_line));

ONCE(listen_messages,
     listener = tr_listen(self, message_session, TR_TCP(SERVER, .framing = TR_LINES)))

/* No turn waits: what the sessions have of a line is all that says that they are in the middle of it. */
static void play_parts_of_lines(void)
{
    HOST(host, listen_messages);
    tr_kit_peer *idle = peer_new();
    tr_kit_peer *half = peer_new();
    tr_kit_peer *gone = peer_new();
    tr_kit_peer *stuck = peer_new();
    peer_send(half, "zero\none and a ha");
    PEER_GETS(half, "did zero\n");
    peer_send(gone, "one");
    peer_send(stuck, "one");
    tr_system_shutdown(tr_kit_system(kit), 20 * TR_SECOND);
    tr_kit_settle(kit);
    PEER_GETS(idle, "");
    ck_assert_int_eq(tr_kit_peer_status(idle), TR_CLOSED);
    peer_send(half, "lf");
    PEER_GETS(half, "");
    peer_send(half, " more\n");
    PEER_GETS(half, "did one and a half more\n");
    PEER_GETS(half, "");
    ck_assert_int_eq(tr_kit_peer_status(half), TR_CLOSED);
    tr_kit_reset(gone);
    tr_kit_close(idle);
    tr_kit_close(half);
    tr_kit_settle(kit);
    ck_assert_uint_eq(tr_kit_open_channels(kit), 1); /* that of stuck */
    ck_assert_int_eq(tr_kit_peer_status(stuck), TR_OK);
    tr_kit_advance(kit, 20 * TR_SECOND);
    PEER_GETS(stuck, "");
    ck_assert_int_eq(tr_kit_peer_status(stuck), TR_RESET);
    tr_kit_close(gone);
    tr_kit_close(stuck);
    tr_kit_settle(kit);
    ck_assert_uint_eq(tr_kit_open_channels(kit), 0);
}

TEST(a_shutdown_lets_sessions_of_messages_get_the_rest_of_a_piece, "X-01", "CH-22")
{
    kits_each(play_parts_of_lines);
}

TR_ACTOR(body_session, run);

static tr_next on_head(tr_self *self, const struct tr_received *head)
{
    tr_bytes body;
    tr_channel from = head->channel;
    if (tr_read_exactly(self, from, strtoul(head->bytes.data, NULL, 10), &body))
        tr_print(self, from, "body %.*s\n", (int)body.size, (const char *)body.data);
    return TR_SAME;
}

TR_BEHAVIOR(body_session, void, TR_ON(run, on_run), TR_ON(tr_received, on_head));

ONCE(listen_bodies, listener = tr_listen(self, body_session, TR_TCP(SERVER, .framing = TR_LINES)))

/* The turn that has read a head waits for the body. */
static void play_bodies(void)
{
    HOST(host, listen_bodies);
    tr_kit_peer *peer = peer_new();
    tr_kit_peer *stuck = peer_new();
    peer_send(peer, "4\n");
    peer_send(stuck, "4\n");
    tr_system_shutdown(tr_kit_system(kit), 3 * TR_SECOND);
    tr_kit_settle(kit);
    peer_send(peer, "abcd");
    PEER_GETS(peer, "body abcd\n");
    PEER_GETS(peer, "");
    ck_assert_int_eq(tr_kit_peer_status(peer), TR_CLOSED);
    tr_kit_advance(kit, 3 * TR_SECOND);
    PEER_GETS(stuck, "");
    ck_assert_int_eq(tr_kit_peer_status(stuck), TR_RESET);
    tr_kit_close(peer);
    tr_kit_close(stuck);
    tr_kit_settle(kit);
    ck_assert_uint_eq(tr_kit_open_channels(kit), 0);
}

TEST(a_request_in_the_middle_ends_with_the_deadline, "X-01", "C-09")
{
    kits_each(play_bodies);
}

ONCE(write_a_lot, {
    static char block[20000];
    channel = tr_connect(self, TR_TCP(SERVER, .linger_ns = TR_MINUTE));
    memset(block, 'x', sizeof block);
    tr_write(self, channel, (tr_bytes){block, sizeof block});
})

/* The peer reads too little until the deadline: it does not take that for all. */
static void play_deadline(void)
{
    static const tr_kit_network narrow = {.window = 1000};
    tr_kit_set_network(kit, &narrow);
    ck_assert_ptr_null(tr_kit_accept(kit, SERVER, 0));
    HOST(host, write_a_lot);
    tr_kit_peer *peer = tr_kit_accept(kit, SERVER, TR_SECOND);
    tr_kit_settle(kit);
    tr_system_shutdown(tr_kit_system(kit), TR_SECOND);
    tr_kit_advance(kit, TR_SECOND / 2);
    ck_assert_uint_gt(tr_kit_open_channels(kit), 0);
    tr_kit_advance(kit, TR_SECOND);
    ck_assert_uint_eq(tr_kit_open_channels(kit), 0);
    while (tr_kit_receive(peer, 0).size)
        continue;
    ck_assert_int_eq(tr_kit_peer_status(peer), TR_RESET);
    tr_kit_close(peer);
}

TEST(what_lingers_at_the_deadline_is_reset, "X-01", "C-09")
{
    kits_each(play_deadline);
}

/* ---- Closed before it is open. ---- */

ONCE(dial_write_close, {
    channel = tr_dial(self, TR_TCP(SERVER));
    tr_write_text(self, channel, "all");
    tr_close(self, channel);
    tr_close(self, channel);
    say("%s", tr_status_name(tr_write_text(self, channel, "late")));
    tr_bytes bytes;
    say("%s", tr_status_name(tr_try_read(self, channel, &bytes)));
})

static void play_dial_close(void)
{
    ck_assert_ptr_null(tr_kit_accept(kit, SERVER, 0));
    HOST(host, dial_write_close);
    tr_kit_peer *peer = tr_kit_accept(kit, SERVER, TR_SECOND);
    ck_assert_ptr_nonnull(peer);
    PEER_GETS(peer, "all");
    PEER_GETS(peer, "");
    ck_assert_int_eq(tr_kit_peer_status(peer), TR_CLOSED);
    tr_kit_close(peer);
    tr_kit_settle(kit);
    SAID("TR_CLOSED; TR_CLOSED; closed TR_OK");
    ck_assert_uint_eq(tr_kit_open_channels(kit), 0);
}

static void play_dial_close_refused(void)
{
    HOST(host, dial_write_close);
    tr_kit_advance(kit, TR_MINUTE);
    SAID("TR_CLOSED; TR_CLOSED; closed TR_CONNECT_REFUSED");
    ck_assert_uint_eq(tr_kit_open_channels(kit), 0);
}

ONCE(dial_close, tr_close(self, tr_dial(self, TR_TCP(SERVER))))

/* Without output there is nothing to open it for. */
static void play_dial_close_empty(void)
{
    ck_assert_ptr_null(tr_kit_accept(kit, SERVER, 0));
    HOST(host, dial_close);
    SAID("closed TR_OK");
    ck_assert_uint_eq(tr_kit_open_channels(kit), 0);
}

static tr_next dial_write_stop(tr_self *self)
{
    tr_write_text(self, tr_dial(self, TR_TCP(SERVER)), "nothing");
    return TR_STOP;
}

/* The turn that dials ends with its actor; the log has a line about it. */
static void play_dial_stop(void)
{
    ck_assert_ptr_null(tr_kit_accept(kit, SERVER, 0));
    HOST(host, dial_write_stop);
    ck_assert_ptr_null(tr_kit_accept(kit, SERVER, TR_SECOND));
    ck_assert_uint_eq(tr_kit_open_channels(kit), 0);
}

TEST(what_was_written_before_a_close_is_sent_when_the_channel_is_open, "C-05", "C-09")
{
    kits_each(play_dial_close);
    kits_each(play_dial_close_refused);
    kits_each(play_dial_close_empty);
    kits_each(play_dial_stop);
}

TR_ACTOR(greeter, run);
TR_MESSAGE(greeting, (u64, how));
enum { GREET_AND_CLOSE, GREET_AND_STOP, GREET_AND_FAIL };

static tr_next greet(tr_self *self, void *state, const struct greeting *message)
{
    (void)state;
    tr_write_text(self, tr_peer(self), "busy");
    if (message->how == GREET_AND_STOP)
        return TR_STOP;
    if (message->how == GREET_AND_FAIL)
        return tr_fail(self, TR_BAD_DATA, "no");
    tr_close(self, tr_peer(self));
    return TR_SAME;
}

TR_BEHAVIOR(greeter, void, TR_SETUP_WITH(greeting, greet), TR_ON(run, on_run),
            TR_ON(tr_opened, on_opened), TR_ON(tr_received, on_received));

static uint64_t greets_how;
static bool has_header;

ONCE(listen_greeting,
     listener = tr_listen(self, greeter, TR_TCP(SERVER, .has_proxy_header = has_header), greeting,
                          .how = greets_how))

static void play_greeting(void)
{
    HOST(host, listen_greeting);
    tr_kit_peer *peer = peer_new();
    if (has_header) /* the channel opens when the header was read */
        peer_send(peer, "PROXY UNKNOWN\r\n");
    PEER_GETS(peer, greets_how == GREET_AND_FAIL ? "" : "busy");
    PEER_GETS(peer, "");
    ck_assert_int_eq(tr_kit_peer_status(peer), greets_how == GREET_AND_FAIL ? TR_RESET : TR_CLOSED);
    tr_kit_close(peer);
    tr_kit_settle(kit);
    SAID("");
    ck_assert_uint_eq(tr_kit_open_channels(kit), 1);
}

TEST(a_set_up_may_write_and_end, "C-09", "C-02")
{
    for (greets_how = GREET_AND_CLOSE; greets_how <= GREET_AND_FAIL; greets_how++) {
        has_header = false;
        kits_each(play_greeting);
        has_header = true;
        if (greets_how != GREET_AND_FAIL)
            kits_each(play_greeting);
    }
}

/* ---- Turns that fail. ---- */

static tr_kit_peer *peer;

ONCE(connect_lines, channel = tr_connect(self, TR_TCP(SERVER, .framing = TR_LINES)))

enum {
    FAIL_AT_ONCE,
    FAIL_AFTER_CLOSE,
    FAIL_AFTER_FINISH,
    FAIL_BY_CRASH,
    FAIL_AFTER_OTHERS,
    FAILURES
};
static int fails_how;
TR_ACTOR(weak, run);

static tr_next on_weak(tr_self *self, const struct tr_received *message)
{
    bool is_good = strcmp(message->bytes.data, "good") == 0;
    tr_print(self, message->channel, "%s\n", (const char *)message->bytes.data);
    if (is_good)
        return TR_SAME;
    if (fails_how == FAIL_AFTER_CLOSE)
        tr_close(self, message->channel);
    else if (fails_how == FAIL_AFTER_FINISH)
        tr_finish(self, message->channel);
    else if (fails_how == FAIL_BY_CRASH)
        tr_crash(self, TR_BAD_DATA, "bad");
    return tr_fail(self, TR_BAD_DATA, "bad");
}

TR_BEHAVIOR(weak, void, TR_ON(run, on_run), TR_ON(tr_received, on_weak));

ONCE(listen_weak, listener = tr_listen(self, weak, TR_TCP(SERVER, .framing = TR_LINES)))

static void play_failing(void)
{
    HOST(host, listen_weak);
    peer = peer_new();
    peer_send(peer, "good\n");
    PEER_GETS(peer, "good\n");
    peer_send(peer, fails_how == FAIL_AFTER_OTHERS ? "good\ngood\nbad\n" : "bad\n");
    ck_assert_ptr_null(strstr(tr_kit_receive_text(peer, TR_SECOND), "bad"));
    PEER_GETS(peer, "");
    ck_assert_int_eq(tr_kit_peer_status(peer), TR_RESET);
    tr_kit_close(peer);
}

/* The turns before may have left, if they were another run. */
TEST(what_a_run_that_fails_has_written_does_not_leave, "C-09")
{
    for (fails_how = 0; fails_how < FAILURES; fails_how++)
        kits_each(play_failing);
}

TR_ACTOR(resumed, run);

static tr_next fail_after_write(tr_self *self)
{
    tr_write_text(self, channel, "kept");
    return tr_fail(self, TR_BAD_DATA, "bad");
}

static tr_next on_go(tr_self *self, const struct run *message)
{
    return on_run(self, message);
}

TR_BEHAVIOR(resumed, void, TR_ON(run, on_go));

static tr_directive resume_child(tr_self *self, const tr_error *cause)
{
    (void)self;
    (void)cause;
    return TR_RESUME;
}

static resumed_ref child;
TR_ACTOR(parent, run);
TR_BEHAVIOR(parent, void, TR_ON(run, on_run), TR_SUPERVISE(TR_ONE_FOR_ONE, .decide = resume_child));

ONCE(spawn_resumed, child = tr_spawn(self, resumed, NULL))

/* An actor that is resumed keeps its channels, and nothing is missing in what they send. */
static void play_resumed(void)
{
    ck_assert_ptr_null(tr_kit_accept(kit, SERVER, 0));
    HOST(parent, spawn_resumed);
    TELL_RUN(test, child, connect_lines);
    tr_kit_settle(kit);
    peer = tr_kit_accept(kit, SERVER, TR_SECOND);
    ck_assert_ptr_nonnull(peer);
    TELL_RUN(test, child, fail_after_write);
    PEER_GETS(peer, "kept");
    tr_kit_close(peer);
}

TEST(an_actor_that_is_resumed_sends_what_it_wrote, "C-09", "S-01")
{
    kits_each(play_resumed);
}

SUITE("life of channels", a_shutdown_closes_listeners_and_idle_sessions_first,
      a_shutdown_lets_busy_sessions_answer,
      a_shutdown_lets_sessions_of_messages_get_the_rest_of_a_piece,
      a_request_in_the_middle_ends_with_the_deadline, what_lingers_at_the_deadline_is_reset,
      what_was_written_before_a_close_is_sent_when_the_channel_is_open, a_set_up_may_write_and_end,
      what_a_run_that_fails_has_written_does_not_leave,
      an_actor_that_is_resumed_sends_what_it_wrote)
