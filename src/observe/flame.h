/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Counts how often each handler was found running. The counts are never reset. So several clients
 * can read them, and each client computes its own differences. In contrast, the verb `top` resets
 * its counts with each request, and is for one client.
 */
#ifndef OBSERVE_FLAME_H
#define OBSERVE_FLAME_H

#include "observe/visitor.h"

void tr__verb_samples(struct visitor *visitor, const struct control_request *request);
/**
 * Writes the member "samples". It lists the handlers in a table that has OBSERVER_SAMPLES entries.
 */
void tr__samples_write(struct json_line *line, const struct observer_sample *samples);

#endif
