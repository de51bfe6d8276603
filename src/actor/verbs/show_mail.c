/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/verbs/show_mail.h"

#include <string.h>

#include "actor/cell/client.h"
#include "actor/mail/mail.h"
#include "actor/mail/kind.h"
#include "actor/verbs/why.h"
#include "actor/verbs/why_ask.h"
#include "wire/copy.h"
#include "wire/json_write.h"

/* the largest number of messages that mail_report.more counts */
enum { MAIL_COUNTED_MAX = 10000 };

/* Writes the content of a message, if the message is small enough and the report has space. */
static void content_write(struct envelope *envelope, struct mail_report *report,
                          struct mail_row *row)
{
    const tr_type *type = envelope->type;
    const void *data = envelope_data(envelope);
    size_t left = MAIL_TEXTS_MAX - report->texts_length;
    size_t space = left < MAIL_TEXT_MAX ? left : MAIL_TEXT_MAX;
    /*
     * tr__copy_size returns SIZE_MAX for a message that is malformed. No pointer in such a message
     * may be followed.
     */
    if (!space || tr__copy_size(type, data) > MAIL_CONTENT_BYTES_MAX)
        return;
    size_t length = tr__json_show(type, data, report->texts + report->texts_length, space);
    if (!length || length >= space)
        return;
    row->text = report->texts_length;
    row->text_length = (uint32_t)length;
    report->texts_length += (uint32_t)length;
}

static void row_fill(const char *mailbox, struct envelope *envelope, struct mail_report *report)
{
    struct mail_row *row = &report->rows[report->count++];
    /* In the envelope of a timer, the member `sender` has another meaning. */
    *row = (struct mail_row){.mailbox = mailbox,
                             .kind = tr__kind_text((enum envelope_kind)envelope->kind),
                             .type = envelope->type->name,
                             .from = envelope->kind == ENVELOPE_EVENT ? 0 : envelope->sender,
                             .causal = envelope->causal,
                             .size = mail_bytes(envelope)};
    content_write(envelope, report, row);
}

static void ring_fill(const char *mailbox, struct envelope *last, struct mail_report *report)
{
    struct envelope *envelope = last;
    if (!last)
        return;
    do {
        envelope = (struct envelope *)(void *)envelope->mail.next;
        if (!mail_counts(envelope))
            continue;
        if (report->count < MAIL_SHOWN)
            row_fill(mailbox, envelope, report);
        else
            report->more++;
    } while (envelope != last && report->more < MAIL_COUNTED_MAX);
}

void tr__show_mail_see(struct worker *worker, struct cell *cell, struct mail_report *report)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    report->count = report->more = report->texts_length = 0;
    memset(report->rows, 0, sizeof report->rows);
    if (cell->life > LIFE_STARTING)
        mail_look(worker, cell);
    struct cell_extra *extra = cell->extra;
    /* In the order in which the messages are handled; see actor/mail/mail.h. */
    ring_fill("held", extra ? extra->mail.held : NULL, report);
    ring_fill("current", cell->cycle, report);
    ring_fill("replies", cell->replies, report);
    ring_fill("failures", cell->exceptions, report);
    ring_fill("requests", extra ? extra->mail.requests : NULL, report);
    ring_fill("tells", cell->notices, report);
    ring_fill("events", cell->events, report);
    ring_fill("stash", extra ? extra->stash.ring : NULL, report);
}

tr_status tr__show_mail(tr_client *client, tr_ref actor, struct mail_report *report)
{
    TR_ASSERT(client);
    TR_ASSERT(report);
    tr_bytes seen;
    tr_status status = tr__why_look(client, actor, LOOK_MAIL, &seen);
    if (status != TR_OK)
        return status;
    TR_ASSERT(seen.size <= sizeof *report);
    memcpy(report, seen.data, seen.size);
    return TR_OK;
}
