/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Work of an actor that belongs to none of its turns: mail, owed replies, stashed messages and
 * items for the run handler.
 */
#ifndef DURABLE_WORK_H
#define DURABLE_WORK_H

#include "durable/actor.h"

/** Resets the wake locks for this work. Call after tr__sleep_init. */
void tr__work_init(struct durable_actor *actor);
/**
 * Reports to the sleep machine which work the actor has outside of its turns. Call before each
 * decision of the machine.
 */
void tr__work_look(struct worker *worker, struct durable_actor *actor);

#endif
