/* SPDX-License-Identifier: Apache-2.0 */
/** TLS that begins on an open channel: STARTTLS. On the network of kits. */
#include "support/certificates.h"
#include "support/net.h"

static struct certificates at;
static char server_pem[128], server_key[128], authority[128];

/* ---- A server: lines, and TLS after STARTTLS. ---- */

static tr_next on_line(tr_self *self, const struct tr_received *line)
{
    const char *text = line->bytes.data;
    tr_channel channel = line->channel;
    say("server got %s", text);
    if (strcmp(text, "STARTTLS") != 0) {
        tr_print(self, channel, "you said %s\n", text);
        return TR_SAME;
    }
    tr_write_text(self, channel, "220 ready\n");
    ck_assert_ptr_null(tr_peer_protocol(self, channel));
    tr_status status = tr_start_tls(self, channel);
    say("server %s", tr_status_name(status));
    if (status == TR_OK)
        say("again %s", tr_status_name(tr_start_tls(self, channel)));
    return TR_SAME;
}

static tr_next on_closed(const struct tr_closed *message)
{
    say("closed %s %s", tr_status_name(message->status), message->text ? message->text : "-");
    return TR_STOP;
}

TR_BEHAVIOR(session, void, TR_ON(tr_received, on_line), TR_ON(tr_closed, on_closed));

static tr_next on_client_closed(void)
{
    return TR_SAME;
}

TR_BEHAVIOR(host, void, TR_ON(run, on_run), TR_ON(tr_closed, on_client_closed));

static tr_next listen(tr_self *self)
{
    listener = tr_listen(self,
                         session,
                         TR_TLS(SERVER,
                                .certificate = server_pem,
                                .key = server_key,
                                .alpn = "post/2,post/1",
                                .starts_plain = true,
                                .framing = TR_LINES));
    return TR_SAME;
}

static void begin(uint64_t seed)
{
    certificates_init(&at);
    snprintf(server_pem, sizeof server_pem, "%s", certificate_path(&at, "shop.pem"));
    snprintf(server_key, sizeof server_key, "%s", certificate_path(&at, "shop.key"));
    snprintf(authority, sizeof authority, "%s", certificate_path(&at, "authority.pem"));
    kit_open(2, seed);
    tr_kit_advance(kit, (time(NULL) - 1704067200) * TR_SECOND); /* a kit begins in 2024 */
    HOST(host, listen);
}

static void end(void)
{
    tr_kit_advance(kit, TR_SECOND);
    ck_assert_uint_eq(tr_kit_open_channels(kit), 1);
    kit_close();
    certificates_deinit(&at);
}

/* ---- Clients. ---- */

static tr_next talk(tr_self *self)
{
    tr_bytes line;
    tr_channel channel = tr_connect(self,
                                    TR_TLS(SERVER,
                                           .trusts = authority,
                                           .server_name = "shop.example",
                                           .alpn = "post/1,post/2",
                                           .starts_plain = true,
                                           .framing = TR_LINES));
    tr_write_text(self, channel, "hello\n");
    ck_assert(tr_read(self, channel, &line));
    say("client %s", (const char *)line.data);
    tr_write_text(self, channel, "STARTTLS\n");
    ck_assert(tr_read(self, channel, &line));
    say("client %s", (const char *)line.data);
    tr_status status = tr_start_tls(self, channel);
    const char *protocol = tr_peer_protocol(self, channel);
    say("client %s %s %s",
        tr_status_name(status),
        tr_peer_name(self, channel) ? "verified" : "-",
        protocol ? protocol : "-");
    tr_write_text(self, channel, "secret\n");
    if (status == TR_OK && tr_read(self, channel, &line))
        say("client %s", (const char *)line.data);
    tr_close(self, channel);
    return TR_SAME;
}

TEST(tls_begins_on_an_open_channel, "C-15", "C-03")
{
    for (uint64_t seed = 1; seed <= 4; seed++) {
        begin(seed);
        if (seed > 2)
            tr_kit_set_network(kit, &(tr_kit_network){.piece_max = seed == 3 ? 1 : TR_KIT_RANDOM});
        host_run(talk);
        tr_kit_advance(kit, TR_SECOND);
        const char *text = said();
        ck_assert_msg(strstr(text,
                             "server got hello; client you said hello; "
                             "server got STARTTLS; client 220 ready; ") == text &&
                          strstr(text, "server TR_OK; again TR_INVALID_TRANSITION") &&
                          strstr(text, "client TR_OK verified post/2") &&
                          strstr(text, "server got secret") &&
                          strstr(text, "client you said secret"),
                      "%s",
                      text);
        end();
    }
}

/* Text that somebody on the way has put behind the request for TLS is not taken as if it came through TLS. */
TEST(plain_text_behind_the_request_for_tls_is_refused, "C-15", "U-02")
{
    for (uint64_t seed = 1; seed <= 4; seed++) {
        begin(seed);
        tr_kit_peer *peer = peer_new();
        peer_send(peer, "STARTTLS\nsend all my mail to eve\n");
        tr_kit_advance(kit, TR_SECOND);
        SAID("server got STARTTLS; server TR_TLS_FAILED; "
             "closed TR_TLS_FAILED the other side does not speak TLS: plain text came");
        ck_assert_int_eq(tr_kit_peer_status(peer), TR_RESET);
        tr_kit_peer *later = peer_new(); /* it comes while the handshake waits */
        peer_send(later, "STARTTLS\n");
        peer_send(later, "send all my mail to eve\n");
        SAID("server got STARTTLS; server TR_TLS_FAILED; "
             "closed TR_TLS_FAILED the other side does not speak TLS: plain text came");
        tr_kit_close(peer);
        tr_kit_close(later);
        end();
    }
}

/* A client need not wait for the answer: what it sends behind its request is TLS. */
TEST(tls_may_follow_the_request_at_once, "C-15", "C-03")
{
    begin(1);
    tr_kit_peer *peer = peer_new();
    (void)tr_kit_send(peer, TR_BYTES("STARTTLS\n\x16\x03\x01\x00\x05 oops"));
    tr_kit_advance(kit, TR_SECOND);
    const char *text = said(); /* it was looked at as TLS: not as a line, and not as plain text */
    ck_assert_msg(strstr(text, "closed TR_TLS_FAILED") && !strstr(text, "plain text") &&
                      !strstr(text, "oops"),
                  "%s",
                  text);
    tr_kit_close(peer);
    end();
}

TEST(a_handshake_that_does_not_come_ends_the_channel, "C-15", "C-05")
{
    begin(1);
    tr_kit_peer *peer = peer_new();
    peer_send(peer, "STARTTLS\n");
    tr_kit_advance(kit, TR_CONNECT_NS);
    SAID("server got STARTTLS; server TR_TIMEOUT; closed TR_TIMEOUT -");
    tr_kit_close(peer);
    end();
}

SUITE("STARTTLS", tls_begins_on_an_open_channel, plain_text_behind_the_request_for_tls_is_refused,
      tls_may_follow_the_request_at_once, a_handshake_that_does_not_come_ends_the_channel)
