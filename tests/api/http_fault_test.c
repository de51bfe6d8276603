/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Trapped faults in handlers of routes, of WebSocket messages and of streams of HTTP/2: the request is answered 500 or its connection
 * reset, other connections continue, and nothing is leaked. On real sockets, with the system in the loop of the test.
 */
#include "support/faults.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <troupe/http_client.h>

enum { FILE_SIZE = 4 << 20 };

TR_MESSAGE(slipped, (u32, kind));
TR_REQUEST(slip, slipped, (u32, kind), (str, text));
TR_ACTOR(shop, slip);

static uint32_t fault_kind;
static int defers;

static void count_defer(void *unused)
{
    (void)unused;
    defers++;
}

/* Typed: its message has memory of its own. */
static tr_next on_slip(tr_self *self, const struct slip *message)
{
    (void)tr_buffer_of_turn(self, 5000);
    tr_defer(self, self, count_defer);
    slip_now(message->kind);
    return tr_reply(self, slipped, .kind = message->kind);
}

static tr_next get_fine(tr_self *self)
{
    return tr_http_reply(self, 200, .text = "fine");
}

static tr_next get_later(tr_self *self)
{
    (void)tr_sleep(self, TR_MILLISECOND);
    slip_now(fault_kind);
    return tr_http_reply(self, 200);
}

static tr_next put_half(tr_self *self)
{
    tr_bytes piece;
    (void)tr_http_read(self, &piece);
    slip_now(fault_kind);
    return tr_http_reply(self, 200);
}

static tr_next get_begun(tr_self *self)
{
    tr_http_begin(self, 200, .type = "text/plain");
    tr_http_write(self, TR_BYTES("a piece"));
    (void)tr_sleep(self, TR_MILLISECOND);
    slip_now(fault_kind);
    return tr_http_end(self);
}

static tr_next get_stay(tr_self *self)
{
    (void)tr_buffer_of_turn(self, 5000);
    tr_defer(self, self, count_defer);
    (void)tr_sleep(self, TR_MINUTE);
    return tr_http_reply(self, 200);
}

static tr_next get_words(tr_self *self)
{
    const struct slip *read;
    const struct tr_http_answer answer = {.url = "/",
                                          .body = TR_BYTES("{\"text\":\"a text of its own\"}")};
    ck_assert_int_eq(tr_http_try_json(self, &answer, slip, &read), TR_OK);
    ck_assert_str_eq(read->text, "a text of its own");
    slip_now(fault_kind);
    return tr_http_reply(self, 200);
}

static tr_next on_message(tr_self *self, const struct tr_ws_message *message)
{
    if (strcmp(message->bytes.data, "slip") == 0)
        slip_now(fault_kind);
    (void)tr_ws_send(self, message->channel, message->bytes, message->is_text);
    return TR_SAME;
}

/* The directory with the files that are served. */
static char directory[] = "/tmp/troupe-http-fault-XXXXXX";

TR_BEHAVIOR(
    shop, void, TR_GET("/slip/{kind}", slip, on_slip), TR_POST("/slip", slip, on_slip),
    TR_GET("/fine", tr_http_request, get_fine), TR_GET("/later", tr_http_request, get_later),
    TR_PUT("/half", tr_http_request, put_half), TR_GET("/begun", tr_http_request, get_begun),
    TR_GET("/stay", tr_http_request, get_stay), TR_GET("/words", tr_http_request, get_words),
    TR_WEBSOCKET("/ws", tr_ws_message, on_message), TR_FILES("/files/{path...}", directory));

TR_MESSAGE(open_shop, (u32, unused));
TR_ACTOR(landlord, open_shop);
static uint16_t port;

static tr_next on_open(tr_self *self)
{
    tr_listener_ref listener = tr_listen(self, shop, TR_HTTP("127.0.0.1:0"));
    port = tr_listener_address(self, listener).port;
    return TR_SAME;
}

TR_BEHAVIOR(landlord, void, TR_ON(open_shop, on_open));

/* ---- A system that counts its memory. ---- */

static size_t bytes_held;

static void *resize_counted(void *context, void *memory, size_t size)
{
    (void)context;
    if (memory)
        bytes_held -= malloc_usable_size(memory);
    if (size == 0) {
        free(memory);
        return NULL;
    }
    memory = realloc(memory, size);
    bytes_held += malloc_usable_size(memory);
    return memory;
}

