/* SPDX-License-Identifier: Apache-2.0 */
/** Pages of an actor's own database that are not on disk yet; see pages.h. */
#include "store/pages.h"

#include "base/assert.h"
#include "store/batch.h"

#include <string.h>

void tr__pages_init(struct pages *pages, const struct memory_source *source)
{
    *pages = (struct pages){.source = *source};
    list_init(&pages->staged);
    list_init(&pages->kept);
    list_init(&pages->finished);
    list_init(&pages->leaving);
}

/* Removes a version of a page from its chain, and frees it. */
static void page_free(struct pages *pages, struct page *page)
{
    struct page **place = &pages->newest[page->number - 1];
    while (*place != page) {
        TR_ASSERT(*place);
        place = &(*place)->before;
    }
    *place = page->before;
    list_remove(&page->link);
    source_resize(&pages->source, page, 0);
}

void tr__pages_deinit(struct pages *pages)
{
    tr__pages_undo(pages);
    while (pages_are_finished(pages))
        page_free(pages, LIST_OWNER(list_first(&pages->finished), struct page, link));
    tr__pages_stored(pages, UINT64_MAX);
    source_resize(&pages->source, pages->newest, 0);
    pages->newest = NULL;
}

void tr__pages_begin(struct pages *pages, uint32_t count)
{
    pages->count = count;
    pages->kept_count = count;
    pages->finished_count = count;
}

static struct page *newest_of(const struct pages *pages, uint32_t number)
{
    TR_ASSERT(number > 0);
    return number <= pages->newest_capacity ? pages->newest[number - 1] : NULL;
}

const unsigned char *tr__pages_find(const struct pages *pages, uint32_t number)
{
    const struct page *page = newest_of(pages, number);
    return page ? page->bytes : NULL;
}

/* Makes the table large enough for versions of this page. */
static bool make_room(struct pages *pages, uint32_t number)
{
    size_t capacity = pages->newest_capacity ? pages->newest_capacity : 8;
    if (number <= pages->newest_capacity)
        return true;
    while (capacity < number)
        capacity *= 2;
    struct page **newest =
        source_resize(&pages->source, pages->newest, capacity * sizeof(struct page *));
    if (!newest)
        return false;
    memset(newest + pages->newest_capacity,
           0,
           (capacity - pages->newest_capacity) * sizeof(struct page *));
    pages->newest = newest;
    pages->newest_capacity = capacity;
    return true;
}

tr_status tr__pages_stage(struct pages *pages, uint32_t number, const void *bytes)
{
    if (!make_room(pages, number))
        return TR_NO_MEMORY;
    struct page *page = newest_of(pages, number);
    if (!page || !page->is_staged) {
        struct page *made = source_resize(&pages->source, NULL, sizeof *made);
        if (!made)
            return TR_NO_MEMORY;
        made->before = page;
        made->commit = 0;
        made->number = number;
        made->is_staged = true;
        made->is_kept = false;
        made->is_finished = false;
        list_push_last(&pages->staged, &made->link);
        pages->newest[number - 1] = made;
        page = made;
    }
    memcpy(page->bytes, bytes, STORE_PAGE_SIZE);
    if (number > pages->count)
        pages->count = number;
    return TR_OK;
}

bool tr__pages_cut(struct pages *pages, uint32_t count)
{
    if (count < pages->kept_count)
        return false;
    LIST_EACH (link, &pages->staged) {
        struct page *page = LIST_OWNER(link, struct page, link);
        if (page->number > count)
            page_free(pages, page);
    }
    pages->count = count;
    return true;
}

void tr__pages_keep(struct pages *pages)
{
    struct list *link;
    while ((link = list_pop_first(&pages->staged))) {
        struct page *page = LIST_OWNER(link, struct page, link);
        if (page->before && page->before->is_kept)
            page_free(pages, page->before);
        page->is_staged = false;
        page->is_kept = true;
        list_push_last(&pages->kept, &page->link);
    }
    pages->kept_count = pages->count;
}

void tr__pages_unstage(struct pages *pages)
{
    while (pages_are_staged(pages))
        page_free(pages, LIST_OWNER(list_first(&pages->staged), struct page, link));
    pages->count = pages->kept_count;
}

void tr__pages_undo(struct pages *pages)
{
    tr__pages_unstage(pages);
    while (pages_are_kept(pages))
        page_free(pages, LIST_OWNER(list_first(&pages->kept), struct page, link));
    pages->count = pages->finished_count;
    pages->kept_count = pages->finished_count;
}

void tr__pages_finish(struct pages *pages)
{
    TR_ASSERT(!pages_are_staged(pages));
    struct list *link;
    while ((link = list_pop_first(&pages->kept))) {
        struct page *page = LIST_OWNER(link, struct page, link);
        if (page->before && page->before->is_finished)
            page_free(pages, page->before);
        page->is_kept = false;
        page->is_finished = true;
        list_push_last(&pages->finished, &page->link);
    }
    pages->finished_count = pages->kept_count;
}

static tr_status pages_put(struct store_batch *batch, const struct page *page)
{
    /* Copy the page, because before the batch is submitted a newer version may replace it. */
    void *bytes = tr__store_batch_alloc(batch, STORE_PAGE_SIZE);
    if (!bytes)
        return TR_NO_MEMORY;
    memcpy(bytes, page->bytes, STORE_PAGE_SIZE);
    return tr__store_page_put(batch, page->number, (tr_bytes){bytes, STORE_PAGE_SIZE});
}

tr_status tr__pages_put(struct pages *pages, struct store_batch *batch)
{
    TR_ASSERT(!pages_are_staged(pages));
    tr_status status = TR_OK;
    LIST_EACH (link, &pages->finished) {
        const struct page *page = LIST_OWNER(link, struct page, link);
        if (status == TR_OK && newest_of(pages, page->number) == page)
            status = pages_put(batch, page);
    }
    LIST_EACH (link, &pages->kept) {
        if (status == TR_OK)
            status = pages_put(batch, LIST_OWNER(link, struct page, link));
    }
    return status;
}

void tr__pages_submitted(struct pages *pages, uint64_t commit)
{
    tr__pages_finish(pages);
    struct list *link;
    while ((link = list_pop_first(&pages->finished))) {
        struct page *page = LIST_OWNER(link, struct page, link);
        page->is_finished = false;
        page->commit = commit;
        list_push_last(&pages->leaving, &page->link);
    }
}

void tr__pages_stored(struct pages *pages, uint64_t commit)
{
    while (!list_is_empty(&pages->leaving)) {
        struct page *page = LIST_OWNER(list_first(&pages->leaving), struct page, link);
        if (page->commit > commit)
            break;
        page_free(pages, page);
    }
}
