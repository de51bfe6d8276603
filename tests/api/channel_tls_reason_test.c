/* SPDX-License-Identifier: Apache-2.0 */
/** What a client says when TLS fails, whatever verb has opened the channel. On the network of kits. */
#include "support/certificates.h"
#include "support/net.h"

static struct certificates at;
static char server_pem[128], server_key[128];

/* ---- A listener with the certificate of the case. ---- */

static tr_next on_line(tr_self *self, const struct tr_received *line)
{
    tr_write(self, line->channel, line->bytes);
    return TR_SAME;
}

TR_BEHAVIOR(session, void, TR_ON(tr_received, on_line));
TR_BEHAVIOR(host, void, TR_ON(run, on_run));

static tr_next listen(tr_self *self)
{
    listener = tr_listen(
        self,
        session,
        TR_TLS(SERVER, .certificate = server_pem, .key = server_key, .framing = TR_LINES));
    return TR_SAME;
}

static void begin(void)
{
    ck_assert_int_eq(unsetenv("TROUPE_KIT_LOG"), 0); /* warnings are logged */
    certificates_init(&at);
    kit_open(1, 1);
    tr_kit_advance(kit, (time(NULL) - 1704067200) * TR_SECOND); /* a kit begins in 2024 */
}

static void end(void)
{
    kit_close();
    certificates_deinit(&at);
}

/* ---- A client. ---- */

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
    begin();
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
    begin();
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

SUITE("why TLS has failed", a_client_says_why_it_refuses_a_certificate,
      a_client_says_which_file_cannot_be_used)
