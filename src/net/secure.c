/* SPDX-License-Identifier: Apache-2.0 */
#include "net/secure.h"

tr_status tr__secure_prepare(struct tr_self *self, struct endpoint *endpoint, bool is_server)
{
    (void)self;
    (void)endpoint;
    (void)is_server;
    return TR_NOT_SUPPORTED;
}

void tr__secure_forget(struct endpoint *endpoint)
{
    (void)endpoint;
}

tr_status tr__secure_reload(struct endpoint *endpoint, char *why, size_t size)
{
    (void)endpoint;
    (void)why;
    (void)size;
    return TR_NOT_SUPPORTED;
}

tr_status tr__secure_attach(struct channel *channel, bool is_server)
{
    (void)channel;
    (void)is_server;
    return TR_NOT_SUPPORTED;
}

const char *tr__secure_protocol(const struct channel *channel)
{
    (void)channel;
    return NULL;
}

const char *tr__secure_peer_name(struct tr_self *self, const struct channel *channel)
{
    (void)self;
    (void)channel;
    return NULL;
}
