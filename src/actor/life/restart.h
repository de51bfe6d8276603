/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A restart: how an incarnation of an actor follows another. Owner only, all of it.
 */
#ifndef ACTOR_LIFE_RESTART_H
#define ACTOR_LIFE_RESTART_H

#include <stdint.h>

struct cell;
struct worker;

/** Ends an incarnation and begins the next; waits for children, and for a group, in between. */
void tr__cell_restart(struct worker *worker, struct cell *cell);
/** Orders to an actor that is being restarted. It may be gone. */
void tr__restart_handle_control(struct worker *worker, struct cell *cell, uint32_t bits);

#endif
