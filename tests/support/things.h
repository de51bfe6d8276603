/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Durable actors that do what a test tells them: a message carries a function of the test, which the handler
 * calls with the state. So each test says in one place what its actor does.
 *
 *     static tr_next add(tr_self *self, struct thing_state *state, int64_t n) { ... }
 *     ck_assert_int_eq(things_do("a", add, 5), 5);
 */
#ifndef TROUPE_TESTS_SUPPORT_THINGS_H
#define TROUPE_TESTS_SUPPORT_THINGS_H

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <troupe/kit.h>
#include <troupe/troupe.h>

#include "support/test.h"

TR_MESSAGE(acted, (i64, value));
TR_REQUEST(act, acted, (u64, call), (i64, n));
TR_REQUEST(act_aside, acted, (u64, call), (i64, n)); /* no barrier */
TR_MESSAGE(nudge, (u64, call), (i64, n));
TR_MESSAGE(thing_state, (i64, value), (i64, starts), (i64, sleeps), (i64, creations), (i64, other));
TR_ACTOR(thing, act, act_aside, nudge);

typedef tr_next thing_call(tr_self *self, struct thing_state *state, int64_t n);

/* What hooks do besides counting; of the test, NULL: nothing. */
static thing_call *things_on_created;
static thing_call *things_on_awake;
static thing_call *things_on_sleeping;
static thing_call *things_on_destroying;
static thing_call *things_on_run;

/* Whatever the test wants to know, in the order in which it happened. */
static char things_story[4096];

__attribute__((__format__(__printf__, 1, 2), __unused__)) static void things_tell(const char *text,
                                                                                  ...)
{
    size_t length = strlen(things_story);
    va_list arguments;
    va_start(arguments, text);
    vsnprintf(things_story + length, sizeof things_story - length, text, arguments);
    va_end(arguments);
}

static tr_next things_call(thing_call *call, tr_self *self, struct thing_state *state, int64_t n)
{
    return call ? call(self, state, n) : TR_SAME;
}

static tr_next things_created(tr_self *self, struct thing_state *state)
{
    state->creations++;
    return things_call(things_on_created, self, state, 0);
}

static tr_next things_awake(tr_self *self, struct thing_state *state)
{
    state->starts++;
    return things_call(things_on_awake, self, state, 0);
}

static tr_next things_sleeping(tr_self *self, struct thing_state *state)
{
    state->sleeps++;
    return things_call(things_on_sleeping, self, state, 0);
}

static tr_next things_destroying(tr_self *self, struct thing_state *state)
{
    return things_call(things_on_destroying, self, state, 0);
}

static tr_next things_run(tr_self *self, struct thing_state *state)
{
    return things_call(things_on_run, self, state, 0);
}

static tr_next things_act(tr_self *self, struct thing_state *state, const struct act *message)
{
    return ((thing_call *)(uintptr_t)message->call)(self, state, message->n);
}

static tr_next things_act_aside(tr_self *self, struct thing_state *state,
                                const struct act_aside *message)
{
    return ((thing_call *)(uintptr_t)message->call)(self, state, message->n);
}

static tr_next things_nudge(tr_self *self, struct thing_state *state, const struct nudge *message)
{
    return ((thing_call *)(uintptr_t)message->call)(self, state, message->n);
}

#ifndef THINGS_OPTIONS
#define THINGS_OPTIONS .idle_ns = 10 * TR_SECOND, .grace_ns = 5 * TR_SECOND
#endif
#ifndef THINGS_ROWS
#define THINGS_ROWS TR_ON(nudge, things_nudge)
#endif
TR_BEHAVIOR(thing, struct thing_state, TR_ON(tr_created, things_created),
            TR_ON(tr_awake, things_awake), TR_ON(tr_sleeping, things_sleeping),
            TR_ON(tr_destroying, things_destroying), TR_ON(tr_run, things_run),
            TR_ON(act, things_act), TR_ON(act_aside, things_act_aside, .interleaves = true),
            THINGS_ROWS);
