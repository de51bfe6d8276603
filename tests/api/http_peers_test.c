/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The clients of HTTP and WebSocket against servers of others: Python's http.server and the package ws of Node, each in a process of its
 * own on a port that the kernel chooses. One that is not installed fails its case.
 */
#include "support/real_net.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <troupe/http_client.h>
#include <unistd.h>

extern char **environ;

struct server {
    pid_t pid;
    FILE *output;
    unsigned port;
};

/* Starts a program that says its port in a line with "port <number>". False: it cannot be started. */
static bool server_start(struct server *server, char *const arguments[])
{
    int fds[2];
    char line[512];
    posix_spawn_file_actions_t actions;
    ck_assert_int_eq(pipe(fds), 0);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, fds[1], 1);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addclose(&actions, fds[0]);
    bool is_there =
        posix_spawnp(&server->pid, arguments[0], &actions, NULL, arguments, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    close(fds[1]);
    server->output = fdopen(fds[0], "r");
    server->port = 0;
    while (is_there && !server->port && fgets(line, sizeof line, server->output)) {
        const char *at = strstr(line, "port ");
        server->port = at ? (unsigned)strtoul(at + 5, NULL, 10) : 0;
    }
    if (server->port)
        return true;
    if (is_there)
        waitpid(server->pid, NULL, 0);
    fclose(server->output);
    return false;
}

static void server_stop(struct server *server)
{
    kill(server->pid, SIGKILL);
    waitpid(server->pid, NULL, 0);
    fclose(server->output);
}

/* ---- Python. ---- */

static uint64_t ask_python(tr_self *self, uint64_t port)
{
    const struct tr_http_answer *answer;
    char buffer[4096];
    size_t got, size = 0;
    const char *site = tr_format(self, "http://127.0.0.1:%u", (unsigned)port);
    answer = tr_await(self, tr_http_ask(self, tr_format(self, "%s/small", site)));
    ck_assert_int_eq(answer->status, 200);
    ck_assert(answer->body.size == 6 && memcmp(answer->body.data, "hello\n", 6) == 0);
    ck_assert_ptr_nonnull(tr_http_answer_header(answer, "Last-Modified"));
    answer = tr_await(self, tr_http_ask(self, tr_format(self, "%s/none", site)));
    ck_assert_int_eq(answer->status, 404);
    answer = tr_await(self, tr_http_ask(self, tr_format(self, "%s/large", site), .method = "HEAD"));
    ck_assert_str_eq(tr_http_answer_header(answer, "content-length"), "3000000");
    ck_assert_uint_eq(answer->body.size, 0);
    answer = tr_await(self, tr_http_ask(self, tr_format(self, "%s/sub", site), .redirects_max = 1));
    ck_assert_int_eq(answer->status, 200); /* by way of 301 */
    answer = tr_await(self, tr_http_ask(self, tr_format(self, "%s/large", site), .streams = true));
    do {
        tr_status status = tr_http_receive(self, answer->stream, buffer, sizeof buffer, &got);
        ck_assert_int_eq(status, TR_OK);
        size += got;
    } while (got);
    answer = tr_await(self, tr_http_ask(self, tr_format(self, "%s/small", site), .text = "x"));
    ck_assert_int_eq(answer->status, 501); /* POST */
    return size;
}

