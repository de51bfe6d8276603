/* SPDX-License-Identifier: Apache-2.0 */
/** Cases of channels (CH-*) on real sockets that other tests of real sockets do not have: writers, owners, spread, order. */
#include "support/real_net.h"

static sem_t has_come;
static atomic_int ends[128]; /* by status, negated */

static void await_one(sem_t *what)
{
    while (sem_wait(what) != 0)
        ck_assert_int_eq(errno, EINTR);
}

static void open_cases(int workers)
{
    ck_assert_int_eq(sem_init(&has_come, 0, 0), 0);
    real_open(workers);
}

static tr_next on_closed(const struct tr_closed *message)
{
    atomic_fetch_add(&ends[-message->status], 1);
    sem_post(&has_come);
    return TR_STOP;
}

static tr_listener_ref listener;

#define LISTEN(name, behavior, endpoint)                                                           \
    static uint64_t name(tr_self *self, uint64_t argument)                                         \
    {                                                                                              \
        (void)argument;                                                                            \
        listener = tr_listen(self, behavior, endpoint);                                            \
        return tr_listener_address(self, listener).port;                                           \
    }

/* ---- Writers. ---- */

enum { CHUNK = 16 * 1024, POURED_MAX = 64 * 1024 * 1024 };

struct pour {
    uint32_t next; /* the number to write next */
    uint32_t end;
};

static atomic_int fulls;
static atomic_int drains;
static atomic_uint poured;

/* Writes numbers until the channel is full, or all are written. */
static tr_next pour(tr_self *self, struct pour *state, tr_channel channel)
{
    static _Thread_local uint32_t chunk[CHUNK / sizeof(uint32_t)];
    while (state->next < state->end) {
        for (uint32_t i = 0; i < CHUNK / sizeof *chunk; i++)
            chunk[i] = state->next + i;
        tr_status status = tr_try_write(self, channel, (tr_bytes){chunk, sizeof chunk});
        if (status == TR_LIMIT) {
            atomic_fetch_add(&fulls, 1);
            sem_post(&has_come);
            return TR_SAME;
        }
        ck_assert_int_eq(status, TR_OK);
        state->next += CHUNK / sizeof *chunk;
        atomic_store(&poured, state->next);
    }
    return TR_STOP;
}

static tr_next on_pour(tr_self *self, struct pour *state, const struct tr_received *message)
{
    ck_assert_uint_eq(message->bytes.size, sizeof state->end);
    memcpy(&state->end, message->bytes.data, sizeof state->end);
    return pour(self, state, message->channel);
}

static tr_next on_drained(tr_self *self, struct pour *state, const struct tr_drained *message)
{
    atomic_fetch_add(&drains, 1);
    return pour(self, state, message->channel);
}

TR_BEHAVIOR(pourer, struct pour, TR_ON(tr_received, on_pour), TR_ON(tr_drained, on_drained),
            TR_ON(tr_closed, on_closed));
LISTEN(listen_pourer, pourer, TR_TCP("127.0.0.1:0"))
LISTEN(listen_stalling, pourer, TR_TCP("127.0.0.1:0", .stall_ns = 50 * TR_MILLISECOND))

TEST(a_writer_that_is_full_is_told_once_and_all_comes_in_order, "C-04", "CH-05", "CH-06")
{
    const uint32_t end = 8 * 1024 * 1024; /* 32 MiB */
    static uint32_t numbers[CHUNK / sizeof(uint32_t)];
    open_cases(1);
    int fd = dial_port(GO(listen_pourer));
    send_all(fd, &end, sizeof end);
    await_one(&has_come); /* it is full: nobody reads */
    for (uint32_t next = 0; next < end; next += CHUNK / sizeof *numbers) {
        ck_assert_uint_eq(receive_all(fd, numbers, sizeof numbers), sizeof numbers);
        for (uint32_t i = 0; i < CHUNK / sizeof *numbers; i++)
            ck_assert_uint_eq(numbers[i], next + i);
    }
    ck_assert_uint_eq(receive_all(fd, numbers, 1), 0);
    close(fd);
    real_close();
    ck_assert_int_ge(atomic_load(&fulls), 1);
    ck_assert_int_eq(atomic_load(&drains), atomic_load(&fulls));
}

