/* SPDX-License-Identifier: Apache-2.0 */
#include "net/tls_context.h"

#include "net/tls_set.h"

#include <openssl/ssl.h>
#include <stdio.h>
#include <string.h>

struct tls_context {
    atom32 refs;
    struct tls_config *config; /* constant */
    struct tls_tickets tickets;
    struct lock lock;
    struct tls_set *set; /* the newest set; under the lock; retained */
};

static void context_free(struct tls_context *context)
{
    const tr_platform *platform = context->config->platform;
    tr__tls_set_release(context->set);
    tr__tls_tickets_deinit(&context->tickets);
    tr__tls_config_free(context->config);
    platform->resize(platform, context, 0);
}

tr_status tr__tls_context_new(const tr_platform *platform, const tr_endpoint *endpoint,
                              bool is_server, struct tls_context **context, char *why,
                              size_t why_size)
{
    struct tls_config *config;
    /*
     * Without this option, exit() would free OpenSSL's memory. If a shutdown was not complete, threads may still use
     * that memory.
     */
    if (OPENSSL_init_ssl(OPENSSL_INIT_NO_ATEXIT, NULL) != 1) {
        (void)snprintf(why, why_size, "OpenSSL cannot be started");
        return TR_NO_MEMORY;
    }
    tr_status status = tr__tls_config_new(platform, endpoint, is_server, &config, why, why_size);
    if (status != TR_OK)
        return status;
    struct tls_context *made = platform->resize(platform, NULL, sizeof *made);
    if (!made) {
        (void)snprintf(why, why_size, "out of memory for TLS");
        tr__tls_config_free(config);
        return TR_NO_MEMORY;
    }
    memset(made, 0, sizeof *made);
    made->config = config;
    atom32_init(&made->refs, 1);
    lock_init(&made->lock);
    status = tr__tls_tickets_init(&made->tickets, platform);
    if (status != TR_OK)
        (void)snprintf(why,
                       why_size,
                       status == TR_NO_MEMORY ? "out of memory for the keys of session tickets"
                                              : "no randomness for the keys of session tickets");
    else
        status = tr__tls_set_new(config, &made->tickets, &made->set, why, why_size);
    if (status == TR_OK)
        *context = made;
    else
        context_free(made);
    return status;
}

void tr__tls_context_retain(struct tls_context *context)
{
    (void)atom32_fetch_add(&context->refs, 1, ATOM_RELAXED);
}

void tr__tls_context_release(struct tls_context *context)
{
    /* pairs with the same operation of the other threads */
    if (context && atom32_fetch_sub(&context->refs, 1, ATOM_ACQ_REL) == 1)
        context_free(context);
}

tr_status tr__tls_context_reload(struct tls_context *context, char *why, size_t why_size)
{
    struct tls_set *set;
    tr_status status = tr__tls_set_new(context->config, &context->tickets, &set, why, why_size);
    if (status != TR_OK)
        return status;
    lock_take(&context->lock);
    struct tls_set *old = context->set;
    context->set = set;
    lock_give(&context->lock);
    tr__tls_set_release(old);
    return TR_OK;
}

bool tr__tls_context_is_for(const struct tls_context *context, const tr_endpoint *endpoint,
                            bool is_server)
{
    return tr__tls_config_is_for(context->config, endpoint, is_server);
}

struct tls_set *tr__tls_context_set(struct tls_context *context)
{
    lock_take(&context->lock);
    struct tls_set *set = context->set;
    tr__tls_set_retain(set);
    lock_give(&context->lock);
    return set;
}
