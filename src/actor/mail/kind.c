/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/mail/kind.h"

#include "actor/cell/channel.h"
#include "actor/cell/upcalls.h"
#include "actor/mail/mail.h"
#include "actor/mail/outbox.h"
#include "actor/mail/outcome.h"

static void handed_mail(struct worker *worker, struct cell *cell, struct envelope *envelope)
{
    worker->system->channels.hooks->on_handed(worker, cell, envelope);
}

/*
 * The function that takes mail of a kind, for each kind that is TAKEN in MAIL_KINDS.
 * tests/unit/actor_kind_test.c compares the two tables.
 */
mail_taker *const tr__mail_takers[MAIL_KIND_COUNT] = {
    [ENVELOPE_STOP] = tr__order_mail,
    [ENVELOPE_KILL] = tr__order_mail,
    [ENVELOPE_SUSPEND] = tr__order_mail,
    [ENVELOPE_RESUME] = tr__order_mail,
    [ENVELOPE_WANTED] = tr__waiters_mail,
    [ENVELOPE_GRANT] = tr__waiters_mail,
    [ENVELOPE_BACK] = tr__waiters_mail,
    [ENVELOPE_TRACE] = tr__waiters_mail,
    [ENVELOPE_TRACED] = tr__waiters_mail,
    [ENVELOPE_CYCLE] = tr__waiters_mail,
    [ENVELOPE_RETURNED] = tr__blocking_returned,
    [ENVELOPE_WHY] = tr__why_mail,
    [ENVELOPE_STORED] = tr__stored_mail,
    [ENVELOPE_HANDED] = handed_mail,
    [ENVELOPE_WATCH] = tr__watch_mail,
    [ENVELOPE_UNWATCH] = tr__watch_mail,
    [ENVELOPE_FAILED] = tr__supervision_mail,
    [ENVELOPE_DECIDED] = tr__supervision_mail,
    [ENVELOPE_DOWN] = tr__supervision_mail,
    [ENVELOPE_UP] = tr__supervision_mail,
};

static void probe_turn(struct worker *worker, struct cell *cell, struct envelope *envelope)
{
    (void)cell;
    tr__probe_answer(worker, envelope, true);
}

static void void_turn(struct worker *worker, struct cell *cell, struct envelope *envelope)
{
    (void)cell;
    tr__mail_drop(worker, envelope);
}

mail_taker *const tr__mail_turns[MAIL_KIND_COUNT] = {
    [ENVELOPE_PROBE] = probe_turn,
    [ENVELOPE_VOID] = void_turn,
};

const char *tr__kind_text(enum envelope_kind kind)
{
#define MAIL_KIND_TEXT(kind, text, box, properties) (text),
    static const char *const texts[] = {MAIL_KINDS(MAIL_KIND_TEXT)};
#undef MAIL_KIND_TEXT
    return kind < MAIL_KIND_COUNT ? texts[kind] : "unknown";
}

/* Refuses combinations of properties that no kind may have. */
#define MAIL_KIND_CHECK(kind, text, box, properties)                                               \
    static_assert(!((properties)&MAIL_TAKES_CAPACITY) || (properties)&MAIL_COUNTS,                 \
                  #kind " takes the capacity of a message and is none");                           \
    static_assert(!((properties)&MAIL_COUNTS) || MAIL_BOX_##box > MAIL_BOX_TAKEN,                  \
                  #kind " is a message and has no mailbox");

MAIL_KINDS(MAIL_KIND_CHECK)
