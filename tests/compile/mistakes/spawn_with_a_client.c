/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-01 */
/* usual */
/* expect: tr_spawn needs the self of a handler; with a client use tr_try_spawn */
#include "common.h"

void f(tr_client *client);
void f(tr_client *client)
{
    tr_spawn(client, account, "alice");
}