TEST(a_reader_that_never_reads_is_cut_off_and_takes_no_memory, "C-04", "CH-16")
{
    const uint32_t end = POURED_MAX / sizeof end;
    open_cases(1);
    int fd = dial_port(GO(listen_stalling));
    send_all(fd, &end, sizeof end);
    await_one(&has_come); /* full */
    await_one(&has_come); /* closed */
    ck_assert_int_eq(atomic_load(&ends[-TR_STALLED]), 1);
    ck_assert_uint_lt(atomic_load(&poured), end); /* what the kernel holds, and TR_OUTPUT_MAX */
    real_close();
    close(fd);
    ck_assert_int_eq(atomic_load(&ends[-TR_STALLED]), 1);
}

/* ---- Owners. ---- */

static tr_next on_word(tr_self *self, const struct tr_received *word)
{
    tr_print(self, word->channel, "keeper has %s\n", (const char *)word->bytes.data);
    return TR_SAME;
}

static tr_next on_taken(tr_self *self, const struct tr_opened *message)
{
    ck_assert(message->is_handed_over);
    tr_write_text(self, message->channel, "taken\n");
    return TR_SAME;
}

TR_ACTOR(taker, tr_opened);
TR_BEHAVIOR(taker, void, TR_ON(tr_opened, on_taken), TR_ON(tr_received, on_word),
            TR_ON(tr_closed, on_closed));

static _Atomic uint64_t taker_bits;

static tr_next on_order(tr_self *self, const struct tr_received *line)
{
    const char *order = line->bytes.data;
    tr_print(self, line->channel, "%s\n", order);
    if (!strcmp(order, "fail"))
        return tr_fail(self, TR_FAILED, "on purpose");
    if (!strcmp(order, "give")) {
        taker_ref taker = {atomic_load(&taker_bits)};
        ck_assert_int_eq(tr_hand_over(self, line->channel, taker), TR_OK);
    }
    return strcmp(order, "stop") ? TR_SAME : TR_STOP;
}

TR_BEHAVIOR(ordered, void, TR_ON(tr_received, on_order));
LISTEN(listen_ordered, ordered, TR_TCP("127.0.0.1:0", .framing = TR_LINES))

static uint64_t spawn_taker(tr_self *self, uint64_t argument)
{
    (void)argument;
    atomic_store(&taker_bits, tr_spawn_at(self, 1, taker, "taker").bits);
    return 0;
}

/* Gives an order, and returns what comes until the end; NULL: the end was a reset. */
static const char *ordered_by(uint64_t port, const char *order)
{
    static char answer[64];
    size_t size = 0;
    ssize_t got;
    int fd = dial_port(port);
    send_all(fd, order, strlen(order));
    while ((got = recv(fd, answer + size, sizeof answer - 1 - size, 0)) > 0)
        size += (size_t)got;
    answer[size] = '\0';
    close(fd);
    return got < 0 ? NULL : answer;
}

TEST(the_end_of_an_owner_is_that_of_its_channel, "C-09", "C-10", "CH-07")
{
    char answer[64] = "";
    open_cases(2);
    uint64_t port = GO(listen_ordered);
    GO(spawn_taker);
    ck_assert_str_eq(ordered_by(port, "stop\n"), "stop\n");
    ck_assert_ptr_null(ordered_by(port, "fail\n"));
    int fd = dial_port(port);
    send_all(fd, "give\nrest\n", 10); /* the rest was not read yet */
    static const char wanted[] = "give\ntaken\nkeeper has rest\n";
    ck_assert_uint_eq(receive_all(fd, answer, sizeof wanted - 1), sizeof wanted - 1);
    ck_assert_str_eq(answer, wanted);
    shutdown(fd, SHUT_WR);
    await_one(&has_come);
    ck_assert_int_eq(atomic_load(&ends[-TR_CLOSED]), 1);
    close(fd);
    real_close();
    ck_assert_int_eq(atomic_load(&ends[-TR_CLOSED]), 1);
}

/* ---- Spread. ---- */

enum { WORKERS = 3, SESSIONS = 31 };
static atomic_int sessions[WORKERS];

static tr_next on_placed(tr_self *self)
{
    atomic_fetch_add(&sessions[tr_worker(self)], 1);
    sem_post(&has_come);
    return TR_SAME;
}

TR_BEHAVIOR(placed, void, TR_ON(tr_opened, on_placed));
LISTEN(listen_placed, placed, TR_TCP("127.0.0.1:0"))

