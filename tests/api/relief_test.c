/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Relief: a handler blocks on a pipe, unannounced, and its worker goes on without it. That others were
 * served while it blocks is the proof, so nothing here is timed.
 */
#include "support/stage.h"

#include <stdatomic.h>

enum { PIPES = 4, RELIEF_MS = 3 };
#define REPORT_NS (5 * TR_MILLISECOND)

TR_MESSAGE(said, (u64, n));
TR_REQUEST(echo, said, (u64, n));
TR_MESSAGE(begin_ticking, (ref, who));
TR_MESSAGE(tick);
TR_ACTOR(friendly, echo, begin_ticking, tick);

TR_MESSAGE(sat, (i32, status), (u64, sum));
TR_REQUEST(sit, sat, (u32, gate), (u32, what), (ref, other));
TR_MESSAGE(number, (u32, from), (u32, n));
TR_REQUEST(get_sum, sat);
TR_ACTOR(sitter, sit, number, get_sum);

/* ---- What blocks. ---- */

static int gates[PIPES][2];
static atomic_int sitting;
static atomic_int stopped;

static void gates_make(void)
{
    for (int i = 0; i < PIPES; i++)
        ck_assert_int_eq(pipe(gates[i]), 0);
}

static void gate_wait(uint32_t gate)
{
    char byte;
    atomic_fetch_add(&sitting, 1);
    ck_assert_int_eq(read(gates[gate][0], &byte, 1), 1);
}

/* From here on it sits no more, also when it does not know yet. */
static void gate_open(uint32_t gate)
{
    atomic_fetch_sub(&sitting, 1);
    ck_assert_int_eq(write(gates[gate][1], "x", 1), 1);
}

/* ---- Actors. ---- */

static tr_next on_echo(tr_self *self, const struct echo *message)
{
    return tr_reply(self, said, .n = message->n);
}

struct friendly {
    tr_ref who;
    uint64_t ticks;
};

static tr_next on_begin_ticking(tr_self *self, struct friendly *state,
                                const struct begin_ticking *message)
{
    state->who = message->who;
    tr_timer_fixed_rate(self, "tick", TR_MILLISECOND, tick);
    return TR_SAME;
}

static tr_next on_tick(tr_self *self, struct friendly *state)
{
    tr_tell(self, state->who, said, .n = ++state->ticks);
    return TR_SAME;
}

TR_BEHAVIOR(friendly, struct friendly, TR_ON(echo, on_echo), TR_ON(begin_ticking, on_begin_ticking),
            TR_ON(tick, on_tick));

enum what {
    JUST_REPLY,
    AWAIT, /* asks another one, and waits */
    AWAIT_FIRST /* the same, then blocks; and all of it twice */,
    SLEEP,
    SPAWN,
    FAIL,
    CRASH,
    STOP,
    STASH,
    MEMORY,
    TIMER,
    TELL,
    BLOCKING,
    BECOME,
    LOG,
    WATCH
};

struct sitter {
    uint64_t sum;
    uint32_t last[PIPES];
    uint64_t wrong;
    bool is_inside; /* a handler runs: no other may */
};

static tr_status ask_other(tr_self *self, tr_ref other, uint64_t n)
{
    const struct said *said;
    echo_ask asked = tr_ask_within(self, TR_HOUR, other, echo, .n = n);
    tr_status status = tr_try_await(self, asked, &said);
    return status == TR_OK && said->n != n ? TR_WRONG_TYPE : status;
}

static void do_nothing(void *argument)
{
    *(int *)argument = 7;
}

static tr_status use_memory(tr_self *self)
{
    char *kept = tr_keep(self, "kept");
    char *text = tr_format(self, "%s %s", tr_path(self), kept);
    bool is_right = strstr(text, " kept");
    tr_free(self, kept);
    return is_right ? TR_OK : TR_NO_MEMORY;
}

