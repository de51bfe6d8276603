/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What tr_actor_why says of a durable actor: why it does not fall asleep, or why it does not end.
 */
#include "durable/why.h"

#include <stdio.h>

#include "actor/cell/view.h"
#include "actor/verbs/why.h"
#include "durable/actor.h"
#include "durable/work.h"
#include "sleep/sleep.h"
#include "sleep/wake_locks.h"
#include "sleep/why.h"

static void add_wake_lock(tr_why_report *report, const struct durable_actor *actor,
                          const struct wake_lock *wake_lock)
{
    bool is_grace = actor->machine.state != SLEEP_STARTED;
    tr_reason *reason = tr__why_add(report,
                                    TR_WHY_AWAKE,
                                    TR_HOLDS_SLEEP,
                                    report->asked_ns - wake_lock->since,
                                    "%s: %s keeps it %s",
                                    tr__counter_text(wake_lock->counter),
                                    wake_lock->what ? wake_lock->what : "the runtime",
                                    is_grace ? "from its end" : "awake");
    if (reason && wake_lock->file)
        snprintf(reason->where,
                 sizeof reason->where,
                 "%s:%d",
                 tr__view_file(wake_lock->file),
                 wake_lock->line);
}

void tr__durable_why(struct worker *worker, struct cell *cell, tr_why_report *report)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    struct durable_actor *actor = (struct durable_actor *)(void *)cell_durable(cell);
    const struct sleep_machine *machine = &actor->machine;
    tr__work_look(worker, actor);
    uint32_t set = machine->wake_locks.raised & tr__sleep_blocks_next(machine);
    uint32_t writes = 0;
    char text[WAKE_LOCKS_TEXT_SIZE];
    for (int counter = 0; counter < COUNTER_COUNT; counter++) {
        if (!(set >> counter & 1))
            continue;
        LIST_EACH (link, &machine->wake_locks.of[counter])
            add_wake_lock(report, actor, LIST_OWNER(link, struct wake_lock, link));
    }
    LIST_EACH (link, &actor->commits)
        writes++;
    if (writes) {
        tr_reason *reason = tr__why_add(report,
                                        TR_WHY_STORING,
                                        TR_HOLDS_SLEEP | TR_HOLDS_STOP,
                                        -1,
                                        "%u changes are being written to the disk",
                                        writes);
        if (reason)
            reason->count = writes;
    }
    if (set)
        return;
    (void)tr__sleep_why(machine, worker->loop.now_ns, text, sizeof text);
    tr__why_add(report, TR_WHY_AWAKE, TR_HOLDS_SLEEP, -1, "%.200s", text);
}
