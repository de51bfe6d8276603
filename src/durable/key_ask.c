/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Asks by key. The request goes to the present generation. If that generation ends before it has
 * handled the request, the request goes to the next generation.
 *
 * Nearly always one attempt is enough. An attempt fails if the actor falls asleep on another worker
 * after its ref was found. The second attempt comes without a delay, and finds the next generation.
 * Later attempts come after a delay, so that the ask does not spin.
 */
#include "durable/key_ask.h"

#include <string.h>
#include <troupe/keys.h>
#include <troupe/wire.h>

#include "actor/ask/ask.h"
#include "actor/ask/await.h"
#include "actor/cell/client.h"
#include "actor/cell/system.h"
#include "actor/cell/verb.h"
#include "actor/verbs/client.h"
#include "actor/verbs/client_ask.h"
#include "durable/host.h"

/* The delay before the third attempt. The delay doubles before each later attempt, up to
 * AGAIN_MAX_NS. */
#define AGAIN_NS TR_MILLISECOND
#define AGAIN_MAX_NS (100 * TR_MILLISECOND)

/*
 * An ask by key. What is sent is either the message itself, or a tr_durable_once with the packed
 * message inside.
 */
struct key_ask {
    struct key_call call;
    const tr_type *type;
    const void *message;
    struct key_wrapped wrapped;
    tr_self *self; /* the turn that asks; NULL: a client asks */
    const struct memory_source *source;
    void *packed; /* the packed message, in memory of the turn or of `source` */
    tr_time deadline_ns;
    tr_time delay_ns; /* delay before the next attempt */
};

static tr_pending pending_of(tr_status status)
{
    return (tr_pending){PENDING_IS_STATUS | (uint32_t)-status};
}

/* Returns the handler for a message of this type. Returns NULL if there is none. */
static const tr_handler *handler_of(const tr_durable_kind *kind, const char *type)
{
    const tr_behavior *behavior = kind->behavior;
    for (size_t i = 0; i < behavior->handler_count; i++) {
        const tr_handler *handler = &behavior->handlers[i];
        if (handler->type && strcmp(handler->type->name, type) == 0)
            return handler;
    }
    return NULL;
}

/* Puts a message into a tr_durable_once. `bytes` has the packed message. */
static void wrap_bytes(const struct key_call *call, const tr_type *type, bool is_aside,
                       tr_bytes bytes, struct key_wrapped *wrapped)
{
    const struct tr_durable_once once = {.id = call->id,
                                         .type = type->name,
                                         .message = bytes,
                                         .connection = call->connection,
                                         .caller = call->caller};
    static_assert(sizeof(struct tr_durable_once) == sizeof(struct tr_durable_once_aside),
                  "they have the same fields");
    wrapped->once = once;
    wrapped->type = is_aside ? &tr_type_tr_durable_once_aside : &tr_type_tr_durable_once;
    wrapped->message = &wrapped->once;
}

/* Packs and wraps the message of a request that has an id or comes from a gateway. */
static tr_status key_ask_wrap(struct key_ask *ask)
{
    const tr_handler *handler = handler_of(ask->call.kind, ask->type->name);
    tr_wire_error error;
    if ((ask->call.id.size && !ask->call.id.data) || ask->call.id.size > TR_REQUEST_ID_MAX)
        return TR_INVALID_ARGUMENT;
    if (handler && handler->is_batch)
        return TR_NOT_SUPPORTED;
    size_t size = tr_pack(ask->type, ask->message, NULL, 0, &error);
    if (!size)
        return error.status;
    if (size > TR_PAYLOAD_MAX)
        return TR_TOO_LARGE;
    ask->packed =
        ask->self ? tr_try_scratch(ask->self, size) : source_resize(ask->source, NULL, size);
    if (!ask->packed)
        return TR_NO_MEMORY;
    (void)tr_pack(ask->type, ask->message, ask->packed, size, &error);
    bool is_aside = handler && handler->interleaves;
    wrap_bytes(&ask->call, ask->type, is_aside, (tr_bytes){ask->packed, size}, &ask->wrapped);
    ask->type = ask->wrapped.type;
    ask->message = ask->wrapped.message;
    return TR_OK;
}

tr_status tr__key_wrap(tr_self *self, const struct key_call *call, const tr_type *type,
                       const void *message, struct key_wrapped *wrapped)
{
    struct key_ask ask = {.call = *call,
                          .type = type,
                          .message = message,
                          .self = self,
                          .source = &self->worker->source};
    tr_status status = key_ask_wrap(&ask);
    *wrapped = ask.wrapped;
    wrapped->message = &wrapped->once;
    return status;
}

static tr_status key_ask_begin(struct key_ask *ask, tr_time now_ns, tr_time timeout_ns)
{
    if (!ask->call.kind || !ask->type || !ask->message)
        return TR_INVALID_ARGUMENT;
    if (timeout_ns < 0)
        return TR_TIMEOUT;
    ask->deadline_ns = timer_deadline(now_ns, timeout_ns ? timeout_ns : TR_ASK_NS);
    bool is_wrapped = ask->call.id.size || ask->call.caller || ask->call.connection;
    return is_wrapped ? key_ask_wrap(ask) : TR_OK;
}

/* Returns how long to wait before the next attempt. Returns 0 before the second attempt. Returns a
 * negative number if there is no time for another attempt. */
