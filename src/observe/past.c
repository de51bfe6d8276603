/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/past.h"

#include "actor/cell/system.h"

enum { RECORDS_DEFAULT = 20, RECORDS_LARGEST = 200 };

/* How many records to read: those after `after`, the newest ones. */
static size_t records_wanted(const struct control_request *request)
{
    uint32_t limit = request->limit ? request->limit : RECORDS_DEFAULT;
    return limit < RECORDS_LARGEST ? limit : RECORDS_LARGEST;
}

static void time_write(struct session *session, tr_time time_ns)
{
    const struct observer *observer = session->observer;
    const tr_platform *platform = observer->system->platform;
    tr_time age_ns = tr__observer_now(observer) - time_ns;
    tr__json_signed(&session->output, "age_ms", age_ns / TR_MILLISECOND);
    tr__json_signed(
        &session->output, "unix_ms", (platform->wall_now(platform) - age_ns) / TR_MILLISECOND);
}

static void letter_write(struct session *session, uint64_t number,
                         const tr_dead_letter_record *record)
{
    struct json_line *line = &session->output;
    tr__json_unsigned(line, "number", number);
    time_write(session, record->time_ns);
    tr__json_string(line, "message", record->type);
    tr__json_string(line, "from", record->from_path);
    tr__json_string(line, "to", record->to_path);
    tr__json_ref(line, "from_ref", record->from);
    tr__json_ref(line, "to_ref", record->to);
    tr__json_string(line, "reason", tr_status_name(record->reason));
    tr__json_string(line, "behavior", record->behavior[0] ? record->behavior : NULL);
    tr__json_unsigned(line, "size", record->size);
    tr__json_string(line, "text", record->message[0] ? record->message : NULL);
}

static void end_write(struct session *session, uint64_t id, uint64_t total)
{
    tr__session_begin(session, id, false);
    tr__json_unsigned(&session->output, "total", total);
    tr__session_end(session);
}

void tr__verb_dead_letters(struct session *session, const struct control_request *request)
{
    struct tr_system *system = session->observer->system;
    size_t wanted = records_wanted(request);
    tr_dead_letter_record *records = source_resize(&system->source, NULL, wanted * sizeof *records);
    if (!records) {
        tr__session_refuse(session, request->id, TR_NO_MEMORY, "out of memory for the records");
        return;
    }
    size_t count;
    uint64_t total = tr_system_dead_letters(system, records, wanted, &count);
    for (size_t i = count; i-- > 0;) { /* the oldest first */
        if (total - i <= request->after)
            continue;
        tr__session_begin(session, request->id, true);
        letter_write(session, total - i, &records[i]);
        tr__session_end(session);
    }
    source_resize(&system->source, records, 0);
    end_write(session, request->id, total);
}

static void failure_write(struct session *session, uint64_t number, const tr_failure_record *record)
{
    struct json_line *line = &session->output;
    tr__json_unsigned(line, "number", number);
    time_write(session, record->time_ns);
    tr__json_string(line, "what", record->is_restart ? "restarted" : "failed");
    tr__json_string(line, "path", record->path);
    tr__json_ref(line, "ref", record->actor);
    tr__json_string(line, "behavior", record->behavior);
    tr__json_string(line, "where", record->where[0] ? record->where : NULL);
    tr__json_string(line, "status", tr_status_name(record->status));
    tr__json_string(line, "text", record->text);
    tr__json_unsigned(line, "incarnation", record->incarnation);
}

void tr__verb_failures(struct session *session, const struct control_request *request)
{
    struct tr_system *system = session->observer->system;
    size_t wanted = records_wanted(request);
    tr_failure_record *records = source_resize(&system->source, NULL, wanted * sizeof *records);
    if (!records) {
        tr__session_refuse(session, request->id, TR_NO_MEMORY, "out of memory for the records");
        return;
    }
    size_t count;
    uint64_t total = tr_system_failures(system, records, wanted, &count);
    for (size_t i = count; i-- > 0;) {
        if (total - i <= request->after)
            continue;
        tr__session_begin(session, request->id, true);
        failure_write(session, total - i, &records[i]);
        tr__session_end(session);
    }
    source_resize(&system->source, records, 0);
    end_write(session, request->id, total);
}
