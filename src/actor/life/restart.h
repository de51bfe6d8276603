/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Restarts: ending an incarnation of an actor, and beginning the next. All functions: owner only.
 */
#ifndef ACTOR_LIFE_RESTART_H
#define ACTOR_LIFE_RESTART_H

#include <stdint.h>

struct cell;
struct worker;

/**
 * Ends an incarnation and begins the next. In between, the actor waits for functions of
 * tr_blocking, for its children, and for its group. The cell may be gone when this returns.
 */
void tr__cell_restart(struct worker *worker, struct cell *cell);
/**
 * Carries out orders to an actor that is being restarted. The cell may be gone when this returns.
 */
void tr__restart_handle_control(struct worker *worker, struct cell *cell, uint32_t bits);

#endif
