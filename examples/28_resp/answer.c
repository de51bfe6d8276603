/* SPDX-License-Identifier: Apache-2.0 */
#include "answer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- Writing. ---- */

static void write_text(struct batch *batch, const char *text)
{
    batch_write(batch, (tr_bytes){text, strlen(text)});
}

static void write_number(struct batch *batch, char kind, int64_t number)
{
    char text[24];
    char *end = text + sizeof text;
    char *at = end;
    uint64_t rest = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    *--at = '\n';
    *--at = '\r';
    do {
        *--at = (char)('0' + rest % 10);
    } while (rest /= 10);
    if (number < 0)
        *--at = '-';
    *--at = kind;
    batch_write(batch, (tr_bytes){at, (size_t)(end - at)});
}

static void write_bulk(struct batch *batch, tr_bytes bytes)
{
    write_number(batch, '$', (int64_t)bytes.size);
    batch_write(batch, bytes);
    batch_write(batch, TR_BYTES("\r\n"));
}

static void write_status(struct batch *batch, tr_status status)
{
    write_text(batch, tr_format(batch->self, "-ERR %s\r\n", tr_status_text(status)));
}

/* Whether a job was done. If not, the answer is written. */
static bool is_done(struct batch *batch, const struct result *result)
{
    static const char *const texts[] = {
        [NOT_DONE] = "$-1\r\n",
        [NOT_A_NUMBER] = NOT_AN_INTEGER,
        [OVERFLOWS] = "-ERR increment or decrement would overflow\r\n",
        [NO_SPACE] = "-OOM command not allowed when used memory > 'maxmemory'.\r\n",
    };
    if (result->outcome == DONE)
        return true;
    if (result->outcome == NOBODY)
        write_status(batch, (tr_status)result->number);
    else
        write_text(batch, texts[result->outcome]);
    return false;
}

/* ---- Answers. ---- */

void answer_text(struct batch *batch, const struct step *step)
{
    batch_write(batch, step->job.value);
}

void answer_bulk(struct batch *batch, const struct step *step)
{
    write_bulk(batch, step->job.value);
}

void answer_count(struct batch *batch, const struct step *step)
{
    write_number(batch, '*', step->job.number);
}

void answer_found(struct batch *batch, const struct step *step)
{
    if (is_done(batch, step->result))
        write_bulk(batch, step->result->value);
}

void answer_done(struct batch *batch, const struct step *step)
{
    if (is_done(batch, step->result))
        batch_write(batch, TR_BYTES("+OK\r\n"));
}

void answer_number(struct batch *batch, const struct step *step)
{
    if (is_done(batch, step->result))
        write_number(batch, ':', step->result->number);
}

/* What is left is rounded, as others do. */
void answer_ttl(struct batch *batch, const struct step *step)
{
    if (is_done(batch, step->result))
        write_number(batch,
                     ':',
                     step->result->number < 0 ? step->result->number
                                              : (step->result->number + TR_SECOND / 2) / TR_SECOND);
}

/* ---- Commands of several steps. ---- */

void answer_nothing(struct batch *batch, const struct step *step)
{
    batch->sum += step->result->number;
    if (step->result->outcome != DONE && !batch->failure)
        batch->failure = step->result;
}

/* Takes what the steps of a command have come to. False: one has failed, and the answer is written. */
static bool take_sum(struct batch *batch, int64_t *sum)
{
    const struct result *failure = batch->failure;
    *sum = batch->sum;
    batch->sum = 0;
    batch->failure = NULL;
    return !failure || is_done(batch, failure);
}

void answer_all_done(struct batch *batch, const struct step *step)
{
    (void)step;
    int64_t sum;
    if (take_sum(batch, &sum))
        write_text(batch, "+OK\r\n");
}

void answer_sum(struct batch *batch, const struct step *step)
{
    (void)step;
    int64_t sum;
    if (take_sum(batch, &sum))
        write_number(batch, ':', sum);
}

void answer_info(struct batch *batch, const struct step *step)
{
    (void)step;
    int64_t keys;
    if (!take_sum(batch, &keys))
        return;
    const char *text = tr_format(batch->self,
                                 "# Server\r\nredis_version:7.0.0\r\nredis_mode:standalone\r\n"
                                 "# Keyspace\r\ndb0:keys=%" PRId64 ",expires=0,avg_ttl=0\r\n",
                                 keys);
    write_bulk(batch, (tr_bytes){text, strlen(text)});
}

/* ---- Lists of keys. ---- */

static void write_keys(struct batch *batch, const struct page *page)
{
    for (size_t i = 0; i < page->keys.count; i++)
        write_bulk(batch, page->keys.items[i]);
}

/* Returns some keys of a shard; NULL: the answer is an error, and is written. */
static const struct page *page_of(struct batch *batch, size_t shard, struct scan scan)
{
    const struct page *page = NULL;
    scan_ask asked = tr_ask(batch->self,
                            batch->shards[shard],
                            scan,
                            .from = scan.from,
                            .count = scan.count,
                            .pattern = scan.pattern);
    tr_status status = tr_try_await(batch->self, asked, &page);
    if (status != TR_OK)
        write_status(batch, status);
    return status == TR_OK ? page : NULL;
}

/* Replies are there until the turn ends: all pages are fetched, counted and written. */
struct pages {
    const struct page *page;
    struct pages *next;
};

void answer_keys(struct batch *batch, const struct step *step)
{
    struct pages *pages = NULL;
    int64_t count = 0;
    for (size_t shard = 0; shard < batch->shard_count; shard++) {
        struct scan scan = {.count = KEYS_PAGE, .pattern = step->job.value};
        do {
            struct pages *more = tr_scratch(batch->self, sizeof *more);
            *more = (struct pages){.page = page_of(batch, shard, scan), .next = pages};
            if (!more->page)
                return;
            pages = more;
            count += (int64_t)more->page->keys.count;
            scan.from = more->page->next;
        } while (!pages->page->is_last);
    }
    write_number(batch, '*', count);
    for (; pages; pages = pages->next)
        write_keys(batch, pages->page);
}

/* A cursor has the number of a shard in its upper half, and where to continue there in its lower half. */
void answer_scan(struct batch *batch, const struct step *step)
{
    uint64_t cursor = (uint64_t)step->job.number;
    uint64_t shard = cursor >> 32;
    struct scan scan = {
        .from = (uint32_t)cursor, .count = (uint32_t)step->job.hash, .pattern = step->job.value};
    const struct page *page = page_of(batch, (size_t)shard, scan);
    char text[24];
    if (!page)
        return;
    shard += page->is_last;
    cursor = shard < batch->shard_count ? shard << 32 | page->next : 0;
    int size = snprintf(text, sizeof text, "%" PRIu64, cursor);
    write_number(batch, '*', 2);
    write_bulk(batch, (tr_bytes){text, (size_t)size});
    write_number(batch, '*', (int64_t)page->keys.count);
    write_keys(batch, page);
}
