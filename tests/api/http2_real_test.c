/* SPDX-License-Identifier: Apache-2.0 */
/**
 * HTTP/2 on real sockets, with several workers, and the clients that others have written: curl, nghttp and h2load, with and
 * without TLS; certificates that are replaced under load. A client that is not installed fails its case.
 */
#include "support/certificates.h"
#include "support/real_net.h"

#include <sys/wait.h>
#include <troupe/http_client.h>

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

static tr_next on_much(tr_self *self)
{
    static const char piece[50000];
    tr_http_begin(self, 200, .type = "a/b");
    for (int i = 0; i < 100; i++)
        tr_http_write(self, (tr_bytes){piece, sizeof piece});
    return tr_http_end(self);
}

TR_BEHAVIOR(api, struct api, TR_SETUP_WITH(open_api, set_up),
            TR_GET("/next/{value}", next_number, on_pass),
            TR_PUT("/count", tr_http_request, on_count), TR_GET("/much", tr_http_request, on_much));

static tr_listener_ref listener;
static struct certificates certificates;
static char certificate_file_path[128], key_file_path[128];

static uint64_t listen_api(tr_self *self, uint64_t is_secure)
{
    counter_ref counter = tr_spawn_at(self, 1, counter, "counter");
    if (is_secure)
        listener = tr_listen(
            self,
            api,
            TR_HTTPS("127.0.0.1:0", .certificate = certificate_file_path, .key = key_file_path),
            open_api,
            .counter = counter);
    else
        listener = tr_listen(self, api, TR_HTTP("127.0.0.1:0"), open_api, .counter = counter);
    return tr_listener_address(self, listener).port;
}

static uint64_t reload(tr_self *self, uint64_t argument)
{
    (void)argument;
    return tr_listener_reload(self, listener) == TR_OK;
}

static uint64_t port;

static void begin(bool is_secure)
{
    if (is_secure) {
        certificates_init(&certificates);
        strcpy(certificate_file_path, certificate_path(&certificates, "shop.pem"));
        strcpy(key_file_path, certificate_path(&certificates, "shop.key"));
    }
    real_open(2);
    port = go_with(listen_api, is_secure);
}

static void end(bool is_secure)
{
    real_close();
    if (is_secure)
        certificates_deinit(&certificates);
}

static void need(const char *program)
{
    char command[128];
    snprintf(command, sizeof command, "command -v %s >/dev/null", program);
    if (system(command) != 0) /* NOLINT: of the test itself */
        ck_abort_msg("%s is not installed; tools/bootstrap test does that", program);
}

/* Runs a command, in which %d is the port, and returns what it prints. */
static const char *run(const char *format)
{
    static char text[65536];
    char command[1024];
    snprintf(command, sizeof command, format, (int)port);
    FILE *pipe = popen(command, "r"); /* NOLINT: of the test itself */
    ck_assert_ptr_nonnull(pipe);
    size_t size = fread(text, 1, sizeof text - 1, pipe);
    text[size] = '\0';
    (void)pclose(pipe);
    return text;
}

TEST(curl_speaks_http_2_without_tls, "W-11")
{
    need("curl");
    begin(false);
#define CURL "curl -sS --http2-prior-knowledge -w ' %%{http_version} %%{http_code}' "
    ck_assert_str_eq(run(CURL "http://127.0.0.1:%d/next/41"), "{\"value\":42} 2 200");
    ck_assert_str_eq(run("head -c 5000000 /dev/zero | " CURL "-T - http://127.0.0.1:%d/count"),
                     "5000000 2 200");
    ck_assert_str_eq(run(CURL "-o /dev/null http://127.0.0.1:%d/much"), " 2 200");
    ck_assert_str_eq(run("curl -sS http://127.0.0.1:%d/much | wc -c"), "5000000\n");
    ck_assert_str_eq(run("curl -sS --http2-prior-knowledge http://127.0.0.1:%d/much | wc -c"),
                     "5000000\n");
    /* Upgrade: h2c is not done. */
    ck_assert_str_eq(run("curl -sS --http2 -w ' %%{http_version}' http://127.0.0.1:%d/next/1"),
                     "{\"value\":2} 1.1");
    end(false);
}

TEST(curl_gets_http_2_by_alpn, "W-11", "C-15")
{
    need("curl");
    begin(true);
    ck_assert_str_eq(run("curl -sSk -w ' %%{http_version}' https://127.0.0.1:%d/next/1"),
                     "{\"value\":2} 2");
    ck_assert_str_eq(run("curl -sSk --http1.1 -w ' %%{http_version}' https://127.0.0.1:%d/next/1"),
                     "{\"value\":2} 1.1");
    ck_assert_str_eq(run("curl -sSk https://127.0.0.1:%d/much | wc -c"), "5000000\n");
    ck_assert_str_eq(run("head -c 3000000 /dev/zero | curl -sSk -T - https://127.0.0.1:%d/count"),
                     "3000000");
    end(true);
}

