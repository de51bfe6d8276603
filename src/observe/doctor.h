/* SPDX-License-Identifier: Apache-2.0 */
/** The verb doctor. It looks for common problems twice within a second, and says what to do. */
#ifndef OBSERVE_DOCTOR_H
#define OBSERVE_DOCTOR_H

#include "observe/visitor.h"

void tr__verb_doctor(struct visitor *visitor, const struct control_request *request);

#endif
