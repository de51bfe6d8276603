/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Makes the behavior of a kind. Its handlers call durable/turn.c, which calls the handlers of the
 * application.
 */
#include "durable/kind.h"

#include <string.h>
#include <troupe/gateway.h>

#include "actor/cell/dispatch.h"
#include "actor/cell/names.h"
#include "actor/cell/signal.h"
#include "base/sized.h"
#include "durable/alarm.h"
#include "durable/connections.h"
#include "durable/events.h"
#include "durable/keys.h"
#include "durable/queue.h"
#include "durable/request.h"
#include "durable/retry.h"
#include "durable/retry_backoff.h"
#include "durable/setup.h"
#include "durable/shapes.h"
#include "durable/state.h"
#include "durable/turn.h"
#include "wire/type.h"
#include "actor/cell/log.h"

#define INTERVAL_NS TR_SECOND

/*
 * Whether other mail waits while a hook runs. During the grace of a sleep, other mail does not
 * wait: the actor serves requests, and its hook interleaves with them, as the run handler does.
 * During the grace of a destroy, older messages wait until the hook has ended, and new messages are
 * refused.
 */
static bool hook_is_barrier(const void *message)
{
    return ((const struct tr_durable_hooked *)message)->reason == SLEEP_REASON_DESTROY;
}

/* The handlers of the runtime. In the table of a kind they follow the handlers of the
 * application. */
static const tr_handler own_handlers[] = {
    {.type = &tr_type_tr_durable_begins,
     .call = tr__durable_begin,
     .name = "tr_awake",
     .is_barrier = true},
    {.type = &tr_type_tr_durable_hooked,
     .call = tr__durable_hook,
     .name = "tr_sleeping",
     .barrier_if = hook_is_barrier},
    {.type = &tr_type_tr_durable_due,
     .call = tr__durable_alarm,
     .name = "an alarm",
     .is_barrier = true},
    {.type = &tr_type_tr_durable_once,
     .call = tr__durable_once,
     .name = "a request with an id",
     .is_barrier = true},
    {.type = &tr_type_tr_durable_once_aside,
     .call = tr__durable_once,
     .name = "a request with an id"},
    {.type = &tr_type_tr_durable_connect,
     .call = tr__durable_connect,
     .name = "tr_connected",
     .is_barrier = true},
    {.type = &tr_type_tr_durable_disconnect,
     .call = tr__durable_disconnect,
     .name = "tr_disconnected",
     .is_barrier = true},
    {.type = &tr_type_tr_durable_remove,
     .call = tr__durable_remove,
     .name = "tr_durable_destroy",
     .is_barrier = true},
    {.type = &tr_type_tr_durable_runs, .call = tr__durable_run, .name = "tr_run"},
    {.type = &tr_type_tr_durable_happened, .call = tr__events_turn, .name = "on_stored"},
    {.type = &tr_type_tr_durable_driven, .call = tr__durable_drive_turn, .name = "sleep"},
};
enum { OWN_HANDLERS = sizeof own_handlers / sizeof own_handlers[0] };

static const tr_handler *kind_find_handler(const tr_behavior *behavior, const tr_type *type)
{
    for (size_t i = 0; i < behavior->handler_count; i++) {
        const tr_handler *handler = &behavior->handlers[i];
        if (handler->type && (handler->type == type || tr_type_is_equal(handler->type, type)))
            return handler;
    }
    return NULL;
}

static bool is_option_time(tr_time ns)
{
    return ns >= 0 && ns <= TR_OPTION_NS_MAX;
}

