/* SPDX-License-Identifier: Apache-2.0 */
/** HTTP on real sockets, with several workers and threads: pipelines, uploads, files, and a shutdown under load. */
#include "support/real_net.h"

#include <troupe/http.h>

#include <malloc.h>

TR_MESSAGE(number, (u64, value));
TR_REQUEST(next_number, number, (u64, value));
TR_ACTOR(counter, next_number);

static tr_next on_next(tr_self *self, const struct next_number *message)
{
    return tr_reply(self, number, .value = message->value + 1);
}
TR_BEHAVIOR(counter, void, TR_ON(next_number, on_next));

TR_MESSAGE(open_api, (ref_of(counter), counter));
struct api {
    counter_ref counter;
};

static tr_next set_up(struct api *api, const struct open_api *message)
{
    api->counter = message->counter;
    return TR_SAME;
}

static tr_next on_pass(tr_self *self, struct api *api)
{
    return tr_forward(self, api->counter);
}

static tr_next on_count(tr_self *self)
{
    tr_bytes piece;
    size_t size = 0;
    while (tr_http_read(self, &piece))
        size += piece.size;
    return tr_http_reply(self, 200, .text = tr_format(self, "%zu", size));
}

static tr_next on_keep(tr_self *self)
{
    tr_bytes body = tr_http_body(self, TR_HTTP_BODY_MAX);
    return tr_http_reply(self, 200, .body = body);
}

static tr_next on_message(tr_self *self, const struct tr_ws_message *message)
{
    (void)tr_ws_send(self, message->channel, message->bytes, message->is_text);
    return TR_SAME;
}

TR_BEHAVIOR(api, struct api, TR_SETUP_WITH(open_api, set_up),
            TR_WEBSOCKET("/ws", tr_ws_message, on_message),
            TR_GET("/next/{value}", next_number, on_pass), TR_PUT("/next", next_number, on_pass),
            TR_PUT("/count", tr_http_request, on_count), TR_PUT("/keep", tr_http_request, on_keep),
            TR_FILES("/etc/{path...}", "/etc"));

static tr_listener_ref listener;

static uint64_t listen_api(tr_self *self, uint64_t argument)
{
    (void)argument;
    counter_ref counter = tr_spawn_at(self, 1, counter, "counter");
    listener = tr_listen(self, api, TR_HTTP("127.0.0.1:0"), open_api, .counter = counter);
    return tr_listener_address(self, listener).port;
}

static uint64_t stop_listener(tr_self *self, uint64_t argument)
{
    (void)argument;
    tr_stop(self, listener);
    return 0;
}

struct job {
    pthread_t thread;
    int fd;
    int rounds;
    bool may_end; /* the server stops meanwhile */
    int answers;
    bool is_right;
};

/* Receives until a text with this end has come; false: the connection has ended. */
static bool receive_until(int fd, const char *end, char *text, size_t size)
{
    size_t at = 0;
    for (;;) {
        ssize_t got = recv(fd, text + at, size - at - 1, 0);
        if (got <= 0)
            return false;
        at += (size_t)got;
        text[at] = '\0';
        if (strstr(text, end))
            return true;
    }
}

/* Sends four requests at once and looks at the order of their answers, again and again. */
static void *play_pipeline(void *argument)
{
    struct job *job = argument;
    static const char head[] = "HTTP/1.1\r\nHost: a\r\n\r\n";
    char text[4096], end[64];
    int fd = job->fd;
    job->is_right = true;
    for (int i = 0; i < job->rounds && job->is_right; i++) {
        int size = snprintf(text,
                            sizeof text,
                            "GET /next/%d %sGET /next/x %sGET /next/%d %sGET /next/%d %s",
                            i,
                            head,
                            head,
                            i + 1,
                            head,
                            i + 2,
                            head);
        bool is_sent = send(fd, text, (size_t)size, MSG_NOSIGNAL) == size;
        snprintf(end, sizeof end, "{\"value\":%d}", i + 3);
        if (!is_sent || !receive_until(fd, end, text, sizeof text)) {
            job->is_right = job->may_end;
            break;
        }
        job->answers += 4;
        char first[64];
        snprintf(first, sizeof first, "{\"value\":%d}", i + 1);
        const char *a = strstr(text, first);
        const char *b = strstr(text, " 400 Bad Request");
        job->is_right = a && b && a < b;
    }
    close(fd);
    return NULL;
}

