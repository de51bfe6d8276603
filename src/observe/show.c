/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/show.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <troupe/why.h>

#include "actor/cell/system.h"
#include "observe/durables.h"
#include "observe/key_text.h"
#include "observe/stalls.h"
#include "observe/verbs.h"
#include "store/read.h"

/* Writes the budgets of CPU time: the actor's own, and that of its tree. */
static void budgets_write(struct json_line *line, const tr_actor_report *report)
{
    if (report->cpu_max_ns || report->tree_cpu_max_ns)
        tr__json_signed(line, "cpu_ns", report->cpu_ns);
    if (report->cpu_max_ns)
        tr__json_signed(line, "cpu_max_ns", report->cpu_max_ns);
    if (report->tree_bytes_max) {
        tr__json_unsigned(line, "tree_bytes", report->tree_bytes);
        tr__json_unsigned(line, "tree_bytes_max", report->tree_bytes_max);
    }
    if (report->tree_cpu_max_ns) {
        tr__json_signed(line, "tree_cpu_ns", report->tree_cpu_ns);
        tr__json_signed(line, "tree_cpu_max_ns", report->tree_cpu_max_ns);
    }
}

static void report_write(struct visitor *visitor, tr_ref actor, const tr_actor_report *report)
{
    struct json_line *line = &visitor->output;
    tr_actor_info sender;
    char causal[20];
    tr__json_open(line, "mail", '{');
    for (uint32_t i = 0; i < report->mail_count; i++)
        tr__json_unsigned(line, report->mail[i].type, report->mail[i].count);
    if (report->mail_more)
        tr__json_unsigned(line, "...", report->mail_more);
    tr__json_close(line, '}');
    if (report->oldest) {
        bool is_known = tr__observer_find(visitor->observer, report->oldest_from, &sender);
        tr_time age_ns = tr__observer_age(visitor->observer, actor, report->oldest_mark);
        tr__json_open(line, "oldest", '{');
        tr__json_string(line, "message", report->oldest);
        tr__json_ref(line, "from", report->oldest_from);
        tr__json_string(line, "from_path", is_known ? sender.path : NULL);
        tr__json_signed(line, "at_least_ms", age_ns / TR_MILLISECOND);
        (void)snprintf(causal, sizeof causal, "%016" PRIx64, report->oldest_causal);
        tr__json_string(line, "causal", report->oldest_causal ? causal : NULL);
        tr__json_close(line, '}');
    }
    tr__json_unsigned(line, "timers", report->timers);
    tr__json_unsigned(line, "asks", report->asks);
    tr__json_unsigned(line, "replies_owed", report->replies_owed);
    tr__json_unsigned(line, "replies_late", report->replies_late);
    tr__json_unsigned(line, "turns_waiting", report->turns_waiting);
    tr__json_unsigned(line, "stashed", report->stashed);
    tr__json_unsigned(line, "senders_waiting", report->senders_waiting);
    tr__json_unsigned(line, "watches", report->watches);
    tr__json_unsigned(line, "incarnation", report->incarnation);
    tr__json_unsigned(line, "bytes", report->bytes);
    tr__json_unsigned(line, "bytes_max", report->bytes_max);
    budgets_write(line, report);
    tr__json_string(line, "state_type", report->state_type);
    tr__json_raw(line, "value", report->state_length ? report->state_text : "null");
}

/* ---- Durable actors. ---- */

/* Writes what keeps a durable actor awake. The verb why says the same. */
static void holders_write(struct visitor *visitor, tr_ref actor)
{
    struct json_line *line = &visitor->output;
    tr_why_report *report = source_resize(visitor->observer->source, NULL, sizeof *report);
    bool is_known =
        report && tr_client_actor_why(visitor->observer->client, actor, report) == TR_OK;
    tr__json_open(line, "holders", '[');
    for (size_t i = 0; is_known && i < report->count; i++) {
        const tr_reason *reason = &report->reasons[i];
        if (!(reason->holds & TR_HOLDS_SLEEP))
            continue;
        tr__json_open(line, NULL, '{');
        tr__json_string(line, "kind", tr_why_name(reason->kind));
        tr__json_string(line, "where", reason->where[0] ? reason->where : NULL);
        tr__json_string(line, "text", reason->text);
        tr__json_close(line, '}');
    }
    tr__json_close(line, ']');
    source_resize(visitor->observer->source, report, 0);
}

