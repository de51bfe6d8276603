/* SPDX-License-Identifier: Apache-2.0 */
/** Files that are written to channels: order, ranges, back-pressure, errors amid them; on the network of kits. */
#include "support/net.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_SIZE = 300000 };

static char path[] = "/tmp/troupe-file-XXXXXX";
static char content[FILE_SIZE];
static tr_channel channel;
static const char *wanted;
static uint64_t offset;
static size_t size;

static void file_make(void)
{
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    for (size_t i = 0; i < FILE_SIZE; i++)
        content[i] = (char)('a' + i * 7 % 23 + i / 1000 % 3);
    ck_assert_int_eq(write(fd, content, FILE_SIZE), FILE_SIZE);
    close(fd);
    wanted = path;
    offset = 0;
    size = SIZE_MAX;
}

static void file_remove(void)
{
    unlink(path);
    strcpy(path + strlen(path) - 6, "XXXXXX");
}

/* ---- A session that sends the file, with something before and behind it. ---- */

static tr_next on_opened(const struct tr_opened *message)
{
    channel = message->channel;
    return TR_SAME;
}

static tr_next on_received(tr_self *self, const struct tr_received *message)
{
    tr_write_text(self, message->channel, "<");
    tr_status status = tr_write_file(self, message->channel, wanted, offset, size);
    say("%s", tr_status_name(status));
    tr_write_text(self, message->channel, ">");
    return TR_SAME;
}

static tr_next on_drained(void)
{
    say("drained");
    return TR_SAME;
}

static tr_next on_closed(const struct tr_closed *message)
{
    say("closed %s%s%s",
        tr_status_name(message->status),
        message->text ? " " : "",
        message->text ? strstr(message->text, ": ") + 2 : "");
    return TR_SAME;
}

TR_ACTOR(session, run);
TR_BEHAVIOR(session, void, TR_ON(run, on_run), TR_ON(tr_opened, on_opened),
            TR_ON(tr_received, on_received), TR_ON(tr_drained, on_drained),
            TR_ON(tr_closed, on_closed));

TR_BEHAVIOR(host, void, TR_ON(run, on_run));

static tr_next listen(tr_self *self)
{
    listener = tr_listen(self, session, TR_TCP(SERVER));
    return TR_SAME;
}

/* Receives all that comes within a second, and checks that it is this part of the file between two marks. */
static size_t receive_file(tr_kit_peer *peer, size_t from, size_t count)
{
    size_t at = 0;
    for (;;) {
        tr_bytes bytes = tr_kit_receive(peer, TR_SECOND);
        if (!bytes.size)
            return at;
        for (size_t i = 0; i < bytes.size; i++, at++) {
            char expected = at == 0 ? '<' : at > count ? '>' : content[from + at - 1];
            ck_assert_msg(((const char *)bytes.data)[i] == expected, "byte %zu", at);
        }
    }
}

static void play_whole(void)
{
    tr_kit_network slow = {.window = 5000, .delay_ns = MS, .piece_max = TR_KIT_RANDOM};
    tr_kit_set_network(kit, &slow);
    HOST(host, listen);
    tr_kit_peer *peer = peer_new();
    peer_send(peer, "x");
    ck_assert_uint_eq(receive_file(peer, 0, FILE_SIZE), FILE_SIZE + 2);
    SAID("TR_OK");
}

TEST(a_file_is_sent_in_order_through_a_narrow_window, "C-08")
{
    file_make();
    for (uint64_t seed = 1; seed <= TEST_SEEDS(5); seed++) {
        kit_open(seed % 2 ? 1 : 3, seed);
        play_whole();
        kit_close();
    }
    file_remove();
}

TEST(a_part_of_a_file_is_sent, "C-08")
{
    file_make();
    kit_open(1, 1);
    HOST(host, listen);
    tr_kit_peer *peer = peer_new();
    static const struct {
        uint64_t offset;
        size_t size;
    } parts[] = {{0, 1}, {1000, 70000}, {FILE_SIZE - 1, SIZE_MAX}, {FILE_SIZE, SIZE_MAX}, {5, 0}};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        offset = parts[i].offset;
        size = parts[i].size;
        size_t count = size == SIZE_MAX ? FILE_SIZE - offset : size;
        peer_send(peer, "x");
        ck_assert_uint_eq(receive_file(peer, offset, count), count + 2);
        SAID("TR_OK");
    }
    kit_close();
    file_remove();
}

/* Nothing of it was sent, and the channel is as before. */
static void expect_nothing(tr_kit_peer *peer, const char *file, uint64_t from, size_t count,
                           const char *words)
{
    wanted = file;
    offset = from;
    size = count;
    peer_send(peer, "x");
    PEER_GETS(peer, "<>");
    SAID(words);
}

