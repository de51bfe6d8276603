/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Why a durable actor is not asleep, or not gone: tr_actor_why.
 */
#include "actor/verbs/why.h"

#include <stdio.h>

#include "actor/cell/view.h"
#include "durable/actor.h"

static void add_holder(tr_why_report *report, const struct durable_actor *actor,
                       const struct holder *holder)
{
    bool is_grace = actor->machine.state != SLEEP_STARTED;
    tr_reason *reason = tr__why_add(report,
                                    TR_WHY_AWAKE,
                                    TR_HOLDS_SLEEP,
                                    report->asked_ns - holder->since,
                                    "%s: %s keeps it %s",
                                    tr__counter_text(holder->counter),
                                    holder->what ? holder->what : "the runtime",
                                    is_grace ? "from its end" : "awake");
    if (reason && holder->file)
        snprintf(reason->place,
                 sizeof reason->place,
                 "%s:%d",
                 tr__view_file(holder->file),
                 holder->line);
}

void tr__durable_why(struct worker *worker, struct cell *cell, tr_why_report *report)
{
    struct durable_actor *actor = (struct durable_actor *)(void *)cell_durable(cell);
    const struct sleep_machine *machine = &actor->machine;
    tr__work_look(worker, actor);
    uint32_t set = machine->holders.raised & tr__sleep_blocks_next(machine);
    uint32_t writes = 0;
    char text[HOLDERS_TEXT_SIZE];
    for (int counter = 0; counter < COUNTER_COUNT; counter++) {
        if (!(set >> counter & 1))
            continue;
        LIST_EACH (link, &machine->holders.of[counter])
            add_holder(report, actor, LIST_OWNER(link, struct holder, link));
    }
    LIST_EACH (link, &actor->stretches)
        writes++;
    if (writes) {
        tr_reason *reason = tr__why_add(report,
                                        TR_WHY_STORING,
                                        TR_HOLDS_SLEEP | TR_HOLDS_STOP,
                                        -1,
                                        "%u of its changes are on their way to the disk",
                                        writes);
        if (reason)
            reason->count = writes;
    }
    if (set)
        return;
    (void)tr__sleep_why(machine, worker->loop.now_ns, text, sizeof text);
    tr__why_add(report, TR_WHY_AWAKE, TR_HOLDS_SLEEP, -1, "%.200s", text);
}
