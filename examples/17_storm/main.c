/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A storm: supervised trees on all workers do numbered jobs, while another actor kills them and
 * makes them fail at random, supervisors too. In the end every message must be accounted for.
 *
 *     17_storm [--workers N] [--faults] [seconds, 600]
 *
 * A line a second says how it goes. Ctrl-C ends it early, and prints a report of the shutdown as well.
 * With --faults some actors write to a null pointer; the program must then be linked with
 * libtroupe.so, or with libtroupe.a and -fno-lto.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "storm.h"

static const tr_time PATIENCE = 10 * TR_SECOND;

static tr_status open_all(tr_client *client, storm_ref *storm)
{
    clerk_ref clerk;
    plant_ref plant;
    source_ref source;
    tr_status status = tr_try_spawn(client, &clerk, clerk, "clerk");
    if (status == TR_OK)
        status = tr_system_subscribe_dead_letters(tr_client_system(client), tr_any(clerk));
    for (int i = 0; i < worker_count && status == TR_OK; i++) {
        char name[32];
        snprintf(name, sizeof name, "plant-%d", i);
        status = tr_try_spawn_at(client, &plant, i, plant, name);
        snprintf(name, sizeof name, "source-%d", i);
        if (status == TR_OK)
            status = tr_try_spawn_at(client, &source, i, source, name);
    }
    return status == TR_OK ? tr_try_spawn(client, storm, storm, "storm") : status;
}

static void print_line(tr_system *system, int second)
{
    tr_counters c;
    tr_system_counters(system, &c);
    fprintf(stderr,
            "%4d s  %9" PRIu64 " jobs  %6" PRIu64 " failures  %6" PRIu64 " restarts  %6" PRIu64
            " kills  %6" PRIu64 " dead letters  %" PRIu64 " actors\n",
            second,
            sum(CHORES_DONE, CHORES_DONE) + sum(ASKS_ANSWERED, ASKS_ANSWERED),
            c.failures,
            c.restarts,
            sum(KILLS, KILLS),
            c.dead_letters,
            c.live);
}

/* Other threads ask too. */
static void ask_from_outside(tr_client *client)
{
    const struct result *result = NULL;
    uint64_t number = next_number();
    char path[64];
    snprintf(path,
             sizeof path,
             "/user/plant-%d%s",
             (int)(number % (unsigned)worker_count),
             places[number / 100 % PLACES_OF_WORK]);
    note(ASKS_SENT);
    worker_ref worker = tr_find(client, worker, path);
    job_ask asked = tr_ask_within(client, TR_SECOND, worker, job, .number = number);
    tr_status status = tr_try_await(client, asked, &result);
    note_outcome(status, result, number);
}

static tr_time now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * TR_SECOND + time.tv_nsec;
}

/* True when a signal ended it. */
static bool rage(tr_client *client, const sigset_t *signals, int seconds)
{
    tr_time began = now();
    for (int second = 0; second < seconds;) {
        if (sigtimedwait(signals, NULL, &(struct timespec){.tv_nsec = 5 * TR_MILLISECOND}) > 0)
            return true;
        ask_from_outside(client);
        if (now() - began < (second + 1) * TR_SECOND)
            continue;
        print_line(tr_client_system(client), ++second);
    }
    return false;
}

/* The storm first, then the jobs; what is under way comes to its end. */
static void calm_down(tr_client *client, storm_ref storm)
{
    if (tr_watch(client, storm) == TR_OK) {
        tr_stop(client, storm);
        (void)tr_receive(client, tr_terminated, PATIENCE);
    }
    atomic_store(&is_closing, true);
    for (tr_time waited = 0; !is_even() && waited < PATIENCE; waited += TR_MILLISECOND)
        nanosleep(&(struct timespec){.tv_nsec = TR_MILLISECOND}, NULL);
}

/* After the storm every permanent actor runs again, within a moment. */
static bool is_whole(tr_client *client)
{
    bool is_whole = true;
    for (int i = 0; i < worker_count * PLACES; i++) {
        const char *place = places[i % PLACES];
        char path[64];
        snprintf(path, sizeof path, "/user/plant-%d%s", i / PLACES, place);
        tr_time began = now();
        bool is_there = strcmp(place, "/crew/carla") == 0;
        while (!is_there && now() - began < TR_SECOND) {
            is_there = !tr_is_nobody(tr_find(client, worker, path));
            if (!is_there)
                nanosleep(&(struct timespec){.tv_nsec = TR_MILLISECOND}, NULL);
        }
        if (!is_there)
            printf("GONE: %s\n", path);
        is_whole &= is_there;
    }
    return is_whole;
}

static void print_report(tr_system *system)
{
    tr_shutdown_report report;
    static char text[TR_REPORT_TEXT_MAX];
    if (tr_system_report(system, &report) != TR_OK)
        return;
    tr_shutdown_report_print(&report, text, sizeof text);
    fprintf(stderr, "%s", text);
}

/* There is a line for each failure: thousands of them here. */
static void on_log(void *context, tr_level level, const char *path, const char *text)
{
    (void)context;
    if (level == TR_LEVEL_ERROR && (!path || strcmp(path, "/user") == 0))
        fprintf(stderr, "%s%s%s\n", path ? path : "", path ? ": " : "", text);
}

static bool run(tr_system *system, const sigset_t *signals, int seconds)
{
    tr_client *client;
    storm_ref storm;
    bool is_good = false;
    tr_status status = tr_system_start(system);
    if (status == TR_OK)
        status = tr_client_new(system, &client);
    if (status == TR_OK) {
        worker_count = tr_system_workers(system);
        status = open_all(client, &storm);
        if (status == TR_OK) {
            if (rage(client, signals, seconds))
                fprintf(stderr, "a signal: stopping\n");
            calm_down(client, storm);
            is_good = is_whole(client);
        }
        tr_client_free(client);
    }
    tr_system_shutdown(system, PATIENCE);
    tr_status ended = tr_system_wait(system);
    print_report(system);
    if (status == TR_OK)
        is_good = close_books(system) && is_good && ended == TR_OK;
    else
        fprintf(stderr, "17_storm: %s\n", tr_status_text(status));
    return is_good;
}

int main(int argc, char **argv)
{
    int seconds = 600;
    int workers = 0; /* one per CPU */
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--faults") == 0)
            has_faults = true;
        else if (strcmp(argv[i], "--workers") == 0 && i + 1 < argc)
            workers = atoi(argv[++i]);
        else if ((seconds = atoi(argv[i])) <= 0) {
            fprintf(stderr, "usage: 17_storm [--workers N] [--faults] [seconds]\n");
            return 2;
        }
    }

    /* Signals are blocked here; sigtimedwait fetches them. */
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigprocmask(SIG_BLOCK, &signals, NULL);

    /* Top-level actors restart as often as it takes. */
    static const tr_supervision supervision = {.restarts_max = TR_RESTARTS_MAX,
                                               .window_ns = TR_SECOND};
    const tr_system_options options = {.workers = workers,
                                       .supervision = &supervision,
                                       .on_log = on_log,
                                       .traps_faults = has_faults};
    tr_system *system;
    tr_status status = tr_system_new(&options, &system);
    if (status != TR_OK) {
        fprintf(stderr, "17_storm: %s\n", tr_status_text(status));
        return 1;
    }
    bool is_good = run(system, &signals, seconds);
    tr_system_free(system);
    if (is_good)
        printf("every message is accounted for\n");
    return is_good ? 0 : 1;
}
