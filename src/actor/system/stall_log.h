/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Long turns of a system: STALLS_KEPT of them, the newest half and the longest of those before, also those that have ended. The watch's thread notes them when it reports
 * them; any thread may read them. Under a lock, because long turns are the exception.
 */
#ifndef ACTOR_SYSTEM_STALL_LOG_H
#define ACTOR_SYSTEM_STALL_LOG_H

#include <troupe/system.h>

#include "actor/cell/system_parts.h"

struct tr_system;

/** Notes a long turn, or how long one that is noted has taken by now. `is_first`: it is not noted yet. The watch's thread. */
void tr__stall_log_note(struct tr_system *system, const tr_stall *stall, bool is_first);
/** Copies the last ones, the newest first. Returns how many; at most `max`. Any thread. */
size_t tr__stall_log_read(struct tr_system *system, struct stall_entry *last, size_t max);
/** Frees the entries. No other thread uses them any more. */
void tr__stall_log_free(struct tr_system *system);

#endif
