/* SPDX-License-Identifier: Apache-2.0 */
/** Filters of channels: of endpoints, added and removed while a channel is open. On the network of kits. */
#include "support/filters.h"

/* ---- Endpoints. ---- */

static tr_next on_line(tr_self *self, const struct tr_received *line)
{
    const char *text = line->bytes.data;
    tr_channel channel = line->channel;
    if (strcmp(text, "pack") == 0) {
        tr_write_text(self, channel, "packed\n");
        tr_status status = tr_add_filter(self, channel, &packing);
        if (status != TR_OK)
            say("add %s", tr_status_name(status));
    } else if (strcmp(text, "plain") == 0) {
        tr_write_text(self, channel, "plain\n");
        tr_status status = tr_remove_filter(self, channel, &packing);
        if (status != TR_OK)
            say("remove %s", tr_status_name(status));
    } else {
        tr_print(self, channel, "<%s>\n", text);
    }
    return TR_SAME;
}

static tr_next on_closed(const struct tr_closed *message)
{
    say("closed %s %s", tr_status_name(message->status), message->text ? message->text : "-");
    return TR_STOP;
}

TR_BEHAVIOR(session, void, TR_ON(tr_received, on_line), TR_ON(tr_closed, on_closed));
TR_BEHAVIOR(host, void, TR_ON(run, on_run));

static tr_filters used;

static tr_next listen(tr_self *self)
{
    listener = tr_listen(self, session, TR_TCP(SERVER, .framing = TR_LINES, .filters = used));
    return TR_SAME;
}

/* Closes a peer, and looks whether its states were closed. */
static void peer_end(tr_kit_peer *peer, int closed)
{
    tr_kit_close(peer);
    tr_kit_advance(kit, TR_SECOND);
    ck_assert_int_eq(closes, closed);
    closes = 0;
}

static void play_endpoint(void)
{
    used = TR_FILTERS(&packing, &one);
    HOST(host, listen);
    tr_kit_set_network(kit, &(tr_kit_network){.piece_max = TR_KIT_RANDOM});
    tr_kit_peer *peer = peer_new();
    peer_send(peer, "\1i\1j\1\v\3b\1\v"); /* "hi\naaa\n", shifted, then packed */
    PEER_GETS(peer, "\1=\1i\1j\1?\1\v\1=\1b\1b\1b\1?\1\v");
    tr_kit_finish(peer);
    PEER_GETS(peer, "\1."); /* what ends the output */
    SAID("closed TR_CLOSED -");
    peer_end(peer, 2);
}

TEST(filters_of_an_endpoint_are_passed_in_order, "C-03")
{
    kits_each_anywhere(play_endpoint);
}

/* ---- Clients. ---- */

static tr_next talk(tr_self *self)
{
    tr_bytes line;
    tr_channel channel =
        tr_connect(self, TR_TCP(SERVER, .framing = TR_LINES, .filters = TR_FILTERS(&two, &one)));
    tr_write_text(self, channel, "hi\n");
    ck_assert(tr_read(self, channel, &line));
    say("got %s", (const char *)line.data);
    tr_close(self, channel);
    return TR_SAME;
}

static void play_client(void)
{
    used = TR_FILTERS(&two, &one);
    HOST(host, listen);
    host_run(talk);
    tr_kit_advance(kit, TR_SECOND);
    SAID("got <hi>; closed TR_CLOSED -");
    ck_assert_int_eq(closes, 4);
    closes = 0;
}

TEST(clients_have_filters_too, "C-03")
{
    kits_each(play_client);
}

/* ---- Filters that come and go. ---- */

