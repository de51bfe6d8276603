/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/flow.h"

#include "actor/cell/system.h"
#include "actor/cell/worker.h"
#include "observe/handlers.h"
#include "observe/trace.h"

static void flow_write(struct visitor *visitor, const struct control_request *request,
                       uint32_t worker, const struct turn_flow *flow, const tr_type *type)
{
    static const char *const origins[] = {[FLOW_ACTOR] = "actor",
                                          [FLOW_GONE] = "gone",
                                          [FLOW_OUTSIDE] = "outside",
                                          [FLOW_TIMER] = "timer",
                                          [FLOW_CHANNEL] = "channel"};
    struct json_line *line = &visitor->output;
    tr__visitor_begin(visitor, request->id, true);
    tr__json_unsigned(line, "worker", worker);
    tr__json_string(line, "origin", origins[flow->origin]);
    tr__json_string(line, "from", flow->from ? flow->from->name : NULL);
    tr__json_string(line, "to", flow->to->name);
    tr__json_string(line, "message", type->name);
    tr__json_unsigned(line, "weight", atom64_load(&flow->weight, ATOM_RELAXED));
    tr__visitor_end(visitor);
}

/* Writes the flows of messages that one worker has counted. */
static void worker_write(struct visitor *visitor, const struct control_request *request,
                         uint32_t index)
{
    const struct worker *worker = visitor->observer->system->workers[index];
    const struct turn_flow *table =
        atomptr_load(&worker->samples->flows, ATOM_ACQUIRE); /* pairs with flows_ready */
    for (size_t i = 0; table && i < SAMPLE_FLOWS; i++) {
        const tr_type *type = atomptr_load(&table[i].type, ATOM_ACQUIRE); /* pairs with flow_of */
        if (type && atom64_load(&table[i].weight, ATOM_RELAXED))
            flow_write(visitor, request, index, &table[i], type);
    }
}

void tr__verb_flow(struct visitor *visitor, const struct control_request *request)
{
    struct tr_system *system = visitor->observer->system;
    struct json_line *line = &visitor->output;
    tr_status status = tr__trace_join(visitor);
    if (status != TR_OK) {
        tr__visitor_refuse(visitor, request->id, status, "%s", tr_status_text(status));
        return;
    }
    tr__handlers_watch(system);
    for (uint32_t i = 0; i < system->worker_count; i++)
        worker_write(visitor, request, i);
    tr__visitor_begin(visitor, request->id, false);
    tr__json_open(line, "workers", '[');
    for (uint32_t i = 0; i < system->worker_count; i++) {
        const struct worker *worker = system->workers[i];
        tr__json_open(line, NULL, '{');
        tr__json_unsigned(line, "handled", atom64_load(&worker->counters.handled, ATOM_RELAXED));
        tr__json_unsigned(line, "weight", atom64_load(&worker->samples->flow_weight, ATOM_RELAXED));
        tr__json_unsigned(
            line, "left_out", atom64_load(&worker->samples->flow_left_out, ATOM_RELAXED));
        tr__json_close(line, '}');
    }
    tr__json_close(line, ']');
    tr__visitor_end(visitor);
}
