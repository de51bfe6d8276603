/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-07 A-01 */
/* expect: done was declared with TR_CALLBACK for another request than get_balance */
#include "common.h"

static void on_done(struct bank *bank, const transfer_answer *answer)
{
    (void)bank;
    (void)answer;
}
TR_CALLBACK(done, transfer, struct bank, on_done);

tr_status f(tr_client *client, account_ref account);
tr_status f(tr_client *client, account_ref account)
{
    return tr_ask_callback(client, done, NULL, account, get_balance);
}