/* Returns an error text for a kind. Returns NULL if the kind is valid. */
static const char *kind_fault(const tr_durable_kind *kind)
{
    const char *why;
    if (!kind->name || !tr__name_is_plain(kind->name))
        return "invalid kind: no name";
    if (!tr__behavior_is_valid(kind->behavior, &why) || !tr__type_is_valid(kind->state, &why))
        return why;
    const char *prefix = kind->options.events ? "const struct " : "struct ";
    const char *state = kind->behavior->state_name;
    if (kind->options.events && strncmp(state, prefix, strlen(prefix)) != 0)
        return "invalid kind: with events the state of the behavior must be a const struct";
    if (kind->behavior->state_size != kind->state->size ||
        strncmp(state, prefix, strlen(prefix)) != 0 ||
        strcmp(state + strlen(prefix), kind->state->name) != 0)
        return "invalid kind: the state differs from that of the behavior";
    if (kind->behavior->setup.call && kind->behavior->setup.type != &tr_type_tr_none &&
        !tr_type_is_equal(kind->behavior->setup.type, &tr_type_tr_none))
        return "invalid kind: a durable actor takes no set-up message";
    const tr_durable_options *options = &kind->options;
    if (!is_option_time(options->interval_ns) || !is_option_time(options->idle_ns) ||
        !is_option_time(options->grace_ns) || !is_option_time(options->retry_ns) ||
        !is_option_time(options->retry_max_ns))
        return "invalid kind: a time is negative or too long";
    if (!tr__retry_is_valid(&options->alarm_retry))
        return "invalid kind: a delay of alarm_retry is negative or too long";
    for (const tr_queue_options *queue = options->queues; queue && queue->name; queue++) {
        size_t length = strnlen(queue->name, TR_QUEUE_NAME_MAX + 1);
        if (!length || length > TR_QUEUE_NAME_MAX || !tr__retry_is_valid(&queue->retry))
            return "invalid kind: the options of a queue have no name, or a delay that is too long";
    }
    if ((unsigned)options->durability > TR_SAVE_ON_DEMAND)
        return "invalid kind: unknown durability";
    uint32_t version = options->version ? options->version : 1;
    if (version & STATE_HALF)
        return "invalid kind: the version is 2^31 or more";
    for (size_t i = 0; options->migrations && options->migrations[i]; i++) {
        const tr_migration *step = options->migrations[i];
        if (step->from < 1 || step->from >= version)
            return "invalid kind: a migration must start from an earlier version";
        if (!tr__type_is_valid(step->from_type, &why) || !tr__type_is_valid(step->to_type, &why))
            return why;
    }
    if (options->ttl_ns && (options->ttl_ns < TR_TTL_MIN_NS || options->ttl_ns > TR_TTL_MAX_NS))
        return "invalid kind: ttl_ns is too short or too long";
    if (options->answers_ns < 0 || options->answers_ns > TR_ANSWERS_MAX_NS)
        return "invalid kind: answers_ns is negative or too long";
    return options->events ? tr__events_fault(kind) : NULL;
}

/* Reads a kind and its events as the program has declared them. Returns an error text, or NULL if
 * they are valid. */
static const char *kind_read(struct durable_kind *kind, const tr_durable_kind *origin)
{
    kind->origin = origin;
    kind->declared = &kind->copy;
    if (!sized_read(&kind->copy, sizeof kind->copy, origin, origin->size))
        return "invalid kind: it has options that are not known to this version of the library";
    const tr_events *events = kind->copy.options.events;
    if (!events)
        return NULL;
    if (!sized_read(&kind->events, sizeof kind->events, events, events->size))
        return "invalid events: they have members that are not known to this version of the "
               "library";
    kind->copy.options.events = &kind->events;
    return NULL;
}

static void handlers_fill(struct durable_kind *kind, const tr_behavior *behavior)
{
    for (size_t i = 0; i < behavior->handler_count; i++) {
        tr_handler *handler = &kind->handlers[i];
        *handler = behavior->handlers[i];
        /* Leave the handler of a CALLED signal as it is. When such a signal comes, no turn of a
         * message runs, so the handler can store nothing. */
        if (handler->type && tr__signal_is_called(handler->type))
            continue;
        handler->call = tr__durable_call;
        handler->is_barrier = !handler->interleaves;
        handler->barrier_if = NULL;
    }
    memcpy(&kind->handlers[behavior->handler_count], own_handlers, sizeof own_handlers);
    kind->handlers[behavior->handler_count + OWN_HANDLERS] = (tr_handler){0};
}