/* Sends three messages at once over a WebSocket, again and again. The masks are zeros, so texts are sent as they are. */
static void *play_websocket(void *argument)
{
    struct job *job = argument;
    static const char shake[] =
        "GET /ws HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
    char sent[] = "\x81\x84mmmm1234\x81\x84mmmm1234\x81\x84mmmm1234";
    char text[1024], expected[] = "\x81\x04"
                                  "1234\x81\x04"
                                  "1234\x81\x04"
                                  "1234";
    int fd = job->fd;
    send_all(fd, shake, sizeof shake - 1);
    job->is_right = receive_until(fd, "\r\n\r\n", text, sizeof text);
    for (int i = 0; i < job->rounds && job->is_right; i++) {
        for (int k = 0; k < 3; k++) {
            memset(sent + 10 * k + 2, 0, 4);
            snprintf(text, sizeof text, "%04d", (3 * i + k) % 10000);
            memcpy(sent + 10 * k + 6, text, 4);
            memcpy(expected + 6 * k + 2, text, 4);
        }
        send_all(fd, sent, sizeof sent - 1);
        job->is_right =
            receive_until(fd, expected + 12, text, sizeof text) && strcmp(text, expected) == 0;
    }
    send_all(fd, "\x88\x82\0\0\0\0\x03\xe8", 8);
    job->is_right = job->is_right && recv(fd, text, sizeof text, 0) == 4 &&
                    memcmp(text, "\x88\x02\x03\xe8", 4) == 0 && recv(fd, text, sizeof text, 0) == 0;
    close(fd);
    return NULL;
}

static void play_with(void *(*body)(void *), struct job *jobs, int count, uint64_t port, int rounds,
                      bool may_end)
{
    for (int i = 0; i < count; i++) {
        jobs[i] = (struct job){.fd = dial_port(port), .rounds = rounds, .may_end = may_end};
        ck_assert_int_eq(pthread_create(&jobs[i].thread, NULL, body, &jobs[i]), 0);
    }
}

static void play(struct job *jobs, int count, uint64_t port, int rounds, bool may_end)
{
    play_with(play_pipeline, jobs, count, port, rounds, may_end);
}

static void join(struct job *jobs, int count)
{
    for (int i = 0; i < count; i++) {
        ck_assert_int_eq(pthread_join(jobs[i].thread, NULL), 0);
        ck_assert(jobs[i].is_right);
    }
}

TEST(clients_on_several_threads_get_their_answers_in_order, "W-01", "W-03")
{
    enum { JOBS = 8 };
    struct job jobs[JOBS];
    real_open(2);
    uint64_t port = GO(listen_api);
    play(jobs, JOBS, port, (int)test_scale(200, 2000), false);
    join(jobs, JOBS);
    real_close();
}

TEST(websockets_on_several_threads_get_their_messages_back, "W-08")
{
    enum { JOBS = 8 };
    struct job jobs[JOBS];
    real_open(2);
    uint64_t port = GO(listen_api);
    play_with(play_websocket, jobs, JOBS, port, (int)test_scale(200, 2000), false);
    join(jobs, JOBS);
    real_close();
}

TEST(a_listener_that_stops_under_load_loses_no_answer, "W-07")
{
    enum { JOBS = 8 };
    struct job jobs[JOBS];
    real_open(2);
    uint64_t port = GO(listen_api);
    play(jobs, JOBS, port, 1000000, true);
    GO(stop_listener);
    join(jobs, JOBS);
    real_close();
}

