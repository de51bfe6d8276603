/* SPDX-License-Identifier: Apache-2.0 */
#include "net/endpoint.h"

#include <string.h>

#include "net/tls_context.h"

/* The strings of an endpoint that are copied. */
static const size_t strings[] = {
    offsetof(tr_endpoint, address),
    offsetof(tr_endpoint, source),
    offsetof(tr_endpoint, certificate),
    offsetof(tr_endpoint, key),
    offsetof(tr_endpoint, trusts),
    offsetof(tr_endpoint, server_name),
    offsetof(tr_endpoint, alpn),
};
enum { STRINGS = sizeof strings / sizeof strings[0] };

static const char **string_at(tr_endpoint *options, size_t i)
{
    return (const char **)(void *)((char *)options + strings[i]);
}

static bool is_valid(const tr_endpoint *options)
{
    return options->kind >= TR_ENDPOINT_TCP && options->kind <= TR_ENDPOINT_UNIX_DATAGRAM &&
           options->address && options->address[0] && options->connect_ns >= 0 &&
           options->idle_ns >= 0 && options->stall_ns >= 0 && options->linger_ns >= 0 &&
           options->frame_max <= TR_PAYLOAD_MAX && options->output_max <= SIZE_MAX / 64;
}

static void fill_in(tr_endpoint *options)
{
    if (!options->frame_max)
        options->frame_max = TR_FRAME_MAX;
    if (!options->output_max)
        options->output_max = TR_OUTPUT_MAX;
    if (!options->connect_ns)
        options->connect_ns = TR_CONNECT_NS;
    if (!options->stall_ns)
        options->stall_ns = TR_STALL_NS;
    if (!options->linger_ns)
        options->linger_ns = TR_LINGER_NS;
    if (!options->in_flight_max)
        options->in_flight_max = TR_IN_FLIGHT_MAX;
    if (!options->backlog)
        options->backlog = TR_BACKLOG;
}

tr_status tr__endpoint_new(const struct memory_source *source, const tr_endpoint *from,
                           struct endpoint **made)
{
    if (!from || from->size > sizeof *from)
        return TR_INVALID_ARGUMENT;
    tr_endpoint options = {.size = sizeof options};
    memcpy(&options, from, from->size ? from->size : sizeof options);
    options.size = sizeof options;
    if (!is_valid(&options))
        return TR_INVALID_ARGUMENT;
    size_t size = 0;
    for (size_t i = 0; i < STRINGS; i++)
        size += *string_at(&options, i) ? strlen(*string_at(&options, i)) + 1 : 0;
    struct endpoint *endpoint = source_resize(source, NULL, sizeof *endpoint + size);
    if (!endpoint)
        return TR_NO_MEMORY;
    char *at = (char *)(endpoint + 1);
    for (size_t i = 0; i < STRINGS; i++) {
        const char **string = string_at(&options, i);
        if (!*string)
            continue;
        size_t length = strlen(*string) + 1;
        *string = memcpy(at, *string, length);
        at += length;
    }
    fill_in(&options);
    *endpoint = (struct endpoint){.options = options};
    atom32_init(&endpoint->users, 1);
    *made = endpoint;
    return TR_OK;
}

struct endpoint *tr__endpoint_share(struct endpoint *endpoint)
{
    atom32_fetch_add(&endpoint->users, 1, ATOM_RELAXED);
    return endpoint;
}

void tr__endpoint_drop(const struct memory_source *source, struct endpoint *endpoint)
{
    if (!endpoint || atom32_fetch_sub(&endpoint->users, 1, ATOM_ACQ_REL) != 1)
        return;
    tr__tls_context_release(endpoint->tls);
    source_resize(source, endpoint, 0);
}
