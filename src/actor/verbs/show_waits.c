/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/verbs/show_waits.h"

#include <stdio.h>
#include <string.h>

#include "actor/ask/ask.h"
#include "actor/cell/ask_table.h"
#include "actor/cell/client.h"
#include "actor/cell/view.h"
#include "actor/cell/watch_table.h"
#include "actor/cell/worker.h"
#include "actor/verbs/why.h"
#include "actor/verbs/why_ask.h"

/*
 * Counts a wait of this kind, and returns a row for it. Returns NULL if the report has enough rows
 * already.
 */
static struct wait_row *row_add(struct waits_report *report, enum wait_kind kind)
{
    if (report->total[kind]++ >= WAITS_EACH || report->count == WAITS_SHOWN)
        return NULL;
    struct wait_row *row = &report->rows[report->count++];
    *row = (struct wait_row){.kind = kind, .for_ns = -1, .due_ns = INT64_MAX};
    return row;
}

static void ask_see(const struct ask *ask, tr_time now_ns, struct waits_report *report)
{
    if (!ask || ask->is_look || ask->is_done)
        return;
    struct wait_row *row = row_add(report, WAIT_ASK);
    if (!row)
        return;
    row->who = ask->to;
    row->message = ask->type ? ask->type->name : NULL;
    row->for_ns = ask->asked_ns ? now_ns - ask->asked_ns : -1;
    if (!ask->is_young && ask->timeout.next)
        row->due_ns = ask->timeout.deadline_ns - now_ns;
    if (ask->is_wanted && ask->turn && ask->turn->wait.where)
        (void)snprintf(row->where, sizeof row->where, "%s", tr__view_file(ask->turn->wait.where));
}

static void asks_see(const struct ask_table *table, tr_time now_ns, struct waits_report *report)
{
    ask_see(table->newest, now_ns, report);
    for (uint32_t i = 0; table->slots && i <= table->mask; i++)
        ask_see(table->slots[i], now_ns, report);
}

static void timer_see(const struct timer_pool *pool, const struct timer_entry *entry,
                      const char *name, tr_time now_ns, struct waits_report *report)
{
    struct wait_row *row = row_add(report, WAIT_TIMER);
    const struct timer_context *context = timer_context(pool, entry);
    if (!row)
        return;
    if (timer_has(entry, TIMER_LIGHT))
        row->message = context->type ? context->type->name : NULL;
    else if (entry->envelope)
        row->message = entry->envelope->type->name;
    if (timer_kind(entry) != TIMER_ONCE)
        row->period_ns = (tr_time)context->value;
    if (entry->node.next)
        row->due_ns = entry->node.deadline_ns - now_ns;
    (void)snprintf(row->name, sizeof row->name, "%s", name);
}

static void timers_see(struct worker *worker, struct extra_timers *timers, tr_time now_ns,
                       struct waits_report *report)
{
    struct timer_pool *pool = &worker->timers.pool;
    struct keys_walk walk = tr__keys_walk(&timers->keys);
    for (struct timer_entry *entry; (entry = tr__keys_walk_next(&timers->keys, pool, &walk));)
        timer_see(pool, entry, keyed_of(entry)->key, now_ns, report);
    for (const struct timer_entry *entry = tr__loose_first(&timers->loose, &pool->loose); entry;
         entry = tr__loose_after(&pool->loose, entry))
        timer_see(pool, entry, "", now_ns, report);
}

static void watches_see(const struct watch_table *table, struct waits_report *report)
{
    for (uint32_t i = 0; table->slots && i <= table->mask; i++) {
        struct wait_row *row = table->slots[i].target ? row_add(report, WAIT_WATCHES) : NULL;
        if (row)
            row->who = table->slots[i].target;
    }
}

/* Adds a row for the sender of each envelope of a ring that begins with `first`. */
static void senders_see(const struct envelope *first, enum wait_kind kind,
                        struct waits_report *report)
{
    const struct envelope *envelope = first;
    if (!first)
        return;
    do {
        struct wait_row *row = row_add(report, kind);
        if (row) {
            row->who = envelope->sender;
            row->message = kind == WAIT_SENDER ? envelope->type->name : NULL;
        }
        envelope = (const struct envelope *)(const void *)envelope->mail.next;
    } while (envelope != first);
}

/* Adds a row for each request whose reply the actor has deferred. */
static void laters_see(const struct list *laters, tr_time now_ns, struct waits_report *report)
{
    for (const struct list *link = laters->next; link && link != laters; link = link->next) {
        const struct later *later = LIST_OWNER(link, struct later, link);
        struct wait_row *row = row_add(report, WAIT_OWES);
        if (!row)
            continue;
        row->who = later->answer->sender;
        row->message = later->type ? later->type->name : NULL;
        row->for_ns = now_ns > later->since_ns ? now_ns - later->since_ns : 0;
        if (tr__ask_is_late(later->answer->payload.ask.deadline_ms, now_ns))
            row->due_ns = 0;
    }
}

void tr__show_waits_see(struct worker *worker, struct cell *cell, struct waits_report *report)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    tr_time now_ns = worker->loop.platform->mono_now(worker->loop.platform);
    struct cell_extra *extra = cell->extra;
    memset(report, 0, sizeof *report);
    if (extra) {
        asks_see(&extra->asks.table, now_ns, report);
        timers_see(worker, &extra->timers, now_ns, report);
        watches_see(&extra->watches.table, report);
        senders_see(extra->senders.ring, WAIT_SENDER, report);
        laters_see(&extra->asks.laters, now_ns, report);
    }
    senders_see(tr__watched_find(&worker->life.watched, cell->identity), WAIT_WATCHED, report);
}

tr_status tr__show_waits(tr_client *client, tr_ref actor, struct waits_report *report)
{
    TR_ASSERT(client);
    TR_ASSERT(report);
    tr_bytes seen;
    tr_status status = tr__why_look(client, actor, LOOK_WAITS, &seen);
    if (status != TR_OK)
        return status;
    TR_ASSERT(seen.size <= sizeof *report);
    memcpy(report, seen.data, seen.size);
    return TR_OK;
}
