/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-01 */
/* expect: tr_durable needs the self of a handler; with a client use tr_try_durable */
#include "common.h"

TR_DURABLE_DECLARE(account);

void f(tr_client *client);
void f(tr_client *client)
{
    account_ref account = tr_durable(client, account, "alice");
    (void)account;
}
