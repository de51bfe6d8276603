/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/durables.h"

#include <stdio.h>
#include <string.h>

#include "actor/cell/system.h"
#include "actor/cell/view.h"
#include "observe/key_text.h"
#include "store/read.h"

enum {
    LIST_DEFAULT = 1000,
    LIST_LARGEST = 1000000,
    LIST_STEP = 100,      /* keys, alarms or actors that one step reads */
    COUNT_STEP = 1000,    /* keys that one step counts */
    COUNT_MOST = 1000000, /* the largest number of keys or alarms that are counted */
    ALARMS_SHOWN = 20,
    QUEUES_SHOWN = 16
};

bool tr__stored_begin(struct visitor *visitor, const struct control_request *request,
                      struct stored *stored)
{
    struct observer *observer = visitor->observer;
    struct durable_host *host = observer->system ? observer->system->durable.host : NULL;
    if (!host && !observer->reader) {
        tr__visitor_refuse(visitor, request->id, TR_NOT_FOUND, "the program has no durable actors");
        return false;
    }
    tr_status status = TR_OK;
    if (!observer->reader)
        status = tr__store_reader_new(host->store, &observer->reader);
    if (status != TR_OK) {
        tr__stored_refuse(visitor, request, status);
        return false;
    }
    *stored = (struct stored){.reader = observer->reader,
                              .source = observer->source,
                              .host = host,
                              .shows_secrets = request->secrets,
                              .value_max = visitor->is_page ? VISITOR_PAGE_MAX : 0};
    return true;
}

void tr__stored_refuse(struct visitor *visitor, const struct control_request *request,
                       tr_status status)
{
    if (status == TR_NOT_FOUND)
        tr__visitor_refuse(visitor,
                           request->id,
                           status,
                           "the store has no %.64s \"%.256s\"",
                           request->kind ? request->kind : "",
                           request->key ? request->key : "");
    else if (status == TR_STORE_BUSY)
        tr__visitor_refuse(visitor,
                           request->id,
                           status,
                           "the log of the store is full, and commits go before this: try again");
    else
        tr__visitor_refuse(visitor, request->id, status, "the store: %s", tr_status_text(status));
}

bool tr__secrets_refuse(struct visitor *visitor, const struct control_request *request)
{
    if (!request->secrets || !visitor->observer->system)
        return false;
    tr__visitor_refuse(visitor,
                       request->id,
                       TR_NOT_PERMITTED,
                       "secret fields are not shown; durable export --secrets -o FILE has them");
    return true;
}

bool tr__request_name(struct visitor *visitor, const struct control_request *request,
                      struct request_key *key)
{
    key->size = tr__key_read(request->key, key->bytes);
    if (request->kind && *request->kind && key->size)
        return true;
    tr__visitor_refuse(
        visitor,
        request->id,
        TR_INVALID_ARGUMENT,
        "\"kind\" or \"key\" is missing, longer than %d bytes, or has a %% without two "
        "digits",
        TR_KEY_MAX);
    return false;
}

/* ---- Kinds, and keys of a kind. ---- */

static bool on_count(void *context, const struct store_row *row)
{
    (void)row;
    ++*(uint64_t *)context;
    return true;
}

/* The progress of a list of kinds, of keys, or of actors with queues. */
struct durable_list {
    struct stored stored;
    size_t declared; /* how many kinds of the program were listed so far */
    char kind[TR_NAME_MAX + 1];
    struct request_key prefix;
    struct request_key after;
    char counted[TR_NAME_MAX + 1]; /* kind whose keys after `after` are being counted; "": none */
    uint64_t count;
    int64_t number; /* of a list of actors with queues: number of the last actor */
    uint64_t listed;
    uint64_t limit;
};

static void list_free(struct visitor *visitor, void *work)
{
    source_resize(visitor->observer->source, work, 0);
}

static void list_end(struct visitor *visitor, uint64_t count, bool has_more)
{
    tr__visitor_begin(visitor, visitor->request->id, false);
    tr__json_unsigned(&visitor->output, "count", count);
    tr__json_bool(&visitor->output, "more", has_more);
    tr__visitor_end(visitor);
}

