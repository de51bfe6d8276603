/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Events of the virtual network, as an edge-triggered epoll gives them; calls that fail; memory that is
 * refused; and that a seed repeats all of it.
 */
#include "support/virtual_net.h"

enum { IN = TR_IO_IN, OUT = TR_IO_OUT, END = TR_IO_END };

TEST(a_watch_reports_what_is_possible_already, "C-14")
{
    struct net_pair pair = net_pair_new(1, NULL);
    net_watch(&pair, pair.client);
    ck_assert_uint_eq(net_event_of(&pair, pair.client), OUT);
    ck_assert_uint_eq(net_event_of(&pair, pair.client), 0);
    net_say(pair.table, pair.client, "x");
    net_watch(&pair, pair.server);
    ck_assert_uint_eq(net_event_of(&pair, pair.server), IN | OUT);
    ck_assert_int_eq(pair.table->io_watch(pair.table, pair.parker, pair.server, 1),
                     TR_INVALID_ARGUMENT);
    net_watch(&pair, pair.listener);
    ck_assert_uint_eq(net_event_of(&pair, pair.listener), 0);
    net_pair_free(&pair);
}

TEST(bytes_are_reported_when_a_receive_would_have_blocked, "C-14")
{
    struct net_pair pair = net_pair_new(1, NULL);
    net_watch(&pair, pair.server);
    ck_assert_uint_eq(net_event_of(&pair, pair.server), OUT);
    net_say(pair.table, pair.client, "one");
    net_say(pair.table, pair.client, "two");
    ck_assert_uint_eq(net_event_of(&pair, pair.server), IN | OUT);
    net_say(pair.table, pair.client, "three"); /* nobody has read the others */
    ck_assert_uint_eq(net_event_of(&pair, pair.server), 0);
    ck_assert_str_eq(net_taken(pair.table, pair.server), "onetwothree");
    ck_assert_uint_eq(net_event_of(&pair, pair.server), 0);
    net_say(pair.table, pair.client, "four");
    ck_assert_str_eq(net_taken(pair.table, pair.server), "four");
    ck_assert_uint_eq(net_event_of(&pair, pair.server), OUT); /* as epoll: it has changed */
    net_say(pair.table, pair.client, "five");
    ck_assert_uint_eq(net_event_of(&pair, pair.server), IN | OUT);
    net_pair_free(&pair);
}

TEST(a_short_receive_is_followed_by_an_event_of_the_rest, "C-14")
{
    struct net_pair pair = net_pair_new(1, &(struct virtual_weather){.piece_max = 2});
    char bytes[8];
    size_t got;
    net_watch(&pair, pair.server);
    net_say(pair.table, pair.client, "abcde");
    for (size_t left = 5; left > 0; left -= got) {
        ck_assert_uint_eq(net_event_of(&pair, pair.server), IN | OUT);
        ck_assert_int_eq(pair.table->socket_receive(pair.table, pair.server, bytes, 8, &got),
                         TR_OK);
        ck_assert_uint_eq(got, left < 2 ? left : 2);
    }
    ck_assert_uint_eq(net_event_of(&pair, pair.server), 0);
    /* A receive that got all it asked for is not short. */
    net_say(pair.table, pair.client, "abcde");
    ck_assert_uint_eq(net_event_of(&pair, pair.server), IN | OUT);
    ck_assert_int_eq(pair.table->socket_receive(pair.table, pair.server, bytes, 2, &got), TR_OK);
    ck_assert_uint_eq(net_event_of(&pair, pair.server), 0);
    net_pair_free(&pair);
}

