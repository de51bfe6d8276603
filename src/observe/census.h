/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Counts the actors by behavior, in steps (observe/scan.h): what tr_system_behaviors does in one call.
 */
#ifndef OBSERVE_CENSUS_H
#define OBSERVE_CENSUS_H

#include "observe/scan.h"

struct census {
    struct scan scan;
    tr_behavior_info *lines; /* TR_LOOKED_BEHAVIORS_MAX of them */
    size_t used;
    bool is_short; /* some behaviors have no line, because there are too many */
    /*
     * the behavior of the actor that was counted last, and the line of this behavior; last_line is
     * NULL if the behavior has no line
     */
    const tr_behavior *last;
    tr_behavior_info *last_line;
};

/** Begins a census. TR_OK, or TR_NO_MEMORY. */
TR_MUST_CHECK tr_status tr__census_begin(struct census *census, tr_system *system);
/** Counts some actors. Returns true when all have been counted. One thread. */
bool tr__census_step(struct census *census);
/** Adds what is known of failures. Sorts the lines: behaviors with the most actors come first. */
void tr__census_end(struct census *census);
/** Frees the lines. */
void tr__census_free(struct census *census);

#endif
