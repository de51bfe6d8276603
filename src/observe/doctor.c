/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/doctor.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "actor/cell/system.h"
#include "actor/system/handoff_report.h"
#include "actor/system/stall_log.h"
#include "durable/host.h"
#include "observe/running.h"
#include "os/process_limits.h"
#include "store/core.h"

enum { LOOK_MS = 60, FULLEST = 5, SLOW_COMMIT_MS = 20, DEEP = 1000, GROWN = 50, RECENT_MAX = 32 };
#define RECENT_NS TR_MINUTE
#define PAST_NS (10 * TR_MINUTE)
#define GROWN_NS (10 * TR_SECOND)

/* What the first of the doctor's two looks has found. */
struct doctor {
    tr_time begin_ns;
    tr_counters counters;
    struct scan scan;
    struct fullest found;
    bool has_looked; /* the first look is over */
    size_t count;
    tr_actor_info fullest[FULLEST];
    tr_failure_record recent[RECENT_MAX];
};

/* ---- Findings. ---- */

/* Writes a finding. `advice` says what to do. If it is NULL, there is no problem. */
static void TR_PRINTF(4, 5)
    finding(struct visitor *visitor, const char *check, const char *advice, const char *format, ...)
{
    struct json_line *line = &visitor->output;
    char text[600];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    tr__visitor_begin(visitor, visitor->request->id, true);
    tr__json_string(line, "check", check);
    tr__json_string(line, "result", advice ? "warn" : "ok");
    tr__json_string(line, "text", text);
    tr__json_string(line, "advice", advice);
    tr__visitor_end(visitor);
}

static void machine_look(struct visitor *visitor)
{
    struct process_limits limits;
    tr__process_limits(&limits);
    int workers = tr_system_workers(visitor->observer->system);
    bool is_short = limits.files_max < 1024 || limits.files_used * 10 > limits.files_max * 8;
    const char *advice = limits.files_max < limits.files_hard
                             ? "raise the soft limit: tr_app_main does it, or setrlimit"
                             : "raise the hard limit: LimitNOFILE= of systemd, or ulimit -H -n";
    finding(visitor,
            "descriptors",
            is_short ? advice : NULL,
            "%" PRIu64 " of %" PRIu64 " descriptors are in use",
            limits.files_used,
            limits.files_max);
    finding(visitor,
            "workers",
            workers > (int)limits.cpus ? "--workers: more workers than CPUs compete for them"
                                       : NULL,
            "%d workers, %u CPUs",
            workers,
            limits.cpus);
    finding(visitor,
            "cores",
            limits.has_cores ? NULL : "ulimit -c unlimited, or LimitCORE=infinity of systemd",
            limits.has_cores ? "a crash can leave a core" : "a crash leaves no core to look into");
    bool is_slow =
        strcmp(limits.clock_source, "hpet") == 0 || strcmp(limits.clock_source, "acpi_pm") == 0;
    finding(visitor,
            "clock",
            is_slow ? "reading this clock is slow; see dmesg why tsc is not used" : NULL,
            "the clock of the kernel is %s",
            limits.clock_source[0] ? limits.clock_source : "not known");
    finding(visitor, "memory", NULL, "%" PRIu64 " MiB are resident", limits.memory_bytes >> 20);
}

/* ---- The store. ---- */

static void disk_look(struct visitor *visitor, const struct durable_host *host)
{
    struct disk_limits limits;
    const char *directory = tr__store_directory(host->store);
    if (!directory) {
        finding(visitor, "store", "give the program a --store", "the store is in memory");
        return;
    }
    tr__disk_limits(directory, &limits);
    const char *advice = NULL;
    if (limits.is_memory)
        advice = "put the store on a disk: this file system is in memory";
    else if (limits.is_remote)
        advice = "put the store on a local disk: locks and syncs of this file system may not hold";
    else if (limits.is_known && limits.free_bytes * 10 < limits.total_bytes)
        advice = "less than a tenth of the disk is free; store compact gives unused pages back";
    finding(visitor,
            "store file system",
            advice,
            "%s: %" PRIu64 " of %" PRIu64 " MiB are free",
            directory,
            limits.free_bytes >> 20,
            limits.total_bytes >> 20);
}

