/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-07 */
/* expect: tr_try_spawn of account writes its ref into an account_ref \* */
#include "common.h"

tr_status f(tr_client *client);
tr_status f(tr_client *client)
{
    bank_ref bank;
    return tr_try_spawn(client, &bank, account, "alice");
}