TEST(a_file_that_cannot_be_sent_leaves_the_channel_open, "C-08")
{
    file_make();
    kit_open(1, 1);
    HOST(host, listen);
    tr_kit_peer *peer = peer_new();
    expect_nothing(peer, "/no/such/file", 0, SIZE_MAX, "TR_NOT_FOUND");
    expect_nothing(peer, "/tmp", 0, SIZE_MAX, "TR_INVALID_ARGUMENT");
    expect_nothing(peer, "/dev/null", 0, SIZE_MAX, "TR_INVALID_ARGUMENT");
    expect_nothing(peer, NULL, 0, SIZE_MAX, "TR_INVALID_ARGUMENT");
    expect_nothing(peer, path, FILE_SIZE + 1, SIZE_MAX, "TR_INVALID_ARGUMENT");
    expect_nothing(peer, path, FILE_SIZE - 5, 6, "TR_INVALID_ARGUMENT");
    tr_kit_fail_network(kit, "file_open", 1, TR_LIMIT);
    expect_nothing(peer, path, 0, 1, "TR_LIMIT");
    kit_close();
    file_remove();
}

static void expect_amid(uint64_t nth, const char *words)
{
    kit_open(1, 1);
    HOST(host, listen);
    tr_kit_peer *peer = peer_new();
    if (nth)
        tr_kit_fail_network(kit, "file_read", nth, TR_FILE_FAILED);
    peer_send(peer, "x");
    while (tr_kit_receive(peer, TR_SECOND).size)
        ;
    ck_assert_int_eq(tr_kit_peer_status(peer), TR_RESET);
    SAID(words);
    kit_close();
}

TEST(an_error_amid_a_file_is_a_reset, "C-08")
{
    file_make();
    expect_amid(1, "TR_FILE_FAILED; closed TR_FILE_FAILED made to fail");
    expect_amid(3, "TR_FILE_FAILED; closed TR_FILE_FAILED made to fail");
    file_remove();
}

/* ---- Others that write meanwhile. ---- */

static tr_next write_beside(tr_self *self)
{
    tr_status status = tr_try_write(self, channel, TR_BYTES("try"));
    say("%s", tr_status_name(status));
    say("%s", tr_status_name(tr_write_text(self, channel, "beside")));
    return TR_SAME;
}

static tr_next close_beside(tr_self *self)
{
    tr_close(self, channel);
    return TR_SAME;
}

static tr_next finish_beside(tr_self *self)
{
    tr_finish(self, channel);
    return TR_SAME;
}

static tr_next stop_beside(tr_self *self)
{
    (void)self;
    return TR_STOP;
}

TR_ACTOR(busy, run);

static busy_ref busy_session;

static tr_next on_received_beside(tr_self *self, const struct tr_received *message)
{
    channel = message->channel;
    busy_session = busy_ref_of(tr_me(self));
    tr_status status = tr_write_file(self, message->channel, path, 0, SIZE_MAX);
    say("%s", tr_status_name(status));
    return TR_SAME;
}

TR_BEHAVIOR(busy, void, TR_ON(run, on_run), TR_ON(tr_received, on_received_beside),
            TR_ON(tr_drained, on_drained), TR_ON(tr_closed, on_closed));

static tr_next listen_busy(tr_self *self)
{
    listener = tr_listen(self, busy, TR_TCP(SERVER));
    return TR_SAME;
}

/* The session is in the middle of the file, and handles another message. */
static tr_kit_peer *begin_beside(turn *function)
{
    tr_kit_network narrow = {.window = 1000};
    tr_kit_set_network(kit, &narrow);
    HOST(host, listen_busy);
    tr_kit_peer *peer = peer_new();
    peer_send(peer, "x"); /* the session sends as much of the file as the window takes */
    TELL_RUN(test, busy_session, function);
    tr_kit_settle(kit);
    return peer;
}

static size_t receive_rest(tr_kit_peer *peer, char *last, size_t room)
{
    size_t at = 0;
    for (;;) {
        tr_bytes bytes = tr_kit_receive(peer, TR_SECOND);
        if (!bytes.size)
            return at;
        for (size_t i = 0; i < bytes.size; i++, at++) {
            if (at < FILE_SIZE)
                ck_assert_int_eq(((const char *)bytes.data)[i], content[at]);
            else if (at - FILE_SIZE < room)
                last[at - FILE_SIZE] = ((const char *)bytes.data)[i];
        }
    }
}

