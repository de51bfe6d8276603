/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A report of how many messages of each type wait for an actor, with a mark of the oldest message
 * of each type. The actor's own worker makes it. The question and the answer are sent like those of
 * tr_actor_why (actor/verbs/why.h).
 */
#ifndef ACTOR_VERBS_SHOW_TYPES_H
#define ACTOR_VERBS_SHOW_TYPES_H

#include <troupe/self.h>

struct cell;
struct worker;

enum {
    TYPES_SHOWN = 16,         /* one report has at most this many types */
    TYPES_MESSAGES_MAX = 2000 /* at most this many messages are counted; that takes about 200 us */
};

struct types_row {
    const tr_type *type;
    uint32_t count;
    /* a mark of the oldest message of this type; while the mark stays the same, so does the message */
    uint64_t mark;
};

struct types_report {
    uint32_t
        counted;    /* number of messages that were looked at, also those of types without a row */
    uint32_t count; /* elements of `rows`. The first row has the oldest message of all */
    struct types_row rows[TYPES_SHOWN];
};

/** Makes the report of an actor that is not Stopped. Its owner only. */
void tr__show_types_see(struct worker *worker, struct cell *cell, struct types_report *report);

/** Returns how many bytes of a report are filled in. */
static inline size_t show_types_size(const struct types_report *report)
{
    return offsetof(struct types_report, rows) + report->count * sizeof report->rows[0];
}

/**
 * Asks the worker of an actor for the report. Returns TR_OK, TR_STOPPED, TR_TIMEOUT or
 * TR_NO_MEMORY. May wait for 100 ms. Client's thread.
 */
TR_MUST_CHECK tr_status tr__show_types(tr_client *client, tr_ref actor,
                                       struct types_report *report);

#endif