static tr_status do_it(tr_self *self, const struct sit *message)
{
    friendly_ref child;
    int answer = 0;
    switch ((enum what)message->what) {
    case AWAIT:
        return ask_other(self, message->other, 5);
    case AWAIT_FIRST:
        gate_wait(message->gate);
        return ask_other(self, message->other, 6);
    case SLEEP:
        return tr_sleep(self, TR_MILLISECOND);
    case SPAWN:
        if (tr_try_spawn(self, &child, friendly, NULL) != TR_OK)
            return TR_NO_MEMORY;
        return ask_other(self, tr_any(child), 8);
    case MEMORY:
        return use_memory(self);
    case TELL:
        return tr_tell(self, tr_sender(self), said, .n = 9);
    case BLOCKING:
        tr_blocking(self, do_nothing, &answer);
        return answer == 7 ? TR_OK : TR_WRONG_TYPE;
    case LOG:
        tr_log(self, TR_LEVEL_INFO, "here");
        return tr_random(self) || tr_random(self) ? TR_OK : TR_WRONG_TYPE;
    case WATCH:
        return tr_try_watch(self, message->other);
    default:
        return TR_OK;
    }
}

static tr_next on_sit(tr_self *self, struct sitter *state, const struct sit *message)
{
    state->wrong += state->is_inside;
    state->is_inside = true;
    tr_status status = TR_OK;
    if (message->what == AWAIT_FIRST) {
        state->is_inside = false; /* while it waits others may come in */
        status = ask_other(self, message->other, 4);
        state->is_inside = true;
    }
    gate_wait(message->gate);
    state->is_inside = false;
    if (status == TR_OK)
        status = do_it(self, message);
    switch ((enum what)message->what) {
    case FAIL:
        return tr_fail(self, TR_REFUSED, "on purpose");
    case CRASH:
        tr_crash(self, TR_REFUSED, "on purpose");
    case STOP:
        (void)tr_reply(self, sat, .status = TR_OK);
        return TR_STOP;
    default:
        return tr_reply(self, sat, .status = status, .sum = state->sum);
    }
}

static tr_next on_number(struct sitter *state, const struct number *message)
{
    state->wrong += state->is_inside || message->n != state->last[message->from] + 1;
    state->last[message->from] = message->n;
    state->sum += message->n;
    return TR_SAME;
}

static tr_next on_get_sum(tr_self *self, struct sitter *state)
{
    return tr_reply(self, sat, .status = (int32_t)state->wrong, .sum = state->sum);
}

static tr_next on_sitter_stop(void)
{
    atomic_fetch_add(&stopped, 1);
    return TR_SAME;
}

TR_BEHAVIOR(sitter, struct sitter, TR_ON(sit, on_sit), TR_ON(number, on_number),
            TR_ON(get_sum, on_get_sum), TR_ON(tr_post_stop, on_sitter_stop));

/* ---- The stage. ---- */

struct play {
    struct theatre theatre;
    friendly_ref friendly;
    sitter_ref sitters[PIPES];
};

struct heard {
    atomic_int limits;
    atomic_int reliefs;
    atomic_int early; /* reports of a turn before the second is due */
    atomic_int stalls;
    atomic_int ends;
};

static struct heard heard;

static void on_log(void *context, tr_level level, const char *path, const char *text)
{
    (void)context;
    (void)level;
    (void)path;
    if (strstr(text, "no relief for worker"))
        atomic_fetch_add(&heard.limits, 1);
    if (strstr(text, "relief: worker 0 goes on without on_sit"))
        atomic_fetch_add(&heard.reliefs, 1);
}

static void on_stall(void *context, const tr_stall *stall)
{
    (void)context;
    if (strcmp(stall->type, "sit") != 0)
        return; /* the machine is busy */
    if (!stall->is_over && stall->duration_ns < 10 * REPORT_NS)
        atomic_fetch_add(&heard.early, 1);
    if (stall->is_relieved)
        atomic_fetch_add(stall->is_over ? &heard.ends : &heard.stalls, 1);
}

