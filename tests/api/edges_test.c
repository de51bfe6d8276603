/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Edges where two rules meet: signals that somebody tells, pills that meet actors before their
 * set-up, set-ups that fail above children, threads that cannot be made, answers without memory.
 */
#include "support/test.h"

#include <stdatomic.h>
#include <troupe/kit.h>
#include <troupe/troupe.h>

TR_MESSAGE(note, (u64, n));
TR_MESSAGE(seen, (u64, notes), (u64, starts), (u64, stops));
TR_REQUEST(report, seen);
TR_ACTOR(witness, note, report);

/* Actors on several workers count at once. */
static _Atomic uint64_t starts, stops, notes;

static tr_next on_start(void)
{
    starts++;
    return TR_SAME;
}

static tr_next on_stop(void)
{
    stops++;
    return TR_SAME;
}

static tr_next on_note(void)
{
    notes++;
    return TR_SAME;
}

static tr_next on_report(tr_self *self)
{
    return tr_reply(self, seen, .notes = notes, .starts = starts, .stops = stops);
}

TR_BEHAVIOR(witness, void, TR_ON(tr_pre_start, on_start), TR_ON(tr_post_stop, on_stop),
            TR_ON(note, on_note), TR_ON(report, on_report));

TEST(a_signal_that_somebody_tells_is_a_message_nobody_knows, "G-01", "B-02")
{
    tr_kit *kit = tr_kit_new(NULL);
    tr_client *client = tr_kit_client(kit);
    witness_ref witness;
    tr_dead_letter_record letter;
    size_t count;
    ck_assert_int_eq(tr_try_spawn(client, &witness, witness, NULL), TR_OK);
    tr_tell(client, tr_any(witness), tr_pre_start);
    tr_tell(client, tr_any(witness), tr_post_stop);
    tr_kit_settle(kit);
    ck_assert_uint_eq(starts, 1);
    ck_assert_uint_eq(stops, 0);
    ck_assert_uint_eq(tr_system_dead_letters(tr_kit_system(kit), &letter, 1, &count), 2);
    ck_assert_int_eq(letter.reason, TR_UNHANDLED);
    tr_kit_free(kit);
    ck_assert_uint_eq(stops, 1);
}

/* What arrived before a pill is handled, wherever the actor lives and whoever sends the pill. */
TEST(a_shutdown_lets_an_actor_begin_and_handle_what_it_was_sent, "Y-01", "L-03")
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        for (int worker = 0; worker < 3; worker++) {
            starts = stops = notes = 0;
            tr_kit *kit = tr_kit_new(&(tr_kit_options){.seed = seed, .workers = 3});
            tr_client *client = tr_kit_client(kit);
            witness_ref witness;
            ck_assert_int_eq(tr_try_spawn_at(client, &witness, worker, witness, NULL), TR_OK);
            for (uint64_t n = 0; n < 5; n++)
                ck_assert_int_eq(tr_tell(client, witness, note, .n = n), TR_OK);
            tr_system_shutdown(tr_kit_system(kit), 5 * TR_SECOND);
            tr_kit_settle(kit);
            ck_assert_msg(notes == 5, "seed %llu, worker %d", (unsigned long long)seed, worker);
            ck_assert_uint_eq(starts, 1);
            ck_assert_uint_eq(stops, 1);
            tr_kit_free(kit);
        }
    }
}

TR_ACTOR(nest);
TR_MESSAGE(try_it);
TR_MESSAGE(tried, (i32, first), (i32, second));
TR_ACTOR(trier, try_it);

static bool fails;

static tr_next set_up_nest(tr_self *self)
{
    witness_ref egg;
    tr_status status = tr_try_spawn(self, &egg, witness, "egg");
    if (status != TR_OK)
        return tr_fail(self, status, "no egg");
    return fails ? tr_fail(self, TR_BAD_DATA, "the nest fell") : TR_SAME;
}

TR_BEHAVIOR(nest, void, TR_SETUP(set_up_nest));

