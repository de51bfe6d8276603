/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/metrics.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "actor/cell/failure_log.h"
#include "actor/cell/follow.h"
#include "actor/cell/system.h"
#include "actor/cell/view.h"
#include "actor/cell/worker.h"
#include "actor/turn/samples.h"
#include "durable/host.h"
#include "observe/handlers.h"
#include "observe/openmetrics.h"
#include "observe/store_care.h"
#include "os/process_limits.h"
#include "store/core.h"

/* The numbers of series: 31 without labels, 4 histograms, 5 for each worker, 3 for each behavior, 2
 * for each durable kind. Together there may be METRICS_SERIES_MAX of them. Workers and kinds get
 * their series first, then behaviors. Histograms of handlers get what is left. */
enum {
    SERIES_ALONE = 31 + 4 * (SPREAD_BUCKETS + 2),
    WORKER_SERIES = 5,
    BEHAVIORS_MAX = 220,
    /* This many behaviors have series even if there are as many workers as possible. */
    BEHAVIORS_LEAST = 100,
    KINDS_MAX = 100,
    HISTOGRAM_SERIES = SAMPLE_BUCKETS + 3
};
_Static_assert(SERIES_ALONE + WORKER_SERIES * TR_WORKERS_MAX + 3 * BEHAVIORS_LEAST +
                       2 * KINDS_MAX <=
                   METRICS_SERIES_MAX,
               "the number of series is bounded");
/* A share of time is measured over the last 5 s or more, so that several readers get the same
 * value. */
#define SHARE_NS (5 * TR_SECOND)

/* Returns how many behaviors may have series. */
static size_t behaviors_max(const tr_system *system)
{
    size_t used = SERIES_ALONE + 2 * KINDS_MAX + WORKER_SERIES * (size_t)system->worker_count;
    size_t left = (METRICS_SERIES_MAX - used) / 3;
    return left < BEHAVIORS_MAX ? left : BEHAVIORS_MAX;
}

/* Returns the share of time for which a worker was awake. It is measured over a time between
 * SHARE_NS and twice SHARE_NS. */
static double busy_ratio(tr_system *system, struct worker *worker)
{
    struct awake_mark *marks = worker->samples->awake;
    lock_take(&system->samples->lock);
    const struct awake_mark now = {system->platform->mono_now(system->platform),
                                   atom64_load(&worker->loop.awake_ns, ATOM_RELAXED)};
    if (now.at_ns - marks[0].at_ns >= SHARE_NS) {
        marks[1] = marks[0];
        marks[0] = now;
    }
    double passed = (double)(now.at_ns - marks[1].at_ns);
    double awake = (double)(now.awake_ns - marks[1].awake_ns);
    lock_give(&system->samples->lock);
    return passed <= 0 ? 0 : awake < passed ? awake / passed : 1;
}

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
    one(text,
        "troupe_messages_queued",
        "gauge",
        "Messages in mailboxes, and in turns that have not ended.",
        counters.queued);
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
                                        "troupe_worker_stuck",
                                        "troupe_worker_busy_ratio"};
    static const char *const helps[] = {"Messages that a worker has handled.",
                                        "Times that a worker ran an actor.",
                                        "Times that a worker went to sleep.",
                                        "Seconds for which a worker has been in one turn.",
                                        "Share of the last seconds in which a worker was awake."};
    for (size_t which = 0; which < sizeof names / sizeof *names; which++) {
        head(text, names[which], which >= 3 ? "gauge" : "counter", helps[which]);
        for (uint32_t i = 0; i < system->worker_count; i++) {
            struct worker *worker = system->workers[i];
            tr_time since_ns = (tr_time)atom64_load(&worker->loop.since_ns, ATOM_RELAXED);
            tr_time now_ns = system->platform->mono_now(system->platform);
            bool is_stuck =
                since_ns && worker_running(worker) && now_ns - since_ns > TR_SECOND / 50;
            double values[] = {(double)atom64_load(&worker->counters.handled, ATOM_RELAXED),
                               (double)atom64_load(&worker->loop.runs, ATOM_RELAXED),
                               (double)atom64_load(&worker->loop.parks, ATOM_RELAXED),
                               is_stuck ? (double)(now_ns - since_ns) / (double)TR_SECOND : 0,
                               which == 4 ? busy_ratio(system, worker) : 0};
            tr__json_printf(text,
                            which >= 3 ? "%s{worker=\"%u\"} %.3f\n" : "%s{worker=\"%u\"} %.0f\n",
                            names[which],
                            (unsigned)i,
                            values[which]);
        }
    }
}

