/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A server, and actors that are its clients, on the virtual network with many seeds: pieces of any size, delays, small windows,
 * resets, half-closes, partitions, moves of actors, and failures of calls. The same seed is the same run.
 *
 * `make check-long` plays 10,000 seeds. TROUPE_SEED is the first one.
 */
#include "support/net.h"

enum { PEERS = 4, LINES = 12, STEPS = 60, CALLERS = 2, CALLS = 10, TEXT = 4096 };

/* ---- The server: answers each line with its number, some of them after a wait. ---- */

struct line_server {
    uint32_t lines;
};

static void nothing(void *argument)
{
    (void)argument;
}

static tr_next on_line(tr_self *self, struct line_server *server, const struct tr_received *line)
{
    uint32_t number = server->lines++;
    if (number % 3 == 1)
        tr_blocking(
            self, nothing, NULL); /* others run meanwhile, but no other line of this session */
    if (number % 3 == 2)
        tr_sleep(self, TR_MILLISECOND);
    tr_print(self,
             line->channel,
             "%u %.*s\n",
             number,
             (int)line->bytes.size,
             (const char *)line->bytes.data);
    return TR_SAME;
}

static tr_next on_opened(void)
{
    return TR_SAME;
}

TR_ACTOR(line_server, tr_received);
TR_BEHAVIOR(line_server, struct line_server, TR_ON(tr_opened, on_opened),
            TR_ON(tr_received, on_line));

static tr_next listen_lines(tr_self *self)
{
    listener =
        tr_listen(self, line_server, TR_TCP(SERVER, .framing = TR_LINES, .idle_ns = 5 * TR_SECOND));
    return TR_SAME;
}

TR_BEHAVIOR(host, void, TR_ON(run, on_run));

/* ---- Clients that are actors. ---- */

static uint64_t right_answers;
static uint64_t failed_calls;

static void call_many(tr_self *self)
{
    tr_channel channel;
    tr_bytes answer;
    tr_status status = tr_try_connect(self, TR_TCP(SERVER, .framing = TR_LINES), &channel);
    for (uint32_t i = 0; i < CALLS && status == TR_OK; i++) {
        char line[32], wanted[64];
        (void)snprintf(line, sizeof line, "call %u\n", i);
        (void)snprintf(wanted, sizeof wanted, "%u call %u", i, i);
        tr_write_text(self, channel, line);
        status = tr_try_read(self, channel, &answer);
        if (status == TR_OK)
            ck_assert_str_eq(answer.data, wanted);
        right_answers += status == TR_OK;
    }
    failed_calls += status != TR_OK;
}

static tr_next on_call(tr_self *self)
{
    call_many(self);
    return TR_STOP;
}

static tr_next on_call_end(const struct tr_closed *message)
{
    (void)message;
    return TR_SAME;
}

TR_ACTOR(caller, run);
TR_BEHAVIOR(caller, void, TR_ON(run, on_call), TR_ON(tr_closed, on_call_end));

/* ---- Clients that are the test. ---- */

struct player {
    tr_kit_peer *peer; /* NULL: it has ended */
    char out[TEXT];    /* what it sends in all */
    size_t out_size;
    size_t sent;
    char wanted[TEXT]; /* what comes in all */
    char got[TEXT];
    size_t got_size;
    bool is_finished;
};

static struct player players[PEERS];
static uint64_t dice;

