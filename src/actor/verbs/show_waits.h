/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A report of what an actor waits for, and of what waits for the actor. The actor's own worker
 * makes it. The report has asks without an answer, timers, the actors that this actor watches, its
 * watchers, senders that wait for capacity, and replies that the actor has deferred. The question
 * and the answer are sent like those of tr_actor_why (actor/verbs/why.h).
 */
#ifndef ACTOR_VERBS_SHOW_WAITS_H
#define ACTOR_VERBS_SHOW_WAITS_H

#include <troupe/self.h>

struct cell;
struct worker;

enum {
    /* one report has at most this many rows, and at most WAITS_EACH rows of one kind */
    WAITS_SHOWN = 120,
    WAITS_EACH = 20,
    WAITS_NAME_MAX = 64
};

enum wait_kind {
    WAIT_ASK,
    WAIT_TIMER,
    WAIT_WATCHES,
    WAIT_WATCHED,
    WAIT_SENDER,
    WAIT_OWES,
    WAIT_KINDS
};

struct wait_row {
    enum wait_kind kind;
    uint64_t who;        /* ref bits of the other actor; 0: nobody, or not known */
    const char *message; /* name of the message type; NULL: none */
    tr_time for_ns;      /* how long the wait has lasted; -1: not known */
    /* after how long the wait ends at the latest; INT64_MAX: never, or not known */
    tr_time due_ns;
    tr_time period_ns;         /* the period of a timer that repeats; otherwise 0 */
    char name[WAITS_NAME_MAX]; /* the key of a timer; "": the timer has none */
    /* where in the program a turn waits for the answer to this ask; "": not known */
    char where[WAITS_NAME_MAX];
};

struct waits_report {
    uint32_t count;
    /* how many waits of each kind there are, also those without a row */
    uint32_t total[WAIT_KINDS];
    struct wait_row rows[WAITS_SHOWN];
};

/** Makes the report of an actor, which must not be Stopped. Owner only. */
void tr__show_waits_see(struct worker *worker, struct cell *cell, struct waits_report *report);

/** Returns how many bytes of a report are filled in. */
static inline size_t show_waits_size(const struct waits_report *report)
{
    return offsetof(struct waits_report, rows) + report->count * sizeof report->rows[0];
}

/**
 * Asks the worker of an actor to make the report by tr__show_waits_see. Returns TR_OK, TR_STOPPED,
 * TR_TIMEOUT or TR_NO_MEMORY. May wait for 100 ms. Client's thread.
 */
TR_MUST_CHECK tr_status tr__show_waits(tr_client *client, tr_ref actor,
                                       struct waits_report *report);

#endif
