/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The variable TROUPE_LOG: which lines of the log are left out.
 *
 *     TROUPE_LOG=warn                          lines below warn
 *     TROUPE_LOG=warn,/user/bank=debug         the same, but every line of /user/bank and below
 *
 * Reading is a pure function on text, so that tests can try any input.
 */
#ifndef APP_LOG_RULES_H
#define APP_LOG_RULES_H

#include <troupe/status.h>

#include "actor/cell/log.h"

enum { LOG_RULES_ERROR_SIZE = 200 };

struct log_rules {
    size_t count; /* if one is for all paths, "", it is the first */
    struct log_rule rules[LOG_RULES_MAX];
};

/**
 * Reads a list. TR_INVALID_ARGUMENT: it is wrong, `error` says why, and *rules is undefined. TR_LIMIT: too many rules,
 * or a path is too long; `error` says which.
 */
TR_MUST_CHECK tr_status tr__log_rules_parse(const char *text, struct log_rules *rules,
                                            char error[LOG_RULES_ERROR_SIZE]);
/**
 * Leaves out lines of the log: by `rules`, which may have none, else by `text`, the value of the variable; NULL: it is not
 * set. A wrong text is a line of the log, and has no effect. Before the system starts.
 */
void tr__log_rules_apply(struct tr_system *system, const struct log_rules *rules, const char *text);

#endif
