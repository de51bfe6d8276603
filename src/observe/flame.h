/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Counts how often each handler was found running. The counts only grow, so several clients can
 * read them, and each computes its own differences. The verb `top` instead begins again with each
 * request, and is for one client.
 */
#ifndef OBSERVE_FLAME_H
#define OBSERVE_FLAME_H

#include "observe/visitor.h"

void tr__verb_samples(struct visitor *visitor, const struct control_request *request);
/** Writes the member "samples": the handlers in a table with OBSERVER_SAMPLES entries. */
void tr__samples_write(struct json_line *line, const struct observer_sample *samples);

#endif
