/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/durable_rows.h"

#include <stdio.h>
#include <string.h>

#include "durable/item_row.h"
#include "observe/durables.h"
#include "observe/key_text.h"
#include "store/batch.h"
#include "store/read.h"
#include "wire/shape.h"

/*
 * The largest number of items that one step reads, so that other clients need not wait long. A step also reads
 * the items before the page, which it does not write.
 */
enum { ITEMS_STEP_ROWS = 500, ITEMS_STEP_BYTES = 512 * 1024 };

/* A page of a list while its rows are being written. */
struct row_page {
    struct visitor *visitor;
    struct stored stored;
    struct request_key key;
    size_t limit;
    size_t count;
    bool has_more;
    /* The next six members are for lists of items. */
    uint64_t seen; /* number of items before the next one, in the order of the store */
    char
        next_queue[TR_QUEUE_NAME_MAX + STORE_QUEUE_PREFIX_MAX + 1]; /* where the next step begins */
    uint64_t next_id;
    size_t step_rows; /* rows that the current step has read */
    size_t step_bytes;
    bool is_cut; /* the current step has ended before the end of the list */
    /*
     * The sizes of the next three arrays, for lists of keys. The arrays have the prefix of the
     * keys, the last key of the previous page, and the last key of this page.
     */
    size_t prefix_size;
    size_t from_size;
    size_t last_size;
    unsigned char prefix[TR_KV_KEY_MAX];
    unsigned char from[TR_KV_KEY_MAX];
    unsigned char last[TR_KV_KEY_MAX];
};

/* Prepares a page. Returns NULL if the request was refused. */
static struct row_page *page_new(struct visitor *visitor, const struct control_request *request)
{
    struct stored stored;
    struct store_state state;
    struct request_key key;
    if (tr__secrets_refuse(visitor, request) || !tr__request_name(visitor, request, &key) ||
        !tr__stored_begin(visitor, request, &stored))
        return NULL;
    tr_status status =
        tr__store_read_state(stored.reader, request->kind, request_key_bytes(&key), &state);
    if (status == TR_OK && state.is_doomed)
        status = TR_NOT_FOUND;
    struct row_page *page =
        status == TR_OK ? source_resize(stored.source, NULL, sizeof *page) : NULL;
    if (status == TR_OK && !page)
        status = TR_NO_MEMORY;
    if (status != TR_OK) {
        tr__stored_refuse(visitor, request, status);
        return NULL;
    }
    memset(page, 0, sizeof *page);
    page->visitor = visitor;
    page->stored = stored;
    page->key = key;
    page->limit = request->limit && request->limit < DURABLE_ROWS ? request->limit : DURABLE_ROWS;
    return page;
}

/* Whether a page has as many rows as the request asks for, or as many bytes as may wait to be sent. */
static bool is_full(const struct row_page *page)
{
    return page->count == page->limit ||
           (page->count && page->visitor->output.length >= VISITOR_PAGE_MAX / 2);
}

/* Writes the last line of a page. If `status` is not TR_OK, refuses the request instead. */
static void page_end(const struct row_page *page, const struct control_request *request,
                     tr_status status, bool is_kv)
{
    struct visitor *visitor = page->visitor;
    struct json_line *line = &visitor->output;
    if (status != TR_OK) {
        tr__stored_refuse(visitor, request, status);
    } else {
        tr__visitor_begin(visitor, request->id, false);
        tr__json_unsigned(line, "count", page->count);
        tr__json_bool(line, "more", page->has_more);
        if (is_kv)
            tr__json_key(line, "next", (tr_bytes){page->last, page->last_size});
        else
            tr__json_unsigned(line, "next", page->seen);
        tr__visitor_end(visitor);
    }
}

/* ---- Keys and values. ---- */

static bool on_kv(void *context, const struct store_row *row)
{
    struct row_page *page = context;
    struct json_line *line = &page->visitor->output;
    bool is_first = page->from_size && row->key.size == page->from_size &&
                    memcmp(row->key.data, page->from, page->from_size) == 0;
    if (is_first)
        return true; /* the previous page ended with this key */
    if (is_full(page)) {
        page->has_more = true;
        return false;
    }
    page->count++;
    page->last_size = row->key.size;
    memcpy(page->last, row->key.data, row->key.size);
    tr__visitor_begin(page->visitor, page->visitor->request->id, true);
    tr__json_key(line, "key", row->key);
    tr__json_bytes(line, "value", row->bytes, page->limit == 1 ? VISITOR_PAGE_MAX : STORED_VALUE);
    tr__json_unsigned(line, "size", row->bytes.size);
    tr__visitor_end(page->visitor);
    return true;
}

