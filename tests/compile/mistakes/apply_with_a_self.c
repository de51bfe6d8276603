/* SPDX-License-Identifier: Apache-2.0 */
/* ids: K-08 */
/* expect: troupe: TR_APPLY\(deposit, apply_deposit\): the function must be void */
#include "common.h"

static void apply_deposit(tr_self *self, struct balance *state, const struct deposit *event)
{
    (void)self;
    (void)event;
    state->cents++;
}
TR_EVENTS(account_events, balance, TR_APPLY(deposit, apply_deposit));
