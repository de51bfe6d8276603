/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-01 */
/* expect: cannot convert .tr_client\*. to .tr_self\*.|no matching function for call to 'tr_durable_cxx_' */
#include "common.h"

TR_DURABLE_DECLARE(account);

void f(tr_client *client)
{
    account_ref account = tr_durable(client, account, "alice");
    (void)account;
}
