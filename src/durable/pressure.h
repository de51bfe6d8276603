/* SPDX-License-Identifier: Apache-2.0 */
/** Memory pressure. Limits the number and the memory of actors that are awake. The rules are in pressure.c. */
#ifndef DURABLE_PRESSURE_H
#define DURABLE_PRESSURE_H

#include "durable/actor.h"

void tr__pressure_init(struct worker_context *context);
/**
 * Whether a new actor of this worker may be set up now. If it may not, its cell waits in line, and
 * this function is called for that cell again later.
 */
bool tr__pressure_admit(struct worker *worker, struct cell *cell);
/**
 * Lets as many waiting cells begin as the limits allow, and asks idle actors to sleep. Call it when
 * an actor of this worker has become idle, has grown, or has ended.
 */
void tr__pressure_serve(struct worker *worker, struct durable_host *host);
/** Stops counting the memory of an actor, because it has ended or restarts. */
void tr__durable_unweigh(struct worker *worker, struct durable_actor *actor);
/**
 * Counts the memory of an actor again. No turn of the actor may run. The caller must call
 * tr__pressure_serve afterwards.
 */
void tr__durable_weigh(struct worker *worker, struct durable_actor *actor);

#endif
