/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/storage.h"

#include "actor/cell/system.h"
#include "actor/cell/view.h"
#include "durable/host.h"
#include "store/core.h"
#include "store/store.h"

/* Writes what the store has done since the start. The values are totals, from which clients compute
 * rates. */
static void work_write(struct json_line *line, const struct store *store)
{
    tr__json_unsigned(line, "commits", tr__store_commits(store));
    tr__json_unsigned(line, "commits_ns", atom64_load(&store->commit_times.sum, ATOM_RELAXED));
    tr__json_unsigned(line, "changes", atom64_load(&store->group_sizes.sum, ATOM_RELAXED));
    tr__json_unsigned(line, "checkpoints", atom64_load(&store->checkpoints, ATOM_RELAXED));
    tr__json_unsigned(
        line, "checkpoint_us", atom64_load(&store->checkpoint_ns, ATOM_RELAXED) / TR_MICROSECOND);
}

void tr__verb_store(struct visitor *visitor, const struct control_request *request)
{
    struct tr_system *system = visitor->observer->system;
    const struct durable_host *host = system->durable.host;
    struct json_line *line = &visitor->output;
    if (!host) {
        tr__visitor_refuse(visitor, request->id, TR_NOT_FOUND, "the program has no durable actors");
        return;
    }
    tr_time writing_ns = tr__store_writing_since(host->store);
    tr_time now_ns = tr__observer_now(visitor->observer);
    tr_time commit_ns = (tr_time)atom64_load(&host->store->commit_ns, ATOM_RELAXED);
    tr__visitor_begin(visitor, request->id, false);
    tr__json_string(line, "status", tr_status_name(tr__store_status(host->store)));
    tr__json_unsigned(line, "opened", tr__store_epoch(host->store));
    tr__json_signed(line, "commit_us", commit_ns / TR_MICROSECOND);
    tr__json_signed(
        line, "writing_for_ms", writing_ns ? (now_ns - writing_ns) / TR_MILLISECOND : 0);
    tr__json_unsigned(line, "waiting_to_wake", atom32_load(&host->line_count, ATOM_RELAXED));
    tr__json_unsigned(line, "waiting_to_retry", atom32_load(&host->backoff_count, ATOM_RELAXED));
    work_write(line, host->store);
    tr__json_open(line, "kinds", '[');
    for (size_t i = 0; i < host->kind_count; i++) {
        /* The awake actors of a kind are the children of its keeper. */
        const struct cell *keeper = host->kinds[i].keeper;
        tr__json_open(line, NULL, '{');
        tr__json_string(line, "kind", host->kinds[i].declared->name);
        tr__json_unsigned(line, "version", host->kinds[i].version);
        tr__json_unsigned(line, "awake", keeper ? tr__view_glance(keeper).child_count : 0);
        tr__json_close(line, '}');
    }
    tr__json_close(line, ']');
    tr__visitor_end(visitor);
}
