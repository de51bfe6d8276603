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

/**
 * Asks an actor's worker to look at the actor: `what` is one of LOOK_*. The report comes as
 * bytes in *seen, valid until the client's next await. Waits for TR_WHY_NS at most. The client's thread.
 */
TR_MUST_CHECK tr_status tr__why_look(tr_client *client, tr_ref actor, uint32_t what,
                                     tr_bytes *seen);

#endif
