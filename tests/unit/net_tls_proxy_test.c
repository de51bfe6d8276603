/* SPDX-License-Identifier: Apache-2.0 */
/**
 * TLS behind a PROXY header: the header is plain, the client's handshake follows, also in the same packet. On the network of
 * kits; the client is a TLS filter of the test.
 */
#include "support/net.h"
#include "support/tls_pair.h"

TR_BEHAVIOR(host, void, TR_ON(run, on_run));

static struct certificates at;
static struct fake_memory memory;

static tr_next on_opened(tr_self *self, const struct tr_opened *message)
{
    tr_print(self, message->channel, "you are %s\n", tr_address_text(self, message->peer));
    return TR_SAME;
}

static tr_next on_received(tr_self *self, const struct tr_received *message)
{
    tr_write(self, message->channel, message->bytes);
    return TR_SAME;
}

TR_BEHAVIOR(session, void, TR_ON(tr_opened, on_opened), TR_ON(tr_received, on_received));

static tr_next listen_here(tr_self *self)
{
    listener = tr_listen(self,
                         session,
                         TR_TLS(SERVER,
                                .has_proxy_header = true,
                                .certificate = certificate_path(&at, "shop.pem"),
                                .key = certificate_path(&at, "shop.key")));
    return TR_SAME;
}

#define HEADER "PROXY TCP4 203.0.113.7 10.0.0.2 51000 443\r\n"

/* Moves bytes between the client's filter and its peer until both are quiet. */
static void pump(struct tls_end *client, tr_kit_peer *peer)
{
    for (;;) {
        tr_bytes bytes = net_buffer_bytes(&client->out);
        if (bytes.size > 0)
            net_buffer_consume(&client->out, tr_kit_send(peer, bytes));
        tr_bytes received = tr_kit_receive(peer, 0);
        if (received.size == 0 && net_buffer_size(&client->out) == 0)
            return;
        (void)tls_end_give(client, received);
    }
}

/* The header and the first packet of the handshake, in two portions. */
static void play(struct tls_context *context, size_t cut)
{
    struct tls_end client;
    tls_end_init(&client, context, 0, NULL, &memory.platform);
    tr_kit_peer *peer = peer_new();
    tr_bytes hello = net_buffer_bytes(&client.out);
    char first[2048] = HEADER;
    size_t size = strlen(HEADER) + hello.size;
    ck_assert_uint_lt(size, sizeof first);
    memcpy(first + strlen(HEADER), hello.data, hello.size);
    net_buffer_consume(&client.out, hello.size);
    cut = cut < size ? cut : size;
    ck_assert_uint_eq(tr_kit_send(peer, (tr_bytes){first, cut}), cut);
    tr_kit_settle(kit);
    ck_assert_uint_eq(tr_kit_send(peer, (tr_bytes){first + cut, size - cut}), size - cut);
    pump(&client, peer);
    ck_assert(tls_is_open(&client));
    tls_expect(&client, "you are 203.0.113.7:51000\n");
    tls_write(&client, "hello", 5);
    pump(&client, peer);
    tls_expect(&client, "hello");
    tr_kit_close(peer);
    tr_kit_settle(kit);
    ck_assert_uint_eq(tr_kit_open_channels(kit), 1);
    tls_end_deinit(&client);
}

TEST(a_handshake_follows_the_header_at_every_cut, "C-15", "CH-02")
{
    tls_memory_init(&memory);
    certificates_init(&at);
    kit_open(1, 1);
    HOST(host, listen_here);
    tr_endpoint endpoint = {.address = "shop.example:443",
                            .trusts = certificate_path(&at, "authority.pem")};
    struct tls_context *context = tls_context(&memory.platform, false, &endpoint);
    for (size_t cut = 0; cut < strlen(HEADER) + 16; cut++)
        play(context, cut);
    play(context, SIZE_MAX); /* all in one packet */
    tr__tls_context_release(context);
    kit_close();
    certificates_deinit(&at);
    ck_assert_uint_eq(memory.blocks, 0);
}

SUITE("net tls proxy", a_handshake_follows_the_header_at_every_cut)