static void store_look(struct visitor *visitor, const struct durable_host *host)
{
    const tr_platform *platform = visitor->observer->system->platform;
    tr_time commit_ns = (tr_time)atom64_load(&host->store->commit_ns, ATOM_RELAXED);
    tr_time writing_ns = tr__store_writing_since(host->store);
    tr_time now_ns = platform->mono_now(platform);
    tr_time long_ns = writing_ns ? now_ns - writing_ns : 0;
    tr_status status = tr__store_status(host->store);
    finding(visitor,
            "store",
            status == TR_OK ? NULL : "the log says why; the program must be started again",
            status == TR_OK ? "the store works" : "the store has failed");
    bool is_slow = commit_ns >= SLOW_COMMIT_MS * TR_MILLISECOND || long_ns >= TR_SECOND;
    finding(visitor,
            "store commits",
            is_slow ? "the disk is slow to sync: look at iostat -x, and at what else uses the disk"
                    : NULL,
            "recent commits took about %" PRId64 " us",
            commit_ns / TR_MICROSECOND);
    tr_time jump_ns = platform->wall_now(platform) - now_ns - host->offset_first_ns;
    bool has_jumped = jump_ns > TR_SECOND || jump_ns < -TR_SECOND;
    finding(visitor,
            "wall clock",
            has_jumped ? "alarms follow the wall clock: let ntpd or chrony slew it" : NULL,
            "the wall clock was set by %" PRId64 " ms since the start",
            jump_ns / TR_MILLISECOND);
    uint32_t line = atom32_load(&host->line_count, ATOM_RELAXED);
    finding(visitor,
            "waking",
            line > 1000 ? "raise awake_max, or let actors sleep earlier (idle_ns)" : NULL,
            "%u actors wait until they may wake, %u after a failure",
            line,
            atom32_load(&host->backoff_count, ATOM_RELAXED));
    disk_look(visitor, host);
}

/* ---- Actors. ---- */

/* Warns if turns have taken long recently. Returns false if there were no such turns. */
static bool turns_past_look(struct visitor *visitor)
{
    struct tr_system *system = visitor->observer->system;
    size_t size = STALLS_KEPT * sizeof(struct stall_entry);
    struct stall_entry *entries = source_resize(&system->source, NULL, size);
    size_t count = entries ? tr__stall_log_read(system, entries, STALLS_KEPT) : 0;
    tr_time now_ns = tr__observer_now(visitor->observer);
    const struct stall_entry *longest = NULL;
    unsigned many = 0;
    for (size_t i = 0; i < count; i++) {
        if (now_ns - entries[i].begun_ns > PAST_NS || entries[i].took_ns < TR_SECOND)
            continue;
        many++;
        if (!longest || entries[i].took_ns > longest->took_ns)
            longest = &entries[i];
    }
    bool is_found = longest;
    if (is_found)
        finding(
            visitor,
            "turns",
            "troupe stalls lists them: a handler must not block, use tr_blocking or ask",
            "%u turns of the last 10 minutes took more than a second; the longest one took %" PRId64
            " ms, %" PRId64 " s ago: %s of %.200s",
            many,
            longest->took_ns / TR_MILLISECOND,
            (now_ns - longest->begun_ns) / TR_SECOND,
            longest->handler ? longest->handler : "a function",
            longest->path);
    source_resize(&system->source, entries, 0);
    return is_found;
}

