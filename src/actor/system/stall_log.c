/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/system/stall_log.h"

#include <stdio.h>
#include <string.h>

#include "actor/cell/system.h"
#include "actor/system/stall.h"
#include "base/assert.h"

/* Copies a path. If it does not fit, copies only its end. */
static void path_copy(char *to, size_t size, const char *from)
{
    size_t length = strlen(from);
    if (length < size)
        memcpy(to, from, length + 1);
    else
        snprintf(to, size, "...%s", from + length - (size - 4));
}

static size_t kept(const struct stall_log *log)
{
    return log->total < STALLS_KEPT ? (size_t)log->total : STALLS_KEPT;
}

/*
 * Returns the entry of the current turn of an actor. Returns NULL if the turn has no entry, or if a
 * newer entry has replaced it. Under the lock.
 */
static struct stall_entry *entry_of(struct stall_log *log, uint64_t ref)
{
    struct stall_entry *found = NULL;
    for (size_t i = 0; i < kept(log); i++) {
        struct stall_entry *entry = &log->entries[i];
        if (entry->actor == ref && (!found || entry->number > found->number))
            found = entry;
    }
    return found && !found->is_over ? found : NULL;
}

/*
 * Returns the place for a new entry. If no place is free, returns the place of the shortest turn in
 * the older half of the entries. So the turns of a handler that is always a little slow do not
 * replace a turn that took long. Under the lock.
 */
static struct stall_entry *place_of(struct stall_log *log)
{
    struct stall_entry *shortest = NULL;
    tr_time shortest_ns = 0;
    if (log->total < STALLS_KEPT)
        return &log->entries[log->total];
    for (size_t i = 0; i < STALLS_KEPT; i++) {
        struct stall_entry *entry = &log->entries[i];
        bool is_old = entry->number + STALLS_KEPT / 2 <= log->total;
        tr_time took_ns = entry->is_over ? entry->took_ns : TR_NEVER;
        if (!is_old || (shortest && took_ns >= shortest_ns))
            continue;
        shortest = entry;
        shortest_ns = took_ns;
    }
    TR_ASSERT(shortest);
    return shortest;
}

void tr__stall_log_note(struct tr_system *system, const tr_stall *stall, bool is_first,
                        const struct stall_stack *stack)
{
    struct stall_log *log = &system->stalls->log;
    lock_take(&log->lock);
    /* Without memory for the entries, the turn is only counted and logged. */
    if (!log->entries)
        log->entries = source_resize(&system->source, NULL, STALLS_KEPT * sizeof *log->entries);
    struct stall_entry *entry = log->entries ? entry_of(log, stall->actor.bits) : NULL;
    if (entry && is_first) {
        /* the actor is in a new turn, so the earlier turn is over, although its end was not seen */
        entry->is_over = true;
        entry = NULL;
    }
    if (!entry && log->entries && is_first) {
        entry = place_of(log);
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
        if (stack->count)
            entry->stack = *stack;
    }
    lock_give(&log->lock);
}

size_t tr__stall_log_read(struct tr_system *system, struct stall_entry *last, size_t max)
{
    struct stall_log *log = &system->stalls->log;
    lock_take(&log->lock);
    size_t count = 0;
    for (uint64_t below = log->total + 1; count < max && count < kept(log); count++) {
        const struct stall_entry *newest = NULL;
        for (size_t i = 0; i < kept(log); i++) {
            const struct stall_entry *entry = &log->entries[i];
            if (entry->number < below && (!newest || entry->number > newest->number))
                newest = entry;
        }
        last[count] = *newest;
        below = newest->number;
    }
    lock_give(&log->lock);
    return count;
}

void tr__stall_log_free(struct tr_system *system)
{
    source_resize(&system->source, system->stalls->log.entries, 0);
    system->stalls->log.entries = NULL;
}
