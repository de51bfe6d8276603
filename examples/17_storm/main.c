/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A storm: supervised trees on all workers do numbered jobs, while somebody kills their actors and
 * makes them fail at random, supervisors too. In the end every message must be accounted for.
 *
 *     17_storm [--workers N] [--faults] [seconds, 600]
 *
 * A line a second says how it goes. Ctrl-C ends it early, and how the shutdown went is said as well.
 * With --faults some actors write to a null pointer; the program must then be linked with
 * libtroupe.so, or with libtroupe.a and -fno-lto.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <troupe/troupe.h>

TR_MESSAGE(label, (str, text));
TR_MESSAGE(result, (u64, number));
TR_MESSAGE(chore, (u64, number));       /* a job that is told */
TR_REQUEST(job, result, (u64, number)); /* a job that is asked for */
TR_MESSAGE(havoc, (u32, kind));
TR_MESSAGE(tick);
TR_MESSAGE(ask_around);
TR_ACTOR(worker, chore, job, havoc);
TR_ACTOR(stage, chore, job, havoc);
TR_ACTOR(crew, havoc);
TR_ACTOR(pair, havoc);
TR_ACTOR(line, havoc);
TR_ACTOR(plant, havoc);
TR_ACTOR(source, tick, ask_around);
TR_ACTOR(storm, tick);
TR_ACTOR(clerk, tr_dead_letter);

enum {
    CHORES_A_TICK = 8,
    ASKS_A_TICK = 4,
    JOBS_REMEMBERED = 1 << 24,
};

static const tr_time TICK = 2 * TR_MILLISECOND;
static const tr_time PATIENCE = 10 * TR_SECOND;

/* ---- The books: outside of all actors, since they must outlive each of them. ---- */

enum entry {
    CHORES_SENT,
    CHORES_DEAD, /* dead letters */
    CHORES_BEGUN,
    CHORES_DONE,
    CHORES_FAILED,
    CHORES_CUT, /* the actor was killed or restarted while the turn waited */
    ASKS_SENT,
    ASKS_ANSWERED,
    ASKS_FAILED,
    ASKS_STOPPED, /* also TR_RESTARTED, TR_CANCELLED: one of the two was gone */
    ASKS_LATE,
    ASKS_OTHER,
    INNER_ASKS_SENT, /* by one that was asked itself */
    INNER_ASKS_ENDED,
    WRONG_ANSWERS,
    DONE_TWICE,
    KILLS,
    ENTRIES
};

static _Atomic uint64_t books[ENTRIES];
static _Atomic uint64_t numbers;
static atomic_uchar begun[JOBS_REMEMBERED]; /* whether the job of that number has begun */
static atomic_bool is_closing;              /* no new jobs */
static bool has_faults;
static int worker_count;

static void note(enum entry entry)
{
    atomic_fetch_add(&books[entry], 1);
}

static uint64_t sum(enum entry first, enum entry last)
{
    uint64_t total = 0;
    for (int i = (int)first; i <= (int)last; i++)
        total += atomic_load(&books[i]);
    return total;
}

static uint64_t next_number(void)
{
    uint64_t number = atomic_fetch_add(&numbers, 1) + 1;
    atomic_store(&begun[number % JOBS_REMEMBERED], 0);
    return number;
}

static void begin(uint64_t number)
{
    if (atomic_exchange(&begun[number % JOBS_REMEMBERED], 1))
        note(DONE_TWICE);
}

static void note_outcome(tr_status status, const struct result *result, uint64_t number)
{
    if (status == TR_OK && result->number != number)
        note(WRONG_ANSWERS);
    switch (status) {
    case TR_OK:
        note(ASKS_ANSWERED);
        break;
    case TR_FAILED:
        note(ASKS_FAILED);
        break;
    case TR_STOPPED:
    case TR_RESTARTED:
    case TR_CANCELLED:
        note(ASKS_STOPPED);
        break;
    case TR_TIMEOUT:
        note(ASKS_LATE);
        break;
    default:
        note(ASKS_OTHER);
        break;
    }
}

/* ---- Those who work. ---- */

/* The compiler must not see that this cannot go well. */
static int *volatile nowhere = NULL;

static void check_data(tr_self *self, bool is_good)
{
    if (!is_good)
        tr_crash(self, TR_BAD_DATA, "broken, and found out deep inside");
}

