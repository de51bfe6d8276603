/* SPDX-License-Identifier: Apache-2.0 */
/* ids: K-08 */
/* expect gcc: read-only */
/* expect clang: const-qualified */
#include "common.h"

static void apply_deposit(struct balance *state)
{
    state->cents++;
}
static tr_next on_deposit(const struct balance *balance)
{
    balance->cents++;
    return TR_SAME;
}
TR_EVENTS(account_events, balance, TR_APPLY(deposit, apply_deposit));
TR_BEHAVIOR(account, const struct balance, TR_ON(deposit, on_deposit));
TR_DURABLE(account, balance, .events = &account_events);