TEST(nghttp_and_h2load_are_served, "W-11")
{
    need("h2load");
    need("nghttp");
    begin(false);
    ck_assert_str_eq(run("nghttp http://127.0.0.1:%d/next/7"), "{\"value\":8}");
    const char *text =
        run("h2load -n 4000 -c 8 -m 20 http://127.0.0.1:%d/next/7 2>&1 | grep ^requests:");
    ck_assert_msg(strstr(text, "4000 succeeded, 0 failed, 0 errored"), "%s", text);
    text = run("h2load -n 40 -c 4 -m 5 http://127.0.0.1:%d/much 2>&1 | grep ^requests:");
    ck_assert_msg(strstr(text, "40 succeeded, 0 failed, 0 errored"), "%s", text);
    end(false);
}

static void *play_load(void *argument)
{
    char *text = argument;
    snprintf(
        text,
        1024,
        "%s",
        run("for i in 1 2 3 4 5; do h2load -n 100 -c 20 -m 2 https://127.0.0.1:%d/next/7; done "
            "2>&1 | grep ^requests:"));
    return NULL;
}

TEST(certificates_are_replaced_under_load, "W-11", "C-15")
{
    need("h2load");
    begin(true);
    char text[1024];
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, play_load, text), 0);
    for (int i = 0; i < 100; i++)
        ck_assert_uint_eq(GO(reload), 1);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    int good = 0;
    for (const char *at = text; (at = strstr(at, "100 succeeded, 0 failed, 0 errored")); at++)
        good++;
    ck_assert_msg(good == 5, "%s", text);
    end(true);
}

/* ---- The client of the library. ---- */

static char authority[128];

/* Asks `count` times at once, and returns how many answers were right and came by HTTP/2. */
static uint64_t ask_many(tr_self *self, uint64_t count)
{
    tr_http_call_ask asked[64];
    const struct tr_http_answer *answer;
    uint64_t good = 0;
    const char *address = tr_format(self, "127.0.0.1:%d", (int)port);
    for (uint64_t i = 0; i < count; i++)
        asked[i] =
            tr_http_ask(self,
                        tr_format(self, "https://shop.example:%d/next/%d", (int)port, (int)i),
                        .connections_max = 1,
                        .by = TR_TLS(address, .trusts = authority));
    for (uint64_t i = 0; i < count; i++) {
        char body[64];
        snprintf(body, sizeof body, "{\"value\":%d}", (int)i + 1);
        good += tr_try_await(self, asked[i], &answer) == TR_OK && answer->status == 200 &&
                answer->version == TR_HTTP_VERSION_2 && answer->body.size == strlen(body) &&
                memcmp(answer->body.data, body, strlen(body)) == 0;
    }
    return good;
}

/* Streams both ways. Returns how many bytes came, and as many were counted by the server. */
static uint64_t stream_both(tr_self *self, uint64_t pieces)
{
    static char piece[50000];
    struct tr_http_stream stream;
    const struct tr_http_answer *answer;
    size_t got, size = 0;
    const char *site = tr_format(self, "https://shop.example:%d", (int)port);
    const tr_endpoint *by = TR_TLS(tr_format(self, "127.0.0.1:%d", (int)port), .trusts = authority);
    ck_assert_int_eq(
        tr_http_open(self, &stream, tr_format(self, "%s/count", site), .method = "PUT", .by = by),
        TR_OK);
    for (uint64_t i = 0; i < pieces; i++)
        ck_assert_int_eq(tr_http_send(self, stream, (tr_bytes){piece, sizeof piece}), TR_OK);
    answer = tr_await(self, tr_http_finish(self, stream, false));
    ck_assert_uint_eq(
        strtoul(tr_format(self, "%.*s", (int)answer->body.size, (const char *)answer->body.data),
                NULL,
                10),
        pieces * sizeof piece);
    answer = tr_await(
        self, tr_http_ask(self, tr_format(self, "%s/much", site), .streams = true, .by = by));
    ck_assert_uint_eq(answer->version, TR_HTTP_VERSION_2);
    do {
        ck_assert_int_eq(tr_http_receive(self, answer->stream, piece, sizeof piece, &got), TR_OK);
        size += got;
    } while (got);
    return size;
}

TEST(the_client_of_the_library_speaks_http_2_over_tls, "W-09", "W-11")
{
    begin(true);
    snprintf(authority, sizeof authority, "%s", certificate_path(&certificates, "authority.pem"));
    for (int round = 0; round < 10; round++)
        ck_assert_uint_eq(go_with(ask_many, 64), 64);
    ck_assert_uint_eq(go_with(stream_both, 40), 5000000);
    end(true);
}

SUITE("http/2 on real sockets", curl_speaks_http_2_without_tls, curl_gets_http_2_by_alpn,
      nghttp_and_h2load_are_served, certificates_are_replaced_under_load,
      the_client_of_the_library_speaks_http_2_over_tls)
