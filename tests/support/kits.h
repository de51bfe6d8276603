/* SPDX-License-Identifier: Apache-2.0 */
/**
 * For tests of what an actor does over time: one actor that runs functions of the test, kits of one
 * and of three workers over many seeds, and a system whose clock the test moves by hand, also in
 * the middle of a turn.
 *
 *     say("tick %d", n);
 *     SAID("tick 1; tick 2");
 *
 * Kits have one thread, so actors may write to variables of the test.
 */
#ifndef TROUPE_TESTS_SUPPORT_KITS_H
#define TROUPE_TESTS_SUPPORT_KITS_H

#include "support/test.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <troupe/kit.h>
#include <troupe/troupe.h>

#define KITS_UNUSED __attribute__((__unused__))
#define MS TR_MILLISECOND
/** Whether a test for which it is all the same where actors are lets them move with this seed. */
#define KITS_MOVE(seed) ((seed) / 8 % 2 == 1)

/** The kit that plays, its client, and the worker for the actor in question. */
static tr_kit *kit;
static tr_client *test;
static int home;
static uint64_t kits_seed;

static char said_text[1 << 15];
static size_t said_length;

/** Adds words to what was said. */
__attribute__((__format__(__printf__, 1, 2), __unused__)) static void say(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    size_t room = sizeof said_text - said_length;
    int first = snprintf(said_text + said_length, room, "%s", said_length ? "; " : "");
    said_length += (size_t)first;
    room = sizeof said_text - said_length;
    int written = vsnprintf(said_text + said_length, room, format, list);
    va_end(list);
    ck_assert(written >= 0 && (size_t)written < room);
    said_length += (size_t)written;
}

/** What was said since the last time. */
KITS_UNUSED static const char *said(void)
{
    static char text[sizeof said_text];
    memcpy(text, said_text, said_length);
    text[said_length] = '\0';
    said_length = 0;
    return text;
}

/** Exactly this was said since the last time. */
#define SAID(words)                                                                                \
    do {                                                                                           \
        const char *text_ = said();                                                                \
        ck_assert_msg(strcmp(text_, words) == 0,                                                   \
                      "home %d, seed %" PRIu64 ": said \"%s\", not "                               \
                      "\"%s\"",                                                                    \
                      home,                                                                        \
                      kits_seed,                                                                   \
                      text_,                                                                       \
                      (const char *)(words));                                                      \
    } while (0)

/** Opens a kit in which actors move from worker to worker, or stay where they are. */
KITS_UNUSED static void kit_open_as(int workers, uint64_t seed, bool moves)
{
    const tr_kit_options options = {
        .size = sizeof options, .workers = workers, .seed = seed, .moves = moves};
    kit = tr_kit_new(&options);
    ck_assert_ptr_nonnull(kit);
    test = tr_kit_client(kit);
    home = workers - 1;
    kits_seed = seed;
    said_length = 0;
}

KITS_UNUSED static void kit_open(int workers, uint64_t seed)
{
    kit_open_as(workers, seed, false);
}

/** Where an actor is must be all the same: with half of all seeds they move. */
KITS_UNUSED static void kit_open_anywhere(int workers, uint64_t seed)
{
    kit_open_as(workers, seed, KITS_MOVE(seed));
}

/** How many moves there were. */
KITS_UNUSED static uint64_t kit_moves(void)
{
    tr_counters counters;
    tr_system_counters(tr_kit_system(kit), &counters);
    return counters.moves;
}

/** Stops everything and looks for what was lost or leaked. */
KITS_UNUSED static void kit_close(void)
{
    tr_kit_check(kit);
    tr_kit_free(kit);
}

/** Plays on one worker and on three, where the actor in question is on another than the test's. */
KITS_UNUSED static void kits_each(void (*play)(void))
{
    for (int workers = 1; workers <= 3; workers += 2) {
        for (uint64_t seed = 1; seed <= TEST_SEEDS(30); seed++) {
            kit_open(workers, seed);
            play();
            kit_close();
        }
    }
}

