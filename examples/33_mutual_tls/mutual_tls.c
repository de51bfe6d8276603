/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A server that speaks only to those whose certificate its own authority has signed, and knows them by name. It has two
 * names, with a certificate for each (SNI). Certificates may be replaced while it runs: SIGHUP has them read again, new
 * connections get the new ones, those that are open continue.
 *
 *     33_mutual_tls 127.0.0.1:7443 &
 *     openssl s_client -connect localhost:7443 -cert anna.pem -key anna.key -CAfile authority.pem
 *     openssl s_client -connect localhost:7443 -servername shop.example -cert anna.pem -key anna.key -CAfile authority.pem
 *
 * server.pem, shop.pem, their keys and authority.pem are in the current directory.
 */
#include <signal.h>
#include <stdio.h>
#include <troupe/troupe.h>

/* ---- A connection. ---- */

static tr_next on_opened(tr_self *self, const struct tr_opened *message)
{
    tr_print(self, message->channel, "Hello, %s\n", tr_peer_name(self, message->channel));
    return TR_SAME;
}

static tr_next on_line(tr_self *self, const struct tr_received *line)
{
    tr_print(self, line->channel, "You said: %s\n", (const char *)line->bytes.data);
    return TR_SAME;
}

static tr_next on_closed(tr_self *self, const struct tr_closed *message)
{
    if (message->status == TR_TLS_FAILED)
        tr_log_warn(self, "a stranger: %s", message->text ? message->text : "no reason");
    return TR_STOP;
}

TR_BEHAVIOR(session, void, TR_ON(tr_opened, on_opened), TR_ON(tr_received, on_line),
            TR_ON(tr_closed, on_closed));

/* ---- The server. ---- */

struct server {
    tr_listener_ref listener;
};

static const tr_tls_host hosts[] = {
    {.name = "shop.example", .certificate = "shop.pem", .key = "shop.key"}, {.name = NULL}};

static tr_next on_args(tr_self *self, struct server *server, const struct tr_args *message)
{
    const char *address = message->argv.count > 1 ? message->argv.items[1] : "127.0.0.1:7443";
    server->listener = tr_listen(self,
                                 session,
                                 TR_TLS(address,
                                        .certificate = "server.pem",
                                        .key = "server.key",
                                        .hosts = hosts,
                                        .trusts = "authority.pem",
                                        .verify = TR_VERIFY_REQUIRED,
                                        .framing = TR_LINES,
                                        .idle_ns = 5 * TR_MINUTE));
    tr_signals(self, SIGHUP);
    printf("listening at %s\n", tr_address_text(self, tr_listener_address(self, server->listener)));
    fflush(stdout);
    return TR_SAME;
}

static tr_next on_signal(tr_self *self, struct server *server)
{
    tr_status status = tr_listener_reload(self, server->listener);
    printf("%s\n", status == TR_OK ? "new certificates" : "the old certificates stay");
    fflush(stdout);
    return TR_SAME;
}

TR_BEHAVIOR(server, struct server, TR_ON(tr_args, on_args), TR_ON(tr_signal, on_signal));

int main(int argc, char **argv)
{
    return tr_app_main(argc, argv, server);
}
