/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The verb records: files of durable turns that have failed, or of which somebody has asked for a
 * record. With each file comes the command that runs the turn again.
 */
#ifndef OBSERVE_RECORDS_H
#define OBSERVE_RECORDS_H

#include "observe/visitor.h"

void tr__verb_records(struct visitor *visitor, const struct control_request *request);

#endif