tr_status tr__durable_kind_init(struct durable_kind *kind, struct durable_host *host,
                                const tr_durable_kind *origin)
{
    struct tr_system *system = host->system;
    *kind = (struct durable_kind){.host = host};
    const char *why = kind_read(kind, origin);
    const tr_durable_kind *declared = kind->declared;
    if (!why)
        why = kind_fault(declared);
    if (why) {
        tr__log(system,
                TR_LEVEL_ERROR,
                NULL,
                "the durable kind %s: %s",
                origin->name ? origin->name : "?",
                why);
        return TR_INVALID_ARGUMENT;
    }
    const tr_behavior *behavior = declared->behavior;
    size_t count = behavior->handler_count + OWN_HANDLERS;
    kind->behavior = *behavior;
    kind->version = declared->options.version ? declared->options.version : 1;
    kind->handlers = source_resize(&system->source, NULL, (count + 1) * sizeof kind->handlers[0]);
    tr_status status = kind->handlers ? tr__shapes_of_kind(kind) : TR_NO_MEMORY;
    if (status != TR_OK) {
        tr__durable_kind_deinit(kind);
        return status;
    }
    handlers_fill(kind, behavior);
    kind->behavior.handlers = kind->handlers;
    kind->behavior.handler_count = count;
    kind->behavior.setup.type = &tr_type_tr_durable_identity;
    kind->behavior.setup.call = tr__durable_setup;
    kind->behavior.options.is_pinned = true;
    kind->behavior.options.restart = TR_TRANSIENT;
    kind->behavior.options.shows = kind->declared->state;
    kind->created = kind_find_handler(behavior, &tr_type_tr_created);
    kind->awake = kind_find_handler(behavior, &tr_type_tr_awake);
    kind->sleeping = kind_find_handler(behavior, &tr_type_tr_sleeping);
    kind->destroying = kind_find_handler(behavior, &tr_type_tr_destroying);
    kind->changed = kind_find_handler(behavior, &tr_type_tr_state_changed);
    kind->run = kind_find_handler(behavior, &tr_type_tr_run);
    kind->connected = kind_find_handler(behavior, &tr_type_tr_connected);
    kind->disconnected = kind_find_handler(behavior, &tr_type_tr_disconnected);
    kind->given_up = kind_find_handler(behavior, &tr_type_tr_queue_given_up);
    kind->interval_ns = declared->options.interval_ns ? declared->options.interval_ns : INTERVAL_NS;
    kind->ttl_ns = declared->options.ttl_ns;
    kind->answers_ns = declared->options.answers_ns ? declared->options.answers_ns : TR_ANSWERS_NS;
    kind->answers_bytes_max = declared->options.answers_bytes_max
                                  ? declared->options.answers_bytes_max
                                  : TR_ANSWERS_BYTES_MAX;
    kind->retry_ns = declared->options.retry_ns ? declared->options.retry_ns : BACKOFF_RETRY_NS;
    kind->retry_max_ns =
        declared->options.retry_max_ns ? declared->options.retry_max_ns : BACKOFF_RETRY_MAX_NS;
    return TR_OK;
}

void tr__durable_kind_deinit(struct durable_kind *kind)
{
    tr__shapes_of_kind_free(kind);
    source_resize(&kind->host->system->source, kind->handlers, 0);
}

size_t tr__durable_path(const struct durable_kind *kind, tr_bytes key, char path[TR_PATH_MAX + 1])
{
    static const char digits[] = "0123456789abcdef";
    static const char prefix[] = "/system/durable/";
    size_t length = sizeof prefix - 1;
    if (!key.data || !key.size || key.size > TR_KEY_MAX)
        return 0;
    memcpy(path, prefix, length);
    size_t name = strlen(kind->declared->name);
    memcpy(path + length, kind->declared->name, name);
    length += name;
    path[length++] = '/';
    const unsigned char *bytes = key.data;
    for (size_t i = 0; i < key.size; i++) {
        unsigned char byte = bytes[i];
        bool is_plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
                        (byte >= '0' && byte <= '9') || byte == '-' || byte == '.' || byte == '_';
        if (is_plain) {
            path[length++] = (char)byte;
            continue;
        }
        path[length++] = '%';
        path[length++] = digits[byte >> 4];
        path[length++] = digits[byte & 15];
    }
    path[length] = 0;
    return length;
}
