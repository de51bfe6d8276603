/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/cell/client.h"

#include "actor/cell/system.h"
#include "mem/envelope.h"
#include "os/lock.h"

void tr__client_give(struct tr_client *client, struct envelope *envelope)
{
    TR_ASSERT_SLOW(client_is_mine(client));
    struct tr_system *system = client->system;
    lock_take(&system->foreign.lock);
    envelope_give(&system->foreign.pool, envelope);
    tr__envelope_flush(&system->foreign.pool);
    lock_give(&system->foreign.lock);
}
