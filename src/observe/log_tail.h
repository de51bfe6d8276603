/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The verb log. It lists the last lines of the log, selected by level, path, causal id and text.
 */
#ifndef OBSERVE_LOG_TAIL_H
#define OBSERVE_LOG_TAIL_H

#include "observe/visitor.h"

void tr__verb_log_tail(struct visitor *visitor, const struct control_request *request);

#endif
