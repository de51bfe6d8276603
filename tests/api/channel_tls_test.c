/* SPDX-License-Identifier: Apache-2.0 */
/** Channels with TLS, on the network of kits. tests/unit/net_tls_test.c has the handshakes themselves. */
#include "support/certificates.h"
#include "support/net.h"

static struct certificates at;
static char server_pem[128], server_key[128], authority[128], anna_pem[128], anna_key[128];
static bool is_mutual;

static tr_next on_opened(tr_self *self, const struct tr_opened *message)
{
    const char *name = tr_peer_name(self, message->channel);
    say("opened %s %s", message->protocol ? message->protocol : "-", name ? name : "-");
    return TR_SAME;
}

static tr_next on_line(tr_self *self, const struct tr_received *line)
{
    tr_print(self, line->channel, "you said %s\n", (const char *)line->bytes.data);
    if (strcmp(line->bytes.data, "all") == 0)
        say("all");
    return TR_SAME;
}

static tr_next on_closed(const struct tr_closed *message)
{
    say("closed %s %s", tr_status_name(message->status), message->text ? message->text : "-");
    return TR_STOP;
}

TR_BEHAVIOR(session, void, TR_ON(tr_opened, on_opened), TR_ON(tr_received, on_line),
            TR_ON(tr_closed, on_closed));

static tr_next on_client_closed(void)
{
    return TR_SAME;
}

TR_BEHAVIOR(host, void, TR_ON(run, on_run), TR_ON(tr_closed, on_client_closed));

static tr_next listen(tr_self *self)
{
    tr_status status =
        tr_try_listen(self,
                      &listener,
                      session,
                      TR_TLS(SERVER,
                             .certificate = server_pem,
                             .key = server_key,
                             .trusts = is_mutual ? authority : NULL,
                             .verify = is_mutual ? TR_VERIFY_REQUIRED : TR_VERIFY_NONE,
                             .alpn = "b,a",
                             .framing = TR_LINES));
    ck_assert_int_eq(status, TR_OK);
    return TR_SAME;
}

static tr_next talk_as(tr_self *self, const tr_endpoint *to)
{
    tr_channel channel;
    tr_bytes line;
    tr_status status = tr_try_connect(self, to, &channel);
    if (status != TR_OK) {
        say("client %s", tr_status_name(status));
        return TR_SAME;
    }
    tr_write_text(self, channel, "hello\n");
    status = tr_try_read(self, channel, &line);
    say("client %s", status == TR_OK ? (const char *)line.data : tr_status_name(status));
    if (status == TR_OK)
        tr_close(self, channel);
    return TR_SAME;
}

static tr_next talk(tr_self *self)
{
    return talk_as(self,
                   TR_TLS(SERVER,
                          .trusts = authority,
                          .server_name = "shop.example",
                          .alpn = "a,c",
                          .framing = TR_LINES));
}

static tr_next talk_as_anna(tr_self *self)
{
    return talk_as(self,
                   TR_TLS(SERVER,
                          .trusts = authority,
                          .server_name = "shop.example",
                          .certificate = anna_pem,
                          .key = anna_key,
                          .framing = TR_LINES));
}

static tr_next talk_to_other(tr_self *self)
{
    return talk_as(
        self,
        TR_TLS(SERVER, .trusts = authority, .server_name = "other.example", .framing = TR_LINES));
}

static void prepare(int workers, bool mutual)
{
    certificates_init(&at);
    snprintf(server_pem, sizeof server_pem, "%s", certificate_path(&at, "shop.pem"));
    snprintf(server_key, sizeof server_key, "%s", certificate_path(&at, "shop.key"));
    snprintf(authority, sizeof authority, "%s", certificate_path(&at, "authority.pem"));
    snprintf(anna_pem, sizeof anna_pem, "%s", certificate_path(&at, "anna.pem"));
    snprintf(anna_key, sizeof anna_key, "%s", certificate_path(&at, "anna.key"));
    is_mutual = mutual;
    kit_open(workers, 1);
    tr_kit_advance(kit, (time(NULL) - 1704067200) * TR_SECOND); /* a kit begins in 2024 */
}