static struct play play_open(uint32_t threads_max)
{
    struct play play;
    const tr_system_options options = {.size = sizeof options,
                                       .workers = 1,
                                       .on_log = on_log,
                                       .turn_report_ns = REPORT_NS,
                                       .on_stall = on_stall,
                                       .relief_after_ns = RELIEF_MS * TR_MILLISECOND,
                                       .relief_threads_max = threads_max};
    gates_make();
    ck_assert_int_eq(tr_system_new(&options, &play.theatre.system), TR_OK);
    ck_assert_int_eq(tr_client_new(play.theatre.system, &play.theatre.client), TR_OK);
    ck_assert_int_eq(tr_system_start(play.theatre.system), TR_OK);
    tr_client *client = play.theatre.client;
    ck_assert_int_eq(tr_try_spawn(client, &play.friendly, friendly, NULL), TR_OK);
    for (int i = 0; i < PIPES; i++)
        ck_assert_int_eq(tr_try_spawn(client, &play.sitters[i], sitter, NULL), TR_OK);
    return play;
}

static void await_sitting(int count)
{
    while (atomic_load(&sitting) != count)
        ;
}

/* Returns when its handler blocks. */
static sit_ask sit_down(struct play *play, uint32_t gate, enum what what)
{
    int before = atomic_load(&sitting);
    sit_ask asked = tr_ask_within(play->theatre.client,
                                  TR_HOUR,
                                  play->sitters[gate],
                                  sit,
                                  .gate = gate,
                                  .what = what,
                                  .other = tr_any(play->friendly));
    await_sitting(before + 1);
    return asked;
}

/* Only with another thread can the worker answer while a handler blocks. */
static void others_go_on(struct play *play, uint64_t n)
{
    const struct said *said;
    tr_client *client = play->theatre.client;
    echo_ask asked = tr_ask_within(client, TR_HOUR, play->friendly, echo, .n = n);
    ck_assert_int_eq(tr_try_await(client, asked, &said), TR_OK);
    ck_assert_uint_eq(said->n, n);
}

static struct sat sat_of(struct play *play, sit_ask asked)
{
    const struct sat *sat;
    ck_assert_int_eq(tr_try_await(play->theatre.client, asked, &sat), TR_OK);
    return *sat;
}

static struct sat sum_of(struct play *play, int sitter)
{
    const struct sat *sat;
    tr_client *client = play->theatre.client;
    get_sum_ask asked = tr_ask_within(client, TR_HOUR, play->sitters[sitter], get_sum);
    ck_assert_int_eq(tr_try_await(client, asked, &sat), TR_OK);
    return *sat;
}

static uint64_t reliefs(struct play *play)
{
    tr_counters counters;
    tr_system_counters(play->theatre.system, &counters);
    return counters.reliefs;
}

/* ---- Cases. ---- */

TEST(others_on_the_worker_go_on_while_a_handler_blocks, "O-05", "P19")
{
    struct play play = play_open(0);
    tr_client *client = play.theatre.client;
    sit_ask asked = sit_down(&play, 0, JUST_REPLY);
    /* Messages and asks, */
    for (uint64_t n = 0; n < 100; n++)
        others_go_on(&play, n);
    ck_assert_uint_eq(reliefs(&play), 1);
    /* timers, */
    tr_tell(client, play.friendly, begin_ticking, .who = tr_client_ref(client));
    for (int i = 0; i < 20; i++)
        ck_assert_ptr_nonnull(tr_receive(client, said, STAGE_PATIENCE));
    /* spawns, and orders to stop. */
    friendly_ref young;
    ck_assert_int_eq(tr_try_spawn(client, &young, friendly, NULL), TR_OK);
    ck_assert_int_eq(tr_spawn_wait(client, young, STAGE_PATIENCE, NULL), TR_OK);
    ck_assert_int_eq(tr_kill(client, play.sitters[1]), TR_OK);
    while (!atomic_load(&stopped))
        others_go_on(&play, 1);
    ck_assert_int_eq(atomic_load(&sitting), 1);
    gate_open(0);
    ck_assert_int_eq(sat_of(&play, asked).status, TR_OK);
    others_go_on(&play, 2);
    theatre_close(&play.theatre);
}