static void kind_write(struct visitor *visitor, const struct durable_list *list, tr_status status)
{
    struct json_line *line = &visitor->output;
    const struct durable_kind *kind = tr__stored_kind(&list->stored, list->counted);
    tr__visitor_begin(visitor, visitor->request->id, true);
    tr__json_string(line, "kind", list->counted);
    if (status == TR_OK)
        tr__json_unsigned(line, "stored", list->count);
    else
        tr__json_string(line, "not_read", tr_status_name(status));
    tr__json_bool(line, "stored_more", list->count == COUNT_MOST);
    tr__json_unsigned(
        line, "awake", kind && kind->keeper ? tr__view_glance(kind->keeper).child_count : 0);
    tr__json_bool(line, "known", !visitor->observer->system || kind);
    tr__visitor_end(visitor);
}

static bool on_counted(void *context, const struct store_row *row)
{
    struct durable_list *list = context;
    memcpy(list->after.bytes, row->key.data, row->key.size);
    list->after.size = row->key.size;
    list->count++;
    return true;
}

/* Counts some more keys of a kind. When all are counted, writes the kind. */
static void kind_count(struct visitor *visitor, struct durable_list *list)
{
    static const tr_bytes none = {NULL, 0};
    uint64_t before = list->count;
    tr_status status = tr__store_list_keys(list->stored.reader,
                                           list->counted,
                                           none,
                                           request_key_bytes(&list->after),
                                           COUNT_STEP,
                                           on_counted,
                                           list);
    if (status == TR_OK && list->count - before == COUNT_STEP && list->count < COUNT_MOST)
        return;
    kind_write(visitor, list, status);
    list->counted[0] = '\0';
}

/* Begins to count the keys of the next kind. The kinds of the program come first, then kinds that
 * only the store has. Returns TR_NOT_FOUND if there are no more kinds. */
static tr_status kind_next(struct durable_list *list)
{
    const struct stored *stored = &list->stored;
    const char *next = list->kind;
    char after[TR_NAME_MAX + 1];
    tr_status status = TR_OK;
    if (stored->host && list->declared < stored->host->kind_count) {
        next = stored->host->kinds[list->declared++].declared->name;
    } else {
        do {
            memcpy(after, list->kind, sizeof after);
            status = tr__store_next_kind(stored->reader, after[0] ? after : NULL, list->kind);
        } while (status == TR_OK && tr__stored_kind(stored, list->kind));
    }
    if (status != TR_OK)
        return status;
    snprintf(list->counted, sizeof list->counted, "%s", next);
    list->after.size = 0;
    list->count = 0;
    list->listed++;
    return TR_OK;
}

static bool kinds_step(struct visitor *visitor)
{
    struct durable_list *list = visitor->work;
    if (list->counted[0]) {
        kind_count(visitor, list);
        return false;
    }
    tr_status status = kind_next(list);
    if (status == TR_NOT_FOUND)
        list_end(visitor, list->listed, false);
    else if (status != TR_OK)
        tr__stored_refuse(visitor, visitor->request, status);
    return status != TR_OK;
}

struct key_page {
    struct visitor *visitor;
    struct durable_list *list;
    size_t count;
};

static bool on_key(void *context, const struct store_row *row)
{
    struct key_page *page = context;
    struct durable_list *list = page->list;
    struct json_line *line = &page->visitor->output;
    memcpy(list->after.bytes, row->key.data, row->key.size);
    list->after.size = row->key.size;
    list->listed++;
    page->count++;
    tr__visitor_begin(page->visitor, page->visitor->request->id, true);
    tr__json_string(line, "kind", list->kind);
    tr__json_key(line, "key", row->key);
    tr__json_bool(line, "awake", tr__stored_is_awake(&list->stored, list->kind, row->key));
    tr__visitor_end(page->visitor);
    return true;
}

