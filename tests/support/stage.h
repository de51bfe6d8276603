/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Where tests of actors play: kits with one and with several workers over many seeds, and systems
 * on real threads.
 *
 * A kit has one thread, so its actors may write into the diary and into variables of the test. The
 * actors of a real system tell a client what they have to say.
 */
#ifndef TROUPE_TESTS_SUPPORT_STAGE_H
#define TROUPE_TESTS_SUPPORT_STAGE_H

#include "support/test.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <troupe/kit.h>
#include <troupe/troupe.h>
#include <unistd.h>

enum {
    STAGE_SEEDS = TEST_HAS_SANITIZER ? 15 : 30,
    STAGE_WORKERS = 3,
    STAGE_LETTERS = TR_DEAD_LETTERS_MAX,
};
/** How long a real system may take for what it does in a moment: only a hang reaches it. */
#define STAGE_PATIENCE (100 * TR_SECOND)

struct stage {
    tr_kit *kit;
    tr_client *client;
    int workers;
    uint64_t seed;
};

/** The play that runs, for the report of one that fails. */
static struct stage *stage_now;

static char diary_text[1 << 16];
static size_t diary_length;

/** Adds a word to the diary. */
__attribute__((__format__(__printf__, 1, 2), __unused__)) static void diary(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    if (diary_length) {
        ck_assert_uint_lt(diary_length + 1, sizeof diary_text);
        diary_text[diary_length++] = ' ';
    }
    size_t room = sizeof diary_text - diary_length;
    int written = vsnprintf(diary_text + diary_length, room, format, list);
    va_end(list);
    ck_assert(written >= 0 && (size_t)written < room);
    diary_length += (size_t)written;
}

/** What the diary says since the last time. */
__attribute__((__unused__)) static const char *diary_read(void)
{
    static char text[sizeof diary_text];
    memcpy(text, diary_text, diary_length);
    text[diary_length] = '\0';
    diary_length = 0;
    diary_text[0] = '\0';
    return text;
}

static inline void stage_report(void)
{
    if (!stage_now)
        return;
    char text[96];
    int length = snprintf(text,
                          sizeof text,
                          "on a kit of %d workers with seed %" PRIu64 "\n",
                          stage_now->workers,
                          stage_now->seed);
    ssize_t written = write(STDERR_FILENO, text, (size_t)length);
    (void)written;
}

static inline void stage_on_abort(int number)
{
    stage_report();
    signal(number, SIG_DFL);
    raise(number);
}

/** Plays once, on a kit of its own. The kit checks its books and its memory at the end. */
static inline void stage_play_once(void (*play)(struct stage *stage), int workers, uint64_t seed)
{
    struct stage stage = {.workers = workers, .seed = seed};
    const tr_kit_options options = {.size = sizeof options, .seed = seed, .workers = workers};
    stage_now = &stage;
    stage.kit = tr_kit_new(&options);
    ck_assert_ptr_nonnull(stage.kit);
    stage.client = tr_kit_client(stage.kit);
    (void)diary_read();
    play(&stage);
    tr_kit_settle(stage.kit);
    tr_kit_check(stage.kit);
    tr_kit_free(stage.kit);
    stage_now = NULL;
}

/** Plays with one worker, and with several in as many ways as there are seeds. */
static inline void stage_play(void (*play)(struct stage *stage))
{
    atexit(stage_report);
    signal(SIGABRT, stage_on_abort);
    stage_play_once(play, 1, 1);
    for (uint64_t seed = 1; seed <= TEST_SEEDS(STAGE_SEEDS); seed++)
        stage_play_once(play, STAGE_WORKERS, seed);
}

/** A worker of this stage: the last one, which is not that of /user unless it is the only one. */
static inline int stage_far(const struct stage *stage)
{
    return stage->workers - 1;
}

static inline tr_counters stage_counters(struct stage *stage)
{
    tr_counters counters;
    tr_system_counters(tr_kit_system(stage->kit), &counters);
    return counters;
}

static inline uint64_t stage_live(struct stage *stage)
{
    return stage_counters(stage).live;
}

