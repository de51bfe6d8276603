/* SPDX-License-Identifier: Apache-2.0 */
#include "answer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- Writing. ---- */

static void write_text(struct batch *batch, const char *text)
{
    tr_write_text(batch->self, batch->channel, text);
}

static void write_number(struct batch *batch, char kind, int64_t number)
{
    enum { NUMBER_SIZE = 32 };
    char *to = tr_reserve(batch->self, batch->channel, NUMBER_SIZE);
    int size = snprintf(to, NUMBER_SIZE, "%c%" PRId64 "\r\n", kind, number);
    tr_commit(batch->self, batch->channel, (size_t)size);
}

static void write_bulk(struct batch *batch, tr_bytes bytes)
{
    write_number(batch, '$', (int64_t)bytes.size);
    tr_write(batch->self, batch->channel, bytes);
    tr_write(batch->self, batch->channel, TR_BYTES("\r\n"));
}

static void write_found(struct batch *batch, const struct found *found)
{
    if (found->is_there)
        write_bulk(batch, found->value);
    else
        write_text(batch, "$-1\r\n");
}

/* ---- Answering. An ask without a reply is an error of the command. ---- */

static const void *reply_of(struct batch *batch, tr_pending ask)
{
    const void *reply;
    tr_status status = tr_self_try_await(batch->self, ask, &reply);
    if (status == TR_OK)
        return reply;
    tr_print(batch->self, batch->channel, "-ERR %s\r\n", tr_status_text(status));
    return NULL;
}

/* The reply of a shard that did what was asked; else NULL, and the answer is written. */
static const struct done *done_of(struct batch *batch, tr_pending ask)
{
    static const char *const texts[] = {
        [DONE] = NULL,
        [NOT_DONE] = "$-1\r\n",
        [NOT_A_NUMBER] = NOT_AN_INTEGER,
        [OVERFLOWS] = "-ERR increment or decrement would overflow\r\n",
        [NO_SPACE] = "-OOM command not allowed when used memory > 'maxmemory'.\r\n",
    };
    const struct done *done = reply_of(batch, ask);
    if (!done || done->outcome == DONE)
        return done;
    write_text(batch, texts[done->outcome]);
    return NULL;
}

void answer_text(struct batch *batch, const struct plan *plan)
{
    tr_write(batch->self, batch->channel, plan->text);
}

void answer_bulk(struct batch *batch, const struct plan *plan)
{
    write_bulk(batch, plan->text);
}

void answer_found(struct batch *batch, const struct plan *plan)
{
    const struct found *found = reply_of(batch, plan->asks[0]);
    if (found)
        write_found(batch, found);
}

/* All replies first: an answer that has begun cannot become an error. */
void answer_all_found(struct batch *batch, const struct plan *plan)
{
    for (size_t i = 0; i < plan->ask_count; i++) {
        if (!reply_of(batch, plan->asks[i]))
            return;
    }
    write_number(batch, '*', (int64_t)plan->ask_count);
    for (size_t i = 0; i < plan->ask_count; i++)
        write_found(batch, reply_of(batch, plan->asks[i]));
}

static bool sum_of(struct batch *batch, const struct plan *plan, int64_t *sum)
{
    *sum = 0;
    for (size_t i = 0; i < plan->ask_count; i++) {
        const struct done *done = done_of(batch, plan->asks[i]);
        if (!done)
            return false;
        *sum += done->number;
    }
    return true;
}

void answer_done(struct batch *batch, const struct plan *plan)
{
    int64_t sum;
    if (sum_of(batch, plan, &sum))
        write_text(batch, "+OK\r\n");
}

void answer_sum(struct batch *batch, const struct plan *plan)
{
    int64_t sum;
    if (sum_of(batch, plan, &sum))
        write_number(batch, ':', sum);
}

/* What is left is rounded, as others do. */
void answer_ttl(struct batch *batch, const struct plan *plan)
{
    const struct done *done = done_of(batch, plan->asks[0]);
    int64_t unit = (int64_t)plan->number;
    if (done)
        write_number(
            batch, ':', done->number < 0 ? done->number : (done->number + unit / 2) / unit);
}

void answer_info(struct batch *batch, const struct plan *plan)
{
    int64_t keys;
    if (!sum_of(batch, plan, &keys))
        return;
    const char *text = tr_format(batch->self,
                                 "# Server\r\nredis_version:7.0.0\r\nredis_mode:standalone\r\n"
                                 "# Keyspace\r\ndb0:keys=%" PRId64 ",expires=0,avg_ttl=0\r\n",
                                 keys);
    write_bulk(batch, (tr_bytes){text, strlen(text)});
}

size_t shards_of(struct batch *batch, shard_ref *shards)
{
    tr_ref members[TR_WORKERS_MAX];
    size_t count = tr_group_members(batch->self, batch->shards, members, TR_WORKERS_MAX);
    for (size_t i = 0; shards && i < count; i++)
        shards[i] = shard_ref_of(members[i]);
    return count;
}

static void write_keys(struct batch *batch, const struct page *page)
{
    for (size_t i = 0; i < page->keys.count; i++)
        write_bulk(batch, page->keys.items[i]);
}

/* Replies are there until the turn ends: all pages are fetched, counted and written. */
struct pages {
    const struct page *page;
    struct pages *next;
};

void answer_keys(struct batch *batch, const struct plan *plan)
{
    shard_ref shards[TR_WORKERS_MAX];
    size_t shard_count = shards_of(batch, shards);
    struct pages *pages = NULL;
    int64_t count = 0;
    for (size_t i = 0; i < shard_count; i++) {
        uint32_t from = 0;
        do {
            struct pages *more = tr_scratch(batch->self, sizeof *more);
            scan_ask asked = tr_ask(batch->self,
                                    shards[i],
                                    scan,
                                    .from = from,
                                    .count = KEYS_PAGE,
                                    .pattern = plan->text);
            *more = (struct pages){.page = reply_of(batch, asked.any), .next = pages};
            if (!more->page)
                return;
            pages = more;
            count += (int64_t)more->page->keys.count;
            from = more->page->next;
        } while (!pages->page->is_last);
    }
    write_number(batch, '*', count);
    for (; pages; pages = pages->next)
        write_keys(batch, pages->page);
}

/* A cursor has the number of a shard in its upper half, and where to continue there in its lower half. */
void answer_scan(struct batch *batch, const struct plan *plan)
{
    const struct page *page = reply_of(batch, plan->asks[0]);
    char text[24];
    if (!page)
        return;
    uint64_t shard = page->is_last ? plan->number + 1 : plan->number;
    uint64_t cursor = shard < shards_of(batch, NULL) ? shard << 32 | page->next : 0;
    int size = snprintf(text, sizeof text, "%" PRIu64, cursor);
    write_number(batch, '*', 2);
    write_bulk(batch, (tr_bytes){text, (size_t)size});
    write_number(batch, '*', (int64_t)page->keys.count);
    write_keys(batch, page);
}
