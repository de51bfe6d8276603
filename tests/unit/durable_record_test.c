/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Records of durable turns: what is in them, and which files are refused.
 */
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <troupe/kit.h>
#include <troupe/troupe.h>
#include <troupe/wire.h>
#include <unistd.h>

#include "actor/cell/behavior_list.h"
#include "actor/cell/follow.h"
#include "actor/cell/system.h"
#include "actor/turn/follow_turn.h"
#include "durable/record.h"
#include "durable/record_plain.h"
#include "durable/record_read.h"
#include "os/record_file.h"
#include "os/small_file.h"

TR_MESSAGE(pin, (str, digits));
TR_SECRET(pin, digits);
TR_MESSAGE(safe, (u64, coins), (message(pin), pin), (list(message(pin)), old));
TR_MESSAGE(fill, (u64, coins), (message(pin), pin));
TR_MESSAGE(spoil, (str, how), (message(pin), pin));
TR_ACTOR(safe, fill, spoil);

static tr_next on_fill(tr_self *self, struct safe *state, const struct fill *message)
{
    state->coins += message->coins;
    state->pin.digits = tr_strdup(self, message->pin.digits);
    return TR_SAME;
}

static tr_next on_spoil(tr_self *self, struct safe *state, const struct spoil *message)
{
    state->coins = 1000000;
    (void)tr_random(self);
    (void)tr_now(self);
    if (strcmp(message->how, "crash") == 0)
        tr_crash(self, TR_BAD_DATA, "spoiled");
    if (strcmp(message->how, "wait") == 0)
        tr_sleep(self, TR_SECOND); /* what was changed is stored here */
    state->coins++;
    return tr_fail(self, TR_BAD_DATA, "spoiled");
}

TR_BEHAVIOR(safe, struct safe, TR_ON(fill, on_fill), TR_ON(spoil, on_spoil));
TR_DURABLE(safe, safe, .idle_ns = TR_HOUR);

static char directory[64];

