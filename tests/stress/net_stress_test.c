/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Channels on real sockets and threads, all at once: sessions that move between workers, fail, are killed, hand
 * their channels over and get them from others, while clients send, end and reset at random. What a client sends
 * comes back in order, or the connection ends; and no message and no connection is lost.
 */
#include "support/real_net.h"

enum { CLIENTS = 4, TAKERS = 6, LINE_MAX_BYTES = 3000 };

TR_MESSAGE(reap, (ref, who));
TR_ACTOR(reaper, reap);
TR_ACTOR(taker, go);

static reaper_ref reaper;
static taker_ref takers[TAKERS];
static tr_listener_ref listener;
static atomic_uint_fast64_t lines_echoed;
static atomic_uint_fast64_t hand_overs;

static void quiet(void *context, tr_level level, const char *path, const char *text)
{
    (void)context;
    (void)level;
    (void)path;
    (void)text;
}

/* ---- The server. ---- */

static tr_next on_reap(tr_self *self, const struct reap *message)
{
    tr_kill(self, message->who);
    return TR_SAME;
}

TR_BEHAVIOR(reaper, void, TR_ON(reap, on_reap));

/* The first letter of a line says what happens, beside the echo. */
static tr_next serve(tr_self *self, const struct tr_received *line)
{
    const char *text = line->bytes.data;
    bool is_session = tr_peer(self).bits == line->channel.bits;
    atomic_fetch_add(&lines_echoed, 1);
    tr_status status = tr_print(self, line->channel, "%s\n", text);
    if (text[0] == 'h' && status == TR_OK) {
        status = tr_hand_over(self, line->channel, takers[(unsigned char)text[1] % TAKERS]);
        if (status == TR_OK) {
            atomic_fetch_add(&hand_overs, 1);
            return is_session ? TR_STOP : TR_SAME;
        }
    } else if (text[0] == 'f') {
        return tr_fail(self, TR_FAILED, "as asked");
    } else if (text[0] == 'k') {
        if (!is_session) /* a taker, which would not be restarted */
            return tr_fail(self, TR_FAILED, "as asked");
        tr_tell(self, reaper, reap, .who = tr_me(self));
    } else if (text[0] == 's') {
        tr_sleep(self, 50 * TR_MICROSECOND);
    } else if (text[0] == 'c') {
        tr_close(self, line->channel);
    }
    return TR_SAME;
}

static tr_next on_closed_session(void)
{
    return TR_STOP;
}

static tr_next on_closed_taker(void)
{
    return TR_SAME;
}

TR_BEHAVIOR(session, void, TR_ON(tr_received, serve), TR_ON(tr_closed, on_closed_session));

/* Takers fail too, with all channels that they have, and are restarted. */
TR_BEHAVIOR(taker, void, TR_ON(go, on_go), TR_ON(tr_received, serve),
            TR_ON(tr_closed, on_closed_taker));

static uint64_t begin(tr_self *self, uint64_t argument)
{
    (void)argument;
    reaper = tr_spawn(self, reaper, NULL);
    for (int i = 0; i < TAKERS; i++)
        takers[i] = tr_spawn_at(self, i % 3, taker, NULL);
    listener = tr_listen(self, session, TR_TCP("127.0.0.1:0", .framing = TR_LINES));
    return tr_listener_address(self, listener).port;
}

static uint64_t count_sessions(tr_self *self, uint64_t argument)
{
    (void)argument;
    return tr_listener_count(self, listener);
}

/* ---- The clients. ---- */

struct job {
    pthread_t thread;
    uint64_t port;
    uint64_t dice;
    uint64_t rounds;
    uint64_t whole; /* lines that came back */
    bool is_wrong;  /* something else came back, or nothing for very long */
};

static atomic_bool is_over;

/* Sends all. False: the connection has ended. */
static bool try_send(int fd, const char *data, size_t size)
{
    for (size_t at = 0; at < size;) {
        ssize_t count = send(fd, data + at, size - at, MSG_NOSIGNAL);
        if (count <= 0)
            return false;
        at += (size_t)count;
    }
    return true;
}

/* Receives what was sent. False: the connection has ended, or something is wrong. */
static bool try_receive(struct job *job, int fd, const char *expected, size_t size)
{
    static _Thread_local char got[4 * LINE_MAX_BYTES];
    for (size_t at = 0; at < size;) {
        ssize_t count = recv(fd, got, size - at, 0);
        if (count <= 0) {
            job->is_wrong |= count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
            return false;
        }
        if (memcmp(got, expected + at, (size_t)count) != 0) {
            job->is_wrong = true;
            return false;
        }
        at += (size_t)count;
    }
    return true;
}

