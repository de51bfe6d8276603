/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What channels hold counts for the budgets of their actors: the struct, kept input, unsent output. Whenever nothing
 * runs, the sum that is kept for a budget is what a look at each channel finds.
 */
#include "support/net.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "actor/cell/channel.h"
#include "actor/cell/system.h"
#include "actor/cell/view.h"
#include "actor/turn/budget.h"
#include "net/charge.h"
#include "net/hooks.h"
#include "os/virtual.h"

#define KIB ((size_t)1024)

enum { BUDGET = 64 * 1024, FILE_SIZE = 300000 };

static uint64_t session;   /* ref of the last session */
static tr_channel channel; /* of that session */
static tr_ref taker;
static tr_next (*on_line)(tr_self *self, tr_channel from, const char *line);
static tr_usage used;
static const tr_behavior *behavior;
static bool interleaves;
static char path[] = "/tmp/troupe-charge-XXXXXX";

static tr_next on_opened(tr_self *self, const struct tr_opened *message)
{
    session = tr_me(self).bits;
    channel = message->channel;
    return TR_SAME;
}

static tr_next on_received(tr_self *self, const struct tr_received *message)
{
    return on_line(self, message->channel, message->bytes.data);
}

static tr_next on_closed(const struct tr_closed *message)
{
    say("closed %s", tr_status_name(message->status));
    return TR_SAME;
}

#define ROWS                                                                                       \
    TR_ON(run, on_run), TR_ON(tr_opened, on_opened), TR_ON(tr_received, on_received),              \
        TR_ON(tr_closed, on_closed)
TR_ACTOR(metered, run);
TR_BEHAVIOR(metered, void, ROWS, TR_OPTIONS(.restart = TR_TEMPORARY, .budget_bytes = BUDGET));
TR_BEHAVIOR_DECLARE(unmetered);
TR_BEHAVIOR(unmetered, void, ROWS, TR_OPTIONS(.restart = TR_TEMPORARY));
TR_BEHAVIOR_DECLARE(rich);
TR_BEHAVIOR(rich, void, ROWS, TR_OPTIONS(.restart = TR_TEMPORARY, .budget_bytes = 8 << 20));
TR_BEHAVIOR(host, void, TR_ON(run, on_run));

static tr_next listen(tr_self *self)
{
    const tr_listen_args args = {.size = sizeof args,
                                 .behavior = behavior,
                                 .at = TR_TCP(SERVER,
                                              .framing = TR_LINES,
                                              .interleaves = interleaves,
                                              .answers_in_order = interleaves)};
    tr_status status = tr_self_try_listen(self, &args, &listener.bits);
    ck_assert_int_eq(status, TR_OK);
    taker = tr_any(tr_spawn_at(self, home, metered, "taker"));
    return TR_SAME;
}

static void begin(const tr_behavior *of_sessions)
{
    session = 0;
    behavior = of_sessions;
    HOST(host, listen);
}

static struct cell *cell_of(uint64_t ref)
{
    struct tr_system *system = tr_kit_system(kit);
    return view_find(system->slots, ref);
}

/** The books of an actor: what is kept is what there is. */
static size_t books(uint64_t ref)
{
    const struct cell *cell = cell_of(ref);
    ck_assert_ptr_nonnull(cell);
    size_t there = cell->flags & CELL_CHANNELS ? tr__net_hooks.bytes(cell) : 0;
    if (cell->flags & CELL_METERED)
        ck_assert_uint_eq(cell->extra->budget->channel_bytes, there);
    return there;
}

static tr_next measure(tr_self *self)
{
    used = tr_budget_used(self);
    return TR_SAME;
}

static size_t used_by(uint64_t ref)
{
    const struct run message = {(uint64_t)(uintptr_t)measure};
    ck_assert_int_eq(tr_client_tell(test, (tr_ref){ref}, &tr_type_run, &message), TR_OK);
    tr_kit_settle(kit);
    books(ref);
    return used.bytes;
}