static tr_next on_havoc(tr_self *self, const struct havoc *message)
{
    if (message->kind == 0)
        return tr_fail(self, TR_BAD_DATA, "told to fail");
    if (message->kind == 1 && has_faults)
        *nowhere = 1;
    check_data(self, false);
    return TR_SAME;
}

static tr_next on_chore(tr_self *self, const struct chore *message)
{
    note(CHORES_BEGUN);
    begin(message->number);
    if (message->number % 1009 == 0) {
        note(CHORES_FAILED);
        return tr_fail(self, TR_BAD_DATA, "chore %" PRIu64, message->number);
    }
    if (message->number % 7 == 0 && tr_sleep(self, 3 * TR_MILLISECOND) != TR_OK) {
        note(CHORES_CUT);
        return TR_SAME;
    }
    note(CHORES_DONE);
    return TR_SAME;
}

static tr_next on_job(tr_self *self, const struct job *message)
{
    begin(message->number);
    check_data(self, message->number % 1013 != 0);
    if (message->number % 11 == 0)
        (void)tr_sleep(self, 3 * TR_MILLISECOND); /* cut short: nobody waits for the answer */
    return tr_reply(self, result, .number = message->number);
}

TR_BEHAVIOR(worker, void, TR_ON(chore, on_chore), TR_ON(job, on_job), TR_ON(havoc, on_havoc));

/* A stage of a line has the next one do its jobs: an ask inside an ask. */
struct stage {
    const char *next;
};

static tr_next set_up_stage(tr_self *self, struct stage *stage, const struct label *message)
{
    stage->next = tr_keep(self, message->text);
    return TR_SAME;
}

static tr_next on_stage_job(tr_self *self, struct stage *stage, const struct job *message)
{
    const struct result *result = NULL;
    begin(message->number);
    const char *path = tr_path(self);
    int length = (int)(strrchr(path, '/') - path);
    worker_ref next = tr_find(self, worker, tr_format(self, "%.*s/%s", length, path, stage->next));
    note(INNER_ASKS_SENT);
    job_ask asked = tr_ask(self, next, job, .number = next_number());
    tr_status status = tr_try_await(self, asked, &result);
    note(INNER_ASKS_ENDED);
    if (status != TR_OK)
        return tr_refuse(self, 1, "%s: %s", stage->next, tr_status_text(status));
    return tr_reply(self, result, .number = message->number);
}

TR_BEHAVIOR(stage, struct stage, TR_SETUP_WITH(label, set_up_stage), TR_ON(chore, on_chore),
            TR_ON(job, on_stage_job), TR_ON(havoc, on_havoc));

/* ---- Those who look after them. ---- */

/* Who was killed has not failed: carla is transient, and is gone until the crew begins anew. */
TR_BEHAVIOR(crew, void,
            TR_SUPERVISE(TR_ONE_FOR_ONE, .restarts_max = 1000, .window_ns = TR_SECOND,
                         .backoff = {.initial_ns = TR_MILLISECOND,
                                     .max_ns = 20 * TR_MILLISECOND,
                                     .jitter = 0.2}),
            TR_CHILD(worker, "anna", .restart = TR_PERMANENT),
            TR_CHILD(worker, "ben", .restart = TR_PERMANENT),
            TR_CHILD(worker, "carla", .restart = TR_TRANSIENT), TR_ON(havoc, on_havoc));

/* These two are soon out of restarts: then the pair fails, and the plant starts it anew. */
TR_BEHAVIOR(pair, void, TR_SUPERVISE(TR_ALL_FOR_ONE, .restarts_max = 5, .window_ns = TR_SECOND),
            TR_CHILD(worker, "left", .restart = TR_PERMANENT),
            TR_CHILD(worker, "right", .restart = TR_PERMANENT), TR_ON(havoc, on_havoc));

TR_BEHAVIOR(line, void, TR_SUPERVISE(TR_REST_FOR_ONE, .restarts_max = 100, .window_ns = TR_SECOND),
            TR_CHILD(stage, "read", .setup = TR_WITH(label, .text = "parse"),
                     .restart = TR_PERMANENT),
            TR_CHILD(stage, "parse", .setup = TR_WITH(label, .text = "write"),
                     .restart = TR_PERMANENT),
            TR_CHILD(worker, "write", .restart = TR_PERMANENT), TR_ON(havoc, on_havoc));