/* If the path is that of a durable actor, writes what the store has of the actor, and what keeps
 * the actor awake. */
static void durable_write(struct visitor *visitor, tr_ref actor, const char *path, bool asks)
{
    static const char prefix[] = "/system/durable/";
    struct json_line *line = &visitor->output;
    const struct observer *observer = visitor->observer;
    struct durable_host *host = observer->system->durable.host;
    if (!host || strncmp(path, prefix, sizeof prefix - 1) != 0)
        return;
    const char *kind_at = path + sizeof prefix - 1;
    size_t kind_size = strcspn(kind_at, "/");
    char kind[TR_NAME_MAX + 1];
    struct request_key key;
    struct store_state state;
    /* An actor below a durable actor is not stored itself. */
    if (!kind_at[kind_size] || kind_size > TR_NAME_MAX || strchr(kind_at + kind_size + 1, '/'))
        return;
    memcpy(kind, kind_at, kind_size);
    kind[kind_size] = '\0';
    key.size = tr__key_read(kind_at + kind_size + 1, key.bytes);
    if (!key.size || (!observer->reader &&
                      tr__store_reader_new(host->store, &visitor->observer->reader) != TR_OK))
        return;
    tr_status status =
        tr__store_read_state(observer->reader, kind, request_key_bytes(&key), &state);
    tr__json_open(line, "durable", '{');
    tr__json_string(line, "kind", kind);
    tr__json_key(line, "key", request_key_bytes(&key));
    if (status == TR_OK) {
        tr__json_unsigned(line, "version", state.version & ~STORE_VERSION_HALF);
        tr__json_unsigned(line, "opened", state.generation.epoch);
        tr__json_unsigned(line, "generation", state.generation.counter);
        tr__json_unsigned(line, "events", state.sequence);
    } else {
        tr__json_string(line, "not_read", tr_status_name(status));
    }
    if (asks)
        holders_write(visitor, actor);
    tr__json_close(line, '}');
}

/* ---- The verb show. ---- */

/* Writes the age of the oldest message of an actor whose worker is stuck. The worker cannot say
 * which message this is. But the oldest message has not changed since the worker got stuck. */
static void stuck_age_write(struct json_line *line, tr_time age_ns)
{
    tr__json_open(line, "oldest", '{');
    tr__json_string(line, "message", NULL);
    tr__json_signed(line, "at_least_ms", age_ns / TR_MILLISECOND);
    tr__json_close(line, '}');
}

void tr__verb_show(struct visitor *visitor, const struct control_request *request)
{
    struct observer *observer = visitor->observer;
    struct json_line *line = &visitor->output;
    const struct memory_source *source = &observer->system->source;
    tr_ref actor = tr__visitor_actor(visitor, request);
    tr_actor_info info;
    tr_worker_info running;
    if (!actor.bits)
        return;
    tr_actor_report *report = source_resize(source, NULL, sizeof *report);
    if (!report || !tr__observer_find(observer, actor, &info)) {
        tr_status status = report ? TR_STOPPED : TR_NO_MEMORY;
        tr__visitor_refuse(visitor, request->id, status, "%s", tr_status_text(status));
        source_resize(source, report, 0);
        return;
    }
    bool is_stuck = tr__observer_is_stuck(observer, info.worker, &running);
    tr_status status = is_stuck ? TR_TIMEOUT : tr_actor_show(observer->client, actor, report);
    if (status == TR_TIMEOUT && !is_stuck)
        is_stuck = tr__observer_is_stuck(observer, info.worker, &running);
    tr__visitor_begin(visitor, request->id, false);
    tr__actor_write(line, &info);
    if (status == TR_OK)
        report_write(visitor, actor, report);
    else if (is_stuck && info.queued)
        stuck_age_write(line, tr__observer_age_stuck(observer, actor, running.since_ns));
    if (status != TR_OK)
        tr__json_string(line, "not_asked", tr_status_name(status));
    durable_write(visitor, actor, info.path, status == TR_OK);
    tr__handed_off_of_write(visitor, actor);
    if (is_stuck) {
        tr__json_open(line, "stuck", '{');
        tr__running_write(line, &running);
        tr__json_close(line, '}');
    }
    tr__visitor_end(visitor);
    source_resize(source, report, 0);
}
