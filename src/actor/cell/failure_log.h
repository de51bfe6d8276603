/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The last failures and restarts of a system, for tr_system_failures. The log counts all of them,
 * and keeps the last TR_FAILURES_KEPT. A lock protects the log; this is fast enough, because
 * failures are rare.
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
    uint32_t incarnation; /* counts from 1; 0: not known */
    bool is_restart;
};

/** Notes a failure or a restart. Any thread. */
void tr__failure_log(struct tr_system *system, const struct failure_entry *entry);

/** Returns how often actors whose behavior has this name have failed. Any thread. */
uint64_t tr__failure_log_count(struct tr_system *system, const char *behavior);
/**
 * Writes the behaviors whose actors have failed, one behavior for each name, at most
 * TR_FAILED_BEHAVIORS_MAX. Writes to *others how often actors of further behaviors have failed.
 * Returns the number of behaviors written. Any thread.
 */
size_t tr__failure_log_behaviors(struct tr_system *system, const tr_behavior **behaviors,
                                 uint64_t *others);
/**
 * Returns how often one handler has failed. Only the first TR_FAILED_BEHAVIORS_MAX handlers that
 * failed are counted. Any thread.
 */
uint64_t tr__failure_log_handler(struct tr_system *system, const char *behavior, const char *where);

#endif