TR_DURABLE(thing, thing_state, THINGS_OPTIONS);

/* ---- The stage. ---- */

static tr_kit *kit;
static tr_client *test;

static inline void things_begin_with(tr_kit_options options)
{
    options.size = sizeof options;
    options.durable = TR_DURABLES(thing);
    if (!options.workers)
        options.workers = 2;
    kit = tr_kit_new(&options);
    ck_assert_ptr_nonnull(kit);
    test = tr_kit_client(kit);
}

static inline void things_begin(uint64_t seed)
{
    things_begin_with((tr_kit_options){.seed = seed});
}

static inline void things_end(void)
{
    tr_kit_free(kit);
    kit = NULL;
}

static inline thing_ref things_of(const char *key)
{
    thing_ref ref;
    ck_assert_int_eq(tr_try_durable(test, &ref, thing, key), TR_OK);
    return ref;
}

/** What an ask of it comes to; its value is in *value, which may be NULL. */
static inline tr_status things_try(const char *key, thing_call *call, int64_t n, int64_t *value)
{
    const struct acted *acted;
    act_ask ask = tr_ask_within(
        test, TR_HOUR, things_of(key), act, .call = (uint64_t)(uintptr_t)call, .n = n);
    tr_status status = tr_try_await(test, ask, &acted);
    if (status == TR_OK && value)
        *value = acted->value;
    return status;
}

static inline int64_t things_do(const char *key, thing_call *call, int64_t n)
{
    int64_t value = 0;
    ck_assert_int_eq(things_try(key, call, n, &value), TR_OK);
    return value;
}

static inline act_ask things_ask(thing_ref ref, thing_call *call, int64_t n)
{
    return tr_ask_within(test, TR_HOUR, ref, act, .call = (uint64_t)(uintptr_t)call, .n = n);
}

static inline act_aside_ask things_ask_aside(thing_ref ref, thing_call *call, int64_t n)
{
    return tr_ask_within(test, TR_HOUR, ref, act_aside, .call = (uint64_t)(uintptr_t)call, .n = n);
}

static inline tr_status things_send(thing_ref ref, thing_call *call, int64_t n)
{
    return tr_tell(test, ref, nudge, .call = (uint64_t)(uintptr_t)call, .n = n);
}

static inline bool things_is_awake(thing_ref ref)
{
    tr_why_report report;
    ck_assert_int_eq(tr_actor_why(test, ref, &report), TR_OK);
    return report.count == 0 || report.reasons[0].kind != TR_WHY_GONE;
}

/* ---- What most tests do. ---- */

__attribute__((__unused__)) static tr_next thing_add(tr_self *self, struct thing_state *state,
                                                     int64_t n)
{
    state->value += n;
    return tr_reply(self, acted, .value = state->value);
}

__attribute__((__unused__)) static tr_next thing_starts(tr_self *self, struct thing_state *state,
                                                        int64_t n)
{
    (void)n;
    return tr_reply(self, acted, .value = state->starts);
}

__attribute__((__unused__)) static tr_next thing_sleeps(tr_self *self, struct thing_state *state,
                                                        int64_t n)
{
    (void)n;
    return tr_reply(self, acted, .value = state->sleeps);
}

__attribute__((__unused__)) static tr_next thing_go_to_sleep(tr_self *self,
                                                             struct thing_state *state, int64_t n)
{
    (void)state;
    (void)n;
    return tr_reply(self, acted, .value = tr_go_to_sleep(self));
}

__attribute__((__unused__)) static tr_next thing_destroy(tr_self *self, struct thing_state *state,
                                                         int64_t n)
{
    (void)state;
    (void)n;
    return tr_reply(self, acted, .value = tr_destroy(self));
}

__attribute__((__unused__)) static tr_next thing_fail(tr_self *self, struct thing_state *state,
                                                      int64_t n)
{
    state->value += 1000;
    if (n)
        tr_crash(self, TR_BAD_DATA, "as told");
    return tr_fail(self, TR_BAD_DATA, "as told");
}

#endif
