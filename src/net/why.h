/* SPDX-License-Identifier: Apache-2.0 */
/** What tr_actor_why says about channels. Owner only. */
#ifndef NET_WHY_H
#define NET_WHY_H

#include <troupe/why.h>

struct cell;
struct tr_self;
struct worker;

/** The hook why: channels whose output waits, and channels that linger. */
void tr__net_why(struct worker *worker, struct cell *cell, struct tr_why_report *report);
/** The hook why_turn. */
int tr__net_why_turn(const struct tr_self *turn, char *words, size_t size);

#endif
