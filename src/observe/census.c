/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/census.h"

#include <stdlib.h>
#include <string.h>

#include "actor/cell/failure_log.h"
#include "actor/cell/system.h"
#include "base/sized.h"

/* Returns the line of a behavior. If the behavior has none, makes a line. Returns NULL if there are
 * too many lines. */
static tr_behavior_info *line_of(struct census *census, const tr_behavior *behavior)
{
    tr_behavior_info *lines = census->lines;
    for (size_t i = 0; i < census->used; i++) {
        if (lines[i].file == behavior->file && lines[i].line == behavior->line &&
            strcmp(lines[i].behavior, behavior->name) == 0)
            return &lines[i];
    }
    if (census->used == TR_LOOKED_BEHAVIORS_MAX)
        return NULL;
    lines[census->used] = (tr_behavior_info){
        .behavior = behavior->name, .file = behavior->file, .line = behavior->line};
    return &lines[census->used++];
}

static int compare_live(const void *a, const void *b)
{
    const tr_behavior_info *left = a;
    const tr_behavior_info *right = b;
    if (left->live != right->live)
        return left->live < right->live ? 1 : -1;
    return strcmp(left->behavior, right->behavior);
}

static void actor_count(void *context, const struct actor_glance *glance)
{
    struct census *census = context;
    if (!glance->behavior)
        return;
    if (glance->behavior != census->last) {
        census->last = glance->behavior;
        census->last_line = line_of(census, glance->behavior);
    }
    tr_behavior_info *line = census->last_line;
    census->is_short |= !line;
    if (!line)
        return;
    line->live++;
    line->queued += glance->queued;
    line->queued_bytes += glance->queued_bytes;
    line->bytes += sizeof *glance->cell + glance->behavior->state_size + glance->queued_bytes;
    line->suspended += glance->life == LIFE_SUSPENDED;
    line->stopping += glance->life == LIFE_STOPPING;
    if (glance->queued > line->queued_most) {
        line->queued_most = glance->queued;
        line->fullest = tr_ref_from_bits(glance->ref);
    }
}

tr_status tr__census_begin(struct census *census, tr_system *system)
{
    *census = (struct census){.scan = {.system = system}};
    census->lines =
        source_resize(&system->source, NULL, TR_LOOKED_BEHAVIORS_MAX * sizeof *census->lines);
    return census->lines ? TR_OK : TR_NO_MEMORY;
}

bool tr__census_step(struct census *census)
{
    return tr__scan_step(&census->scan, actor_count, census);
}

void tr__census_end(struct census *census)
{
    tr_system *system = census->scan.system;
    uint64_t others;
    const tr_behavior *failed[TR_FAILED_BEHAVIORS_MAX];
    size_t count = tr__failure_log_behaviors(system, failed, &others);
    /* add the behaviors of failed actors, even if all their actors have ended */
    for (size_t i = 0; i < count; i++)
        (void)line_of(census, failed[i]);
    qsort(census->lines, census->used, sizeof *census->lines, compare_live);
    for (size_t i = 0; i < census->used; i++)
        census->lines[i].failures = tr__failure_log_count(system, census->lines[i].behavior);
}

void tr__census_free(struct census *census)
{
    if (census->scan.system)
        source_resize(&census->scan.system->source, census->lines, 0);
    census->lines = NULL;
}

tr_status tr_system_behaviors_sized(tr_system *system, tr_behavior_info *behaviors, size_t size,
                                    size_t max, size_t *count)
{
    struct census census;
    if (!system || !count || (!behaviors && max))
        return TR_INVALID_ARGUMENT;
    tr_status status = tr__census_begin(&census, system);
    if (status != TR_OK)
        return status;
    while (!tr__census_step(&census))
        continue;
    tr__census_end(&census);
    *count = census.used < max ? census.used : max;
    for (size_t i = 0; i < *count; i++)
        sized_write((char *)behaviors + i * size, size, &census.lines[i], sizeof census.lines[i]);
    tr__census_free(&census);
    return census.is_short ? TR_LIMIT : TR_OK;
}