/* Merges behaviors of the same name, which are in different files, into one series. Names of
 * behaviors are C identifiers, so they need no escapes. */
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
        /* Do not add the failures. They are counted by name, so both entries already have the
         * sum. */
        infos[same].live += infos[i].live;
        infos[same].queued += infos[i].queued;
        if (infos[i].queued_most > infos[same].queued_most)
            infos[same].queued_most = infos[i].queued_most;
    }
    *count = kept;
}

/* Writes the series of behaviors. Returns how many behaviors it has written. */
static size_t behaviors_write(struct json_line *text, tr_system *system,
                              const struct census *census)
{
    static const struct {
        const char *name;
        const char *kind;
        const char *help;
    } series[] = {
        {"troupe_behavior_actors", "gauge", "Actors that are alive, by behavior."},
        {"troupe_mailbox_messages_max", "gauge", "Messages in the fullest mailbox, by behavior."},
        {"troupe_failures_total", "counter", "Failures, by behavior."}};
    size_t max = behaviors_max(system);
    tr_behavior_info *infos = census->lines;
    size_t count = census->used < max ? census->used : max;
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
    const tr_behavior *failed[TR_FAILED_BEHAVIORS_MAX];
    uint64_t others;
    (void)tr__failure_log_behaviors(system, failed, &others);
    /* the metric that was written last is troupe_failures_total, to which this sample belongs */
    if (others && count)
        tr__json_printf(text, "troupe_failures_total{behavior=\"(others)\"} %" PRIu64 "\n", others);
    return count;
}

static void histogram_write(struct json_line *text, const struct handler_figures *figures)
{
    const char *behavior = figures->behavior->name;
    const char *message = figures->handler->type ? figures->handler->type->name : "any";
    double end_s = SAMPLE_FIRST_NS / 1e9;
    uint64_t seen = 0;
    for (size_t i = 0; i < SAMPLE_BUCKETS; i++, end_s *= SAMPLE_FACTOR) {
        char end[32];
        snprintf(end, sizeof end, "%.9g", end_s);
        seen += figures->buckets[i];
        tr__json_printf(
            text,
            "troupe_turn_seconds_bucket{behavior=\"%s\",message=\"%s\",le=\"%s\"} %" PRIu64 "\n",
            behavior,
            message,
            i == SAMPLE_BUCKETS - 1 ? "+Inf" : end,
            seen);
    }
    tr__json_printf(text,
                    "troupe_turn_seconds_sum{behavior=\"%s\",message=\"%s\"} %.9f\n"
                    "troupe_turn_seconds_count{behavior=\"%s\",message=\"%s\"} %" PRIu64 "\n",
                    behavior,
                    message,
                    (double)figures->sum_ns / 1e9,
                    behavior,
                    message,
                    seen);
}

/* Whether an earlier handler, from another file, has the same names. Both would be one series, so
 * this handler is left out. */
static bool is_repeated(const struct handler_figures *figures, size_t at)
{
    const tr_type *type = figures[at].handler->type;
    for (size_t i = 0; i < at; i++) {
        const tr_type *other = figures[i].handler->type;
        if (strcmp(figures[i].behavior->name, figures[at].behavior->name) == 0 &&
            strcmp(other ? other->name : "any", type ? type->name : "any") == 0)
            return true;
    }
    return false;
}

static void handlers_write(struct json_line *text, tr_system *system, size_t behaviors)
{
    size_t size = HANDLERS_MAX * sizeof(struct handler_figures);
    struct handler_figures *figures = source_resize(&system->source, NULL, size);
    size_t count = figures ? tr__handlers_collect(system, figures, HANDLERS_MAX) : 0;
    size_t used =
        SERIES_ALONE + 2 * KINDS_MAX + WORKER_SERIES * (size_t)system->worker_count + 3 * behaviors;
    size_t space = used < METRICS_SERIES_MAX ? METRICS_SERIES_MAX - used : 0;
    size_t shown = space / HISTOGRAM_SERIES < count ? space / HISTOGRAM_SERIES : count;
    if (shown)
        head(text, "troupe_turn_seconds", "histogram", "How long sampled turns took.");
    for (size_t i = 0; i < shown; i++) {
        if (!is_repeated(figures, i))
            histogram_write(text, &figures[i]);
    }
    if (shown)
        head(text, "troupe_handler_failures_total", "counter", "Failures, by handler.");
    for (size_t i = 0; i < shown; i++) {
        const tr_type *type = figures[i].handler->type;
        if (!is_repeated(figures, i))
            tr__json_printf(text,
                            "troupe_handler_failures_total{behavior=\"%s\",message=\"%s\"} %" PRIu64
                            "\n",
                            figures[i].behavior->name,
                            type ? type->name : "any",
                            figures[i].failed);
    }
    source_resize(&system->source, figures, 0);
    tr__handlers_watch(system);
}

