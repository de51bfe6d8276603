/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-07 */
/* expect: of account writes its ref into an account_ref */
#include "common.h"

TR_DURABLE_DECLARE(account);

void f(tr_client *client);
void f(tr_client *client)
{
    bank_ref bank;
    (void)!tr_try_durable(client, &bank, account, "alice");
}
