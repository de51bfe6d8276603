/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The verb records. It lists the files of recorded turns. These are turns of durable actors that
 * have failed, and turns that a client wanted to have recorded. Each row has the command that runs
 * the turn again.
 */
#ifndef OBSERVE_RECORDS_H
#define OBSERVE_RECORDS_H

#include "observe/visitor.h"

void tr__verb_records(struct visitor *visitor, const struct control_request *request);

#endif
