/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The bounds of mailboxes, and what happens to a message when its mailbox has no capacity for it.
 */
#include "actor/cell/dispatch.h"
#include "actor/cell/upcalls.h"
#include "actor/mail/capacity.h"
#include "actor/mail/kind.h"
#include "actor/mail/mail.h"
#include "actor/cell/overflow.h"

static_assert(TR_OVERDRAFT_MAX <= CAPACITY_LARGEST / 4,
              "an overdraft fits into the capacity's word");
static_assert(TR_MAILBOX_LARGEST <= CAPACITY_LARGEST, "a bound fits into the capacity's word");
static_assert(TR_MAILBOX_BYTES_LARGEST / 64 <= CAPACITY_LARGEST,
              "a bound fits into the capacity's word");

/*
 * Whether a mailbox with this bound is counted exactly (CELL_EXACT_BOUND). True for a small bound,
 * and for every mailbox that drops its oldest messages: the owner drops as many as the count says
 * when it takes in mail of other threads. A mailbox whose senders wait (TR_PARK) may count as full
 * a little early, because a sender that waits loses nothing. So for TR_PARK a bound counts as small
 * only below MAIL_EXACT_BOUND_PARK.
 */
static bool is_narrow(struct mail_bound bound)
{
    int32_t wide =
        overflow_has(bound.overflow, OVERFLOW_WAITS) ? MAIL_EXACT_BOUND_PARK : MAIL_EXACT_BOUND;
    return bound.messages < wide || bound.lines < wide ||
           overflow_has(bound.overflow, OVERFLOW_DISPLACES);
}

void tr__capacity_open(struct cell *cell, const tr_behavior *behavior)
{
    struct mail_bound bound = mail_bound_of(behavior);
    capacity_open(
        &cell->door.capacity, cell_generation(cell), bound.overflow, bound.messages, bound.lines);
    if (is_narrow(bound))
        cell->flags |= CELL_EXACT_BOUND;
}

void tr__capacity_reserve(struct cell *cell, int32_t messages, int32_t lines)
{
    struct cell_extra *extra = cell->extra;
    uint64_t word = capacity_load(&cell->door.capacity);
    int32_t owed = capacity_messages(word) < 0 ? -capacity_messages(word) : 0;
    int32_t owed_lines = capacity_lines(word) < 0 ? -capacity_lines(word) : 0;
    messages += extra->senders.reserved;
    lines += extra->senders.reserved_lines;
    owed = owed < messages ? owed : messages;
    owed_lines = owed_lines < lines ? owed_lines : lines;
    if (owed || owed_lines)
        capacity_give(&cell->door.capacity, owed, owed_lines);
    extra->senders.reserved = messages - owed;
    extra->senders.reserved_lines = lines - owed_lines;
}

/*
 * Gives back the stock, together with `messages` and `lines`, which may be negative. If senders
 * wait, reserves this capacity for them. If the mailbox holds more than its bound afterwards, sets
 * CELL_EXACT_BOUND, so that the mailbox gets no stock. With a stock, senders on this worker would
 * use the stock again and again, and the mailbox would stay above its bound.
 */
static void give_stock(struct cell *cell, int32_t messages, int32_t lines)
{
    messages += (int32_t)(cell->stock & 0xffff);
    lines += (int32_t)(cell->stock >> STOCK_LINES_SHIFT);
    cell->stock = 0;
    if (cell->flags & CELL_HAS_WAITING_SENDERS)
        tr__capacity_reserve(cell, messages, lines);
    else
        capacity_give(&cell->door.capacity, messages, lines);
    uint64_t word = capacity_load(&cell->door.capacity);
    if (capacity_messages(word) < 0 || capacity_lines(word) < 0)
        cell->flags |= CELL_EXACT_BOUND;
}

void tr__capacity_change(struct worker *worker, struct cell *cell, const tr_behavior *from,
                         const tr_behavior *to)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    struct mail_bound old = mail_bound_of(from);
    struct mail_bound next = mail_bound_of(to);
    bool is_same_size = old.messages == next.messages && old.lines == next.lines;
    if (is_same_size && old.overflow == next.overflow)
        return;
    cell->flags &= (uint16_t)~CELL_EXACT_BOUND;
    give_stock(cell, next.messages - old.messages, next.lines - old.lines);
    capacity_set_policy(&cell->door.capacity, next.overflow);
    if (is_narrow(next))
        cell->flags |= CELL_EXACT_BOUND;
    if (cell->flags & CELL_HAS_WAITING_SENDERS)
        tr__waiters_rebound(worker, cell, next);
}