TEST(what_is_for_the_one_that_blocks_waits_in_its_order, "O-05", "D-03")
{
    struct play play = play_open(0);
    tr_client *client = play.theatre.client;
    sit_ask asked = sit_down(&play, 0, JUST_REPLY);
    for (uint32_t n = 1; n <= 500; n++) {
        tr_tell(client, play.sitters[0], number, .from = 0, .n = n);
        if (n % 100 == 0)
            others_go_on(&play, n);
    }
    gate_open(0);
    ck_assert_uint_eq(sat_of(&play, asked).sum, 0); /* nobody was handled before it */
    struct sat sum = sum_of(&play, 0);
    ck_assert_int_eq(sum.status, 0);
    ck_assert_uint_eq(sum.sum, 500 * 501 / 2);
    theatre_close(&play.theatre);
}

static void verb_works(struct play *play, enum what what)
{
    sit_ask asked = sit_down(play, 0, what);
    others_go_on(play, what);
    if (what == AWAIT_FIRST) {
        gate_open(0); /* it waits in its handler a second time, now detached */
        await_sitting(1);
        others_go_on(play, what);
    }
    gate_open(0);
    ck_assert_int_eq(sat_of(play, asked).status, TR_OK);
    if (what == TELL)
        ck_assert_uint_eq(tr_receive(play->theatre.client, said, STAGE_PATIENCE)->n, 9);
}

TEST(verbs_after_the_block_do_what_they_say, "O-05")
{
    struct play play = play_open(1);
    static const enum what whats[] = {
        JUST_REPLY, AWAIT, SLEEP, SPAWN, MEMORY, TELL, BLOCKING, LOG, WATCH, AWAIT_FIRST};
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < sizeof whats / sizeof whats[0]; i++)
            verb_works(&play, whats[i]);
    }
    ck_assert_uint_ge(reliefs(&play), 20);
    ck_assert_int_eq(sum_of(&play, 0).status, 0);
    theatre_close(&play.theatre);
}

TEST(a_turn_may_fail_or_stop_after_the_block, "O-05", "S-01")
{
    struct play play = play_open(0);
    static const enum what whats[] = {FAIL, CRASH};
    tr_client *client = play.theatre.client;
    const struct sat *sat;
    for (size_t i = 0; i < 2; i++) {
        tr_tell(client, play.sitters[0], number, .from = 0, .n = 1);
        sit_ask asked = sit_down(&play, 0, whats[i]);
        others_go_on(&play, i);
        gate_open(0);
        ck_assert_int_ne(tr_try_await(client, asked, &sat), TR_OK);
        ck_assert_uint_eq(sum_of(&play, 0).sum, 0); /* it was restarted */
    }
    sit_ask asked = sit_down(&play, 0, STOP);
    others_go_on(&play, 9);
    gate_open(0);
    ck_assert_int_eq(sat_of(&play, asked).status, TR_OK);
    while (atomic_load(&stopped) < 1)
        others_go_on(&play, 1);
    theatre_close(&play.theatre);
}

TEST(orders_wait_for_the_one_that_blocks, "O-05", "L-03")
{
    struct play play = play_open(0);
    tr_client *client = play.theatre.client;
    const struct sat *sat;
    sit_ask asked = sit_down(&play, 0, AWAIT);
    others_go_on(&play, 1);
    ck_assert_int_eq(tr_kill(client, play.sitters[0]), TR_OK);
    for (uint64_t n = 0; n < 100; n++)
        others_go_on(&play, n);
    ck_assert_int_eq(atomic_load(&stopped), 0);
    gate_open(0);
    /* The kill comes when the turn waits, or before its first verb does anything. */
    ck_assert_int_ne(tr_try_await(client, asked, &sat), TR_OK);
    while (!atomic_load(&stopped))
        others_go_on(&play, 2);
    ck_assert_int_eq(tr_suspend(client, play.sitters[1]), TR_OK);
    ck_assert_int_eq(tr_resume(client, play.sitters[1]), TR_OK);
    asked = sit_down(&play, 1, JUST_REPLY);
    others_go_on(&play, 3);
    ck_assert_int_eq(tr_suspend(client, play.sitters[1]), TR_OK);
    ck_assert_int_eq(tr_resume(client, play.sitters[1]), TR_OK);
    gate_open(1);
    ck_assert_int_eq(sat_of(&play, asked).status, TR_OK);
    theatre_close(&play.theatre);
}

