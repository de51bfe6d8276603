/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The functions of TLS for a build without TLS (-DTROUPE_TLS=OFF). No context can be made, so the
 * functions that need one are never called.
 */
#include "net/tls.h"

#include "base/assert.h"
#include "net/tls_context.h"

#include <stdio.h>

tr_status tr__tls_context_new(const tr_platform *platform, const tr_endpoint *endpoint,
                              bool is_server, struct tls_context **context, char *why,
                              size_t why_size)
{
    (void)platform;
    (void)endpoint;
    (void)is_server;
    (void)context;
    (void)snprintf(why, why_size, "this Troupe was built without TLS (TROUPE_TLS)");
    return TR_NOT_SUPPORTED;
}

void tr__tls_context_retain(struct tls_context *context)
{
    (void)context;
}

void tr__tls_context_release(struct tls_context *context)
{
    (void)context;
}

tr_status tr__tls_context_reload(struct tls_context *context, char *why, size_t why_size)
{
    (void)context;
    (void)snprintf(why, why_size, "this Troupe was built without TLS (TROUPE_TLS)");
    return TR_NOT_SUPPORTED;
}

bool tr__tls_context_is_for(const struct tls_context *context, const tr_endpoint *endpoint,
                            bool is_server)
{
    (void)context;
    (void)endpoint;
    (void)is_server;
    return false;
}

struct tls_set *tr__tls_context_set(struct tls_context *context)
{
    (void)context;
    TR_NOT_REACHED("there is no context without TLS");
}

tr_status tr__tls_begin(struct tls_context *context, unsigned worker, const char *server_name,
                        void **state)
{
    (void)context;
    (void)worker;
    (void)server_name;
    (void)state;
    return TR_NOT_SUPPORTED;
}

const struct filter tr__tls_filter = {.name = "tls"};

const char *tr__tls_peer_name(const void *state)
{
    (void)state;
    return NULL;
}

const char *tr__tls_protocol(const void *state)
{
    (void)state;
    return NULL;
}

bool tr__tls_is_resumed(const void *state)
{
    (void)state;
    return false;
}

uint8_t tr__tls_describe(const void *state, uint16_t *cipher)
{
    (void)state;
    (void)cipher;
    return 0;
}
