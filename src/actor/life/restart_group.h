/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A group of children that is restarted together, on the parent's side. Owner of the parent only.
 */
#ifndef ACTOR_LIFE_RESTART_GROUP_H
#define ACTOR_LIFE_RESTART_GROUP_H

#include <troupe/detail/base.h>
#include <troupe/supervision.h>

#include "actor/mail/kind.h"

struct cell;
struct worker;

/** Restarts those who go along with this child. False: no memory, and nothing was done. */
TR_MUST_CHECK bool tr__restart_group_begin(struct worker *worker, struct cell *parent,
                                           const tr_supervision *how, uint64_t child,
                                           const tr_error *cause);
/** A member has failed: all wait until its delay is over. */
void tr__restart_group_pause(struct cell *parent, uint64_t child);
/** A member has answered with DOWN or UP, or has ended (kind ENVELOPE_VOID). */
void tr__restart_group_answer(struct worker *worker, struct cell *parent, uint64_t child,
                              enum envelope_kind kind);
/** Kills those who go along with this child. */
void tr__restart_group_kill(struct worker *worker, struct cell *parent, const tr_supervision *how,
                            uint64_t child);
/** The parent ends, or begins anew: no group any more. */
void tr__restart_group_free(struct worker *worker, struct cell *parent);

#endif