TEST(sessions_are_spread_within_one_of_each_other, "C-02", "CH-09", "CH-23")
{
    int fds[SESSIONS];
    open_cases(WORKERS);
    uint64_t port = GO(listen_placed);
    for (int i = 0; i < SESSIONS; i++) {
        fds[i] = dial_port(port);
        await_one(&has_come);
        int least = SESSIONS, most = 0;
        for (int worker = 0; worker < WORKERS; worker++) {
            int count = atomic_load(&sessions[worker]);
            least = count < least ? count : least;
            most = count > most ? count : most;
        }
        ck_assert_int_le(most - least, 1);
    }
    for (int i = 0; i < SESSIONS; i++)
        close(fds[i]);
    real_close();
}

/* ---- Order. ---- */

static char story[256]; /* of one session */

static void do_nothing(void *argument)
{
    (void)argument;
}

static tr_next on_slow(tr_self *self, const struct tr_received *line)
{
    char name = *(const char *)line->bytes.data;
    size_t size = strlen(story);
    snprintf(story + size, sizeof story - size, "<%c", name);
    for (int i = 0; i < 3; i++) {
        tr_blocking(self, do_nothing, NULL);
        ck_assert_int_eq(*(const char *)line->bytes.data, name);
    }
    size = strlen(story);
    snprintf(story + size, sizeof story - size, "%c>", name);
    return TR_SAME;
}

TR_BEHAVIOR(slow, void, TR_ON(tr_received, on_slow), TR_ON(tr_closed, on_closed));
LISTEN(listen_slow, slow, TR_TCP("127.0.0.1:0", .framing = TR_LINES))

TEST(pieces_are_handled_one_after_the_other, "C-03", "CH-18", "CH-19")
{
    open_cases(2);
    int fd = dial_port(GO(listen_slow));
    send_all(fd, "a\nb\nc\nd\n", 8);
    close(fd);
    await_one(&has_come);
    real_close();
    ck_assert_str_eq(story, "<aa><bb><cc><dd>");
}

/* ---- A timer and readiness at the same time. ---- */

#define IDLE_NS (3 * TR_MILLISECOND)

static tr_next on_back(tr_self *self, const struct tr_received *message)
{
    tr_write(self, message->channel, message->bytes);
    return TR_SAME;
}

TR_BEHAVIOR(brief, void, TR_ON(tr_received, on_back), TR_ON(tr_closed, on_closed));
LISTEN(listen_brief, brief, TR_TCP("127.0.0.1:0", .idle_ns = IDLE_NS))

static tr_time now(void)
{
    const tr_platform *real = tr_platform_real();
    return real->mono_now(real);
}

/* A byte comes when the connection has been idle for as long as it may. It is answered or not; either way one end comes. */
TEST(a_byte_and_the_end_of_its_time_come_together, "C-05", "CH-13")
{
    enum { ROUNDS = 100 };
    int answered = 0;
    open_cases(1);
    uint64_t port = GO(listen_brief);
    for (int i = 0; i < ROUNDS; i++) {
        char byte = 'x';
        int fd = dial_port(port);
        tr_time due = now() + IDLE_NS * 4 / 5 + IDLE_NS * i / ROUNDS; /* from 0.8 to 1.8 of it */
        while (now() < due)
            sched_yield();
        (void)!send(fd, &byte, 1, MSG_NOSIGNAL);
        byte = ' ';
        ssize_t got = recv(fd, &byte, 1, 0);
        answered += got == 1 && byte == 'x';
        while (got > 0)
            got = recv(fd, &byte, 1, 0);
        close(fd);
        await_one(&has_come);
    }
    real_close();
    int closed = 0;
    for (size_t status = 0; status < 128; status++)
        closed += atomic_load(&ends[status]);
    ck_assert_int_eq(closed, ROUNDS);
    ck_assert_int_ge(atomic_load(&ends[-TR_TIMEOUT]), answered);
}

/* ---- Events of a channel that has ended. ---- */

enum { TOKENS_MAX = 64 };
static uint64_t tokens[TOKENS_MAX]; /* of all watches, the newest last; written by the worker */
static atomic_int token_count;
static atomic_int receives;      /* how often the kernel was asked for bytes */
static _Atomic uint64_t planted; /* the token of the event that the next poll has; 0: none */
static sem_t is_planted;