TEST(an_open_window_is_reported_only_after_a_send_that_was_cut, "C-14")
{
    struct net_pair pair = net_pair_new(1, &(struct virtual_weather){.window = 4});
    size_t sent;
    net_watch(&pair, pair.client);
    ck_assert_uint_eq(net_event_of(&pair, pair.client), OUT);
    net_say(pair.table, pair.client, "full");
    ck_assert_str_eq(net_taken(pair.table, pair.server), "full");
    ck_assert_uint_eq(net_event_of(&pair, pair.client), 0);
    ck_assert_int_eq(net_send(pair.table, pair.client, "fuller", 6, &sent), TR_OK);
    ck_assert_uint_eq(net_event_of(&pair, pair.client), 0);
    ck_assert_str_eq(net_taken(pair.table, pair.server), "full");
    ck_assert_uint_eq(net_event_of(&pair, pair.client), OUT);
    net_say(pair.table, pair.client, "full");
    ck_assert_int_eq(net_send(pair.table, pair.client, "x", 1, &sent), TR_WOULD_BLOCK);
    tr__virtual_set_weather(pair.virtual, &(struct virtual_weather){.window = 5});
    ck_assert_uint_eq(net_event_of(&pair, pair.client), OUT);
    net_pair_free(&pair);
}

TEST(a_finish_and_a_reset_are_reported, "C-14")
{
    struct net_pair pair = net_pair_new(1, NULL);
    net_watch(&pair, pair.server);
    net_watch(&pair, pair.client);
    ck_assert_uint_eq(net_event_of(&pair, pair.server), OUT);
    ck_assert_uint_eq(net_event_of(&pair, pair.client), OUT);
    net_say(pair.table, pair.client, "last");
    ck_assert_uint_eq(net_event_of(&pair, pair.server), IN | OUT);
    pair.table->socket_finish(pair.table, pair.client);
    ck_assert_uint_eq(net_event_of(&pair, pair.server), IN | OUT | END);
    ck_assert_str_eq(net_taken(pair.table, pair.server), "last.");
    ck_assert_uint_eq(net_event_of(&pair, pair.server), 0);
    pair.table->socket_close(pair.table, pair.server, true);
    pair.server = 0;
    ck_assert_uint_eq(net_event_of(&pair, pair.client), IN | OUT | END);
    ck_assert_uint_eq(net_event_of(&pair, pair.client), 0);
    net_pair_free(&pair);
}

TEST(the_end_of_a_connect_is_reported, "C-14")
{
    struct net_pair pair = net_pair_new(1, &(struct virtual_weather){.delay_ns = 5});
    const tr_platform *table = pair.table;
    net_watch(&pair, pair.listener);
    int fd = net_open(table, TR_SOCKET_CONNECT, "127.0.0.1:7000");
    int nobody = net_open(table, TR_SOCKET_CONNECT, "127.0.0.1:7001");
    net_watch(&pair, fd);
    net_watch(&pair, nobody);
    int found = 0;
    ck_assert_uint_eq(net_event(&pair, &found), 0);
    tr__virtual_advance(pair.virtual, 5);
    ck_assert_uint_eq(net_event_of(&pair, pair.listener), IN);
    ck_assert_uint_eq(net_event(&pair, &found), 0);
    tr__virtual_advance(pair.virtual, 5);
    ck_assert_uint_eq(net_event_of(&pair, fd), OUT);
    ck_assert_uint_eq(net_event_of(&pair, nobody), IN | OUT | END);
    ck_assert_uint_eq(net_event(&pair, &found), 0);
    table->socket_close(table, fd, false);
    table->socket_close(table, nobody, false);
    net_pair_free(&pair);
}

TEST(a_listener_is_reported_when_its_queue_was_empty, "C-14")
{
    struct net_pair pair = net_pair_new(1, NULL);
    const tr_platform *table = pair.table;
    int clients[3];
    net_watch(&pair, pair.listener);
    for (int i = 0; i < 2; i++) {
        clients[i] = net_open(table, TR_SOCKET_CONNECT, "127.0.0.1:7000");
        ck_assert_uint_eq(net_event_of(&pair, pair.listener), i == 0 ? IN : 0);
    }
    int accepted[] = {net_accept(table, pair.listener), net_accept(table, pair.listener)};
    ck_assert_int_eq(net_accept(table, pair.listener), -1);
    clients[2] = net_open(table, TR_SOCKET_CONNECT, "127.0.0.1:7000");
    ck_assert_uint_eq(net_event_of(&pair, pair.listener), IN);
    for (int i = 0; i < 3; i++)
        table->socket_close(table, clients[i], false);
    for (int i = 0; i < 2; i++)
        table->socket_close(table, accepted[i], false);
    net_pair_free(&pair);
}