static bool has_ended(uint64_t ref)
{
    const struct run message = {(uint64_t)(uintptr_t)measure};
    return tr_client_tell(test, (tr_ref){ref}, &tr_type_run, &message) == TR_STOPPED;
}

/** A peer whose session has got its tr_opened. */
static tr_kit_peer *meet(void)
{
    tr_kit_peer *peer = peer_new();
    tr_kit_settle(kit);
    ck_assert_uint_ne(session, 0);
    return peer;
}

static bool log_has(const char *text)
{
    struct virtual_platform *virtual = (struct virtual_platform *)(uintptr_t)tr_kit_system(kit)
                                           ->platform;
    for (uint64_t i = 0; i < virtual->lines_count && i < VIRTUAL_LOG_LINES; i++) {
        if (strstr(virtual->lines[i].text, text))
            return true;
    }
    return false;
}

/** The session has failed because of its budget, and its connection was reset. */
static void is_over(tr_kit_peer *peer)
{
    ck_assert(log_has("TR_OVER_BUDGET: budget exceeded: holds"));
    ck_assert(has_ended(session));
    while (tr_kit_receive(peer, TR_SECOND).size)
        ;
    ck_assert_int_eq(tr_kit_peer_status(peer), TR_RESET);
    ck_assert_uint_eq(tr_kit_open_channels(kit), 1);
}

static void send_many(tr_kit_peer *peer, size_t size)
{
    static char block[4000];
    memset(block, 'x', sizeof block);
    while (size) {
        size_t more = size < sizeof block ? size : sizeof block;
        if (tr_kit_send(peer, (tr_bytes){block, more}) != more)
            return;
        size -= more;
        tr_kit_settle(kit);
    }
}

/* ---- Input. ---- */

static tr_next ignore(tr_self *self, tr_channel from, const char *line)
{
    (void)self;
    (void)from;
    say("line %zu", strlen(line));
    return TR_SAME;
}

static void play_half_line(void)
{
    on_line = ignore;
    begin(&tr_behavior_metered);
    tr_kit_peer *peer = meet();
    size_t idle = used_by(session);
    ck_assert_uint_ge(idle, sizeof(struct cell) + sizeof(struct channel));
    send_many(peer, 6 * KIB);
    ck_assert_uint_ge(used_by(session), idle + 6 * KIB);
    peer_send(peer, "\n");
    SAID("line 6144");
    ck_assert_uint_eq(used_by(session), idle);
    SAID("");
    send_many(peer, BUDGET);
    is_over(peer);
}

TEST(half_a_line_counts_for_its_session, "O-06", "C-04")
{
    kits_each(play_half_line);
}

/* ---- Output. ---- */

static tr_next write_some(tr_self *self, tr_channel to, const char *line)
{
    static char block[20000];
    size_t size = (size_t)atoi(line);
    memset(block, 'x', size);
    size_t before = tr_budget_used(self).bytes;
    tr_status status = tr_try_write(self, to, (tr_bytes){block, size});
    bool is_plain = size < 1000;
    if (is_plain) /* it is in a page, which is sent when the run ends */
        ck_assert_uint_gt(tr_budget_used(self).bytes, before + size);
    say("%s", tr_status_name(status));
    return TR_SAME;
}

static void play_slow_peer(void)
{
    static const tr_kit_network narrow = {.window = 4096};
    tr_kit_set_network(kit, &narrow);
    on_line = write_some;
    begin(&tr_behavior_metered);
    tr_kit_peer *peer = meet();
    size_t idle = used_by(session);
    peer_send(peer, "100\n");
    ck_assert_uint_eq(tr_kit_receive(peer, TR_SECOND).size, 100);
    ck_assert_uint_eq(used_by(session), idle);
    peer_send(peer, "20000\n");
    size_t held = used_by(session);
    ck_assert_uint_ge(held, idle + 20000 - 4096);
    ck_assert_uint_lt(held, idle + 20000 + 1000);
    while (tr_kit_receive(peer, TR_SECOND).size)
        ;
    ck_assert_uint_eq(used_by(session), idle);
    SAID("TR_OK; TR_OK");
    for (int i = 0; i < 3; i++)
        peer_send(peer, "20000\n");
    SAID("TR_OK; TR_OK; TR_OK");
    books(session);
    peer_send(peer, "20000\n");
    SAID("TR_OK");
    is_over(peer);
}

