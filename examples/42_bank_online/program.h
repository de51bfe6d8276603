/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What belongs to the program and not to an actor: its options, what outlives a crash of the process, stalls.
 */
#ifndef PROGRAM_H
#define PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Shared by the keeper and the bank that it starts again and again: keeper.c. */
struct shared {
    uint32_t starts;
    char address[80];   /* where the bank listened first, with its port; "" before */
    char inspector[80]; /* likewise, of the inspector */
};

struct program {
    const char *listen; /* --listen */
    int64_t rate;       /* --rate */
    bool is_alone;      /* --alone */
    struct shared *shared;
};
extern struct program program;

/* The last figures, for the line at the end. */
void program_note(uint64_t transfers, uint64_t restarts, bool is_exact);

/*
 * Writes the text of the next stall after number *seen, and counts *seen up. Returns false if there is none. Texts that
 * were replaced meanwhile are skipped.
 */
bool stall_take(uint64_t *seen, char *text, size_t size);

/*
 * Starts the bank as a child process, and again when a signal has killed it. Returns -1 in the child, which is to run the
 * bank; else, when it has ended for good, the exit status for main.
 */
int keep(struct shared *shared);
struct shared *shared_new(void);

#endif