/* Writes a histogram. All values are divided by `unit`. */
static void spread_write(struct json_line *text, const char *name, const char *help,
                         const struct spread *spread, uint64_t first, double unit)
{
    uint64_t seen = 0;
    double end = (double)first / unit;
    head(text, name, "histogram", help);
    for (size_t i = 0; i < SPREAD_BUCKETS - 1; i++, end *= SPREAD_FACTOR) {
        seen += atom64_load(&spread->buckets[i], ATOM_RELAXED);
        tr__json_printf(text, "%s_bucket{le=\"%.9g\"} %" PRIu64 "\n", name, end, seen);
    }
    seen += atom64_load(&spread->buckets[SPREAD_BUCKETS - 1], ATOM_RELAXED);
    tr__json_printf(text,
                    "%s_bucket{le=\"+Inf\"} %" PRIu64 "\n%s_sum %.9g\n%s_count %" PRIu64 "\n",
                    name,
                    seen,
                    name,
                    (double)atom64_load(&spread->sum, ATOM_RELAXED) / unit,
                    name,
                    seen);
}

static void kinds_write(struct json_line *text, const struct durable_host *host)
{
    size_t count = host->kind_count < KINDS_MAX ? host->kind_count : KINDS_MAX;
    head(text, "troupe_durable_awake", "gauge", "Durable actors that are awake, by kind.");
    for (size_t i = 0; i < count; i++) {
        const struct cell *keeper = host->kinds[i].keeper;
        tr__json_printf(text,
                        "troupe_durable_awake{kind=\"%s\"} %u\n",
                        host->kinds[i].declared->name,
                        keeper ? (unsigned)tr__view_glance(keeper).child_count : 0);
    }
    head(
        text, "troupe_durable_wakes_total", "counter", "Durable actors that were loaded, by kind.");
    for (size_t i = 0; i < count; i++)
        tr__json_printf(text,
                        "troupe_durable_wakes_total{kind=\"%s\"} %" PRIu64 "\n",
                        host->kinds[i].declared->name,
                        atom64_load(&host->kinds[i].wakes, ATOM_RELAXED));
    spread_write(text,
                 "troupe_durable_wake_seconds",
                 "How long it took to load a durable actor.",
                 &host->wake_times,
                 SPREAD_FIRST_NS,
                 1e9);
    spread_write(text,
                 "troupe_alarms_late_seconds",
                 "How late alarms of durable actors were.",
                 &host->alarm_times,
                 SPREAD_FIRST_NS,
                 1e9);
}

static void store_write(struct json_line *text, struct store *store)
{
    struct disk_limits limits;
    const char *directory = tr__store_directory(store);
    spread_write(text,
                 "troupe_store_commit_seconds",
                 "How long commits took.",
                 &store->commit_times,
                 SPREAD_FIRST_NS,
                 1e9);
    spread_write(text,
                 "troupe_store_group_size",
                 "Changes of actors that one commit had.",
                 &store->group_sizes,
                 STORE_SIZES_FIRST,
                 1);
    one(text,
        "troupe_store_waiting",
        "gauge",
        "Changes of actors that wait for the commits before them.",
        tr__store_waiting(store));
    one(text,
        "troupe_store_failed",
        "gauge",
        "1 if the store has failed.",
        tr__store_status(store) != TR_OK);
    if (!directory)
        return;
    tr__disk_limits(directory, &limits);
    one(text,
        "troupe_store_database_bytes",
        "gauge",
        "Size of the database.",
        tr__store_file_size(directory, "troupe.db"));
    one(text,
        "troupe_store_log_bytes",
        "gauge",
        "Size of the log.",
        tr__store_file_size(directory, "troupe.db-log"));
    one(text,
        "troupe_store_disk_free_bytes",
        "gauge",
        "Free space of the file system of the store.",
        limits.free_bytes);
}