/** Also on three of which the actors move from one to the other. */
KITS_UNUSED static void kits_each_anywhere(void (*play)(void))
{
    kits_each(play);
    for (uint64_t seed = 1; seed <= TEST_SEEDS(30); seed++) {
        kit_open_as(3, seed, true);
        play();
        kit_close();
    }
}

/** On two, three and four workers between which actors move; and they do. */
KITS_UNUSED static void kits_each_moving(uint64_t seeds, void (*play)(void))
{
    uint64_t moves = 0;
    for (int workers = 2; workers <= 4; workers++) {
        for (uint64_t seed = 1; seed <= TEST_SEEDS(seeds); seed++) {
            kit_open_as(workers, seed, true);
            play();
            moves += kit_moves();
            kit_close();
        }
    }
    ck_assert_uint_gt(moves, TEST_SEEDS(seeds));
}

/** Runs the system for up to so many steps; fewer when there is nothing to do. */
KITS_UNUSED static void kit_steps(uint64_t count)
{
    while (count-- && tr_kit_step(kit))
        ;
}

KITS_UNUSED static size_t dead_letters(tr_status reason)
{
    static tr_dead_letter_record records[TR_DEAD_LETTERS_MAX];
    size_t count;
    tr_system_dead_letters(tr_kit_system(kit), records, TR_DEAD_LETTERS_MAX, &count);
    size_t found = 0;
    for (size_t i = 0; i < count; i++)
        found += records[i].reason == reason;
    return found;
}

/* ---- A function of the test as a turn of an actor. ---- */

TR_MESSAGE(run, (u64, function));

typedef tr_next turn(tr_self *self);

KITS_UNUSED static tr_next on_run(tr_self *self, const struct run *message)
{
    return ((turn *)(uintptr_t)message->function)(self);
}

/** Tells an actor to run a function. */
#define TELL_RUN(from, to, turn_) tr_tell(from, to, run, .function = (uint64_t)(uintptr_t)(turn_))

/* ---- A system whose clock is the test's. ---- */

struct hand {
    tr_platform table; /* first */
    tr_time mono_ns;
    tr_time wall_ns;
    tr_system *system;
    tr_client *client;
};

static inline tr_time hand_mono(const tr_platform *platform)
{
    return ((const struct hand *)(const void *)platform)->mono_ns;
}

static inline tr_time hand_wall(const tr_platform *platform)
{
    return ((const struct hand *)(const void *)platform)->wall_ns;
}

KITS_UNUSED static void hand_open(struct hand *hand)
{
    *hand = (struct hand){.table = *tr_platform_real(), .mono_ns = TR_HOUR, .wall_ns = TR_HOUR};
    hand->table.mono_now = hand_mono;
    hand->table.wall_now = hand_wall;
    const tr_system_options options = {
        .size = sizeof options, .workers = 1, .spin_ns = -1, .platform = &hand->table};
    ck_assert_int_eq(tr_system_new(&options, &hand->system), TR_OK);
    ck_assert_int_eq(tr_client_new(hand->system, &hand->client), TR_OK);
}

/** Runs what is due, the clock standing still unless a handler moves it. */
KITS_UNUSED static void hand_run(struct hand *hand)
{
    tr_counters before;
    tr_counters after;
    tr_system_counters(hand->system, &after);
    do {
        before = after;
        ck_assert_int_eq(tr_system_run_once(hand->system, 0), TR_OK);
        tr_system_counters(hand->system, &after);
    } while (before.handled != after.handled || before.queued != after.queued);
}

/** Moves the clock in one leap. */
KITS_UNUSED static void hand_leap(struct hand *hand, tr_time ns)
{
    hand->mono_ns += ns;
    hand_run(hand);
}

KITS_UNUSED static void hand_close(struct hand *hand)
{
    tr_system_shutdown(hand->system, TR_SECOND);
    for (int i = 0; i < 1000; i++) {
        if (tr_system_run_once(hand->system, 0) == TR_STOPPED)
            break;
    }
    tr_client_free(hand->client);
    tr_system_free(hand->system);
}

#endif
