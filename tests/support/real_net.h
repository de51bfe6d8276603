/* SPDX-License-Identifier: Apache-2.0 */
/**
 * For tests of channels on real sockets: a system with threads, a host that runs functions of the test, and
 * clients that are plain sockets of the test's own threads.
 *
 *     real_open(3);
 *     uint64_t port = GO(listen_echo);
 *     int fd = dial_port(port);
 *     real_close();
 */
#ifndef TROUPE_TESTS_SUPPORT_REAL_NET_H
#define TROUPE_TESTS_SUPPORT_REAL_NET_H

#include "support/sockets.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <sys/un.h>
#include <troupe/net.h>
#include <troupe/troupe.h>

#define REAL_UNUSED __attribute__((__unused__))

TR_MESSAGE(went, (u64, value));
TR_REQUEST(go, went, (u64, function), (u64, argument));
TR_ACTOR(host, go);

/** A function of the test, in a turn of the host. */
typedef uint64_t go_function(tr_self *self, uint64_t argument);

static tr_system *real_system;
static tr_client *real_client;
static host_ref real_host;

REAL_UNUSED static tr_next on_go(tr_self *self, const struct go *message)
{
    uint64_t value = ((go_function *)(uintptr_t)message->function)(self, message->argument);
    return tr_reply(self, went, .value = value);
}

TR_BEHAVIOR(host, void, TR_ON(go, on_go));

/** Runs a function in an actor that handles `go` as the host does, and returns what it returns. */
REAL_UNUSED static uint64_t go_in(host_ref actor, go_function *function, uint64_t argument)
{
    const struct went *reply;
    go_ask asked = tr_ask_within(real_client,
                                 TR_MINUTE,
                                 actor,
                                 go,
                                 .function = (uint64_t)(uintptr_t)function,
                                 .argument = argument);
    tr_status status = tr_try_await(real_client, asked, &reply);
    ck_assert_msg(status == TR_OK, "%s", tr_status_name(status));
    return reply->value;
}

/** Runs a function in the host. */
REAL_UNUSED static uint64_t go_with(go_function *function, uint64_t argument)
{
    return go_in(real_host, function, argument);
}
#define GO(function) go_with(function, 0)

REAL_UNUSED static void real_open_with(const tr_system_options *options)
{
    ck_assert_int_eq(tr_system_new(options, &real_system), TR_OK);
    ck_assert_int_eq(tr_system_start(real_system), TR_OK);
    ck_assert_int_eq(tr_client_new(real_system, &real_client), TR_OK);
    ck_assert_int_eq(tr_try_spawn(real_client, &real_host, host, "host"), TR_OK);
}

REAL_UNUSED static void real_open(int workers)
{
    tr_system_options options = {.size = sizeof options, .workers = workers};
    real_open_with(&options);
}

/** Shuts down, and checks that no message was lost. */
REAL_UNUSED static void real_close(void)
{
    tr_counters counters;
    tr_client_free(real_client);
    tr_system_shutdown(real_system, 30 * TR_SECOND);
    ck_assert_int_eq(tr_system_wait(real_system), TR_OK);
    tr_system_counters(real_system, &counters);
    ck_assert_uint_eq(counters.accepted,
                      counters.handled + counters.dead_letters - counters.refused);
    ck_assert_uint_eq(counters.queued, 0);
    ck_assert_uint_eq(counters.live, 0);
    tr_system_free(real_system);
}

/* ---- Plain sockets. ---- */

REAL_UNUSED static void dial_with(int fd, uint64_t port)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port),
                             .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int yes = 1;
    ck_assert_int_eq(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes), 0);
    ck_assert_msg(connect(fd, (struct sockaddr *)&to, sizeof to) == 0, "%s", strerror(errno));
}

REAL_UNUSED static int dial_port(uint64_t port)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_ge(fd, 0);
    dial_with(fd, port);
    return fd;
}

REAL_UNUSED static void send_all(int fd, const void *data, size_t size)
{
    for (size_t at = 0; at < size;) {
        ssize_t count = send(fd, (const char *)data + at, size - at, MSG_NOSIGNAL);
        ck_assert_msg(count > 0, "%s", strerror(errno));
        at += (size_t)count;
    }
}

/** Reads so many bytes, or all until the end. Returns how many. */
REAL_UNUSED static size_t receive_all(int fd, void *data, size_t size)
{
    size_t at = 0;
    while (at < size) {
        ssize_t count = recv(fd, (char *)data + at, size - at, 0);
        ck_assert_msg(count >= 0, "%s", strerror(errno));
        if (!count)
            break;
        at += (size_t)count;
    }
    return at;
}

REAL_UNUSED static void reset_socket(int fd)
{
    struct linger hard = {.l_onoff = 1};
    ck_assert_int_eq(setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof hard), 0);
    close(fd);
}

/* ---- Random numbers of one thread. ---- */

REAL_UNUSED static uint64_t dice_roll(uint64_t *state)
{
    uint64_t number = (*state += UINT64_C(0x9e3779b97f4a7c15));
    number = (number ^ number >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    number = (number ^ number >> 27) * UINT64_C(0x94d049bb133111eb);
    return number ^ number >> 31;
}

#endif
