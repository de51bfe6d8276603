/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/ask/ask.h"
#include "actor/verbs/show.h"

#include <string.h>

#include "actor/cell/client.h"
#include "actor/cell/dispatch.h"
#include "actor/life/supervise.h"
#include "actor/mail/mail.h"
#include "actor/mail/kind.h"
#include "actor/turn/budget.h"
#include "actor/cell/slots.h"
#include "actor/mail/kind.h"
#include "actor/verbs/why.h"
#include "actor/verbs/why_ask.h"
#include "base/sized.h"
#include "wire/copy.h"
#include "wire/json_write.h"

enum {
    SHOW_MAIL_MAX = 10000, /* the largest number of messages that are counted by type */
    /* a larger state is not shown, because writing it would take long */
    SHOW_STATE_BYTES_MAX = 65536
};

/* Counts the messages of a ring by type. */
static void ring_count_types(const struct envelope *last, uint32_t *left, tr_actor_report *report)
{
    const struct envelope *envelope = last;
    if (!last)
        return;
    do {
        envelope = (const struct envelope *)(const void *)envelope->mail.next;
        if (!mail_counts(envelope))
            continue;
        uint32_t i = 0;
        while (i < report->mail_count && strcmp(report->mail[i].type, envelope->type->name) != 0)
            i++;
        bool is_new = i == report->mail_count;
        if (!*left || (is_new && i == sizeof report->mail / sizeof *report->mail)) {
            report->mail_more++;
            continue;
        }
        --*left;
        report->mail_count += is_new;
        report->mail[i].type = envelope->type->name;
        report->mail[i].count++;
        if (!report->oldest) {
            report->oldest = envelope->type->name;
            report->oldest_from = tr_ref_from_bits(envelope->sender);
            /*
             * A mark of this message. The address of the envelope alone is not enough, because the
             * envelope can carry another message later.
             */
            report->oldest_mark = (uintptr_t)envelope ^ envelope->causal << 20;
            report->oldest_causal = envelope->causal;
        }
    } while (envelope != last);
}

static void show_mail(const struct cell *cell, tr_actor_report *report)
{
    const struct cell_extra *extra = cell->extra;
    const struct envelope *rings[] = {extra ? extra->mail.held : NULL,
                                      cell->cycle,
                                      extra ? extra->mail.late : NULL,
                                      extra ? extra->mail.requests : NULL,
                                      cell->notices,
                                      cell->replies,
                                      cell->exceptions,
                                      cell->events};
    uint32_t left = SHOW_MAIL_MAX;
    for (size_t i = 0; i < sizeof rings / sizeof *rings; i++)
        ring_count_types(rings[i], &left, report);
}

static uint32_t list_count(const struct list *list)
{
    uint32_t count = 0;
    if (!list->next)
        return 0;
    for (const struct list *at = list->next; at != list; at = at->next)
        count++;
    return count;
}

/* Counts the deferred replies whose asker does not wait any more. */
static uint32_t late_count(struct worker *worker, const struct list *laters, tr_time now_ns)
{
    uint32_t count = 0;
    for (const struct list *link = laters->next; link && link != laters; link = link->next) {
        const struct later *later = LIST_OWNER(link, struct later, link);
        count += !slots_find(worker->slots, later->answer->sender) ||
                 tr__ask_is_late(later->answer->payload.ask.deadline_ms, now_ns);
    }
    return count;
}

static void show_extra(struct worker *worker, const struct cell_extra *extra, tr_time now_ns,
                       tr_actor_report *report)
{
    report->timers = extra->timers.keys.count + extra->timers.loose.count;
    report->asks = extra->asks.table.count + (extra->asks.table.newest != NULL);
    report->replies_owed = list_count(&extra->asks.laters);
    report->replies_late = late_count(worker, &extra->asks.laters, now_ns);
    report->turns_waiting = extra->parked.count;
    report->stashed = extra->stash.count;
    report->senders_waiting = tr__why_ring_count(extra->senders.ring);
    report->watches = extra->watches.table.count;
    if (extra->supervision.failure)
        report->incarnation = extra->supervision.failure->incarnation + 1;
}

static void show_state(const struct cell *cell, tr_actor_report *report)
{
    const tr_type *type = cell->dispatch->behavior->options.shows;
    if (!type || !cell->state || cell->life < LIFE_RUNNING)
        return;
    report->state_type = type->name;
    size_t size = tr__copy_size(type, cell->state);
    if (size > SHOW_STATE_BYTES_MAX)
        return;
    size_t length = tr__json_show(type, cell->state, report->state_text, sizeof report->state_text);
    report->state_length = length < sizeof report->state_text ? (uint32_t)length : 0;
    report->state_text[report->state_length] = '\0';
}

static void show_budget(const struct cell *cell, tr_actor_report *report)
{
    const struct budget *budget = cell->extra->budget;
    const struct budget_tree *tree = budget->own_tree;
    int64_t bytes = 0;
    report->cpu_ns = budget->cpu_ns;
    report->cpu_max_ns = budget->cpu_max_ns;
    if (!tree)
        return;
    tr__budget_tree_read(tree, &bytes, &report->tree_cpu_ns);
    report->tree_bytes = bytes > 0 ? (uint64_t)bytes : 0;
    report->tree_bytes_max = tree->bytes_max;
    report->tree_cpu_max_ns = tree->cpu_max_ns;
}

void tr__show_see(struct worker *worker, struct cell *cell, tr_actor_report *report)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    const tr_platform *platform = worker->loop.platform;
    memset(report, 0, sizeof *report);
    report->asked_ns = platform->mono_now(platform);
    report->incarnation = 1;
    if (cell->life > LIFE_STARTING)
        mail_look(worker, cell);
    show_mail(cell, report);
    if (cell->extra)
        show_extra(worker, cell->extra, report->asked_ns, report);
    if (!cell->dispatch)
        return;
    report->bytes_max = cell->dispatch->behavior->options.budget_bytes;
    report->bytes = tr__cell_bytes(worker, cell);
    if (cell->flags & CELL_METERED)
        show_budget(cell, report);
    show_state(cell, report);
}

tr_status tr_actor_show_sized(tr_client *client, tr_ref actor, tr_actor_report *report, size_t size)
{
    CLIENT_VERB(client);
    if (!client || !report || !size)
        return TR_INVALID_ARGUMENT;
    tr_bytes seen;
    tr_status status = tr__why_look(client, actor, LOOK_SHOW, &seen);
    if (status != TR_OK)
        return status;
    TR_ASSERT(seen.size <= sizeof *report);
    sized_write(report, size, seen.data, seen.size);
    return TR_OK;
}
