/* SPDX-License-Identifier: Apache-2.0 */
/** Accepted workers on real sockets: desks on several workers take connections that many threads make at once. */
#include "support/real_net.h"

enum { WORKERS = 4, THREADS = 6, CONNECTIONS = TEST_HAS_SANITIZER ? 16 : 60 };

static atomic_int taken;              /* tr_accept gave TR_OK */
static atomic_int missed;             /* it gave TR_CLOSED */
static atomic_int ended;              /* tr_closed has come */
static atomic_int of_worker[WORKERS]; /* taken there */
static atomic_int of_desk[WORKERS];   /* taken by this member */
static tr_time delay_ns;              /* a desk waits up to so long before it answers */
static sem_t is_half;                 /* half of the connections were made */

TR_ACTOR(desk, tr_connection, tr_received, tr_closed);
struct desk {
    int visitors;
};

static tr_next on_connection(tr_self *self, struct desk *desk, const struct tr_connection *request)
{
    tr_channel channel;
    if (delay_ns)
        tr_sleep(self, (tr_time)(tr_random(self) % (uint64_t)delay_ns));
    tr_status status = tr_accept(self, request, &channel);
    if (status == TR_OK) {
        desk->visitors++;
        atomic_fetch_add(&taken, 1);
        atomic_fetch_add(&of_worker[tr_worker(self)], 1);
        atomic_fetch_add(&of_desk[strtol(tr_name(self), NULL, 10) - 1], 1);
        ck_assert_uint_eq(tr_channel_peer(self, channel).port, request->peer.port);
    } else {
        ck_assert_int_eq(status, TR_CLOSED);
        atomic_fetch_add(&missed, 1);
    }
    ck_assert_int_eq(tr_accept(self, request, &channel), TR_CLOSED); /* it can be taken once */
    return TR_SAME;
}

static tr_next on_line(tr_self *self, struct desk *desk, const struct tr_received *line)
{
    ck_assert_int_gt(desk->visitors, 0);
    if (strcmp(line->bytes.data, "fail") == 0)
        return tr_fail(self, TR_FAILED, "a desk that fails");
    tr_print(self, line->channel, "%s\n", (const char *)line->bytes.data);
    return TR_SAME;
}

static tr_next on_closed(struct desk *desk)
{
    desk->visitors--;
    atomic_fetch_add(&ended, 1);
    return TR_SAME;
}

TR_BEHAVIOR(desk, struct desk, TR_ON(tr_connection, on_connection), TR_ON(tr_received, on_line),
            TR_ON(tr_closed, on_closed));

static desk_ref desks;
static tr_listener_ref listener;
static tr_time connect_ns;
static uint32_t connections_max;

static uint64_t listen_desks(tr_self *self, uint64_t members)
{
    desks = tr_spawn_group(self, desk, "desks", (int)members);
    listener = tr_listen(self,
                         desk,
                         TR_TCP("127.0.0.1:0",
                                .framing = TR_LINES,
                                .connect_ns = connect_ns,
                                .connections_max = connections_max,
                                .accepted_by = tr_any(desks)));
    return tr_listener_address(self, listener).port;
}

static uint64_t stop_listener(tr_self *self, uint64_t argument)
{
    (void)argument;
    tr_stop(self, listener);
    return 0;
}

static uint64_t kill_listener(tr_self *self, uint64_t argument)
{
    (void)argument;
    tr_kill(self, listener);
    return 0;
}

static uint64_t count_connections(tr_self *self, uint64_t argument)
{
    (void)argument;
    return tr_listener_count(self, listener);
}

static void open_desks(tr_balance balance)
{
    ck_assert_int_eq(sem_init(&is_half, 0, 0), 0);
    atomic_store(&taken, 0);
    atomic_store(&missed, 0);
    atomic_store(&ended, 0);
    for (int i = 0; i < WORKERS; i++) {
        atomic_store(&of_worker[i], 0);
        atomic_store(&of_desk[i], 0);
    }
    delay_ns = 0;
    connect_ns = 0;
    connections_max = 0;
    tr_system_options options = {.size = sizeof options, .workers = WORKERS, .balance = balance};
    real_open_with(&options);
}

