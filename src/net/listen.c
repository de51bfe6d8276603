/* SPDX-License-Identifier: Apache-2.0 */
/** The verb tr_listen: checks its arguments, opens the socket and spawns the listener. */
#include <string.h>

#include "actor/cell/verb.h"
#include "actor/life/spawn.h"
#include "base/sized.h"
#include "net/channel.h"
#include "net/endpoint.h"
#include "net/listener.h"
#include "net/listener_shared.h"
#include "net/protocol.h"
#include "net/secure.h"

static bool handles(const tr_behavior *behavior, const tr_type *type)
{
    for (size_t i = 0; i < behavior->handler_count; i++) {
        const tr_handler *handler =
            (const tr_handler *)(const void *)((const char *)behavior->handlers +
                                               i * behavior->handler_size);
        if (tr_type_is_equal(handler->type, type))
            return true;
    }
    return false;
}

/* Whether the behavior has a handler that can get the connection of a session. */
static bool behavior_fits(const tr_listen_args *args, const tr_endpoint *options)
{
    if (options->accepted_by.bits)
        return !args->setup_type && handles(args->behavior, &tr_type_tr_connection);
    return handles(args->behavior, &tr_type_tr_received) ||
           handles(args->behavior, &tr_type_tr_opened);
}

/*
 * Checks the behavior of sessions and their set-up message. So a mistake makes tr_listen fail at
 * once. Otherwise each connection would fail later. Logs what is wrong. Checks nothing if
 * .accepted_by is set, because such a listener starts no sessions.
 */
static tr_status sessions_check(struct tr_self *self, const tr_listen_args *args,
                                const tr_endpoint *options)
{
    tr_error error = {.status = TR_OK};
    const tr_spawn_args spawn = {.size = sizeof spawn,
                                 .behavior = args->behavior,
                                 .worker = -1,
                                 .setup_type = args->setup_type,
                                 .setup = args->setup,
                                 .error = &error};
    tr_status status = TR_OK;
    if (!options->accepted_by.bits)
        status = tr__spawn_check(self->worker->system, &spawn);
    if (status != TR_OK)
        tr_log_error(self,
                     "cannot listen at %s: %s",
                     options->address,
                     error.status ? error.text : tr_status_text(status));
    return status;
}

static tr_status socket_make(struct tr_self *self, const tr_endpoint *options, int *fd,
                             tr_address *address)
{
    const tr_platform *platform = self->worker->loop.platform;
    tr_socket_spec spec = {.size = sizeof spec,
                           .role = TR_SOCKET_LISTEN,
                           .reuses_port = options->reuses_port,
                           .only_v6 = options->only_v6,
                           .delays = options->delays,
                           .backlog = options->backlog,
                           .stall_ns = options->stall_ns};
    tr_status status = tr__endpoint_place(options, &spec);
    if (status == TR_OK)
        status = platform->socket_open(platform, &spec, fd);
    if (status == TR_INVALID_ARGUMENT && spec.path && strncmp(spec.path, "fd:", 3) == 0)
        tr_log_error(
            self,
            "cannot listen at %s: this process was given no such socket that listens, or "
            "several of that name; fd:3 is the first (LISTEN_PID, LISTEN_FDS, LISTEN_FDNAMES)",
            options->address);
    if (status == TR_OK)
        (void)platform->socket_address(platform, *fd, false, address);
    return status;
}

/* Spawns the actor of a listener whose socket is open. Takes ownership of the descriptor. */
static tr_status listener_spawn(struct tr_self *self, struct listener_shared *shared, int fd,
                                uint64_t *ref)
{
    const tr_platform *platform = self->worker->loop.platform;
    tr_error error = {.status = TR_OK};
    struct tr_listener_open_ open = {.shared = (uintptr_t)shared, .fd = fd};
    tr_spawn_args args = {.size = sizeof args,
                          .behavior = &tr_behavior_tr_listener,
                          .worker = -1,
                          .setup_type = &tr_type_tr_listener_open_,
                          .setup = &open,
                          .error = &error};
    tr_status status = tr_self_try_spawn(self, &args, ref);
    if (status != TR_OK && !shared->has_socket)
        platform->socket_close(platform, fd, false);
    return status == TR_INIT_FAILED && error.status != TR_OK ? error.status : status;
}

tr_status tr_self_try_listen(tr_self *self, const tr_listen_args *given, uint64_t *ref_bits)
{
    TURN_VERB(self);
    tr_listen_args read;
    const tr_listen_args *args = &read;
    if (!self || !given || !sized_read(&read, sizeof read, given, given->size) || !read.behavior ||
        !ref_bits || !read.at)
        return TR_INVALID_ARGUMENT;
    if (!tr__cell_may_have_channels(self->cell) || args->behavior->options.has_no_channels)
        return TR_NOT_A_CHANNEL_ACTOR;
    struct tr_system *system = self->worker->system;
    struct endpoint *endpoint;
    struct listener_shared *shared = NULL;
    int fd = -1;
    tr_status status = tr__endpoint_new(&system->source, args->at, ENDPOINT_LISTENS, &endpoint);
    if (status != TR_OK)
        return status;
    const struct tr_protocol *protocol = endpoint->options.protocol;
    if (protocol)
        status = protocol->open(self, endpoint, args->behavior);
    else if (!behavior_fits(args, &endpoint->options))
        status = TR_INVALID_ARGUMENT;
    if (status == TR_OK)
        status = sessions_check(self, args, &endpoint->options);
    if (status == TR_OK && endpoint->options.kind == TR_ENDPOINT_TLS)
        status = tr__secure_prepare(self, endpoint);
    if (status == TR_OK)
        status = tr__listener_shared_new(system, endpoint, args, &shared);
    if (status == TR_OK)
        status = socket_make(self, &endpoint->options, &fd, &shared->address);
    if (status == TR_OK)
        tr__endpoint_note_file(self->worker->loop.platform, endpoint);
    if (status == TR_OK)
        status = listener_spawn(self, shared, fd, ref_bits);
    if (status != TR_OK && endpoint->file[1])
        self->worker->loop.platform->socket_file_remove(
            self->worker->loop.platform, endpoint->options.address, endpoint->file);
    if (shared)
        tr__listener_shared_drop(shared);
    tr__endpoint_drop(&system->source, endpoint);
    return status;
}

/* Returns a text that says why a listener could not be made. */
static const char *why_not(const tr_endpoint *at, tr_status status)
{
    if (status != TR_ADDRESS_INVALID)
        return tr_status_text(status);
    if (at->kind == TR_ENDPOINT_UNIX)
        return "its directory is missing, or the path is too long";
    return "a listener takes an address of this machine, such as 127.0.0.1:7000 or :7000, and no "
           "name";
}

tr_ref tr_self_listen(tr_self *self, const tr_listen_args *args)
{
    TURN_VERB(self);
    uint64_t ref = 0;
    tr_status status = tr_self_try_listen(self, args, &ref);
    if (status != TR_OK)
        tr_crash(self,
                 status,
                 "cannot listen at %s: %s",
                 args && args->at && args->at->address ? args->at->address : "no address",
                 args && args->at ? why_not(args->at, status) : tr_status_text(status));
    return tr_ref_from_bits(ref);
}
