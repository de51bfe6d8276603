/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/cell/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <troupe/limits.h>

#include "actor/cell/log_kept.h"
#include "actor/cell/log_line.h"
#include "actor/cell/system.h"

/* If a rule applies to this path, returns the length of the path of the rule; otherwise -1. */
static int rule_match(const struct log_rule *rule, const char *path)
{
    size_t length = strlen(rule->path);
    if (!length)
        return 0;
    if (!path || strncmp(path, rule->path, length) != 0)
        return -1;
    return path[length] == '\0' || path[length] == '/' ? (int)length : -1;
}

/* Whether the rules leave out a line of this level and path. */
static bool is_left_out(struct log_levels *levels, tr_level level, const char *path)
{
    if ((uint32_t)level >= atom32_load(&levels->highest, ATOM_RELAXED))
        return false;
    tr_level least = TR_LEVEL_DEBUG;
    int longest = -1;
    lock_take(&levels->lock);
    for (uint32_t i = 0; i < levels->count; i++) {
        int match = rule_match(&levels->rules[i], path);
        if (match <= longest)
            continue;
        longest = match;
        least = levels->rules[i].level;
    }
    lock_give(&levels->lock);
    return level < least;
}

tr_status tr__log_set_level(struct tr_system *system, const char *path, tr_level level)
{
    struct log_levels *levels = system->log.levels;
    size_t length = strlen(path);
    if (length > LOG_PATH_MAX)
        return TR_LIMIT;
    lock_take(&levels->lock);
    if (!length)
        levels->count = 0;
    uint32_t at = 0;
    while (at < levels->count && strcmp(levels->rules[at].path, path) != 0)
        at++;
    bool has_space = at < LOG_RULES_MAX;
    if (has_space) {
        memcpy(levels->rules[at].path, path, length + 1);
        levels->rules[at].level = level;
        levels->count = at == levels->count ? at + 1 : levels->count;
    }
    uint32_t highest = 0;
    for (uint32_t i = 0; i < levels->count; i++)
        highest = (uint32_t)levels->rules[i].level > highest ? levels->rules[i].level : highest;
    atom32_store(&levels->highest, highest, ATOM_RELAXED);
    lock_give(&levels->lock);
    return has_space ? TR_OK : TR_LIMIT;
}

/* Makes the platform write a line, in the log format of this system. */
static void line_write(struct tr_system *system, const struct log_line *line)
{
    const tr_platform *platform = system->platform;
    char whole[LOG_LINE_MAX];
    if (system->log.format == TR_LOG_TEXT) {
        (void)tr__log_line_text(line, whole, sizeof whole);
        platform->log(platform, line->level, line->path, whole);
        return;
    }
    size_t size = system->log.format == TR_LOG_JSON
                      ? tr__log_line_json(line, platform->wall_now(platform), whole, sizeof whole)
                      : tr__log_line_journald(line, whole, sizeof whole);
    platform->log_line(platform, line->level, whole, size);
}

/* Keeps a line and writes it. The rules do not apply. */
static void list_write(struct tr_system *system, tr_level level, const char *path, uint64_t causal,
                       const char *format, va_list list)
{
    char text[TR_LOG_MAX];
    vsnprintf(text, sizeof text, format, list);
    tr__log_kept_add(system, &(struct log_line){level, path, causal, text});
    if (system->log.write)
        system->log.write(system->log.context, level, path, text);
    else
        line_write(system, &(struct log_line){level, path, causal, text});
}

void tr__log_list(struct tr_system *system, tr_level level, const char *path, uint64_t causal,
                  const char *format, va_list list)
{
    if (!is_left_out(system->log.levels, level, path))
        list_write(system, level, path, causal, format, list);
}

void tr__log_always(struct tr_system *system, tr_level level, const char *path, const char *format,
                    ...)
{
    va_list list;
    va_start(list, format);
    list_write(system, level, path, 0, format, list);
    va_end(list);
}

void tr__log(struct tr_system *system, tr_level level, const char *path, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    tr__log_list(system, level, path, 0, format, list);
    va_end(list);
}

void tr__log_turn(struct tr_system *system, tr_level level, const char *path, uint64_t causal,
                  const char *format, ...)
{
    va_list list;
    va_start(list, format);
    tr__log_list(system, level, path, causal, format, list);
    va_end(list);
}

void tr__error_set(tr_error *error, tr_status status, uint64_t actor, const char *format, ...)
{
    if (!error)
        return;
    *error = (tr_error){.status = status, .actor = tr_ref_from_bits(actor)};
    va_list list;
    va_start(list, format);
    vsnprintf(error->text, sizeof error->text, format, list);
    va_end(list);
}