static bool keys_step(struct visitor *visitor)
{
    struct durable_list *list = visitor->work;
    struct key_page page = {.visitor = visitor, .list = list};
    uint64_t left = list->limit - list->listed;
    size_t wanted = left < LIST_STEP ? (size_t)left : LIST_STEP;
    tr_status status = tr__store_list_keys(list->stored.reader,
                                           list->kind,
                                           request_key_bytes(&list->prefix),
                                           request_key_bytes(&list->after),
                                           wanted,
                                           on_key,
                                           &page);
    if (status != TR_OK) {
        tr__stored_refuse(visitor, visitor->request, status);
        return true;
    }
    bool has_more = page.count == wanted;
    if (has_more && list->listed < list->limit)
        return false;
    list_end(visitor, list->listed, has_more);
    return true;
}

/* Makes the record of a list. Returns NULL if the request was refused. */
static struct durable_list *list_new(struct visitor *visitor, const struct control_request *request)
{
    struct stored stored;
    if (!tr__stored_begin(visitor, request, &stored))
        return NULL;
    struct durable_list *list = source_resize(visitor->observer->source, NULL, sizeof *list);
    if (!list) {
        tr__visitor_refuse(visitor, request->id, TR_NO_MEMORY, "out of memory for the list");
        return NULL;
    }
    uint32_t limit = request->limit ? request->limit : LIST_DEFAULT;
    *list = (struct durable_list){.stored = stored,
                                  .limit = limit < LIST_LARGEST ? limit : LIST_LARGEST};
    return list;
}

/* Whether the store may have actors of this kind. If not, refuses the request. */
static bool kind_is_known(struct visitor *visitor, const struct control_request *request,
                          const struct stored *stored)
{
    static const tr_bytes none = {NULL, 0};
    uint64_t count = 0;
    if (strlen(request->kind) <= TR_NAME_MAX &&
        (tr__stored_kind(stored, request->kind) ||
         (tr__store_list_keys(stored->reader, request->kind, none, none, 1, on_count, &count) ==
              TR_OK &&
          count)))
        return true;
    tr__visitor_refuse(visitor,
                       request->id,
                       TR_NOT_FOUND,
                       "there is no durable kind \"%.64s\"; durable ls without a kind lists them",
                       request->kind);
    return false;
}

void tr__verb_durable_ls(struct visitor *visitor, const struct control_request *request)
{
    struct durable_list *list = list_new(visitor, request);
    bool has_kind = request->kind && *request->kind;
    if (!list)
        return;
    if (has_kind && !kind_is_known(visitor, request, &list->stored)) {
        list_free(visitor, list);
        return;
    }
    if (has_kind)
        snprintf(list->kind, sizeof list->kind, "%s", request->kind);
    list->prefix.size = tr__key_read(request->key, list->prefix.bytes);
    if (request->key && *request->key && !list->prefix.size) {
        tr__visitor_refuse(visitor,
                           request->id,
                           TR_INVALID_ARGUMENT,
                           "\"key\" is longer than %d bytes, or has a %% without two digits",
                           TR_KEY_MAX);
        list_free(visitor, list);
        return;
    }
    tr__visitor_steps(visitor, JOB_STEPS, has_kind ? keys_step : kinds_step, list, list_free);
}

/* ---- One actor. ---- */

void tr__verb_durable_get(struct visitor *visitor, const struct control_request *request)
{
    struct stored stored;
    struct request_key key;
    struct json_line *line = &visitor->output;
    if (!tr__request_name(visitor, request, &key) || !tr__stored_begin(visitor, request, &stored))
        return;
    if (tr__secrets_refuse(visitor, request))
        return;
    tr_status status = tr__store_reader_hold(stored.reader);
    if (status != TR_OK) {
        tr__stored_refuse(visitor, request, status);
        return;
    }
    size_t begin = line->length;
    tr__visitor_begin(visitor, request->id, false);
    status = tr__stored_write(&stored, request->kind, request_key_bytes(&key), line);
    /*
     * Only the running program knows which fields of a store are secret. Without it, all values are
     * concealed, unless the request asks for secrets.
     */
    tr__json_bool(line, "concealed", !visitor->observer->system && !request->secrets);
    tr__visitor_end(visitor);
    tr__store_reader_release(stored.reader);
    if (status == TR_OK)
        return;
    line->length = begin;
    tr__stored_refuse(visitor, request, status);
}

