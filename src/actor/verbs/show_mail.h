/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A report of the first messages that wait for an actor, with their content as JSON. The actor's
 * own worker makes it. The question and the answer are sent like those of tr_actor_why
 * (actor/verbs/why.h).
 */
#ifndef ACTOR_VERBS_SHOW_MAIL_H
#define ACTOR_VERBS_SHOW_MAIL_H

#include <troupe/self.h>

struct cell;
struct worker;

enum {
    MAIL_SHOWN = 32,            /* one report has at most this many messages */
    MAIL_TEXT_MAX = 4096,       /* the longest text of one message; longer texts are not shown */
    MAIL_TEXTS_MAX = 32 * 1024, /* the length of all texts together */
    /* the content of a larger message is not shown, because writing it would take long */
    MAIL_CONTENT_BYTES_MAX = 65536
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
    uint32_t text;        /* where the text of this message begins in `texts` */
    uint32_t text_length; /* 0: the content is not shown */
};

struct mail_report {
    uint32_t count;
    /* how many messages are not in `rows`; not more than MAIL_COUNTED_MAX of them are counted */
    uint32_t more;
    uint32_t texts_length;
    struct mail_row rows[MAIL_SHOWN];
    char texts[MAIL_TEXTS_MAX];
};

/** Makes the report of an actor, which must not be Stopped. Owner only. */
void tr__show_mail_see(struct worker *worker, struct cell *cell, struct mail_report *report);

/** Returns how many bytes of a report are filled in. */
static inline size_t show_mail_size(const struct mail_report *report)
{
    return offsetof(struct mail_report, texts) + report->texts_length;
}

/**
 * Asks the worker of an actor for the report. Returns TR_OK, TR_STOPPED, TR_TIMEOUT or
 * TR_NO_MEMORY. May wait for 100 ms. Client's thread.
 */
TR_MUST_CHECK tr_status tr__show_mail(tr_client *client, tr_ref actor, struct mail_report *report);

#endif
