/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/handler_mail.h"

#include <string.h>

#include "actor/cell/system.h"
#include "actor/verbs/show_types.h"

void tr__handler_mail_begin(struct handler_mail *mail, tr_system *system)
{
    memset(mail, 0, sizeof *mail);
    mail->scan.system = system;
}

/* ---- The fullest mailboxes of each behavior. ---- */

static struct handler_mail_behavior *behavior_of(struct handler_mail *mail,
                                                 const tr_behavior *behavior)
{
    for (size_t i = 0; i < mail->behavior_count; i++) {
        if (mail->behaviors[i].behavior == behavior)
            return &mail->behaviors[i];
    }
    if (mail->behavior_count == HANDLER_MAIL_BEHAVIORS)
        return NULL;
    struct handler_mail_behavior *made = &mail->behaviors[mail->behavior_count++];
    made->behavior = behavior;
    return made;
}

static void actor_take(void *context, const struct actor_glance *glance)
{
    struct handler_mail *mail = context;
    if (!glance->queued || !glance->behavior)
        return;
    mail->queued += glance->queued;
    struct handler_mail_behavior *of = behavior_of(mail, glance->behavior);
    mail->lacks_behaviors |= !of;
    if (!of)
        return;
    of->queued += glance->queued;
    if (of->fullest_count == HANDLER_MAIL_EACH &&
        glance->queued <= of->fullest[HANDLER_MAIL_EACH - 1].queued)
        return;
    uint32_t at =
        of->fullest_count < HANDLER_MAIL_EACH ? of->fullest_count++ : of->fullest_count - 1;
    for (; at && of->fullest[at - 1].queued < glance->queued; at--)
        of->fullest[at] = of->fullest[at - 1];
    of->fullest[at] = *glance;
}

/* ---- What is in the fullest mailboxes. ---- */

/*
 * Returns the handler of a behavior for messages of a type: its own one, or the one for any message. Returns NULL if
 * there is none.
 */
static const tr_handler *handler_for(const tr_behavior *behavior, const tr_type *type)
{
    const tr_handler *any = NULL;
    for (size_t i = 0; i < behavior->handler_count; i++) {
        const tr_handler *handler =
            (const tr_handler *)(const void *)((const char *)behavior->handlers +
                                               i * behavior->handler_size);
        if (handler->type == type ||
            (handler->type && strcmp(handler->type->name, type->name) == 0))
            return handler;
        any = handler->type ? any : handler;
    }
    return any;
}

static struct handler_mail_row *row_of(struct handler_mail *mail, const tr_handler *handler)
{
    for (size_t i = mail->row_first; i < mail->row_count; i++) {
        if (mail->rows[i].handler == handler)
            return &mail->rows[i];
    }
    mail->lacks_rows |= mail->row_count == HANDLER_MAIL_ROWS;
    if (mail->row_count == HANDLER_MAIL_ROWS)
        return NULL;
    struct handler_mail_row *row = &mail->rows[mail->row_count++];
    *row = (struct handler_mail_row){.behavior = mail->asked->behavior, .handler = handler};
    return row;
}

/* Asks the worker of an actor how many messages of each type are in the actor's mailbox. */
static void mailbox_ask(struct handler_mail *mail, struct observer *observer,
                        const struct actor_glance *glance)
{
    struct types_report report;
    tr_worker_info running;
    tr_ref actor = tr_ref_from_bits(glance->ref);
    bool has_worker = glance->owner < mail->scan.system->worker_count;
    bool is_stuck = has_worker && tr__observer_is_stuck(observer, (int)glance->owner, &running);
    tr_time before_ns = tr__observer_now(observer);
    tr_status status = is_stuck ? TR_TIMEOUT : tr__show_types(observer->client, actor, &report);
    mail->is_slow |= tr__observer_now(observer) - before_ns >= OBSERVER_STUCK_MS * TR_MILLISECOND;
    mail->not_asked += status == TR_TIMEOUT;
    mail->asked->has_answered |= status == TR_OK;
    if (status != TR_OK || !report.counted)
        return;
    mail->counted += report.counted;
    mail->asked_queued += glance->queued;
    for (uint32_t i = 0; i < report.count; i++) {
        const struct types_row *type = &report.rows[i];
        const tr_handler *handler = handler_for(glance->behavior, type->type);
        struct handler_mail_row *row = handler ? row_of(mail, handler) : NULL;
        tr_time age_ns = tr__observer_age_of(observer, actor, type->type, type->mark);
        if (!row)
            continue;
        row->queued += (double)type->count * glance->queued / report.counted;
        row->oldest_ns = age_ns > row->oldest_ns ? age_ns : row->oldest_ns;
    }
}

/* Scales the rows of a behavior to all messages that wait for its actors. */
static void behavior_end(struct handler_mail *mail)
{
    for (size_t i = mail->row_first; mail->asked_queued && i < mail->row_count; i++)
        mail->rows[i].queued *= (double)mail->asked->queued / (double)mail->asked_queued;
    mail->asked = NULL;
}

/* Begins with the next behavior. Returns false if there is none. */
static bool behavior_next(struct handler_mail *mail)
{
    struct handler_mail_behavior *most = NULL;
    for (size_t i = 0; i < mail->behavior_count; i++) {
        struct handler_mail_behavior *of = &mail->behaviors[i];
        if (!of->is_chosen && (!most || of->queued > most->queued))
            most = of;
    }
    if (!most || mail->chosen == HANDLER_MAIL_ASKED)
        return false;
    most->is_chosen = true;
    mail->chosen++;
    mail->asked = most;
    mail->asked_at = 0;
    mail->asked_queued = 0;
    mail->row_first = mail->row_count;
    return true;
}

bool tr__handler_mail_step(struct handler_mail *mail, struct observer *observer)
{
    if (!mail->has_scanned) {
        mail->has_scanned = tr__scan_step(&mail->scan, actor_take, mail);
        return false;
    }
    if (!mail->asked && !behavior_next(mail))
        return true;
    uint32_t left = mail->asked->fullest_count - mail->asked_at;
    if (left && !mail->is_slow) {
        mailbox_ask(mail, observer, &mail->asked->fullest[mail->asked_at++]);
    } else {
        mail->not_asked += left;
        behavior_end(mail);
    }
    return false;
}

const struct handler_mail_row *tr__handler_mail_of(const struct handler_mail *mail,
                                                   const tr_handler *handler)
{
    for (size_t i = 0; i < mail->row_count; i++) {
        if (mail->rows[i].handler == handler)
            return &mail->rows[i];
    }
    return NULL;
}

bool tr__handler_mail_is_known(const struct handler_mail *mail, const tr_behavior *behavior)
{
    for (size_t i = 0; i < mail->behavior_count; i++) {
        if (mail->behaviors[i].behavior == behavior)
            return mail->behaviors[i].has_answered && !mail->lacks_rows;
    }
    return !mail->lacks_behaviors;
}