TR_BEHAVIOR(plant, void, TR_SUPERVISE(TR_ONE_FOR_ONE, .restarts_max = 1000, .window_ns = TR_SECOND),
            TR_CHILD(crew, "crew", .restart = TR_PERMANENT),
            TR_CHILD(pair, "pair", .restart = TR_PERMANENT),
            TR_CHILD(line, "line", .restart = TR_PERMANENT), TR_ON(havoc, on_havoc),
            TR_OPTIONS(.restart = TR_PERMANENT));

static const char *const places[] = {
    "/crew/anna",
    "/crew/ben",
    "/crew/carla",
    "/pair/left",
    "/pair/right",
    "/line/read",
    "/line/parse",
    "/line/write",
    "/crew",
    "/pair",
    "/line",
    "",
};
enum { PLACES = sizeof places / sizeof *places, PLACES_OF_WORK = 8 };

/* "/user/plant-1/crew/anna" */
static const char *any_path(tr_self *self, unsigned place_count)
{
    uint64_t chance = tr_random(self);
    return tr_format(self,
                     "/user/plant-%d%s",
                     (int)(chance % (unsigned)worker_count),
                     places[(chance >> 32) % place_count]);
}

/* ---- Where the jobs come from. ---- */

static tr_next on_source_start(tr_self *self)
{
    tr_timer_fixed_rate(self, "tick", TICK, tick);
    return TR_SAME;
}

/* A timer waits until its turn has ended. So that one does not wait for answers, others do. */
static tr_next on_source_tick(tr_self *self)
{
    if (atomic_load(&is_closing))
        return TR_SAME;
    for (int i = 0; i < CHORES_A_TICK; i++) {
        worker_ref worker = tr_find(self, worker, any_path(self, PLACES_OF_WORK));
        note(CHORES_SENT);
        tr_tell(self, worker, chore, .number = next_number());
    }
    tr_tell(self, source_ref_of(tr_me(self)), ask_around);
    return TR_SAME;
}

static tr_next on_ask_around(tr_self *self)
{
    job_ask asked[ASKS_A_TICK];
    uint64_t number[ASKS_A_TICK];
    for (int i = 0; i < ASKS_A_TICK; i++) {
        worker_ref worker = tr_find(self, worker, any_path(self, PLACES_OF_WORK));
        number[i] = next_number();
        note(ASKS_SENT);
        asked[i] = tr_ask_within(self, TR_SECOND, worker, job, .number = number[i]);
    }
    for (int i = 0; i < ASKS_A_TICK; i++) {
        const struct result *result = NULL;
        tr_status status = tr_try_await(self, asked[i], &result);
        note_outcome(status, result, number[i]);
    }
    return TR_SAME;
}

TR_BEHAVIOR(source, void, TR_ON(tr_pre_start, on_source_start), TR_ON(tick, on_source_tick),
            TR_ON(ask_around, on_ask_around), TR_OPTIONS(.restart = TR_PERMANENT));

/* ---- The storm, and who counts the dead letters. ---- */

static tr_next on_storm_tick(tr_self *self)
{
    uint64_t chance = tr_random(self) % 100;
    tr_ref target = TR_NOBODY;
    if (chance < 2) /* a source: its asks are cancelled, and it begins anew */
        target = tr_any(tr_find(
            self,
            source,
            tr_format(self, "/user/source-%d", (int)(tr_random(self) % (unsigned)worker_count))));
    else
        target = tr_any(tr_find(self, worker, any_path(self, PLACES)));
    if (tr_is_nobody(target))
        return TR_SAME; /* just gone */
    if (chance < 40) {
        if (tr_kill(self, target) == TR_OK)
            note(KILLS);
    } else {
        tr_tell(self, target, havoc, .kind = (uint32_t)(chance % 3));
    }
    return TR_SAME;
}

static tr_next on_storm_start(tr_self *self)
{
    tr_timer_fixed_rate(self, "tick", 2 * TR_MILLISECOND, tick);
    return TR_SAME;
}

TR_BEHAVIOR(storm, void, TR_ON(tr_pre_start, on_storm_start), TR_ON(tick, on_storm_tick));

static tr_next on_dead_letter(const struct tr_dead_letter *message)
{
    if (strcmp(message->type, "chore") == 0)
        note(CHORES_DEAD);
    return TR_SAME;
}

TR_BEHAVIOR(clerk, void, TR_ON(tr_dead_letter, on_dead_letter));

/* ---- The accounts. ---- */