TEST(what_is_not_watched_is_not_reported, "C-14")
{
    struct net_pair pair = net_pair_new(1, NULL);
    const tr_platform *table = pair.table;
    tr_parker *other;
    tr_io_event events[4];
    ck_assert_int_eq(table->parker_new(table, &other), TR_OK);
    net_watch(&pair, pair.server);
    ck_assert_int_eq(table->io_watch(table, other, pair.server, 77), TR_OK);
    ck_assert_uint_eq(table->io_poll(table, other, events, 0), 0);
    ck_assert_uint_eq(table->io_poll(table, other, events, 4), 1);
    ck_assert_uint_eq(events[0].token, 77);
    net_say(table, pair.client, "x");
    table->io_unwatch(table, other, pair.server);
    table->io_unwatch(table, other, pair.server);
    ck_assert_uint_eq(table->io_poll(table, other, events, 4), 0);
    ck_assert_uint_eq(net_event_of(&pair, pair.server), IN | OUT);
    table->socket_close(table, pair.server, false);
    pair.server = 0;
    ck_assert_uint_eq(table->io_poll(table, pair.parker, events, 4), 0);
    ck_assert_int_eq(table->io_watch(table, other, pair.client, 78), TR_OK);
    table->parker_free(table, other); /* ends its watches */
    net_pair_free(&pair);
}

static bool on_park(void *context, tr_time deadline)
{
    struct net_pair *pair = context;
    tr_time next_ns = tr__virtual_next_event_ns(pair->virtual);
    tr__virtual_advance_to(pair->virtual, next_ns < deadline ? next_ns : deadline);
    return true;
}

TEST(an_event_ends_a_park, "C-14")
{
    struct net_pair pair = net_pair_new(1, &(struct virtual_weather){.delay_ns = TR_SECOND});
    tr_time start_ns = pair.virtual->mono;
    pair.virtual->on_park = on_park;
    pair.virtual->on_park_context = &pair;
    net_watch(&pair, pair.server);
    pair.table->park(pair.table, pair.parker, TR_NEVER);
    ck_assert_int_eq(pair.virtual->mono, start_ns);
    ck_assert_uint_eq(net_event_of(&pair, pair.server), OUT);
    net_say(pair.table, pair.client, "x");
    pair.table->park(pair.table, pair.parker, TR_NEVER);
    ck_assert_int_eq(pair.virtual->mono, start_ns + TR_SECOND);
    ck_assert_uint_eq(net_event_of(&pair, pair.server), IN | OUT);
    pair.table->park(pair.table, pair.parker, start_ns + 3 * TR_SECOND);
    ck_assert_int_eq(pair.virtual->mono, start_ns + 3 * TR_SECOND);
    net_pair_free(&pair);
}

