/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/slow.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "actor/cell/system.h"
#include "actor/cell/worker.h"
#include "observe/handlers.h"
#include "observe/past.h"
#include "observe/slow_trees.h"
#include "observe/trials.h"

enum { SLOW_SHOWN = 64 };

static int compare_took(const void *a, const void *b)
{
    const struct slow_row *left = a;
    const struct slow_row *right = b;
    return left->turn.took_ns < right->turn.took_ns   ? 1
           : left->turn.took_ns > right->turn.took_ns ? -1
                                                      : 0;
}

/* Copies the slow turns of a worker that ended recently enough. Returns how many. */
static size_t worker_copy(struct worker *worker, uint32_t index, tr_time now_ns,
                          struct slow_row *rows)
{
    struct slow_turns *slow = &worker->samples->slow;
    size_t count = 0;
    if (!atomptr_load(&worker->samples->table, ATOM_ACQUIRE)) /* pairs with tr__samples_arm */
        return 0;
    lock_take(&slow->lock);
    for (size_t i = 0; i < SLOW_TURNS; i++) {
        const struct slow_turn *turn = &slow->turns[i];
        if (turn->number && now_ns - turn->ended_ns <= SLOW_SECONDS * TR_SECOND)
            rows[count++] = (struct slow_row){*turn, index};
    }
    lock_give(&slow->lock);
    return count;
}

size_t tr__slow_max(const tr_system *system)
{
    return (size_t)system->worker_count * SLOW_TURNS;
}

size_t tr__slow_collect(tr_system *system, struct slow_row *rows)
{
    tr_time now_ns = system->platform->mono_now(system->platform);
    size_t count = 0;
    for (uint32_t i = 0; i < system->worker_count; i++)
        count += worker_copy(system->workers[i], i, now_ns, rows + count);
    qsort(rows, count, sizeof *rows, compare_took);
    return count;
}

static void row_write(struct visitor *visitor, const struct slow_row *row)
{
    struct json_line *line = &visitor->output;
    const struct slow_turn *turn = &row->turn;
    tr_ref actor = tr_ref_from_bits(turn->ref);
    tr_actor_info info;
    char causal[20];
    bool is_there = tr__observer_find(visitor->observer, actor, &info);
    (void)snprintf(causal, sizeof causal, "%016" PRIx64, turn->causal);
    /* Each worker counts its own turns. The index of the worker makes the number unique. */
    tr__json_unsigned(
        line, "number", turn->number * visitor->observer->system->worker_count + row->worker);
    tr__past_time(visitor, turn->ended_ns);
    tr__json_string(line, "path", is_there ? info.path : NULL);
    tr__json_ref(line, "ref", actor);
    tr__json_string(line, "behavior", turn->behavior->name);
    tr__json_string(line, "handler", turn->handler->name);
    tr__json_string(line, "message", turn->handler->type ? turn->handler->type->name : NULL);
    tr__json_unsigned(line, "worker", row->worker);
    tr__json_signed(line, "took_ns", turn->took_ns);
    tr__json_string(line, "causal", turn->causal ? causal : NULL);
    struct slow_tree *tree = tr__slow_trees_find(visitor->observer, turn->causal);
    if (tree)
        tree->listed_ns = tr__observer_now(visitor->observer);
    tr__json_bool(line, "followed", tree != NULL);
}

void tr__verb_slow(struct visitor *visitor, const struct control_request *request)
{
    struct tr_system *system = visitor->observer->system;
    const struct memory_source *source = visitor->observer->source;
    struct slow_row *rows = source_resize(source, NULL, tr__slow_max(system) * sizeof *rows);
    size_t count = rows ? tr__slow_collect(system, rows) : 0;
    /* Records are copied before more turns are followed, whose records would replace them. */
    tr__slow_trees_keep(visitor->observer, rows, count);
    if (!rows || (request->follows && tr__trials_begin(visitor->observer) != TR_OK)) {
        source_resize(source, rows, 0);
        tr__visitor_refuse(visitor, request->id, TR_NO_MEMORY, "out of memory for the list");
        return;
    }
    size_t limit = request->limit && request->limit < SLOW_SHOWN ? request->limit : SLOW_SHOWN;
    for (size_t i = 0; i < count && i < limit; i++) {
        tr__visitor_begin(visitor, request->id, true);
        row_write(visitor, &rows[i]);
        tr__visitor_end(visitor);
    }
    source_resize(source, rows, 0);
    tr__visitor_begin(visitor, request->id, false);
    tr__json_unsigned(&visitor->output, "total", count);
    tr__json_unsigned(&visitor->output, "seconds", SLOW_SECONDS);
    tr__visitor_end(visitor);
    tr__handlers_watch(system);
}
