/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A server of HTTP that ends: requests under way are answered with Connection: close, idle connections end at once, and what takes
 * longer than the deadline is 503. On kits, and a program that gets SIGTERM.
 */
#include "support/http.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static tr_next on_slow(tr_self *self)
{
    if (tr_sleep(self, 3 * TR_SECOND) != TR_OK)
        return TR_SAME; /* the deadline of the shutdown has passed */
    return tr_http_reply(self, 200, .text = "slow");
}

static tr_next on_upload(tr_self *self)
{
    tr_bytes body = tr_http_body(self, 100);
    return tr_http_reply(self, 200, .body = body, .type = "text/plain");
}

static tr_next on_hello(tr_self *self)
{
    return tr_http_reply(self, 200, .text = "hello");
}

TR_BEHAVIOR(api, void, TR_GET("/slow", tr_http_request, on_slow),
            TR_GET("/hello", tr_http_request, on_hello),
            TR_POST("/upload", tr_http_request, on_upload));
TR_BEHAVIOR(host, void, TR_ON(run, on_run));

static const tr_http_options options = {.has_health = true};

static tr_next listen_api(tr_self *self)
{
    listener = tr_listen(self, api, TR_HTTP(SERVER, .http = &options));
    return TR_SAME;
}

#define H " HTTP/1.1\r\nHost: a\r\n"
#define TEXT "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\n"

/* Opens a connection that is idle after a request, and one whose request is under way; then the system is told to end. */
static tr_kit_peer *end_beside_a_request(tr_time within_ns)
{
    HOST(host, listen_api);
    tr_kit_peer *idle = peer_new();
    tr_kit_peer *busy = peer_new();
    HTTP_ASK(idle, "GET /readyz" H "\r\n", TEXT "\r\nok\n");
    peer_send(busy, "GET /slow" H "\r\n");
    tr_system_shutdown(tr_kit_system(kit), within_ns);
    tr_kit_settle(kit);
    ck_assert_str_eq(tr_kit_receive_text(idle, 0), "");
    ck_assert_int_eq(tr_kit_peer_status(idle), TR_CLOSED);
    ck_assert_ptr_null(tr_kit_connect(kit, SERVER)); /* what a balancer sees: nobody is ready */
    tr_kit_close(idle);
    return busy;
}

static void play_in_time(void)
{
    tr_kit_peer *busy = end_beside_a_request(10 * TR_SECOND);
    HTTP_GETS_WITHIN(busy, 4 * TR_SECOND, TEXT "Connection: close\r\n\r\nslow");
    tr_kit_settle(kit);
    ck_assert_int_eq(tr_kit_peer_status(busy), TR_CLOSED);
    tr_kit_close(busy);
    tr_kit_settle(kit);
    ck_assert_uint_eq(tr_kit_open_channels(kit), 0);
}

TEST(a_shutdown_lets_requests_under_way_answer, "W-07")
{
    kits_each(play_in_time);
}

static void play_too_late(void)
{
    tr_kit_peer *busy = end_beside_a_request(TR_SECOND);
    HTTP_GETS_WITHIN(busy,
                     2 * TR_SECOND,
                     "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\n\r\n"
                     "{\"error\":{\"code\":503,\"message\":\"Service Unavailable\"}}");
    tr_kit_settle(kit);
    ck_assert_int_eq(tr_kit_peer_status(busy), TR_CLOSED);
    tr_kit_close(busy);
    tr_kit_settle(kit);
    ck_assert_uint_eq(tr_kit_open_channels(kit), 0);
}

TEST(a_request_that_passes_the_deadline_is_503, "W-07")
{
    kits_each(play_too_late);
}

/* ---- A program that gets SIGTERM. ---- */

static int said_to;

static tr_next on_args(tr_self *self)
{
    tr_listener_ref made = tr_listen(self, api, TR_HTTP("127.0.0.1:0"));
    const char *address = tr_address_text(self, tr_listener_address(self, made));
    ssize_t size = (ssize_t)strlen(address) + 1;
    return write(said_to, address, (size_t)size) == size ? TR_SAME : TR_STOP;
}

TR_BEHAVIOR(app, void, TR_ON(tr_args, on_args));

/* Starts the program. Returns its port. */
static uint16_t start(pid_t *child)
{
    int ends[2];
    char address[TR_ADDRESS_TEXT_MAX];
    ck_assert_int_eq(pipe(ends), 0);
    (void)fflush(NULL);
    *child = fork();
    ck_assert_int_ge(*child, 0);
    if (*child == 0) {
        char *argv[] = {(char[]){"app"}, NULL};
        (void)alarm(20); /* so that a failure leaves no process behind */
        said_to = ends[1];
        _exit(tr_app_main(1, argv, app));
    }
    (void)close(ends[1]);
    size_t size = 0;
    while (size == 0 || address[size - 1])
        ck_assert_int_eq(read(ends[0], address + size++, 1), 1);
    (void)close(ends[0]);
    return (uint16_t)atoi(strrchr(address, ':') + 1);
}

static int dial(uint16_t port)
{
    struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(connect(fd, (const struct sockaddr *)&to, sizeof to), 0);
    return fd;
}

static void put(int fd, const char *text)
{
    ck_assert_int_eq(send(fd, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
}

/* Reads until a text has come, or to the end of the connection if it is NULL. */
static const char *get(int fd, const char *until)
{
    static char text[4096];
    size_t size = 0;
    ssize_t more = 1;
    text[0] = '\0';
    while (more > 0 && !(until && strstr(text, until))) {
        more = recv(fd, text + size, sizeof text - 1 - size, 0);
        size += more > 0 ? (size_t)more : 0;
        text[size] = '\0';
    }
    return text;
}

TEST(a_program_that_gets_sigterm_answers_and_exits_with_0, "W-07", "X-03")
{
    pid_t child;
    uint16_t port = start(&child);
    int idle = dial(port);
    int busy = dial(port);
    put(idle, "GET /hello" H "\r\n");
    ck_assert_ptr_nonnull(strstr(get(idle, "hello"), "200 OK"));
    put(busy, "POST /upload" H "Expect: 100-continue\r\nContent-Length: 4\r\n\r\n");
    ck_assert_ptr_nonnull(strstr(get(busy, "\r\n\r\n"), " 100 Continue")); /* the turn waits */
    ck_assert_int_eq(kill(child, SIGTERM), 0);
    ck_assert_str_eq(get(idle, NULL), ""); /* ended: the shutdown has begun */
    put(busy, "last");
    const char *text = get(busy, NULL);
    ck_assert_int_eq(strncmp(text, "HTTP/1.1 200 OK\r\n", 17), 0);
    ck_assert_ptr_nonnull(strstr(text, "\r\nConnection: close\r\n"));
    ck_assert_ptr_nonnull(strstr(text, "\r\n\r\nlast"));
    (void)close(idle);
    (void)close(busy);
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 0);
}

SUITE("http and shutdown", a_shutdown_lets_requests_under_way_answer,
      a_request_that_passes_the_deadline_is_503,
      a_program_that_gets_sigterm_answers_and_exits_with_0)
