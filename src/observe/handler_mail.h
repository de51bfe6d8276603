/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How many messages wait for each handler, and how old the oldest one is.
 *
 * A mailbox is not sorted by handlers, and nothing is counted for each message. So these functions
 * look into mailboxes. They find the fullest mailboxes of each behavior, in steps, and ask the
 * workers of the actors how many messages of each type are in these mailboxes. The figures of a
 * handler are those of these mailboxes, scaled to all messages that wait for actors of the
 * behavior.
 */
#ifndef OBSERVE_HANDLER_MAIL_H
#define OBSERVE_HANDLER_MAIL_H

#include "observe/scan.h"
#include "observe/observer.h"

enum {
    HANDLER_MAIL_ROWS = 256,
    HANDLER_MAIL_BEHAVIORS = 64, /* behaviors with messages; further ones are left out */
    HANDLER_MAIL_ASKED = 8, /* behaviors whose mailboxes are asked: those with the most messages */
    HANDLER_MAIL_EACH = 4   /* mailboxes of each of them that are asked: the fullest ones */
};

/** Messages that wait for a handler. */
struct handler_mail_row {
    const tr_behavior *behavior;
    const tr_handler *handler;
    double queued;     /* an estimate of how many messages wait */
    tr_time oldest_ns; /* age of the oldest of them that was found; its true age may be greater */
};

struct handler_mail {
    struct scan scan;
    uint64_t queued;  /* messages in all mailboxes */
    uint64_t counted; /* messages that were counted by type */
    /* mailboxes whose worker did not answer or is stuck, and those left out because of is_slow */
    uint32_t not_asked;
    size_t behavior_count;
    struct handler_mail_behavior {
        const tr_behavior *behavior;
        uint64_t queued;
        uint32_t fullest_count;
        struct actor_glance fullest[HANDLER_MAIL_EACH];
        bool is_chosen;
        bool has_answered; /* a worker has counted one of these mailboxes */
    } behaviors[HANDLER_MAIL_BEHAVIORS];
    bool lacks_behaviors; /* further behaviors than those above have messages */
    bool lacks_rows;      /* there were more handlers than rows */
    bool has_scanned;
    bool is_slow; /* a worker took long to answer, so no further one is asked */
    struct handler_mail_behavior *asked; /* the behavior whose mailboxes are asked now */
    uint32_t asked_at;                   /* index in asked->fullest of the mailbox that is next */
    uint64_t asked_queued;               /* messages in the mailboxes that have answered */
    size_t row_first;                    /* the first row of this behavior */
    size_t chosen;                       /* behaviors that were chosen so far */
    size_t row_count;
    struct handler_mail_row rows[HANDLER_MAIL_ROWS];
};

/** Begins a look. The memory may have any content. */
void tr__handler_mail_begin(struct handler_mail *mail, tr_system *system);
/** Does one step. Returns true when the look is over. */
bool tr__handler_mail_step(struct handler_mail *mail, struct observer *observer);
/** Returns the row of a handler, or NULL if no message was found that waits for it. */
const struct handler_mail_row *tr__handler_mail_of(const struct handler_mail *mail,
                                                   const tr_handler *handler);
/**
 * Whether the look is complete for a behavior: no message waits for a handler of it that has no
 * row.
 */
bool tr__handler_mail_is_known(const struct handler_mail *mail, const tr_behavior *behavior);

#endif
