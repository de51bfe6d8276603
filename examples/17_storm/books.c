/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The books of the storm: what was sent, and what became of it.
 */
#include <inttypes.h>
#include <stdio.h>
#include "storm.h"

enum { JOBS_REMEMBERED = 1 << 24 };

static _Atomic uint64_t books[ENTRIES];
static _Atomic uint64_t numbers;
static atomic_uchar begun[JOBS_REMEMBERED]; /* whether the job of that number has begun */
atomic_bool is_closing;
bool has_faults;

void note(enum entry entry)
{
    atomic_fetch_add(&books[entry], 1);
}

uint64_t sum(enum entry first, enum entry last)
{
    uint64_t total = 0;
    for (int i = (int)first; i <= (int)last; i++)
        total += atomic_load(&books[i]);
    return total;
}

uint64_t next_number(void)
{
    uint64_t number = atomic_fetch_add(&numbers, 1) + 1;
    atomic_store(&begun[number % JOBS_REMEMBERED], 0);
    return number;
}

void begin(uint64_t number)
{
    if (atomic_exchange(&begun[number % JOBS_REMEMBERED], 1))
        note(DONE_TWICE);
}

void note_outcome(tr_status status, const struct result *result, uint64_t number)
{
    if (status == TR_OK && result->number != number)
        note(WRONG_ANSWERS);
    switch (status) {
    case TR_OK:
        note(ASKS_ANSWERED);
        break;
    case TR_FAILED:
        note(ASKS_FAILED);
        break;
    case TR_STOPPED:
    case TR_RESTARTED:
    case TR_CANCELLED:
        note(ASKS_STOPPED);
        break;
    case TR_TIMEOUT:
        note(ASKS_LATE);
        break;
    default:
        note(ASKS_OTHER);
        break;
    }
}

/* ---- The accounts. ---- */

static bool check(bool is_true, const char *what, uint64_t a, uint64_t b)
{
    if (!is_true)
        printf("NOT ACCOUNTED FOR: %s: %" PRIu64 " and %" PRIu64 "\n", what, a, b);
    return is_true;
}

bool is_even(void)
{
    return sum(ASKS_SENT, ASKS_SENT) == sum(ASKS_ANSWERED, ASKS_OTHER) &&
           sum(CHORES_SENT, CHORES_SENT) == sum(CHORES_DEAD, CHORES_BEGUN);
}

/* When all is over. A fault also abandons the turns that wait: these have begun and never end. */
bool close_books(tr_system *system)
{
    tr_counters c;
    tr_system_counters(system, &c);
    uint64_t sent = sum(CHORES_SENT, CHORES_SENT), taken = sum(CHORES_DEAD, CHORES_BEGUN);
    uint64_t started = sum(CHORES_BEGUN, CHORES_BEGUN), ended = sum(CHORES_DONE, CHORES_CUT);
    uint64_t asked = sum(ASKS_SENT, ASKS_SENT), outcomes = sum(ASKS_ANSWERED, ASKS_OTHER);
    uint64_t twice = sum(DONE_TWICE, DONE_TWICE), wrong = sum(WRONG_ANSWERS, WRONG_ANSWERS);
    uint64_t inner = sum(INNER_ASKS_SENT, INNER_ASKS_SENT);
    uint64_t inner_ended = sum(INNER_ASKS_ENDED, INNER_ASKS_ENDED);
    uint64_t gone = c.handled + c.dead_letters - c.refused;
    fprintf(stderr,
            "chores: %" PRIu64 " told = %" PRIu64 " done + %" PRIu64 " failed + %" PRIu64
            " cut short + %" PRIu64 " dead letters",
            sent,
            sum(CHORES_DONE, CHORES_DONE),
            sum(CHORES_FAILED, CHORES_FAILED),
            sum(CHORES_CUT, CHORES_CUT),
            sum(CHORES_DEAD, CHORES_DEAD));
    if (has_faults)
        fprintf(stderr, " + %" PRIu64 " abandoned by a fault", started - ended);
    fprintf(stderr,
            "\nasks: %" PRIu64 " = %" PRIu64 " answered + %" PRIu64 " failed + %" PRIu64
            " of one who stopped + %" PRIu64 " late + %" PRIu64 " refused\n",
            asked,
            sum(ASKS_ANSWERED, ASKS_ANSWERED),
            sum(ASKS_FAILED, ASKS_FAILED),
            sum(ASKS_STOPPED, ASKS_STOPPED),
            sum(ASKS_LATE, ASKS_LATE),
            sum(ASKS_OTHER, ASKS_OTHER));
    fprintf(stderr,
            "the system: %" PRIu64 " messages taken = %" PRIu64 " handled + %" PRIu64
            " dead letters; %" PRIu64 " refused\n",
            c.accepted,
            c.handled,
            c.dead_letters - c.refused,
            c.refused);
    bool is_good = check(sent == taken, "chores told; begun or dead", sent, taken);
    is_good &= check(has_faults || started == ended, "chores begun; ended", started, ended);
    is_good &= check(asked == outcomes, "asks; outcomes", asked, outcomes);
    is_good &= check(has_faults || inner == inner_ended, "inner asks", inner, inner_ended);
    is_good &= check(twice == 0, "jobs that began twice", twice, 0);
    is_good &= check(wrong == 0, "answers to another question", wrong, 0);
    is_good &= check(c.accepted == gone, "messages taken; handled or dead", c.accepted, gone);
    is_good &= check(c.spawned == c.stopped, "actors started; stopped", c.spawned, c.stopped);
    return is_good;
}
