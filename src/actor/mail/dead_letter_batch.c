/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/mail/dead_letter_batch.h"

#include "actor/cell/system.h"
#include "actor/mail/cycle.h"
#include "actor/mail/dead_letter.h"
#include "actor/mail/mail.h"
#include "actor/mail/outcome.h"
#include "actor/mail/shutdown_stats.h"
#include "base/assert.h"
#include "actor/mail/kind.h"

enum {
    /* after this many messages the counters are updated, so that other threads see progress */
    BATCH_SHARE = 4096,
    /*
     * Messages that were sent together lie next to each other in memory. If the queued messages of
     * an actor fill BATCH_LONG lines of 64 bytes or more, a worker prefetches the memory that is
     * BATCH_NEAR and BATCH_FAR bytes ahead.
     */
    BATCH_LONG = 256,
    BATCH_NEAR = 256,
    BATCH_FAR = 4096
};

/* The mail of one actor, while it becomes dead letters. */
struct dead_letter_batch {
    struct worker *worker;
    struct cell *cell;
    tr_status reason;
    /* the deadline of the shutdown has passed: see the rules in dead_letter_batch.h */
    bool is_last;
    uint32_t count;
    struct dead_letter letters[DEAD_LETTERS_BATCH];
};

/* ---- After the deadline of a shutdown. ---- */

/*
 * Whether it is enough to count and note messages, because the deadline of the shutdown has passed
 * and there are no subscribers.
 */
static bool is_last(struct worker *worker)
{
    struct tr_system *system = worker->system;
    struct dead_letter_batches *dead_letter_batches = &worker->mail.dead_letters;
    if (!atom32_load(&system->ending.is_forced, ATOM_RELAXED) ||
        ATOM_PEEK(&system->dead_letters->subscriber_count))
        return false;
    if (!dead_letter_batches->notes) {
        size_t size = TR_DEAD_LETTERS_MAX * sizeof *dead_letter_batches->notes;
        dead_letter_batches->notes = source_resize(&worker->source, NULL, size);
    }
    /* Without memory for notes, messages become dead letters in the usual, slower way. */
    return dead_letter_batches->notes;
}

/*
 * Returns the number of messages after which the worker updates the counters and hands in its
 * notes. The log shows the first dead letters of each second. Until the log has them, the worker
 * hands its notes in early.
 */
static uint32_t share_of(const struct dead_letter_batches *dead_letter_batches)
{
    return dead_letter_batches->is_logged ? BATCH_SHARE : DEAD_LETTERS_BATCH;
}

static void count_last(struct dead_letter_batch *dead_letter_batch, uint32_t count)
{
    struct worker *worker = dead_letter_batch->worker;
    if (!count)
        return;
    atom64_count(&worker->counters.dead, count);
    atom64_count(&worker->mail.dead_letters.pending, count);
    tr__shutdown_stats_dead(worker->system, dead_letter_batch->cell->identity, count);
    if (!worker->mail.dead_letters.is_logged)
        tr__dead_letter_batches_end(worker);
}

/*
 * Makes dead letters of the notices at the beginning of the cycle, up to the first message of
 * another kind.
 */
static void bury_last(struct dead_letter_batch *dead_letter_batch)
{
    struct worker *worker = dead_letter_batch->worker;
    struct cell *cell = dead_letter_batch->cell;
    struct dead_letter_batches *dead_letter_batches = &worker->mail.dead_letters;
    struct envelope *last = cell->cycle;
    struct envelope *envelope = (struct envelope *)(void *)last->mail.next;
    uint32_t slot = (uint32_t)cell->identity;
    uint32_t share = share_of(dead_letter_batches);
    uint32_t count = 0;
    bool is_long = cell->queued_lines >= BATCH_LONG;
    bool has_more = true;
    while (has_more && envelope->kind == ENVELOPE_NOTICE) {
        struct envelope *next = (struct envelope *)(void *)envelope->mail.next;
        has_more = envelope != last;
        if (is_long) {
            __builtin_prefetch((const char *)next + BATCH_NEAR);
            __builtin_prefetch((const char *)next + BATCH_FAR);
        }
        mail_uncount(cell, envelope);
        dead_letter_batches->notes[dead_letter_batches->next] =
            (struct dead_letter_batch_note){.type = envelope->type,
                                            .size = (uint32_t)mail_bytes(envelope),
                                            .from = envelope->sender,
                                            .to = (uint64_t)envelope->generation << 32 | slot,
                                            .reason = dead_letter_batch->reason};
        dead_letter_batches->next =
            dead_letter_batches->next + 1 < TR_DEAD_LETTERS_MAX ? dead_letter_batches->next + 1 : 0;
        if (envelope->block_class != ENVELOPE_NO_BLOCK)
            envelope_give(&worker->pool, envelope);
        envelope = next;
        if (++count == share) {
            count_last(dead_letter_batch, count);
            share = share_of(dead_letter_batches);
            count = 0;
        }
    }
    cell->cycle = has_more ? last : NULL;
    if (has_more)
        last->mail.next = &envelope->mail;
    count_last(dead_letter_batch, count);
}

