/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/verbs.h"

#include <string.h>

#include "actor/cell/system.h"
#include "actor/verbs/why_ask.h"
#include "observe/act.h"
#include "observe/asks.h"
#include "observe/behaviors.h"
#include "observe/channels.h"
#include "observe/doctor.h"
#include "observe/durable_change.h"
#include "observe/durable_events.h"
#include "observe/durable_export.h"
#include "observe/durable_rows.h"
#include "observe/durables.h"
#include "observe/flame.h"
#include "observe/flow.h"
#include "observe/handlers.h"
#include "observe/log_tail.h"
#include "observe/mail.h"
#include "observe/metrics.h"
#include "observe/page.h"
#include "observe/past.h"
#include "observe/records.h"
#include "observe/schema.h"
#include "observe/show.h"
#include "observe/slow.h"
#include "observe/stalls.h"
#include "observe/storage.h"
#include "observe/store_backup.h"
#include "observe/store_care.h"
#include "observe/tables.h"
#include "observe/trace.h"
#include "observe/tree.h"
#include "observe/waits.h"

enum {
    LIST_DEFAULT = 1000,
    LIST_LARGEST = 1000000,
    LIST_STEP = 16, /* actors that one step reads */
    TOP_ROWS = 20,
    TOP_AGED = 5 /* rows of `top` for which workers are asked for the oldest message */
};

static int64_t milliseconds(tr_time ns)
{
    return ns / TR_MILLISECOND;
}

/* ---- Actors. ---- */

void tr__actor_write(struct json_line *line, const tr_actor_info *info)
{
    tr__json_string(line, "path", info->path);
    tr__json_ref(line, "ref", info->actor);
    tr__json_ref(line, "parent", info->parent);
    tr__json_string(line, "state", info->state);
    tr__json_string(line, "behavior", info->behavior);
    tr__json_string(line, "file", info->file);
    tr__json_unsigned(line, "line", info->line);
    tr__json_signed(line, "worker", info->worker);
    tr__json_bool(line, "running", info->is_running);
    tr__json_bool(line, "ready", info->is_ready);
    tr__json_unsigned(line, "queued", info->queued);
    tr__json_unsigned(line, "queued_max", info->queued_max);
    tr__json_unsigned(line, "queued_bytes", info->queued_bytes);
    tr__json_unsigned(line, "children", info->children);
}

/* Whether an actor of the query also matches the other members of the request. */
static bool is_listed(const struct visitor *visitor, const tr_actor_info *info)
{
    const struct control_request *request = visitor->request;
    if (request->is_direct && info->parent.bits != visitor->query.below.bits)
        return false;
    /* All actors are below /user. But a person who asks for /user means the actors of the program,
     * without those of the system. */
    if (!request->is_direct && request->path && strcmp(request->path, "/user") == 0 &&
        strncmp(info->path, "/system/", 8) == 0)
        return false;
    return !request->text || strstr(info->path, request->text);
}

bool tr__list_continue(struct visitor *visitor)
{
    tr_actor_info infos[LIST_STEP];
    const struct control_request *request = visitor->request;
    uint32_t limit = request->limit ? request->limit : LIST_DEFAULT;
    limit = limit < LIST_LARGEST ? limit : LIST_LARGEST;
    size_t count = 0;
    size_t wanted = limit - visitor->listed < LIST_STEP ? limit - visitor->listed : LIST_STEP;
    tr_status status =
        tr_system_actors(visitor->observer->system, &visitor->query, infos, wanted, &count);
    if (status == TR_INVALID_ARGUMENT) {
        tr__visitor_refuse(visitor,
                           request->id,
                           status,
                           "no such state: %.40s; states are New, Starting, Running, Suspended and "
                           "Stopping",
                           request->state ? request->state : "");
        return true;
    }
    for (size_t i = 0; i < count; i++) {
        if (!is_listed(visitor, &infos[i]))
            continue;
        tr__visitor_begin(visitor, request->id, true);
        tr__actor_write(&visitor->output, &infos[i]);
        tr__visitor_end(visitor);
        visitor->listed++;
    }
    /* Continue if there may be more actors. An error ends the list, because it means that the actor
     * whose descendants are listed has ended, and its descendants with it. */
    if (status == TR_OK && visitor->query.from && visitor->listed < limit)
        return false;
    tr__visitor_begin(visitor, request->id, false);
    tr__json_unsigned(&visitor->output, "count", visitor->listed);
    tr__json_bool(&visitor->output, "more", status == TR_OK && visitor->query.from);
    tr__json_unsigned(&visitor->output, "next", status == TR_OK ? visitor->query.from : 0);
    tr__visitor_end(visitor);
    return true;
}

