/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-01 */
/* expect: TR_SETUP\(set_up\): the handler must be .*const struct open_account \*message */
#include "common.h"

static tr_next set_up(struct account *account, const struct deposit *message)
{
    account->cents = message->amount;
    return TR_SAME;
}

TR_BEHAVIOR(account, struct account, TR_SETUP_WITH(open_account, set_up));
