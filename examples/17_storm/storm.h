/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What the files of the storm share: messages, actors, and the books.
 */
#ifndef STORM_H
#define STORM_H

#include <stdatomic.h>
#include <troupe/troupe.h>

TR_MESSAGE(label, (str, text));
TR_MESSAGE(result, (u64, number));
TR_MESSAGE(chore, (u64, number));       /* a job that is sent by tell */
TR_REQUEST(job, result, (u64, number)); /* a job that is asked for */
TR_MESSAGE(havoc, (u32, kind));
TR_MESSAGE(tick);
TR_MESSAGE(ask_around);
TR_ACTOR(worker, chore, job, havoc);
TR_ACTOR(stage, chore, job, havoc);
TR_ACTOR(crew, havoc);
TR_ACTOR(pair, havoc);
TR_ACTOR(line, havoc);
TR_ACTOR(plant, havoc);
TR_ACTOR(source, tick, ask_around);
TR_ACTOR(storm, tick);
TR_ACTOR(clerk, tr_dead_letter);

enum { PLACES = 12, PLACES_OF_WORK = 8 };

extern const char *const places[PLACES]; /* below a plant; first those of work */
extern int worker_count;

/* ---- The books: outside of all actors, since they must outlive each of them. ---- */

enum entry {
    CHORES_SENT,
    CHORES_DEAD, /* dead letters */
    CHORES_BEGUN,
    CHORES_DONE,
    CHORES_FAILED,
    CHORES_CUT, /* the actor was killed or restarted while the turn waited */
    ASKS_SENT,
    ASKS_ANSWERED,
    ASKS_FAILED,
    ASKS_STOPPED, /* also TR_RESTARTED, TR_CANCELLED: one of the two was gone */
    ASKS_LATE,
    ASKS_OTHER,
    INNER_ASKS_SENT, /* by one that was asked itself */
    INNER_ASKS_ENDED,
    WRONG_ANSWERS,
    DONE_TWICE,
    KILLS,
    ENTRIES
};

extern atomic_bool is_closing; /* no new jobs */
extern bool has_faults;

void note(enum entry entry);
/* Of all entries from the first to the last. */
uint64_t sum(enum entry first, enum entry last);
uint64_t next_number(void);
/* The job of that number begins. */
void begin(uint64_t number);
void note_outcome(tr_status status, const struct result *result, uint64_t number);
/* Whether everything that was sent has come to its end. */
bool is_even(void);
/* Prints the accounts, when all is over, and what is missing. False when something is. */
bool close_books(tr_system *system);

#endif
