/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/mail/burial.h"

#include "actor/ask/ask_then.h"
#include "actor/verbs/client.h"
#include "actor/life/extra.h"
#include "actor/time/timers.h"
#include "base/assert.h"

enum {
    BURIAL_SHARE = 4096, /* messages after which the counters show that something is done */
    /* What was sent together lies together: where it is much, memory is asked for ahead, in bytes. */
    BURIAL_LONG = 256,
    BURIAL_NEAR = 256,
    BURIAL_FAR = 4096
};

/* The mail of one actor. */
struct burial {
    struct worker *worker;
    struct cell *cell;
    tr_status reason;
    bool is_last; /* the deadline has passed: see the rules */
    uint32_t count;
    struct dead_letter letters[DEAD_LETTERS_BATCH];
};

/* ---- After the deadline. ---- */

/* Whether no more need be done than to count. */
static bool is_last(struct worker *worker)
{
    struct tr_system *system = worker->system;
    struct burials *burials = &worker->burials;
    if (!atom32_load(&system->shutdown.is_forced, ATOM_RELAXED) ||
        ATOM_PEEK(&system->dead_letters.subscriber_count))
        return false;
    if (!burials->notes) {
        size_t size = TR_DEAD_LETTERS_MAX * sizeof *burials->notes;
        burials->notes = source_resize(&worker->source, NULL, size);
    }
    return burials->notes; /* out of memory it takes longer */
}

/* The log has the first letters of a second: as long as it wants some, they are handed in soon. */
static uint32_t share_of(const struct burials *burials)
{
    return burials->is_logged ? BURIAL_SHARE : DEAD_LETTERS_BATCH;
}

static void count_last(struct burial *burial, uint32_t count)
{
    struct worker *worker = burial->worker;
    if (!count)
        return;
    atom64_count(&worker->counters.dead, count);
    atom64_count(&worker->burials.pending, count);
    tr__ledger_dead(worker->system, burial->cell->identity, count);
    if (!worker->burials.is_logged)
        tr__burials_end(worker);
}

/* The notices with which the cycle begins, until there is another message, or none. */
static void bury_last(struct burial *burial)
{
    struct worker *worker = burial->worker;
    struct cell *cell = burial->cell;
    struct burials *burials = &worker->burials;
    struct envelope *last = cell->cycle;
    struct envelope *envelope = (struct envelope *)(void *)last->mail.next;
    uint32_t slot = (uint32_t)cell->identity;
    uint32_t share = share_of(burials);
    uint32_t count = 0;
    bool is_long = cell->queued_lines >= BURIAL_LONG;
    bool has_more = true;
    while (has_more && envelope->kind == ENVELOPE_NOTICE) {
        struct envelope *next = (struct envelope *)(void *)envelope->mail.next;
        has_more = envelope != last;
        if (is_long) {
            __builtin_prefetch((const char *)next + BURIAL_NEAR);
            __builtin_prefetch((const char *)next + BURIAL_FAR);
        }
        mail_uncount(cell, envelope);
        burials->notes[burials->next] =
            (struct burial_note){.type = envelope->type,
                                 .from = envelope->sender,
                                 .to = (uint64_t)envelope->generation << 32 | slot,
                                 .reason = burial->reason};
        burials->next = burials->next + 1 < TR_DEAD_LETTERS_MAX ? burials->next + 1 : 0;
        if (envelope->block_class != ENVELOPE_NO_BLOCK)
            envelope_give(&worker->pool, envelope);
        envelope = next;
        if (++count == share) {
            count_last(burial, count);
            share = share_of(burials);
            count = 0;
        }
    }
    cell->cycle = has_more ? last : NULL;
    if (has_more)
        last->mail.next = &envelope->mail;
    count_last(burial, count);
}

void tr__burials_end(struct worker *worker)
{
    struct burials *burials = &worker->burials;
    if (atom64_load(&burials->pending, ATOM_RELAXED))
        tr__dead_letters_hand_in(worker->system, burials);
}

void tr__burials_free(struct worker *worker)
{
    TR_ASSERT(!atom64_load(&worker->burials.pending, ATOM_RELAXED));
    source_resize(&worker->source, worker->burials.notes, 0);
    worker->burials.notes = NULL;
}

/* ---- At any other time. ---- */

static void burial_end(struct burial *burial)
{
    struct worker *worker = burial->worker;
    atom64_count(&worker->counters.dead, burial->count);
    if (burial->count)
        tr__dead_letters(worker->system, worker, burial->letters, burial->count);
    burial->count = 0;
}

/* The same as tr__mail_bury_one of a notice, for which nobody waits. */
static void burial_add(struct burial *burial, struct envelope *envelope)
{
    burial->letters[burial->count++] = (struct dead_letter){
        .type = envelope->type,
        .from = envelope->sender,
        .to = (uint64_t)envelope->generation << 32 | (uint32_t)burial->cell->identity,
        .reason = burial->reason};
    envelope_give(&burial->worker->pool, envelope);
    if (burial->count == DEAD_LETTERS_BATCH)
        burial_end(burial);
}

static void bury_other(struct burial *burial, struct envelope *envelope)
{
    struct worker *worker = burial->worker;
    burial_end(burial); /* they keep their order */
    if (envelope->kind == ENVELOPE_PROBE)
        tr__probe_answer(worker, envelope, burial->cell->flags & CELL_STARTED);
    else if (envelope->kind == ENVELOPE_VOID || envelope->kind == ENVELOPE_EVENT)
        tr__mail_drop(worker, envelope);
    else
        tr__mail_bury_one(worker, burial->cell, envelope, burial->reason);
}

void tr__mail_bury(struct worker *worker, struct cell *cell, tr_status reason)
{
    struct burial burial;
    burial.worker = worker;
    burial.cell = cell;
    burial.reason = reason;
    burial.is_last = is_last(worker);
    burial.count = 0;
    tr__stash_empty(cell);
    tr__timers_drop(worker, cell);
    if (cell->extra)
        tr__thens_drop(worker, cell);
    while (cell->cycle || mail_begin_cycle(cell)) {
        if (burial.is_last) {
            bury_last(&burial);
            if (!cell->cycle)
                continue;
        }
        struct envelope *envelope = ring_pop(&cell->cycle);
        mail_uncount(cell, envelope);
        if (envelope->kind == ENVELOPE_NOTICE)
            burial_add(&burial, envelope);
        else
            bury_other(&burial, envelope);
    }
    burial_end(&burial);
    TR_ASSERT(cell->queued_lines == 0);
}
