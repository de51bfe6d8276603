/* SPDX-License-Identifier: Apache-2.0 */
/** The verb records: files of durable turns that have failed, or that somebody asked for, with the command that runs them again. */
#ifndef OBSERVE_RECORDS_H
#define OBSERVE_RECORDS_H

#include "observe/visitor.h"

void tr__verb_records(struct visitor *visitor, const struct control_request *request);

#endif
