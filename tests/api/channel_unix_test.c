/* SPDX-License-Identifier: Apache-2.0 */
/** UNIX datagrams: on the network of kits, and with a peer that is a plain socket. */
#include "support/net.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define HERE here()
#define THERE "/tmp/troupe-unix-peer"

/* A name that no other run of this program has. */
static const char *here(void)
{
    static char name[40];
    snprintf(name, sizeof name, "@troupe-unix-%d", (int)getpid());
    return name;
}

static const char *at_here(void)
{
    static char text[60];
    snprintf(text, sizeof text, "at unix:%s", here());
    return text;
}

static tr_channel channel;
static char reply_to[TR_ADDRESS_PATH_MAX];

static tr_next on_datagram(tr_self *self, const struct tr_datagram *message)
{
    say("%.*s from %s",
        (int)message->bytes.size,
        (const char *)message->bytes.data,
        tr_address_text(self, message->from));
    tr_status status = tr_send_to(self, message->channel, &message->from, TR_BYTES("answer"));
    if (status != TR_OK)
        say("%s", tr_status_name(status));
    return TR_SAME;
}

TR_BEHAVIOR(host, void, TR_ON(run, on_run), TR_ON(tr_datagram, on_datagram));

static tr_next bind_here(tr_self *self)
{
    channel = tr_bind(self, TR_UNIX_DATAGRAM(HERE));
    say("at %s", tr_address_text(self, tr_channel_address(self, channel)));
    return TR_SAME;
}

static void try_send(tr_self *self, const char *path)
{
    tr_address to = tr_address_of_path(path);
    say("%s", tr_status_name(tr_send_to(self, channel, &to, TR_BYTES("hello"))));
}

static tr_next send_there(tr_self *self)
{
    char far_too_long[200];
    memset(far_too_long, 'x', sizeof far_too_long);
    far_too_long[sizeof far_too_long - 1] = '\0';
    try_send(self, reply_to);
    try_send(self, "/tmp/troupe-nobody-is-here");
    try_send(self, far_too_long);
    try_send(self, "");
    try_send(self, NULL);
    return TR_SAME;
}

static const char *const statuses =
    "TR_OK; TR_CONNECT_REFUSED; TR_ADDRESS_INVALID; TR_ADDRESS_INVALID; TR_ADDRESS_INVALID";

static void play_kit(void)
{
    HOST(host, bind_here);
    SAID(at_here());
    tr_kit_peer *peer = tr_kit_bind(kit, THERE);
    ck_assert_ptr_nonnull(peer);
    strcpy(reply_to, THERE);
    host_run(send_there);
    SAID(statuses);
    tr_address from;
    tr_bytes bytes = tr_kit_receive_from(peer, TR_SECOND, &from);
    ck_assert_uint_eq(bytes.size, 5);
    ck_assert_str_eq(from.path, HERE);
    ck_assert_int_eq(tr_kit_send_to(peer, from.path, TR_BYTES("question")), TR_OK);
    bytes = tr_kit_receive_from(peer, TR_SECOND, NULL);
    ck_assert_uint_eq(bytes.size, 6);
    SAID("question from unix:" THERE);
}

TEST(unix_datagrams_are_sent_and_answered, "C-13")
{
    kits_each(play_kit);
}

/* ---- With a real peer: a system whose loop the test runs, on one thread. ---- */

static int peer_bind(struct sockaddr_un *at)
{
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(bind(fd, (struct sockaddr *)at, sizeof *at), 0);
    return fd;
}

static struct sockaddr_un address_of(const char *path)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    snprintf(at.sun_path, sizeof at.sun_path, "%s", path);
    return at;
}

static void run_until_said(tr_system *system)
{
    while (!said_length)
        ck_assert_int_ge(tr_system_run_once(system, 0), 0);
}

TEST(a_real_peer_gets_datagrams_and_is_answered, "C-13", "CH-11")
{
    tr_system_options options = {.size = sizeof options, .workers = 1};
    tr_system *system;
    tr_client *client;
    host_ref made;
    char text[100] = "";
    snprintf(reply_to, sizeof reply_to, "/tmp/troupe-unix-%d", (int)getpid());
    struct sockaddr_un at = address_of(reply_to);
    int fd = peer_bind(&at);
    ck_assert_int_eq(tr_system_new(&options, &system), TR_OK);
    ck_assert_int_eq(tr_client_new(system, &client), TR_OK);
    ck_assert_int_eq(tr_try_spawn(client, &made, host, "host"), TR_OK);
    TELL_RUN(client, made, bind_here);
    run_until_said(system);
    SAID(at_here());
    TELL_RUN(client, made, send_there);
    run_until_said(system);
    SAID(statuses);
    struct sockaddr_un from;
    socklen_t size = sizeof from;
    ck_assert_int_eq(recvfrom(fd, text, sizeof text, 0, (struct sockaddr *)&from, &size), 5);
    ck_assert_int_eq(memcmp(from.sun_path + 1, HERE + 1, strlen(HERE) - 1), 0);
    ck_assert_int_eq(sendto(fd, "question", 8, 0, (struct sockaddr *)&from, size), 8);
    run_until_said(system);
    char words[200];
    snprintf(words, sizeof words, "question from unix:%s", reply_to);
    SAID(words);
    ck_assert_int_eq(recv(fd, text, sizeof text, 0), 6);
    /* A sender without a name cannot be answered. */
    int nameless = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    ck_assert_int_eq(sendto(nameless, "x", 1, 0, (struct sockaddr *)&from, size), 1);
    run_until_said(system);
    SAID("x from none; TR_ADDRESS_INVALID");
    close(nameless);
    close(fd);
    unlink(reply_to);
    tr_client_free(client);
    tr_system_free(system);
}

SUITE("UNIX datagrams", unix_datagrams_are_sent_and_answered,
      a_real_peer_gets_datagrams_and_is_answered)
