/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-07 A-01 */
/* expect: done was declared with TR_THEN for another request than get_balance */
#include "common.h"

static tr_next on_done(const transfer_answer *answer)
{
    return answer->status == TR_OK ? TR_SAME : TR_STOP;
}
TR_THEN(done, transfer, struct bank, on_done);

void f(tr_self *self, account_ref account);
void f(tr_self *self, account_ref account)
{
    tr_ask_then(self, done, NULL, account, get_balance);
}
