/* SPDX-License-Identifier: Apache-2.0 */
/**
 * tr_actor_show: a report of what an actor has. The actor's own worker makes it. The question and
 * the answer are sent like those of tr_actor_why (actor/verbs/why.h).
 */
#ifndef ACTOR_VERBS_SHOW_H
#define ACTOR_VERBS_SHOW_H

#include <troupe/observe.h>

struct cell;
struct worker;

/** Makes the report of an actor, which must not be Stopped. Owner only. */
void tr__show_see(struct worker *worker, struct cell *cell, tr_actor_report *report);

#endif
