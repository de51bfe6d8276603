/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Reads events from the store in pages, with the reader of the observer. To show the states
 * (durable/event_past.h), begins with the last snapshot before the first event of the request. If
 * there is no such snapshot, begins with the actor's first event. Works in steps.
 */
#include "observe/durable_events.h"

#include <string.h>

#include "durable/event_past.h"
#include "observe/durables.h"
#include "observe/stored.h"
#include "store/read.h"
#include "store/record.h"
#include "wire/json_write.h"

enum {
    EVENTS_DEFAULT = 100,
    EVENTS_LARGEST = 1000,
    EVENTS_READ = 256,             /* events that one read takes */
    EVENTS_READ_BYTES = 64 * 1024, /* the event with which a page reaches this size is its last */
    /* The largest event that is shown, in bytes. Of a larger event only the name is shown. */
    EVENT_SHOWN_MAX = 16 * 1024,
    STATE_SHOWN_MAX = 32 * 1024, /* how many characters of a state are shown at most */
    STEP_OUTPUT = 64 * 1024      /* the row with which a step reaches this size is its last */
};

/* An event of the page that was read. */
struct event_copy {
    uint64_t number;
    size_t begin; /* where its bytes begin in event_list.bytes */
    size_t size;
};

struct event_list {
    struct stored stored;
    /* The actor's kind in the program. NULL: the program does not have this kind. */
    const struct durable_kind *kind;
    struct event_past *past; /* recovers the states; NULL: no states can be shown */
    struct request_key key;
    uint64_t after;
    uint64_t next; /* number of the event that comes next */
    uint64_t last;
    uint64_t limit;
    uint64_t listed;
    size_t count;
    size_t at; /* index in `page` of the event that is handled next */
    struct event_copy page[EVENTS_READ];
    struct json_line bytes;
};

static void list_free(struct visitor *visitor, void *work)
{
    struct event_list *list = work;
    tr__event_past_free(list->past);
    tr__json_line_free(&list->bytes);
    source_resize(visitor->observer->source, list, 0);
}

static bool on_event(void *context, const struct store_row *row)
{
    struct event_list *list = context;
    list->page[list->count++] = (struct event_copy){
        .number = row->id, .begin = list->bytes.length, .size = row->bytes.size};
    tr__json_put(&list->bytes, row->bytes.data, row->bytes.size);
    return list->count < EVENTS_READ && list->bytes.length < EVENTS_READ_BYTES;
}

static tr_status page_read(struct event_list *list, const char *kind)
{
    list->count = list->at = 0;
    list->bytes.length = 0;
    tr_status status = tr__store_list_events(list->stored.reader,
                                             kind,
                                             request_key_bytes(&list->key),
                                             list->next,
                                             STORE_NUMBER_MAX,
                                             EVENTS_READ,
                                             on_event,
                                             list);
    if (list->bytes.has_failed)
        return TR_NO_MEMORY;
    /* If there are events before the damaged one, list these first. The next page reports the damage. */
    return status == TR_NOT_FOUND || list->count ? TR_OK : status;
}

/* Begins the states with the last snapshot whose number is at most `most`, and returns that number.
 * If there is no such snapshot, begins before the first event and returns 0. */
static uint64_t past_begin(struct event_list *list, const char *kind, uint64_t most)
{
    struct store_snapshot snapshot;
    struct store_state state;
    static const tr_bytes none = {NULL, 0};
    tr_bytes key = request_key_bytes(&list->key);
    struct store_reader *reader = list->stored.reader;
    if (!list->past)
        return most;
    if (tr__store_read_snapshot(reader, kind, key, most, &snapshot) == TR_OK &&
        tr__event_past_begin(list->past, snapshot.version, snapshot.bytes))
        return snapshot.sequence;
    /* If a kind had a state before it had events, the first event is applied to that state. */
    bool has_base = tr__store_read_state(reader, kind, key, &state) == TR_OK && state.has_state &&
                    state.bytes.size;
    return tr__event_past_begin(
               list->past, has_base ? state.version : 0, has_base ? state.bytes : none)
               ? 0
               : most;
}

static void state_write(const struct event_list *list, struct json_line *line)
{
    const void *state = list->past ? tr__event_past_state(list->past) : NULL;
    const tr_type *type = state ? list->kind->declared->state : NULL;
    size_t size = type ? tr__json_show(type, state, NULL, 0) : 0;
    char *text = NULL;
    if (size && size <= STATE_SHOWN_MAX)
        text = source_resize(list->stored.source, NULL, size + 1);
    if (text)
        (void)tr__json_show(type, state, text, size + 1);
    tr__json_raw(line, "state", text ? text : "null");
    source_resize(list->stored.source, text, 0);
}

