/* SPDX-License-Identifier: Apache-2.0 */
/** The verbs for past events: dead letters, failures and restarts. */
#ifndef OBSERVE_PAST_H
#define OBSERVE_PAST_H

#include "observe/visitor.h"

void tr__verb_dead_letters(struct visitor *visitor, const struct control_request *request);
/** Writes the age and the date of a past event. `time_ns` is a time as tr_now returns it. */
void tr__past_time(struct visitor *visitor, tr_time time_ns);
void tr__verb_failures(struct visitor *visitor, const struct control_request *request);

/**
 * The verb replay. It sends the message of the dead letter with the number `after` again, to the actor at the same
 * path.
 */
void tr__verb_replay(struct visitor *visitor, const struct control_request *request);

#endif
