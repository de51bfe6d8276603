/* SPDX-License-Identifier: Apache-2.0 */
/* expect: has no member named .versoin.|field designator .versoin. does not refer */
#include "common.h"

static tr_next on_transfer(tr_self *self, struct balance *state)
{
    state->cents++;
    return tr_reply(self, tr_done);
}
TR_BEHAVIOR(bank, struct balance, TR_ON(transfer, on_transfer));
TR_DURABLE(bank, balance, .versoin = 2);
