/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The first messages that wait for an actor, seen by its own worker, with their content as JSON. The question and the answer travel as
 * those of tr_actor_why do (actor/verbs/why.h).
 */
#ifndef ACTOR_VERBS_SHOW_MAIL_H
#define ACTOR_VERBS_SHOW_MAIL_H

#include <troupe/self.h>

struct cell;
struct worker;

enum {
    MAIL_SHOWN = 32,               /* messages of one look */
    MAIL_TEXT_MAX = 4096,          /* of one message; a longer one is not shown */
    MAIL_TEXTS_MAX = 32 * 1024,    /* of all of them */
    MAIL_CONTENT_BYTES_MAX = 65536 /* larger messages are not shown, because that would take long */
};

/** One message that waits. */
struct mail_row {
    const char *
        mailbox; /* "held", "current", "requests", "tells", "replies", "failures", "events", "stash" */
    const char *kind; /* "tell", "ask", "reply", "failure", "timer", "signal" */
    const char *type;
    uint64_t from; /* ref bits; 0: nobody, or a client */
    uint64_t causal;
    uint64_t size;
    uint32_t text;        /* where its content begins in `texts` */
    uint32_t text_length; /* 0: it is not shown */
};

struct mail_report {
    uint32_t count;
    uint32_t more; /* messages behind them, counted up to a bound */
    uint32_t texts_length;
    struct mail_row rows[MAIL_SHOWN];
    char texts[MAIL_TEXTS_MAX];
};

/** Makes the report of an actor that is not Stopped. Its owner only. */
void tr__show_mail_see(struct worker *worker, struct cell *cell, struct mail_report *report);

/** Returns the size of the part of a report that is filled in. */
static inline size_t show_mail_size(const struct mail_report *report)
{
    return offsetof(struct mail_report, texts) + report->texts_length;
}

/** Asks the worker of an actor. TR_STOPPED, TR_TIMEOUT, TR_NO_MEMORY. Client's thread. May wait, for 100 ms. */
TR_MUST_CHECK tr_status tr__show_mail(tr_client *client, tr_ref actor, struct mail_report *report);

#endif
