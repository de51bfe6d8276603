/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/cell/lifecycle.h"

#include <stdio.h>

#include "actor/cell/log.h"
#include "actor/cell/names.h"
#include "actor/cell/system.h"
#include "base/assert.h"

#define BIT(life) (1u << (life))

const uint8_t tr__life_legal[LIFE_COUNT] = {
    [LIFE_NEW] = BIT(LIFE_STARTING) | BIT(LIFE_STOPPED),
    [LIFE_STARTING] = BIT(LIFE_RUNNING) | BIT(LIFE_STOPPED) | BIT(LIFE_SUSPENDED),
    [LIFE_RUNNING] = BIT(LIFE_SUSPENDED) | BIT(LIFE_STOPPING) | BIT(LIFE_STARTING),
    [LIFE_SUSPENDED] = BIT(LIFE_RUNNING) | BIT(LIFE_STOPPING) | BIT(LIFE_STARTING),
    [LIFE_STOPPING] = BIT(LIFE_STOPPED),
    [LIFE_STOPPED] = 0,
};

const char *tr__life_name(enum life life)
{
    static const char *const names[LIFE_COUNT] = {
        "New", "Starting", "Running", "Suspended", "Stopping", "Stopped"};
    TR_ASSERT(life < LIFE_COUNT);
    return names[life];
}

tr_status tr__cell_change(struct tr_system *system, struct cell *cell, enum life to,
                          const char *caller, tr_error *error)
{
    enum life from = cell->life;
    if (life_may_become(from, to)) {
        cell->life = (uint8_t)to;
        return TR_OK;
    }
    tr_error error_text = {.status = TR_INVALID_TRANSITION,
                           .actor = tr_ref_from_bits(cell->identity)};
    snprintf(error_text.text,
             sizeof error_text.text,
             "a change from %s to %s is not allowed",
             tr__life_name(from),
             to < LIFE_COUNT ? tr__life_name(to) : "a state that does not exist");
    snprintf(error_text.where, sizeof error_text.where, "%s", caller);
    char path[TR_PATH_MAX + 1];
    tr__cell_path(system, cell, path);
    tr__log(system,
            TR_LEVEL_ERROR,
            path,
            "%s: %s, in %s",
            tr_status_name(TR_INVALID_TRANSITION),
            error_text.text,
            error_text.where);
    if (error)
        *error = error_text;
    return TR_INVALID_TRANSITION;
}
