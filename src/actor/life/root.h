/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The root of an app: the actor whose first message is tr_args, in each of its incarnations. The
 * runner (app/runner.c) fills in system->root before the workers start and spawns it with
 * system->root.spec.
 */
#ifndef ACTOR_LIFE_ROOT_H
#define ACTOR_LIFE_ROOT_H

#include "actor/cell/cell.h"
#include "actor/cell/worker.h"

/**
 * Puts tr_args before all other mail of an actor if it is the root, and they are not in its mail
 * already. The actor has a spec and is about to get its tr_pre_start. Returns false when out of
 * memory; then the actor has failed. Owner only.
 */
bool tr__root_args(struct worker *worker, struct cell *cell);

#endif
