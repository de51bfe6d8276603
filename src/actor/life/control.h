/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Control bits: orders to an actor that are carried out between two of its turns.
 */
#ifndef ACTOR_LIFE_CONTROL_H
#define ACTOR_LIFE_CONTROL_H

#include <stdbool.h>

struct cell;
struct worker;

/** Control bits are set, or the last child has gone. False when the actor runs no further. */
bool tr__cell_handle_control(struct worker *worker, struct cell *cell);

#endif