/* What is written before leaves without the filter. What has come and was not read passes it. */
static void play_added(void)
{
    used = (tr_filters){{NULL}};
    HOST(host, listen);
    tr_kit_peer *peer = peer_new();
    peer_send(peer, "a\npack\n\1b\1\n");
    PEER_GETS(peer, "<a>\npacked\n\1<\1b\1>\1\n");
    peer_send(peer, "\2c\1\n\1p");
    PEER_GETS(peer, "\1<\1c\1c\1>\1\n");
    /* What it was given and did not take continues as it is. */
    peer_send(peer, "\1l\1a\1i\1n\1\n");
    PEER_GETS(peer, "\1p\1l\1a\1i\1n\1\n\1.");
    peer_send(peer, "d\n");
    PEER_GETS(peer, "<d>\n");
    peer_send(peer, "plain\n");
    PEER_GETS(peer, "plain\n");
    SAID("remove TR_NOT_FOUND");
    peer_send(peer, "pack\n"); /* once more */
    PEER_GETS(peer, "packed\n");
    peer_send(peer, "\1e\1\n");
    PEER_GETS(peer, "\1<\1e\1>\1\n");
    peer_end(peer, 2);
}

TEST(filters_are_added_and_removed_while_running, "C-03")
{
    kits_each_anywhere(play_added);
}

/* The other side has ended behind bytes that the filter is still to get. */
static void play_added_at_end(void)
{
    used = (tr_filters){{NULL}};
    HOST(host, listen);
    tr_kit_peer *peer = peer_new();
    (void)tr_kit_send(peer, TR_BYTES("pack\n\1b\1\n"));
    tr_kit_finish(peer);
    tr_kit_settle(kit);
    PEER_GETS(peer, "packed\n\1<\1b\1>\1\n\1.");
    SAID("closed TR_CLOSED -");
    peer_end(peer, 1);
}

TEST(an_end_behind_unread_bytes_waits_for_a_new_filter, "C-03", "C-05")
{
    kits_each(play_added_at_end);
}

/* ---- Filters that fail. ---- */

static void play_failing(void)
{
    used = TR_FILTERS(&one, &packing);
    HOST(host, listen);
    tr_kit_peer *good = peer_new(), *bad = peer_new(), *half = peer_new();
    (void)tr_kit_send(bad, TR_BYTES("\2b\1z")); /* the count of the second pair is 0 */
    tr_kit_settle(kit);
    SAID("closed TR_BAD_DATA filter packing: malformed data");
    ck_assert_int_eq(tr_kit_peer_status(bad), TR_RESET);
    peer_send(half, "\2b\2");
    tr_kit_finish(half); /* amid a pair */
    tr_kit_settle(kit);
    SAID("closed TR_RESET -");
    peer_send(good, "\2b\2\v"); /* shifted after it was packed: the count is 1 */
    PEER_GETS(good, "\2=\2b\2?\2\v");
    tr_kit_close(bad);
    tr_kit_close(half);
    peer_end(good, 6);
}

TEST(a_filter_that_fails_ends_its_channel_with_its_status, "C-03", "C-05")
{
    kits_each(play_failing);
}

/* ---- Few bytes that become many. ---- */

static size_t lines;

static tr_next on_any_line(const struct tr_received *line)
{
    ck_assert_uint_eq(line->bytes.size, 0);
    lines++;
    return TR_SAME;
}

TR_BEHAVIOR(counter, void, TR_ON(tr_received, on_any_line), TR_ON(tr_closed, on_closed));

static tr_next listen_counting(tr_self *self)
{
    listener = tr_listen(
        self, counter, TR_TCP(SERVER, .framing = TR_LINES, .filters = TR_FILTERS(&packing)));
    return TR_SAME;
}

TEST(few_bytes_that_become_many_are_read_in_parts, "C-03", "C-05", "U-02")
{
    static char pairs[32 * 1024];
    kit_open(1, 1);
    HOST(host, listen_counting);
    tr_kit_peer *peer = peer_new();
    for (size_t i = 0; i < sizeof pairs; i++)
        pairs[i] = i % 2 ? '\n' : '\377';
    lines = 0;
    ck_assert_uint_eq(tr_kit_send(peer, (tr_bytes){pairs, sizeof pairs}), sizeof pairs);
    tr_kit_settle(kit);
    ck_assert_uint_eq(lines, sizeof pairs / 2 * 255);
    for (size_t i = 1; i < sizeof pairs; i += 2)
        pairs[i] = 'x'; /* one line without an end, larger than a piece may be */
    ck_assert_uint_eq(tr_kit_send(peer, (tr_bytes){pairs, sizeof pairs}), sizeof pairs);
    tr_kit_settle(kit);
    SAID("closed TR_TOO_LARGE -");
    tr_kit_close(peer);
    kit_close();
}

