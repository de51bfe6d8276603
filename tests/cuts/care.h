/* SPDX-License-Identifier: Apache-2.0 */
/** Backups and compactions of a store that is in use, over the control socket of its program. */
#ifndef CUTS_CARE_H
#define CUTS_CARE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <troupe/status.h>

struct care {
    char socket[100];
    char root[300];      /* of the recorded files; the store is in it */
    uint64_t copy_count; /* over all phases */
    unsigned limit;      /* of each of both, in this phase */
    atomic_bool ends;
};

/** A thread that makes both in turns, until `ends` is set. `context` is the care. */
void *care_main(void *context);

/* Of the program. */
void mark(const char *format, ...);
void die(const char *what, tr_status status);

#endif