static tr_next on_try_it(tr_self *self)
{
    nest_ref nest;
    fails = true;
    tr_status first = tr_try_spawn(self, &nest, nest, "nest");
    fails = false;
    tr_status second = tr_try_spawn(self, &nest, nest, "nest");
    return tr_reply(self, tried, .first = first, .second = second);
}

TR_BEHAVIOR(trier, void, TR_ON(try_it, on_try_it));

TEST(a_failed_set_up_frees_the_names_below_it_too, "L-04", "LC-04")
{
    tr_kit *kit = tr_kit_new(NULL);
    tr_client *client = tr_kit_client(kit);
    trier_ref trier;
    ck_assert_int_eq(tr_try_spawn(client, &trier, trier, NULL), TR_OK);
    tr_tell(client, trier, try_it);
    const struct tried *tried = tr_receive(client, tried, TR_SECOND);
    ck_assert_ptr_nonnull(tried);
    ck_assert_int_eq(tried->first, TR_INIT_FAILED);
    ck_assert_int_eq(tried->second, TR_OK);
    tr_kit_settle(kit);
    tr_kit_check(kit);
    tr_kit_free(kit);
}

/* ---- A platform that has no more threads. ---- */

static tr_platform scarce;
static int threads_left;

static tr_status start_if_left(const tr_platform *platform, const char *name,
                               void (*main)(void *context), void *context, tr_thread **thread)
{
    (void)platform;
    if (threads_left-- <= 0)
        return TR_NO_MEMORY;
    const tr_platform *real = tr_platform_real();
    return real->thread_start(real, name, main, context, thread);
}

TEST(a_system_whose_threads_cannot_be_made_ends_and_says_so, "U-03")
{
    for (int left = 0; left < 4; left++) {
        for (int way = 0; way < 2; way++) {
            scarce = *tr_platform_real();
            scarce.thread_start = start_if_left;
            threads_left = left;
            starts = stops = 0;
            tr_system *system;
            tr_client *client;
            witness_ref witness;
            tr_system_options options = {.workers = 4, .platform = &scarce};
            ck_assert_int_eq(tr_system_new(&options, &system), TR_OK);
            ck_assert_int_eq(tr_client_new(system, &client), TR_OK);
            for (int worker = 0; worker < 4; worker++) {
                ck_assert_int_eq(tr_try_spawn_at(client, &witness, worker, witness, NULL), TR_OK);
            }
            tr_status status = way ? tr_system_run(system) : tr_system_start(system);
            ck_assert_int_eq(status, TR_NO_MEMORY);
            ck_assert_int_eq(tr_tell(client, witness, note), TR_STOPPED);
            tr_client_free(client);
            tr_system_free(system);
        }
    }
}

TEST(whether_an_actor_is_up_is_answered_without_memory, "U-03", "L-04")
{
    for (uint64_t n = 1; n <= 24; n++) {
        tr_kit *kit = tr_kit_new(NULL);
        tr_client *client = tr_kit_client(kit);
        witness_ref witness;
        ck_assert_int_eq(tr_try_spawn(client, &witness, witness, NULL), TR_OK);
        tr_kit_settle(kit);
        tr_kit_fail_allocation(kit, n, false);
        tr_status status = tr_spawn_wait(client, witness, TR_SECOND, NULL);
        ck_assert_msg(
            status == TR_OK || status == TR_NO_MEMORY, "n %d: %s", (int)n, tr_status_name(status));
        tr_kit_free(kit);
    }
}

/* ---- Large messages one after another. ---- */

TR_MESSAGE(parcel, (bytes, data));
TR_MESSAGE(thanks);
TR_MESSAGE(padding);
TR_ACTOR(receiver, parcel, padding);

static tr_next on_parcel(tr_self *self)
{
    return tr_reply(self, thanks);
}

static tr_next on_padding(void)
{
    return TR_SAME;
}

TR_BEHAVIOR(receiver, void, TR_ON(parcel, on_parcel), TR_ON(padding, on_padding));

TR_MESSAGE(begin, (ref_of(receiver), to), (u64, count), (ref, client));
TR_ACTOR(sender, begin);

