/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Pages of an actor's own database that are not known to be on disk.
 *
 * A page goes through steps. A page that a statement writes is staged. When the statement succeeds, its pages are kept.
 * When the part of the turn succeeds but is stored later, its pages are finished. When their batch is submitted, the
 * pages are on their way and can no longer be undone. When that batch is on disk, its pages are removed from here,
 * because the store has them. A reader of a page looks here first. When a statement fails, its staged pages are
 * dropped. When a part of a turn fails, the staged and the kept pages are dropped.
 *
 *     staged --keep--> kept --finish--> finished --submitted--> on their way --stored--> (the store)
 *                           \-----------submitted-----------/
 *
 * In each step there is at most one version of a page, except in the step "on their way", where each commit has its own
 * version. The versions of a page are a chain, the newest first.
 */
#ifndef STORE_PAGES_H
#define STORE_PAGES_H

#include "base/list.h"
#include "store/store.h"

/** One version of a page that is in memory. */
struct page {
    struct list link;    /* link in the list of pages in the same step */
    struct page *before; /* next older version of this page that is in memory; NULL: none */
    uint64_t commit;     /* number of the commit with which this version was submitted */
    uint32_t number;     /* number of the page; the first is 1 */
    bool is_staged;
    bool is_kept;
    bool is_finished;
    unsigned char bytes[STORE_PAGE_SIZE];
};

struct pages {
    struct memory_source source;
    /* The newest version of each page, at the number of the page less 1. NULL: no version of the
     * page is in memory. */
    struct page **newest;
    size_t newest_capacity;
    struct list staged;
    struct list kept;
    struct list finished;
    struct list leaving;     /* pages that the store is writing, the oldest first */
    uint32_t count;          /* pages that the database has, staged pages included */
    uint32_t kept_count;     /* pages that the database had before the staged pages */
    uint32_t finished_count; /* pages that the database had before the staged and kept pages */
};

void tr__pages_init(struct pages *pages, const struct memory_source *source);
/** Frees all pages. No page may be on its way. */
void tr__pages_deinit(struct pages *pages);

/** Sets how many pages the store has. No page may be in memory yet. */
void tr__pages_begin(struct pages *pages, uint32_t count);

/**
 * Returns the newest version of a page that is in memory. Returns NULL if there is none; then the
 * page is in the store or does not exist.
 */
const unsigned char *tr__pages_find(const struct pages *pages, uint32_t number);
/** Stages STORE_PAGE_SIZE bytes. Fails with TR_NO_MEMORY. */
TR_MUST_CHECK tr_status tr__pages_stage(struct pages *pages, uint32_t number, const void *bytes);
/**
 * Cuts the database to `count` pages by removing staged pages. If kept pages would have to be
 * removed too, does nothing and returns false.
 */
bool tr__pages_cut(struct pages *pages, uint32_t count);

/** Makes the staged pages kept pages, so that they survive when the next statement fails. */
void tr__pages_keep(struct pages *pages);
/** Drops the staged pages. */
void tr__pages_unstage(struct pages *pages);
/** Drops staged pages and kept pages. */
void tr__pages_undo(struct pages *pages);
/** Makes the kept pages finished pages, so that they survive when the next part of a turn fails. */
void tr__pages_finish(struct pages *pages);
/**
 * Adds copies of the kept pages and the finished pages to a batch. There must be no staged pages.
 * Fails with TR_NO_MEMORY.
 */
TR_MUST_CHECK tr_status tr__pages_put(struct pages *pages, struct store_batch *batch);
/**
 * Notes that the finished and the kept pages are on their way to the disk: their batch was
 * submitted as commit number `commit`.
 */
void tr__pages_submitted(struct pages *pages, uint64_t commit);
/**
 * Frees the pages of all commits with numbers up to `commit`. To be called when these commits have
 * ended.
 */
void tr__pages_stored(struct pages *pages, uint64_t commit);

static inline bool pages_are_staged(const struct pages *pages)
{
    return !list_is_empty(&pages->staged);
}

static inline bool pages_are_kept(const struct pages *pages)
{
    return !list_is_empty(&pages->kept);
}

static inline bool pages_are_finished(const struct pages *pages)
{
    return !list_is_empty(&pages->finished);
}

#endif
