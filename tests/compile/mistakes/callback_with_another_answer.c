/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-07 A-01 */
/* expect: TR_CALLBACK\(done, get_balance\): on_done must be void on_done\(struct bank \*, const get_balance_answer \*\) */
#include "common.h"

static void on_done(struct bank *bank, const transfer_answer *answer)
{
    (void)bank;
    (void)answer;
}
TR_CALLBACK(done, get_balance, struct bank, on_done);