/* Lets a turn fail, and reads its record. */
static struct tr_record *record_of(const char *how, bool has_secrets)
{
    const tr_kit_options options = {.durable = TR_DURABLES(safe)};
    char path[128];
    char why[RECORD_WHY_SIZE];
    void *file;
    size_t size;
    struct tr_record *record;
    tr_kit *kit = tr_kit_new(&options);
    ck_assert_ptr_nonnull(kit);
    (void)strcpy(directory, "/tmp/troupe-record-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(directory));
    struct recorder recorder;
    tr__recorder_init(&recorder, tr_kit_system(kit), directory, has_secrets);
    safe_ref anna;
    tr_client *client = tr_kit_client(kit);
    ck_assert_int_eq(tr_try_durable(client, &anna, safe, "anna"), TR_OK);
    (void)tr_tell(client, anna, fill, .coins = 5, .pin = {"1234"});
    (void)tr_kit_settle(kit);
    (void)tr_tell(client, anna, spoil, .how = how, .pin = {"5678"});
    (void)tr_kit_settle(kit);
    tr_kit_advance(kit, 2 * TR_SECOND);
    (void)tr_kit_settle(kit);
    tr_kit_free(kit);
    (void)snprintf(path, sizeof path, "%s/crash/turn-1.trr", directory);
    const tr_platform *platform = tr_platform_real();
    ck_assert_int_eq(tr__file_read(platform, path, RECORD_SIZE_MAX, &file, &size), TR_OK);
    ck_assert_int_eq(unlink(path), 0);
    (void)snprintf(path, sizeof path, "%s/crash", directory);
    ck_assert_int_eq(rmdir(path), 0);
    ck_assert_int_eq(rmdir(directory), 0);
    ck_assert_msg(tr__record_read((tr_bytes){file, size}, &record, why) == TR_OK, "%s", why);
    /* One byte less, one more, one other. */
    struct tr_record *none;
    ck_assert_int_eq(tr__record_read((tr_bytes){file, size - 1}, &none, why), TR_BAD_DATA);
    for (size_t i = 0; i < size; i++) {
        ((char *)file)[i] ^= 0x55;
        ck_assert_msg(tr__record_read((tr_bytes){file, size}, &none, why) != TR_OK, "%zu", i);
        ((char *)file)[i] ^= 0x55;
    }
    platform->resize(platform, file, 0);
    return record;
}

static void check(const struct tr_record *record, bool has_secrets)
{
    void *state;
    void *message;
    ck_assert_str_eq(record->kind, "safe");
    ck_assert_str_eq(record->message, "spoil");
    ck_assert_str_eq(record->status, "TR_BAD_DATA");
    ck_assert_str_eq(record->text, "spoiled");
    ck_assert_mem_eq(record->key.data, "anna", 4);
    ck_assert(record->has_secrets == has_secrets && !record->is_cut && !record->is_ask);
    ck_assert_int_eq(tr_unpack(&tr_type_safe, record->state, &state, NULL), TR_OK);
    ck_assert_uint_eq(((struct safe *)state)->coins, 5); /* before the turn */
    const char *digits = ((struct safe *)state)->pin.digits;
    ck_assert(has_secrets ? strcmp(digits, "1234") == 0 : !digits);
    ck_assert_int_eq(tr_unpack(&tr_type_spoil, record->body, &message, NULL), TR_OK);
    digits = ((struct spoil *)message)->pin.digits;
    ck_assert(has_secrets ? strcmp(digits, "5678") == 0 : !digits);
    tr_message_free(&tr_type_safe, state);
    tr_message_free(&tr_type_spoil, message);
    ck_assert_uint_ge(record->items.count, 2);
    ck_assert_uint_eq(record->items.items[0].what, 3); /* a random number, then a time */
    ck_assert_uint_eq(record->items.items[1].what, 1);
}

TEST(a_turn_that_fails_is_recorded_with_the_state_before_it, "O-16")
{
    static const char *const hows[] = {"fail", "crash", "wait"};
    for (size_t i = 0; i < sizeof hows / sizeof *hows; i++) {
        struct tr_record *record = record_of(hows[i], true);
        check(record, true);
        tr_message_free(&tr_type_tr_record, record);
    }
}

TEST(secret_fields_are_left_out_unless_they_are_wanted, "O-16", "O-08")
{
    struct tr_record *record = record_of("fail", false);
    check(record, false);
    tr_message_free(&tr_type_tr_record, record);
}

static void spoil_another(tr_kit *kit)
{
    static int last;
    char key[32];
    safe_ref ref;
    tr_client *client = tr_kit_client(kit);
    (void)snprintf(key, sizeof key, "key-%d", ++last);
    ck_assert_int_eq(tr_try_durable(client, &ref, safe, key), TR_OK);
    (void)tr_tell(client, ref, spoil, .how = "fail");
    (void)tr_kit_settle(kit);
}

/* Empties all records, or counts those that are not empty, or removes them. */
static int each_record(char what)
{
    char path[128];
    int count = 0;
    for (int i = 1; i <= RECORD_FILES_MAX; i++) {
        (void)snprintf(path, sizeof path, "%s/crash/turn-%d.trr", directory, i);
        if (what == 'e')
            ck_assert_int_eq(truncate(path, 0), 0);
        uint64_t size;
        tr_time written_ns;
        ck_assert(tr__file_look(path, &size, &written_ns));
        count += size > 0;
        if (what == 'r')
            ck_assert_int_eq(unlink(path), 0);
    }
    return count;
}

TEST(when_all_files_are_there_one_is_replaced_in_a_second, "O-16")
{
    char path[128];
    const tr_kit_options options = {.durable = TR_DURABLES(safe)};
    tr_kit *kit = tr_kit_new(&options);
    ck_assert_ptr_nonnull(kit);
    (void)strcpy(directory, "/tmp/troupe-record-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(directory));
    struct recorder recorder;
    tr__recorder_init(&recorder, tr_kit_system(kit), directory, false);
    for (int i = 0; i < RECORD_FILES_MAX; i++)
        spoil_another(kit);
    ck_assert_int_eq(each_record('e'), 0);
    for (int i = 0; i < 3; i++)
        spoil_another(kit);
    ck_assert_int_eq(each_record('c'), 1);
    ck_assert_int_eq(each_record('e'), 0);
    tr_kit_advance(kit, TR_SECOND);
    for (int i = 0; i < 3; i++)
        spoil_another(kit);
    ck_assert_int_eq(each_record('r'), 1);
    tr_kit_free(kit);
    (void)snprintf(path, sizeof path, "%s/crash", directory);
    ck_assert_int_eq(rmdir(path), 0);
    ck_assert_int_eq(rmdir(directory), 0);
}

/* ---- Actors that are not durable. ---- */

TR_MESSAGE(scale, (u64, grams));
TR_MESSAGE(weigh, (u64, grams), (bool, waits), (bool, crashes));
TR_MESSAGE(blindfold, (bool, gives));
TR_ACTOR(scale, weigh, blindfold);

static tr_next on_weigh(tr_self *self, struct scale *state, const struct weigh *message)
{
    state->grams += message->grams;
    (void)tr_random(self);
    if (message->waits)
        tr_sleep(self, TR_SECOND);
    if (message->crashes)
        tr_crash(self, TR_BAD_DATA, "too heavy");
    return TR_SAME;
}
static tr_next on_blindfold(tr_self *self, const struct blindfold *message);
TR_BEHAVIOR(scale, struct scale, TR_ON(weigh, on_weigh), TR_ON(blindfold, on_blindfold),
            TR_OPTIONS(.shows = &tr_type_scale));
TR_BEHAVIOR(blind, struct scale, TR_ON(weigh, on_weigh));
TR_BEHAVIOR(bare, void);

static tr_next on_blindfold(tr_self *self, const struct blindfold *message)
{
    return message->gives ? tr_become(self, bare) : tr_become(self, blind);
}

static struct recorder plain;
static tr_kit *scales;
static scale_ref first;

static void scales_begin(void)
{
    scales = tr_kit_new(&(tr_kit_options){.log = TR_KIT_LOG_NONE});
    ck_assert_ptr_nonnull(scales);
    (void)strcpy(directory, "/tmp/troupe-record-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(directory));
    tr__recorder_init(&plain, tr_kit_system(scales), directory, false);
    ck_assert_int_eq(tr_try_spawn(tr_kit_client(scales), &first, scale, NULL), TR_OK);
    (void)tr_kit_settle(scales);
}

/* Ends the kit, which looks for leaks. Returns how many records there are. */
static int scales_end(void)
{
    char path[128];
    int count = 0;
    tr_kit_free(scales);
    for (int i = 1; i <= RECORD_FILES_MAX; i++) {
        (void)snprintf(path, sizeof path, "%s/crash/turn-%d.trr", directory, i);
        count += unlink(path) == 0;
    }
    (void)snprintf(path, sizeof path, "%s/crash", directory);
    (void)rmdir(path);
    ck_assert_int_eq(rmdir(directory), 0);
    return count;
}

static bool is_following(void)
{
    return atom32_load(&tr_kit_system(scales)->follow->is_on, ATOM_RELAXED);
}

TEST(as_many_turns_of_any_actor_are_recorded_as_were_ordered, "O-18")
{
    scales_begin();
    tr_client *client = tr_kit_client(scales);
    ck_assert_int_eq(tr__record_plain_order(&plain, first.bits, 3, false), TR_OK);
    ck_assert(is_following());
    (void)tr_tell(client, first, weigh, .grams = 1, .waits = true);
    (void)tr_tell(client, first, weigh, .grams = 2);
    (void)tr_kit_settle(scales);
    ck_assert(is_following());
    (void)tr_tell(client, first, weigh, .crashes = true, .waits = true);
    tr_kit_advance(scales, 2 * TR_SECOND);
    (void)tr_kit_settle(scales);
    ck_assert(!is_following());
    ck_assert_int_eq(scales_end(), 3);
}

TEST(only_turns_that_fail_are_recorded_if_that_was_ordered, "O-18")
{
    scales_begin();
    tr_client *client = tr_kit_client(scales);
    ck_assert_int_eq(tr__record_plain_order(&plain, first.bits, 1, true), TR_OK);
    for (int i = 0; i < 3; i++)
        (void)tr_tell(client, first, weigh, .grams = 1, .crashes = i == 2);
    (void)tr_kit_settle(scales);
    ck_assert(!is_following());
    ck_assert_int_eq(scales_end(), 1);
}

TEST(an_actor_that_ends_while_it_is_recorded_leaves_nothing_behind, "O-18")
{
    scales_begin();
    tr_client *client = tr_kit_client(scales);
    scale_ref second;
    ck_assert_int_eq(tr_try_spawn(client, &second, scale, NULL), TR_OK);
    ck_assert_int_eq(tr__record_plain_order(&plain, second.bits, 2, false), TR_OK);
    ck_assert_int_eq(tr__record_plain_order(&plain, first.bits, 2, false), TR_OK);
    (void)tr_tell(client, first, weigh, .grams = 1, .waits = true);
    (void)tr_kit_settle(scales);
    (void)tr_kill(client, first); /* the turn that waits is abandoned */
    (void)tr_kit_settle(scales);
    ck_assert(is_following());
    (void)tr_tell(client, second, weigh, .grams = 1);
    (void)tr_kit_settle(scales);
    ck_assert(!is_following());
    ck_assert_int_eq(scales_end(), 0);
}

/* Reads the first record and removes it. NULL: there is none. */
static struct tr_record *record_take(void)
{
    char path[128];
    char why[RECORD_WHY_SIZE];
    void *file;
    size_t size;
    struct tr_record *record;
    const tr_platform *platform = tr_platform_real();
    (void)snprintf(path, sizeof path, "%s/crash/turn-1.trr", directory);
    if (tr__file_read(platform, path, RECORD_SIZE_MAX, &file, &size) != TR_OK)
        return NULL;
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_msg(tr__record_read((tr_bytes){file, size}, &record, why) == TR_OK, "%s", why);
    platform->resize(platform, file, 0);
    return record;
}

TEST(a_record_that_lacks_something_for_want_of_memory_says_so, "O-18")
{
    int whole = 0;
    scales_begin();
    tr_client *client = tr_kit_client(scales);
    for (uint64_t n = 1; n <= 60; n++) {
        ck_assert_int_eq(tr__record_plain_order(&plain, first.bits, 1, false), TR_OK);
        (void)tr_tell(client, first, weigh, .grams = 1);
        tr_kit_fail_allocation(scales, n, false);
        (void)tr_kit_settle(scales);
        tr_kit_fail_allocation(scales, 0, false);
        struct tr_record *record = record_take();
        if (!record)
            continue;
        bool has_all = record->state.size && record->body.size && record->items.count == 1 &&
                       record->after.size;
        ck_assert_msg(has_all || record->is_cut, "%llu", (unsigned long long)n);
        whole += has_all;
        tr_message_free(&tr_type_tr_record, record);
    }
    ck_assert_int_gt(whole, 0);
    ck_assert_int_eq(scales_end(), 0);
}

TEST(a_turn_whose_actor_has_become_another_while_it_waited_is_not_recorded, "O-18")
{
    for (int gives = 0; gives < 2; gives++) { /* the state is kept, or there is none afterwards */
        for (int crashes = 0; crashes < 2; crashes++) {
            scales_begin();
            tr_client *client = tr_kit_client(scales);
            ck_assert_int_eq(tr__record_plain_order(&plain, first.bits, 2, false), TR_OK);
            (void)tr_tell(client, first, weigh, .grams = 1, .waits = true, .crashes = crashes);
            (void)tr_tell(client, first, blindfold, .gives = gives);
            (void)tr_kit_settle(scales);
            tr_kit_advance(scales, 2 * TR_SECOND);
            (void)tr_kit_settle(scales);
            ck_assert(!is_following());
            ck_assert_int_eq(scales_end(), 1);
        }
    }
}

TEST(what_a_replay_could_not_run_is_refused_with_a_sentence, "O-18")
{
    const tr_behavior *all[] = {&tr_behavior_scale, &tr_behavior_blind, &tr_behavior_bare};
    const struct behavior_list known = {all, all + 3};
    const struct behavior_list none = {all, all};
    ck_assert_ptr_null(tr__record_plain_refusal(&known, &tr_behavior_scale));
    ck_assert_ptr_null(tr__record_plain_refusal(&known, &tr_behavior_bare));
    ck_assert_ptr_nonnull(strstr(tr__record_plain_refusal(&known, &tr_behavior_blind), ".shows"));
    ck_assert_ptr_nonnull(strstr(tr__record_plain_refusal(&none, &tr_behavior_scale), "find"));
    ck_assert_ptr_nonnull(strstr(tr__record_plain_refusal(&known, NULL), "not started"));
}

SUITE("durable record", as_many_turns_of_any_actor_are_recorded_as_were_ordered,
      only_turns_that_fail_are_recorded_if_that_was_ordered,
      an_actor_that_ends_while_it_is_recorded_leaves_nothing_behind,
      a_record_that_lacks_something_for_want_of_memory_says_so,
      a_turn_whose_actor_has_become_another_while_it_waited_is_not_recorded,
      what_a_replay_could_not_run_is_refused_with_a_sentence,
      a_turn_that_fails_is_recorded_with_the_state_before_it,
      secret_fields_are_left_out_unless_they_are_wanted,
      when_all_files_are_there_one_is_replaced_in_a_second)