bool tr__age_write(struct visitor *visitor, const tr_actor_info *info, tr_actor_report *report)
{
    struct observer *observer = visitor->observer;
    tr_worker_info running;
    tr_time before_ns = tr__observer_now(observer);
    if (tr__observer_is_stuck(observer, info->worker, &running)) {
        tr_time age_ns = tr__observer_age_stuck(observer, info->actor, running.since_ns);
        tr__json_signed(&visitor->output, "at_least_ms", milliseconds(age_ns));
        return true;
    }
    if (tr_actor_show(observer->client, info->actor, report) != TR_OK || !report->oldest)
        return tr__observer_now(observer) - before_ns < 20 * TR_MILLISECOND;
    tr_time age_ns = tr__observer_age(observer, info->actor, report->oldest_mark);
    tr__json_string(&visitor->output, "oldest", report->oldest);
    tr__json_signed(&visitor->output, "at_least_ms", milliseconds(age_ns));
    return tr__observer_now(observer) - before_ns < 20 * TR_MILLISECOND;
}

/* A search for the fullest mailboxes: of the verbs top and ls. */
struct fullest_work {
    struct scan scan;
    struct fullest fullest;
    tr_actor_info infos[FULLEST_MAX];
    tr_actor_report report;
};

static void fullest_work_free(struct visitor *visitor, void *work)
{
    source_resize(visitor->observer->source, work, 0);
}

/* Begins the search. `step` continues it. */
static void fullest_begin(struct visitor *visitor, const struct control_request *request,
                          uint32_t queued_min, uint32_t max, bool (*step)(struct visitor *visitor))
{
    struct fullest_work *work = source_resize(visitor->observer->source, NULL, sizeof *work);
    if (!work) {
        tr__visitor_refuse(visitor, request->id, TR_NO_MEMORY, "out of memory for the list");
        return;
    }
    work->scan = (struct scan){.system = visitor->observer->system};
    work->fullest.queued_min = queued_min;
    work->fullest.max = max;
    work->fullest.count = 0;
    tr__visitor_steps(visitor, JOB_STEPS, step, work, fullest_work_free);
}

/* Lists the fullest mailboxes when they are found. For a page of an inspector, also writes the age of
 * the oldest message in the first AGED of them. */
static bool sorted_step(struct visitor *visitor)
{
    enum { AGED = 20 };
    struct fullest_work *work = visitor->work;
    const struct control_request *request = visitor->request;
    if (!tr__scan_step(&work->scan, tr__fullest_take, &work->fullest))
        return false;
    size_t count = tr__fullest_describe(&work->fullest, work->scan.system, work->infos);
    bool is_aged = visitor->is_page && work->fullest.max > AGED;
    for (size_t i = 0; i < count; i++) {
        tr__visitor_begin(visitor, request->id, true);
        tr__actor_write(&visitor->output, &work->infos[i]);
        if (is_aged && i < AGED)
            is_aged = tr__age_write(visitor, &work->infos[i], &work->report);
        tr__visitor_end(visitor);
    }
    tr__visitor_begin(visitor, request->id, false);
    tr__json_unsigned(&visitor->output, "count", count);
    tr__json_bool(&visitor->output, "more", work->fullest.count == work->fullest.max);
    tr__visitor_end(visitor);
    return true;
}

