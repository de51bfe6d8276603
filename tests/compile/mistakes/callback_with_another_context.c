/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-07 A-01 */
/* expect: the context is not of the type that TR_CALLBACK.done. names */
#include "common.h"

static void on_done(struct bank *bank, const transfer_answer *answer)
{
    (void)bank;
    (void)answer;
}
TR_CALLBACK(done, transfer, struct bank, on_done);

tr_status f(tr_client *client, bank_ref bank, struct account *account);
tr_status f(tr_client *client, bank_ref bank, struct account *account)
{
    return tr_ask_callback(client, done, account, bank, transfer);
}