struct sender {
    receiver_ref to;
    uint64_t left;
    tr_ref client;
    char data[256 * 1024];
};

static tr_next on_thanks(tr_self *self, struct sender *sender)
{
    if (!sender->left--) {
        tr_tell(self, sender->client, thanks);
        return TR_SAME;
    }
    tr_tell(self, sender->to, parcel, .data = {sender->data, sizeof sender->data});
    return TR_SAME;
}

static tr_next on_begin(tr_self *self, struct sender *sender, const struct begin *message)
{
    sender->to = message->to;
    sender->left = message->count;
    sender->client = message->client;
    /* A flood leaves many free envelopes behind. */
    for (int i = 0; i < 20000; i++)
        tr_tell(self, sender->to, padding);
    return on_thanks(self, sender);
}

TR_BEHAVIOR(sender, struct sender, TR_ON(begin, on_begin), TR_ON(thanks, on_thanks));

static _Atomic size_t live_bytes;
static _Atomic size_t peak_bytes;

/* Blocks begin with their size. Any thread. */
static void *counted_resize(void *context, void *memory, size_t size)
{
    (void)context;
    const tr_platform *real = tr_platform_real();
    size_t *old = memory ? (size_t *)memory - 2 : NULL;
    size_t old_size = old ? *old : 0;
    size_t *block = real->resize(real, old, size ? size + 16 : 0);
    if (!block && size)
        return NULL;
    size_t live = atomic_fetch_add(&live_bytes, size - old_size) + size - old_size;
    size_t peak = atomic_load(&peak_bytes);
    while (live > peak && !atomic_compare_exchange_weak(&peak_bytes, &peak, live))
        ;
    if (!block)
        return NULL;
    *block = size;
    return block + 2;
}

/* Keeps its worker from ever being idle, so that nothing but need brings memory home. */
TR_MESSAGE(tick);
TR_ACTOR(ticker, tick);

static tr_next on_tick(tr_self *self)
{
    tr_tell(self, tr_me(self), tick);
    return TR_SAME;
}

TR_BEHAVIOR(ticker, void, TR_ON(tick, on_tick));

TEST(large_messages_one_at_a_time_do_not_pile_up, "M-04")
{
    tr_system *system;
    tr_client *client;
    receiver_ref receiver;
    sender_ref sender;
    ticker_ref ticker;
    tr_system_options options = {.workers = 2, .resize = counted_resize};
    ck_assert_int_eq(tr_system_new(&options, &system), TR_OK);
    ck_assert_int_eq(tr_client_new(system, &client), TR_OK);
    ck_assert_int_eq(tr_try_spawn_at(client, &receiver, 1, receiver, NULL), TR_OK);
    ck_assert_int_eq(tr_try_spawn_at(client, &sender, 0, sender, NULL), TR_OK);
    ck_assert_int_eq(tr_try_spawn_at(client, &ticker, 0, ticker, NULL), TR_OK);
    ck_assert_int_eq(tr_system_start(system), TR_OK);
    tr_tell(client, ticker, tick);
    tr_tell(client, sender, begin, .to = receiver, .count = 400, .client = tr_client_ref(client));
    ck_assert_ptr_nonnull(tr_receive(client, thanks, 50 * TR_SECOND));
    ck_assert_uint_lt(atomic_load(&peak_bytes), (size_t)24 * 1024 * 1024);
    tr_client_free(client);
    tr_system_shutdown(system, 0);
    ck_assert_int_eq(tr_system_wait(system), TR_OK);
    tr_system_free(system);
    ck_assert_uint_eq(atomic_load(&live_bytes), 0);
}

SUITE("edges", a_signal_that_somebody_tells_is_a_message_nobody_knows,
      a_shutdown_lets_an_actor_begin_and_handle_what_it_was_sent,
      a_failed_set_up_frees_the_names_below_it_too,
      a_system_whose_threads_cannot_be_made_ends_and_says_so,
      whether_an_actor_is_up_is_answered_without_memory,
      large_messages_one_at_a_time_do_not_pile_up)
