/* SPDX-License-Identifier: Apache-2.0 */
/** What tr_actor_why and reports of long turns say about channels. Owner only where nothing else is said. */
#ifndef NET_WHY_H
#define NET_WHY_H

#include <troupe/why.h>

struct cell;
struct tr_self;
struct tr_system;
struct worker;

/** The hook why: channels whose output waits, and channels that linger. */
void tr__net_why(struct worker *worker, struct cell *cell, struct tr_why_report *report);
/** The hook view. Any thread. */
uint32_t tr__net_view(struct tr_system *system, uint64_t actor, char *text);
/** The hook why_turn: says what a turn waits for, if it waits for a channel. */
int tr__net_why_turn(const struct tr_self *turn, char *words, size_t size);

#endif