bool tr__capacity_take(struct cell *cell, uint32_t lines)
{
    struct capacity *capacity = &cell->door.capacity;
    if (cell->flags & CELL_EXACT_BOUND || lines > STOCK_LINES_MAX)
        return capacity_take(capacity, cell_generation(cell), (int32_t)lines, 0, 0) ==
               CAPACITY_TAKEN;
    int32_t messages = STOCK_STEP - (int32_t)(cell->stock & 0xffff);
    int32_t more = STOCK_STEP - (int32_t)(cell->stock >> STOCK_LINES_SHIFT);
    messages = messages < 0 ? 0 : messages;
    more = more < 0 ? 0 : more;
    capacity_take_some(capacity, &messages, &more);
    uint32_t stock = cell->stock + ((uint32_t)more << STOCK_LINES_SHIFT) + (uint32_t)messages;
    bool is_enough = (stock & 0xffff) > 0 && stock >> STOCK_LINES_SHIFT >= lines;
    if (is_enough)
        stock -= (lines << STOCK_LINES_SHIFT) + 1;
    cell->stock = stock;
    return is_enough;
}

void tr__capacity_give(struct cell *cell, uint32_t lines)
{
    if (cell->flags & CELL_HAS_WAITING_SENDERS) {
        capacity_give_waiters(cell, lines > 0, (int32_t)lines);
        return;
    }
    if (lines) { /* if `lines` is not 0, the capacity was not taken from the stock */
        capacity_give(&cell->door.capacity, 1, (int32_t)lines);
        return;
    }
    int32_t messages = (int32_t)(cell->stock & 0xffff) - STOCK_STEP;
    int32_t more = (int32_t)(cell->stock >> STOCK_LINES_SHIFT) - STOCK_STEP;
    messages = messages < 0 ? 0 : messages;
    more = more < 0 ? 0 : more;
    cell->stock -= ((uint32_t)more << STOCK_LINES_SHIFT) + (uint32_t)messages;
    capacity_give(&cell->door.capacity, messages, more);
}

void tr__capacity_take_back(struct cell *cell, uint32_t lines)
{
    give_stock(cell, -1, -(int32_t)lines);
}

int32_t tr__capacity_used(const struct cell *cell, const tr_behavior *behavior, int32_t *lines)
{
    struct mail_bound bound = mail_bound_of(behavior);
    uint64_t word = capacity_load(&cell->door.capacity);
    int32_t messages = capacity_messages(word) + (int32_t)(cell->stock & 0xffff);
    *lines = bound.lines - capacity_lines(word) - (int32_t)(cell->stock >> STOCK_LINES_SHIFT);
    if (cell->flags & CELL_HAS_WAITING_SENDERS) {
        messages += cell->extra->senders.reserved;
        *lines -= cell->extra->senders.reserved_lines;
    }
    return bound.messages - messages;
}

/*
 * Whether a message is a report of a dead letter. Such a report must not displace another message:
 * the displaced message would become a dead letter, its report would displace the next, and so on
 * without end.
 */
static bool is_report(const struct envelope *envelope)
{
    return tr_type_is_equal(envelope->type, &tr_type_tr_dead_letter);
}

tr_status tr__capacity_take_far(struct cell *cell, const struct envelope *envelope)
{
    struct capacity *capacity = &cell->door.capacity;
    int32_t lines = (int32_t)mail_lines(envelope);
    enum capacity_result result = capacity_take(capacity, envelope->generation, lines, 0, 0);
    if (__builtin_expect(result == CAPACITY_TAKEN, 1))
        return TR_OK;
    /*
     * Accept more than the bound allows. Later tr__mail_drop_oldest, which the owner calls, drops
     * the oldest messages.
     */
    bool drops_oldest = mailbox_overflow_has(cell, OVERFLOW_DISPLACES);
    if (result == CAPACITY_FULL && drops_oldest && !is_report(envelope))
        result = capacity_take(
            capacity, envelope->generation, lines, TR_OVERDRAFT_MAX, lines + TR_OVERDRAFT_MAX);
    if (result == CAPACITY_TAKEN)
        return TR_OK;
    return result == CAPACITY_STRANGE ? TR_STOPPED : TR_MAILBOX_FULL;
}

