/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The report of a shutdown: which actors did not stop in time, what these actors were doing, and
 * what was lost.
 */
#ifndef ACTOR_SYSTEM_REPORT_H
#define ACTOR_SYSTEM_REPORT_H

#include <stdbool.h>

struct cell;
struct tr_system;
struct worker;

/**
 * Notes and logs the end of a durable actor that ends during a shutdown with changes that are not
 * stored. Owner only.
 */
void tr__shutdown_unstored(struct worker *worker, const struct cell *cell);
/**
 * Whether a durable actor has ended with changes that are not stored. False if the store itself has
 * failed. Any thread.
 */
bool tr__shutdown_has_unstored(struct tr_system *system);
/**
 * Completes the report (`final`) of a shutdown when the shutdown waits no longer. Adds the actors
 * that are still busy. Only on the thread that waits for the shutdown.
 */
void tr__report_lose(struct tr_system *system);

#endif
