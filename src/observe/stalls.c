/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/stalls.h"

#include "actor/cell/system.h"
#include "actor/system/handoff_report.h"
#include "actor/system/stall_log.h"
#include "observe/past.h"
#include "observe/running.h"
#include "observe/stacks.h"
#include "observe/verbs.h"

static void running_list(struct visitor *visitor)
{
    struct json_line *line = &visitor->output;
    tr__json_open(line, "running", '[');
    for (uint32_t i = 0; i < visitor->observer->system->worker_count; i++) {
        tr_worker_info info;
        if (!tr__observer_is_stuck(visitor->observer, (int)i, &info))
            continue;
        tr__json_open(line, NULL, '{');
        tr__running_write(line, &info);
        tr__json_close(line, '}');
    }
    tr__json_close(line, ']');
}

void tr__handed_off_write(struct visitor *visitor)
{
    struct tr_system *system = visitor->observer->system;
    struct json_line *line = &visitor->output;
    tr__json_open(line, "handed_off", '[');
    for (uint32_t i = 0; i < tr__handoff_threads(system); i++) {
        tr_worker_info info;
        if (!tr__handed_off_describe(system, i, &info))
            continue;
        tr__json_open(line, NULL, '{');
        tr__running_write(line, &info);
        tr__json_close(line, '}');
    }
    tr__json_close(line, ']');
}

void tr__handed_off_of_write(struct visitor *visitor, tr_ref actor)
{
    struct tr_system *system = visitor->observer->system;
    for (uint32_t i = 0; i < tr__handoff_threads(system); i++) {
        tr_worker_info info;
        if (!tr__handed_off_describe(system, i, &info) || info.actor.bits != actor.bits)
            continue;
        tr__json_open(&visitor->output, "handed_off", '{');
        tr__running_write(&visitor->output, &info);
        tr__json_close(&visitor->output, '}');
        return;
    }
}

static void entry_write(struct visitor *visitor, const struct stall_entry *entry)
{
    struct json_line *line = &visitor->output;
    tr__json_open(line, NULL, '{');
    tr__json_unsigned(line, "number", entry->number);
    tr__past_time(visitor, entry->begun_ns);
    /* If the turn still runs, compute its time here, because the watch updates it only now and
     * then. */
    tr_time took_ns =
        entry->is_over ? entry->took_ns : tr__observer_now(visitor->observer) - entry->begun_ns;
    tr__json_signed(line, "took_ms", took_ns / TR_MILLISECOND);
    tr__json_bool(line, "over", entry->is_over);
    tr__json_bool(line, "handed_off", entry->is_handed_off);
    tr__json_string(line, "path", entry->path);
    tr__json_ref(line, "ref", tr_ref_from_bits(entry->actor));
    tr__json_string(line, "behavior", entry->behavior);
    tr__json_string(line, "handler", entry->handler);
    tr__json_string(line, "message", entry->type);
    tr__json_string(line, "file", entry->file);
    tr__json_unsigned(line, "line", entry->line);
    tr__json_signed(line, "worker", entry->worker);
    tr__stack_write(visitor, entry);
    tr__json_close(line, '}');
}

static void past_list(struct visitor *visitor, const struct control_request *request)
{
    struct tr_system *system = visitor->observer->system;
    size_t max = request->limit && request->limit < STALLS_KEPT ? request->limit : STALLS_KEPT;
    struct stall_entry *entries = source_resize(&system->source, NULL, max * sizeof *entries);
    size_t count = entries ? tr__stall_log_read(system, entries, max) : 0;
    visitor->output.has_failed |= !entries;
    tr__json_open(&visitor->output, "past", '[');
    for (size_t i = 0; i < count; i++) {
        if (entries[i].number > request->after)
            entry_write(visitor, &entries[i]);
    }
    tr__json_close(&visitor->output, ']');
    source_resize(&system->source, entries, 0);
}

void tr__verb_stalls(struct visitor *visitor, const struct control_request *request)
{
    tr_counters counters;
    tr_system_counters(visitor->observer->system, &counters);
    tr__visitor_begin(visitor, request->id, false);
    tr__json_unsigned(&visitor->output, "total", counters.stalls);
    running_list(visitor);
    tr__handed_off_write(visitor);
    past_list(visitor, request);
    tr__visitor_end(visitor);
}