static void workers_look(struct visitor *visitor)
{
    struct tr_system *system = visitor->observer->system;
    bool is_stuck = false;
    for (uint32_t i = 0; i < system->worker_count; i++) {
        tr_worker_info info;
        if (!tr__observer_is_stuck(visitor->observer, (int)i, &info))
            continue;
        is_stuck = true;
        finding(visitor,
                "workers",
                "a handler must not block: use tr_blocking, or ask another actor; gdb shows where "
                "it is",
                "worker %u is in %s of %.200s (%s:%u) for %" PRId64 " ms",
                i,
                info.handler ? info.handler : "a function",
                info.path,
                info.file ? info.file : "?",
                info.line,
                info.since_ns / TR_MILLISECOND);
    }
    for (uint32_t i = 0; i < tr__handoff_threads(system); i++) {
        tr_worker_info info;
        if (!tr__handed_off_describe(system, i, &info))
            continue;
        is_stuck = true;
        finding(visitor,
                "turns",
                "its actor handles nothing else until the turn ends; gdb shows where it is",
                "a thread that was handed off is in %s of %.200s (%s:%u) for %" PRId64 " ms",
                info.handler ? info.handler : "a function",
                info.path,
                info.file ? info.file : "?",
                info.line,
                info.since_ns / TR_MILLISECOND);
    }
    tr_counters counters;
    tr_system_counters(system, &counters);
    if (!is_stuck && !turns_past_look(visitor))
        finding(visitor,
                "turns",
                NULL,
                "no worker is in a long turn now; there were %" PRIu64
                " (troupe log tail --level warn)",
                counters.stalls);
}

static void mailboxes_look(struct visitor *visitor, const struct doctor *doctor)
{
    tr_actor_info info;
    bool has_grown = false;
    for (size_t i = 0; i < doctor->count; i++) {
        const tr_actor_info *before = &doctor->fullest[i];
        if (!tr__observer_find(visitor->observer, before->actor, &info))
            continue;
        bool is_full = info.queued_max && info.queued >= info.queued_max / 2;
        uint32_t since_queued = before->queued;
        uint32_t most_queued = 0;
        tr_time since_ns =
            tr__observer_grows(visitor->observer, info.actor, &since_queued, &most_queued);
        tr_time for_ns = since_ns ? tr__observer_now(visitor->observer) - since_ns : 0;
        /*
         * A mailbox that is full from time to time does not count as growing. A mailbox that grows
         * is now about as full as it ever was.
         */
        bool grows = for_ns >= GROWN_NS && info.queued >= since_queued + GROWN &&
                     info.queued > since_queued + since_queued / 5 &&
                     info.queued >= most_queued - most_queued / 10;
        bool is_held = strcmp(info.state, "Suspended") == 0 && info.queued;
        bool is_deep = info.queued >= DEEP;
        if (!is_full && !grows && !is_held && !is_deep)
            continue;
        has_grown = true;
        finding(
            visitor,
            "mailboxes",
            is_held
                ? "troupe resume lets it handle messages again"
                : "troupe show and troupe why name the oldest message and what the actor waits for",
            "%.300s (%s) has %u of %u messages; %u %" PRId64 " s before",
            info.path,
            info.state,
            info.queued,
            info.queued_max,
            since_queued,
            for_ns / TR_SECOND);
    }
    if (!has_grown)
        finding(visitor,
                "mailboxes",
                NULL,
                "none of the fullest mailboxes has grown by %d, is half full, or has %d messages",
                GROWN,
                DEEP);
}

/* Names behaviors that have more and more actors. Perhaps their actors do not end when their work is done. */
static void population_look(struct visitor *visitor)
{
    const struct population *population = &visitor->observer->population;
    tr_time now_ns = tr__observer_now(visitor->observer);
    bool has_grown = false;
    for (size_t i = 0; i < POPULATION_MAX && population->rows[i].behavior; i++) {
        const struct population_row *row = &population->rows[i];
        uint64_t before;
        tr_time since_ns;
        if (!tr__population_grows(population, row, now_ns, &before, &since_ns))
            continue;
        has_grown = true;
        finding(visitor,
                "actors",
                "actors that are done must stop (TR_STOP); troupe ls --behavior lists them, troupe "
                "why says what one waits for",
                "%.100s (%s:%u) has %" PRIu64 " actors; %" PRIu64 " %" PRId64 " s before",
                row->behavior->name,
                row->behavior->file,
                row->behavior->line,
                row->live,
                before,
                (now_ns - since_ns) / TR_SECOND);
    }
    if (!has_grown)
        finding(visitor, "actors", NULL, "no behavior has many more actors than before");
}

