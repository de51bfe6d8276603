/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/dump.h"

#include <inttypes.h>

#include "actor/cell/system.h"
#include "observe/running.h"
#include "observe/scan.h"

enum { DUMP_ACTORS = 20, DUMP_RECORDS = 10 };

static void workers_write(struct json_line *text, tr_system *system)
{
    for (uint32_t i = 0; i < system->worker_count; i++) {
        tr_worker_info info;
        tr__worker_describe(system, i, &info);
        tr__json_printf(text, "worker %u: %" PRIu64 " messages handled; ", i, info.handled);
        if (!info.is_running) {
            tr__json_printf(text, "runs no handler\n");
            continue;
        }
        tr__json_printf(text,
                        "runs %s of %s (%s, %s:%u) for %s",
                        info.handler ? info.handler : "a function",
                        info.path,
                        info.behavior ? info.behavior : "?",
                        info.file ? info.file : "?",
                        info.line,
                        info.type ? info.type : "a signal");
        tr__json_printf(text, ", since %" PRId64 " ms\n", info.since_ns / TR_MILLISECOND);
    }
}

static void deepest_write(struct json_line *text, tr_system *system)
{
    struct {
        struct scan scan;
        struct fullest fullest;
        tr_actor_info infos[DUMP_ACTORS];
    } *found = source_resize(&system->source, NULL, sizeof *found);
    if (!found)
        return;
    found->scan = (struct scan){.system = system};
    found->fullest = (struct fullest){.queued_min = 1, .max = DUMP_ACTORS};
    while (!tr__scan_step(&found->scan, tr__fullest_take, &found->fullest))
        continue;
    size_t count = tr__fullest_describe(&found->fullest, system, found->infos);
    tr__json_printf(text, count ? "fullest mailboxes:\n" : "all mailboxes are empty\n");
    for (size_t i = 0; i < count; i++)
        tr__json_printf(text,
                        "  %u of %u messages: %s (%s, %s, worker %d)\n",
                        found->infos[i].queued,
                        found->infos[i].queued_max,
                        found->infos[i].path,
                        found->infos[i].behavior,
                        found->infos[i].state,
                        found->infos[i].worker);
    source_resize(&system->source, found, 0);
}

static void past_write(struct json_line *text, tr_system *system)
{
    struct {
        tr_failure_record failures[DUMP_RECORDS];
        tr_dead_letter_record letters[DUMP_RECORDS];
    } *found = source_resize(&system->source, NULL, sizeof *found);
    if (!found)
        return;
    size_t count;
    tr_time now_ns = system->platform->mono_now(system->platform);
    uint64_t total = tr_system_failures(system, found->failures, DUMP_RECORDS, &count);
    tr__json_printf(text, "failures and restarts: %" PRIu64 "\n", total);
    for (size_t i = 0; i < count; i++)
        tr__json_printf(text,
                        "  %" PRId64 " ms ago: %s %s: %s: %s\n",
                        (now_ns - found->failures[i].time_ns) / TR_MILLISECOND,
                        found->failures[i].path,
                        found->failures[i].is_restart ? "restarted" : "failed",
                        tr_status_name(found->failures[i].status),
                        found->failures[i].text);
    total = tr_system_dead_letters(system, found->letters, DUMP_RECORDS, &count);
    tr__json_printf(text, "dead letters: %" PRIu64 "\n", total);
    for (size_t i = 0; i < count; i++)
        tr__json_printf(text,
                        "  %" PRId64 " ms ago: %s%s from %s to %s: %s\n",
                        (now_ns - found->letters[i].time_ns) / TR_MILLISECOND,
                        found->letters[i].type,
                        found->letters[i].message,
                        found->letters[i].from_path,
                        found->letters[i].to_path,
                        tr_status_name(found->letters[i].reason));
    source_resize(&system->source, found, 0);
}

void tr__dump_write(struct json_line *text, tr_system *system)
{
    tr_counters counters;
    tr_system_counters(system, &counters);
    tr__json_printf(text,
                    "actors alive: %" PRIu64 "; messages queued: %" PRIu64 ", handled: %" PRIu64
                    "; long turns: %" PRIu64 "\n",
                    counters.live,
                    counters.queued,
                    counters.handled,
                    counters.stalls);
    workers_write(text, system);
    deepest_write(text, system);
    past_write(text, system);
}