static void begin(int workers, bool mutual)
{
    prepare(workers, mutual);
    HOST(host, listen);
}

static void end(void)
{
    kit_close();
    certificates_deinit(&at);
}

TEST(lines_go_through_tls, "C-15", "CH-21")
{
    for (int workers = 1; workers <= 2; workers++) {
        begin(workers, false);
        host_run(talk);
        tr_kit_advance(kit, TR_SECOND);
        SAID("opened a -; client you said hello; closed TR_CLOSED -");
        host_run(talk);
        tr_kit_advance(kit, TR_SECOND);
        SAID("opened a -; client you said hello; closed TR_CLOSED -");
        ck_assert_uint_eq(tr_kit_open_channels(kit), 1);
        end();
    }
}

static bool closes, writes;

static tr_next write_and_end(tr_self *self)
{
    tr_channel channel =
        tr_dial(self, TR_TLS(SERVER, .trusts = authority, .server_name = "shop.example"));
    if (writes)
        tr_write_text(self, channel, "all\n");
    if (closes)
        tr_close(self, channel);
    else
        tr_finish(self, channel);
    return TR_SAME;
}

/* The end waits for the handshake, and what was written goes before it. */
TEST(an_end_before_the_handshake_comes_after_what_was_written, "C-15", "C-09")
{
    for (int i = 0; i < 3; i++) {
        closes = i == 1;
        writes = i < 2;
        begin(1, false);
        host_run(write_and_end);
        tr_kit_advance(kit, TR_SECOND);
        SAID(writes ? "opened - -; all; closed TR_CLOSED -" : "opened - -; closed TR_CLOSED -");
        end();
    }
}

/* ---- Budgets. ---- */

enum { BUDGET = 64 * 1024 };

TR_BEHAVIOR_DECLARE(frugal);
TR_BEHAVIOR(frugal, void, TR_ON(tr_opened, on_opened), TR_ON(tr_received, on_line),
            TR_OPTIONS(.budget_bytes = BUDGET));

static tr_next listen_frugally(tr_self *self)
{
    listener = tr_listen(
        self,
        frugal,
        TR_TLS(SERVER, .certificate = server_pem, .key = server_key, .framing = TR_LINES));
    return TR_SAME;
}

static size_t half_size;
static tr_next send_half(tr_self *self)
{
    static char half[2 * BUDGET];
    tr_bytes line;
    memset(half, 'x', sizeof half);
    tr_channel channel =
        tr_connect(self, TR_TLS(SERVER, .trusts = authority, .server_name = "shop.example"));
    tr_status status = tr_write(self, channel, (tr_bytes){half, half_size});
    if (status == TR_OK)
        status = tr_try_read(self, channel, &line);
    say("client %s", tr_status_name(status));
    return TR_SAME;
}

/* What has come through TLS and was not read counts as without TLS. */
TEST(a_session_with_tls_has_its_budget, "C-15", "O-06")
{
    prepare(1, false);
    HOST(host, listen_frugally);
    half_size = BUDGET / 4;
    host_run(send_half);
    tr_kit_advance(kit, TR_SECOND);
    SAID("opened - -");
    half_size = 2 * BUDGET;
    host_run(send_half);
    tr_kit_advance(kit, TR_SECOND);
    ck_assert_ptr_nonnull(strstr(said(), "client TR_RESET"));
    end();
}

/* ---- Many handshakes at once. ---- */

#define PLAIN "127.0.0.1:7001"
enum { SHAKING = 10 };

static tr_next on_plain_line(const struct tr_received *line)
{
    say("line %s", (const char *)line->bytes.data);
    return TR_SAME;
}

TR_BEHAVIOR(plain, void, TR_ON(tr_received, on_plain_line));