void tr__dead_letter_batches_end(struct worker *worker)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    struct dead_letter_batches *dead_letter_batches = &worker->mail.dead_letters;
    if (atom64_load(&dead_letter_batches->pending, ATOM_RELAXED))
        tr__dead_letters_hand_in(worker->system, dead_letter_batches);
}

void tr__dead_letter_batches_free(struct worker *worker)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    TR_ASSERT(!atom64_load(&worker->mail.dead_letters.pending, ATOM_RELAXED));
    source_resize(&worker->source, worker->mail.dead_letters.notes, 0);
    worker->mail.dead_letters.notes = NULL;
}

/* ---- Before the deadline, or without a shutdown. ---- */

static void dead_letter_batch_end(struct dead_letter_batch *dead_letter_batch)
{
    struct worker *worker = dead_letter_batch->worker;
    atom64_count(&worker->counters.dead, dead_letter_batch->count);
    if (dead_letter_batch->count)
        tr__dead_letters(
            worker->system, worker, dead_letter_batch->letters, dead_letter_batch->count);
    dead_letter_batch->count = 0;
}

/*
 * As tr__mail_bury_one, but only adds a notice to the batch. When the batch has DEAD_LETTERS_BATCH
 * notices, records the batch.
 */
static void dead_letter_batch_add(struct dead_letter_batch *dead_letter_batch,
                                  struct envelope *envelope)
{
    dead_letter_batch->letters[dead_letter_batch->count++] = (struct dead_letter){
        .type = envelope->type,
        .size = mail_bytes(envelope),
        .from = envelope->sender,
        .to = (uint64_t)envelope->generation << 32 | (uint32_t)dead_letter_batch->cell->identity,
        .reason = dead_letter_batch->reason};
    envelope_give(&dead_letter_batch->worker->pool, envelope);
    if (dead_letter_batch->count == DEAD_LETTERS_BATCH)
        dead_letter_batch_end(dead_letter_batch);
}

static void bury_other(struct dead_letter_batch *dead_letter_batch, struct envelope *envelope)
{
    struct worker *worker = dead_letter_batch->worker;
    /* first record the batch, so that the dead letters keep their order */
    dead_letter_batch_end(dead_letter_batch);
    if (envelope->kind == ENVELOPE_PROBE)
        tr__probe_answer(worker, envelope, dead_letter_batch->cell->flags & CELL_STARTED);
    else if (envelope->kind == ENVELOPE_VOID || envelope->kind == ENVELOPE_EVENT)
        tr__mail_drop(worker, envelope);
    else
        tr__mail_bury_one(worker, dead_letter_batch->cell, envelope, dead_letter_batch->reason);
}

void tr__mail_bury(struct worker *worker, struct cell *cell, tr_status reason)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    struct dead_letter_batch dead_letter_batch;
    dead_letter_batch.worker = worker;
    dead_letter_batch.cell = cell;
    dead_letter_batch.reason = reason;
    dead_letter_batch.is_last = is_last(worker);
    dead_letter_batch.count = 0;
    while (cell->cycle || mail_begin_cycle(cell)) {
        if (dead_letter_batch.is_last) {
            bury_last(&dead_letter_batch);
            if (!cell->cycle)
                continue;
        }
        struct envelope *envelope = ring_pop(&cell->cycle);
        mail_uncount(cell, envelope);
        if (envelope->kind == ENVELOPE_NOTICE)
            dead_letter_batch_add(&dead_letter_batch, envelope);
        else
            bury_other(&dead_letter_batch, envelope);
    }
    dead_letter_batch_end(&dead_letter_batch);
    TR_ASSERT(cell->queued_lines == 0);
}
