/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/system/stall_log.h"

#include <stdio.h>
#include <string.h>

#include "actor/cell/system.h"

/* Copies a path, and keeps its end if it does not fit. */
static void path_copy(char *to, size_t size, const char *from)
{
    size_t length = strlen(from);
    if (length < size)
        memcpy(to, from, length + 1);
    else
        snprintf(to, size, "...%s", from + length - (size - 4));
}

/* Returns the entry of the current turn of an actor; NULL: there is none, or it was replaced. Under the lock. */
static struct stall_entry *entry_of(struct stall_log *log, uint64_t ref)
{
    for (uint64_t i = log->total; i > 0 && log->total - i < STALLS_KEPT; i--) {
        struct stall_entry *entry = &log->ring[(i - 1) % STALLS_KEPT];
        if (entry->actor == ref)
            return entry->is_over ? NULL : entry;
    }
    return NULL;
}

void tr__stall_log_note(struct tr_system *system, const tr_stall *stall, bool is_first)
{
    struct stall_log *log = &system->stalls.log;
    lock_take(&log->lock);
    /* Without memory the turn is only counted and logged. */
    if (!log->ring)
        log->ring = source_resize(&system->source, NULL, STALLS_KEPT * sizeof *log->ring);
    struct stall_entry *entry = log->ring ? entry_of(log, stall->actor.bits) : NULL;
    if (entry && is_first) {
        entry->is_over = true; /* its end was not seen */
        entry = NULL;
    }
    if (!entry && log->ring && is_first) {
        entry = &log->ring[log->total % STALLS_KEPT];
        *entry = (struct stall_entry){.number = ++log->total,
                                      .actor = stall->actor.bits,
                                      .begun_ns = system->platform->mono_now(system->platform) -
                                                  stall->duration_ns,
                                      .type = stall->type,
                                      .handler = stall->handler,
                                      .behavior = stall->behavior,
                                      .file = stall->file,
                                      .line = stall->line};
        path_copy(entry->path, sizeof entry->path, stall->path);
    }
    if (entry) {
        entry->took_ns = stall->duration_ns;
        entry->worker = stall->worker;
        entry->is_over = stall->is_over;
        entry->is_handed_off |= stall->is_handed_off;
    }
    lock_give(&log->lock);
}

size_t tr__stall_log_read(struct tr_system *system, struct stall_entry *last, size_t max)
{
    struct stall_log *log = &system->stalls.log;
    lock_take(&log->lock);
    size_t count = log->total < STALLS_KEPT ? (size_t)log->total : STALLS_KEPT;
    count = count < max ? count : max;
    for (size_t i = 0; i < count; i++)
        last[i] = log->ring[(log->total - 1 - i) % STALLS_KEPT];
    lock_give(&log->lock);
    return count;
}

void tr__stall_log_free(struct tr_system *system)
{
    source_resize(&system->source, system->stalls.log.ring, 0);
    system->stalls.log.ring = NULL;
}