static void durable_write(struct json_line *text, tr_system *system)
{
    const struct durable_host *host = system->durable.host;
    if (!host)
        return;
    kinds_write(text, host);
    store_write(text, host->store);
    one(text,
        "troupe_durable_waiting",
        "gauge",
        "Durable actors that wait until others sleep.",
        atom32_load(&host->line_count, ATOM_RELAXED));
}

static void otlp_write(struct json_line *text, tr_system *system)
{
    const struct follow_export *export = follow_export_of(system->follow);
    if (!export)
        return;
    head(text, "troupe_otlp_spans_total", "counter", "Spans, by what became of them.");
    tr__json_printf(text,
                    "troupe_otlp_spans_total{result=\"sent\"} %" PRIu64
                    "\ntroupe_otlp_spans_total{result=\"dropped\"} %" PRIu64 "\n",
                    atom64_load(&export->sent, ATOM_RELAXED),
                    atom64_load(&export->dropped, ATOM_RELAXED));
}

/* Writes the age of the oldest message in the fullest mailboxes. The thread of the control socket
 * has found that message. */
static void oldest_write(struct json_line *text, tr_system *system)
{
    if (!atom64_load(&system->samples->is_looked_at, ATOM_RELAXED))
        return; /* without a control socket the age is not known */
    tr_time oldest_ns = (tr_time)atom64_load(&system->samples->oldest_ns, ATOM_RELAXED);
    tr_time age_ns = oldest_ns ? system->platform->mono_now(system->platform) - oldest_ns : 0;
    head(text,
         "troupe_mailbox_oldest_seconds",
         "gauge",
         "Age, but for a second, of the oldest message in the fullest mailboxes.");
    tr__json_printf(
        text, "troupe_mailbox_oldest_seconds %.3f\n", (double)age_ns / (double)TR_SECOND);
}

void tr__metrics_of_write(struct json_line *text, const struct census *census)
{
    tr_system *system = census->scan.system;
    oldest_write(text, system);
    otlp_write(text, system);
    counters_write(text, system);
    workers_write(text, system);
    handlers_write(text, system, behaviors_write(text, system, census));
    durable_write(text, system);
}

void tr__metrics_write(struct json_line *text, tr_system *system)
{
    struct census census;
    if (tr__census_begin(&census, system) != TR_OK) {
        text->has_failed = true;
        return;
    }
    while (!tr__census_step(&census))
        continue;
    tr__census_end(&census);
    tr__metrics_of_write(text, &census);
    tr__census_free(&census);
}

/* ---- The verb. ---- */

static bool metrics_step(struct visitor *visitor)
{
    struct census *census = visitor->work;
    const struct control_request *request = visitor->request;
    struct json_line text;
    if (!tr__census_step(census))
        return false;
    tr__census_end(census);
    tr__json_line_init(&text, &census->scan.system->source);
    if (request->text && strcmp(request->text, "openmetrics") == 0)
        tr__openmetrics_of_write(&text, census);
    else
        tr__metrics_of_write(&text, census);
    tr__json_put(&text, "", 1);
    if (text.has_failed) {
        tr__visitor_refuse(visitor, request->id, TR_NO_MEMORY, "out of memory for the metrics");
    } else {
        tr__visitor_begin(visitor, request->id, false);
        tr__json_string(&visitor->output, "text", text.data);
        tr__visitor_end(visitor);
    }
    tr__json_line_free(&text);
    return true;
}

static void metrics_free(struct visitor *visitor, void *work)
{
    tr__census_free(work);
    source_resize(visitor->observer->source, work, 0);
}

void tr__verb_metrics(struct visitor *visitor, const struct control_request *request)
{
    struct tr_system *system = visitor->observer->system;
    struct census *census = source_resize(&system->source, NULL, sizeof *census);
    tr_status status = census ? tr__census_begin(census, system) : TR_NO_MEMORY;
    if (status == TR_OK) {
        tr__visitor_steps(visitor, JOB_STEPS, metrics_step, census, metrics_free);
        return;
    }
    tr__visitor_refuse(visitor, request->id, status, "out of memory for the metrics");
    source_resize(&system->source, census, 0);
}
