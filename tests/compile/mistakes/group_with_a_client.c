/* SPDX-License-Identifier: Apache-2.0 */
/* expect: tr_spawn_group needs the self of a handler; with a client use tr_try_spawn_group */
#include "common.h"

void f(tr_client *client);
void f(tr_client *client)
{
    bank_ref group = tr_spawn_group(client, bank, NULL, 4);
    (void)group;
}
