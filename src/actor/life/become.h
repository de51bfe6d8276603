/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The set-up of an actor, and the change of its behavior.
 */
#ifndef ACTOR_LIFE_BECOME_H
#define ACTOR_LIFE_BECOME_H

#include <troupe/status.h>
#include <troupe/supervision.h>
#include <troupe/message.h>
#include <troupe/detail/base.h>

/**
 * Checks that a message of this type is what the behavior's set-up expects. `type` NULL: no
 * message. Returns TR_OK or TR_WRONG_TYPE.
 */
TR_MUST_CHECK tr_status tr__setup_check(const tr_behavior *behavior, const tr_type *type,
                                        uint64_t actor, tr_error *error);

#endif