/* ---- Misuse of sinks. ---- */

static tr_status put_too_much(void *state, tr_bytes bytes, size_t *taken, tr_sink *in, tr_sink *out)
{
    (void)state;
    (void)bytes;
    (void)taken;
    (void)out;
    static char much[TR_FILTER_PUT_MAX];
    (void)!tr_sink_put(in, (tr_bytes){much, sizeof much});
    (void)!tr_sink_put(in, TR_BYTES("x"));
    return TR_OK; /* as if nothing had been */
}

static tr_status take_nothing(void *state, tr_bytes bytes, size_t *taken, tr_sink *in, tr_sink *out)
{
    (void)state;
    (void)bytes;
    (void)in;
    (void)out;
    *taken = 0;
    return TR_OK;
}

static const tr_filter too_much = {.name = "much", .inbound = put_too_much, .outbound = pack};
static const tr_filter nothing = {.name = "none", .inbound = take_nothing, .outbound = pack};

static void play_misuse(const tr_filter *filter, const char *text)
{
    static char some[TR_FILTER_HELD_MAX];
    kit_open(1, 1);
    used = (tr_filters){{filter}};
    HOST(host, listen);
    tr_kit_peer *peer = peer_new();
    memset(some, 'x', sizeof some);
    ck_assert_uint_eq(tr_kit_send(peer, (tr_bytes){some, sizeof some}), sizeof some);
    tr_kit_settle(kit);
    SAID(text);
    tr_kit_close(peer);
    kit_close();
}

TEST(a_filter_has_limits, "C-03", "U-01")
{
    play_misuse(&too_much, "closed TR_TOO_LARGE filter much: larger than the limit");
    play_misuse(&nothing, "closed TR_TOO_LARGE -");
}

/* ---- Handshakes. ---- */

struct greeting {
    size_t seen;
};

/* Sends '!' and is open when '!' has come. */
static tr_status greet_open(void *state, const void *option, tr_sink *out)
{
    (void)state;
    (void)option;
    return tr_sink_put(out, TR_BYTES("!"));
}

static tr_status greet_in(void *state, tr_bytes bytes, size_t *taken, tr_sink *in, tr_sink *out)
{
    (void)out;
    (void)taken;
    struct greeting *greeting = state;
    const char *data = bytes.data;
    if (!greeting->seen && bytes.size) {
        greeting->seen = 1;
        if (data[0] != '!')
            return TR_BAD_DATA;
        bytes = (tr_bytes){data + 1, bytes.size - 1};
    }
    return tr_sink_put(in, bytes);
}

static tr_status greet_out(void *state, tr_bytes bytes, tr_sink *out)
{
    (void)state;
    return tr_sink_put(out, bytes);
}

static bool greet_is_open(const void *state)
{
    return ((const struct greeting *)state)->seen;
}

static const tr_filter greeting = {.name = "greeting",
                                   .state_size = sizeof(struct greeting),
                                   .open = greet_open,
                                   .inbound = greet_in,
                                   .outbound = greet_out,
                                   .is_open = greet_is_open};

static tr_next on_greeted(tr_self *self, const struct tr_opened *message)
{
    say("opened");
    tr_write_text(self, message->channel, "welcome\n");
    return TR_SAME;
}

static tr_next on_upgrade(tr_self *self, const struct tr_received *line)
{
    tr_print(self, line->channel, "%s\n", (const char *)line->bytes.data);
    if (strcmp(line->bytes.data, "greet") != 0)
        return TR_SAME;
    say("%s", tr_status_name(tr_add_filter(self, line->channel, &greeting)));
    /* A second one has to wait until the first is open. */
    say("%s", tr_status_name(tr_add_filter(self, line->channel, &greeting)));
    tr_write_text(self, line->channel, "after\n");
    return TR_SAME;
}

