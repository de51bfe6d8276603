/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The root of an app: the actor whose first message is tr_args, in each of its incarnations. The
 * runner (app/runner.c) fills in system->root before the workers start, and spawns the root with
 * system->root.spec.
 */
#ifndef ACTOR_LIFE_ROOT_H
#define ACTOR_LIFE_ROOT_H

#include "actor/cell/cell.h"
#include "actor/cell/worker.h"

/**
 * If an actor is the root, puts a tr_args before all its other mail. If its mail has a tr_args
 * already, adds none. The actor must have a spec, and is about to get its tr_pre_start. Returns
 * false when out of memory; then the actor has failed. Owner only.
 */
bool tr__root_args(struct worker *worker, struct cell *cell);

#endif