/* Makes a few lines, of which the first letters say what the server does. */
static size_t make_lines(struct job *job, char *lines, size_t *count)
{
    static const char kinds[] = "eeeeeeeeeeeeeehhhhsssfkc";
    size_t size = 0;
    *count = 1 + dice_roll(&job->dice) % 3;
    for (size_t i = 0; i < *count; i++) {
        uint64_t dice = dice_roll(&job->dice);
        size_t length = 2 + (dice >> 16) % (dice % 8 ? 40 : LINE_MAX_BYTES - 10);
        lines[size++] = kinds[(dice >> 8) % (sizeof kinds - 1)];
        while (--length)
            lines[size++] = (char)('a' + (dice = dice * 5 + 1) % 26);
        lines[size++] = '\n';
    }
    return size;
}

static void talk(struct job *job, int fd)
{
    char lines[4 * LINE_MAX_BYTES];
    uint64_t rounds = 1 + dice_roll(&job->dice) % 12;
    while (rounds--) {
        size_t count;
        size_t size = make_lines(job, lines, &count);
        uint64_t dice = dice_roll(&job->dice);
        if (!try_send(fd, lines, size))
            break;
        if (dice % 16 == 0) {
            reset_socket(fd);
            return;
        }
        if (dice % 16 == 1) {
            shutdown(fd, SHUT_WR);
            rounds = 0;
        }
        if (!try_receive(job, fd, lines, size))
            break;
        job->whole += count;
    }
    close(fd);
}

static void *client_main(void *argument)
{
    struct job *job = argument;
    struct timeval limit = {.tv_sec = 60};
    for (uint64_t i = 0; i < job->rounds && !atomic_load(&is_over); i++) {
        struct sockaddr_in to = {.sin_family = AF_INET,
                                 .sin_port = htons((uint16_t)job->port),
                                 .sin_addr = {htonl(INADDR_LOOPBACK)}};
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
        if (connect(fd, (struct sockaddr *)&to, sizeof to) == 0)
            talk(job, fd);
        else
            close(fd);
    }
    return NULL;
}

static void play(uint64_t seed, uint64_t rounds, bool stops)
{
    struct job jobs[CLIENTS];
    const tr_system_options options = {.size = sizeof options,
                                       .workers = 3,
                                       .seed = seed,
                                       .round_min_ns = 5 * TR_MICROSECOND, /* moves come with it */
                                       .on_log = quiet,
                                       .balance = TR_BALANCE_RESTLESS};
    atomic_store(&is_over, false);
    real_open_with(&options);
    uint64_t port = GO(begin);
    for (int i = 0; i < CLIENTS; i++) {
        jobs[i] = (struct job){.port = port, .dice = seed + (uint64_t)i, .rounds = rounds};
        ck_assert_int_eq(pthread_create(&jobs[i].thread, NULL, client_main, &jobs[i]), 0);
    }
    if (stops) {
        uint64_t goal = atomic_load(&lines_echoed) + seed % 200;
        while (atomic_load(&lines_echoed) < goal)
            (void)GO(count_sessions);
        atomic_store(&is_over, true);
        tr_system_shutdown(real_system, 30 * TR_SECOND);
    }
    uint64_t whole = 0;
    for (int i = 0; i < CLIENTS; i++) {
        pthread_join(jobs[i].thread, NULL);
        ck_assert_msg(!jobs[i].is_wrong, "client %d, seed %#llx", i, (unsigned long long)seed);
        whole += jobs[i].whole;
    }
    if (!stops) {
        while (GO(count_sessions)) /* all connections have ended */
            ;
        ck_assert_uint_gt(whole, rounds);
        tr_counters counters;
        tr_system_counters(real_system, &counters);
        ck_assert_uint_gt(counters.moves, 0);
    }
    real_close();
}

TEST(sessions_and_clients_do_what_they_like, "C-02", "C-05", "C-09", "C-10", "C-12", "CH-03",
     "CH-14", "CH-25")
{
    uint64_t seed = test_seed();
    play(seed, test_scale(TEST_HAS_SANITIZER ? 60 : 400, 20000), false);
    ck_assert_uint_gt(atomic_load(&hand_overs), 0);
}

TEST(a_system_stops_amid_its_connections, "C-09", "X-01", "CH-22")
{
    uint64_t seed = test_seed();
    for (uint64_t i = 0; i < test_scale(TEST_HAS_SANITIZER ? 4 : 10, 200); i++)
        play(seed + i, UINT64_MAX, true);
}

SUITE("channels under stress", sessions_and_clients_do_what_they_like,
      a_system_stops_amid_its_connections)