/* Counts the descriptors of sockets, and those of files that are served. */
static int descriptors(void)
{
    char name[300];
    char target[300];
    int count = 0;
    const struct dirent *entry;
    DIR *open_ones = opendir("/proc/self/fd");
    ck_assert_ptr_nonnull(open_ones);
    while ((entry = readdir(open_ones))) {
        (void)snprintf(name, sizeof name, "/proc/self/fd/%s", entry->d_name);
        ssize_t size = readlink(name, target, sizeof target - 1);
        target[size > 0 ? size : 0] = '\0';
        count += strncmp(target, "socket:", 7) == 0 ||
                 strncmp(target, directory, strlen(directory)) == 0;
    }
    closedir(open_ones);
    return count;
}

struct scene {
    struct embedded at;
    int good;   /* a connection that is unharmed */
    int before; /* descriptors that are open with it */
};

static int dial(void)
{
    struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    ck_assert_int_ge(fd, 0);
    int result = connect(fd, (struct sockaddr *)&to, sizeof to);
    ck_assert(result == 0 || errno == EINPROGRESS);
    return fd;
}

static void step(struct scene *scene)
{
    ck_assert_int_eq(tr_system_run_once(scene->at.system, TR_MILLISECOND), TR_OK);
}

static void put(struct scene *scene, int fd, const void *bytes, size_t size)
{
    while (size) {
        ssize_t sent = send(fd, bytes, size, MSG_NOSIGNAL);
        if (sent > 0) {
            bytes = (const char *)bytes + sent;
            size -= (size_t)sent;
        } else {
            ck_assert(errno == EAGAIN || errno == ENOTCONN);
        }
        step(scene);
    }
}

static char text[1 << 18];

/* Reads until `end` has come, or the connection has ended if that is NULL. Returns the error of the end, 0 if it was in order. */
static int get(struct scene *scene, int fd, const char *end)
{
    size_t size = 0;
    text[0] = '\0';
    for (;;) {
        ck_assert_uint_lt(size, sizeof text - 1);
        ssize_t got = recv(fd, text + size, sizeof text - 1 - size, 0);
        if (got > 0) {
            size += (size_t)got;
            text[size] = '\0';
        } else if (got == 0 || (errno != EAGAIN && errno != ENOTCONN)) {
            ck_assert_msg(!end, "the connection has ended after: %s", text);
            return got ? errno : 0;
        }
        if (end && strstr(text, end))
            return 0;
        step(scene);
    }
}

static void still_fine(struct scene *scene)
{
    static const char request[] = "GET /fine HTTP/1.1\r\nHost: a\r\n\r\n";
    put(scene, scene->good, request, sizeof request - 1);
    get(scene, scene->good, "\r\n\r\nfine");
    ck_assert_ptr_nonnull(strstr(text, "200 OK"));
}

static void open_scene(struct scene *scene)
{
    landlord_ref landlord;
    if (TEST_HAS_SANITIZER)
        test_skip("sanitizers trap faults themselves");
    const tr_system_options options = {.size = sizeof options,
                                       .workers = 1,
                                       .traps_faults = true,
                                       .on_log = log_keep,
                                       .resize = resize_counted};
    ck_assert_int_eq(tr_system_new(&options, &scene->at.system), TR_OK);
    ck_assert_int_eq(tr_client_new(scene->at.system, &scene->at.client), TR_OK);
    ck_assert_int_eq(tr_try_spawn(scene->at.client, &landlord, landlord, NULL), TR_OK);
    tr_tell(scene->at.client, landlord, open_shop);
    embedded_run(&scene->at);
    scene->good = dial();
    still_fine(scene);
    scene->before = descriptors();
    defers = 0;
}

static void close_scene(struct scene *scene)
{
    still_fine(scene);
    ck_assert_int_eq(descriptors(), scene->before);
    close(scene->good);
    embedded_close(&scene->at);
    ck_assert_uint_eq(bytes_held, 0);
    ck_assert_int_eq(defers, 0);
}

/* Sends a request whose turn has a fault. */
static int fault(struct scene *scene, const char *request)
{
    int fd = dial();
    log_text[0] = '\0';
    put(scene, fd, request, strlen(request));
    int how = get(scene, fd, NULL);
    ck_assert_ptr_nonnull(strstr(log_text, "TR_FAULT"));
    ck_assert_ptr_nonnull(strstr(log_text, slip_function(fault_kind)));
    close(fd);
    static char answer[sizeof text];
    strcpy(answer, text);
    still_fine(scene);
    strcpy(text, answer);
    return how;
}

