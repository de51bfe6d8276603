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

#include "actor/cell/system_parts.h"

struct tr_system;

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
