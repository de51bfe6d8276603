/* SPDX-License-Identifier: Apache-2.0 */
#include "inspect/inspector.h"

#include <stdio.h>
#include <string.h>
#include <troupe/http.h>
#include <troupe/system.h>

#include "inspect/inside.h"
#include "inspect/token.h"

enum { ACTORS_MAX = 256, CONNECTIONS_MAX = 64 };
#define START_NS (5 * TR_SECOND)
#define STOP_NS TR_SECOND

/* ---- The listener. ---- */

TR_ACTOR(tr_inspect_port);

/* Whether only this machine can reach the inspector. */
static bool is_local(const struct inspector_options *options)
{
    tr_address parsed;
    return tr_address_parse(options->address, &parsed) == TR_OK && tr__guard_is_loopback(&parsed);
}

static tr_next on_port(tr_self *self, const struct tr_inspect_begin *message)
{
    struct inspector *inspector = inspector_of(message);
    const struct inspector_options *options = &inspector->options;
    /* Compressing the script takes 5 ms, in which no page gets anything. Without a network the whole script takes 0.4 ms. */
    const tr_http_options http = {.ws_message_max = 2 * INSPECTOR_REQUEST_MAX,
                                  .has_no_http2 = true,
                                  .compresses = !is_local(options)};
    const char *certificate = options->certificate;
    const tr_endpoint *endpoint = certificate
                                      ? TR_HTTPS(options->address,
                                                 .http = &http,
                                                 .connections_max = CONNECTIONS_MAX,
                                                 .stall_ns = INSPECTOR_SLOW_NS,
                                                 .certificate = certificate,
                                                 .key = options->key ? options->key : certificate)
                                      : TR_HTTP(options->address,
                                                .http = &http,
                                                .connections_max = CONNECTIONS_MAX,
                                                .stall_ns = INSPECTOR_SLOW_NS);
    tr_listener_ref listener;
    tr_status status = tr_try_listen(self,
                                     &listener,
                                     tr_inspect_page,
                                     endpoint,
                                     tr_inspect_begin,
                                     .inspector = message->inspector);
    if (status == TR_NOT_SUPPORTED)
        return tr_fail(self,
                       status,
                       "the library was built without %s",
                       certificate ? "HTTP or without TLS" : "HTTP");
    if (status != TR_OK)
        return tr_fail(self,
                       status,
                       "cannot listen at %s%s%s: %s",
                       options->address,
                       certificate ? " with the certificate " : "",
                       certificate ? certificate : "",
                       tr_status_text(status));
    inspector->address = tr_listener_address(self, listener);
    return TR_SAME;
}

TR_BEHAVIOR(tr_inspect_port, void, TR_SETUP_WITH(tr_inspect_begin, on_port),
            TR_OPTIONS(.restart = TR_TEMPORARY));

/* ---- Life. ---- */

/* Starts the listener of the inspector, and waits until it listens. */
static tr_status port_start(struct inspector *inspector, char *why)
{
    tr_inspect_port_ref port;
    tr_error error = {.status = TR_OK};
    tr_status status = tr_try_spawn(inspector->client,
                                    &port,
                                    tr_inspect_port,
                                    "inspector",
                                    tr_inspect_begin,
                                    .inspector = (uintptr_t)inspector);
    if (status == TR_OK)
        status = tr_spawn_wait(inspector->client, port, START_NS, &error);
    if (status == TR_INIT_FAILED && error.status != TR_OK)
        status = error.status;
    if (status != TR_OK)
        (void)snprintf(
            why, INSPECTOR_WHY_SIZE, "%s", error.text[0] ? error.text : tr_status_text(status));
    return status;
}

static tr_status system_start(struct inspector *inspector, char *why)
{
    const tr_system_options options = {.name = "inspector",
                                       .workers = 1,
                                       .actors_max = ACTORS_MAX,
                                       .spin_ns = -1,
                                       .on_log = inspector->options.on_log,
                                       .context = inspector->options.log_context};
    tr_status status = tr_system_new(&options, &inspector->system);
    if (status == TR_OK)
        status = tr_system_start(inspector->system);
    if (status == TR_OK)
        status = tr_client_new(inspector->system, &inspector->client);
    if (status == TR_OK)
        return port_start(inspector, why);
    (void)snprintf(why, INSPECTOR_WHY_SIZE, "it cannot be started: %s", tr_status_text(status));
    return status;
}

