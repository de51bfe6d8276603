/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What tr_actor_why and reports of long turns say about channels. Owner only, unless a comment says
 * otherwise.
 */
#ifndef NET_WHY_H
#define NET_WHY_H

#include <troupe/why.h>

struct cell;
struct tr_self;
struct tr_system;
struct worker;

/** Implements the hook why: reports channels whose output waits, and channels that linger. */
void tr__net_why(struct worker *worker, struct cell *cell, struct tr_why_report *report);
/** Implements the hook view. Any thread. */
uint32_t tr__net_view(struct tr_system *system, uint64_t actor, char *text);
/** Implements the hook why_turn: writes what a turn waits for, if it waits for a channel. */
int tr__net_why_turn(const struct tr_self *turn, char *words, size_t size);

#endif
