/* SPDX-License-Identifier: Apache-2.0 */
#include "server.h"

#include "account.h"

/* What strangers may ask. Add a guard before the address is one that strangers can reach. */
TR_EXPOSE(account, deposit, withdraw, TR_BY_GET(get_balance));

static tr_next on_serve(tr_self *self, const struct serve *message)
{
    const tr_http_options options = {.has_health = true}; /* /healthz and /readyz */
    tr_listener_ref listener;
    tr_status status =
        tr_try_gateway(self, &listener, TR_HTTP(message->address, .http = &options), account);
    if (status != TR_OK)
        return tr_refuse(self, status, "%s", tr_status_text(status));
    tr_address address = tr_listener_address(self, listener);
    return tr_reply(self, served, .address = tr_address_text(self, address));
}

TR_BEHAVIOR(server, void, TR_ON(serve, on_serve));
