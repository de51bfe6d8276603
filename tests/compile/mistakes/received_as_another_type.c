/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-07 */
/* usual */
/* expect gcc: incompatible pointer type .const struct balance \*. */
/* expect clang: incompatible pointer types initializing */
#include "common.h"

void f(tr_client *client);
void f(tr_client *client)
{
    const struct deposit *deposit = tr_receive(client, balance, TR_SECOND);
    (void)deposit;
}