static void verb_ls(struct visitor *visitor, const struct control_request *request)
{
    if (request->is_sorted) {
        bool has_limit = request->limit && request->limit < FULLEST_MAX;
        fullest_begin(visitor,
                      request,
                      request->queued,
                      has_limit ? request->limit : FULLEST_MAX,
                      sorted_step);
        return;
    }
    visitor->query = (tr_actor_query){.behavior = request->behavior,
                                      .state = request->state,
                                      .queued_min = request->queued,
                                      .from = request->after < UINT32_MAX ? (uint32_t)request->after
                                                                          : UINT32_MAX};
    if (request->path && *request->path && strcmp(request->path, "/") != 0) {
        visitor->query.below = tr__visitor_actor(visitor, request);
        if (!visitor->query.below.bits)
            return;
    }
    visitor->listed = 0;
    visitor->job = JOB_LIST;
}

void tr__running_write(struct json_line *line, const tr_worker_info *info)
{
    tr__json_signed(line, "worker", info->worker);
    tr__json_bool(line, "open", info->is_open);
    tr__json_bool(line, "running", info->is_running);
    tr__json_string(line, "path", info->is_running ? info->path : NULL);
    tr__json_string(line, "behavior", info->behavior);
    tr__json_string(line, "handler", info->handler);
    tr__json_string(line, "message", info->type);
    tr__json_string(line, "file", info->file);
    tr__json_unsigned(line, "line", info->line);
    tr__json_signed(line, "for_ms", milliseconds(info->since_ns));
    tr__json_unsigned(line, "handled", info->handled);
    tr__json_unsigned(line, "runs", info->runs);
    tr__json_unsigned(line, "sleeps", info->parks);
    tr__json_unsigned(line, "failures", info->failures);
    tr__json_unsigned(line, "ready", info->ready);
}

static void why_write(struct visitor *visitor, const tr_why_report *report)
{
    struct json_line *line = &visitor->output;
    tr_actor_info who;
    tr__json_string(line, "path", report->path);
    tr__json_string(line, "state", report->state);
    tr__json_bool(line, "told_to_stop", report->is_told_to_stop);
    tr__json_unsigned(line, "queued", report->waiting);
    tr__json_unsigned(line, "queued_max", report->waiting_max);
    tr__json_string(line, "oldest", report->oldest);
    tr__json_open(line, "reasons", '[');
    for (size_t i = 0; i < report->count; i++) {
        const tr_reason *reason = &report->reasons[i];
        tr__json_open(line, NULL, '{');
        tr__json_string(line, "kind", tr_why_name(reason->kind));
        tr__json_unsigned(line, "holds", reason->holds);
        tr__json_ref(line, "who", reason->who);
        if (tr__observer_find(visitor->observer, reason->who, &who))
            tr__json_string(line, "who_path", who.path);
        tr__json_signed(line, "for_ms", reason->age_ns < 0 ? -1 : milliseconds(reason->age_ns));
        tr__json_string(line, "where", reason->where);
        tr__json_string(line, "text", reason->text);
        tr__json_close(line, '}');
    }
    tr__json_close(line, ']');
}

