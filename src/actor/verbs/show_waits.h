/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What an actor waits for and what waits for it, seen by its own worker: asks without an answer, timers, the actors that it watches,
 * those that watch it, senders that wait for capacity. The question and the answer travel as those of tr_actor_why do
 * (actor/verbs/why.h).
 */
#ifndef ACTOR_VERBS_SHOW_WAITS_H
#define ACTOR_VERBS_SHOW_WAITS_H

#include <troupe/self.h>

struct cell;
struct worker;

enum {
    WAITS_SHOWN = 100, /* rows of one look, at most WAITS_EACH of one kind */
    WAITS_EACH = 20,
    WAITS_NAME_MAX = 64
};

enum wait_kind { WAIT_ASK, WAIT_TIMER, WAIT_WATCHES, WAIT_WATCHED, WAIT_SENDER, WAIT_KINDS };

struct wait_row {
    enum wait_kind kind;
    uint64_t who;        /* ref bits of the other actor; 0: nobody, or not known */
    const char *message; /* the type; NULL: none */
    tr_time for_ns;      /* how long it has waited; -1: not known */
    tr_time due_ns;    /* when it is over at the latest, from now; INT64_MAX: never, or not known */
    tr_time period_ns; /* of a timer that repeats; 0: none */
    char name[WAITS_NAME_MAX]; /* the key of a timer; "": it has none */
    char where
        [WAITS_NAME_MAX]; /* the place in the program that waits for an answer; "": not known */
};

struct waits_report {
    uint32_t count;
    uint32_t total[WAIT_KINDS]; /* also those that have no row */
    struct wait_row rows[WAITS_SHOWN];
};

/** Makes the report of an actor that is not Stopped. Its owner only. */
void tr__show_waits_see(struct worker *worker, struct cell *cell, struct waits_report *report);

/** Returns the size of the part of a report that is filled in. */
static inline size_t show_waits_size(const struct waits_report *report)
{
    return offsetof(struct waits_report, rows) + report->count * sizeof report->rows[0];
}

/** Asks the worker of an actor. TR_STOPPED, TR_TIMEOUT, TR_NO_MEMORY. Client's thread. May wait, for 100 ms. */
TR_MUST_CHECK tr_status tr__show_waits(tr_client *client, tr_ref actor,
                                       struct waits_report *report);

#endif
