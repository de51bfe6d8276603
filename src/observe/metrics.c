/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/metrics.h"

#include <inttypes.h>

#include "actor/cell/system.h"
#include "actor/cell/worker.h"

/*
 * Series: 20 without labels, 4 for each worker, 3 for each behavior. With 256 workers and this many behaviors there are
 * fewer than METRICS_SERIES_MAX.
 */
enum { BEHAVIORS_MAX = 300 };
_Static_assert(20 + 4 * TR_WORKERS_MAX + 3 * BEHAVIORS_MAX <= METRICS_SERIES_MAX,
               "the number of series is bounded");

static void head(struct json_line *text, const char *name, const char *kind, const char *help)
{
    tr__json_printf(text, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind);
}

static void one(struct json_line *text, const char *name, const char *kind, const char *help,
                uint64_t value)
{
    head(text, name, kind, help);
    tr__json_printf(text, "%s %" PRIu64 "\n", name, value);
}

static void counters_write(struct json_line *text, tr_system *system)
{
    tr_counters counters;
    tr_system_counters(system, &counters);
    one(text, "troupe_actors", "gauge", "Actors that are alive.", counters.live);
    one(text, "troupe_spawned_total", "counter", "Actors that were started.", counters.spawned);
    one(text, "troupe_stopped_total", "counter", "Actors that have ended.", counters.stopped);
    head(text, "troupe_messages_total", "counter", "Messages, by what became of them.");
    uint64_t dead = counters.dead_letters - counters.refused;
    tr__json_printf(
        text, "troupe_messages_total{result=\"handled\"} %" PRIu64 "\n", counters.handled);
    tr__json_printf(text, "troupe_messages_total{result=\"dead\"} %" PRIu64 "\n", dead);
    tr__json_printf(
        text, "troupe_messages_total{result=\"refused\"} %" PRIu64 "\n", counters.refused);
    one(text, "troupe_messages_queued", "gauge", "Messages in mailboxes.", counters.queued);
    one(text, "troupe_turns_total", "counter", "Calls of handlers.", counters.turns);
    one(text, "troupe_stalls_total", "counter", "Turns that took too long.", counters.stalls);
    one(text, "troupe_restarts_total", "counter", "Restarts after a failure.", counters.restarts);
    one(text, "troupe_moves_total", "counter", "Moves of actors between workers.", counters.moves);
    one(text, "troupe_handoffs_total", "counter", "Workers taken over.", counters.handoffs);
}

static void workers_write(struct json_line *text, tr_system *system)
{
    static const char *const names[] = {"troupe_worker_handled_total",
                                        "troupe_worker_runs_total",
                                        "troupe_worker_sleeps_total",
                                        "troupe_worker_stuck"};
    static const char *const helps[] = {"Messages that a worker has handled.",
                                        "Times that a worker ran an actor.",
                                        "Times that a worker went to sleep.",
                                        "Seconds for which a worker has been in one turn."};
    for (size_t which = 0; which < sizeof names / sizeof *names; which++) {
        head(text, names[which], which == 3 ? "gauge" : "counter", helps[which]);
        for (uint32_t i = 0; i < system->worker_count; i++) {
            const struct worker *worker = system->workers[i];
            tr_time since_ns = (tr_time)atom64_load(&worker->loop.since_ns, ATOM_RELAXED);
            tr_time now_ns = system->platform->mono_now(system->platform);
            bool is_stuck =
                since_ns && worker_running(worker) && now_ns - since_ns > TR_SECOND / 50;
            double values[] = {(double)atom64_load(&worker->counters.handled, ATOM_RELAXED),
                               (double)atom64_load(&worker->loop.runs, ATOM_RELAXED),
                               (double)atom64_load(&worker->loop.parks, ATOM_RELAXED),
                               is_stuck ? (double)(now_ns - since_ns) / (double)TR_SECOND : 0};
            tr__json_printf(text,
                            which == 3 ? "%s{worker=\"%u\"} %.3f\n" : "%s{worker=\"%u\"} %.0f\n",
                            names[which],
                            (unsigned)i,
                            values[which]);
        }
    }
}

/* Names of behaviors are C identifiers, so they need no escapes. Two files may have the same one: they are one series. */
static void behaviors_merge(tr_behavior_info *infos, size_t *count)
{
    size_t kept = 0;
    for (size_t i = 0; i < *count; i++) {
        size_t same = 0;
        while (same < kept && strcmp(infos[same].behavior, infos[i].behavior) != 0)
            same++;
        if (same == kept) {
            infos[kept++] = infos[i];
            continue;
        }
        infos[same].live += infos[i].live;
        infos[same].queued += infos[i].queued;
        if (infos[i].queued_most > infos[same].queued_most)
            infos[same].queued_most = infos[i].queued_most;
    }
    *count = kept;
}

static void behaviors_write(struct json_line *text, tr_system *system)
{
    static const struct {
        const char *name;
        const char *kind;
        const char *help;
    } series[] = {
        {"troupe_behavior_actors", "gauge", "Actors that are alive, by behavior."},
        {"troupe_mailbox_messages_max", "gauge", "Messages in the fullest mailbox, by behavior."},
        {"troupe_failures_total", "counter", "Failures, by behavior."}};
    size_t size = BEHAVIORS_MAX * sizeof(tr_behavior_info);
    tr_behavior_info *infos = source_resize(&system->source, NULL, size);
    size_t count = 0;
    tr_status status =
        infos ? tr_system_behaviors(system, infos, BEHAVIORS_MAX, &count) : TR_NO_MEMORY;
    if (status != TR_OK && status != TR_LIMIT)
        count = 0;
    behaviors_merge(infos, &count);
    for (size_t which = 0; which < 3 && count; which++) {
        head(text, series[which].name, series[which].kind, series[which].help);
        for (size_t i = 0; i < count; i++) {
            uint64_t values[] = {infos[i].live, infos[i].queued_most, infos[i].failures};
            tr__json_printf(text,
                            "%s{behavior=\"%s\"} %" PRIu64 "\n",
                            series[which].name,
                            infos[i].behavior,
                            values[which]);
        }
    }
    source_resize(&system->source, infos, 0);
}

void tr__metrics_write(struct json_line *text, tr_system *system)
{
    counters_write(text, system);
    workers_write(text, system);
    behaviors_write(text, system);
}

void tr__verb_metrics(struct visitor *visitor, const struct control_request *request)
{
    struct tr_system *system = visitor->observer->system;
    struct json_line text;
    tr__json_line_init(&text, &system->source);
    tr__metrics_write(&text, system);
    tr__json_put(&text, "", 1);
    if (text.has_failed) {
        tr__visitor_refuse(visitor, request->id, TR_NO_MEMORY, "out of memory for the metrics");
    } else {
        tr__visitor_begin(visitor, request->id, false);
        tr__json_string(&visitor->output, "text", text.data);
        tr__visitor_end(visitor);
    }
    tr__json_line_free(&text);
}
