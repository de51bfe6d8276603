/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The report of a shutdown: which actors did not stop in time, what they were doing, what was lost.
 */
#ifndef ACTOR_SYSTEM_REPORT_H
#define ACTOR_SYSTEM_REPORT_H

#include <stdbool.h>

struct cell;
struct tr_system;
struct worker;

/** A durable actor ends while the system stops, with changes that are not in the store. Its worker. */
void tr__shutdown_unstored(struct worker *worker, const struct cell *cell);
/** Whether there was one, although the store has not failed. */
bool tr__shutdown_has_unstored(struct tr_system *system);
/** Completes `final`; those who are still busy are looked up. By the thread that waits for the shutdown. */
void tr__report_lose(struct tr_system *system);

#endif
