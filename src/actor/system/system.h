/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Makes and frees a system. The record is struct tr_system of actor/cell/system.h.
 */
#ifndef ACTOR_SYSTEM_SYSTEM_H
#define ACTOR_SYSTEM_SYSTEM_H

#include <troupe/detail/base.h>
#include <troupe/status.h>
#include <troupe/system.h>

struct tr_system;

/** As tr_system_new, but without the actors of the pool. `options` must have all members. */
TR_MUST_CHECK tr_status tr__system_new(const tr_system_options *options, tr_system **system);
/** Whether any top-level actor has ended by a failure so far. Any thread. */
bool tr__system_has_failed(struct tr_system *system);

#endif
