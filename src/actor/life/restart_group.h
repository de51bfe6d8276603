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

/**
 * Begins the restart of this child and of all children that are restarted together with it. Returns
 * false when out of memory; then nothing was done.
 */
TR_MUST_CHECK bool tr__restart_group_begin(struct worker *worker, struct cell *parent,
                                           const tr_supervision *how, uint64_t child,
                                           const tr_error *cause);
/**
 * Pauses the restart of a group because a member has failed, until the delay of that member is
 * over.
 */
void tr__restart_group_pause(struct cell *parent, uint64_t child);
/** Handles the answer of a member: DOWN, UP, or that it has ended (kind ENVELOPE_VOID). */
void tr__restart_group_answer(struct worker *worker, struct cell *parent, uint64_t child,
                              enum envelope_kind kind);
/** Kills the children that would be restarted together with this child. */
void tr__restart_group_kill(struct worker *worker, struct cell *parent, const tr_supervision *how,
                            uint64_t child);
/**
 * Frees the record of the group: it is complete or replaced, or the parent ends or is restarted.
 */
void tr__restart_group_free(struct worker *worker, struct cell *parent);

#endif
