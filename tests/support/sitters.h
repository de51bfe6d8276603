/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Actors whose handlers block on pipes until the test lets them continue, on a system whose only worker is
 * relieved. That others were served meanwhile is the proof of it, so nothing here is timed.
 */
#ifndef TROUPE_TESTS_SUPPORT_SITTERS_H
#define TROUPE_TESTS_SUPPORT_SITTERS_H

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
    char *kept = tr_strdup(self, "kept");
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
    atomic_int handoffs;
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
    if (strstr(text, "no handoff for worker"))
        atomic_fetch_add(&heard.limits, 1);
    if (strstr(text, "handoff: another thread now runs worker 0; on_sit has handled"))
        atomic_fetch_add(&heard.handoffs, 1);
}

static void on_stall(void *context, const tr_stall *stall)
{
    (void)context;
    if (!stall->type || strcmp(stall->type, "sit") != 0)
        return; /* the machine is busy */
    if (!stall->is_over && stall->duration_ns < 10 * REPORT_NS)
        atomic_fetch_add(&heard.early, 1);
    if (stall->is_handed_off)
        atomic_fetch_add(stall->is_over ? &heard.ends : &heard.stalls, 1);
}

/* Called for the worker, and for each handoff thread; NULL: nothing is called. */
static tr_status (*play_on_start)(tr_system *system, int worker, void *context);

__attribute__((__unused__)) static struct play play_open(uint32_t threads_max)
{
    struct play play;
    const tr_system_options options = {.size = sizeof options,
                                       .workers = 1,
                                       .on_log = on_log,
                                       .on_worker_start = play_on_start,
                                       .turn_report_ns = REPORT_NS,
                                       .on_stall = on_stall,
                                       .handoff_after_ns = RELIEF_MS * TR_MILLISECOND,
                                       .handoff_threads_max = threads_max};
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
__attribute__((__unused__)) static sit_ask sit_down(struct play *play, uint32_t gate,
                                                    enum what what)
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
__attribute__((__unused__)) static void others_go_on(struct play *play, uint64_t n)
{
    const struct said *said;
    tr_client *client = play->theatre.client;
    echo_ask asked = tr_ask_within(client, TR_HOUR, play->friendly, echo, .n = n);
    ck_assert_int_eq(tr_try_await(client, asked, &said), TR_OK);
    ck_assert_uint_eq(said->n, n);
}

__attribute__((__unused__)) static struct sat sat_of(struct play *play, sit_ask asked)
{
    const struct sat *sat;
    ck_assert_int_eq(tr_try_await(play->theatre.client, asked, &sat), TR_OK);
    return *sat;
}

__attribute__((__unused__)) static struct sat sum_of(struct play *play, int sitter)
{
    const struct sat *sat;
    tr_client *client = play->theatre.client;
    get_sum_ask asked = tr_ask_within(client, TR_HOUR, play->sitters[sitter], get_sum);
    ck_assert_int_eq(tr_try_await(client, asked, &sat), TR_OK);
    return *sat;
}

static uint64_t handoffs(struct play *play)
{
    tr_counters counters;
    tr_system_counters(play->theatre.system, &counters);
    return counters.handoffs;
}

#endif