TEST(output_that_a_slow_peer_does_not_take_counts, "O-06", "C-04")
{
    kits_each(play_slow_peer);
}

static tr_next write_in_parts(tr_self *self, tr_channel to, const char *line)
{
    (void)line;
    static char block[4000];
    for (int i = 0; i < 100; i++) {
        memcpy(tr_reserve(self, to, sizeof block), block, sizeof block);
        tr_commit(self, to, sizeof block);
    }
    say("not reached");
    return TR_SAME;
}

TEST(a_turn_that_waits_to_write_is_over_its_budget_as_well, "O-06", "C-04")
{
    static const tr_kit_network narrow = {.window = 4096};
    kit_open(1, 1);
    tr_kit_set_network(kit, &narrow);
    on_line = write_in_parts;
    begin(&tr_behavior_metered);
    tr_kit_peer *peer = meet();
    peer_send(peer, "go\n");
    SAID("");
    is_over(peer);
    kit_close();
}

/* ---- Files, and buffers of the program. ---- */

static void file_make(void)
{
    static char content[FILE_SIZE];
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, content, FILE_SIZE), FILE_SIZE);
    close(fd);
}

static void file_remove(void)
{
    unlink(path);
    strcpy(path + strlen(path) - 6, "XXXXXX");
}

static tr_next write_file(tr_self *self, tr_channel to, const char *line)
{
    (void)line;
    say("%s", tr_status_name(tr_write_file(self, to, path, 0, SIZE_MAX)));
    return TR_SAME;
}

TEST(the_parts_of_a_file_count_until_they_are_sent, "O-06", "C-04")
{
    static const tr_kit_network narrow = {.window = 4096};
    file_make();
    kit_open(1, 1);
    tr_kit_set_network(kit, &narrow);
    on_line = write_file;
    begin(&tr_behavior_metered);
    tr_kit_peer *peer = meet();
    peer_send(peer, "go\n");
    SAID("TR_CANCELLED");
    is_over(peer);
    kit_close();
    kit_open(1, 1);
    tr_kit_set_network(kit, &narrow);
    begin(&tr_behavior_rich);
    peer = meet();
    size_t idle = used_by(session);
    peer_send(peer, "go\n");
    ck_assert_uint_ge(books(session), KIB * 64);
    size_t got = 0;
    while (got < FILE_SIZE)
        got += tr_kit_receive(peer, TR_SECOND).size;
    SAID("TR_OK");
    ck_assert_uint_eq(used_by(session), idle);
    kit_close();
    file_remove();
}

static tr_next write_buffer(tr_self *self, tr_channel to, const char *line)
{
    (void)line;
    tr_buffer *buffer = tr_buffer_of_turn(self, 100 * KIB);
    memset(tr_buffer_data(buffer), 'b', 100 * KIB);
    say("%s", tr_status_name(tr_write_buffer(self, to, buffer)));
    return TR_SAME;
}

/* The same bytes may wait in many channels. */
TEST(a_buffer_of_the_program_does_not_count, "O-06")
{
    static const tr_kit_network narrow = {.window = 4096};
    kit_open(1, 1);
    tr_kit_set_network(kit, &narrow);
    on_line = write_buffer;
    begin(&tr_behavior_metered);
    tr_kit_peer *peer = meet();
    size_t idle = used_by(session);
    peer_send(peer, "go\n");
    SAID("TR_OK");
    ck_assert_uint_lt(used_by(session), idle + KIB);
    kit_close();
}

