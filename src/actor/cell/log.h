/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Log lines, and error texts.
 */
#ifndef ACTOR_CELL_LOG_H
#define ACTOR_CELL_LOG_H

#include <troupe/detail/base.h>
#include <troupe/status.h>
#include <stdarg.h>
#include <troupe/ref.h>

#include "os/lock.h"

struct tr_system;

enum { LOG_RULES_MAX = 16, LOG_PATH_MAX = 255 };

/** Rules that say which lines the log leaves out. All zero: no line is left out. */
struct log_levels {
    /* no rule leaves out lines of this level and above; any thread reads it without the lock */
    atom32 highest;
    struct lock lock; /* protects the members below */
    uint32_t count;
    struct log_rule {
        /*
         * path of an actor: the rule is for this actor and all actors below it; "": for all lines
         */
        char path[LOG_PATH_MAX + 1];
        tr_level level;
    } rules[LOG_RULES_MAX];
};

/**
 * Leaves out lines below a level, for the actor with this path and all actors below it. If several
 * rules apply, the rule with the longest path counts. The path "" replaces all rules by one rule
 * for all lines. Returns TR_OK, or TR_LIMIT if there are too many rules or the path is too long.
 * Any thread.
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
/**
 * As tr__log, but no rule of the log leaves out the line. For the audit lines of changes to
 * a running system. Any thread.
 */
void tr__log_always(struct tr_system *system, tr_level level, const char *path, const char *format,
                    ...) TR_PRINTF(4, 5);
/**
 * As tr__log, but for a line that a turn writes: `causal` is the causal id of the turn's message,
 * or 0.
 */
void tr__log_turn(struct tr_system *system, tr_level level, const char *path, uint64_t causal,
                  const char *format, ...) TR_PRINTF(5, 6);
/** As tr__log_turn, but with the arguments of the format in a va_list. */
void tr__log_list(struct tr_system *system, tr_level level, const char *path, uint64_t causal,
                  const char *format, va_list list);

#endif
