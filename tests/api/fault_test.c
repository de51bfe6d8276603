/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Native faults as failures of actors: what is survived, what becomes of turns, memory and messages.
 *
 * Not under AddressSanitizer or ThreadSanitizer, which have their own idea of a fault: the first
 * reports it and ends the process, the second keeps a shadow of each call that is left. tests/api/
 * fault_abort_test.c has the faults that nobody survives.
 */
#include "support/faults.h"

#include <malloc.h>
#include <stdatomic.h>

/* ---- An actor that does what it should not. ---- */

TR_MESSAGE(done, (u64, n));
TR_REQUEST(slip, done, (u32, kind), (u32, pause_ms));
TR_MESSAGE(note, (u64, n));
TR_MESSAGE(place, (u32, kind), (u32, where));
TR_MESSAGE(rest);
TR_REQUEST(hold, done);
TR_ACTOR(victim, slip, note, rest, hold);

static unsigned cleaned;
static unsigned deferred;
static uint64_t notes;

static void count(void *counter)
{
    ++*(unsigned *)counter;
}

static void take(tr_self *self)
{
    tr_clean(self, &cleaned, count);
    tr_defer(self, &deferred, count);
    memset(tr_alloc(self, 1000), 1, 1000);
    (void)tr_scratch(self, 1000);
}

static tr_next on_slip(tr_self *self, const struct slip *slip)
{
    take(self);
    if (slip->pause_ms)
        tr_sleep(self, slip->pause_ms * TR_MILLISECOND);
    slip_now(slip->kind);
    return tr_reply(self, done, .n = 1);
}

static tr_next on_note(const struct note *note)
{
    (void)note;
    notes++;
    return TR_SAME;
}

/* Waits for longer than any test runs. */
static tr_next on_rest(tr_self *self)
{
    take(self);
    tr_sleep(self, TR_HOUR);
    deferred += 1000; /* never */
    return TR_SAME;
}

static tr_next on_hold(tr_self *self)
{
    take(self);
    tr_sleep(self, TR_HOUR);
    return tr_reply(self, done);
}

TR_BEHAVIOR(victim, void, TR_ON(slip, on_slip), TR_ON(note, on_note), TR_ON(rest, on_rest),
            TR_ON(hold, on_hold), TR_OPTIONS(.restart = TR_TEMPORARY));

static victim_ref victim_new(struct embedded *at)
{
    victim_ref victim;
    cleaned = deferred = 0;
    notes = 0;
    ck_assert_int_eq(tr_try_spawn(at->client, &victim, victim, NULL), TR_OK);
    embedded_run(at);
    return victim;
}

/* The line of the log about a fault of this kind. */
static void check_log(enum slip_kind kind)
{
    ck_assert_ptr_nonnull(strstr(log_text, "TR_FAULT: "));
    ck_assert_ptr_nonnull(strstr(log_text, slip_signal(kind)));
    char function[64];
    snprintf(function, sizeof function, "%s (faults.h:", slip_function(kind));
    if (!strstr(log_text, function))
        ck_abort_msg("no \"%s\" in: %s", function, log_text);
    /* The whole stack, innermost first. */
    ck_assert_ptr_nonnull(strstr(log_text, "fault: "));
    ck_assert_ptr_nonnull(strstr(log_text, " < "));
    if (!strstr(log_text, "(fault_test.c:"))
        ck_abort_msg("not the whole stack: %s", log_text);
}

TEST(a_fault_in_a_handler_is_a_failure_of_its_actor, "S-10", "SU-01", "SU-26", "B-09", "Y-02")
{
    struct embedded at = embedded_open();
    for (enum slip_kind kind = 0; kind < SLIP_COUNT; kind++) {
        victim_ref victim = victim_new(&at);
        victim_ref neighbour;
        ck_assert_int_eq(tr_try_spawn(at.client, &neighbour, victim, NULL), TR_OK);
        tr_tell(at.client, victim, note);
        tr_tell(at.client, victim, slip, .kind = kind);
        tr_tell(at.client, victim, note);
        tr_tell(at.client, neighbour, note);
        log_text[0] = '\0';
        embedded_run(&at);
        ck_assert_uint_eq(notes, 2);
        ck_assert_uint_eq(cleaned, 1);
        ck_assert_uint_eq(deferred, 0);
        check_log(kind);
        ck_assert_ptr_nonnull(strstr(log_text, "slip"));
        ck_assert_int_eq(tr_tell(at.client, victim, note), TR_STOPPED);
        ck_assert_int_eq(tr_tell(at.client, neighbour, note), TR_OK);
        embedded_run(&at);
        ck_assert_uint_eq(notes, 3);
        tr_stop(at.client, neighbour);
        embedded_run(&at);
    }
    embedded_close(&at);
}

