/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Death watch on real threads. Keepers on all workers spawn mortals anywhere, watch them, tell each
 * other and a client of them, unwatch some, and end them in many ways, all at once. Each keeps a list
 * of whom it watches: a signal strikes one out, no word of the dead comes after it, and at the end
 * all lists are empty.
 */
#include "support/test.h"

#include <string.h>
#include <troupe/troupe.h>

enum { KEEPERS = 6, OPEN_MAX = 256, GONE = 64 };

TR_MESSAGE(tick, (u64, left));
TR_MESSAGE(meet, (ref, mortal));
TR_MESSAGE(word, (ref, mortal));
TR_MESSAGE(done, (u64, heard));
TR_MESSAGE(end, (u32, how));
TR_MESSAGE(settle, (ref, client));
TR_MESSAGE(patron, (ref, keeper));
TR_ACTOR(keeper, tick, meet, word, settle);
TR_ACTOR(mortal, end);

static keeper_ref keepers[KEEPERS];
static tr_ref listener;
static int worker_count;

/* ---- Mortals. ---- */

struct mortal {
    tr_ref keeper;
};

static tr_next mortal_set_up(tr_self *self, struct mortal *mortal, const struct patron *patron)
{
    mortal->keeper = patron->keeper;
    if (tr_random(self) % 32 == 0)
        return tr_fail(self, TR_FAILED, "stillborn");
    return TR_SAME;
}
static tr_next mortal_start(tr_self *self)
{
    return tr_random(self) % 32 ? TR_SAME : TR_STOP;
}
static tr_next mortal_end(tr_self *self, const struct end *end)
{
    return end->how ? TR_STOP : tr_fail(self, TR_FAILED, "on purpose");
}
static tr_next mortal_last_word(tr_self *self, struct mortal *mortal)
{
    tr_tell(self, mortal->keeper, word, .mortal = tr_me(self));
    return TR_SAME;
}
TR_BEHAVIOR(mortal, struct mortal, TR_SETUP_WITH(patron, mortal_set_up),
            TR_ON(tr_pre_start, mortal_start), TR_ON(end, mortal_end),
            TR_ON(tr_post_stop, mortal_last_word), TR_OPTIONS(.restart = TR_TEMPORARY));

/* ---- Keepers. ---- */

struct keeper {
    tr_ref open[OPEN_MAX];
    size_t count;
    tr_ref gone[GONE]; /* of whose ends it has heard, the last ones */
    uint64_t heard;
    tr_ref client; /* when all is done but the waiting */
};

static size_t find(const struct keeper *keeper, tr_ref ref)
{
    size_t i = 0;
    while (i < keeper->count && !tr_is_same(keeper->open[i], ref))
        i++;
    return i;
}

static void strike_out(struct keeper *keeper, size_t i)
{
    keeper->open[i] = keeper->open[--keeper->count];
}

static void watch(tr_self *self, struct keeper *keeper, tr_ref ref)
{
    if (find(keeper, ref) < keeper->count || keeper->count == OPEN_MAX)
        return;
    tr_watch(self, ref);
    keeper->open[keeper->count++] = ref;
}

static void end_somehow(tr_self *self, mortal_ref mortal)
{
    switch (tr_random(self) % 4) {
    case 0:
        tr_kill(self, mortal);
        break;
    case 1:
        tr_stop(self, mortal);
        break;
    default:
        tr_tell(self, mortal, end, .how = (uint32_t)(tr_random(self) % 2));
        break;
    }
}

static tr_next on_tick(tr_self *self, struct keeper *keeper, const struct tick *tick)
{
    mortal_ref mortal;
    int at = (int)(tr_random(self) % (uint64_t)worker_count);
    tr_status status =
        tr_try_spawn_at(self, &mortal, at, mortal, NULL, patron, .keeper = tr_me(self));
    if (status == TR_OK) {
        bool is_early = tr_random(self) % 2;
        if (is_early)
            watch(self, keeper, tr_any(mortal));
        for (uint64_t i = tr_random(self) % 3; i; i--)
            tr_tell(self, keepers[tr_random(self) % KEEPERS], meet, .mortal = tr_any(mortal));
        if (tr_random(self) % 4 == 0)
            tr_tell(self, listener, meet, .mortal = tr_any(mortal));
        end_somehow(self, mortal);
        if (!is_early)
            watch(self, keeper, tr_any(mortal));
    }
    if (keeper->count && tr_random(self) % 4 == 0) {
        size_t i = tr_random(self) % keeper->count;
        tr_ref ref = keeper->open[i];
        tr_unwatch(self, ref);
        strike_out(keeper, i);
        if (tr_random(self) % 2)
            watch(self, keeper, ref);
    }
    if (tick->left)
        tr_tell(self, tr_me(self), tick, .left = tick->left - 1);
    else
        tr_tell(self, listener, done);
    return TR_SAME;
}