/* A channel is counted until its actor has handled tr_closed. */
static void await_none(void)
{
    while (GO(count_connections) != 0)
        ;
}

/* ---- Clients. ---- */

struct job {
    pthread_t thread;
    uint64_t port;
    bool goes_on; /* until a connection is refused */
    int served;   /* connections that got all their lines back */
    int closed;   /* that ended before */
    int refused;  /* that could not be made */
    bool is_wrong;
};

/* Sends lines one after the other, and reads each. Returns whether all came back. */
static bool talk(struct job *job, int fd, int lines)
{
    for (int i = 0; i < lines; i++) {
        char text[24], got[24];
        size_t size = (size_t)snprintf(text, sizeof text, "line %d\n", i);
        if (send(fd, text, size, MSG_NOSIGNAL) != (ssize_t)size)
            return false;
        ssize_t count = recv(fd, got, size, MSG_WAITALL);
        if (count != (ssize_t)size)
            return false;
        job->is_wrong |= memcmp(text, got, size) != 0;
    }
    return true;
}

static void *job_main(void *argument)
{
    struct job *job = argument;
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)job->port),
                             .sin_addr = {htonl(INADDR_LOOPBACK)}};
    for (int i = 0; job->goes_on ? !job->refused : i < CONNECTIONS; i++) {
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (connect(fd, (struct sockaddr *)&to, sizeof to) != 0)
            job->refused++;
        else if (talk(job, fd, 5))
            job->served++;
        else
            job->closed++;
        if (i == CONNECTIONS / 2)
            sem_post(&is_half);
        close(fd);
    }
    return NULL;
}

static void begin_jobs(struct job *jobs, uint64_t port, bool goes_on)
{
    for (int i = 0; i < THREADS; i++) {
        jobs[i] = (struct job){.port = port, .goes_on = goes_on};
        ck_assert_int_eq(pthread_create(&jobs[i].thread, NULL, job_main, &jobs[i]), 0);
    }
}

/* Returns the sums of all. */
static struct job end_jobs(struct job *jobs)
{
    struct job all = {.port = 0};
    for (int i = 0; i < THREADS; i++) {
        pthread_join(jobs[i].thread, NULL);
        ck_assert(!jobs[i].is_wrong);
        all.served += jobs[i].served;
        all.closed += jobs[i].closed;
        all.refused += jobs[i].refused;
    }
    return all;
}

/* ---- Cases. ---- */

static void play_all(tr_balance balance, uint32_t max)
{
    struct job jobs[THREADS];
    open_desks(balance);
    connections_max = max;
    begin_jobs(jobs, go_with(listen_desks, (uint64_t)TR_ONE_PER_WORKER), false);
    struct job all = end_jobs(jobs);
    await_none();
    while (atomic_load(&ended) <
           atomic_load(&taken)) /* a desk hears of it later than the listener */
        sched_yield();
    ck_assert_int_eq(all.served, THREADS * CONNECTIONS);
    ck_assert_int_eq(atomic_load(&taken), THREADS * CONNECTIONS);
    ck_assert_int_eq(atomic_load(&missed), 0);
    ck_assert_int_eq(atomic_load(&ended), THREADS * CONNECTIONS);
    for (int i = 0; i < WORKERS; i++) { /* in turn, whatever they do */
        ck_assert_int_eq(atomic_load(&of_desk[i]), THREADS * CONNECTIONS / WORKERS);
        if (balance == TR_BALANCE_OFF)
            ck_assert_int_eq(atomic_load(&of_worker[i]), THREADS * CONNECTIONS / WORKERS);
    }
    real_close();
}

_Static_assert(THREADS *CONNECTIONS % WORKERS == 0, "each desk gets as many");