TEST(pythons_server_is_asked, "W-09")
{
    char directory[] = "/tmp/troupe-http-XXXXXX";
    char path[128];
    struct server server;
    ck_assert_ptr_nonnull(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/small", directory);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs("hello\n", file);
    fclose(file);
    snprintf(path, sizeof path, "%s/large", directory);
    file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    for (int i = 0; i < 3000000; i++)
        fputc('l', file);
    fclose(file);
    snprintf(path, sizeof path, "%s/sub", directory);
    ck_assert_int_eq(mkdir(path, 0700), 0);
    char *const arguments[] = {
        "python3", "-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "-d", directory, NULL};
    bool is_there = server_start(&server, arguments);
    if (is_there) {
        real_open(2);
        ck_assert_uint_eq(go_with(ask_python, server.port), 3000000);
        real_close();
        server_stop(&server);
    }
    rmdir(path);
    snprintf(path, sizeof path, "%s/small", directory);
    unlink(path);
    snprintf(path, sizeof path, "%s/large", directory);
    unlink(path);
    rmdir(directory);
    if (!is_there)
        ck_abort_msg("python3 is not installed; tools/bootstrap test does that");
}

/* ---- Node. ---- */

TR_REQUEST(talk, went, (u64, port), (bool, compresses));

struct talker {
    tr_channel channel;
    tr_later later;
    int got;
};

static char long_text[200000];

static tr_next on_talk(tr_self *self, struct talker *talker, const struct talk *message)
{
    char url[64];
    snprintf(url, sizeof url, "ws://127.0.0.1:%u/chat", (unsigned)message->port);
    talker->got = 0;
    talker->channel =
        tr_ws_connect(self, url, .protocols = "one, two", .compresses = message->compresses);
    ck_assert_str_eq(tr_ws_protocol(self, talker->channel), "two");
    memset(long_text, 'n', sizeof long_text - 1);
    talker->later = tr_reply_later(self);
    ck_assert_int_eq(tr_ws_text(self, talker->channel, "hello"), TR_OK);
    ck_assert_int_eq(tr_ws_binary(self, talker->channel, (tr_bytes){"\0\1\2", 3}), TR_OK);
    ck_assert_int_eq(tr_ws_text(self, talker->channel, long_text), TR_OK);
    return TR_SAME;
}

static tr_next on_ws_message(tr_self *self, struct talker *talker,
                             const struct tr_ws_message *message)
{
    switch (talker->got++) {
    case 0:
        ck_assert(message->is_text && strcmp(message->bytes.data, "hello") == 0);
        break;
    case 1:
        ck_assert(!message->is_text && message->bytes.size == 3);
        break;
    default:
        ck_assert_str_eq(message->bytes.data, long_text);
        tr_ws_close(self, message->channel, 4000, "enough");
    }
    return TR_SAME;
}

static tr_next on_ws_closed(tr_self *self, struct talker *talker, const struct tr_closed *message)
{
    ck_assert_int_eq(message->status, TR_OK);
    ck_assert_int_eq(tr_reply_to(self, talker->later, went, .value = (uint64_t)talker->got), TR_OK);
    return TR_SAME;
}

TR_ACTOR(talker, talk);
TR_BEHAVIOR(talker, struct talker, TR_ON(talk, on_talk), TR_ON(tr_ws_message, on_ws_message),
            TR_ON(tr_closed, on_ws_closed));

static uint64_t let_talk(tr_self *self, uint64_t port)
{
    talker_ref talker = tr_spawn(self, talker, "talker");
    uint64_t sum = 0;
    for (int compresses = 0; compresses < 2; compresses++)
        sum += tr_await(
                   self,
                   tr_ask_within(
                       self, 30 * TR_SECOND, talker, talk, .port = port, .compresses = compresses))
                   ->value;
    return sum;
}

TEST(nodes_websockets_are_spoken_to, "W-08")
{
    struct server server;
    setenv("NODE_PATH", "/usr/share/nodejs", 0);
    char *const arguments[] = {
        "node",
        "-e",
        "const {WebSocketServer} = require('ws');"
        "const s = new WebSocketServer({port: 0, host: '127.0.0.1', perMessageDeflate: {threshold: "
        "0},"
        " handleProtocols: () => 'two'});"
        "s.on('listening', () => console.log('port ' + s.address().port));"
        "s.on('connection', w => w.on('message', (d, b) => w.send(d, {binary: b})));",
        NULL};
    if (!server_start(&server, arguments))
        ck_abort_msg("node, or its package ws, is not installed; tools/bootstrap test does that");
    real_open(2);
    ck_assert_uint_eq(go_with(let_talk, server.port), 6);
    real_close();
    server_stop(&server);
}

SUITE("http and others", pythons_server_is_asked, nodes_websockets_are_spoken_to)
