/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/past.h"

#include <string.h>

#include "actor/cell/system.h"
#include "observe/act.h"
#include "observe/actors.h"
#include "wire/type.h"

enum { RECORDS_DEFAULT = 20, RECORDS_LARGEST = 200 };

/* Returns how many records to read: the newest ones with numbers above `after`. */
static size_t records_wanted(const struct control_request *request)
{
    uint32_t limit = request->limit ? request->limit : RECORDS_DEFAULT;
    return limit < RECORDS_LARGEST ? limit : RECORDS_LARGEST;
}

/* Whether a record is about the actor of the request. Returns true if the request names no
 * actor. */
static bool is_of(const struct control_request *request, const char *path)
{
    return !request->path || !*request->path || strcmp(request->path, path) == 0;
}

void tr__past_time(struct visitor *visitor, tr_time time_ns)
{
    const struct observer *observer = visitor->observer;
    const tr_platform *platform = observer->system->platform;
    tr_time age_ns = tr__observer_now(observer) - time_ns;
    tr__json_signed(&visitor->output, "age_ms", age_ns / TR_MILLISECOND);
    tr__json_signed(
        &visitor->output, "unix_ms", (platform->wall_now(platform) - age_ns) / TR_MILLISECOND);
}

static void letter_write(struct visitor *visitor, uint64_t number,
                         const tr_dead_letter_record *record)
{
    struct json_line *line = &visitor->output;
    tr__json_unsigned(line, "number", number);
    tr__past_time(visitor, record->time_ns);
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

static void end_write(struct visitor *visitor, uint64_t id, uint64_t total)
{
    tr__visitor_begin(visitor, id, false);
    tr__json_unsigned(&visitor->output, "total", total);
    tr__visitor_end(visitor);
}

void tr__verb_dead_letters(struct visitor *visitor, const struct control_request *request)
{
    struct tr_system *system = visitor->observer->system;
    size_t wanted = records_wanted(request);
    tr_dead_letter_record *records = source_resize(&system->source, NULL, wanted * sizeof *records);
    if (!records) {
        tr__visitor_refuse(visitor, request->id, TR_NO_MEMORY, "out of memory for the records");
        return;
    }
    size_t count;
    uint64_t total = tr_system_dead_letters(system, records, wanted, &count);
    for (size_t i = count; i-- > 0;) { /* write the oldest record first */
        if (total - i <= request->after || !is_of(request, records[i].to_path))
            continue;
        tr__visitor_begin(visitor, request->id, true);
        letter_write(visitor, total - i, &records[i]);
        tr__visitor_end(visitor);
    }
    source_resize(&system->source, records, 0);
    end_write(visitor, request->id, total);
}

static void failure_write(struct visitor *visitor, uint64_t number, const tr_failure_record *record)
{
    struct json_line *line = &visitor->output;
    tr__json_unsigned(line, "number", number);
    tr__past_time(visitor, record->time_ns);
    tr__json_string(line, "what", record->is_restart ? "restarted" : "failed");
    tr__json_string(line, "path", record->path);
    tr__json_ref(line, "ref", record->actor);
    tr__json_string(line, "behavior", record->behavior);
    tr__json_string(line, "where", record->where[0] ? record->where : NULL);
    tr__json_string(line, "status", tr_status_name(record->status));
    tr__json_string(line, "text", record->text);
    tr__json_unsigned(line, "incarnation", record->incarnation);
}

void tr__verb_failures(struct visitor *visitor, const struct control_request *request)
{
    struct tr_system *system = visitor->observer->system;
    size_t wanted = records_wanted(request);
    tr_failure_record *records = source_resize(&system->source, NULL, wanted * sizeof *records);
    if (!records) {
        tr__visitor_refuse(visitor, request->id, TR_NO_MEMORY, "out of memory for the records");
        return;
    }
    size_t count;
    uint64_t total = tr_system_failures(system, records, wanted, &count);
    for (size_t i = count; i-- > 0;) {
        if (total - i <= request->after || !is_of(request, records[i].path))
            continue;
        tr__visitor_begin(visitor, request->id, true);
        failure_write(visitor, total - i, &records[i]);
        tr__visitor_end(visitor);
    }
    source_resize(&system->source, records, 0);
    end_write(visitor, request->id, total);
}

/* ---- Sending a dead letter again. ---- */

/* Whether the text of a dead letter contains the whole message. It does not if a secret field is
 * shown as "...". */
static bool is_whole(tr_system *system, const tr_dead_letter_record *record)
{
    tr_ref actor = tr_system_find(system, record->to_path);
    struct actor_glance glance;
    bool is_there = actor.bits &&
                    tr__actor_glance(system, (uint32_t)actor.bits & system->slots.mask, &glance) &&
                    glance.behavior;
    for (size_t i = 0; is_there && i < glance.behavior->handler_count; i++) {
        const tr_type *type = glance.behavior->handlers[i].type;
        if (type && strcmp(type->name, record->type) == 0 && tr__type_has_secrets(type))
            return false;
    }
    return record->message[0] != '\0';
}

void tr__verb_replay(struct visitor *visitor, const struct control_request *request)
{
    struct tr_system *system = visitor->observer->system;
    tr_dead_letter_record *records =
        source_resize(&system->source, NULL, TR_DEAD_LETTERS_MAX * sizeof *records);
    size_t count = 0;
    uint64_t total =
        records ? tr_system_dead_letters(system, records, TR_DEAD_LETTERS_MAX, &count) : 0;
    if (!request->after || request->after > total || total - request->after >= count) {
        tr__visitor_refuse(visitor,
                           request->id,
                           TR_NOT_FOUND,
                           "dead letter %llu is not kept, or there is none",
                           (unsigned long long)request->after);
        source_resize(&system->source, records, 0);
        return;
    }
    const tr_dead_letter_record *record = &records[total - request->after];
    if (!is_whole(system, record)) {
        tr__visitor_refuse(visitor,
                           request->id,
                           TR_NOT_SUPPORTED,
                           "the message of dead letter %llu was not kept whole: it is large, a "
                           "reply, one of many, or has "
                           "secret fields",
                           (unsigned long long)request->after);
    } else {
        /* Send it in the same way as a message of the verb tell. */
        struct control_request again = *request;
        again.path = record->to_path;
        again.message = record->type;
        again.json = record->message;
        tr__verb_tell(visitor, &again);
    }
    source_resize(&system->source, records, 0);
}
