/* SPDX-License-Identifier: Apache-2.0 */
#include "net/endpoint.h"

#include <string.h>

#include "base/sized.h"
#include "net/protocol.h"
#include "net/tls_context.h"
#include "net/user_filter.h"

/*
 * The offsets of the members of an endpoint that are strings. tr__endpoint_new copies these
 * strings.
 */
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

/* Whether an endpoint of this kind can listen, connect or bind, as `role` requires. */
static bool kind_fits(const tr_endpoint *options, enum endpoint_role role)
{
    switch ((tr_endpoint_kind)options->kind) {
    case TR_ENDPOINT_TCP:
    case TR_ENDPOINT_TLS:
    case TR_ENDPOINT_UNIX:
        return role != ENDPOINT_BINDS;
    case TR_ENDPOINT_UDP:
    case TR_ENDPOINT_UNIX_DATAGRAM:
        return role == ENDPOINT_BINDS;
    }
    return false;
}

static bool has_tls_options(const tr_endpoint *options)
{
    return options->certificate || options->key || options->hosts || options->trusts ||
           options->verify != TR_VERIFY_NONE || options->insecure || options->server_name ||
           options->alpn || options->starts_plain;
}

static bool has_stream_options(const tr_endpoint *options)
{
    return options->framing || options->output_max || options->connect_ns || options->idle_ns ||
           options->stall_ns || options->linger_ns || options->delays || options->in_flight_max ||
           options->filters.filters[0] || options->interleaves || options->answers_in_order;
}

/*
 * Whether each filter of the program has all functions that it needs, and the list of filters has
 * no gap.
 */
static bool filters_fit(const tr_endpoint *options)
{
    bool is_over = false;
    for (size_t i = 0; i < TR_FILTERS_MAX; i++) {
        const tr_filter *filter = options->filters.filters[i];
        if (filter && (is_over || !tr__user_filter_is_valid(filter)))
            return false;
        is_over |= !filter;
    }
    return true;
}

static bool has_listener_options(const tr_endpoint *options)
{
    return options->connections_max || options->connections_per_peer_max || options->backlog ||
           options->has_proxy_header || options->accepted_by.bits;
}

/* Checks that no option is set that would have no effect. */
static bool options_fit(const tr_endpoint *options, enum endpoint_role role)
{
    bool is_unix = options->kind == TR_ENDPOINT_UNIX || options->kind == TR_ENDPOINT_UNIX_DATAGRAM;
    if (options->kind != TR_ENDPOINT_TLS && has_tls_options(options))
        return false;
    if (role == ENDPOINT_BINDS && has_stream_options(options))
        return false;
    if (role != ENDPOINT_LISTENS && has_listener_options(options))
        return false;
    if (options->http && !options->protocol)
        return false;
    enum endpoint_role its_role =
        options->protocol && options->protocol->dials ? ENDPOINT_CONNECTS : ENDPOINT_LISTENS;
    if (options->protocol &&
        (role != its_role || options->framing || options->interleaves || options->accepted_by.bits))
        return false;
    if (role != ENDPOINT_CONNECTS && options->source)
        return false;
    if (role == ENDPOINT_CONNECTS && (options->only_v6 || options->reuses_port))
        return false;
    return !is_unix || !(options->only_v6 || options->reuses_port || options->delays ||
                         options->source || options->has_proxy_header);
}

static bool is_valid(const tr_endpoint *options, enum endpoint_role role)
{
    if (options->answers_in_order && !options->interleaves)
        /*
         * without .interleaves, .answers_in_order has no effect, because the answers are in order
         * anyway
         */
        return false;
    return options->address && options->address[0] && options->connect_ns >= 0 &&
           options->idle_ns >= 0 && options->stall_ns >= 0 && options->linger_ns >= 0 &&
           options->frame_max <= TR_PAYLOAD_MAX && options->output_max <= SIZE_MAX / 64 &&
           kind_fits(options, role) && options_fit(options, role) && filters_fit(options);
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
                           enum endpoint_role role, struct endpoint **made)
{
    tr_endpoint options;
    if (!from ||
        !sized_read(&options, sizeof options, from, from->size ? from->size : sizeof options) ||
        !is_valid(&options, role))
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

tr_status tr__endpoint_place(const tr_endpoint *options, tr_socket_spec *spec)
{
    bool is_unix = options->kind == TR_ENDPOINT_UNIX || options->kind == TR_ENDPOINT_UNIX_DATAGRAM;
    if (!is_unix && strncmp(options->address, "fd:", 3) != 0)
        return tr_address_parse(options->address, &spec->address);
    spec->path = options->address;
    spec->address.family = TR_FAMILY_UNIX;
    return TR_OK;
}

void tr__endpoint_note_file(const tr_platform *platform, struct endpoint *endpoint)
{
    const tr_endpoint *options = &endpoint->options;
    bool is_unix = options->kind == TR_ENDPOINT_UNIX || options->kind == TR_ENDPOINT_UNIX_DATAGRAM;
    if (is_unix && strncmp(options->address, "fd:", 3) != 0)
        platform->socket_file(platform, options->address, endpoint->file);
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
    const struct tr_protocol *protocol = endpoint->options.protocol;
    if (endpoint->site)
        protocol->drop(source, endpoint->site);
    source_resize(source, endpoint, 0);
}
