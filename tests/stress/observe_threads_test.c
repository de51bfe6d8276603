/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A thread looks into a system whose actors start, fail and stop all the time on other threads.
 */
#include "support/test.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <troupe/observe.h>
#include <troupe/troupe.h>
#include <unistd.h>

#include "observe/control.h"
#include "observe/schema.h"

TR_MESSAGE(tick, (u64, n));
TR_MESSAGE(count, (u64, n), (str, secret));
TR_SECRET(count, secret);
TR_ACTOR(leaf, tick);
TR_ACTOR(parent, tick);

static tr_next on_leaf(tr_self *self, struct count *state, const struct tick *message)
{
    state->n += message->n;
    if (message->n % 7 == 3)
        return tr_fail(self, TR_BAD_DATA, "%llu", (unsigned long long)message->n);
    return message->n % 5 == 1 ? TR_STOP : TR_SAME;
}
TR_BEHAVIOR(leaf, struct count, TR_ON(tick, on_leaf),
            TR_OPTIONS(.shows = &tr_type_count, .restart = TR_TEMPORARY));

/* Starts children that end by themselves, and continues until it is stopped. */
static tr_next on_parent(tr_self *self, const struct tick *message)
{
    char name[32];
    snprintf(name, sizeof name, "leaf-%llu", (unsigned long long)(message->n % 64));
    leaf_ref leaf;
    if (tr_try_spawn(self, &leaf, leaf, message->n % 2 ? name : NULL) == TR_OK) {
        for (uint64_t i = 0; i < 5; i++) /* one of them ends the leaf */
            tr_tell(self, leaf, tick, .n = message->n + i);
    }
    tr_self_tell(self, tr_me(self), &tr_type_tick, &(struct tick){.n = message->n + 1});
    return TR_SAME;
}
TR_BEHAVIOR(parent, void, TR_ON(tick, on_parent));

static void on_log(void *context, tr_level level, const char *path, const char *text)
{
    (void)context, (void)level, (void)path, (void)text;
}

static void look(tr_system *system, tr_client *client)
{
    static tr_actor_info infos[64];
    static tr_worker_info workers[4];
    static tr_behavior_info behaviors[16];
    static tr_failure_record failures[16];
    static tr_actor_report report;
    tr_actor_query query = {.size = 0};
    size_t count;
    uint64_t seen = 0;
    do {
        ck_assert_int_eq(tr_system_actors(system, &query, infos, 64, &count), TR_OK);
        for (size_t i = 0; i < count; i++) {
            ck_assert_int_eq(strncmp(infos[i].path, "/user", 5), 0);
            ck_assert_ptr_nonnull(infos[i].state);
            ck_assert_int_lt(infos[i].worker, 2);
            seen++;
        }
    } while (query.from);
    tr_status status = TR_STOPPED;
    if (count)
        status = tr_actor_show(client, infos[count - 1].actor, &report);
    ck_assert(status == TR_OK || status == TR_STOPPED || status == TR_TIMEOUT);
    ck_assert_uint_ge(seen, 3);
    ck_assert_uint_eq(tr_system_running(system, workers, 4), 2);
    ck_assert_int_eq(tr_system_behaviors(system, behaviors, 16, &count), TR_OK);
    ck_assert_uint_ge(count, 2);
    (void)tr_system_failures(system, failures, 16, &count);
    for (size_t i = 0; i < count; i++)
        ck_assert_str_eq(failures[i].behavior, "leaf");
    (void)tr_system_find(system, "/user/parent-0/leaf-1");
}

/* Starts a system with two actors that start others all the time. */
static tr_system *system_start(tr_client **client)
{
    tr_system *system;
    tr_system_options options = {.workers = 2, .on_log = on_log};
    ck_assert_int_eq(tr_system_new(&options, &system), TR_OK);
    ck_assert_int_eq(tr_system_start(system), TR_OK);
    ck_assert_int_eq(tr_client_new(system, client), TR_OK);
    for (int i = 0; i < 2; i++) {
        parent_ref parent;
        ck_assert_int_eq(tr_try_spawn_at(*client, &parent, i, parent, i ? "parent-1" : "parent-0"),
                         TR_OK);
        tr_tell(*client, parent, tick, .n = 1);
    }
    return system;
}

static void system_end(tr_system *system, tr_client *client)
{
    tr_client_free(client);
    tr_system_shutdown(system, TR_SECOND);
    ck_assert_int_eq(tr_system_wait(system), TR_OK);
    tr_system_free(system);
}

TEST(lists_while_actors_come_and_go, "O-07", "O-10")
{
    tr_client *client;
    tr_system *system = system_start(&client);
    uint64_t rounds = test_scale(500, 5000);
    for (uint64_t round = 0; round < rounds; round++)
        look(system, client);
    system_end(system, client);
}

/* Reads until the server has ended this many answers. */
static void answers_read(int fd, size_t count)
{
    static char bytes[1 << 16];
    char last = '\n';
    while (count) {
        ssize_t got = read(fd, bytes, sizeof bytes);
        ck_assert_int_gt(got, 0);
        for (ssize_t i = 0; i < got; i++) {
            /* Only the last line of an answer has no "part" behind its id, which has one digit. */
            static size_t column;
            column = last == '\n' ? 0 : column + 1;
            last = bytes[i];
            count -= column == 9 && last != 'p';
        }
    }
}

TEST(the_socket_answers_while_actors_come_and_go, "O-09")
{
    static const char requests[] =
        "{\"id\":1,\"do\":\"info\"}\n{\"id\":2,\"do\":\"ls\",\"limit\":100000}\n"
        "{\"id\":3,\"do\":\"show\",\"path\":\"/user/parent-0\"}\n{\"id\":4,\"do\":\"top\"}\n"
        "{\"id\":5,\"do\":\"why\",\"path\":\"/user/parent-1\"}\n{\"id\":6,\"do\":\"metrics\"}\n"
        "{\"id\":7,\"do\":\"failures\"}\n{\"id\":8,\"do\":\"dead-letters\"}\n"
        "{\"id\":9,\"do\":\"suspend\",\"path\":\"/user/parent-1/leaf-1\",\"may\":true}\n"
        "{\"id\":1,\"do\":\"trace\",\"path\":\"/user/parent-0\"}\n{\"id\":2,\"do\":\"trace\"}\n";
    tr_client *client;
    tr_system *system = system_start(&client);
    struct control *control;
    char why[CONTROL_WHY_SIZE] = "";
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "/tmp/troupe-test-%d", (int)getpid());
    ck_assert_msg(
        tr__control_start(
            system, &(struct schema_source){.app = "play"}, address.sun_path, &control, why) ==
            TR_OK,
        "%s",
        why);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    ck_assert_int_eq(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    char byte;
    do
        ck_assert_int_eq(read(fd, &byte, 1), 1);
    while (byte != '\n');
    uint64_t rounds = test_scale(50, 1000);
    for (uint64_t round = 0; round < rounds; round++) {
        ck_assert_int_eq(write(fd, requests, sizeof requests - 1), sizeof requests - 1);
        answers_read(fd, 11);
    }
    (void)close(fd);
    tr__control_stop(control);
    system_end(system, client);
}

SUITE("observe threads", lists_while_actors_come_and_go,
      the_socket_answers_while_actors_come_and_go)