void tr__verb_durable_kv(struct visitor *visitor, const struct control_request *request)
{
    struct row_page *page = page_new(visitor, request);
    if (!page)
        return;
    page->prefix_size = tr__key_text_read(request->text, page->prefix, sizeof page->prefix);
    page->from_size = tr__key_text_read(request->from, page->from, sizeof page->from);
    if ((request->text && *request->text && !page->prefix_size) ||
        (request->from && *request->from && !page->from_size)) {
        tr__visitor_refuse(visitor,
                           request->id,
                           TR_INVALID_ARGUMENT,
                           "the prefix, or the key to begin behind, is longer than %u bytes, or "
                           "has a %% without two digits",
                           TR_KV_KEY_MAX);
        source_resize(page->stored.source, page, 0);
        return;
    }
    const struct store_range range = {.prefix = {page->prefix, page->prefix_size},
                                      .from = {page->from, page->from_size},
                                      .limit = page->limit + 2};
    tr_status status = tr__store_list_kv(
        page->stored.reader, request->kind, request_key_bytes(&page->key), &range, on_kv, page);
    page_end(page, request, status, true);
    source_resize(page->stored.source, page, 0);
}

/* ---- Items of queues. ---- */

/* Whether a message was stored with the shape that this type has. */
static bool is_of_shape(const struct stored *stored, const tr_type *type, uint64_t hash)
{
    size_t size = tr__shape_write(type, NULL, 0);
    char *text = size ? source_resize(stored->source, NULL, size) : NULL;
    bool is_same = false;
    if (text) {
        (void)tr__shape_write(type, text, size);
        is_same = tr__shape_hash((tr_bytes){text, size}) == hash;
    }
    source_resize(stored->source, text, 0);
    return is_same;
}

static void item_write(struct row_page *page, const struct store_row *row,
                       const struct item_look *look)
{
    static const char *const states[] = {
        [ITEM_PLAIN] = "ready", [ITEM_TIMED] = "timed", [ITEM_DEAD] = "dead"};
    struct json_line *line = &page->visitor->output;
    const struct stored *stored = &page->stored;
    const struct durable_kind *kind = tr__stored_kind(stored, page->visitor->request->kind);
    const tr_type *type = tr__stored_message_type(kind, look->type);
    tr_time now_ns = tr__stored_now(stored);
    tr__visitor_begin(page->visitor, page->visitor->request->id, true);
    tr__json_string(line, "queue", look->queue);
    tr__json_unsigned(line, "item", row->id);
    tr__json_string(line, "state", states[look->class]);
    tr__json_string(line, "message", look->type);
    tr__json_unsigned(line, "size", look->message.size);
    if (look->class == ITEM_TIMED)
        tr__json_signed(line, "due_in_ms", (look->due_ns - now_ns) / TR_MILLISECOND);
    tr__json_unsigned(line, "attempts", look->attempts);
    if (look->failed_ns) {
        tr__json_signed(line, "failed_ms_ago", (now_ns - look->failed_ns) / TR_MILLISECOND);
        tr__json_string(line, "failure", tr_status_name(look->failure));
        tr__json_bytes(line, "cause", look->cause, 0);
    }
    bool is_same = type && (!look->shape || is_of_shape(stored, type, look->shape));
    tr__stored_message(stored, is_same ? type : NULL, "value", look->message, line);
    tr__visitor_end(page->visitor);
}

static bool on_item(void *context, const struct store_row *row)
{
    struct row_page *page = context;
    const struct control_request *request = page->visitor->request;
    struct item_look look;
    if (page->step_rows == ITEMS_STEP_ROWS || page->step_bytes >= ITEMS_STEP_BYTES) {
        page->is_cut = true;
        return false;
    }
    page->step_rows++;
    page->step_bytes += row->bytes.size;
    (void)snprintf(page->next_queue, sizeof page->next_queue, "%s", row->name);
    page->next_id = row->id + 1;
    if (strcmp(row->name, QUEUE_IDS) == 0 || tr__item_row_look(row, &look) != TR_OK)
        return true;
    if (request->text && *request->text && strcmp(request->text, look.queue) != 0)
        return true;
    if (is_full(page)) {
        page->has_more = true;
        return false;
    }
    if (page->seen++ < request->after)
        return true;
    page->count++;
    item_write(page, row, &look);
    return true;
}

static void items_tell(struct visitor *visitor)
{
    const struct row_page *page = visitor->work;
    tr__json_unsigned(&visitor->output, "items", page->seen);
}

static void items_free(struct visitor *visitor, void *work)
{
    source_resize(visitor->observer->source, work, 0);
}

/* Reads some more items. */
static bool items_step(struct visitor *visitor)
{
    struct row_page *page = visitor->work;
    const struct control_request *request = visitor->request;
    page->visitor = visitor; /* the visitor may have moved in memory since the last step */
    page->step_rows = page->step_bytes = 0;
    page->is_cut = false;
    tr_status status = tr__store_list_queues(page->stored.reader,
                                             request->kind,
                                             request_key_bytes(&page->key),
                                             page->next_queue,
                                             page->next_id,
                                             0,
                                             on_item,
                                             page);
    if (status == TR_OK && page->is_cut)
        return false;
    page_end(page, request, status, false);
    return true;
}

void tr__verb_durable_queue(struct visitor *visitor, const struct control_request *request)
{
    struct row_page *page = page_new(visitor, request);
    if (!page)
        return;
    tr__visitor_steps(visitor, JOB_STEPS, items_step, page, items_free);
    visitor->work_tell = items_tell;
}