static void event_write(struct visitor *visitor, struct event_list *list, uint64_t number,
                        tr_bytes bytes)
{
    struct json_line *line = &visitor->output;
    struct event_head head;
    bool is_event = tr__event_head_read(bytes, &head);
    const tr_event_row *row = is_event && list->kind ? tr__event_row_of(list->kind, &head) : NULL;
    tr__visitor_begin(visitor, visitor->request->id, true);
    tr__json_unsigned(line, "number", number);
    tr__json_string(line, "event", is_event ? head.name : NULL);
    tr__json_unsigned(line, "version", is_event ? head.version : 0);
    if (is_event && head.rest.size <= EVENT_SHOWN_MAX)
        tr__stored_value(&list->stored,
                         row ? list->kind : NULL,
                         row ? row->type : NULL,
                         "value",
                         head.rest,
                         line);
    else
        tr__json_raw(line, "value", "null");
    state_write(list, line);
    tr__visitor_end(visitor);
    list->listed++;
}

/* Handles the next event of the page. Applies the event, and writes it if the request asks for
 * it. */
static void event_take(struct visitor *visitor, struct event_list *list)
{
    const struct event_copy *copy = &list->page[list->at++];
    tr_bytes bytes = {list->bytes.data + copy->begin, copy->size};
    uint64_t number = copy->number;
    bool is_wanted = number > list->after;
    bool is_next = number == list->next;
    /* If the event before this one was deleted or cannot be applied, look for a snapshot of the
     * state before this event. */
    if (list->past && (!is_next || !tr__event_past_state(list->past)))
        is_next = is_wanted && past_begin(list, visitor->request->kind, number - 1) == number - 1;
    if (list->past && is_next)
        (void)tr__event_past_apply(list->past, bytes);
    else if (list->past)
        tr__event_past_forget(list->past);
    list->next = number + 1;
    if (is_wanted) {
        event_write(visitor, list, number, bytes);
    } else if (list->past && !tr__event_past_state(list->past)) {
        /* No state is known, so events before the first one of the request are useless. Skip
         * them. */
        list->next = list->after + 1;
        list->at = list->count = 0;
    }
}

static bool events_step(struct visitor *visitor)
{
    struct event_list *list = visitor->work;
    const char *kind = visitor->request->kind;
    size_t begin = visitor->output.length;
    if (list->at == list->count) {
        tr_status status = page_read(list, kind);
        if (status != TR_OK) {
            tr__stored_refuse(visitor, visitor->request, status);
            return true;
        }
    }
    bool is_over = list->at == list->count;
    while (list->at < list->count && list->listed < list->limit &&
           visitor->output.length - begin < STEP_OUTPUT)
        event_take(visitor, list);
    if (!is_over && list->listed < list->limit)
        return false;
    tr__visitor_begin(visitor, visitor->request->id, false);
    tr__json_unsigned(&visitor->output, "count", list->listed);
    tr__json_unsigned(&visitor->output, "last", list->last);
    tr__json_bool(&visitor->output, "more", !is_over && list->next <= list->last);
    tr__visitor_end(visitor);
    return true;
}

/* Prepares the list. Returns TR_NOT_FOUND if the store has no such actor. */
static tr_status list_begin(struct event_list *list, const struct control_request *request)
{
    struct store_state state;
    tr_status status = tr__store_read_state(
        list->stored.reader, request->kind, request_key_bytes(&list->key), &state);
    if (status != TR_OK || state.is_doomed)
        return status != TR_OK ? status : TR_NOT_FOUND;
    list->last = state.sequence;
    list->kind = tr__stored_kind(&list->stored, request->kind);
    status = list->kind ? tr__event_past_new(list->stored.source, list->kind, &list->past)
                        : TR_NOT_SUPPORTED;
    if (status != TR_OK && status != TR_NOT_SUPPORTED)
        return status;
    list->after = request->after < list->last ? request->after : list->last;
    list->next = past_begin(list, request->kind, list->after) + 1;
    return TR_OK;
}

void tr__verb_durable_events(struct visitor *visitor, const struct control_request *request)
{
    struct stored stored;
    struct request_key key;
    if (!tr__request_name(visitor, request, &key) || !tr__stored_begin(visitor, request, &stored))
        return;
    if (request->secrets) {
        tr__visitor_refuse(
            visitor,
            request->id,
            TR_NOT_PERMITTED,
            "secret fields are not shown; durable export --secrets -o FILE has them");
        return;
    }
    struct event_list *list = source_resize(stored.source, NULL, sizeof *list);
    if (!list) {
        tr__visitor_refuse(visitor, request->id, TR_NO_MEMORY, "out of memory for the list");
        return;
    }
    uint32_t limit = request->limit ? request->limit : EVENTS_DEFAULT;
    memset(list, 0, sizeof *list);
    list->stored = stored;
    list->key = key;
    list->limit = limit < EVENTS_LARGEST ? limit : EVENTS_LARGEST;
    tr__json_line_init(&list->bytes, stored.source);
    tr_status status = list_begin(list, request);
    if (status == TR_OK) {
        tr__visitor_steps(visitor, JOB_STEPS, events_step, list, list_free);
        return;
    }
    tr__stored_refuse(visitor, request, status);
    list_free(visitor, list);
}
