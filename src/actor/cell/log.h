/* SPDX-License-Identifier: Apache-2.0 */
/** Log lines, and error texts. */
#ifndef ACTOR_CELL_LOG_H
#define ACTOR_CELL_LOG_H

#include <troupe/detail/base.h>
#include <troupe/status.h>
#include <stdarg.h>
#include <troupe/ref.h>

struct tr_system;

/**
 * Fills in a tr_error: its status, its actor (0 for none) and its text. NULL does nothing. Any
 * thread.
 */
void tr__error_set(tr_error *error, tr_status status, uint64_t actor, const char *format, ...)
    TR_PRINTF(4, 5);

/** Writes a line to the log. `path` may be NULL. Any thread. */
void tr__log(struct tr_system *system, tr_level level, const char *path, const char *format, ...)
    TR_PRINTF(4, 5);
/** As tr__log, with the arguments of the format in a list. */
void tr__log_list(struct tr_system *system, tr_level level, const char *path, const char *format,
                  va_list list);

#endif
