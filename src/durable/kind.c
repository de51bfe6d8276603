/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Kinds: the behavior of the application becomes one whose rows lead to durable/turn.c.
 */
#include <string.h>

#include "actor/cell/dispatch.h"
#include "durable/alarm.h"
#include "durable/events.h"
#include "durable/retry_backoff.h"
#include "durable/queue.h"
#include "durable/shapes.h"
#include "wire/type.h"

#define INTERVAL_NS TR_SECOND

/*
 * The grace of a sleep serves requests: its hook interleaves with them, as the run handler does. A destroy refuses what
 * is sent, and what was there before waits until its hook has ended.
 */
static bool hook_is_barrier(const void *message)
{
    return ((const struct tr_durable_hooked *)message)->reason == SLEEP_REASON_DESTROY;
}

/* Rows of the runtime behind those of the application. */
static const tr_handler own_rows[] = {
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
    {.type = &tr_type_tr_durable_runs, .call = tr__durable_run, .name = "tr_run"},
    {.type = &tr_type_tr_durable_happened, .call = tr__events_turn, .name = "on_stored"},
    {.type = &tr_type_tr_durable_driven, .call = tr__durable_drive_turn, .name = "sleep"},
};
enum { OWN_ROWS = sizeof own_rows / sizeof own_rows[0] };

/* Signals are called outside of messages, where nothing can be stored: they stay as they are. */
static bool is_signal(const tr_type *type)
{
    static const tr_type *const signals[] = {&tr_type_tr_pre_start,
                                             &tr_type_tr_post_stop,
                                             &tr_type_tr_pre_restart,
                                             &tr_type_tr_post_restart};
    for (size_t i = 0; type && i < sizeof signals / sizeof signals[0]; i++) {
        if (type == signals[i] || tr_type_is_equal(type, signals[i]))
            return true;
    }
    return false;
}

static const tr_handler *find(const tr_behavior *behavior, const tr_type *type)
{
    for (size_t i = 0; i < behavior->handler_count; i++) {
        const tr_handler *row = &behavior->handlers[i];
        if (row->type && (row->type == type || tr_type_is_equal(row->type, type)))
            return row;
    }
    return NULL;
}

static bool is_time(tr_time ns)
{
    return ns >= 0 && ns <= TR_OPTION_NS_MAX;
}

/* What is wrong with a kind, or NULL. */
static const char *fault_of(const tr_durable_kind *kind)
{
    const char *why;
    if (kind->size != sizeof *kind)
        return "invalid kind: compiled for another version of the library";
    if (!kind->name || !tr__name_is_valid(kind->name))
        return "invalid kind: no name";
    if (!tr__behavior_is_valid(kind->behavior, &why) || !tr__type_is_valid(kind->state, &why))
        return why;
    const char *front = kind->options.events ? "const struct " : "struct ";
    const char *state = kind->behavior->state_name;
    if (kind->options.events && strncmp(state, front, strlen(front)) != 0)
        return "invalid kind: with events the state of the behavior must be a const struct";
    if (kind->behavior->state_size != kind->state->size ||
        strncmp(state, front, strlen(front)) != 0 ||
        strcmp(state + strlen(front), kind->state->name) != 0)
        return "invalid kind: the state differs from that of the behavior";
    if (kind->behavior->setup.call && kind->behavior->setup.type != &tr_type_tr_none &&
        !tr_type_is_equal(kind->behavior->setup.type, &tr_type_tr_none))
        return "invalid kind: a durable actor takes no set-up message";
    const tr_durable_options *options = &kind->options;
    if (!is_time(options->interval_ns) || !is_time(options->idle_ns) ||
        !is_time(options->grace_ns) || !is_time(options->retry_ns) ||
        !is_time(options->retry_max_ns))
        return "invalid kind: a time is negative or too long";
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
    return options->events ? tr__events_fault(kind) : NULL;
}

static void rows_fill(struct durable_kind *kind, const tr_behavior *behavior)
{
    for (size_t i = 0; i < behavior->handler_count; i++) {
        tr_handler *row = &kind->rows[i];
        *row = behavior->handlers[i];
        if (is_signal(row->type))
            continue;
        row->call = tr__durable_call;
        row->is_barrier = !row->interleaves;
        row->barrier_if = NULL;
    }
    memcpy(&kind->rows[behavior->handler_count], own_rows, sizeof own_rows);
    kind->rows[behavior->handler_count + OWN_ROWS] = (tr_handler){0};
}

tr_status tr__durable_kind_init(struct durable_kind *kind, struct durable_host *host,
                                const tr_durable_kind *declared)
{
    struct tr_system *system = host->system;
    const char *why = fault_of(declared);
    if (why) {
        tr__log(system,
                TR_LEVEL_ERROR,
                NULL,
                "the durable kind %s: %s",
                declared->name ? declared->name : "?",
                why);
        return TR_INVALID_ARGUMENT;
    }
    const tr_behavior *behavior = declared->behavior;
    size_t count = behavior->handler_count + OWN_ROWS;
    *kind = (struct durable_kind){.behavior = *behavior, .declared = declared, .host = host};
    kind->version = declared->options.version ? declared->options.version : 1;
    kind->rows = source_resize(&system->source, NULL, (count + 1) * sizeof kind->rows[0]);
    tr_status status = kind->rows ? tr__shapes_of_kind(kind) : TR_NO_MEMORY;
    if (status != TR_OK) {
        tr__durable_kind_deinit(kind);
        return status;
    }
    rows_fill(kind, behavior);
    kind->behavior.handlers = kind->rows;
    kind->behavior.handler_count = count;
    kind->behavior.setup.type = &tr_type_tr_durable_seat;
    kind->behavior.setup.call = tr__durable_setup;
    kind->behavior.options.is_pinned = true;
    kind->behavior.options.restart = TR_TRANSIENT;
    kind->created = find(behavior, &tr_type_tr_created);
    kind->awake = find(behavior, &tr_type_tr_awake);
    kind->sleeping = find(behavior, &tr_type_tr_sleeping);
    kind->destroying = find(behavior, &tr_type_tr_destroying);
    kind->changed = find(behavior, &tr_type_tr_state_changed);
    kind->run = find(behavior, &tr_type_tr_run);
    kind->interval_ns = declared->options.interval_ns ? declared->options.interval_ns : INTERVAL_NS;
    kind->retry_ns = declared->options.retry_ns ? declared->options.retry_ns : LULL_RETRY_NS;
    kind->retry_max_ns =
        declared->options.retry_max_ns ? declared->options.retry_max_ns : LULL_RETRY_MAX_NS;
    return TR_OK;
}

void tr__durable_kind_deinit(struct durable_kind *kind)
{
    tr__shapes_of_kind_free(kind);
    source_resize(&kind->host->system->source, kind->rows, 0);
}

size_t tr__durable_path(const struct durable_kind *kind, tr_bytes key, char path[TR_PATH_MAX + 1])
{
    static const char digits[] = "0123456789abcdef";
    static const char front[] = "/system/durable/";
    size_t length = sizeof front - 1;
    if (!key.data || !key.size || key.size > TR_KEY_MAX)
        return 0;
    memcpy(path, front, length);
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
