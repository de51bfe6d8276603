/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The environment variable TROUPE_LOG says which lines of the log are left out.
 *
 *     TROUPE_LOG=warn                          leaves out lines below warn
 *     TROUPE_LOG=warn,/user/bank=debug         as above, but keeps all lines of /user/bank and of actors below it
 *
 * Reading is a pure function on text, so that tests can try any input.
 */
#ifndef APP_LOG_RULES_H
#define APP_LOG_RULES_H

#include <troupe/status.h>

#include "actor/cell/log.h"

enum { LOG_RULES_ERROR_SIZE = 200 };

struct log_rules {
    size_t count; /* number of rules. A rule with the path "" is for all paths, and comes first. */
    struct log_rule rules[LOG_RULES_MAX];
};

/**
 * Reads the rules in a text. Fails with TR_INVALID_ARGUMENT if the text is wrong. Fails with
 * TR_LIMIT if the text has too many rules, or a path that is too long. On failure `error` says why,
 * and *rules is undefined.
 */
TR_MUST_CHECK tr_status tr__log_rules_parse(const char *text, struct log_rules *rules,
                                            char error[LOG_RULES_ERROR_SIZE]);
/**
 * Sets which lines of the log are left out. If `rules` has any rule, applies these rules. Otherwise
 * applies the rules in `text`, the value of the environment variable, which may be NULL. If the
 * text is wrong, logs that and changes nothing. To be called before the system starts.
 */
void tr__log_rules_apply(struct tr_system *system, const struct log_rules *rules, const char *text);

#endif
