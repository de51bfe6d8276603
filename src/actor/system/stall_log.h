/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Long turns of a system, also those that have ended. The log keeps STALLS_KEPT of them: the newest
 * ones in one half, and the longest of the earlier ones in the other. The watch's thread notes a
 * turn when it reports the turn. Any thread may read the notes. A lock protects them, which is fast
 * enough because long turns are rare.
 */
#ifndef ACTOR_SYSTEM_STALL_LOG_H
#define ACTOR_SYSTEM_STALL_LOG_H

#include <troupe/system.h>

#include "actor/system/stall_stack.h"
#include "os/lock.h"

struct tr_system;

enum { STALLS_KEPT = 64 };

/** A long turn. All texts except the path are constants of the program. */
struct stall_entry {
    uint64_t number; /* from 1 */
    uint64_t actor;
    tr_time begun_ns;
    tr_time took_ns; /* how long the turn took, or has taken so far if it is not over */
    const char *type;
    const char *handler;
    const char *behavior;
    const char *file;
    uint32_t line;
    int worker;
    bool is_over;
    bool is_handed_off;
    struct stall_stack stack; /* the result of the last look that has found functions */
    char path[TR_DEAD_LETTER_PATH_MAX + 1];
};

struct stall_log {
    struct lock lock;
    uint64_t total;
    /* an array of STALLS_KEPT, in any order; NULL until the first long turn */
    struct stall_entry *entries;
};

/**
 * Notes a long turn. If `is_first` is false, the turn is noted already, and only its duration is
 * updated. If `stack` has no functions, the stack that is noted stays. The watch's thread.
 */
void tr__stall_log_note(struct tr_system *system, const tr_stall *stall, bool is_first,
                        const struct stall_stack *stack);
/**
 * Copies the last long turns, the newest first. Returns how many were copied, at most `max`. Any
 * thread.
 */
size_t tr__stall_log_read(struct tr_system *system, struct stall_entry *last, size_t max);
/** Frees the entries. No other thread may use them any more. */
void tr__stall_log_free(struct tr_system *system);

#endif
