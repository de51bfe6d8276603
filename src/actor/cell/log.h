/* SPDX-License-Identifier: Apache-2.0 */
/** Log lines, and error texts. */
#ifndef ACTOR_CELL_LOG_H
#define ACTOR_CELL_LOG_H

#include <troupe/detail/base.h>
#include <troupe/status.h>
#include <stdarg.h>
#include <troupe/ref.h>

#include "os/lock.h"

struct tr_system;

enum { LOG_RULES_MAX = 16, LOG_PATH_MAX = 255 };

/** Which lines are left out. All zero: none. */
struct log_levels {
    /* lines of this level and above are always written; read by any thread without the lock */
    atom32 highest;
    struct lock lock; /* for the members below */
    uint32_t count;
    struct log_rule {
        char path[LOG_PATH_MAX + 1]; /* of an actor, and all below it; "": all lines */
        tr_level level;
    } rules[LOG_RULES_MAX];
};

/**
 * Leaves out lines below a level: those of the actor with this path and of all below it. The rule of the longest path
 * counts. "": of everything without another rule, and that replaces all rules. TR_LIMIT: too many rules, or the path is
 * too long. Any thread.
 */
TR_MUST_CHECK tr_status tr__log_set_level(struct tr_system *system, const char *path,
                                          tr_level level);

/**
 * Fills in a tr_error: its status, its actor (0 for none) and its text. NULL does nothing. Any
 * thread.
 */
void tr__error_set(tr_error *error, tr_status status, uint64_t actor, const char *format, ...)
    TR_PRINTF(4, 5);

/** Writes a line to the log. `path` may be NULL. Any thread. */
void tr__log(struct tr_system *system, tr_level level, const char *path, const char *format, ...)
    TR_PRINTF(4, 5);
/** As tr__log, for a line of a turn: `causal` is the causal id of its message, 0 for none. */
void tr__log_turn(struct tr_system *system, tr_level level, const char *path, uint64_t causal,
                  const char *format, ...) TR_PRINTF(5, 6);
/** As tr__log_turn, with the arguments of the format in a list. */
void tr__log_list(struct tr_system *system, tr_level level, const char *path, uint64_t causal,
                  const char *format, va_list list);

#endif
