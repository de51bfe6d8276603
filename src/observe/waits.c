/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/waits.h"

#include "actor/verbs/show_waits.h"

static const char *const kinds[WAIT_KINDS] = {[WAIT_ASK] = "ask",
                                              [WAIT_TIMER] = "timer",
                                              [WAIT_WATCHES] = "watches",
                                              [WAIT_WATCHED] = "watched by",
                                              [WAIT_SENDER] = "sender",
                                              [WAIT_OWES] = "owes"};

static void row_write(struct visitor *visitor, uint64_t id, const struct wait_row *row)
{
    struct json_line *line = &visitor->output;
    tr_actor_info other;
    bool is_known =
        row->who && tr__observer_find(visitor->observer, tr_ref_from_bits(row->who), &other);
    tr__visitor_begin(visitor, id, true);
    tr__json_string(line, "kind", kinds[row->kind]);
    tr__json_ref(line, "who", tr_ref_from_bits(row->who));
    tr__json_string(line, "who_path", is_known ? other.path : NULL);
    tr__json_string(line, "message", row->message);
    tr__json_string(line, "name", row->name[0] ? row->name : NULL);
    if (row->for_ns >= 0)
        tr__json_signed(line, "for_ms", row->for_ns / TR_MILLISECOND);
    if (row->due_ns != INT64_MAX)
        tr__json_signed(line, "due_in_ms", row->due_ns / TR_MILLISECOND);
    if (row->period_ns)
        tr__json_signed(line, "period_ms", row->period_ns / TR_MILLISECOND);
    if (row->where[0])
        tr__json_string(line, "where", row->where);
    tr__visitor_end(visitor);
}

static void report_write(struct visitor *visitor, uint64_t id, tr_status status,
                         const struct waits_report *report)
{
    struct json_line *line = &visitor->output;
    uint32_t count = status == TR_OK ? report->count : 0;
    /* The page of the inspector cannot show owed replies. */
    size_t kinds_shown = visitor->is_page ? WAIT_OWES : WAIT_KINDS;
    for (uint32_t i = 0; i < count; i++) {
        if (report->rows[i].kind < kinds_shown)
            row_write(visitor, id, &report->rows[i]);
    }
    tr__visitor_begin(visitor, id, false);
    tr__json_unsigned(line, "count", count);
    if (status == TR_OK) {
        tr__json_open(line, "total", '{');
        for (size_t i = 0; i < kinds_shown; i++)
            tr__json_unsigned(line, kinds[i], report->total[i]);
        tr__json_close(line, '}');
    } else {
        tr__json_string(line, "not_asked", tr_status_name(status));
    }
    tr__visitor_end(visitor);
}

void tr__verb_waits(struct visitor *visitor, const struct control_request *request)
{
    struct observer *observer = visitor->observer;
    tr_ref actor = tr__visitor_actor(visitor, request);
    tr_actor_info info;
    tr_worker_info running;
    if (!actor.bits)
        return;
    struct waits_report *report = source_resize(observer->source, NULL, sizeof *report);
    if (!report || !tr__observer_find(observer, actor, &info)) {
        tr_status status = report ? TR_STOPPED : TR_NO_MEMORY;
        tr__visitor_refuse(visitor, request->id, status, "%s", tr_status_text(status));
    } else {
        /* Do not ask a stuck worker, because it could not answer. */
        bool is_stuck = tr__observer_is_stuck(observer, info.worker, &running);
        tr_status status = is_stuck ? TR_TIMEOUT : tr__show_waits(observer->client, actor, report);
        report_write(visitor, request->id, status, report);
    }
    source_resize(observer->source, report, 0);
}