static tr_next on_shaken(const struct tr_closed *message)
{
    say("%s", message->status == TR_TLS_FAILED ? "shaken" : tr_status_name(message->status));
    return TR_STOP;
}

static tr_next on_never(void)
{
    return TR_SAME;
}

TR_BEHAVIOR(shaken, void, TR_ON(tr_received, on_never), TR_ON(tr_closed, on_shaken));

static tr_next listen_twice(tr_self *self)
{
    (void)tr_listen(self, shaken, TR_TLS(SERVER, .certificate = server_pem, .key = server_key));
    (void)tr_listen(self, plain, TR_TCP(PLAIN, .framing = TR_LINES));
    return TR_SAME;
}

/*
 * Ten handshakes can continue at the same moment: with bytes that are none, so that each of them is one step. A line that
 * has come behind them is handled after four of them. Without the limit it is handled after all of them.
 */
TEST(many_handshakes_let_others_through, "C-15")
{
    tr_kit_peer *peers[SHAKING + 1];
    tr_bytes garbage = {"GET / HTTP/1.1\r\n\r\n", 18};
    prepare(1, false);
    HOST(host, listen_twice);
    for (int i = 0; i < SHAKING; i++)
        peers[i] = peer_new();
    peers[SHAKING] = tr_kit_connect(kit, PLAIN);
    tr_kit_settle(kit);
    for (int i = 0; i < SHAKING; i++)
        ck_assert_uint_eq(tr_kit_send(peers[i], garbage), garbage.size);
    peer_send(peers[SHAKING], "hello\n"); /* runs what that causes */
    SAID("shaken; shaken; shaken; shaken; line hello; "
         "shaken; shaken; shaken; shaken; shaken; shaken");
    for (int i = 0; i <= SHAKING; i++)
        tr_kit_close(peers[i]);
    end();
}

TEST(both_sides_show_certificates, "C-15")
{
    begin(1, true);
    host_run(talk_as_anna);
    tr_kit_advance(kit, TR_SECOND);
    const char *text = said();
    ck_assert_msg(strstr(text, "CN=anna") && strstr(text, "client you said hello"), "%s", text);
    host_run(talk); /* shows none */
    tr_kit_advance(kit, TR_SECOND);
    text = said();
    ck_assert_msg(strstr(text, "closed TR_TLS_FAILED") && !strstr(text, "you said"), "%s", text);
    end();
}

TEST(a_client_does_not_talk_to_another_name, "C-15", "CH-17")
{
    begin(1, false);
    host_run(talk_to_other);
    tr_kit_advance(kit, TR_SECOND);
    const char *text = said();
    ck_assert_msg(strstr(text, "client TR_TLS_FAILED"), "%s", text);
    end();
}

TEST(plain_text_to_a_port_of_tls_is_told, "C-15", "CH-17")
{
    begin(1, false);
    tr_kit_peer *peer = peer_new();
    peer_send(peer, "GET / HTTP/1.1\r\n\r\n");
    tr_kit_advance(kit, TR_SECOND);
    const char *text = said();
    ck_assert_msg(strncmp(text, "closed TR_TLS_FAILED", 20) == 0 &&
                      !strstr(text, "closed TR_TLS_FAILED -"),
                  "%s",
                  text);
    tr_kit_peer *silent = peer_new(); /* a handshake that never ends */
    tr_kit_advance(kit, TR_CONNECT_NS);
    SAID("closed TR_TIMEOUT -");
    ck_assert_int_eq(tr_kit_peer_status(silent), TR_RESET);
    ck_assert_uint_eq(tr_kit_open_channels(kit), 1);
    end();
}

static tr_next listen_badly(tr_self *self)
{
    tr_listener_ref none;
    say("%s",
        tr_status_name(tr_try_listen(
            self,
            &none,
            session,
            TR_TLS("127.0.0.1:7001", .certificate = "/no/such.pem", .key = "/no/such.key"))));
    say("%s",
        tr_status_name(
            tr_try_listen(self,
                          &none,
                          session,
                          TR_TLS("127.0.0.1:7001", .certificate = server_pem, .key = anna_key))));
    return TR_SAME;
}

