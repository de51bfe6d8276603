/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/cell/post.h"

#include "actor/cell/cell.h"
#include "actor/cell/client.h"
#include "actor/cell/system.h"

void tr__system_post(struct tr_system *system, struct counters *counters, struct cell *cell)
{
    uint32_t owner = cell_owner(cell);
    bool has_woken = false;
    if (owner == CELL_FOREIGN) {
        struct tr_client *client = cell->state;
        if (ready_post(&client->ready, &cell->door.ready))
            system->platform->wake(system->platform, client->parker);
    } else {
        has_woken = loop_post(&system->workers[owner]->loop, &cell->door.ready);
    }
    if (!counters)
        return;
    atom64_count(&counters->posts, 1);
    atom64_count(&counters->wakes, has_woken);
}