static bool check(bool is_true, const char *what, uint64_t a, uint64_t b)
{
    if (!is_true)
        printf("NOT ACCOUNTED FOR: %s: %" PRIu64 " and %" PRIu64 "\n", what, a, b);
    return is_true;
}

static bool is_even(void)
{
    return sum(ASKS_SENT, ASKS_SENT) == sum(ASKS_ANSWERED, ASKS_OTHER) &&
           sum(CHORES_SENT, CHORES_SENT) == sum(CHORES_DEAD, CHORES_BEGUN);
}

/* When all is over. A fault also abandons the turns that wait: these have begun and never end. */
static bool close_books(tr_system *system)
{
    tr_counters c;
    tr_system_counters(system, &c);
    uint64_t sent = sum(CHORES_SENT, CHORES_SENT), taken = sum(CHORES_DEAD, CHORES_BEGUN);
    uint64_t started = sum(CHORES_BEGUN, CHORES_BEGUN), ended = sum(CHORES_DONE, CHORES_CUT);
    uint64_t asked = sum(ASKS_SENT, ASKS_SENT), outcomes = sum(ASKS_ANSWERED, ASKS_OTHER);
    uint64_t twice = sum(DONE_TWICE, DONE_TWICE), wrong = sum(WRONG_ANSWERS, WRONG_ANSWERS);
    uint64_t inner = sum(INNER_ASKS_SENT, INNER_ASKS_SENT);
    uint64_t inner_ended = sum(INNER_ASKS_ENDED, INNER_ASKS_ENDED);
    uint64_t gone = c.handled + c.dead_letters - c.refused;
    fprintf(stderr,
            "chores: %" PRIu64 " told = %" PRIu64 " done + %" PRIu64 " failed + %" PRIu64
            " cut short + %" PRIu64 " dead letters",
            sent,
            sum(CHORES_DONE, CHORES_DONE),
            sum(CHORES_FAILED, CHORES_FAILED),
            sum(CHORES_CUT, CHORES_CUT),
            sum(CHORES_DEAD, CHORES_DEAD));
    if (has_faults)
        fprintf(stderr, " + %" PRIu64 " abandoned by a fault", started - ended);
    fprintf(stderr,
            "\nasks: %" PRIu64 " = %" PRIu64 " answered + %" PRIu64 " failed + %" PRIu64
            " of one who stopped + %" PRIu64 " late + %" PRIu64 " refused\n",
            asked,
            sum(ASKS_ANSWERED, ASKS_ANSWERED),
            sum(ASKS_FAILED, ASKS_FAILED),
            sum(ASKS_STOPPED, ASKS_STOPPED),
            sum(ASKS_LATE, ASKS_LATE),
            sum(ASKS_OTHER, ASKS_OTHER));
    fprintf(stderr,
            "the system: %" PRIu64 " messages taken = %" PRIu64 " handled + %" PRIu64
            " dead letters; %" PRIu64 " refused\n",
            c.accepted,
            c.handled,
            c.dead_letters - c.refused,
            c.refused);
    bool is_good = check(sent == taken, "chores told; begun or dead", sent, taken);
    is_good &= check(has_faults || started == ended, "chores begun; ended", started, ended);
    is_good &= check(asked == outcomes, "asks; outcomes", asked, outcomes);
    is_good &= check(has_faults || inner == inner_ended, "inner asks", inner, inner_ended);
    is_good &= check(twice == 0, "jobs that began twice", twice, 0);
    is_good &= check(wrong == 0, "answers to another question", wrong, 0);
    is_good &= check(c.accepted == gone, "messages taken; handled or dead", c.accepted, gone);
    is_good &= check(c.spawned == c.stopped, "actors started; stopped", c.spawned, c.stopped);
    return is_good;
}

/* ---- The program. ---- */

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
    if (level == TR_LEVEL_ERROR && !path)
        fprintf(stderr, "%s\n", text);
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
        }
        tr_client_free(client);
    }
    tr_system_shutdown(system, PATIENCE);
    tr_status ended = tr_system_wait(system);
    print_report(system);
    if (status == TR_OK)
        is_good = close_books(system) && ended == TR_OK;
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

    /* Blocked here, and fetched where there is time for them. */
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigprocmask(SIG_BLOCK, &signals, NULL);

    /* Whoever is at the top begins anew as often as it takes. */
    static const tr_supervision supervision = {.restarts_max = TR_RESTARTS_MAX,
                                               .window_ns = TR_SECOND};
    const tr_system_options options = {.size = sizeof options,
                                       .workers = workers,
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