/*
 * Removes from a ring the oldest message that takes capacity, and returns this message. Returns
 * NULL if no message of the ring takes capacity.
 */
static struct envelope *take_oldest(struct envelope **last)
{
    struct envelope *passed = NULL;
    struct envelope *oldest = NULL;
    while (*last && !oldest) {
        struct envelope *envelope = ring_pop(last);
        if (mail_takes_capacity(envelope))
            oldest = envelope;
        else
            ring_push(&passed, envelope);
    }
    ring_join(&passed, last);
    *last = passed;
    return oldest;
}

static bool drop_one(struct worker *worker, struct cell *cell)
{
    /* During a barrier no message in the cycle takes capacity, so do not search the cycle. */
    struct envelope *oldest = NULL;
    if (!(cell->flags & CELL_BARRIER))
        oldest = take_oldest(&cell->cycle);
    if (!oldest && cell->extra)
        oldest = take_oldest(&cell->extra->mail.held);
    if (!oldest && cell->extra)
        oldest = take_oldest(&cell->extra->mail.requests);
    if (!oldest)
        oldest = take_oldest(&cell->notices);
    if (!oldest)
        return false;
    uint32_t lines = mail_lines(oldest);
    mail_uncount(cell, oldest);
    tr__mail_bury_one(worker, cell, oldest, TR_MAILBOX_FULL);
    /*
     * Give the capacity back only after the message has become a dead letter. Otherwise the report
     * of that dead letter could take the capacity.
     */
    tr__capacity_give(cell, lines);
    return true;
}

void tr__mail_drop_oldest(struct worker *worker, struct cell *cell)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    bool is_alive = cell->life > LIFE_NEW && cell->life < LIFE_STOPPING;
    if (!is_alive ||
        !overflow_has(mail_bound_of(cell->dispatch->behavior).overflow, OVERFLOW_DISPLACES))
        return;
    for (;;) {
        uint64_t word = capacity_load(&cell->door.capacity);
        if (capacity_messages(word) >= 0 && capacity_lines(word) >= 0)
            return;
        if (!drop_one(worker, cell))
            /* the excess is from messages that have returned from a stash, and it is allowed */
            return;
    }
}

bool tr__mail_is_misfit(const struct cell *cell, const struct envelope *envelope)
{
    const tr_behavior *behavior =
        cell->dispatch ? cell->dispatch->behavior : cell->origin->behavior;
    struct mail_bound bound = mail_bound_of(behavior);
    return overflow_has(bound.overflow, OVERFLOW_DISPLACES) && mail_takes_capacity(envelope) &&
           mail_lines(envelope) > (uint32_t)bound.lines;
}

tr_status tr__mail_overflow(struct worker *worker, struct cell *cell, struct envelope *envelope)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    struct mail_bound bound = mail_bound_of(cell->dispatch->behavior);
    uint32_t lines = mail_lines(envelope);
    if (!overflow_has(bound.overflow, OVERFLOW_DISPLACES) || is_report(envelope) ||
        lines > (uint32_t)bound.lines)
        return TR_MAILBOX_FULL;
    while (drop_one(worker, cell)) {
        if (tr__capacity_take(cell, lines))
            return TR_OK;
    }
    return TR_MAILBOX_FULL;
}

bool tr__line_has(const struct cell *cell, uint64_t to)
{
    if (!(cell->flags & CELL_BARRIER) || cell->life >= LIFE_STOPPING)
        return false;
    const struct list *line = &cell->extra->waits.line;
    /*
     * Search from the end, because the turns that have entered last are the most likely to want
     * this mailbox.
     */
    for (const struct list *link = line->previous; link != line; link = link->previous) {
        if (LIST_OWNER(link, const struct tr_self, sender.line)->sender.wants == to)
            return true;
    }
    return false;
}