/* ---- HTTP/1.1. ---- */

TEST(a_fault_in_a_typed_route_is_500, "S-10", "W-06")
{
    struct scene scene;
    char request[256];
    open_scene(&scene);
    for (fault_kind = 0; fault_kind < SLIP_COUNT; fault_kind++) {
        snprintf(request, sizeof request, "GET /slip/%u HTTP/1.1\r\nHost: a\r\n\r\n", fault_kind);
        fault(&scene, request);
        if (!strstr(text, "500 Internal Server Error"))
            ck_abort_msg("%s: %s", slip_function(fault_kind), text);
        ck_assert_ptr_null(strstr(text, "SIG"));
        const char *body = "{\"kind\":    0,\"text\":\"a text that is in memory of the reader\"}";
        snprintf(request,
                 sizeof request,
                 "POST /slip HTTP/1.1\r\nHost: a\r\nContent-Length: %zu\r\n\r\n%s",
                 strlen(body),
                 body);
        uint32_t kind = fault_kind;
        fault_kind = 0;
        fault(&scene, request);
        fault_kind = kind;
        ck_assert_ptr_nonnull(strstr(text, "500 Internal Server Error"));
    }
    close_scene(&scene);
}

TEST(a_fault_after_a_wait_or_within_a_body_is_500, "S-10", "W-06")
{
    static const char *const requests[] = {
        "GET /later HTTP/1.1\r\nHost: a\r\n\r\n",
        "PUT /half HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nhalf",
        "PUT /half HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n",
        "GET /words HTTP/1.1\r\nHost: a\r\n\r\n",
    };
    struct scene scene;
    open_scene(&scene);
    for (fault_kind = 0; fault_kind < SLIP_COUNT; fault_kind++) {
        for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++) {
            fault(&scene, requests[i]);
            ck_assert_ptr_nonnull(strstr(text, "500 Internal Server Error"));
        }
    }
    close_scene(&scene);
}

/* What the library has deferred for the turn is released; it is not in the memory that the system counts. */
TEST(a_fault_leaves_no_buffer_and_no_message_behind, "S-10")
{
    static const char words[] = "GET /words HTTP/1.1\r\nHost: a\r\n\r\n";
    static const char slips[] = "GET /slip/0 HTTP/1.1\r\nHost: a\r\n\r\n";
    struct scene scene;
    size_t before = 0;
    open_scene(&scene);
    fault_kind = 0;
    for (int i = 0; i < 100; i++) {
        fault(&scene, words);
        fault(&scene, slips);
        if (i == 20) /* names of functions are known, and stacks are there */
            before = mallinfo2().uordblks;
    }
    ck_assert_uint_lt(mallinfo2().uordblks,
                      before + 4000); /* a leak would be of 5000 bytes, 79 times */
    close_scene(&scene);
}

TEST(a_fault_within_an_answer_resets_its_connection, "S-10", "W-06")
{
    struct scene scene;
    open_scene(&scene);
    for (fault_kind = 0; fault_kind < SLIP_COUNT; fault_kind++) {
        ck_assert_int_eq(fault(&scene, "GET /begun HTTP/1.1\r\nHost: a\r\n\r\n"), ECONNRESET);
        ck_assert_ptr_null(strstr(text, "\r\n0\r\n"));
    }
    close_scene(&scene);
}

/* What was asked before is answered, what was asked after is not. */
TEST(a_fault_ends_a_pipeline_in_order, "S-10", "W-03", "W-06")
{
    struct scene scene;
    open_scene(&scene);
    fault_kind = 0;
    fault(&scene,
          "GET /fine HTTP/1.1\r\nHost: a\r\n\r\nGET /slip/0 HTTP/1.1\r\nHost: a\r\n\r\n"
          "GET /fine HTTP/1.1\r\nHost: a\r\n\r\n");
    char *first = strstr(text, "\r\n\r\nfine");
    ck_assert_ptr_nonnull(first);
    ck_assert_ptr_nonnull(strstr(first, "500 Internal Server Error"));
    ck_assert_ptr_null(strstr(first + 4, "\r\n\r\nfine"));
    close_scene(&scene);
}

/* ---- WebSocket. ---- */