static tr_time key_ask_again(struct key_ask *ask, tr_time now_ns)
{
    tr_time delay_ns = ask->delay_ns;
    ask->delay_ns = delay_ns ? 2 * delay_ns : AGAIN_NS;
    if (ask->delay_ns > AGAIN_MAX_NS)
        ask->delay_ns = AGAIN_MAX_NS;
    return now_ns + delay_ns >= ask->deadline_ns ? -1 : delay_ns;
}

/* Whether a wake was refused because the earlier generation has not removed its name yet. The
 * earlier generation soon removes its name. If the wake was refused, nothing was sent. */
static bool is_leaving(const struct tr_system *system, tr_status status)
{
    return status == TR_STOPPING && !atom32_load(&system->ending.is_stopping, ATOM_RELAXED);
}

/* ---- In a turn. ---- */

static tr_pending self_ask(tr_self *self, struct key_ask *ask)
{
    for (;;) {
        uint64_t bits;
        tr_status status = tr_self_try_durable(self, ask->call.kind, ask->call.key, &bits);
        if (is_leaving(self->worker->system, status)) {
            tr_time delay_ns = key_ask_again(ask, tr_now(self));
            if (delay_ns >= 0 && tr_self_sleep(self, delay_ns ? delay_ns : AGAIN_NS, NULL) == TR_OK)
                continue;
        }
        if (status != TR_OK)
            return pending_of(status);
        tr_time left_ns = ask->deadline_ns - tr_now(self);
        tr_pending pending = tr_self_ask(
            self, tr_ref_from_bits(bits), ask->type, ask->message, left_ns > 0 ? left_ns : -1);
        status = tr_self_try_await(self, pending, NULL);
        bool is_safe = ask->call.id.size || tr__ask_is_unbegun(self, pending);
        if (status != TR_STOPPED || !is_safe)
            return pending;
        tr_time delay_ns = key_ask_again(ask, tr_now(self));
        if (delay_ns < 0 || (delay_ns && tr_self_sleep(self, delay_ns, NULL) != TR_OK))
            return pending;
    }
}

tr_pending tr_self_ask_key(tr_self *self, const tr_durable_kind *kind, tr_bytes key, tr_bytes id,
                           const tr_type *type, const void *message, tr_time timeout_ns)
{
    TURN_VERB(self);
    const struct key_call call = {.kind = kind, .key = key, .id = id};
    return self ? tr__self_ask_call(self, &call, type, message, timeout_ns)
                : pending_of(TR_INVALID_ARGUMENT);
}

tr_pending tr__self_ask_call(tr_self *self, const struct key_call *call, const tr_type *type,
                             const void *message, tr_time timeout_ns)
{
    struct key_ask ask = {.call = *call, .type = type, .message = message, .self = self};
    tr_status status = key_ask_begin(&ask, tr_now(self), timeout_ns);
    return status == TR_OK ? self_ask(self, &ask) : pending_of(status);
}

/* ---- Of a client. ---- */

static tr_pending client_ask(tr_client *client, struct key_ask *ask)
{
    const tr_platform *platform = client->system->platform;
    for (;;) {
        uint64_t bits;
        bool is_unbegun;
        tr_status status = tr_client_try_durable(client, ask->call.kind, ask->call.key, &bits);
        if (is_leaving(client->system, status) && !client->is_last) {
            tr_time from_ns = platform->mono_now(platform);
            tr_time pause_ns = key_ask_again(ask, from_ns);
            if (pause_ns >= 0) {
                pause_ns = pause_ns ? pause_ns : AGAIN_NS;
                while (tr__client_wait(client, from_ns + pause_ns))
                    tr__client_look(client);
                continue;
            }
        }
        if (status != TR_OK)
            return pending_of(status);
        tr_time left_ns = ask->deadline_ns - platform->mono_now(platform);
        tr_pending pending = tr_client_ask(
            client, tr_ref_from_bits(bits), ask->type, ask->message, left_ns > 0 ? left_ns : -1);
        bool has_stopped = tr__client_ask_has_stopped(client, pending, &is_unbegun);
        if (!has_stopped || client->is_last || (!is_unbegun && !ask->call.id.size))
            return pending;
        tr_time now_ns = platform->mono_now(platform);
        tr_time delay_ns = key_ask_again(ask, now_ns);
        if (delay_ns < 0)
            return pending;
        tr__client_ask_forget(client, pending);
        while (delay_ns && tr__client_wait(client, now_ns + delay_ns))
            tr__client_look(client);
    }
}

tr_pending tr_client_ask_key(tr_client *client, const tr_durable_kind *kind, tr_bytes key,
                             tr_bytes id, const tr_type *type, const void *message,
                             tr_time timeout_ns)
{
    CLIENT_VERB(client);
    if (!client)
        return pending_of(TR_INVALID_ARGUMENT);
    const tr_platform *platform = client->system->platform;
    struct key_ask ask = {.call = {.kind = kind, .key = key, .id = id},
                          .type = type,
                          .message = message,
                          .source = &client->system->source};
    tr_status status = key_ask_begin(&ask, platform->mono_now(platform), timeout_ns);
    tr_pending pending = status == TR_OK ? client_ask(client, &ask) : pending_of(status);
    source_resize(ask.source, ask.packed, 0);
    return pending;
}