TEST(desks_of_all_workers_take_connections_in_turn, "C-02", "C-01")
{
    play_all(TR_BALANCE_OFF, 0);
    play_all(TR_BALANCE_ON, 0);
    play_all(TR_BALANCE_RESTLESS, 0); /* desks move with their connections */
}

/* Fewer than the clients want at once: with each end one more is accepted that has waited in the kernel. */
TEST(desks_take_as_many_at_once_as_the_listener_may_have, "C-02", "C-11")
{
    play_all(TR_BALANCE_OFF, 2);
    play_all(TR_BALANCE_RESTLESS, 2);
}

/* The time is up at the moment at which a desk takes it: one of both has the connection. */
TEST(a_connection_is_taken_or_closed_when_time_is_up, "C-02", "C-05")
{
    struct job jobs[THREADS];
    open_desks(TR_BALANCE_OFF);
    connect_ns = TR_MILLISECOND;
    delay_ns = 2 * TR_MILLISECOND;
    begin_jobs(jobs, go_with(listen_desks, (uint64_t)TR_ONE_PER_WORKER), false);
    struct job all = end_jobs(jobs);
    await_none();
    ck_assert_int_eq(all.refused, 0);
    ck_assert_int_eq(all.served, atomic_load(&taken));
    ck_assert_int_eq(all.closed + all.served, THREADS * CONNECTIONS);
    real_close();
}

static void play_end(go_function *end)
{
    struct job jobs[THREADS];
    char got[8];
    open_desks(TR_BALANCE_OFF);
    uint64_t port = go_with(listen_desks, 3);
    int kept = dial_port(port);
    send_all(kept, "before\n", 7);
    ck_assert_uint_eq(receive_all(kept, got, 7), 7);
    begin_jobs(jobs, port, true);
    while (sem_wait(&is_half) != 0)
        ck_assert_int_eq(errno, EINTR);
    GO(end);
    struct job all = end_jobs(jobs);
    ck_assert_int_eq(all.served + 1, atomic_load(&taken)); /* what was taken is served to its end */
    ck_assert_int_gt(all.served, 0);
    ck_assert_int_eq(all.refused, THREADS);
    send_all(kept, "behind\n", 7); /* its desk still has it */
    ck_assert_uint_eq(receive_all(kept, got, 7), 7);
    ck_assert_mem_eq(got, "behind\n", 7);
    close(kept);
    real_close();
}

TEST(a_listener_ends_while_desks_take_connections, "C-02", "C-09")
{
    play_end(stop_listener);
    play_end(kill_listener);
}

/* Its connections are reset, those of the others are not; it takes new ones when it is back. */
TEST(a_desk_fails_among_others, "C-02")
{
    enum { COUNT = 4 * WORKERS };
    int fds[COUNT];
    int resets = 0;
    char got[2];
    open_desks(TR_BALANCE_OFF);
    uint64_t port = go_with(listen_desks, (uint64_t)TR_ONE_PER_WORKER);
    for (int i = 0; i < COUNT; i++) {
        fds[i] = dial_port(port);
        send_all(fds[i], "a\n", 2);
        ck_assert_uint_eq(receive_all(fds[i], got, 2), 2);
    }
    send_all(fds[0], "fail\n", 5);
    ck_assert_int_lt(recv(fds[0], got, 1, 0), 0);
    for (int i = 0; i < COUNT; i++) {
        if (send(fds[i], "b\n", 2, MSG_NOSIGNAL) != 2 || recv(fds[i], got, 2, MSG_WAITALL) != 2)
            resets++;
        close(fds[i]);
    }
    ck_assert_int_eq(resets, COUNT / WORKERS);
    await_none();
    real_close();
}

SUITE("accepted workers on real sockets", desks_of_all_workers_take_connections_in_turn,
      desks_take_as_many_at_once_as_the_listener_may_have,
      a_connection_is_taken_or_closed_when_time_is_up, a_listener_ends_while_desks_take_connections,
      a_desk_fails_among_others)