TEST(other_writes_wait_for_the_file, "C-08", "C-04")
{
    char last[20] = "";
    file_make();
    kit_open(1, 1);
    tr_kit_peer *peer = begin_beside(write_beside);
    SAID("TR_LIMIT");
    ck_assert_uint_eq(receive_rest(peer, last, sizeof last), FILE_SIZE + 6);
    ck_assert_str_eq(last, "beside");
    SAID("TR_OK; TR_OK; drained");
    kit_close();
    file_remove();
}

static void play_amid(turn *function, const char *words)
{
    kit_open(1, 1);
    tr_kit_peer *peer = begin_beside(function);
    size_t got = receive_rest(peer, NULL, 0);
    ck_assert_uint_lt(got, FILE_SIZE);
    ck_assert_int_eq(tr_kit_peer_status(peer), TR_RESET);
    SAID(words);
    kit_close();
}

TEST(what_ends_a_file_early_is_a_reset, "C-08", "C-09")
{
    file_make();
    play_amid(close_beside, "TR_CLOSED; closed TR_CANCELLED the channel was closed");
    play_amid(finish_beside, "TR_CLOSED; closed TR_CANCELLED the channel was closed");
    play_amid(stop_beside, "TR_CANCELLED");
    file_remove();
}

TEST(a_peer_that_resets_ends_the_file, "C-08")
{
    file_make();
    kit_open(1, 1);
    tr_kit_peer *peer = begin_beside(write_beside);
    said();
    tr_kit_reset(peer);
    tr_kit_settle(kit);
    SAID("TR_RESET; TR_RESET; closed TR_RESET");
    kit_close();
    file_remove();
}

TEST(a_file_whose_last_piece_ends_its_channel_says_so, "C-08", "C-05")
{
    file_make();
    size = 20000; /* one piece, which is sent at once */
    kit_open(1, 1);
    HOST(host, listen);
    tr_kit_peer *peer = peer_new();
    tr_kit_fail_network(kit, "send", 2, TR_RESET); /* the first one sends what is before the file */
    peer_send(peer, "x");
    SAID("TR_RESET; closed TR_RESET");
    kit_close();
    file_remove();
}

/* ---- Framing, and descriptors. ---- */

static tr_next on_framed(tr_self *self, const struct tr_received *message)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    say("%s", tr_status_name(tr_write_fd(self, message->channel, fd, 10, 5)));
    say("%s", tr_status_name(tr_write_fd(self, message->channel, -1, 10, 5)));
    close(fd);
    say("%s", tr_status_name(tr_write_fd(self, message->channel, 1 << 20, 10, 5)));
    return TR_SAME;
}

TR_ACTOR(framed, tr_received);
TR_BEHAVIOR(framed, void, TR_ON(tr_received, on_framed));

static tr_next listen_length(tr_self *self)
{
    listener = tr_listen(self, framed, TR_TCP(SERVER, .framing = TR_LENGTH(4)));
    return TR_SAME;
}

TEST(a_file_of_a_descriptor_is_a_piece_of_the_framing, "C-08", "C-03")
{
    file_make();
    kit_open(1, 1);
    HOST(host, listen_length);
    tr_kit_peer *peer = peer_new();
    ck_assert_uint_eq(tr_kit_send(peer, TR_BYTES("\0\0\0\1x")), 5);
    tr_bytes bytes = tr_kit_receive(peer, TR_SECOND);
    ck_assert_uint_eq(bytes.size, 9);
    ck_assert_int_eq(memcmp(bytes.data, "\0\0\0\5", 4), 0);
    ck_assert_int_eq(memcmp((const char *)bytes.data + 4, content + 10, 5), 0);
    SAID("TR_OK; TR_INVALID_ARGUMENT; TR_INVALID_ARGUMENT");
    kit_close();
    file_remove();
}

/* The file is cut while it is sent. */
static tr_next cut_it(tr_self *self)
{
    (void)self;
    ck_assert_int_eq(truncate(path, 70000), 0);
    return TR_SAME;
}

TEST(a_file_that_becomes_shorter_is_a_reset, "C-08")
{
    file_make();
    play_amid(cut_it, "TR_FILE_FAILED; closed TR_FILE_FAILED it has become shorter");
    file_remove();
}

SUITE("files on channels", a_file_is_sent_in_order_through_a_narrow_window,
      a_part_of_a_file_is_sent, a_file_that_cannot_be_sent_leaves_the_channel_open,
      an_error_amid_a_file_is_a_reset, other_writes_wait_for_the_file,
      what_ends_a_file_early_is_a_reset, a_peer_that_resets_ends_the_file,
      a_file_whose_last_piece_ends_its_channel_says_so,
      a_file_of_a_descriptor_is_a_piece_of_the_framing, a_file_that_becomes_shorter_is_a_reset)
