/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/past.h"

#include <string.h>

#include "actor/cell/slots.h"
#include "actor/cell/system.h"
#include "actor/mail/dead_letter.h"
#include "observe/act.h"
#include "observe/actors.h"
#include "wire/type.h"

enum {
    RECORDS_DEFAULT = 20, /* records if the request names neither a limit nor its last record */
    RECORDS_STEP = 16     /* records that one step writes */
};

/* Whether a record is about the actor that the request names. If the request names none, every
 * record is. */
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

/* ---- Lists. ---- */

/* A copy of the last dead letters, or of the last failures. Some of its records are not written
 * yet. */
struct past {
    tr_dead_letter_record *letters; /* NULL: the copy has failures */
    tr_failure_record *failures;
    size_t left; /* number of records that are not written yet; the oldest is the last of these */
    uint64_t total;
    /* number of records that the client does not have and that are not in the copy */
    uint64_t missed;
};

static void past_free(struct visitor *visitor, void *work)
{
    struct past *past = work;
    const struct memory_source *source = visitor->observer->source;
    source_resize(source, past->letters, 0);
    source_resize(source, past->failures, 0);
    source_resize(source, past, 0);
}

static bool past_step(struct visitor *visitor)
{
    struct past *past = visitor->work;
    const struct control_request *request = visitor->request;
    for (size_t i = 0; i < RECORDS_STEP && past->left; i++) {
        size_t at = --past->left;
        const char *path = past->letters ? past->letters[at].to_path : past->failures[at].path;
        if (!is_of(request, path))
            continue;
        tr__visitor_begin(visitor, request->id, true);
        if (past->letters)
            letter_write(visitor, past->total - at, &past->letters[at]);
        else
            failure_write(visitor, past->total - at, &past->failures[at]);
        tr__visitor_end(visitor);
    }
    if (past->left)
        return false;
    tr__visitor_begin(visitor, request->id, false);
    tr__json_unsigned(&visitor->output, "total", past->total);
    tr__json_unsigned(&visitor->output, "missed", past->missed);
    tr__visitor_end(visitor);
    return true;
}

/* Copies the last records, at most `max` of them. Returns false if there is no memory. */
static bool past_copy(struct past *past, struct tr_system *system, bool is_letters, size_t max)
{
    size_t size = is_letters ? sizeof *past->letters : sizeof *past->failures;
    void *records = max ? source_resize(&system->source, NULL, max * size) : NULL;
    if (!records)
        return !max;
    if (is_letters) {
        past->letters = records;
        past->total = tr__dead_letters_copy(system, records, max, &past->left);
    } else {
        past->failures = records;
        past->total = tr_system_failures(system, records, max, &past->left);
    }
    return true;
}

/* Lists records with numbers above `after` of the request. Lists the newest ones, as many as the
 * request wants, or all that are kept. */
static void past_list(struct visitor *visitor, const struct control_request *request,
                      bool is_letters)
{
    struct tr_system *system = visitor->observer->system;
    struct past *past = source_resize(&system->source, NULL, sizeof *past);
    size_t kept = is_letters ? TR_DEAD_LETTERS_MAX : TR_FAILURES_KEPT;
    size_t limit = request->limit ? request->limit : request->after ? kept : RECORDS_DEFAULT;
    if (past) {
        *past = (struct past){.total = is_letters ? tr__dead_letters_copy(system, NULL, 0, NULL)
                                                  : tr_system_failures(system, NULL, 0, NULL)};
        /* A client that asks again and again usually finds no new records. */
        bool has_news = past->total > request->after;
        if (past_copy(past, system, is_letters, !has_news ? 0 : limit < kept ? limit : kept)) {
            uint64_t older = past->total - past->left;
            if (older > request->after)
                past->missed = older - request->after;
            else if (past->left)
                past->left -= (size_t)(request->after - older);
            tr__visitor_steps(visitor, JOB_STEPS, past_step, past, past_free);
            return;
        }
    }
    source_resize(&system->source, past, 0);
    tr__visitor_refuse(visitor, request->id, TR_NO_MEMORY, "out of memory for the records");
}

void tr__verb_dead_letters(struct visitor *visitor, const struct control_request *request)
{
    past_list(visitor, request, true);
}

void tr__verb_failures(struct visitor *visitor, const struct control_request *request)
{
    past_list(visitor, request, false);
}

/* ---- Sending a dead letter again. ---- */

/* Whether the text of a dead letter contains the whole message. If a secret field is shown as
 * "...", it does not. */
static bool is_whole(tr_system *system, const tr_dead_letter_record *record)
{
    tr_ref actor = tr_system_find(system, record->to_path);
    struct actor_glance glance;
    bool is_there = actor.bits &&
                    tr__actor_glance(system, (uint32_t)actor.bits & system->slots->mask, &glance) &&
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
        records ? tr__dead_letters_copy(system, records, TR_DEAD_LETTERS_MAX, &count) : 0;
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
        /* Send the message in the way of the verb tell. */
        struct control_request again = *request;
        again.path = record->to_path;
        again.message = record->type;
        again.json = record->message;
        tr__verb_tell(visitor, &again);
    }
    source_resize(&system->source, records, 0);
}