/* ---- Answers that are held back. ---- */

static tr_next answer_much(tr_self *self, tr_channel to, const char *line)
{
    static char block[30000];
    if (strcmp(line, "slow") == 0) {
        tr_sleep(self, TR_SECOND);
        say("slow");
    } else {
        say("%s", tr_status_name(tr_write(self, to, (tr_bytes){block, sizeof block})));
    }
    return TR_SAME;
}

TEST(answers_that_are_held_back_count, "O-06", "C-03")
{
    interleaves = true;
    kit_open(1, 1);
    on_line = answer_much;
    begin(&tr_behavior_metered);
    tr_kit_peer *peer = meet();
    size_t idle = used_by(session);
    peer_send(peer, "slow\n1\n");
    ck_assert_uint_ge(used_by(session), idle + 30000);
    tr_kit_advance(kit, TR_SECOND);
    SAID("TR_OK; slow");
    ck_assert_uint_eq(tr_kit_receive(peer, TR_SECOND).size, 30000);
    /* the record of pieces stays */
    ck_assert_uint_lt(used_by(session), idle + KIB);
    peer_send(peer, "slow\n1\n2\n3\n");
    tr_kit_settle(kit);
    said();
    is_over(peer);
    kit_close();
    interleaves = false;
}

/* ---- Channels that come and go. ---- */

static tr_next give(tr_self *self, tr_channel from, const char *line)
{
    (void)line;
    size_t before = tr_budget_used(self).bytes;
    tr_write_text(self, from, "given");
    ck_assert_int_eq(tr_hand_over(self, from, taker), TR_OK);
    ck_assert_uint_le(tr_budget_used(self).bytes + sizeof(struct channel), before);
    return TR_SAME;
}

static void play_hand_over(void)
{
    on_line = give;
    begin(&tr_behavior_metered);
    size_t without = used_by(taker.bits);
    tr_kit_peer *peer = meet();
    uint64_t giver = session;
    char text[5001];
    memset(text, 'r', 5000);
    text[5000] = '\0';
    peer_send(peer, "go\n");
    peer_send(peer, text); /* half a line for the taker */
    PEER_GETS(peer, "given");
    ck_assert_uint_eq(books(giver), 0);
    ck_assert_uint_ge(used_by(taker.bits), without + 5000 + sizeof(struct channel));
    tr_kit_close(peer);
    tr_kit_settle(kit);
    said();
    ck_assert_uint_eq(used_by(taker.bits), without);
}

TEST(a_channel_counts_for_the_actor_that_has_it, "O-06", "C-10")
{
    kits_each(play_hand_over);
}

static tr_next close_full(tr_self *self, tr_channel to, const char *line)
{
    (void)line;
    static char block[30000];
    tr_write(self, to, (tr_bytes){block, sizeof block});
    size_t full = tr_budget_used(self).bytes;
    tr_close(self, to);
    ck_assert_uint_ge(full, tr_budget_used(self).bytes + sizeof block - 4096);
    return TR_SAME;
}

TEST(a_channel_that_was_closed_counts_no_more, "O-06", "C-09")
{
    static const tr_kit_network narrow = {.window = 4096};
    kit_open(1, 1);
    tr_kit_set_network(kit, &narrow);
    on_line = close_full;
    begin(&tr_behavior_metered);
    tr_kit_peer *peer = meet();
    size_t idle = used_by(session);
    peer_send(peer, "go\n");
    size_t closing = used_by(session);
    ck_assert_uint_le(closing, idle - sizeof(struct channel));
    size_t got = 0;
    for (size_t more; (more = tr_kit_receive(peer, TR_SECOND).size);)
        got += more;
    ck_assert_uint_eq(got, 30000);
    tr_kit_close(peer);
    tr_kit_settle(kit);
    SAID("closed TR_OK");
    ck_assert_uint_eq(used_by(session), closing);
    kit_close();
}

