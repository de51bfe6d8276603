/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/mail.h"

#include <inttypes.h>
#include <stdio.h>

#include "actor/verbs/show_mail.h"

static void row_write(struct visitor *visitor, uint64_t id, const struct mail_report *report,
                      uint32_t at)
{
    struct json_line *line = &visitor->output;
    const struct mail_row *row = &report->rows[at];
    tr_actor_info sender;
    char causal[20];
    bool is_known =
        row->from && tr__observer_find(visitor->observer, tr_ref_from_bits(row->from), &sender);
    (void)snprintf(causal, sizeof causal, "%016" PRIx64, row->causal);
    tr__visitor_begin(visitor, id, true);
    tr__json_unsigned(line, "number", at + 1);
    tr__json_string(line, "mailbox", row->mailbox);
    tr__json_string(line, "message", row->type);
    tr__json_string(line, "kind", row->kind);
    tr__json_ref(line, "from", tr_ref_from_bits(row->from));
    tr__json_string(line, "from_path", is_known ? sender.path : NULL);
    tr__json_string(line, "causal", row->causal ? causal : NULL);
    tr__json_unsigned(line, "size", row->size);
    if (row->text_length) {
        char text[MAIL_TEXT_MAX + 1];
        (void)snprintf(text, sizeof text, "%.*s", (int)row->text_length, report->texts + row->text);
        tr__json_raw(line, "value", text);
    } else {
        tr__json_raw(line, "value", "null");
    }
    tr__visitor_end(visitor);
}

void tr__verb_mail(struct visitor *visitor, const struct control_request *request)
{
    struct observer *observer = visitor->observer;
    struct json_line *line = &visitor->output;
    tr_ref actor = tr__visitor_actor(visitor, request);
    tr_actor_info info;
    tr_worker_info running;
    if (!actor.bits)
        return;
    struct mail_report *report = source_resize(observer->source, NULL, sizeof *report);
    if (!report || !tr__observer_find(observer, actor, &info)) {
        tr_status status = report ? TR_STOPPED : TR_NO_MEMORY;
        tr__visitor_refuse(visitor, request->id, status, "%s", tr_status_text(status));
        source_resize(observer->source, report, 0);
        return;
    }
    /* Do not ask a stuck worker, because it could not answer. */
    bool is_stuck = tr__observer_is_stuck(observer, info.worker, &running);
    tr_status status = is_stuck ? TR_TIMEOUT : tr__show_mail(observer->client, actor, report);
    uint32_t limit = request->limit && request->limit < MAIL_SHOWN ? request->limit : MAIL_SHOWN;
    uint32_t count = status != TR_OK ? 0 : report->count < limit ? report->count : limit;
    for (uint32_t i = 0; i < count; i++)
        row_write(visitor, request->id, report, i);
    tr__visitor_begin(visitor, request->id, false);
    tr__json_unsigned(line, "count", count);
    if (status == TR_OK)
        tr__json_bool(line, "more", report->count > count || report->more);
    else
        tr__json_bool(line, "more", info.queued > 0);
    if (status != TR_OK)
        tr__json_string(line, "not_asked", tr_status_name(status));
    tr__visitor_end(visitor);
    source_resize(observer->source, report, 0);
}
