/* SPDX-License-Identifier: Apache-2.0 */
/** Channels on real sockets, with several workers and threads; the clients are plain sockets. */
#include "support/real_net.h"

static atomic_int closed_count[128]; /* by status, negated */
static atomic_int opened_count;
static sem_t has_closed;
static sem_t has_opened;

static tr_next on_opened(const struct tr_opened *message)
{
    ck_assert(message->is_accepted);
    atomic_fetch_add(&opened_count, 1);
    sem_post(&has_opened);
    return TR_SAME;
}

static tr_next on_echo(tr_self *self, const struct tr_received *message)
{
    tr_write(self, message->channel, message->bytes);
    return TR_SAME;
}

static tr_next on_closed(const struct tr_closed *message)
{
    atomic_fetch_add(&closed_count[-message->status], 1);
    sem_post(&has_closed);
    return TR_STOP;
}

TR_BEHAVIOR(echo, void, TR_ON(tr_opened, on_opened), TR_ON(tr_received, on_echo),
            TR_ON(tr_closed, on_closed));

static tr_next on_line(tr_self *self, const struct tr_received *line)
{
    tr_print(self, line->channel, "%zu:%s\n", line->bytes.size, (const char *)line->bytes.data);
    return TR_SAME;
}

TR_BEHAVIOR(meter, void, TR_ON(tr_received, on_line));

static tr_listener_ref listener;

#define LISTEN(name, behavior, at)                                                                 \
    static uint64_t name(tr_self *self, uint64_t argument)                                         \
    {                                                                                              \
        (void)argument;                                                                            \
        listener = tr_listen(self, behavior, at);                                                  \
        return tr_listener_address(self, listener).port;                                           \
    }

LISTEN(listen_echo, echo, TR_TCP("127.0.0.1:0"))
LISTEN(listen_lines, meter, TR_TCP("127.0.0.1:0", .framing = TR_LINES))

static uint64_t count_sessions(tr_self *self, uint64_t argument)
{
    (void)argument;
    return tr_listener_count(self, listener);
}

static void open_echo(int workers)
{
    ck_assert_int_eq(sem_init(&has_closed, 0, 0), 0);
    ck_assert_int_eq(sem_init(&has_opened, 0, 0), 0);
    real_open(workers);
}

static void await_times(sem_t *what, int times)
{
    while (times--)
        while (sem_wait(what) != 0)
            ck_assert_int_eq(errno, EINTR);
}

/* ---- Echoes. ---- */

struct echo_job {
    pthread_t thread;
    uint64_t port;
    uint64_t dice;
    size_t size;
    int connections;
    bool is_right;
};

/* Sends `size` bytes in random pieces, and receives them meanwhile. */
static bool echo_once(int fd, size_t size, uint64_t *dice)
{
    uint64_t out_dice = dice_roll(dice), in_dice = out_dice;
    size_t out = 0, in = 0;
    unsigned char block[20000];
    while (in < size) {
        struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
        poll_fd.events = (short)(POLLIN | (out < size ? POLLOUT : 0));
        ck_assert_int_eq(poll(&poll_fd, 1, -1), 1);
        if (out < size && poll_fd.revents & POLLOUT) {
            size_t count = dice_roll(dice) % sizeof block + 1;
            count = count < size - out ? count : size - out;
            uint64_t copy = out_dice;
            for (size_t i = 0; i < count; i++)
                block[i] = (unsigned char)dice_roll(&copy);
            ssize_t sent = send(fd, block, count, MSG_NOSIGNAL | MSG_DONTWAIT);
            for (ssize_t i = 0; i < sent; i++)
                dice_roll(&out_dice);
            out += sent > 0 ? (size_t)sent : 0;
            if (sent < 0 && errno != EAGAIN)
                return false;
        }
        if (poll_fd.revents & (POLLIN | POLLHUP | POLLERR)) {
            ssize_t got = recv(fd, block, dice_roll(dice) % sizeof block + 1, MSG_DONTWAIT);
            if (got == 0 || (got < 0 && errno != EAGAIN))
                return false;
            for (ssize_t i = 0; i < got; i++)
                if (block[i] != (unsigned char)dice_roll(&in_dice))
                    return false;
            in += got > 0 ? (size_t)got : 0;
        }
    }
    return true;
}

