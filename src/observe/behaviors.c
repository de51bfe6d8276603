/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/behaviors.h"

#include <string.h>

#include "actor/cell/system.h"
#include "observe/census.h"
#include "observe/handlers.h"
#include "observe/verbs.h"

enum {
    BEHAVIORS_SHOWN = 256,
    /*
     * For this many behaviors, those with the most messages, the verb shows the age of the oldest
     * message of the fullest actor.
     */
    BEHAVIORS_AGED = 5
};

struct behaviors {
    struct census census;
    const tr_behavior_info *infos; /* the lines of the census */
    size_t count;
    size_t figures_count;
    size_t aged[BEHAVIORS_AGED]; /* indices in `infos`; BEHAVIORS_SHOWN: none */
    bool is_quick;               /* so far no worker has taken long to answer */
    struct handler_figures figures[HANDLERS_MAX];
    tr_actor_report report;
};

static bool is_aged(const struct behaviors *all, size_t at)
{
    for (size_t i = 0; i < BEHAVIORS_AGED; i++) {
        if (all->aged[i] == at)
            return true;
    }
    return false;
}

/* Chooses the behaviors that have the most messages. */
static void aged_choose(struct behaviors *all)
{
    for (size_t i = 0; i < BEHAVIORS_AGED; i++)
        all->aged[i] = BEHAVIORS_SHOWN;
    for (size_t i = 0; i < BEHAVIORS_AGED; i++) {
        size_t most = BEHAVIORS_SHOWN;
        for (size_t at = 0; at < all->count; at++) {
            bool is_more =
                most == BEHAVIORS_SHOWN || all->infos[at].queued > all->infos[most].queued;
            if (all->infos[at].queued && is_more && !is_aged(all, at))
                most = at;
        }
        all->aged[i] = most;
    }
}

/* Whether a handler belongs to a behavior. All tables of one declaration count as one behavior. */
static bool is_of(const struct handler_figures *figures, const tr_behavior_info *info)
{
    const tr_behavior *behavior = figures->behavior;
    return behavior->file == info->file && behavior->line == info->line &&
           strcmp(behavior->name, info->behavior) == 0;
}

static void behavior_write(struct visitor *visitor, struct behaviors *all, size_t at)
{
    struct json_line *line = &visitor->output;
    const tr_behavior_info *info = &all->infos[at];
    struct handler_figures sum = {.samples = 0};
    tr_actor_info fullest;
    for (size_t i = 0; i < all->figures_count; i++) {
        if (is_of(&all->figures[i], info))
            tr__handlers_add(&sum, &all->figures[i]);
    }
    tr__json_open(line, NULL, '{');
    tr__json_string(line, "behavior", info->behavior);
    tr__json_string(line, "file", info->file);
    tr__json_unsigned(line, "line", info->line);
    tr__json_unsigned(line, "live", info->live);
    tr__json_unsigned(line, "queued", info->queued);
    tr__json_unsigned(line, "queued_most", info->queued_most);
    tr__json_unsigned(line, "queued_bytes", info->queued_bytes);
    tr__json_unsigned(line, "bytes", info->bytes);
    tr__json_unsigned(line, "suspended", info->suspended);
    tr__json_unsigned(line, "stopping", info->stopping);
    tr__json_unsigned(line, "failures", info->failures);
    if (is_aged(all, at) && all->is_quick &&
        tr__observer_find(visitor->observer, info->fullest, &fullest)) {
        tr__json_string(line, "fullest", fullest.path);
        all->is_quick = tr__age_write(visitor, &fullest, &all->report);
    }
    tr__handlers_times(line, &sum);
    tr__json_close(line, '}');
}

static bool behaviors_step(struct visitor *visitor)
{
    struct tr_system *system = visitor->observer->system;
    struct json_line *line = &visitor->output;
    struct behaviors *all = visitor->work;
    if (!tr__census_step(&all->census))
        return false;
    tr__census_end(&all->census);
    bool has_more = all->census.is_short || all->census.used > BEHAVIORS_SHOWN;
    all->infos = all->census.lines;
    all->count = has_more ? BEHAVIORS_SHOWN : all->census.used;
    all->is_quick = true;
    all->figures_count = tr__handlers_collect(system, all->figures, HANDLERS_MAX);
    aged_choose(all);
    tr__visitor_begin(visitor, visitor->request->id, false);
    tr__json_bool(line, "more", has_more);
    tr__handlers_scale(visitor);
    tr__json_open(line, "behaviors", '[');
    for (size_t i = 0; i < all->count; i++)
        behavior_write(visitor, all, i);
    tr__json_close(line, ']');
    tr__visitor_end(visitor);
    tr__handlers_watch(system);
    return true;
}

static void behaviors_free(struct visitor *visitor, void *work)
{
    struct behaviors *all = work;
    tr__census_free(&all->census);
    source_resize(visitor->observer->source, all, 0);
}

void tr__verb_behaviors(struct visitor *visitor, const struct control_request *request)
{
    struct tr_system *system = visitor->observer->system;
    struct behaviors *all = source_resize(&system->source, NULL, sizeof *all);
    tr_status status = all ? tr__census_begin(&all->census, system) : TR_NO_MEMORY;
    if (status == TR_OK) {
        tr__visitor_steps(visitor, JOB_STEPS, behaviors_step, all, behaviors_free);
        return;
    }
    tr__visitor_refuse(visitor, request->id, status, "%s", tr_status_text(status));
    source_resize(&system->source, all, 0);
}
