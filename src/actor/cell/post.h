/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Posting a door: it makes the owner of a cell, which is a worker or a client, take in the mail of
 * the door.
 */
#ifndef ACTOR_CELL_POST_H
#define ACTOR_CELL_POST_H

struct cell;
struct counters;
struct tr_system;

/**
 * Posts the door of a cell to its worker or its client. Rule 1 of queue/door.h says which thread
 * must post a door. Only that thread may call this function. `counters` may be NULL.
 */
void tr__system_post(struct tr_system *system, struct counters *counters, struct cell *cell);

#endif
