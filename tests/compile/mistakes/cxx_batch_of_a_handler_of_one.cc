/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-01 D-04 */
/* expect: TR_ON_BATCH\(deposit, on_deposit\): the handler must be tr_next on_deposit\(tr_self \*self, account \*state, const struct deposit \*const \*messages, size_t count\) */
#include "common.h"

static tr_next on_deposit(tr_self *, account *, const deposit *)
{
    return TR_SAME;
}

TR_BEHAVIOR(account, account, TR_ON_BATCH(deposit, on_deposit));
