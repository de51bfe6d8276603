/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/cell/failure_log.h"

#include <stdio.h>
#include <string.h>

#include "actor/cell/system.h"
#include "base/sized.h"

/* Copies a text. If it does not fit, copies the end of it. */
static void text_keep_end(char *to, size_t size, const char *from)
{
    size_t length = strlen(from);
    if (length < size)
        memcpy(to, from, length + 1);
    else
        snprintf(to, size, "...%s", from + length - (size - 4));
}

static void text_keep_start(char *to, size_t size, const char *from)
{
    size_t length = from ? strnlen(from, size - 1) : 0;
    if (length)
        memcpy(to, from, length);
    to[length] = '\0';
}

/* Counts a failure of a behavior. Under the lock. */
static void behavior_count(struct failure_log *log, const tr_behavior *behavior)
{
    for (size_t i = 0; i < TR_FAILED_BEHAVIORS_MAX; i++) {
        if (!log->behaviors[i].behavior)
            log->behaviors[i].behavior = behavior;
        if (strcmp(log->behaviors[i].behavior->name, behavior->name) != 0)
            continue;
        log->behaviors[i].count++;
        return;
    }
    log->others++;
}

/* Counts a failure of a handler. Under the lock. */
static void handler_count(struct failure_log *log, const char *behavior, const char *where)
{
    for (size_t i = 0; i < TR_FAILED_BEHAVIORS_MAX; i++) {
        if (!log->handlers[i].behavior) {
            log->handlers[i].behavior = behavior;
            text_keep_start(log->handlers[i].where, sizeof log->handlers[i].where, where);
        }
        if (strcmp(log->handlers[i].behavior, behavior) != 0 ||
            strncmp(log->handlers[i].where, where, sizeof log->handlers[i].where - 1) != 0)
            continue;
        log->handlers[i].count++;
        return;
    }
}

void tr__failure_log(struct tr_system *system, const struct failure_entry *entry)
{
    struct failure_log *log = system->failure_log;
    tr_time now_ns = system->platform->mono_now(system->platform);
    lock_take(&log->lock);
    if (entry->behavior && !entry->is_restart)
        behavior_count(log, entry->behavior);
    if (entry->behavior && !entry->is_restart && entry->where)
        handler_count(log, entry->behavior->name, entry->where);
    /* If there is no memory for the ring, the failure is only counted. */
    if (!log->ring)
        log->ring = source_resize(&system->source, NULL, TR_FAILURES_KEPT * sizeof *log->ring);
    uint64_t number = log->total++;
    if (log->ring) {
        tr_failure_record *record = &log->ring[number % TR_FAILURES_KEPT];
        *record = (tr_failure_record){.time_ns = now_ns,
                                      .actor = tr_ref_from_bits(entry->actor),
                                      .is_restart = entry->is_restart,
                                      .incarnation = entry->incarnation,
                                      .status = entry->status};
        text_keep_start(record->behavior,
                        sizeof record->behavior,
                        entry->behavior ? entry->behavior->name : NULL);
        text_keep_start(record->where, sizeof record->where, entry->where);
        text_keep_start(record->text, sizeof record->text, entry->text);
        text_keep_end(record->path, sizeof record->path, entry->path);
    }
    lock_give(&log->lock);
}

uint64_t tr__failure_log_count(struct tr_system *system, const char *behavior)
{
    struct failure_log *log = system->failure_log;
    uint64_t count = 0;
    lock_take(&log->lock);
    for (size_t i = 0; i < TR_FAILED_BEHAVIORS_MAX && log->behaviors[i].behavior; i++) {
        if (strcmp(log->behaviors[i].behavior->name, behavior) == 0)
            count = log->behaviors[i].count;
    }
    lock_give(&log->lock);
    return count;
}

size_t tr__failure_log_behaviors(struct tr_system *system, const tr_behavior **behaviors,
                                 uint64_t *others)
{
    struct failure_log *log = system->failure_log;
    size_t count = 0;
    lock_take(&log->lock);
    for (; count < TR_FAILED_BEHAVIORS_MAX && log->behaviors[count].behavior; count++)
        behaviors[count] = log->behaviors[count].behavior;
    *others = log->others;
    lock_give(&log->lock);
    return count;
}

uint64_t tr__failure_log_handler(struct tr_system *system, const char *behavior, const char *where)
{
    struct failure_log *log = system->failure_log;
    uint64_t count = 0;
    lock_take(&log->lock);
    for (size_t i = 0; i < TR_FAILED_BEHAVIORS_MAX && log->handlers[i].behavior; i++) {
        if (strcmp(log->handlers[i].behavior, behavior) == 0 &&
            strncmp(log->handlers[i].where, where, sizeof log->handlers[i].where - 1) == 0)
            count = log->handlers[i].count;
    }
    lock_give(&log->lock);
    return count;
}

uint64_t tr_system_failures_sized(tr_system *system, tr_failure_record *last, size_t size,
                                  size_t max, size_t *count)
{
    if (count)
        *count = 0;
    if (!system)
        return 0;
    struct failure_log *log = system->failure_log;
    lock_take(&log->lock);
    uint64_t total = log->total;
    uint64_t kept = total < TR_FAILURES_KEPT ? total : TR_FAILURES_KEPT;
    size_t wanted = !last || !log->ring ? 0 : max < kept ? max : (size_t)kept;
    for (size_t i = 0; i < wanted; i++)
        sized_write((char *)last + i * size,
                    size,
                    &log->ring[(total - 1 - i) % TR_FAILURES_KEPT],
                    sizeof log->ring[0]);
    lock_give(&log->lock);
    if (count)
        *count = wanted;
    return total;
}
