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
#include <sched.h>
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
    tr_at_end(self, &cleaned, count);
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
        embedded_run(&at); /* it waits, or has waited already: this clock is real */
        embedded_await(&at, 0);
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
        embedded_await(&at, 0);
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
            TR_ON(tr_pre_start, moody_start), TR_ON(note, on_note), TR_ON(tr_post_stop, moody_stop),
            TR_OPTIONS(.restart = TR_TEMPORARY));

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

/* ---- Turns that wait for something else than time. ---- */

enum { PARCEL_SIZE = 100000 }; /* one that is lost shows */

TR_MESSAGE(reach, (ref, box), (u32, kind));
TR_MESSAGE(block);
TR_MESSAGE(parcel, (bytes, data));
TR_ACTOR(box, parcel);
TR_ACTOR(waiter, slip, reach, block);

/* Takes nothing: it is busy until it is stopped. */
static tr_next box_parcel(tr_self *self)
{
    tr_sleep(self, TR_HOUR);
    return TR_SAME;
}
TR_BEHAVIOR(box, void, TR_ON(parcel, box_parcel, .is_barrier = true),
            TR_OPTIONS(.mailbox_max = 1, .overflow = TR_PARK));

/* Waits for capacity; what a timer sends is handled meanwhile. */
static tr_next waiter_reach(tr_self *self, const struct reach *reach)
{
    take(self);
    tr_timer_once(self, "slip", TR_MICROSECOND, slip, .kind = reach->kind);
    static const char data[PARCEL_SIZE];
    for (int i = 0; i < 10; i++)
        tr_tell(self, reach->box, parcel, .data = {data, sizeof data});
    deferred += 1000; /* never */
    return TR_SAME;
}

static atomic_int block_is_open;
static atomic_int blocks_begun;
static atomic_int blocks_ended;

static void block_now(void *local)
{
    atomic_fetch_add(&blocks_begun, 1);
    while (!atomic_load(&block_is_open))
        sched_yield();
    *(int *)local = 1; /* the stack of the turn must be there */
    atomic_fetch_add(&blocks_ended, 1);
}

static tr_next waiter_block(tr_self *self)
{
    int local = 0;
    take(self);
    tr_blocking(self, block_now, &local);
    deferred += 1000; /* never */
    return TR_SAME;
}
TR_BEHAVIOR(waiter, void, TR_ON(slip, on_slip), TR_ON(reach, waiter_reach),
            TR_ON(block, waiter_block), TR_OPTIONS(.restart = TR_TEMPORARY));

static waiter_ref waiter_new(struct embedded *at)
{
    waiter_ref waiter;
    cleaned = deferred = 0;
    ck_assert_int_eq(tr_try_spawn(at->client, &waiter, waiter, NULL), TR_OK);
    return waiter;
}

TEST(a_function_on_a_helper_thread_keeps_the_stack_of_its_turn, "Y-02", "B-10", "S-10")
{
    struct embedded at = embedded_open();
    waiter_ref waiter = waiter_new(&at);
    tr_tell(at.client, waiter, block);
    while (!atomic_load(&blocks_begun))
        ck_assert_int_eq(tr_system_run_once(at.system, 0), TR_OK);
    tr_tell(at.client, waiter, slip);
    for (int i = 0; i < 10; i++)
        ck_assert_int_eq(tr_system_run_once(at.system, 0), TR_OK);
    ck_assert_uint_eq(cleaned, 0); /* it has failed, and cannot end yet */
    ck_assert_ptr_nonnull(strstr(log_text, "TR_FAULT"));
    atomic_store(&block_is_open, 1);
    embedded_await(&at, 0);
    ck_assert_int_eq(atomic_load(&blocks_ended), 1);
    ck_assert_uint_eq(cleaned, 2);
    ck_assert_uint_eq(deferred, 0);
    embedded_close(&at);
}

/* ---- Where turns and actors are inside of others. ---- */

TR_MESSAGE(spoil, (u32, kind));
TR_ACTOR(parent, spoil, note, slip, rest);

static tr_next parent_spoil(tr_self *self, const struct spoil *spoil)
{
    moody_ref child;
    take(self);
    tr_status status =
        tr_try_spawn(self, &child, moody, NULL, place, .kind = spoil->kind, .where = IN_SETUP);
    ck_assert_int_eq(status, TR_INIT_FAILED);
    notes += 10;
    return TR_SAME;
}

/* Waits, and when it is cancelled makes a mistake. */
static tr_next parent_rest(tr_self *self)
{
    take(self);
    if (tr_sleep(self, TR_HOUR) == TR_CANCELLED)
        slip_now(SLIP_WRITE);
    deferred += 1000; /* never */
    return TR_SAME;
}

static tr_next parent_slips(tr_self *self, const struct slip *const *slips, size_t slip_count)
{
    take(self);
    slip_now(slips[slip_count - 1]->kind);
    return TR_SAME;
}
TR_BEHAVIOR(parent, void, TR_ON(spoil, parent_spoil), TR_ON(note, on_note),
            TR_ON(rest, parent_rest), TR_ON_BATCH(slip, parent_slips),
            TR_OPTIONS(.restart = TR_TEMPORARY));

static parent_ref parent_new(struct embedded *at)
{
    parent_ref parent;
    cleaned = deferred = 0;
    notes = 0;
    ck_assert_int_eq(tr_try_spawn(at->client, &parent, parent, NULL), TR_OK);
    embedded_run(at);
    return parent;
}