/* Returns why the inspector must not serve pages at an address, or NULL if it may serve them. */
static const char *address_is_wrong(const struct inspector_options *options)
{
    tr_address parsed;
    if (tr_address_parse(options->address, &parsed) != TR_OK)
        return "this is no address; 127.0.0.1:0 is one";
    if (tr__guard_is_loopback(&parsed) || (options->anywhere && options->certificate))
        return NULL;
    return options->anywhere
               ? "others can reach this address, and read what is not encrypted: a certificate is "
                 "needed"
               : "others can reach this address; 127.0.0.1:0 is one that only this machine can, "
                 "and ssh -L leads there from another one";
}

/* Returns why options do not fit together, or NULL if they fit. */
static const char *options_are_wrong(const struct inspector_options *options)
{
    if (options->key && !options->certificate)
        return "a key is of no use without its certificate";
    if (options->host && !tr__guard_is_name(options->host))
        return "the name of a machine has letters, digits, '-' and '.', and no port";
    return NULL;
}

/*
 * Writes the URL for a browser. If the socket listens at all addresses of this machine, the URL has
 * one of them, because a browser can use any.
 */
static void url_write(struct inspector *inspector)
{
    static const uint8_t all[16];
    const struct inspector_options *options = &inspector->options;
    char text[TR_ADDRESS_TEXT_MAX];
    char name[GUARD_NAME_MAX + 8];
    const tr_address *at = &inspector->address;
    bool is_all = memcmp(at->host, all, at->family == TR_FAMILY_V4 ? 4 : sizeof all) == 0;
    (void)snprintf(name,
                   sizeof name,
                   "%s:%u",
                   options->host ? options->host : "localhost",
                   (unsigned)at->port);
    (void)snprintf(inspector->url,
                   sizeof inspector->url,
                   "%s://%s/#token=%s",
                   options->certificate ? "https" : "http",
                   options->host || is_all ? name : tr_address_print(at, text),
                   inspector->token);
}

tr_status tr__inspector_start(const struct inspector_options *options, struct inspector **inspector,
                              char why[INSPECTOR_WHY_SIZE])
{
    const tr_platform *platform = tr_platform_real();
    const char *misfit = options_are_wrong(options);
    const char *wrong = misfit ? misfit : address_is_wrong(options);
    if (wrong) {
        (void)snprintf(why, INSPECTOR_WHY_SIZE, "%s", wrong);
        return misfit ? TR_INVALID_ARGUMENT : TR_ADDRESS_INVALID;
    }
    struct inspector *made = platform->resize(platform, NULL, sizeof *made);
    if (!made) {
        (void)snprintf(why, INSPECTOR_WHY_SIZE, "%s", tr_status_text(TR_NO_MEMORY));
        return TR_NO_MEMORY;
    }
    memset(made, 0, sizeof *made);
    made->options = *options;
    made->since_ns = platform->wall_now(platform);
    atom32_init(&made->pages, 0);
    atom64_init(&made->dropped, 0);
    tr_status status =
        tr__token_take(platform, options->token_file, made->token, why, INSPECTOR_WHY_SIZE);
    if (status == TR_OK)
        status = system_start(made, why);
    if (status != TR_OK) {
        tr__inspector_stop(made);
        return status;
    }
    url_write(made);
    *inspector = made;
    return TR_OK;
}

const char *tr__inspector_url(const struct inspector *inspector)
{
    return inspector->url;
}

void tr__inspector_stop(struct inspector *inspector)
{
    const tr_platform *platform = tr_platform_real();
    if (!inspector)
        return;
    tr_client_free(inspector->client);
    if (inspector->system) {
        tr_system_shutdown(inspector->system, STOP_NS);
        (void)!tr_system_wait(inspector->system);
    }
    tr_system_free(inspector->system);
    platform->resize(platform, inspector, 0);
}
