/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-01 */
/* expect: cannot convert .tr_client\*. to .tr_self\*.|no matching function for call to 'tr_spawn_cxx_' */
#include "common.h"

void f(tr_client *client)
{
    tr_spawn(client, account, "alice");
}
