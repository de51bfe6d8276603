/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/verbs/show_types.h"

#include <string.h>

#include "actor/cell/client.h"
#include "actor/mail/mail.h"
#include "actor/mail/kind.h"
#include "actor/verbs/why.h"
#include "actor/verbs/why_ask.h"

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
    tr_bytes seen;
    tr_status status = tr__why_look(client, actor, LOOK_TYPES, &seen);
    if (status != TR_OK)
        return status;
    TR_ASSERT(seen.size <= sizeof *report);
    memcpy(report, seen.data, seen.size);
    return TR_OK;
}
