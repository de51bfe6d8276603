/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Posts doors: makes the worker, or the client, of a cell look behind its door.
 */
#ifndef ACTOR_CELL_POST_H
#define ACTOR_CELL_POST_H

struct cell;
struct counters;
struct tr_system;

/** Posts a door that is to be posted: to its worker, or to its client. `counters` may be NULL. */
void tr__system_post(struct tr_system *system, struct counters *counters, struct cell *cell);

#endif
