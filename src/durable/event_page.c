/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Reads events that are on disk, page by page. A page is a copy. So the reader of the store can be
 * used for other data while the events are handled.
 */
#include "durable/event_page.h"

#include <string.h>

#include "store/read.h"

enum {
    PAGE_EVENTS = 256,
    PAGE_BYTES = 64 * 1024, /* the event with which a page reaches this size is its last */
};

/* The header of an event in a page. */
struct record {
    uint64_t sequence;
    uint64_t size;
};

struct filling {
    struct worker *worker;
    struct event_page *page;
};

static bool on_row(void *context, const struct store_row *row)
{
    struct filling *filling = context;
    struct event_page *page = filling->page;
    struct record record = {.sequence = row->id, .size = row->bytes.size};
    size_t size = page->size + sizeof record + row->bytes.size;
    if (size > page->capacity) {
        size_t capacity = size < PAGE_BYTES ? PAGE_BYTES : size;
        void *bytes = source_resize(&filling->worker->source, page->bytes, capacity);
        if (!bytes) {
            page->status = TR_NO_MEMORY;
            return false;
        }
        page->bytes = bytes;
        page->capacity = capacity;
    }
    memcpy(page->bytes + page->size, &record, sizeof record);
    if (row->bytes.size)
        memcpy(page->bytes + page->size + sizeof record, row->bytes.data, row->bytes.size);
    page->size = size;
    return size < PAGE_BYTES;
}

static void find_next(struct event_page *page)
{
    struct record record = {.sequence = 0};
    if (page->at < page->size)
        memcpy(&record, page->bytes + page->at, sizeof record);
    page->next = record.sequence;
}

tr_status tr__event_page_fill(struct worker *worker, const struct durable_actor *actor,
                              struct event_page *page, uint64_t from, uint64_t to)
{
    const struct durable_kind *kind = actor->kind;
    struct filling filling = {.worker = worker, .page = page};
    page->size = 0;
    page->at = 0;
    page->status = TR_OK;
    tr_status status = tr__store_list_events(host_context(kind->host, worker)->reader,
                                             kind->declared->name,
                                             actor_key(actor),
                                             from,
                                             to,
                                             PAGE_EVENTS,
                                             on_row,
                                             &filling);
    if (status == TR_OK)
        status = page->status;
    if (status == TR_NOT_FOUND)
        status = TR_OK;
    find_next(page);
    /* The next call begins at the bad event and reports the error. */
    return page->size ? TR_OK : status;
}

bool tr__event_page_take(struct event_page *page, uint64_t *sequence, tr_bytes *bytes)
{
    struct record record;
    if (!page->next)
        return false;
    memcpy(&record, page->bytes + page->at, sizeof record);
    *sequence = record.sequence;
    *bytes = (tr_bytes){page->bytes + page->at + sizeof record, (size_t)record.size};
    page->at += sizeof record + (size_t)record.size;
    find_next(page);
    return true;
}

void tr__event_page_free(struct worker *worker, struct event_page *page)
{
    source_resize(&worker->source, page->bytes, 0);
    *page = (struct event_page){.next = 0};
}