TR_BEHAVIOR(greeter, void, TR_ON(tr_opened, on_greeted), TR_ON(tr_received, on_upgrade),
            TR_ON(tr_closed, on_closed));

static tr_next listen_greeting(tr_self *self)
{
    listener = tr_listen(self, greeter, TR_TCP(SERVER, .framing = TR_LINES, .filters = used));
    return TR_SAME;
}

static void play_handshake(void)
{
    used = TR_FILTERS(&greeting, &one); /* `one` begins when `greeting` is open */
    HOST(host, listen_greeting);
    tr_kit_peer *peer = peer_new(), *silent = peer_new(), *rude = peer_new();
    PEER_GETS(peer, "!");
    SAID("");
    peer_send(peer, "!");
    SAID("opened");
    PEER_GETS(peer, "xfmdpnf\v");
    peer_send(rude, "?");
    SAID("closed TR_BAD_DATA filter greeting: malformed data");
    tr_kit_advance(kit, TR_CONNECT_NS);
    SAID("closed TR_TIMEOUT -");
    tr_kit_close(silent);
    tr_kit_close(rude);
    tr_kit_close(peer);
    tr_kit_advance(kit, TR_SECOND);
    SAID("closed TR_CLOSED -");
}

TEST(a_handshake_of_a_filter_comes_before_tr_opened, "C-03", "C-05")
{
    kits_each(play_handshake);
}

static void play_late_handshake(void)
{
    used = (tr_filters){{NULL}};
    HOST(host, listen_greeting);
    tr_kit_peer *peer = peer_new(), *silent = peer_new();
    PEER_GETS(peer, "welcome\n");
    PEER_GETS(silent, "welcome\n");
    SAID("opened; opened");
    peer_send(peer, "greet\n");
    SAID("TR_OK; TR_INVALID_TRANSITION");
    PEER_GETS(peer, "greet\n!"); /* "after" waits for the handshake */
    peer_send(peer, "!x\n");
    PEER_GETS(peer, "after\nx\n");
    peer_send(silent, "greet\n");
    SAID("TR_OK; TR_INVALID_TRANSITION");
    tr_kit_advance(kit, TR_CONNECT_NS);
    SAID("closed TR_TIMEOUT -");
    peer_send(peer, "y\n"); /* its handshake has ended long ago */
    PEER_GETS(peer, "y\n");
    tr_kit_close(silent);
    tr_kit_close(peer);
    tr_kit_advance(kit, TR_SECOND);
    SAID("closed TR_CLOSED -");
}

TEST(a_filter_that_is_added_shakes_hands_while_output_waits, "C-03", "C-05")
{
    kits_each(play_late_handshake);
}

/* ---- Verbs. ---- */

static tr_channel client;

static tr_next wait_for_bytes(tr_self *self)
{
    tr_bytes bytes;
    (void)tr_read(self, client, &bytes);
    return TR_SAME;
}

static tr_next misuse(tr_self *self)
{
    static const tr_filter empty = {.name = "empty"};
    tr_listener_ref none;
    say("%s", tr_status_name(tr_add_filter(self, client, &empty)));
    say("%s", tr_status_name(tr_add_filter(self, client, NULL)));
    say("%s", tr_status_name(tr_remove_filter(self, client, &one)));
    for (int i = 0; i < TR_FILTERS_MAX; i++)
        ck_assert_int_eq(tr_add_filter(self, client, &one), TR_OK);
    say("%s", tr_status_name(tr_add_filter(self, client, &one)));
    say("%s", tr_status_name(tr_add_filter(self, TR_NO_CHANNEL, &one)));
    say("%s", tr_status_name(tr_start_tls(self, client)));
    say("%s",
        tr_status_name(tr_try_listen(
            self, &none, session, TR_TCP("127.0.0.1:7001", .filters = TR_FILTERS(&empty)))));
    say("%s",
        tr_status_name(tr_try_listen(
            self, &none, session, TR_TCP("127.0.0.1:7001", .filters = TR_FILTERS(NULL, &one)))));
    say("%s",
        tr_status_name(
            tr_try_bind(self, TR_UDP("127.0.0.1:7001", .filters = TR_FILTERS(&one)), &client)));
    say("%s",
        tr_status_name(
            tr_try_listen(self, &none, session, TR_TCP("127.0.0.1:7001", .starts_plain = true))));
    return TR_SAME;
}

