/* SPDX-License-Identifier: Apache-2.0 */
#include "app/log_rules.h"

#include <stdio.h>
#include <string.h>

/* Reads the name of a level. Returns false if there is no such level. */
static bool level_read(const char *text, size_t size, tr_level *level)
{
    static const char *const names[] = {"debug", "info", "warn", "error"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strlen(names[i]) != size || memcmp(text, names[i], size) != 0)
            continue;
        *level = (tr_level)i;
        return true;
    }
    return false;
}

/*
 * Returns the rule for a path. Adds a rule if there is none. Returns NULL if there are too many
 * rules.
 */
static struct log_rule *rule_of(struct log_rules *rules, const char *path, size_t size)
{
    for (size_t i = 0; i < rules->count; i++) {
        struct log_rule *rule = &rules->rules[i];
        if (strlen(rule->path) == size && memcmp(rule->path, path, size) == 0)
            return rule;
    }
    if (rules->count == LOG_RULES_MAX)
        return NULL;
    struct log_rule *rule = &rules->rules[rules->count++];
    if (!size) { /* the rule for all paths comes first */
        *rule = rules->rules[0];
        rule = &rules->rules[0];
    }
    memcpy(rule->path, path, size);
    rule->path[size] = '\0';
    return rule;
}

static tr_status rule_read(struct log_rules *rules, const char *text, size_t size, char *error)
{
    const char *equals = memchr(text, '=', size);
    size_t path_size = equals ? (size_t)(equals - text) : 0;
    const char *name = equals ? equals + 1 : text;
    size_t name_size = size - (size_t)(name - text);
    tr_level level;
    if (!level_read(name, name_size, &level)) {
        (void)snprintf(error,
                       LOG_RULES_ERROR_SIZE,
                       "unknown level \"%.*s\"; levels are debug, info, warn and error",
                       (int)(name_size < 40 ? name_size : 40),
                       name);
        return TR_INVALID_ARGUMENT;
    }
    if (equals && *text != '/') {
        (void)snprintf(error,
                       LOG_RULES_ERROR_SIZE,
                       "the path of an actor begins with a slash, not \"%.*s\"",
                       (int)(path_size < 40 ? path_size : 40),
                       text);
        return TR_INVALID_ARGUMENT;
    }
    struct log_rule *rule =
        path_size <= LOG_PATH_MAX ? rule_of(rules, text, equals ? path_size : 0) : NULL;
    if (!rule) {
        (void)snprintf(error,
                       LOG_RULES_ERROR_SIZE,
                       "at most %d paths of %d bytes can have a level of their own",
                       LOG_RULES_MAX,
                       LOG_PATH_MAX);
        return TR_LIMIT;
    }
    rule->level = level;
    return TR_OK;
}

tr_status tr__log_rules_parse(const char *text, struct log_rules *rules,
                              char error[LOG_RULES_ERROR_SIZE])
{
    rules->count = 0;
    for (;;) {
        size_t size = strcspn(text, ",");
        tr_status status = rule_read(rules, text, size, error);
        if (status != TR_OK)
            return status;
        if (!text[size])
            return TR_OK;
        text += size + 1;
    }
}

void tr__log_rules_apply(struct tr_system *system, const struct log_rules *rules, const char *text)
{
    struct log_rules read;
    char error[LOG_RULES_ERROR_SIZE];
    if (!rules->count && !text)
        return;
    if (!rules->count) {
        if (tr__log_rules_parse(text, &read, error) != TR_OK) {
            tr__log(system, TR_LEVEL_WARN, NULL, "TROUPE_LOG has no effect: %s", error);
            return;
        }
        rules = &read;
    }
    for (size_t i = 0; i < rules->count; i++)
        (void)!tr__log_set_level(system, rules->rules[i].path, rules->rules[i].level);
}