TEST(a_turn_that_has_waited_may_fault, "S-10", "Y-02", "B-09")
{
    struct embedded at = embedded_open();
    for (enum slip_kind kind = 0; kind < SLIP_COUNT; kind++) {
        victim_ref victim = victim_new(&at);
        log_text[0] = '\0';
        tr_tell(at.client, victim, slip, .kind = kind, .pause_ms = 1);
        embedded_run(&at);
        ck_assert_uint_eq(cleaned, 0);
        embedded_await(&at);
        ck_assert_uint_eq(cleaned, 1);
        ck_assert_uint_eq(deferred, 0);
        check_log(kind);
    }
    embedded_close(&at);
}

TEST(turns_that_wait_are_abandoned_and_who_asked_is_told, "Y-02", "S-10", "B-09")
{
    struct embedded at = embedded_open();
    for (int pause_ms = 0; pause_ms < 2; pause_ms++) {
        victim_ref victim = victim_new(&at);
        hold_ask held = tr_ask(at.client, victim, hold);
        tr_tell(at.client, victim, rest);
        tr_tell(at.client, victim, rest);
        embedded_run(&at);
        slip_ask slipped = tr_ask(at.client, victim, slip, .pause_ms = (uint32_t)pause_ms);
        embedded_await(&at);
        ck_assert_uint_eq(cleaned, 4);
        ck_assert_uint_eq(deferred, 0);
        const struct done *reply;
        ck_assert_int_eq(tr_try_await(at.client, held, &reply), TR_STOPPED);
        ck_assert_int_eq(tr_try_await(at.client, slipped, &reply), TR_FAILED);
    }
    embedded_close(&at);
}

/* ---- Set-ups and signals. ---- */

enum where { IN_SETUP, IN_PRE_START, IN_POST_STOP, WHERE_COUNT };

TR_ACTOR(moody, note);
static tr_next moody_setup(tr_self *self, struct place *state, const struct place *place)
{
    *state = *place;
    take(self);
    if (place->where == IN_SETUP)
        slip_now(place->kind);
    return TR_SAME;
}

static tr_next moody_start(tr_self *self, struct place *state)
{
    take(self);
    if (state->where == IN_PRE_START)
        slip_now(state->kind);
    return TR_SAME;
}

static tr_next moody_stop(tr_self *self, struct place *state)
{
    take(self);
    if (state->where == IN_POST_STOP)
        slip_now(state->kind);
    return TR_SAME;
}
TR_BEHAVIOR(moody, struct place, TR_SETUP_WITH(place, moody_setup),
            TR_ON(tr_pre_start, moody_start), TR_ON(note, on_note),
            TR_ON(tr_post_stop, moody_stop), TR_OPTIONS(.restart = TR_TEMPORARY));

static moody_ref moody_new(struct embedded *at, enum slip_kind kind, enum where where)
{
    moody_ref moody;
    cleaned = deferred = 0;
    ck_assert_int_eq(
        tr_try_spawn(at->client, &moody, moody, NULL, place, .kind = kind, .where = where), TR_OK);
    embedded_run(at);
    return moody;
}

TEST(set_ups_and_signals_may_fault, "S-10", "B-09", "Y-02")
{
    struct embedded at = embedded_open();
    for (enum slip_kind kind = 0; kind < SLIP_COUNT; kind++) {
        tr_error error = {0};
        moody_ref moody = moody_new(&at, kind, IN_SETUP);
        ck_assert_int_eq(tr_spawn_wait(at.client, moody, 0, &error), TR_INIT_FAILED);
        ck_assert_int_eq(error.status, TR_FAULT);
        ck_assert_uint_eq(cleaned, 1);
        ck_assert_uint_eq(deferred, 0);

        moody = moody_new(&at, kind, IN_PRE_START);
        ck_assert_int_eq(tr_tell(at.client, moody, note), TR_STOPPED);
        ck_assert_uint_eq(cleaned, 3);  /* of the set-up, tr_pre_start and tr_post_stop */
        ck_assert_uint_eq(deferred, 2); /* not that of tr_pre_start */

        moody = moody_new(&at, kind, IN_POST_STOP);
        tr_stop(at.client, moody);
        embedded_run(&at);
        ck_assert_uint_eq(cleaned, 3);
        ck_assert_uint_eq(deferred, 2);
        ck_assert_ptr_nonnull(strstr(log_text, "failed in tr_post_stop: TR_FAULT"));
    }
    embedded_close(&at);
}

SUITE("faults", a_fault_in_a_handler_is_a_failure_of_its_actor, a_turn_that_has_waited_may_fault,
      turns_that_wait_are_abandoned_and_who_asked_is_told, set_ups_and_signals_may_fault)
