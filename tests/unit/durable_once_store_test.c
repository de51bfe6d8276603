/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Requests with an id while their commits are on the way to the disk, and the bytes of what is stored of them.
 */
#include "durable/request_record.h"
#include "support/things.h"

#include "actor/cell/system.h"

enum { SEEDS = TEST_SEEDS(10) };

static int calls;

static tr_next add(tr_self *self, struct thing_state *state, int64_t n)
{
    calls++;
    return thing_add(self, state, n);
}

/* Steps until the system has nothing to do but to store, which it is kept from. */
static void settle_without_storing(void)
{
    tr_system *system = tr_kit_system(kit);
    bool (*has_work)(tr_system *) = system->durable.has_work;
    system->durable.has_work = NULL;
    while (tr_kit_step(kit))
        continue;
    system->durable.has_work = has_work;
}

TR_MESSAGE(ask_now, (bool, is_aside));
TR_ACTOR(asker, ask_now);
static int answers;

static tr_next on_ask_now(tr_self *self, const struct ask_now *message)
{
    const struct acted *acted;
    uint64_t call = (uint64_t)(uintptr_t)add;
    tr_pending any;
    if (message->is_aside)
        any = tr_ask_once(self, thing, "a", "x", act_aside, .call = call, .n = 5).any;
    else
        any = tr_ask_once(self, thing, "a", "x", act, .call = call, .n = 5).any;
    ck_assert_int_eq(tr_self_try_await(self, any, (const void **)&acted), TR_OK);
    ck_assert_int_eq(acted->value, 5);
    answers++;
    return TR_SAME;
}
TR_BEHAVIOR(asker, void, TR_ON(ask_now, on_ask_now));

static void ask_beside(bool is_aside)
{
    asker_ref ref;
    ck_assert_int_eq(tr_try_spawn(test, &ref, asker, NULL), TR_OK);
    ck_assert_int_eq(tr_tell(test, ref, ask_now, .is_aside = is_aside), TR_OK);
}

TEST(a_repeat_does_not_overtake_the_commit_of_the_first, "K-14", "K-01")
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        things_begin(seed);
        calls = answers = 0;
        (void)things_do("a", thing_add, 0);
        for (int i = 0; i < 3; i++) {
            ask_beside(seed % 2);
            settle_without_storing();
        }
        ck_assert_int_eq(calls, 1);
        ck_assert_int_eq(answers, 0); /* nothing is on disk */
        tr_kit_settle(kit);
        ck_assert_int_eq(answers, 3);
        ask_beside(seed % 2);
        tr_kit_settle(kit);
        ck_assert_int_eq(answers, 4);
        ck_assert_int_eq(calls, 1);
        things_end();
    }
}

/* ---- The bytes. ---- */

static tr_bytes write_record(const struct request_record *record)
{
    static unsigned char bytes[1000];
    size_t size = tr__request_size(record);
    ck_assert_uint_le(size, sizeof bytes);
    tr__request_write(record, bytes);
    return (tr_bytes){bytes, size};
}

TEST(records_are_read_as_they_were_written, "K-14")
{
    struct request_record read;
    struct request_record record = {.outcome = REQUEST_REPLIED,
                                    .print = {UINT64_MAX - 1, 77},
                                    .until_wall_ns = INT64_C(0x1122334455667788),
                                    .before = UINT64_C(0x99aabbccddeeff00),
                                    .reply = "acted",
                                    .bytes = {"\x91\x05", 2}};
    ck_assert_int_eq(tr__request_read(write_record(&record), &read), TR_OK);
    ck_assert_int_eq(read.outcome, REQUEST_REPLIED);
    ck_assert(request_print_is_equal(read.print, record.print));
    ck_assert_int_eq(read.until_wall_ns, record.until_wall_ns);
    ck_assert_uint_eq(read.before, record.before);
    ck_assert_str_eq(read.reply, "acted");
    ck_assert_uint_eq(read.bytes.size, 2);
    ck_assert_mem_eq(read.bytes.data, "\x91\x05", 2);

    record.outcome = REQUEST_ENDED;
    record.status = TR_REFUSED;
    record.code = -42;
    record.text = "no";
    ck_assert_int_eq(tr__request_read(write_record(&record), &read), TR_OK);
    ck_assert_int_eq(read.outcome, REQUEST_ENDED);
    ck_assert_int_eq(read.status, TR_REFUSED);
    ck_assert_int_eq(read.code, -42);
    ck_assert_str_eq(read.text, "no");

    record.outcome = REQUEST_BEGUN;
    ck_assert_int_eq(tr__request_read(write_record(&record), &read), TR_OK);
    ck_assert_int_eq(read.outcome, REQUEST_BEGUN);
}

TEST(records_that_are_cut_or_unknown_are_corrupt, "K-14")
{
    static const enum request_outcome outcomes[] = {REQUEST_BEGUN, REQUEST_REPLIED, REQUEST_ENDED};
    struct request_record read;
    for (size_t i = 0; i < sizeof outcomes / sizeof *outcomes; i++) {
        struct request_record record = {
            .outcome = outcomes[i], .reply = "acted", .bytes = {"", 0}, .text = "text"};
        tr_bytes bytes = write_record(&record);
        for (size_t size = 0; size < bytes.size; size++)
            ck_assert_int_eq(tr__request_read((tr_bytes){bytes.data, size}, &read),
                             TR_STORE_CORRUPT);
    }
    unsigned char unknown[REQUEST_FRONT] = {1, 77};
    ck_assert_int_eq(tr__request_read((tr_bytes){unknown, sizeof unknown}, &read),
                     TR_STORE_CORRUPT);
    unknown[0] = 2;
    unknown[1] = REQUEST_BEGUN;
    ck_assert_int_eq(tr__request_read((tr_bytes){unknown, sizeof unknown}, &read),
                     TR_STORE_CORRUPT);
}

/* Another process, or another machine, must find that a repeat is the same request. */
TEST(the_print_of_a_request_never_changes, "K-14")
{
    struct request_print print = tr__request_print("deposit", (tr_bytes){"\x91\x05", 2});
    ck_assert_uint_eq(print.low, UINT64_C(0xdc1af47dc7c9abe7));
    ck_assert_uint_eq(print.high, UINT64_C(0xa9479d1fe958c7f2));
    struct request_print other = tr__request_print("deposit2", (tr_bytes){"\x91\x05", 2});
    ck_assert(!request_print_is_equal(print, other));
    other = tr__request_print("deposit", (tr_bytes){"\x91\x06", 2});
    ck_assert(!request_print_is_equal(print, other));
}

SUITE("durable once, stored", a_repeat_does_not_overtake_the_commit_of_the_first,
      records_are_read_as_they_were_written, records_that_are_cut_or_unknown_are_corrupt,
      the_print_of_a_request_never_changes)
