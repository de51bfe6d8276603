/* SPDX-License-Identifier: Apache-2.0 */
/** What tr_actor_why says of a durable actor. */
#ifndef DURABLE_WHY_H
#define DURABLE_WHY_H

#include "actor/cell/worker.h"

struct tr_why_report;

void tr__durable_why(struct worker *worker, struct cell *cell, struct tr_why_report *report);

#endif