static uint64_t roll(uint64_t sides)
{
    uint64_t number = (dice += UINT64_C(0x9e3779b97f4a7c15));
    number = (number ^ number >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    number = (number ^ number >> 27) * UINT64_C(0x94d049bb133111eb);
    return (number ^ number >> 31) % sides;
}

static void player_begin(struct player *player)
{
    *player = (struct player){.peer = tr_kit_connect(kit, SERVER)};
    size_t wanted = 0;
    for (uint32_t i = 0; i < LINES; i++) {
        char line[64];
        size_t size = roll(sizeof line - 1);
        memset(line, 'a' + (int)(i % 26), size);
        line[size] = '\0';
        player->out_size += (size_t)sprintf(player->out + player->out_size, "%s\n", line);
        wanted += (size_t)sprintf(player->wanted + wanted, "%u %s\n", i, line);
    }
}

static void player_listen(struct player *player, tr_time timeout_ns)
{
    tr_bytes bytes = tr_kit_receive(player->peer, timeout_ns);
    ck_assert_uint_lt(player->got_size + bytes.size, sizeof player->got);
    if (bytes.size)
        memcpy(player->got + player->got_size, bytes.data, bytes.size);
    player->got_size += bytes.size;
    /* whatever happens to a connection, what comes is a beginning of what was to come */
    ck_assert_msg(!memcmp(player->got, player->wanted, player->got_size),
                  "seed %" PRIu64 ": \"%.*s\", not \"%s\"",
                  kits_seed,
                  (int)player->got_size,
                  player->got,
                  player->wanted);
}

static void player_send(struct player *player)
{
    size_t left = player->out_size - player->sent;
    size_t size = 1 + roll(24);
    if (player->is_finished || !left)
        return;
    size = size < left ? size : left;
    player->sent += tr_kit_send(player->peer, (tr_bytes){player->out + player->sent, size});
}

static void player_end(struct player *player, bool resets)
{
    if (resets)
        tr_kit_reset(player->peer);
    tr_kit_close(player->peer);
    player->peer = NULL;
}

static void player_act(struct player *player)
{
    switch (roll(12)) {
    case 0:
        tr_kit_advance(kit, (tr_time)roll(20) * TR_MILLISECOND);
        break;
    case 1:
    case 2:
    case 3:
        player_listen(player, 0);
        break;
    case 4:
        if (!roll(8))
            player_end(player, roll(2));
        break;
    case 5:
        if (player->sent == player->out_size && !player->is_finished) {
            tr_kit_finish(player->peer);
            player->is_finished = true;
        }
        break;
    case 6:
        if (!roll(6)) {
            tr_kit_partition(kit, &player->peer, 1, true);
            tr_kit_advance(kit, (tr_time)roll(100) * TR_MILLISECOND);
            tr_kit_partition(kit, &player->peer, 1, false);
        }
        break;
    case 7:
        for (uint64_t n = roll(9); n && tr_kit_step(kit); n--)
            ;
        break;
    default:
        player_send(player);
    }
}

/* Sends what is left and reads to the end: without a reset all of it comes. */
static void player_settle(struct player *player)
{
    for (int i = 0; i < 1000 && player->sent < player->out_size; i++) {
        player_send(player);
        player_listen(player, TR_MILLISECOND);
    }
    if (player->sent <
        player->out_size) { /* the window is too small for the time; half a line would be a line */
        player_end(player, true);
        return;
    }
    if (!player->is_finished)
        tr_kit_finish(player->peer);
    for (int i = 0; i < 1000 && tr_kit_peer_status(player->peer) == TR_OK; i++)
        player_listen(player, 100 * TR_MILLISECOND);
    if (tr_kit_peer_status(player->peer) == TR_CLOSED)
        ck_assert_msg(player->got_size == strlen(player->wanted),
                      "seed %" PRIu64 ": %zu of %zu bytes came before the end",
                      kits_seed,
                      player->got_size,
                      strlen(player->wanted));
    player_end(player, false);
}

/* ---- A run. ---- */

static void network_choose(void)
{
    static const size_t pieces[] = {0, 1, 3, TR_KIT_RANDOM};
    static const char *const calls[] = {"send", "receive", "accept", "watch"};
    tr_kit_network network = {.delay_ns = (tr_time)roll(3) * TR_MILLISECOND,
                              .jitter_ns = (tr_time)roll(3) * TR_MILLISECOND,
                              .piece_max = pieces[roll(4)],
                              .window = roll(2) ? 0 : 1 + roll(100)};
    tr_kit_set_network(kit, &network);
    if (roll(4))
        return;
    /* not TR_RESET: it would say that there is no connection left, which then is not reset either */
    const char *call = calls[roll(4)];
    uint64_t nth = 1 + roll(20);
    tr_kit_fail_network(kit, call, nth, roll(2) ? TR_NO_MEMORY : TR_LIMIT);
}

static bool may_connect(void)
{
    for (int i = 0; i < PEERS; i++) {
        player_begin(&players[i]);
        if (!players[i].peer)
            return false;
    }
    return true;
}

/* Plays one seed. Returns its trace. */
static uint64_t play_seed(uint64_t seed)
{
    dice = seed;
    const tr_kit_options options = {.size = sizeof options,
                                    .workers = 1 + (int)roll(4),
                                    .seed = seed,
                                    .moves = roll(2),
                                    .log = TR_KIT_LOG_NONE};
    kit = tr_kit_new(&options);
    ck_assert_ptr_nonnull(kit);
    test = tr_kit_client(kit);
    home = options.workers - 1;
    kits_seed = seed;
    HOST(host, listen_lines);
    network_choose();
    for (int i = 0; i < CALLERS; i++) {
        caller_ref made;
        ck_assert_int_eq(tr_try_spawn(test, &made, caller, NULL), TR_OK);
        tr_kit_settle(kit);
        TELL_RUN(test, made, NULL);
    }
    (void)may_connect(); /* a call that was made to fail may have cost a connection */
    for (int i = 0; i < STEPS; i++) {
        struct player *player = &players[roll(PEERS)];
        if (player->peer)
            player_act(player);
    }
    for (int i = 0; i < PEERS; i++) {
        if (players[i].peer)
            player_settle(&players[i]);
    }
    tr_kit_advance(kit, TR_MINUTE); /* the idle ones end */
    ck_assert_msg(tr_kit_open_channels(kit) == 1,
                  "seed %" PRIu64 ": %zu channels are open",
                  seed,
                  tr_kit_open_channels(kit));
    uint64_t trace = tr_kit_trace(kit);
    kit_close();
    return trace;
}

TEST(whatever_the_network_does_what_comes_is_right, "C-14", "C-03", "C-05", "C-10", "C-12", "CH-02",
     "CH-03", "CH-14", "CH-25")
{
    uint64_t count = test_scale(300, 10000);
    uint64_t first = test_seed() % 1000000;
    for (uint64_t seed = first; seed < first + count; seed++) {
        uint64_t trace = play_seed(seed + 1);
        if (seed % 5 == 0)
            ck_assert_msg(
                play_seed(seed + 1) == trace, "seed %" PRIu64 " has two traces", seed + 1);
    }
    ck_assert_uint_gt(right_answers, count); /* most callers are answered in most runs */
}

SUITE("seeds of the virtual network", whatever_the_network_does_what_comes_is_right)