TEST(several_block_at_once_and_come_back_in_any_order, "O-05", "WP-11")
{
    static const uint32_t orders[6][3] = {
        {0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    struct play play = play_open(3);
    for (int i = 0; i < 6; i++) {
        sit_ask asked[3];
        for (uint32_t gate = 0; gate < 3; gate++) {
            asked[gate] = sit_down(&play, gate, i % 2 ? AWAIT : SPAWN);
            others_go_on(&play, gate);
        }
        for (int k = 0; k < 3; k++) {
            gate_open(orders[i][k]);
            ck_assert_int_eq(sat_of(&play, asked[orders[i][k]]).status, TR_OK);
            others_go_on(&play, 9);
        }
    }
    /* All at once. */
    sit_ask asked[3];
    for (uint32_t gate = 0; gate < 3; gate++) {
        asked[gate] = sit_down(&play, gate, AWAIT_FIRST);
        others_go_on(&play, gate);
    }
    for (uint32_t gate = 0; gate < 6; gate++) {
        gate_open(gate % 3);
        if (gate < 3)
            await_sitting(3);
    }
    for (uint32_t gate = 0; gate < 3; gate++)
        ck_assert_int_eq(sat_of(&play, asked[gate]).status, TR_OK);
    theatre_close(&play.theatre);
}

TEST(without_a_thread_left_a_worker_waits_and_the_log_says_so, "O-05")
{
    struct play play = play_open(1);
    tr_client *client = play.theatre.client;
    sit_ask first = sit_down(&play, 0, JUST_REPLY);
    others_go_on(&play, 1);
    sit_ask second = sit_down(&play, 1, JUST_REPLY);
    while (!atomic_load(&heard.limits))
        (void)tr_receive(client, said, TR_MILLISECOND);
    ck_assert_uint_eq(reliefs(&play), 1);
    gate_open(0);
    /* Its thread is back, but there is nobody who could hand it the worker. */
    gate_open(1);
    ck_assert_int_eq(sat_of(&play, second).status, TR_OK);
    ck_assert_int_eq(sat_of(&play, first).status, TR_OK);
    ck_assert_int_eq(atomic_load(&heard.limits), 1);
    theatre_close(&play.theatre);
}

TEST(reports_say_that_it_was_relieved, "O-05", "O-03")
{
    struct play play = play_open(0);
    tr_client *client = play.theatre.client;
    sit_ask asked = sit_down(&play, 0, JUST_REPLY);
    while (!atomic_load(&heard.stalls))
        others_go_on(&play, 1);
    ck_assert_int_eq(atomic_load(&heard.reliefs), 1);
    ck_assert_int_eq(atomic_load(&heard.ends), 0);
    tr_why_report report;
    ck_assert_int_eq(tr_actor_why(client, play.sitters[0], &report), TR_OK);
    char text[4096];
    tr_why_print(&report, text, sizeof text);
    ck_assert_msg(strstr(text, "on_sit does not return; worker 0 goes on without it"), "%s", text);
    gate_open(0);
    ck_assert_int_eq(sat_of(&play, asked).status, TR_OK);
    while (!atomic_load(&heard.ends))
        others_go_on(&play, 1);
    tr_counters counters;
    tr_system_counters(play.theatre.system, &counters);
    ck_assert_uint_ge(counters.stalls, 1);
    ck_assert_int_le(atomic_load(&heard.early), 1);
    ck_assert_int_eq(atomic_load(&heard.ends), 1);
    theatre_close(&play.theatre);
}

TEST(an_ask_that_gets_no_answer_in_time_knows_why, "O-05", "A-03")
{
    struct play play = play_open(0);
    tr_client *client = play.theatre.client;
    const struct sat *sat;
    sit_ask asked = sit_down(&play, 0, JUST_REPLY);
    others_go_on(&play, 1);
    get_sum_ask late = tr_ask_within(client, TR_MILLISECOND, play.sitters[0], get_sum);
    ck_assert_int_eq(tr_try_await(client, late, &sat), TR_TIMEOUT);
    const tr_error *error = tr_why(client, late);
    ck_assert_msg(strstr(error->text, "on_sit does not return"), "%s", error->text);
    gate_open(0);
    ck_assert_int_eq(sat_of(&play, asked).status, TR_OK);
    theatre_close(&play.theatre);
}

TEST(a_shutdown_waits_for_one_that_returns_in_time, "O-05", "X-01")
{
    struct play play = play_open(0);
    sit_ask asked = sit_down(&play, 0, JUST_REPLY);
    others_go_on(&play, 1);
    tr_system_shutdown(play.theatre.system, STAGE_PATIENCE);
    (void)asked;
    gate_open(0);
    theatre_close(&play.theatre);
    ck_assert_int_eq(atomic_load(&stopped), PIPES);
}

TEST(a_shutdown_does_not_wait_for_one_that_never_returns, "O-05", "X-01")
{
    struct play play = play_open(0);
    (void)sit_down(&play, 0, AWAIT);
    others_go_on(&play, 1);
    tr_system_shutdown(play.theatre.system, 20 * TR_MILLISECOND);
    ck_assert_int_eq(tr_system_wait(play.theatre.system), TR_SHUTDOWN_INCOMPLETE);
    tr_shutdown_report report;
    ck_assert_int_eq(tr_system_report(play.theatre.system, &report), TR_OK);
    ck_assert_uint_eq(report.busy_count, 1);
    ck_assert_str_eq(report.busy[0].place, "on_sit");
    ck_assert_str_eq(report.busy[0].type, "sit");
    ck_assert_int_eq(report.busy[0].worker, 0);
    ck_assert_uint_eq(report.left, 1);
    /* The others have stopped in order, and so does it when it returns, though nobody waits. */
    ck_assert_int_eq(atomic_load(&stopped), PIPES - 1);
    if (!TEST_HAS_SANITIZER) { /* which would miss the join of threads that end */
        gate_open(0);
        while (atomic_load(&stopped) < PIPES)
            ;
    }
    tr_client_free(play.theatre.client);
    tr_system_free(play.theatre.system);
}

static tr_status status_of(tr_system_options options)
{
    tr_system *system = NULL;
    options.size = sizeof options;
    tr_status status = tr_system_new(&options, &system);
    tr_system_free(system);
    return status;
}

TEST(options_that_make_no_sense_are_refused, "O-05", "U-03")
{
    ck_assert_int_eq(status_of((tr_system_options){.relief_after_ns = -1}), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(status_of((tr_system_options){.relief_after_ns = TR_OPTION_NS_MAX + 1}),
                     TR_INVALID_ARGUMENT);
    ck_assert_int_eq(
        status_of((tr_system_options){.relief_after_ns = 1,
                                      .relief_threads_max = TR_RELIEF_THREADS_LARGEST + 1}),
        TR_LIMIT);
    ck_assert_int_eq(status_of((tr_system_options){.relief_after_ns = 1, .traps_faults = true}),
                     TR_NOT_SUPPORTED);
    ck_assert_int_eq(status_of((tr_system_options){.relief_after_ns = 1}), TR_OK);
}

SUITE("api relief", others_on_the_worker_go_on_while_a_handler_blocks,
      what_is_for_the_one_that_blocks_waits_in_its_order, verbs_after_the_block_do_what_they_say,
      a_turn_may_fail_or_stop_after_the_block, orders_wait_for_the_one_that_blocks,
      several_block_at_once_and_come_back_in_any_order,
      without_a_thread_left_a_worker_waits_and_the_log_says_so, reports_say_that_it_was_relieved,
      an_ask_that_gets_no_answer_in_time_knows_why, a_shutdown_waits_for_one_that_returns_in_time,
      a_shutdown_does_not_wait_for_one_that_never_returns, options_that_make_no_sense_are_refused)