/* ---- Alarms of all actors. ---- */

struct alarm_kind_count {
    char kind[TR_NAME_MAX + 1];
    uint64_t count;
    uint64_t overdue;
    tr_time next_ns;
};

enum { ALARM_KINDS = 32 };

struct alarm_scan {
    struct stored stored;
    struct visitor *visitor;
    struct store_alarm_place after;
    bool has_after;
    uint64_t seen;
    uint64_t shown;
    uint64_t limit;
    uint64_t corrupt;
    size_t page;
    tr_time now_ns;
    size_t kind_count;
    struct alarm_kind_count kinds[ALARM_KINDS];
};

static void alarm_count(struct alarm_scan *scan, const char *kind, tr_time due_ns)
{
    size_t at = 0;
    while (at < scan->kind_count && strcmp(scan->kinds[at].kind, kind) != 0)
        at++;
    if (at == ALARM_KINDS)
        return;
    struct alarm_kind_count *count = &scan->kinds[at];
    if (at == scan->kind_count) {
        *count = (struct alarm_kind_count){.next_ns = due_ns};
        snprintf(count->kind, sizeof count->kind, "%s", kind);
        scan->kind_count++;
    }
    count->count++;
    count->overdue += due_ns < scan->now_ns;
}

static bool on_due(void *context, const struct store_due *due)
{
    struct alarm_scan *scan = context;
    struct json_line *line = &scan->visitor->output;
    const struct control_request *request = scan->visitor->request;
    scan->after = due->place;
    scan->has_after = true;
    scan->seen++;
    scan->page++;
    scan->corrupt += due->is_corrupt;
    if (!due->kind || due->is_corrupt)
        return true;
    if (request->kind && *request->kind && strcmp(request->kind, due->kind) != 0)
        return true;
    alarm_count(scan, due->kind, due->place.due_wall_ns);
    if (scan->shown == scan->limit)
        return true;
    scan->shown++;
    tr__visitor_begin(scan->visitor, request->id, true);
    tr__json_string(line, "kind", due->kind);
    tr__json_key(line, "key", due->key);
    tr__stored_alarm_write(
        &scan->stored, due->kind, due->place.name, due->place.due_wall_ns, due->bytes, line);
    tr__visitor_end(scan->visitor);
    return true;
}

static void alarms_end(struct visitor *visitor, const struct alarm_scan *scan)
{
    struct json_line *line = &visitor->output;
    tr__visitor_begin(visitor, visitor->request->id, false);
    tr__json_unsigned(line, "count", scan->shown);
    tr__json_bool(line, "counted_all", scan->seen < COUNT_MOST);
    tr__json_unsigned(line, "unreadable", scan->corrupt);
    tr__json_open(line, "kinds", '[');
    for (size_t i = 0; i < scan->kind_count; i++) {
        tr__json_open(line, NULL, '{');
        tr__json_string(line, "kind", scan->kinds[i].kind);
        tr__json_unsigned(line, "alarms", scan->kinds[i].count);
        tr__json_unsigned(line, "overdue", scan->kinds[i].overdue);
        tr__json_signed(
            line, "next_in_ms", (scan->kinds[i].next_ns - scan->now_ns) / TR_MILLISECOND);
        tr__json_close(line, '}');
    }
    tr__json_close(line, ']');
    tr__visitor_end(visitor);
}