static void token_note(uint64_t token)
{
    int count = atomic_load(&token_count);
    ck_assert_int_lt(count, TOKENS_MAX);
    tokens[count] = token;
    atomic_store(&token_count, count + 1);
}

static tr_status noted_watch(const tr_platform *platform, tr_parker *parker, int fd, uint64_t token)
{
    token_note(token);
    return tr_platform_real()->io_watch(platform, parker, fd, token);
}

static tr_status noted_watch_input(const tr_platform *platform, tr_parker *parker, int fd,
                                   uint64_t token)
{
    token_note(token);
    return tr_platform_real()->io_watch_input(platform, parker, fd, token);
}

static tr_status counted_receive(const tr_platform *platform, int fd, void *to, size_t size,
                                 size_t *received)
{
    atomic_fetch_add(&receives, 1);
    return tr_platform_real()->socket_receive(platform, fd, to, size, received);
}

static size_t planted_poll(const tr_platform *platform, tr_parker *parker, tr_io_event *events,
                           size_t max)
{
    uint64_t token = atomic_exchange(&planted, 0);
    if (!token)
        return tr_platform_real()->io_poll(platform, parker, events, max);
    events[0] = (tr_io_event){.token = token, .what = TR_IO_IN | TR_IO_OUT | TR_IO_END};
    sem_post(&is_planted);
    return 1 + tr_platform_real()->io_poll(platform, parker, events + 1, max - 1);
}

static uint64_t nothing(tr_self *self, uint64_t argument)
{
    (void)self;
    return argument;
}

/* Has a poll of the worker give this event. Returns how many receives the event has led to. */
static int plant(uint64_t token)
{
    int before = atomic_load(&receives);
    atomic_store(&planted, token);
    (void)GO(nothing); /* wakes the worker, which polls before it sleeps again */
    await_one(&is_planted);
    (void)GO(nothing); /* the event was handled before this turn */
    return atomic_load(&receives) - before;
}

LISTEN(listen_planted, brief, TR_TCP("127.0.0.1:0"))

static void echo_byte(int fd)
{
    char byte = 'x';
    send_all(fd, &byte, 1);
    ck_assert_int_eq(recv(fd, &byte, 1, 0), 1);
}

/*
 * The slot of a channel that has ended belongs to the next connection. An event with the old token, as the kernel may have
 * kept one, does not reach it: nobody looks at the socket. An event with its own token does.
 */
TEST(an_event_of_an_ended_channel_reaches_nobody, "C-12", "CH-14")
{
    tr_platform platform = *tr_platform_real();
    platform.io_watch = noted_watch;
    platform.io_watch_input = noted_watch_input;
    platform.io_poll = planted_poll;
    platform.socket_receive = counted_receive;
    tr_system_options options = {.size = sizeof options, .workers = 1, .platform = &platform};
    ck_assert_int_eq(sem_init(&has_come, 0, 0), 0);
    ck_assert_int_eq(sem_init(&is_planted, 0, 0), 0);
    real_open_with(&options);
    uint64_t port = GO(listen_planted);
    for (int i = 0; i < 10; i++) {
        int fd = dial_port(port);
        echo_byte(fd);
        close(fd);
        await_one(&has_come);
        (void)GO(nothing);
    }
    int fd = dial_port(port);
    echo_byte(fd);
    int newest = atomic_load(&token_count) - 1;
    int stale = newest - 1;
    while (stale >= 0 && (uint32_t)tokens[stale] != (uint32_t)tokens[newest])
        stale--;
    ck_assert_msg(stale >= 0, "no slot was taken again");
    ck_assert_uint_ne(tokens[stale], tokens[newest]);
    ck_assert_int_eq(plant(tokens[stale]), 0);
    ck_assert_int_eq(plant(tokens[newest]), 1);
    echo_byte(fd);
    close(fd);
    await_one(&has_come);
    real_close();
}

SUITE("cases of channels on real sockets", an_event_of_an_ended_channel_reaches_nobody,
      a_writer_that_is_full_is_told_once_and_all_comes_in_order,
      a_reader_that_never_reads_is_cut_off_and_takes_no_memory,
      the_end_of_an_owner_is_that_of_its_channel, sessions_are_spread_within_one_of_each_other,
      pieces_are_handled_one_after_the_other, a_byte_and_the_end_of_its_time_come_together)
