/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The last failures and restarts of a system, for tr_system_failures. The log counts all of them,
 * and keeps the last TR_FAILURES_KEPT. A lock protects the log; this is fast enough, because
 * failures are rare.
 */
#ifndef ACTOR_CELL_FAILURE_LOG_H
#define ACTOR_CELL_FAILURE_LOG_H

#include <troupe/behavior.h>
#include <troupe/limits.h>
#include <troupe/observe.h>

#include "os/lock.h"

struct tr_system;

/** Failures of actors, and restarts. */
struct failure_log {
    struct lock lock; /* for all members below */
    uint64_t total;
    tr_failure_record *ring; /* an array of TR_FAILURES_KEPT; NULL until the first failure */
    struct {
        /* a behavior whose actors have failed; NULL: this entry is not used */
        const tr_behavior *behavior;
        uint64_t count;
    } behaviors[TR_FAILED_BEHAVIORS_MAX];
    uint64_t others; /* number of failures of behaviors that have no entry in `behaviors` */
    struct {
        const char *behavior; /* NULL: this entry is not used */
        char where[64];       /* the handler */
        uint64_t count;
    } handlers[TR_FAILED_BEHAVIORS_MAX];
};

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