static bool alarms_step(struct visitor *visitor)
{
    struct alarm_scan *scan = visitor->work;
    scan->page = 0;
    /* set it again, because the visitor may have moved in memory since the last step */
    scan->visitor = visitor;
    tr_status status = tr__store_list_due(scan->stored.reader,
                                          scan->has_after ? &scan->after : NULL,
                                          INT64_MAX,
                                          LIST_STEP,
                                          on_due,
                                          scan);
    if (status != TR_OK) {
        tr__stored_refuse(visitor, visitor->request, status);
        return true;
    }
    if (scan->page == LIST_STEP && scan->seen < COUNT_MOST)
        return false;
    alarms_end(visitor, scan);
    return true;
}

void tr__verb_alarms(struct visitor *visitor, const struct control_request *request)
{
    struct stored stored;
    if (tr__secrets_refuse(visitor, request) || !tr__stored_begin(visitor, request, &stored))
        return;
    struct alarm_scan *scan = source_resize(visitor->observer->source, NULL, sizeof *scan);
    if (!scan) {
        tr__visitor_refuse(visitor, request->id, TR_NO_MEMORY, "out of memory for the list");
        return;
    }
    *scan = (struct alarm_scan){.stored = stored,
                                .limit = request->limit ? request->limit : ALARMS_SHOWN,
                                .now_ns = tr__stored_now(&stored)};
    tr__visitor_steps(visitor, JOB_STEPS, alarms_step, scan, list_free);
}

/* ---- Queues of all actors. ---- */

/* The next actor whose queues have items. */
struct queued_actor {
    bool is_there;
    bool is_named;
    int64_t number;
    char kind[TR_NAME_MAX + 1];
    struct request_key key;
};

static bool on_queued(void *context, const struct store_queued *queued)
{
    struct queued_actor *actor = context;
    actor->is_there = true;
    actor->number = queued->actor;
    actor->is_named = queued->kind != NULL;
    if (!queued->kind)
        return false;
    snprintf(actor->kind, sizeof actor->kind, "%s", queued->kind);
    actor->key.size = queued->key.size;
    memcpy(actor->key.bytes, queued->key.data, queued->key.size);
    return false;
}

static void queues_write(struct visitor *visitor, struct durable_list *list,
                         const struct queued_actor *actor)
{
    struct stored_queue queues[QUEUES_SHOWN];
    struct json_line *line = &visitor->output;
    tr_bytes key = request_key_bytes(&actor->key);
    size_t count = 0;
    bool is_cut;
    tr_status status =
        tr__stored_queues(&list->stored, actor->kind, key, queues, QUEUES_SHOWN, &count, &is_cut);
    for (size_t i = 0; i < count && list->listed < list->limit; i++) {
        list->listed++;
        tr__visitor_begin(visitor, visitor->request->id, true);
        tr__json_string(line, "kind", actor->kind);
        tr__json_key(line, "key", key);
        tr__json_bool(line, "awake", tr__stored_is_awake(&list->stored, actor->kind, key));
        tr__stored_queue_write(&list->stored, &queues[i], line);
        tr__json_bool(line, "more", is_cut);
        if (status != TR_OK)
            tr__json_string(line, "not_read", tr_status_name(status));
        tr__visitor_end(visitor);
    }
}

/* Lists the queues of the next actor. */
static bool queues_step(struct visitor *visitor)
{
    struct durable_list *list = visitor->work;
    const char *kind = visitor->request->kind;
    struct queued_actor actor = {.is_there = false};
    tr_status status =
        tr__store_list_queued(list->stored.reader, list->number, "", 1, on_queued, &actor);
    if (status != TR_OK) {
        tr__stored_refuse(visitor, visitor->request, status);
        return true;
    }
    list->number = actor.number;
    if (actor.is_there && actor.is_named && (!kind || !*kind || strcmp(kind, actor.kind) == 0))
        queues_write(visitor, list, &actor);
    if (actor.is_there && list->listed < list->limit)
        return false;
    list_end(visitor, list->listed, actor.is_there);
    return true;
}

void tr__verb_queues(struct visitor *visitor, const struct control_request *request)
{
    struct durable_list *list = list_new(visitor, request);
    if (list)
        tr__visitor_steps(visitor, JOB_STEPS, queues_step, list, list_free);
}
