/* SPDX-License-Identifier: Apache-2.0 */
/** The verb mail. It lists the messages that wait for one actor, with their contents. */
#ifndef OBSERVE_MAIL_H
#define OBSERVE_MAIL_H

#include "observe/visitor.h"

void tr__verb_mail(struct visitor *visitor, const struct control_request *request);

#endif
