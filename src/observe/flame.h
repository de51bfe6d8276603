/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Which handlers were found running, as sums that only grow: several clients can ask, and each makes differences of its own.
 * `top` is for one client, because it begins again.
 */
#ifndef OBSERVE_FLAME_H
#define OBSERVE_FLAME_H

#include "observe/visitor.h"

void tr__verb_samples(struct visitor *visitor, const struct control_request *request);
/** Writes the member "samples" with the handlers of a table of OBSERVER_SAMPLES. */
void tr__samples_write(struct json_line *line, const struct observer_sample *samples);

#endif