TEST(a_fault_in_the_set_up_of_a_child_is_not_its_parents, "S-10", "B-09")
{
    struct embedded at = embedded_open();
    parent_ref parent = parent_new(&at);
    for (uint32_t kind = 0; kind < SLIP_COUNT; kind++)
        tr_tell(at.client, parent, spoil, .kind = kind);
    tr_tell(at.client, parent, note);
    embedded_run(&at);
    ck_assert_uint_eq(notes, SLIP_COUNT * 10 + 1);
    ck_assert_uint_eq(cleaned, SLIP_COUNT);
    ck_assert_uint_eq(deferred, SLIP_COUNT);
    embedded_close(&at);
    ck_assert_uint_eq(cleaned, 2 * SLIP_COUNT);
}

TEST(turns_that_are_cancelled_may_fault, "S-10", "Y-02")
{
    struct embedded at = embedded_open();
    parent_ref parent = parent_new(&at);
    for (int i = 0; i < 3; i++)
        tr_tell(at.client, parent, rest);
    embedded_run(&at);
    tr_kill(at.client, parent);
    embedded_await(&at, 0);
    ck_assert_uint_eq(cleaned, 3);
    ck_assert_uint_eq(deferred, 0); /* the first fault abandons the others */
    embedded_close(&at);
}

TEST(a_batch_that_faults_is_one_failure, "S-10")
{
    struct embedded at = embedded_open();
    parent_ref parent = parent_new(&at);
    slip_ask asks[5];
    for (int i = 0; i < 5; i++)
        asks[i] = tr_ask(at.client, parent, slip, .kind = SLIP_COPY);
    tr_tell(at.client, parent, note);
    embedded_await(&at, 0);
    for (int i = 0; i < 5; i++) {
        const struct done *reply;
        ck_assert_int_eq(tr_try_await(at.client, asks[i], &reply), TR_FAILED);
    }
    ck_assert_uint_eq(cleaned, 1);
    ck_assert_uint_eq(deferred, 0);
    ck_assert_uint_eq(notes, 0);
    embedded_close(&at);
}

/* ---- Memory. ---- */

static size_t bytes;

static void *resize_counted(void *context, void *memory, size_t size)
{
    (void)context;
    if (memory)
        bytes -= malloc_usable_size(memory);
    if (size == 0) {
        free(memory);
        return NULL;
    }
    memory = realloc(memory, size);
    bytes += malloc_usable_size(memory);
    return memory;
}

static size_t resident_pages(void)
{
    unsigned long size;
    unsigned long resident;
    FILE *file = fopen("/proc/self/statm", "r");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fscanf(file, "%lu %lu", &size, &resident), 2);
    fclose(file);
    return resident;
}

/* A turn waits for capacity in a mailbox, with a message in its hands, when another one faults. */
static void storm_at_a_box(struct embedded *at, uint32_t kind)
{
    box_ref box;
    ck_assert_int_eq(tr_try_spawn(at->client, &box, box, NULL), TR_OK);
    waiter_ref waiter = waiter_new(at);
    tr_tell(at->client, waiter, reach, .box = tr_any(box), .kind = kind);
    embedded_await(at, 1);
    ck_assert_int_eq(tr_kill(at->client, waiter), TR_STOPPED);
    ck_assert_uint_eq(cleaned, 2);
    ck_assert_uint_eq(deferred, 0);
    tr_kill(at->client, box);
    embedded_run(at);
}

/* Faults of all kinds, with turns that wait. */
static void storm(struct embedded *at, uint32_t faults)
{
    for (uint32_t i = 0; i < faults; i++) {
        uint32_t kind = i % SLIP_COUNT;
        log_text[0] = '\0';
        victim_ref victim;
        ck_assert_int_eq(tr_try_spawn(at->client, &victim, victim, NULL), TR_OK);
        tr_tell(at->client, victim, rest);
        tr_tell(at->client, victim, slip, .kind = kind, .pause_ms = i % 100 == 0);
        tr_tell(at->client, victim, note);
        if (i % 10 == 0)
            embedded_await(at, 0);
        if (i % 50 == 0)
            storm_at_a_box(at, kind);
    }
    embedded_run(at);
}

TEST(memory_is_constant_over_ten_thousand_faults, "S-10", "B-09", "Y-02")
{
    if (TEST_HAS_SANITIZER)
        test_skip("sanitizers trap faults themselves");
    struct embedded at;
    const tr_system_options options = {.size = sizeof options,
                                       .workers = 1,
                                       .traps_faults = true,
                                       .on_log = log_keep,
                                       .resize = resize_counted};
    ck_assert_int_eq(tr_system_new(&options, &at.system), TR_OK);
    ck_assert_int_eq(tr_client_new(at.system, &at.client), TR_OK);
    storm(&at, 2000);
    size_t bytes_before = bytes;
    size_t pages_before = resident_pages();
    storm(&at, 10000);
    /* Pools keep some slabs more or less. */
    ck_assert_uint_le(bytes, bytes_before + 256 * 1024);
    ck_assert_uint_le(resident_pages(), pages_before + 256);
    embedded_close(&at);
    ck_assert_uint_eq(bytes, 0);
}

SUITE("faults", a_fault_in_a_handler_is_a_failure_of_its_actor, a_turn_that_has_waited_may_fault,
      turns_that_wait_are_abandoned_and_who_asked_is_told, set_ups_and_signals_may_fault,
      a_function_on_a_helper_thread_keeps_the_stack_of_its_turn,
      a_fault_in_the_set_up_of_a_child_is_not_its_parents, turns_that_are_cancelled_may_fault,
      a_batch_that_faults_is_one_failure, memory_is_constant_over_ten_thousand_faults)