TEST(files_that_cannot_be_used_are_found_when_listening, "C-15")
{
    begin(1, false);
    host_run(listen_badly);
    SAID("TR_TLS_FAILED; TR_TLS_FAILED");
    end();
}

static tr_next reload(tr_self *self)
{
    say("%s", tr_status_name(tr_listener_reload(self, listener)));
    return TR_SAME;
}

TEST(certificates_are_replaced_while_running, "C-15", "CH-21")
{
    begin(1, false);
    host_run(talk);
    tr_kit_advance(kit, TR_SECOND);
    (void)said();
    host_run(reload);
    SAID("TR_OK");
    host_run(talk);
    tr_kit_advance(kit, TR_SECOND);
    SAID("opened a -; client you said hello; closed TR_CLOSED -");
    ck_assert_int_eq(remove(server_key), 0);
    host_run(reload);
    SAID("TR_TLS_FAILED");
    host_run(talk);
    tr_kit_advance(kit, TR_SECOND);
    SAID("opened a -; client you said hello; closed TR_CLOSED -");
    end();
}

/* ---- A file through TLS. ---- */

static tr_next on_file_line(tr_self *self, const struct tr_received *line)
{
    tr_status status = tr_write_file(self, line->channel, server_pem, 0, SIZE_MAX);
    say("%s", tr_status_name(status));
    tr_write_text(self, line->channel, "the end\n");
    return TR_SAME;
}

TR_BEHAVIOR(file_session, void, TR_ON(tr_received, on_file_line));

static tr_next listen_file(tr_self *self)
{
    listener = tr_listen(
        self,
        file_session,
        TR_TLS(
            "127.0.0.1:7001", .certificate = server_pem, .key = server_key, .framing = TR_LINES));
    return TR_SAME;
}

static tr_next fetch_file(tr_self *self)
{
    char expected[8192] = "";
    tr_bytes bytes;
    FILE *file = fopen(server_pem, "r");
    ck_assert_ptr_nonnull(file);
    size_t size = fread(expected, 1, sizeof expected - 20, file);
    fclose(file);
    strcat(expected, "the end\n");
    tr_channel channel = tr_connect(
        self, TR_TLS("127.0.0.1:7001", .trusts = authority, .server_name = "shop.example"));
    tr_write_text(self, channel, "get\n");
    if (tr_read_exactly(self, channel, size + 8, &bytes))
        say("%s", memcmp(bytes.data, expected, size + 8) == 0 ? "whole" : "different");
    tr_close(self, channel);
    return TR_SAME;
}

TEST(a_file_is_sent_through_tls, "C-15", "C-08")
{
    begin(1, false);
    host_run(listen_file);
    host_run(fetch_file);
    tr_kit_advance(kit, TR_SECOND);
    SAID("TR_OK; whole");
    end();
}

TR_ACTOR(caller, run);
TR_BEHAVIOR(caller, void, TR_ON(run, on_run));

/* A client is killed while a helper thread reads its files, or when it has read them. */
TEST(a_client_that_is_killed_while_its_files_are_read_leaves_nothing, "C-15", "C-09")
{
    for (uint64_t steps = 0; steps < 6; steps++) {
        for (uint64_t seed = 1; seed <= TEST_SEEDS(10); seed++) {
            prepare(1, false);
            kit_close();
            kit_open(1, seed);
            caller_ref made;
            ck_assert_int_eq(tr_try_spawn(test, &made, caller, NULL), TR_OK);
            tr_kit_settle(kit);
            TELL_RUN(test, made, talk);
            kit_steps(steps);
            tr_kill(test, made);
            end(); /* aborts if something has leaked */
        }
    }
}

/* ---- Why a handshake has failed. ---- */

static const char *trusted;
static FILE *log_file;
static int log_saved;