TEST(a_fault_in_a_message_ends_its_websocket, "S-10", "W-08")
{
    static const char handshake[] =
        "GET /ws HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
    struct scene scene;
    open_scene(&scene);
    for (fault_kind = 0; fault_kind < SLIP_COUNT; fault_kind++) {
        int other = dial();
        put(&scene, other, handshake, sizeof handshake - 1);
        get(&scene, other, "\r\n\r\n");
        int fd = dial();
        put(&scene, fd, handshake, sizeof handshake - 1);
        get(&scene, fd, "\r\n\r\n");
        /* masked with zeros; the second one in two frames, so that it is joined in memory of the session */
        static const char good[] = "\x81\x84\0\0\0\0good";
        static const char slips[] = "\x01\x82\0\0\0\0sl\x80\x82\0\0\0\0ip";
        log_text[0] = '\0';
        put(&scene, fd, good, sizeof good - 1);
        get(&scene, fd, "good");
        put(&scene, fd, slips, sizeof slips - 1);
        get(&scene, fd, NULL);
        ck_assert_ptr_nonnull(strstr(log_text, "TR_FAULT"));
        ck_assert_msg(text[0] == '\x88' && (unsigned char)text[2] == 1011 / 256 &&
                          (unsigned char)text[3] == 1011 % 256,
                      "it is closed with 1011");
        put(&scene, other, good, sizeof good - 1);
        get(&scene, other, "good");
        close(fd);
        close(other);
        embedded_run(&scene.at);
        still_fine(&scene);
    }
    for (int i = 0; i < 100 && descriptors() != scene.before; i++)
        step(&scene);
    close_scene(&scene);
}

/* ---- HTTP/2: other streams of the connection are abandoned where they wait. ---- */

static size_t h2_get(char *to, int stream, const char *path)
{
    size_t size = strlen(path);
    const char head[] = {0,
                         0,
                         (char)(size + 7),
                         1,
                         5,
                         0,
                         0,
                         0,
                         (char)stream,
                         '\x82',
                         '\x86',
                         '\x41',
                         1,
                         'a',
                         '\x44',
                         (char)size};
    memcpy(to, head, sizeof head);
    memcpy(to + sizeof head, path, size);
    return sizeof head + size;
}

static void play_streams(struct scene *scene, const char *const *paths, int count)
{
    static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0";
    char bytes[1024];
    char request[32];
    int fd = dial();
    put(scene, fd, preface, sizeof preface);
    for (int i = 0; i < count; i++)
        put(scene, fd, bytes, h2_get(bytes, 2 * i + 1, paths[i]));
    embedded_run(&scene->at);
    for (int i = 0; i < 20; i++) /* until those that wait do so, also for a helper thread */
        step(scene);
    log_text[0] = '\0';
    snprintf(request, sizeof request, "/slip/%u", fault_kind);
    put(scene, fd, bytes, h2_get(bytes, 2 * count + 1, request));
    get(scene, fd, NULL);
    ck_assert_ptr_nonnull(strstr(log_text, "TR_FAULT"));
    close(fd);
    for (int i = 0; i < 100 && descriptors() != scene->before; i++)
        step(scene);
    ck_assert_int_eq(descriptors(), scene->before);
    still_fine(scene);
}

TEST(a_fault_in_a_stream_leaves_nothing_of_the_others, "S-10", "W-06", "W-10")
{
    static const char *const paths[] = {"/stay", "/files/big", "/stay", "/fine"};
    struct scene scene;
    char path[sizeof directory + 10];
    ck_assert_ptr_nonnull(mkdtemp(directory));
    (void)snprintf(path, sizeof path, "%s/big", directory);
    int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(ftruncate(fd, FILE_SIZE),
                     0); /* more than the windows of the client let through */
    close(fd);
    open_scene(&scene);
    for (fault_kind = 0; fault_kind < SLIP_COUNT; fault_kind++) {
        play_streams(&scene, paths, 0);
        play_streams(&scene, paths, 4);
    }
    close_scene(&scene);
    unlink(path);
    rmdir(directory);
}

SUITE("faults in handlers of HTTP", a_fault_in_a_typed_route_is_500,
      a_fault_leaves_no_buffer_and_no_message_behind, a_fault_after_a_wait_or_within_a_body_is_500,
      a_fault_within_an_answer_resets_its_connection, a_fault_ends_a_pipeline_in_order,
      a_fault_in_a_message_ends_its_websocket, a_fault_in_a_stream_leaves_nothing_of_the_others)
