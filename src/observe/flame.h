/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Counts how often each handler was found running. The counts only grow, so that several clients can ask and each
 * computes its own differences. The verb `top` begins again with each look, and is for one client.
 */
#ifndef OBSERVE_FLAME_H
#define OBSERVE_FLAME_H

#include "observe/visitor.h"

void tr__verb_samples(struct visitor *visitor, const struct control_request *request);
/** Writes the member "samples" with the handlers of a table of OBSERVER_SAMPLES. */
void tr__samples_write(struct json_line *line, const struct observer_sample *samples);

#endif