TEST(an_upload_and_a_file_pass_in_pieces, "W-05", "W-10")
{
    enum { SIZE = 5000000 };
    char text[4096];
    real_open(2);
    uint64_t port = GO(listen_api);
    int fd = dial_port(port);
    char *body = calloc(1, SIZE);
    ck_assert_ptr_nonnull(body);
    int size = snprintf(
        text, sizeof text, "PUT /count HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n", SIZE);
    send_all(fd, text, (size_t)size);
    send_all(fd, body, SIZE);
    free(body);
    ck_assert(receive_until(fd, "\r\n\r\n5000000", text, sizeof text));
    size = snprintf(
        text, sizeof text, "GET /etc/hostname HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    send_all(fd, text, (size_t)size);
    ck_assert(receive_until(fd, "\r\n\r\n", text, sizeof text));
    ck_assert_ptr_nonnull(strstr(text, "HTTP/1.1 "));
    close(fd);
    real_close();
}

/* A client that continues to send a body which is too large gets the whole answer, and then an end that is no reset. */
static _Atomic size_t bytes_taken;

static void *resize_counted(void *context, void *memory, size_t size)
{
    (void)context;
    if (memory)
        bytes_taken -= malloc_usable_size(memory);
    if (size == 0) {
        free(memory);
        return NULL;
    }
    memory = realloc(memory, size);
    bytes_taken += malloc_usable_size(memory);
    return memory;
}

TEST(a_body_that_was_only_announced_takes_no_memory, "W-04", "W-05")
{
    enum { SIZE = 1000000, ROOM = SIZE + 1000 };
    const tr_system_options options = {
        .size = sizeof options, .workers = 2, .resize = resize_counted};
    real_open_with(&options);
    int fd = dial_port(GO(listen_api));
    char *body = malloc(SIZE);
    char *text = malloc(ROOM);
    for (size_t i = 0; i < SIZE; i++)
        body[i] = (char)('a' + i * 7 % 23 + i / 1000 % 3);
    size_t before = bytes_taken;
    static const char head[] = "PUT /keep HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n"
                               "Expect: 100-continue\r\nConnection: close\r\n\r\n";
    send_all(fd, head, sizeof head - 1);
    ck_assert(receive_until(fd, "100 Continue\r\n\r\n", text, ROOM));
    /* The first session of a program also takes what it keeps for later ones, a stack among it. */
    ck_assert_uint_lt(bytes_taken - before, SIZE / 2);
    send_all(fd, body, SIZE);
    size_t got = receive_all(fd, text, ROOM);
    ck_assert_uint_gt(got, SIZE);
    ck_assert_mem_eq(text + got - SIZE, body, SIZE);
    close(fd);
    free(text);
    free(body);
    real_close();
}

TEST(a_client_that_still_sends_sees_413_over_real_sockets, "W-04", "CH-20")
{
    /* Less than a channel that lingers reads: more would be a reset. */
    enum { BODY = 64 << 20, CHUNK = 64 << 10, SENT_MAX = 8 * CHUNK };
    static char chunk[CHUNK];
    char text[1024] = "";
    size_t at = 0, sent = 0;
    ssize_t got = -1;
    real_open(2);
    int fd = dial_port(GO(listen_api));
    int size = snprintf(
        text, sizeof text, "PUT /next HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n", BODY);
    send_all(fd, text, (size_t)size);
    while (got < 0 && sent < SENT_MAX) {
        ssize_t count = send(fd, chunk, sizeof chunk, MSG_NOSIGNAL | MSG_DONTWAIT);
        ck_assert(count > 0 || errno == EAGAIN);
        sent += count > 0 ? (size_t)count : 0;
        got = recv(fd, text, sizeof text - 1, MSG_DONTWAIT);
        ck_assert(got >= 0 || errno == EAGAIN);
    }
    if (got < 0)
        got = recv(fd, text, sizeof text - 1, 0);
    shutdown(fd, SHUT_WR);
    for (; got > 0; got = recv(fd, text + at, sizeof text - 1 - at, 0))
        at += (size_t)got;
    ck_assert_int_eq(got, 0);
    text[at] = '\0';
    ck_assert_msg(strncmp(text, "HTTP/1.1 413 ", 13) == 0, "%s", text);
    ck_assert_ptr_nonnull(strstr(text, "the body is too large"));
    close(fd);
    real_close();
}

/* ---- A handler that blocks. ---- */

static sem_t has_begun, may_continue;

static void block(void)
{
    sem_post(&has_begun);
    while (sem_wait(&may_continue) != 0)
        ;
}

/* Replies after it has blocked, or before. */
static tr_next get_part(tr_self *self)
{
    const char *part = tr_http_part(self, "part");
    bool is_quick = strcmp(part, "quick") == 0;
    if (strcmp(part, "before") == 0)
        block();
    tr_next next = tr_http_reply(self, 200, .text = is_quick ? "quickly" : "blocked");
    if (strcmp(part, "after") == 0)
        block();
    return next;
}

TR_BEHAVIOR(blocker, void, TR_GET("/{part}", tr_http_request, get_part));

static uint64_t listen_blocker(tr_self *self, uint64_t argument)
{
    (void)argument;
    return tr_listener_address(self, tr_listen(self, blocker, TR_HTTP("127.0.0.1:0"))).port;
}

/* Another thread runs the worker meanwhile, and still has work for it when the handler returns. */
TEST(a_handler_blocks_while_another_thread_answers, "O-05", "W-01")
{
    tr_system_options options = {
        .size = sizeof options, .workers = 1, .handoff_after_ns = 3 * TR_MILLISECOND};
    static const char quick[] = "GET /quick HTTP/1.1\r\nHost: a\r\n\r\n";
    static const char *const slow[] = {"GET /before HTTP/1.1\r\nHost: a\r\n\r\n",
                                       "GET /after HTTP/1.1\r\nHost: a\r\n\r\n"};
    char text[2000];
    ck_assert_int_eq(sem_init(&may_continue, 0, 0), 0);
    ck_assert_int_eq(sem_init(&has_begun, 0, 0), 0);
    real_open_with(&options);
    uint64_t port = GO(listen_blocker);
    int blocked = dial_port(port), other = dial_port(port);
    for (int round = 0; round < 10; round++) {
        send_all(blocked, slow[round % 2], strlen(slow[round % 2]));
        while (sem_wait(&has_begun) != 0)
            ;
        for (int i = 0; i < 100; i++) {
            if (i == 50)
                sem_post(&may_continue);
            send_all(other, quick, sizeof quick - 1);
            ck_assert(receive_until(other, "quickly", text, sizeof text));
        }
        ck_assert(receive_until(blocked, "blocked", text, sizeof text));
    }
    close(blocked);
    close(other);
    real_close();
}

SUITE("http on real sockets", clients_on_several_threads_get_their_answers_in_order,
      websockets_on_several_threads_get_their_messages_back,
      a_listener_that_stops_under_load_loses_no_answer, an_upload_and_a_file_pass_in_pieces,
      a_body_that_was_only_announced_takes_no_memory,
      a_client_that_still_sends_sees_413_over_real_sockets,
      a_handler_blocks_while_another_thread_answers)