static void verb_why(struct visitor *visitor, const struct control_request *request)
{
    struct observer *observer = visitor->observer;
    const struct memory_source *source = &observer->system->source;
    tr_ref actor = tr__visitor_actor(visitor, request);
    tr_actor_info info;
    tr_worker_info running;
    if (!actor.bits)
        return;
    tr_why_report *report = source_resize(source, NULL, sizeof *report);
    tr_status status = report ? TR_OK : TR_NO_MEMORY;
    bool is_found = tr__observer_find(observer, actor, &info);
    if (report && is_found && tr__observer_is_stuck(observer, info.worker, &running))
        tr__why_outside(observer->system, actor.bits, report);
    else if (report)
        status = tr_client_actor_why(observer->client, actor, report);
    char text[2048] = "";
    if (status == TR_OK) {
        tr_why_print(report, text, sizeof text);
        tr__visitor_begin(visitor, request->id, false);
        why_write(visitor, report);
        tr__json_string(&visitor->output, "text", text);
        tr__visitor_end(visitor);
    } else {
        tr__visitor_refuse(visitor, request->id, status, "%s", tr_status_text(status));
    }
    source_resize(source, report, 0);
}

/* ---- The system. ---- */

static void counters_write(struct json_line *line, tr_system *system)
{
    tr_counters counters;
    tr_system_counters(system, &counters);
    tr__json_open(line, "counters", '{');
    tr__json_unsigned(line, "live", counters.live);
    tr__json_unsigned(line, "queued", counters.queued);
    tr__json_unsigned(line, "accepted", counters.accepted);
    tr__json_unsigned(line, "handled", counters.handled);
    tr__json_unsigned(line, "dead_letters", counters.dead_letters);
    tr__json_unsigned(line, "refused", counters.refused);
    tr__json_unsigned(line, "turns", counters.turns);
    tr__json_unsigned(line, "spawned", counters.spawned);
    tr__json_unsigned(line, "stopped", counters.stopped);
    tr__json_unsigned(line, "failures", counters.failures);
    tr__json_unsigned(line, "restarts", counters.restarts);
    tr__json_unsigned(line, "stalls", counters.stalls);
    tr__json_unsigned(line, "moves", counters.moves);
    tr__json_unsigned(line, "handoffs", counters.handoffs);
    tr__json_close(line, '}');
}

static void workers_write(struct visitor *visitor)
{
    struct tr_system *system = visitor->observer->system;
    struct json_line *line = &visitor->output;
    const struct memory_source *source = &system->source;
    tr_worker_info *infos = source_resize(source, NULL, system->worker_count * sizeof *infos);
    size_t count = infos ? tr_system_running(system, infos, system->worker_count) : 0;
    tr__json_open(line, "workers", '[');
    for (size_t i = 0; i < count; i++) {
        tr__json_open(line, NULL, '{');
        tr__running_write(line, &infos[i]);
        tr__json_close(line, '}');
    }
    tr__json_close(line, ']');
    source_resize(source, infos, 0);
}

/* Begins an answer with those members that the verbs info and top have in common. */
static void overview_begin(struct visitor *visitor, const struct control_request *request)
{
    struct json_line *line = &visitor->output;
    tr__visitor_begin(visitor, request->id, false);
    tr__json_string(line, "app", visitor->observer->app);
    counters_write(line, visitor->observer->system);
    workers_write(visitor);
    tr__handed_off_write(visitor);
}

static void verb_info(struct visitor *visitor, const struct control_request *request)
{
    overview_begin(visitor, request);
    tr__visitor_end(visitor);
}

/* ---- The verb top: an overview of everything. ---- */

static void fullest_write(struct visitor *visitor, struct fullest_work *work)
{
    struct json_line *line = &visitor->output;
    size_t count = tr__fullest_describe(&work->fullest, work->scan.system, work->infos);
    bool is_quick = true;
    tr__json_open(line, "deepest", '[');
    for (size_t i = 0; i < count; i++) {
        tr__json_open(line, NULL, '{');
        tr__actor_write(line, &work->infos[i]);
        if (i < TOP_AGED && is_quick)
            is_quick = tr__age_write(visitor, &work->infos[i], &work->report);
        tr__json_close(line, '}');
    }
    tr__json_close(line, ']');
}

