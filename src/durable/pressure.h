/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Memory pressure: limits for the number of actors that are awake and for their memory. The rules are in pressure.c.
 */
#ifndef DURABLE_PRESSURE_H
#define DURABLE_PRESSURE_H

#include "durable/actor.h"

void tr__pressure_init(struct worker_context *context);
/** Whether a new actor of this worker may be set up now; else it comes again when there is room. */
bool tr__pressure_admit(struct worker *worker, struct cell *cell);
/** An actor of this worker has become idle, larger, or has ended: lets those begin that wait, as there is room. */
void tr__pressure_serve(struct worker *worker, struct durable_host *host);
/** It is gone, or begins anew: it weighs nothing. */
void tr__durable_unweigh(struct worker *worker, struct durable_actor *actor);
/** Its memory may have changed. No turn of it is under way; tr__pressure_serve is to follow. */
void tr__durable_weigh(struct worker *worker, struct durable_actor *actor);

#endif
