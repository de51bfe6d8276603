/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/verbs/show_types.h"

#include <string.h>

#include "actor/ask/answer.h"
#include "actor/cell/client.h"
#include "actor/cell/view.h"
#include "actor/mail/group_address.h"
#include "actor/mail/mail.h"
#include "actor/verbs/client_ask.h"
#include "actor/verbs/why.h"

static void message_count(const struct envelope *envelope, struct types_report *report)
{
    uint32_t i = 0;
    while (i < report->count && report->rows[i].type != envelope->type)
        i++;
    report->counted++;
    if (i == TYPES_SHOWN)
        return;
    struct types_row *row = &report->rows[i];
    if (i == report->count) {
        report->count++;
        /* the address alone is not enough, because the envelope can carry a later message */
        *row = (struct types_row){.type = envelope->type,
                                  .mark = (uintptr_t)envelope ^ envelope->causal << 20};
    }
    row->count++;
}

static void ring_count(const struct envelope *last, struct types_report *report)
{
    const struct envelope *envelope = last;
    if (!last)
        return;
    do {
        envelope = (const struct envelope *)(const void *)envelope->mail.next;
        if (mail_counts(envelope))
            message_count(envelope, report);
    } while (envelope != last && report->counted < TYPES_MESSAGES_MAX);
}

void tr__show_types_see(struct worker *worker, struct cell *cell, struct types_report *report)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    report->counted = report->count = 0;
    if (cell->life > LIFE_STARTING)
        mail_look(worker, cell);
    const struct cell_extra *extra = cell->extra;
    const struct envelope *rings[] = {extra ? extra->mail.held : NULL,
                                      cell->cycle,
                                      extra ? extra->mail.late : NULL,
                                      extra ? extra->mail.requests : NULL,
                                      cell->notices,
                                      cell->replies,
                                      cell->exceptions,
                                      cell->events};
    for (size_t i = 0; i < sizeof rings / sizeof *rings; i++) {
        if (report->counted < TYPES_MESSAGES_MAX)
            ring_count(rings[i], report);
    }
}

tr_status tr__show_types(tr_client *client, tr_ref actor, struct types_report *report)
{
    TR_ASSERT(client);
    TR_ASSERT(report);
    struct tr_system *system = client->system;
    actor.bits = tr__group_behind(system->slots, actor.bits);
    struct tr_why_look look = {.ref = actor.bits, .what = LOOK_TYPES};
    struct cell *cell = view_find(system->slots, actor.bits);
    if (!cell)
        return TR_STOPPED;
    tr_pending asked = tr__client_ask(
        client, cell, actor.bits, ENVELOPE_WHY, &tr_type_tr_why_look, &look, TR_WHY_NS);
    const void *reply;
    tr_status status = tr_client_try_await(client, asked, &reply);
    if (status != TR_OK)
        return status;
    const struct tr_why_told *told = reply;
    TR_ASSERT(told->report.size <= sizeof *report);
    memcpy(report, told->report.data, told->report.size);
    return TR_OK;
}
