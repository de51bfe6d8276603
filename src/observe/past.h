/* SPDX-License-Identifier: Apache-2.0 */
/** Verbs about what has happened: dead letters, failures and restarts. */
#ifndef OBSERVE_PAST_H
#define OBSERVE_PAST_H

#include "observe/visitor.h"

void tr__verb_dead_letters(struct visitor *visitor, const struct control_request *request);
void tr__verb_failures(struct visitor *visitor, const struct control_request *request);

#endif
