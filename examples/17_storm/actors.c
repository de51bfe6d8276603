/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The actors of the storm: the workers and their supervisors, the sources of their jobs, and the
 * actor that makes them fail.
 */
#include <inttypes.h>
#include <string.h>
#include "storm.h"

enum { CHORES_A_TICK = 8, ASKS_A_TICK = 4 };

static const tr_time TICK = 2 * TR_MILLISECOND;

/* ---- The workers. ---- */

/* The compiler must not see that this write faults. */
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
    stage->next = tr_strdup(self, message->text);
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

/* ---- The supervisors. ---- */

/* A kill is no failure: carla is transient, and is gone until the crew restarts. */
TR_BEHAVIOR(crew, void,
            TR_SUPERVISE(TR_ONE_FOR_ONE, .restarts_max = 1000, .window_ns = TR_SECOND,
                         .backoff = {.initial_ns = TR_MILLISECOND,
                                     .max_ns = 20 * TR_MILLISECOND,
                                     .jitter = 0.2}),
            TR_CHILD(worker, "anna", .restart = TR_PERMANENT),
            TR_CHILD(worker, "ben", .restart = TR_PERMANENT),
            TR_CHILD(worker, "carla", .restart = TR_TRANSIENT), TR_ON(havoc, on_havoc));

/* These two are soon out of restarts: then the pair fails, and the plant restarts it. */
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

const char *const places[PLACES] = {
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
int worker_count;

/* "/user/plant-1/crew/anna" */
static const char *any_path(tr_self *self, unsigned place_count)
{
    uint64_t chance = tr_random(self);
    return tr_format(self,
                     "/user/plant-%d%s",
                     (int)(chance % (unsigned)worker_count),
                     places[(chance >> 32) % place_count]);
}

/* ---- The sources of jobs. ---- */

static tr_next on_source_start(tr_self *self)
{
    tr_timer_fixed_rate(self, "tick", TICK, tick);
    return TR_SAME;
}

/* A timer waits until its turn has ended. So the turn of the timer does not wait for answers; other turns do. */
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

/* ---- The storm, and the counter of dead letters. ---- */

static tr_next on_storm_tick(tr_self *self)
{
    uint64_t chance = tr_random(self) % 100;
    tr_ref target = TR_NOBODY;
    if (chance < 2) /* a source: its asks are cancelled, and it restarts */
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
