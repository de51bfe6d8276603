/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Reports about an actor from outside its worker: see actor/verbs/why.h.
 */
#ifndef ACTOR_VERBS_WHY_ASK_H
#define ACTOR_VERBS_WHY_ASK_H

#include <troupe/why.h>

struct tr_system;

/**
 * Makes the report from what any thread can see, because the worker of the actor has not answered
 * in time or is known to be stuck. Any thread.
 */
void tr__why_outside(struct tr_system *system, uint64_t ref, tr_why_report *report);

#endif