TEST(the_nth_call_fails_once, "C-14")
{
    struct net_pair pair = net_pair_new(1, NULL);
    const tr_platform *table = pair.table;
    struct virtual_net *net = &pair.virtual->net;
    size_t sent;
    int fd = -1;
    tr__virtual_net_fail(net, tr__virtual_call_named("send"), 2, TR_TIMEOUT);
    net_say(table, pair.client, "a");
    ck_assert_int_eq(net_send(table, pair.client, "b", 1, &sent), TR_TIMEOUT);
    net_say(table, pair.client, "c");
    ck_assert_str_eq(net_taken(table, pair.server), "ac");
    tr__virtual_net_fail(net, tr__virtual_call_named("open"), 1, TR_LIMIT);
    ck_assert_int_eq(net_try_open(table, TR_SOCKET_CONNECT, "127.0.0.1:7000", &fd), TR_LIMIT);
    fd = net_open(table, TR_SOCKET_CONNECT, "127.0.0.1:7000");
    tr__virtual_net_fail(net, tr__virtual_call_named("accept"), 1, TR_LIMIT);
    int accepted;
    ck_assert_int_eq(table->socket_accept(table, pair.listener, &accepted, NULL), TR_LIMIT);
    ck_assert_int_eq(table->socket_accept(table, pair.listener, &accepted, NULL), TR_OK);
    tr__virtual_net_fail(net, tr__virtual_call_named("outcome"), 1, TR_UNREACHABLE);
    ck_assert_int_eq(table->socket_outcome(table, fd), TR_UNREACHABLE);
    tr__virtual_net_fail(net, tr__virtual_call_named("watch"), 1, TR_LIMIT);
    ck_assert_int_eq(table->io_watch(table, pair.parker, fd, 1), TR_LIMIT);
    tr__virtual_net_fail(net, tr__virtual_call_named("send"), 1, TR_TIMEOUT);
    tr__virtual_net_fail(net, tr__virtual_call_named("send"), 0, TR_TIMEOUT);
    net_say(table, fd, "not any more");
    ck_assert_int_eq(tr__virtual_call_named("fly"), VIRTUAL_CALLS);
    table->socket_close(table, fd, false);
    table->socket_close(table, accepted, false);
    net_pair_free(&pair);
}

TEST(a_call_that_only_seemed_to_block_is_reported_again, "C-14")
{
    struct net_pair pair = net_pair_new(1, NULL);
    char byte;
    size_t got;
    net_watch(&pair, pair.server);
    net_say(pair.table, pair.client, "x");
    ck_assert_uint_eq(net_event_of(&pair, pair.server), IN | OUT);
    tr__virtual_net_fail(&pair.virtual->net, VIRTUAL_CALL_RECEIVE, 1, TR_WOULD_BLOCK);
    ck_assert_int_eq(pair.table->socket_receive(pair.table, pair.server, &byte, 1, &got),
                     TR_WOULD_BLOCK);
    ck_assert_uint_eq(net_event_of(&pair, pair.server), IN | OUT);
    net_pair_free(&pair);
}

/* ---- A play of random calls. ---- */

struct play {
    struct virtual_platform *virtual;
    const tr_platform *table;
    tr_parker *parker;
    struct rng rng;
    int fds[16];
    size_t count;
    bool may_fail; /* memory is refused */
    uint64_t bytes;
};

static void play_keep(struct play *play, tr_status status, int fd)
{
    if (status != TR_OK && status != TR_WOULD_BLOCK) {
        ck_assert(play->may_fail || status == TR_LIMIT || status == TR_RESET);
        return;
    }
    status = play->table->io_watch(play->table, play->parker, fd, (uint64_t)fd);
    if (play->count == sizeof play->fds / sizeof play->fds[0] || status != TR_OK) {
        ck_assert(status == TR_OK || (play->may_fail && status == TR_NO_MEMORY));
        play->table->socket_close(play->table, fd, rng_below(&play->rng, 2));
        return;
    }
    play->fds[play->count++] = fd;
}

static void play_event(struct play *play, const tr_io_event *event)
{
    const tr_platform *table = play->table;
    int fd = (int)event->token;
    char bytes[32];
    size_t size;
    int accepted;
    tr_status status;
    while ((status = table->socket_receive(table, fd, bytes, sizeof bytes, &size)) == TR_OK && size)
        play->bytes += size;
    while (status == TR_INVALID_ARGUMENT && /* a listener */
           table->socket_accept(table, fd, &accepted, NULL) == TR_OK)
        play_keep(play, TR_OK, accepted);
}

