/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/cell/log_kept.h"

#include <stdio.h>
#include <string.h>

#include "actor/cell/system.h"

struct log_kept {
    struct lock lock;
    uint64_t total;
    struct log_record records[LOG_KEPT_MAX]; /* line n is in place n % LOG_KEPT_MAX */
};

static struct log_kept *kept_of(struct tr_system *system)
{
    return atomptr_load(&system->log.kept, ATOM_ACQUIRE); /* pairs with tr__log_keep */
}

void tr__log_keep(struct tr_system *system)
{
    struct log_kept *kept =
        kept_of(system) ? NULL : source_resize(&system->source, NULL, sizeof *kept);
    if (!kept)
        return;
    lock_init(&kept->lock);
    kept->total = 0;
    atomptr_store(&system->log.kept, kept, ATOM_RELEASE); /* pairs with kept_of */
}

/* Copies a path. If it is too long, cuts off its beginning. */
static void path_copy(char to[LOG_KEPT_PATH], const char *from)
{
    size_t length = strlen(from);
    if (length < LOG_KEPT_PATH)
        memcpy(to, from, length + 1);
    else
        (void)snprintf(to, LOG_KEPT_PATH, "...%s", from + length - (LOG_KEPT_PATH - 4));
}

static void text_copy(char to[LOG_KEPT_TEXT], const char *from)
{
    size_t length = strnlen(from, LOG_KEPT_TEXT);
    if (length < LOG_KEPT_TEXT) {
        memcpy(to, from, length + 1);
        return;
    }
    memcpy(to, from, LOG_KEPT_TEXT - 4);
    memcpy(to + LOG_KEPT_TEXT - 4, "...", 4);
}

void tr__log_kept_add(struct tr_system *system, const struct log_line *line)
{
    struct log_kept *kept = kept_of(system);
    if (!kept)
        return;
    tr_time now_ns = system->platform->mono_now(system->platform);
    lock_take(&kept->lock);
    uint64_t number = ++kept->total;
    struct log_record *record = &kept->records[number % LOG_KEPT_MAX];
    record->number = number;
    record->time_ns = now_ns;
    record->causal = line->causal;
    record->level = line->level;
    record->has_path = line->path;
    path_copy(record->path, line->path ? line->path : "");
    text_copy(record->text, line->text);
    lock_give(&kept->lock);
}

bool tr__log_kept_read(struct tr_system *system, uint64_t number, struct log_record *record)
{
    struct log_kept *kept = kept_of(system);
    bool is_kept = false;
    if (!kept || !number)
        return false;
    lock_take(&kept->lock);
    if (number <= kept->total && kept->total - number < LOG_KEPT_MAX) {
        *record = kept->records[number % LOG_KEPT_MAX];
        is_kept = true;
    }
    lock_give(&kept->lock);
    return is_kept;
}

uint64_t tr__log_kept_total(struct tr_system *system)
{
    struct log_kept *kept = kept_of(system);
    uint64_t total = 0;
    if (!kept)
        return 0;
    lock_take(&kept->lock);
    total = kept->total;
    lock_give(&kept->lock);
    return total;
}

void tr__log_kept_free(struct tr_system *system)
{
    source_resize(&system->source, atomptr_load(&system->log.kept, ATOM_RELAXED), 0);
    atomptr_store(&system->log.kept, NULL, ATOM_RELAXED);
}
