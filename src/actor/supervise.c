/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/supervise.h"

void tr__supervision_mail(struct worker *worker, struct cell *cell, struct envelope *envelope)
{
    (void)cell;
    envelope_give(&worker->pool, envelope);
}
