/* SPDX-License-Identifier: Apache-2.0 */
/** A study of memory orders: weakens one place at a time and looks whether any model notices. */
#ifndef ENGINE_ORDERS_H
#define ENGINE_ORDERS_H

#include <stdint.h>

/** Prints one line for each weakening. `schedules_max` is for each model and strategy. */
int orders_study(uint64_t schedules_max);

#endif
