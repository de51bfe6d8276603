/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/scan.h"

#include "actor/cell/slots.h"
#include "actor/cell/system.h"

enum { CLOCK_SLOTS = 256 }; /* slots between two looks at the clock */

bool tr__scan_step(struct scan *scan, scan_visit *visit, void *context)
{
    struct tr_system *system = scan->system;
    const tr_platform *platform = system->platform;
    tr_time until_ns = platform->mono_now(platform) + SCAN_STEP_US * TR_MICROSECOND;
    if (!scan->slot) {
        scan->slot = 1;
        scan->end = atom32_load(&system->slots->made, ATOM_ACQUIRE); /* pairs with fresh_range */
    }
    for (uint32_t i = 1; scan->slot < scan->end && i <= SCAN_STEP_SLOTS; i++) {
        struct actor_glance glance;
        if (tr__actor_glance(system, scan->slot++, &glance))
            visit(context, &glance);
        if (i % CLOCK_SLOTS == 0 && platform->mono_now(platform) >= until_ns)
            break;
    }
    return scan->slot >= scan->end;
}

void tr__fullest_take(void *context, const struct actor_glance *glance)
{
    struct fullest *fullest = context;
    struct actor_glance *found = fullest->found;
    if (glance->queued < fullest->queued_min || !fullest->max)
        return;
    if (fullest->count == fullest->max && glance->queued <= found[fullest->count - 1].queued)
        return;
    size_t at = fullest->count < fullest->max ? fullest->count++ : fullest->count - 1;
    for (; at && found[at - 1].queued < glance->queued; at--)
        found[at] = found[at - 1];
    found[at] = *glance;
}

size_t tr__fullest_describe(const struct fullest *fullest, tr_system *system, tr_actor_info *infos)
{
    size_t written = 0;
    for (size_t i = 0; i < fullest->count; i++)
        written += tr__actor_describe(system, &fullest->found[i], &infos[written]);
    return written;
}
