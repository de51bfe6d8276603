/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-07 */
/* expect gcc: .union bank_accepts. has no member named .deposit. */
/* expect clang: no member named 'deposit' in 'union bank_accepts' */
#include "common.h"

void f(tr_client *client, bank_ref bank);
void f(tr_client *client, bank_ref bank)
{
    tr_tell(client, bank, deposit, .amount = 5);
}
