/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The root of an app: the actor whose first message is tr_args, in each of its incarnations. The runner
 * (app/runner.c) fills in system->root before the workers start and spawns it with system->root.spec.
 */
#ifndef ACTOR_LIFE_ROOT_H
#define ACTOR_LIFE_ROOT_H

#include "actor/cell/cell.h"
#include "actor/cell/worker.h"

/**
 * An actor with a spec is about to get its tr_pre_start. If it is the root, its arguments become the
 * first of its mail. False: there was no memory for that, and it has failed by it.
 */
bool tr__root_args(struct worker *worker, struct cell *cell);

#endif
