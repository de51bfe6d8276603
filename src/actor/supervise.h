/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What becomes of an actor that fails.
 */
#ifndef ACTOR_SUPERVISE_H
#define ACTOR_SUPERVISE_H

#include "actor/mail.h"

/** A FAILED, DECIDED, DOWN or UP has arrived; takes it. Owner only. */
void tr__supervision_mail(struct worker *worker, struct cell *cell, struct envelope *envelope);

#endif