static tr_next add_while_waiting(tr_self *self)
{
    say("%s", tr_status_name(tr_add_filter(self, client, &one)));
    tr_close(self, client);
    say("%s", tr_status_name(tr_add_filter(self, client, &one)));
    return TR_SAME;
}

static tr_next connect_client(tr_self *self)
{
    client = tr_connect(self, TR_TCP(SERVER));
    return TR_SAME;
}

TEST(filters_that_cannot_be_are_refused, "C-03", "U-01")
{
    kit_open(1, 1);
    closes = 0;
    used = (tr_filters){{NULL}};
    HOST(host, listen);
    host_run(connect_client);
    host_run(misuse);
    SAID("TR_INVALID_ARGUMENT; TR_INVALID_ARGUMENT; TR_NOT_FOUND; TR_LIMIT; TR_NOT_OWNER; "
         "TR_INVALID_TRANSITION; TR_INVALID_ARGUMENT; TR_INVALID_ARGUMENT; TR_INVALID_ARGUMENT; "
         "TR_INVALID_ARGUMENT");
    host_run(wait_for_bytes);
    host_run(add_while_waiting);
    SAID("TR_INVALID_TRANSITION; TR_CLOSED; closed TR_CLOSED -");
    tr_kit_advance(kit, TR_SECOND);
    ck_assert_int_eq(closes, TR_FILTERS_MAX);
    kit_close();
}

/* ---- Without memory. ---- */

static void play_memory(uint64_t nth)
{
    kit_open(1, 1);
    used = TR_FILTERS(&one);
    HOST(host, listen);
    tr_kit_fail_allocation(kit, nth, false);
    tr_kit_peer *peer = tr_kit_connect(kit, SERVER);
    if (peer) {
        (void)tr_kit_send(peer, TR_BYTES("qbdl\v\2b\2\v"));
        tr_kit_settle(kit);
    }
    tr_kit_fail_allocation(kit, 0, false);
    tr_kit_close(peer);
    tr_kit_advance(kit, TR_MINUTE);
    said_length = 0;
    tr_kit_peer *next = peer_new();
    peer_send(next, "i\v");
    PEER_GETS(next, "=i?\v");
    tr_kit_close(next);
    kit_close();
}

TEST(filters_without_memory_cost_their_channel_only, "U-03", "C-11")
{
    kit_open(1, 1);
    used = TR_FILTERS(&one);
    HOST(host, listen);
    uint64_t before = tr_kit_allocations(kit);
    tr_kit_peer *peer = peer_new();
    peer_send(peer, "qbdl\v\2b\2\v"); /* "pack\n", and "a\n" packed and shifted */
    PEER_GETS(peer, "qbdlfe\v\2=\2b\2?\2\v");
    uint64_t count = tr_kit_allocations(kit) - before;
    tr_kit_close(peer);
    kit_close();
    ck_assert_uint_gt(count, 5);
    for (uint64_t nth = 1; nth <= count; nth++)
        play_memory(nth);
}

SUITE("filters of channels", filters_of_an_endpoint_are_passed_in_order, clients_have_filters_too,
      filters_are_added_and_removed_while_running,
      an_end_behind_unread_bytes_waits_for_a_new_filter,
      a_filter_that_fails_ends_its_channel_with_its_status,
      few_bytes_that_become_many_are_read_in_parts, a_filter_has_limits,
      a_handshake_of_a_filter_comes_before_tr_opened,
      a_filter_that_is_added_shakes_hands_while_output_waits, filters_that_cannot_be_are_refused,
      filters_without_memory_cost_their_channel_only)