/* From now on the log goes into a file. */
static void log_begin(void)
{
    log_file = tmpfile();
    log_saved = dup(STDERR_FILENO);
    ck_assert_ptr_nonnull(log_file);
    ck_assert_int_ge(dup2(fileno(log_file), STDERR_FILENO), 0);
}

/* Returns the log since log_begin. */
static const char *log_end(void)
{
    static char text[4096];
    (void)fflush(stderr);
    ck_assert_int_ge(dup2(log_saved, STDERR_FILENO), 0);
    (void)close(log_saved);
    rewind(log_file);
    text[fread(text, 1, sizeof text - 1, log_file)] = '\0';
    (void)fclose(log_file);
    return text;
}

#define SHOP TR_TLS(SERVER, .trusts = trusted, .server_name = "shop.example", .framing = TR_LINES)

static tr_next on_wary_closed(const struct tr_closed *message)
{
    say("dial %s %s", tr_status_name(message->status), message->text ? message->text : "-");
    return TR_SAME;
}

TR_ACTOR(wary, run);
TR_BEHAVIOR(wary, void, TR_ON(run, on_run), TR_ON(tr_closed, on_wary_closed));

static tr_next wary_try(tr_self *self)
{
    tr_channel channel;
    say("try %s", tr_status_name(tr_try_connect(self, SHOP, &channel)));
    return TR_SAME;
}

static tr_next wary_dial(tr_self *self)
{
    (void)tr_dial(self, SHOP);
    return TR_SAME;
}

static tr_next wary_connect(tr_self *self)
{
    (void)tr_connect(self, SHOP);
    say("connected");
    return TR_SAME;
}

static wary_ref wary;

/* Connects in one of three ways. Returns the log. */
static const char *wary_run(turn *how)
{
    log_begin();
    TELL_RUN(test, wary, how);
    tr_kit_advance(kit, TR_SECOND);
    return log_end();
}

/* A client refuses a listener with such a certificate. Whatever verb it has used, it says why. */
static void play_refusal(const char *certificate, const char *trusts, const char *why)
{
    char expected[200], line[200];
    char trusts_path[128];
    ck_assert_int_eq(unsetenv("TROUPE_KIT_LOG"), 0); /* warnings are logged */
    prepare(1, false);
    snprintf(expected, sizeof expected, "%s.pem", certificate);
    snprintf(server_pem, sizeof server_pem, "%s", certificate_path(&at, expected));
    snprintf(expected, sizeof expected, "%s.key", certificate);
    snprintf(server_key, sizeof server_key, "%s", certificate_path(&at, expected));
    snprintf(trusts_path, sizeof trusts_path, "%s", certificate_path(&at, trusts));
    trusted = trusts_path;
    HOST(host, listen);
    ck_assert_int_eq(tr_try_spawn(test, &wary, wary, NULL), TR_OK);
    snprintf(line, sizeof line, "cannot connect to %s: %s", SERVER, why);

    const char *log = wary_run(wary_try);
    ck_assert_ptr_nonnull(strstr(said(), "try TR_TLS_FAILED"));
    ck_assert_msg(strstr(log, "WARN") && strstr(log, line), "%s", log);
    log = wary_run(wary_dial);
    snprintf(expected, sizeof expected, "dial TR_TLS_FAILED %s", why);
    const char *text = said();
    ck_assert_msg(strstr(text, expected), "%s", text);
    ck_assert_str_eq(log, ""); /* tr_closed has the reason */
    log = wary_run(wary_connect);
    ck_assert_ptr_null(strstr(said(), "connected"));
    ck_assert_msg(strstr(log, "ERROR") && strstr(log, line), "%s", log);
    ck_assert_ptr_null(strstr(log, "WARN"));
    end();
}