static void *echo_main(void *argument)
{
    struct echo_job *job = argument;
    job->is_right = true;
    for (int i = 0; i < job->connections; i++) {
        int fd = dial_port(job->port);
        job->is_right &= echo_once(fd, job->size, &job->dice);
        close(fd);
    }
    return NULL;
}

TEST(megabytes_come_back_over_many_connections, "C-02", "C-04", "CH-01", "CH-12")
{
    enum { THREADS = 8 };
    struct echo_job jobs[THREADS];
    open_echo(3);
    uint64_t port = GO(listen_echo);
    for (int i = 0; i < THREADS; i++) {
        jobs[i] = (struct echo_job){.port = port,
                                    .dice = test_seed() + (uint64_t)i,
                                    .size = TEST_HAS_SANITIZER ? 200000 : 1500000,
                                    .connections = 3};
        ck_assert_int_eq(pthread_create(&jobs[i].thread, NULL, echo_main, &jobs[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(jobs[i].thread, NULL);
        ck_assert(jobs[i].is_right);
    }
    await_times(&has_closed, 3 * THREADS);
    ck_assert_int_eq(atomic_load(&closed_count[-TR_CLOSED]), 3 * THREADS);
    ck_assert_int_eq(atomic_load(&opened_count), 3 * THREADS);
    real_close();
}

/* "A short read means that there is no more" holds with the smallest segments. */
TEST(segments_of_one_byte_make_whole_lines, "C-03", "C-04", "CH-02", "CH-15")
{
    enum { LINES = 200 };
    open_echo(2);
    int fd = dial_port(GO(listen_lines));
    for (int i = 0; i < LINES; i++) {
        char line[32], answer[32], expected[40];
        int size = snprintf(line, sizeof line, "line %d of %d\r\n", i, LINES);
        for (int at = 0; at < size; at++)
            send_all(fd, line + at, 1);
        int length = snprintf(expected, sizeof expected, "%d:%.*s\n", size - 2, size - 2, line);
        ck_assert_uint_eq(receive_all(fd, answer, (size_t)length), (size_t)length);
        ck_assert_mem_eq(answer, expected, (size_t)length);
    }
    close(fd);
    real_close();
}

/* ---- Ends. ---- */

TEST(a_half_close_is_answered_in_full, "C-05", "C-09", "CH-04")
{
    enum { SIZE = 300000, PART = 30000 };
    static unsigned char sent[SIZE], got[SIZE + 1];
    open_echo(2);
    uint64_t dice = test_seed();
    for (size_t i = 0; i < SIZE; i++)
        sent[i] = (unsigned char)dice_roll(&dice);
    uint64_t port = GO(listen_echo);
    for (size_t size = 1; size <= SIZE; size = size * 3 + 1) {
        int fd = dial_port(port);
        size_t at = 0;
        for (; size - at > PART; at += PART) { /* no more than fits on the way at once */
            send_all(fd, sent + at, PART);
            ck_assert_uint_eq(receive_all(fd, got + at, PART), PART);
        }
        send_all(fd, sent + at, size - at);
        ck_assert_int_eq(shutdown(fd, SHUT_WR), 0);
        ck_assert_uint_eq(receive_all(fd, got + at, size - at + 1), size - at);
        ck_assert_mem_eq(sent, got, size);
        close(fd);
        await_times(&has_closed, 1);
    }
    ck_assert_int_eq(atomic_load(&closed_count[-TR_RESET]), 0);
    real_close();
}

TEST(resets_are_noticed_once_each, "C-05", "CH-03")
{
    enum { RESETS = 100 };
    open_echo(3);
    uint64_t port = GO(listen_echo);
    int good = dial_port(port);
    for (int i = 0; i < RESETS; i++) {
        int fd = dial_port(port);
        char byte;
        send_all(fd, "x", 1);
        ck_assert_uint_eq(receive_all(fd, &byte, 1), 1);
        if (i % 2)
            send_all(fd, "lost?", 5);
        reset_socket(fd);
    }
    await_times(&has_closed, RESETS);
    ck_assert_int_eq(atomic_load(&closed_count[-TR_RESET]), RESETS);
    ck_assert_uint_eq(GO(count_sessions), 1);
    char text[5];
    send_all(good, "hello", 5);
    ck_assert_uint_eq(receive_all(good, text, 5), 5);
    close(good);
    real_close();
}

TEST(thousands_of_idle_connections_end_with_the_system, "C-09", "X-01", "CH-22")
{
    enum { MOST = 2000 };
    static int fds[MOST];
    struct rlimit limit;
    limit_descriptors(-1);
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    int count = limit.rlim_cur > 2 * MOST + 100 ? MOST : (int)(limit.rlim_cur - 100) / 2;
    count = TEST_HAS_SANITIZER && count > 500 ? 500 : count;
    open_echo(3);
    uint64_t port = GO(listen_echo);
    for (int i = 0; i < count; i++)
        fds[i] = dial_port(port);
    await_times(&has_opened, count);
    ck_assert_uint_eq(GO(count_sessions), (uint64_t)count);
    tr_system_shutdown(real_system, 30 * TR_SECOND);
    for (int i = 0; i < count; i++) {
        char byte;
        ck_assert_uint_eq(receive_all(fds[i], &byte, 1), 0); /* in order, no reset */
        close(fds[i]);
    }
    real_close();
}

enum { MUCH = 8 * 1024 * 1024 };

static tr_next on_much(tr_self *self, const struct tr_received *message)
{
    tr_buffer *buffer = tr_buffer_of_turn(self, MUCH);
    memset(tr_buffer_data(buffer), 'x', MUCH);
    tr_write_buffer(self, message->channel, buffer);
    sem_post(&has_opened);
    return TR_SAME;
}

TR_BEHAVIOR(generous, void, TR_ON(tr_received, on_much));
LISTEN(listen_generous, generous, TR_TCP("127.0.0.1:0"))

/* More than the kernel takes at once: most of it waits in the system when the shutdown begins. */
TEST(a_shutdown_waits_until_all_is_sent, "C-09", "CH-22")
{
    static char got[MUCH + 1];
    open_echo(2);
    int fd = dial_port(GO(listen_generous));
    send_all(fd, "go", 2);
    await_times(&has_opened, 1);
    tr_system_shutdown(real_system, 30 * TR_SECOND);
    ck_assert_uint_eq(receive_all(fd, got, sizeof got), MUCH);
    close(fd);
    real_close();
}

/* A client that does not read holds a shutdown until its deadline, and no longer. */
TEST(a_shutdown_sends_no_longer_than_it_may, "C-09", "X-01")
{
    const tr_platform *platform = tr_platform_real();
    open_echo(2);
    int fd = dial_port(GO(listen_generous));
    send_all(fd, "go", 2);
    await_times(&has_opened, 1);
    tr_time began_ns = platform->mono_now(platform);
    tr_system_shutdown(real_system, 200 * TR_MILLISECOND);
    real_close();
    tr_time took_ns = platform->mono_now(platform) - began_ns;
    ck_assert_int_lt(took_ns, TR_LINGER_NS - TR_SECOND);
    close(fd);
}

/* ---- No descriptors. ---- */

TEST(connections_wait_while_there_are_no_descriptors, "C-11", "CH-08")
{
    enum { CLIENTS = 24, SERVED = 6 };
    int fds[CLIENTS];
    open_echo(2);
    uint64_t port = GO(listen_echo);
    for (int i = 0; i < CLIENTS; i++) {
        fds[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        ck_assert_int_ge(fds[i], 0);
    }
    limit_descriptors(SERVED);
    for (int i = 0; i < CLIENTS; i++) {
        dial_with(fds[i], port);
        send_all(fds[i], "hello", 5);
    }
    await_times(&has_opened, SERVED);
    /* The listener is out of descriptors now: it tries ten times in a second, and no more. */
    struct pollfd waiting = {.fd = fds[CLIENTS - 1], .events = POLLIN};
    tr_counters before, after;
    tr_system_counters(real_system, &before);
    ck_assert_int_eq(poll(&waiting, 1, 300), 0);
    tr_system_counters(real_system, &after);
    ck_assert_uint_lt(after.handled - before.handled, 60);
    for (int i = 0; i < CLIENTS; i++) {
        char text[5];
        ck_assert_uint_eq(receive_all(fds[i], text, 5), 5); /* each has its turn */
        ck_assert_mem_eq(text, "hello", 5);
        close(fds[i]);
    }
    ck_assert_int_eq(atomic_load(&opened_count), CLIENTS);
    limit_descriptors(-1);
    real_close();
}

/* ---- A handler that blocks. ---- */

static sem_t may_continue;

/* Blocks against the rules, with borrowed bytes. The worker continues on another thread meanwhile. */
static tr_next on_block(tr_self *self, const struct tr_received *line)
{
    char copy[32];
    memcpy(copy, line->bytes.data, line->bytes.size);
    if (copy[0] == 'b') {
        sem_post(&has_opened);
        while (sem_wait(&may_continue) != 0)
            ;
    }
    ck_assert_mem_eq(copy, line->bytes.data, line->bytes.size);
    tr_write(self, line->channel, line->bytes);
    return TR_SAME;
}

TR_BEHAVIOR(blocker, void, TR_ON(tr_received, on_block));
LISTEN(listen_blocker, blocker, TR_TCP("127.0.0.1:0", .framing = TR_LINES))

TEST(bytes_stay_while_another_thread_runs_the_worker, "C-07", "CH-19")
{
    tr_system_options options = {
        .size = sizeof options, .workers = 1, .handoff_after_ns = 3 * TR_MILLISECOND};
    char got[16];
    ck_assert_int_eq(sem_init(&may_continue, 0, 0), 0);
    ck_assert_int_eq(sem_init(&has_opened, 0, 0), 0);
    real_open_with(&options);
    uint64_t port = GO(listen_blocker);
    int blocked = dial_port(port), other = dial_port(port);
    send_all(other, "x\n", 2);
    ck_assert_uint_eq(receive_all(other, got, 1), 1);
    send_all(blocked, "blocks\n", 7);
    await_times(&has_opened, 1);
    for (int i = 0; i < 1000; i++) { /* the same area, many times over */
        send_all(other, "0123456789\n", 11);
        ck_assert_uint_eq(receive_all(other, got, 10), 10);
        ck_assert_mem_eq(got, "0123456789", 10);
    }
    sem_post(&may_continue);
    ck_assert_uint_eq(receive_all(blocked, got, 6), 6);
    ck_assert_mem_eq(got, "blocks", 6);
    close(blocked);
    close(other);
    real_close();
}

/* ---- Other sockets. ---- */

static uint64_t listen_twice(tr_self *self, uint64_t argument)
{
    char address[32];
    (void)argument;
    listener = tr_listen(self, echo, TR_TCP("127.0.0.1:0", .reuses_port = true));
    uint64_t port = tr_listener_address(self, listener).port;
    snprintf(address, sizeof address, "127.0.0.1:%d", (int)port);
    tr_listener_ref second;
    ck_assert_int_eq(tr_try_listen(self, &second, echo, TR_TCP(address)), TR_ADDRESS_IN_USE);
    (void)tr_listen(self, echo, TR_TCP(address, .reuses_port = true));
    return port;
}

TEST(the_kernel_spreads_over_listeners_of_one_port, "C-02")
{
    enum { CONNECTIONS = 40 };
    int fds[CONNECTIONS];
    open_echo(2);
    uint64_t port = GO(listen_twice);
    for (int i = 0; i < CONNECTIONS; i++)
        fds[i] = dial_port(port);
    await_times(&has_opened, CONNECTIONS);
    uint64_t of_first = GO(count_sessions);
    ck_assert(of_first > 0 && of_first < CONNECTIONS);
    for (int i = 0; i < CONNECTIONS; i++)
        close(fds[i]);
    await_times(&has_closed, CONNECTIONS);
    real_close();
}

static char path_text[120];
LISTEN(listen_at_path, echo, TR_UNIX(path_text))

static int dial_path(const char *path, int type)
{
    int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    ck_assert_int_ge(fd, 0);
    strcpy(to.sun_path, path);
    ck_assert_msg(connect(fd, (struct sockaddr *)&to, sizeof to) == 0, "%s", strerror(errno));
    return fd;
}

TEST(a_unix_socket_carries_streams, "C-02", "CH-12")
{
    struct socket_path made = path_make();
    open_echo(2);
    strcpy(path_text, made.path);
    GO(listen_at_path);
    uint64_t dice = test_seed();
    for (int i = 0; i < 5; i++) {
        int fd = dial_path(made.path, SOCK_STREAM);
        ck_assert(echo_once(fd, 100000, &dice));
        close(fd);
    }
    await_times(&has_closed, 5);
    real_close();
    path_remove(&made);
}

static tr_next on_datagram(tr_self *self, const struct tr_datagram *message)
{
    ck_assert(!message->is_cut);
    ck_assert_int_eq(tr_send_to(self, message->channel, &message->from, message->bytes), TR_OK);
    return TR_SAME;
}

static tr_next on_unix_datagram(tr_self *self, const struct tr_datagram *message)
{
    (void)self;
    ck_assert_uint_eq(message->bytes.size, 5);
    ck_assert_mem_eq(message->bytes.data, "hello", 5);
    sem_post(&has_opened);
    return TR_SAME;
}

static uint64_t bind_udp(tr_self *self, uint64_t argument)
{
    (void)argument;
    return tr_channel_address(self, tr_bind(self, TR_UDP("127.0.0.1:0"))).port;
}

static uint64_t bind_unix(tr_self *self, uint64_t argument)
{
    (void)tr_bind(self, TR_UNIX_DATAGRAM(path_text));
    return argument;
}

TR_ACTOR(datagrams, go);
TR_ACTOR(unix_datagrams, go);
TR_BEHAVIOR(datagrams, void, TR_ON(go, on_go), TR_ON(tr_datagram, on_datagram));
TR_BEHAVIOR(unix_datagrams, void, TR_ON(go, on_go), TR_ON(tr_datagram, on_unix_datagram));

TEST(datagrams_come_back, "C-13", "CH-11", "CH-12")
{
    datagrams_ref actor;
    open_echo(2);
    ck_assert_int_eq(tr_try_spawn(real_client, &actor, datagrams, NULL), TR_OK);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    to.sin_port = htons((uint16_t)go_in((host_ref){actor.bits}, bind_udp, 0));
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    ck_assert_int_eq(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    for (size_t size = 1; size <= 65507; size = size * 2 + 1) {
        static unsigned char out[65507], in[65507];
        memset(out, (int)size, size);
        ck_assert_int_eq(send(fd, out, size, 0), (ssize_t)size);
        ck_assert_int_eq(recv(fd, in, sizeof in, 0), (ssize_t)size);
        ck_assert_mem_eq(out, in, size);
    }
    close(fd);
    real_close();
}

TEST(a_unix_socket_carries_datagrams, "C-13", "CH-12")
{
    struct socket_path made = path_make();
    unix_datagrams_ref actor;
    open_echo(2);
    strcpy(path_text, made.path);
    ck_assert_int_eq(tr_try_spawn(real_client, &actor, unix_datagrams, NULL), TR_OK);
    go_in((host_ref){actor.bits}, bind_unix, 0);
    int fd = dial_path(made.path, SOCK_DGRAM);
    for (int i = 0; i < 200; i++)
        ck_assert_int_eq(send(fd, "hello", 5, 0), 5); /* waits while the receiver has no space */
    await_times(&has_opened, 200);
    close(fd);
    real_close();
    path_remove(&made);
}

LISTEN(listen_inherited, echo, TR_TCP(path_text))

/* As a socket that the service manager has opened. */
TEST(a_listener_is_inherited, "C-02")
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    ck_assert_int_eq(bind(fd, (struct sockaddr *)&at, sizeof at), 0);
    ck_assert_int_eq(listen(fd, 16), 0);
    uint16_t port = address_of(fd, false).port;
    snprintf(path_text, sizeof path_text, "fd:%d", fd);
    open_echo(2);
    ck_assert_uint_eq(GO(listen_inherited), port);
    uint64_t dice = test_seed();
    int client = dial_port(port);
    ck_assert(echo_once(client, 10000, &dice));
    close(client);
    await_times(&has_closed, 1);
    real_close();
}

/* ---- Clients. ---- */

static uint64_t connect_by_name(tr_self *self, uint64_t port)
{
    char address[40];
    tr_bytes line;
    snprintf(address, sizeof address, "localhost:%d", (int)port);
    tr_channel channel = tr_connect(self, TR_TCP(address));
    ck_assert_uint_eq(tr_channel_peer(self, channel).port, port);
    for (int i = 0; i < 100; i++) {
        tr_print(self, channel, "hello %02d\n", i);
        ck_assert(tr_read_line(self, channel, &line));
        ck_assert_int_eq(memcmp(line.data, "8:hello ", 8), 0);
    }
    tr_close(self, channel);
    return 1;
}

static uint64_t connect_nowhere(tr_self *self, uint64_t port)
{
    char address[40];
    tr_channel none;
    snprintf(address, sizeof address, "127.0.0.1:%d", (int)port);
    return (uint64_t)-tr_try_connect(self, TR_TCP(address), &none);
}

TEST(a_turn_connects_to_a_name, "C-01", "C-05", "CH-10")
{
    open_echo(2);
    uint64_t port = GO(listen_lines);
    ck_assert_uint_eq(go_with(connect_by_name, port), 1);
    /* A port at which nobody listens: bound, and not listening. */
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    ck_assert_int_eq(bind(fd, (struct sockaddr *)&at, sizeof at), 0);
    uint64_t closed_port = address_of(fd, false).port;
    ck_assert_uint_eq(go_with(connect_nowhere, closed_port), -TR_CONNECT_REFUSED);
    close(fd);
    real_close();
}

static uint64_t connect_to_all(tr_self *self, uint64_t argument)
{
    (void)argument;
    tr_channel none;
    return (uint64_t)-tr_try_connect(self, TR_TCP("255.255.255.255:9"), &none);
}

/* The kernel knows that no connection leads to a broadcast address. */
TEST(what_cannot_be_reached_is_another_status_than_what_refuses, "C-05", "CH-10")
{
    open_echo(1);
    ck_assert_uint_eq(GO(connect_to_all), -TR_UNREACHABLE);
    real_close();
}

SUITE("channels on real sockets", megabytes_come_back_over_many_connections,
      segments_of_one_byte_make_whole_lines, a_half_close_is_answered_in_full,
      resets_are_noticed_once_each, thousands_of_idle_connections_end_with_the_system,
      a_shutdown_waits_until_all_is_sent, a_shutdown_sends_no_longer_than_it_may,
      connections_wait_while_there_are_no_descriptors,
      bytes_stay_while_another_thread_runs_the_worker,
      the_kernel_spreads_over_listeners_of_one_port, a_unix_socket_carries_streams,
      datagrams_come_back, a_unix_socket_carries_datagrams, a_listener_is_inherited,
      a_turn_connects_to_a_name, what_cannot_be_reached_is_another_status_than_what_refuses)