static void play_step(struct play *play, uint64_t step)
{
    const tr_platform *table = play->table;
    int fd = play->count ? play->fds[rng_below(&play->rng, play->count)] : 0;
    size_t size = 1 + rng_below(&play->rng, 40);
    int made = 0;
    tr_status status;
    tr_io_event events[4];
    switch (rng_below(&play->rng, 8)) {
    case 0:
        status = net_try_open(table, TR_SOCKET_CONNECT, "127.0.0.1:1", &made);
        play_keep(play, status, made);
        break;
    case 1:
        if (step % 3 || play->count <= 1)
            break;
        table->socket_close(table, play->fds[--play->count], rng_below(&play->rng, 2));
        break;
    case 2:
        if (step % 5 == 0 && fd)
            table->socket_finish(table, fd);
        break;
    case 3:
    case 4:
        if (fd)
            (void)net_send(table, fd, "0123456789012345678901234567890123456789", size, &size);
        break;
    default:
        tr__virtual_advance_to(play->virtual, play->virtual->mono + 3);
        size = table->io_poll(table, play->parker, events, 4);
        for (size_t i = 0; i < size; i++)
            play_event(play, &events[i]);
    }
}

/* Plays many random calls. Returns the trace. With `refused`, that allocation is. */
static uint64_t play_seed(uint64_t seed, uint64_t refused, bool *is_past)
{
    struct play play = {.virtual = tr__virtual_new(seed), .may_fail = refused > 0};
    const tr_platform *table = play.table = &play.virtual->table;
    ck_assert_int_eq(table->parker_new(table, &play.parker), TR_OK);
    rng_init(&play.rng, seed);
    tr__virtual_set_weather(
        play.virtual,
        &(struct virtual_weather){
            .delay_ns = 5, .jitter_ns = 20, .window = 64, .piece_max = VIRTUAL_PIECE_RANDOM});
    uint64_t before = play.virtual->allocations;
    tr__virtual_fail_allocation(play.virtual, refused, false);
    int listener = 0;
    tr_status status = net_try_open(table, TR_SOCKET_LISTEN, "127.0.0.1:1", &listener);
    play_keep(&play, status, listener);
    for (uint64_t step = 0; step < 400; step++)
        play_step(&play, step);
    *is_past = play.virtual->allocations - before < refused;
    while (play.count)
        table->socket_close(table, play.fds[--play.count], false);
    uint64_t trace = play.virtual->net.trace;
    ck_assert(refused || play.bytes > 100);
    table->parker_free(table, play.parker);
    ck_assert_uint_eq(play.virtual->net.open_count, 0);
    ck_assert_uint_eq(tr__virtual_live_blocks(play.virtual), 0);
    tr__virtual_free(play.virtual);
    return trace;
}

TEST(a_seed_repeats_everything, "C-14", "V-01")
{
    uint64_t first = 0;
    bool is_past;
    for (uint64_t seed = 1; seed <= test_scale(100, 10000); seed++) {
        uint64_t trace = play_seed(seed, 0, &is_past);
        ck_assert_uint_eq(play_seed(seed, 0, &is_past), trace);
        ck_assert_uint_ne(trace, first);
        first = trace;
    }
}

TEST(every_allocation_may_be_refused, "C-14", "U-03")
{
    for (uint64_t seed = 1; seed <= 5; seed++) {
        bool is_past = false;
        for (uint64_t n = 1; !is_past; n++)
            (void)play_seed(seed, n, &is_past);
    }
}

SUITE("os virtual io", a_watch_reports_what_is_possible_already,
      bytes_are_reported_when_a_receive_would_have_blocked,
      a_short_receive_is_followed_by_an_event_of_the_rest,
      an_open_window_is_reported_only_after_a_send_that_was_cut, a_finish_and_a_reset_are_reported,
      the_end_of_a_connect_is_reported, a_listener_is_reported_when_its_queue_was_empty,
      what_is_not_watched_is_not_reported, an_event_ends_a_park, the_nth_call_fails_once,
      a_call_that_only_seemed_to_block_is_reported_again, a_seed_repeats_everything,
      every_allocation_may_be_refused)
