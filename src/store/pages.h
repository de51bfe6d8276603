/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Pages of an actor's own database that are not on disk yet, or may not be.
 *
 * What a statement writes is staged. When the statement has ended well its pages are kept; when the stretch has ended well
 * and is to be stored later they are finished; when it is submitted they are on their way, and nothing is taken back any
 * more; when that is on disk they are gone from here, and the store has them. Whoever reads a page looks here first. Each
 * step back forgets what was ahead of it: a statement that failed what is staged, a stretch that failed what is staged and
 * kept.
 *
 *     staged --keep--> kept --finish--> finished --submitted--> on their way --stored--> (the store)
 *                           \-----------submitted-----------/
 *
 * Of a page each place has at most one version, but for what is on its way: there each stretch has its own.
 * Versions of a page are a chain, the newest first.
 */
#ifndef STORE_PAGES_H
#define STORE_PAGES_H

#include "base/list.h"
#include "store/store.h"

/** One version of a page. */
struct page {
    struct list link;    /* of its place */
    struct page *before; /* the next older version that is not gone */
    uint64_t commit;     /* on its way with this one */
    uint32_t number;     /* the first is 1 */
    bool is_staged;
    bool is_kept;
    bool is_finished;
    unsigned char bytes[STORE_PAGE_SIZE];
};

struct pages {
    struct memory_source source;
    struct page **newest; /* by number less 1; NULL: the store has the only version */
    size_t newest_capacity;
    struct list staged;
    struct list kept;
    struct list finished;
    struct list leaving;     /* on their way, the oldest first */
    uint32_t count;          /* of the database, with what is staged, */
    uint32_t kept_count;     /* without, */
    uint32_t finished_count; /* and without what is kept */
};

void tr__pages_init(struct pages *pages, const struct memory_source *source);
/** Nothing is on its way. */
void tr__pages_deinit(struct pages *pages);

/** How many pages the store has. Nothing is here yet. */
void tr__pages_begin(struct pages *pages, uint32_t count);

/** The newest version of a page; NULL: the store has it, or nobody. */
const unsigned char *tr__pages_find(const struct pages *pages, uint32_t number);
/** Stages STORE_PAGE_SIZE bytes. TR_NO_MEMORY. */
TR_MUST_CHECK tr_status tr__pages_stage(struct pages *pages, uint32_t number, const void *bytes);
/** Cuts what is staged off behind `count` pages. False: kept ones would go too. */
bool tr__pages_cut(struct pages *pages, uint32_t count);

/** What is staged is kept. */
void tr__pages_keep(struct pages *pages);
/** What is staged is forgotten. */
void tr__pages_unstage(struct pages *pages);
/** What is kept is forgotten, and what is staged. */
void tr__pages_undo(struct pages *pages);
/** What is kept is finished. */
void tr__pages_finish(struct pages *pages);
/** Adds what is finished and what is kept to a batch, copied. TR_NO_MEMORY. Nothing is staged. */
TR_MUST_CHECK tr_status tr__pages_put(struct pages *pages, struct store_batch *batch);
/** The batch was submitted: what is finished or kept is on its way. */
void tr__pages_submitted(struct pages *pages, uint64_t commit);
/** All stretches up to this one are on disk, and their batches are gone. */
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