static void samples_write(struct visitor *visitor)
{
    const struct observer *observer = visitor->observer;
    struct json_line *line = &visitor->output;
    tr__json_unsigned(line, "looks", observer->looks);
    tr__json_unsigned(line, "busy", observer->busy);
    tr__json_unsigned(line, "left_out", observer->samples_left_out);
    tr__samples_write(line, observer->samples);
}

static bool top_step(struct visitor *visitor)
{
    struct fullest_work *work = visitor->work;
    if (!tr__scan_step(&work->scan, tr__fullest_take, &work->fullest))
        return false;
    overview_begin(visitor, visitor->request);
    fullest_write(visitor, work);
    samples_write(visitor);
    tr__handlers_write(visitor, NULL, TOP_ROWS);
    tr__visitor_end(visitor);
    tr__observer_watch(visitor->observer);
    return true;
}

static void verb_top(struct visitor *visitor, const struct control_request *request)
{
    fullest_begin(visitor, request, 1, TOP_ROWS, top_step);
}

const struct verb tr__verbs[] = {
    {"info", verb_info, false, false},
    {"ls", verb_ls, false, false},
    {"show", tr__verb_show, false, false},
    {"why", verb_why, false, false},
    {"mail", tr__verb_mail, false, false},
    {"waits", tr__verb_waits, false, false},
    {"tree", tr__verb_tree, false, false},
    {"channels", tr__verb_channels, false, false},
    {"messages", tr__verb_messages, false, false},
    {"samples", tr__verb_samples, false, false},
    {"top", verb_top, false, false},
    {"behaviors", tr__verb_behaviors, false, false},
    {"handlers", tr__verb_handlers, false, false},
    {"slow", tr__verb_slow, false, false},
    {"flow", tr__verb_flow, false, false},
    {"stalls", tr__verb_stalls, false, false},
    {"asks", tr__verb_asks, false, false},
    {"dead-letters", tr__verb_dead_letters, false, false},
    {"replay", tr__verb_replay, true, false},
    {"doctor", tr__verb_doctor, false, false},
    {"failures", tr__verb_failures, false, false},
    {"records", tr__verb_records, false, true},
    {"metrics", tr__verb_metrics, false, false},
    {"store", tr__verb_store, false, false},
    {"schema", tr__verb_schema, false, false},
    {"trace", tr__verb_trace, false, false},
    {"store stats", tr__verb_store_stats, false, true},
    {"store check", tr__verb_store_check, false, true},
    {"store backup", tr__verb_store_backup, true, false},
    {"store compact", tr__verb_store_compact, true, false},
    {"store restore", tr__verb_store_restore, true, false},
    {"durable ls", tr__verb_durable_ls, false, true},
    {"durable get", tr__verb_durable_get, false, true},
    {"durable events", tr__verb_durable_events, false, true},
    {"durable kv", tr__verb_durable_kv, false, true},
    {"durable queue", tr__verb_durable_queue, false, true},
    {"durable set", tr__verb_durable_set, true, false},
    {"durable rm", tr__verb_durable_rm, true, false},
    {"durable export", tr__verb_durable_export, false, true},
    {"durable import", tr__verb_durable_import, true, false},
    {"alarms", tr__verb_alarms, false, true},
    {"queues", tr__verb_queues, false, true},
    {"sql", tr__verb_sql, false, true},
    {"record", tr__verb_record, true, false},
    {"sleep", tr__verb_sleep, true, false},
    {"wake", tr__verb_wake, true, false},
    {"stop", tr__verb_order, true, false},
    {"kill", tr__verb_order, true, false},
    {"suspend", tr__verb_order, true, false},
    {"resume", tr__verb_order, true, false},
    {"tell", tr__verb_tell, true, false},
    {"ask", tr__verb_ask, true, false},
    {"log", tr__verb_log, true, false},
    {"log tail", tr__verb_log_tail, false, false},
    {"session", tr__verb_session, false, false},
};
const size_t tr__verb_count = sizeof tr__verbs / sizeof *tr__verbs;