/** How many of the dead letters so far were to `to`, of this type (NULL: any) and reason. */
static inline size_t dead_letters_to(tr_system *system, tr_ref to, const char *type,
                                     tr_status reason)
{
    static tr_dead_letter_record letters[STAGE_LETTERS];
    size_t count;
    size_t found = 0;
    tr_system_dead_letters(system, letters, STAGE_LETTERS, &count);
    for (size_t i = 0; i < count; i++) {
        found += tr_is_same(letters[i].to, to) && letters[i].reason == reason &&
                 (!type || strcmp(letters[i].type, type) == 0);
    }
    return found;
}

static inline size_t stage_dead_letters_to(struct stage *stage, tr_ref to, const char *type,
                                           tr_status reason)
{
    return dead_letters_to(tr_kit_system(stage->kit), to, type, reason);
}

static inline uint64_t stage_dead_letters(struct stage *stage)
{
    return tr_system_dead_letters(tr_kit_system(stage->kit), NULL, 0, NULL);
}

/** A real system with a client. */
struct theatre {
    tr_system *system;
    tr_client *client;
};

/* Failures on purpose need no lines. */
static inline void theatre_no_log(void *context, tr_level level, const char *path, const char *text)
{
    (void)context;
    (void)level;
    (void)path;
    (void)text;
}

static inline struct theatre theatre_new(int workers)
{
    struct theatre theatre;
    const tr_system_options options = {
        .size = sizeof options, .workers = workers, .on_log = theatre_no_log};
    ck_assert_int_eq(tr_system_new(&options, &theatre.system), TR_OK);
    ck_assert_int_eq(tr_client_new(theatre.system, &theatre.client), TR_OK);
    return theatre;
}

/* ---- A real system whose time passes slowly, for machines that are busy with other things. ---- */

enum { STAGE_SLOWNESS = 32 };

static inline tr_time slow_now(const tr_platform *platform)
{
    return tr_platform_real()->mono_now(platform) / STAGE_SLOWNESS;
}

static inline void slow_park(const tr_platform *platform, tr_parker *parker, tr_time deadline)
{
    bool is_far = deadline > TR_NEVER / STAGE_SLOWNESS;
    tr_platform_real()->park(platform, parker, is_far ? TR_NEVER : deadline * STAGE_SLOWNESS);
}

static inline tr_time slow_cpu(const tr_platform *platform, const tr_thread *thread)
{
    tr_time cpu_ns = tr_platform_real()->thread_cpu(platform, thread);
    return cpu_ns < 0 ? cpu_ns : cpu_ns / STAGE_SLOWNESS;
}

/** Opens one in which 50 ms after a deadline are more than a second: nobody is given up by mistake. */
static inline struct theatre theatre_open_slow(int workers)
{
    static tr_platform platform;
    struct theatre theatre;
    platform = *tr_platform_real();
    platform.mono_now = slow_now;
    platform.park = slow_park;
    platform.thread_cpu = slow_cpu;
    const tr_system_options options = {.size = sizeof options,
                                       .workers = workers,
                                       .on_log = theatre_no_log,
                                       .platform = &platform};
    ck_assert_int_eq(tr_system_new(&options, &theatre.system), TR_OK);
    ck_assert_int_eq(tr_client_new(theatre.system, &theatre.client), TR_OK);
    ck_assert_int_eq(tr_system_start(theatre.system), TR_OK);
    return theatre;
}

/** As theatre_new, and it runs. */
static inline struct theatre theatre_open(int workers)
{
    struct theatre theatre = theatre_new(workers);
    ck_assert_int_eq(tr_system_start(theatre.system), TR_OK);
    return theatre;
}

/** Shuts down, waits, and looks whether every message is accounted for. */
static inline void theatre_close(struct theatre *theatre)
{
    tr_system_shutdown(theatre->system, STAGE_PATIENCE);
    ck_assert_int_eq(tr_system_wait(theatre->system), TR_OK);
    tr_client_free(theatre->client);
    tr_counters counters;
    tr_system_counters(theatre->system, &counters);
    ck_assert_uint_eq(counters.live, 0);
    ck_assert_uint_eq(counters.accepted,
                      counters.handled + counters.dead_letters - counters.refused);
    tr_system_free(theatre->system);
}

#endif
