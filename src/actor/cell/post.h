/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Posting doors: makes the owner of a cell, a worker or a client, take in the mail of its door.
 */
#ifndef ACTOR_CELL_POST_H
#define ACTOR_CELL_POST_H

struct cell;
struct counters;
struct tr_system;

/**
 * Posts a door to its worker or its client. Only for a caller that must post the door: rule 1 of
 * queue/door.h. `counters` may be NULL.
 */
void tr__system_post(struct tr_system *system, struct counters *counters, struct cell *cell);

#endif