/* Returns how many actors have failed in the last minute. Counts at most RECENT_MAX. */
static unsigned failures_recent(struct visitor *visitor, struct doctor *doctor)
{
    size_t count = 0;
    unsigned recent = 0;
    tr_time now_ns = tr__observer_now(visitor->observer);
    (void)tr_system_failures(visitor->observer->system, doctor->recent, RECENT_MAX, &count);
    for (size_t i = 0; i < count; i++) {
        const tr_failure_record *record = &doctor->recent[i];
        recent += !record->is_restart && now_ns - record->time_ns < RECENT_NS;
    }
    return recent;
}

static void rates_look(struct visitor *visitor, struct doctor *doctor)
{
    tr_counters now;
    tr_system_counters(visitor->observer->system, &now);
    const struct observer *observer = visitor->observer;
    /* Use the number of dead letters from one to two minutes ago. If there is none yet, use that of
     * the first look. */
    size_t older = observer->letters_ns[1] ? 1 : 0;
    bool is_known = observer->letters_ns[older];
    uint64_t before = is_known ? observer->letters[older] : doctor->counters.dead_letters;
    tr_time before_ns = is_known ? observer->letters_ns[older] : doctor->begin_ns;
    uint64_t letters = now.dead_letters - before;
    unsigned failures = failures_recent(visitor, doctor);
    finding(visitor,
            "dead letters",
            letters ? "troupe dead-letters -f names sender, receiver and reason" : NULL,
            "%" PRIu64 " dead letters, %" PRIu64 " of them in the last %" PRId64 " s",
            now.dead_letters,
            letters,
            (tr__observer_now(observer) - before_ns) / TR_SECOND);
    finding(visitor,
            "failures",
            failures ? "troupe failures -f names actor, handler and cause" : NULL,
            "%" PRIu64 " failures, %u of the last ones within a minute",
            now.failures,
            failures);
}

/* ---- The verb. ---- */

static bool doctor_step(struct visitor *visitor)
{
    struct doctor *doctor = visitor->work;
    struct tr_system *system = visitor->observer->system;
    const struct durable_host *host = system->durable.host;
    if (!doctor->has_looked) {
        doctor->has_looked = tr__scan_step(&doctor->scan, tr__fullest_take, &doctor->found);
        if (!doctor->has_looked)
            return false;
        doctor->count = tr__fullest_describe(&doctor->found, system, doctor->fullest);
        visitor->job = JOB_WAIT;
    }
    if (tr__observer_now(visitor->observer) - doctor->begin_ns < LOOK_MS * TR_MILLISECOND)
        return false;
    finding(visitor, "version", NULL, "messages of ABI %u, control protocol 1", (unsigned)TR_ABI);
    machine_look(visitor);
    workers_look(visitor);
    mailboxes_look(visitor, doctor);
    population_look(visitor);
    rates_look(visitor, doctor);
    if (host)
        store_look(visitor, host);
    tr__visitor_begin(visitor, visitor->request->id, false);
    tr__visitor_end(visitor);
    return true;
}

static void doctor_free(struct visitor *visitor, void *work)
{
    source_resize(visitor->observer->source, work, 0);
}

void tr__verb_doctor(struct visitor *visitor, const struct control_request *request)
{
    struct observer *observer = visitor->observer;
    struct doctor *doctor = source_resize(observer->source, NULL, sizeof *doctor);
    if (!doctor) {
        tr__visitor_refuse(visitor, request->id, TR_NO_MEMORY, "out of memory for the looks");
        return;
    }
    *doctor = (struct doctor){.begin_ns = tr__observer_now(observer)};
    tr_system_counters(observer->system, &doctor->counters);
    doctor->scan = (struct scan){.system = observer->system};
    doctor->found.queued_min = 1;
    doctor->found.max = FULLEST;
    tr__visitor_steps(visitor, JOB_STEPS, doctor_step, doctor, doctor_free);
}
