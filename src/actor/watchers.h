/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Who watches whom: tr_terminated when an actor has stopped.
 */
#ifndef ACTOR_WATCHERS_H
#define ACTOR_WATCHERS_H

#include "actor/mail.h"

/** A WATCH or UNWATCH has arrived; takes it. Owner only. */
void tr__watch_mail(struct worker *worker, struct cell *cell, struct envelope *envelope);

#endif
