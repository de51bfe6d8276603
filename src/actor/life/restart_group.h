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
 * Begins the restart of this child together with all other children of its group. Returns false
 * when out of memory; then nothing was done.
 */
TR_MUST_CHECK bool tr__restart_group_begin(struct worker *worker, struct cell *parent,
                                           const tr_supervision *how, uint64_t child,
                                           const tr_error *cause);
/**
 * Pauses the restart of a group because the member `child` has failed. The pause ends when the
 * restart delay of that member is over.
 */
void tr__restart_group_pause(struct cell *parent, uint64_t child);
/**
 * Handles the answer of a member. `kind` is ENVELOPE_DOWN, ENVELOPE_UP, or ENVELOPE_VOID for a
 * member that has ended.
 */
void tr__restart_group_answer(struct worker *worker, struct cell *parent, uint64_t child,
                              enum envelope_kind kind);
/** Kills the children that would be restarted together with this child. */
void tr__restart_group_kill(struct worker *worker, struct cell *parent, const tr_supervision *how,
                            uint64_t child);
/**
 * Frees the record of the group. To be called when the restart of the group is complete, when
 * another group takes its place, and when the parent ends or is restarted.
 */
void tr__restart_group_free(struct worker *worker, struct cell *parent);

#endif