/* ---- Without a budget, and in a tree. ---- */

TEST(channels_are_seen_without_a_budget, "O-06")
{
    size_t bytes[2];
    for (int i = 0; i < 2; i++) {
        kit_open(1, 1);
        on_line = ignore;
        begin(i ? &tr_behavior_unmetered : &tr_behavior_metered);
        tr_kit_peer *peer = meet();
        send_many(peer, 10 * KIB);
        bytes[i] = used_by(session);
        kit_close();
    }
    ck_assert_uint_ge(bytes[1], 10 * KIB);
    /* the one without a budget has no record of it */
    ck_assert_uint_le(bytes[1], bytes[0]);
    ck_assert_uint_gt(bytes[1] + KIB, bytes[0]);
}

TR_ACTOR(estate, run);
TR_BEHAVIOR(estate, void, TR_ON(run, on_run),
            TR_OPTIONS(.restart = TR_TEMPORARY, .tree_budget_bytes = 100 * KIB));

static tr_next dial(tr_self *self)
{
    tr_channel made;
    ck_assert_int_eq(tr_try_connect(self, TR_TCP(SERVER, .framing = TR_LINES), &made), TR_OK);
    return TR_SAME;
}

static tr_next on_dialed_line(void)
{
    return TR_SAME;
}

TR_ACTOR(lodger, run);
TR_BEHAVIOR(lodger, void, TR_ON(run, on_run), TR_ON(tr_received, on_dialed_line),
            TR_OPTIONS(.restart = TR_TEMPORARY));

static lodger_ref lodgers[3];
static tr_next take_in(tr_self *self)
{
    int workers = tr_system_workers(tr_system_of(self));
    for (int i = 0; i < 3; i++)
        lodgers[i] = tr_spawn_at(self, i % workers, lodger, NULL);
    return TR_SAME;
}

static void play_tree(void)
{
    estate_ref estate;
    tr_kit_peer *peers[3];
    size_t tree;
    ck_assert_int_eq(tr_try_spawn_at(test, &estate, home, estate, "estate"), TR_OK);
    TELL_RUN(test, estate, take_in);
    tr_kit_settle(kit);
    tr_kit_accept(kit, SERVER, 0);
    used_by(estate.bits);
    tree = used.tree_bytes;
    for (int i = 0; i < 3; i++) {
        TELL_RUN(test, lodgers[i], dial);
        peers[i] = tr_kit_accept(kit, SERVER, TR_SECOND);
        ck_assert_ptr_nonnull(peers[i]);
    }
    tr_kit_settle(kit);
    used_by(estate.bits);
    ck_assert_uint_ge(used.tree_bytes, tree + 3 * sizeof(struct channel));
    send_many(peers[0], 30 * KIB);
    used_by(estate.bits);
    ck_assert_uint_ge(used.tree_bytes, tree + 30 * KIB);
    send_many(peers[1], 60 * KIB);
    send_many(peers[2], 60 * KIB);
    ck_assert(log_has("tree budget exceeded"));
    ck_assert(has_ended(estate.bits));
    tr_kit_advance(kit, 2 * TR_LINGER_NS); /* those that only stop close in order */
    ck_assert_uint_eq(tr_kit_open_channels(kit), 0);
}

TEST(channels_count_for_the_trees_of_their_actors, "O-06")
{
    kits_each(play_tree);
}

SUITE("net charge", half_a_line_counts_for_its_session,
      output_that_a_slow_peer_does_not_take_counts,
      a_turn_that_waits_to_write_is_over_its_budget_as_well,
      the_parts_of_a_file_count_until_they_are_sent, a_buffer_of_the_program_does_not_count,
      answers_that_are_held_back_count, a_channel_counts_for_the_actor_that_has_it,
      a_channel_that_was_closed_counts_no_more, channels_are_seen_without_a_budget,
      channels_count_for_the_trees_of_their_actors)
