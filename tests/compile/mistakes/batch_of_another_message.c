/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-01 D-04 */
/* expect: TR_ON_BATCH\(deposit, on_transfers\): the handler must be tr_next on_transfers\(.*const struct deposit \*const \*messages */
#include "common.h"

static tr_next on_transfers(struct account *account, const struct transfer *const *messages,
                            size_t count)
{
    account->cents -= messages[count - 1]->cents;
    return TR_SAME;
}

TR_BEHAVIOR(account, struct account, TR_ON_BATCH(deposit, on_transfers));