static tr_next on_meet(tr_self *self, struct keeper *keeper, const struct meet *meet)
{
    watch(self, keeper, meet->mortal);
    return TR_SAME;
}

static tr_next on_word(struct keeper *keeper, const struct word *word)
{
    for (size_t i = 0; i < GONE; i++)
        ck_assert(!tr_is_same(keeper->gone[i], word->mortal)); /* the signal comes last */
    return TR_SAME;
}

static void finish(tr_self *self, struct keeper *keeper)
{
    if (tr_is_nobody(keeper->client) || keeper->count)
        return;
    tr_tell(self, keeper->client, done, .heard = keeper->heard);
    keeper->client = TR_NOBODY;
}

static tr_next on_terminated(tr_self *self, struct keeper *keeper,
                             const struct tr_terminated *message)
{
    size_t i = find(keeper, message->who);
    ck_assert_uint_lt(i, keeper->count);
    keeper->gone[keeper->heard++ % GONE] = message->who;
    strike_out(keeper, i);
    ck_assert_int_eq(tr_tell(self, message->who, end), TR_STOPPED);
    finish(self, keeper);
    return TR_SAME;
}

static tr_next on_settle(tr_self *self, struct keeper *keeper, const struct settle *settle)
{
    keeper->client = settle->client;
    finish(self, keeper);
    return TR_SAME;
}
TR_BEHAVIOR(keeper, struct keeper, TR_ON(tick, on_tick), TR_ON(meet, on_meet), TR_ON(word, on_word),
            TR_ON(settle, on_settle), TR_ON(tr_terminated, on_terminated));

/* ---- The play. ---- */

static uint64_t wait_for_all(tr_client *client, uint64_t *met)
{
    uint64_t heard = 0;
    for (int left = KEEPERS; left;) {
        const struct meet *meet = tr_receive(client, meet, 0);
        if (meet) {
            tr_ref who = meet->mortal;
            ck_assert_int_eq(tr_watch(client, who), TR_OK);
            ++*met;
            if (*met % 4 == 0) {
                ck_assert_int_eq(tr_unwatch(client, who), TR_OK);
                --*met;
            }
            continue;
        }
        if (tr_receive(client, tr_terminated, 0)) {
            --*met;
            continue;
        }
        const struct done *done = tr_receive(client, done, TR_MILLISECOND);
        if (!done)
            continue;
        heard += done->heard;
        left--;
    }
    return heard;
}

static void on_log(void *context, tr_level level, const char *path, const char *text)
{
    (void)context;
    (void)level;
    (void)path;
    (void)text;
}

static void play(int workers, uint64_t seed, uint64_t ticks)
{
    tr_system *system;
    tr_client *client;
    worker_count = workers;
    tr_system_options options = {.size = sizeof options,
                                 .name = "watch",
                                 .workers = workers,
                                 .seed = seed,
                                 .on_log = on_log};
    ck_assert_int_eq(tr_system_new(&options, &system), TR_OK);
    ck_assert_int_eq(tr_client_new(system, &client), TR_OK);
    listener = tr_client_ref(client);
    for (int i = 0; i < KEEPERS; i++)
        ck_assert_int_eq(tr_try_spawn_at(client, &keepers[i], i % workers, keeper, NULL), TR_OK);
    ck_assert_int_eq(tr_system_start(system), TR_OK);
    uint64_t met = 0;
    for (int i = 0; i < KEEPERS; i++)
        tr_tell(client, keepers[i], tick, .left = ticks);
    (void)wait_for_all(client, &met);
    /* All have ended, or will: what is open must be closed by signals. */
    for (int i = 0; i < KEEPERS; i++)
        tr_tell(client, keepers[i], settle, .client = listener);
    ck_assert_uint_gt(wait_for_all(client, &met), 0);
    while (met) {
        ck_assert_ptr_nonnull(tr_receive(client, tr_terminated, 20 * TR_SECOND));
        met--;
    }
    tr_client_free(client);
    tr_system_shutdown(system, 5 * TR_SECOND);
    ck_assert_int_eq(tr_system_wait(system), TR_OK);
    tr_counters counters;
    tr_system_counters(system, &counters);
    ck_assert_uint_eq(counters.queued, 0);
    tr_system_free(system);
}

TEST(watches_on_real_threads, "WA-01", "WA-04", "WA-05", "WA-13", "SG-03")
{
    uint64_t seed = test_seed();
    for (uint64_t i = 0; i < 8; i++)
        play(1 + (int)(i % 4), seed + i, test_scale(1000, 20000));
}

SUITE("watch threads", watches_on_real_threads)
