/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The last failures and restarts of a system, for tr_system_failures. All of them are counted, and
 * the last TR_FAILURES_KEPT are kept. They are protected by a lock, because failures are rare.
 */
#ifndef ACTOR_CELL_FAILURE_LOG_H
#define ACTOR_CELL_FAILURE_LOG_H

#include <troupe/behavior.h>

struct tr_system;

/** One failure or restart. */
struct failure_entry {
    uint64_t actor;
    const char *path;
    const tr_behavior *behavior; /* NULL: not known */
    const char *where;           /* NULL: not known */
    tr_status status;
    const char *text;
    uint32_t incarnation; /* from 1; 0: not known */
    bool is_restart;
};

/** Notes a failure or a restart. Any thread. */
void tr__failure_log(struct tr_system *system, const struct failure_entry *entry);

/** Returns how often actors whose behavior has this name have failed. Any thread. */
uint64_t tr__failure_log_count(struct tr_system *system, const char *behavior);
/**
 * Writes the behaviors whose actors have failed, one of each name, at most TR_FAILED_BEHAVIORS_MAX,
 * and how many failures of other behaviors there were. Returns how many. Any thread.
 */
size_t tr__failure_log_behaviors(struct tr_system *system, const tr_behavior **behaviors,
                                 uint64_t *others);
/** Returns the failures of one handler; only the first TR_FAILED_BEHAVIORS_MAX that failed are counted. Any thread. */
uint64_t tr__failure_log_handler(struct tr_system *system, const char *behavior, const char *where);

#endif