TEST(a_client_says_why_it_refuses_a_certificate, "C-15", "CH-17")
{
    play_refusal("expired", "authority.pem", "certificate has expired");
    play_refusal("early", "authority.pem", "certificate is not yet valid");
    play_refusal("other", "authority.pem", "certificate has another name: expected shop.example");
    play_refusal("shop", "stranger.pem", "unknown authority");
    play_refusal("stranger", "authority.pem", "unknown authority: the certificate signs itself");
}

static void play_unusable(turn *how, const char *level)
{
    ck_assert_int_eq(unsetenv("TROUPE_KIT_LOG"), 0);
    prepare(1, false);
    trusted = "/no/such.pem";
    ck_assert_int_eq(tr_try_spawn(test, &wary, wary, NULL), TR_OK);
    const char *log = wary_run(how);
    const char *line = strstr(log, "cannot connect to " SERVER ": ");
    ck_assert_msg(line && strstr(log, level) && strstr(line, trusted), "%s", log);
    ck_assert_msg(!strstr(line + 1, "cannot connect"), "%s", log); /* once */
    const char *text = said();
    ck_assert_msg(how != wary_dial ||
                      (strstr(text, "dial TR_TLS_FAILED ") && strstr(text, trusted)),
                  "%s",
                  text);
    end();
}

TEST(a_client_says_which_file_cannot_be_used, "C-15")
{
    play_unusable(wary_try, "WARN");
    play_unusable(wary_dial, "ERROR");
    play_unusable(wary_connect, "ERROR");
}

/* ---- Several names at one address. ---- */

static char other_pem[128], other_key[128];

static tr_next listen_hosts(tr_self *self)
{
    const tr_tls_host hosts[] = {
        {.name = "other.example", .certificate = other_pem, .key = other_key}, {.name = NULL}};
    listener = tr_listen(self,
                         session,
                         TR_TLS(SERVER,
                                .certificate = server_pem,
                                .key = server_key,
                                .hosts = hosts,
                                .framing = TR_LINES));
    return TR_SAME;
}

static tr_next talk_to_shop(tr_self *self)
{
    return talk_as(
        self,
        TR_TLS(SERVER, .trusts = authority, .server_name = "shop.example", .framing = TR_LINES));
}

static tr_next talk_to_third(tr_self *self)
{
    return talk_as(
        self,
        TR_TLS(SERVER, .trusts = authority, .server_name = "third.example", .framing = TR_LINES));
}

/* Each of the two certificates is only good for its own name. */
TEST(a_listener_shows_the_certificate_of_the_name, "C-15")
{
    prepare(1, false);
    snprintf(other_pem, sizeof other_pem, "%s", certificate_path(&at, "other.pem"));
    snprintf(other_key, sizeof other_key, "%s", certificate_path(&at, "other.key"));
    HOST(host, listen_hosts);
    turn *const known[] = {talk_to_shop, talk_to_other};
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 2; i++) {
            host_run(known[i]);
            tr_kit_advance(kit, TR_SECOND);
            SAID("opened - -; client you said hello; closed TR_CLOSED -");
        }
        host_run(reload); /* the second round is with what was read again */
        SAID("TR_OK");
    }
    host_run(talk_to_third); /* gets the certificate of the shop */
    tr_kit_advance(kit, TR_SECOND);
    const char *text = said();
    ck_assert_msg(strstr(text, "client TR_TLS_FAILED"), "%s", text);
    end();
}

SUITE("channels with TLS", a_client_says_why_it_refuses_a_certificate,
      a_client_says_which_file_cannot_be_used, a_listener_shows_the_certificate_of_the_name,
      lines_go_through_tls, an_end_before_the_handshake_comes_after_what_was_written,
      both_sides_show_certificates, a_client_does_not_talk_to_another_name,
      plain_text_to_a_port_of_tls_is_told, files_that_cannot_be_used_are_found_when_listening,
      certificates_are_replaced_while_running, a_file_is_sent_through_tls,
      a_session_with_tls_has_its_budget, many_handshakes_let_others_through,
      a_client_that_is_killed_while_its_files_are_read_leaves_nothing)
