/* SPDX-License-Identifier: Apache-2.0 */
/**
 * For tests of death watch: people, "a", "b" and so on, and a watcher that says whose end it hears of.
 *
 * Each play runs on one to four workers, with watcher and people on workers that the seed decides.
 */
#ifndef TROUPE_TESTS_SUPPORT_PEOPLE_H
#define TROUPE_TESTS_SUPPORT_PEOPLE_H

#include "support/kits.h"

TR_MESSAGE(note, (u32, n));
TR_ACTOR(one, run, note);

enum { PEOPLE = 8 };

/* Those whose ends are spoken of: "a", "b", and so on. */
static tr_ref people[PEOPLE];
static int people_count;
static int far; /* where targets live */

static int person(tr_ref ref)
{
    for (int i = 0; i < people_count; i++) {
        if (tr_is_same(people[i], ref))
            return 'a' + i;
    }
    return '?';
}

KITS_UNUSED static tr_next on_terminated(const struct tr_terminated *message)
{
    say("%c", person(message->who));
    return TR_SAME;
}

KITS_UNUSED static tr_next on_note(const struct note *message)
{
    say("%" PRIu32, message->n);
    return TR_SAME;
}

TR_BEHAVIOR(one, void, TR_ON(run, on_run), TR_ON(note, on_note),
            TR_ON(tr_terminated, on_terminated), TR_OPTIONS(.restart = TR_TEMPORARY));

static one_ref watcher;

KITS_UNUSED static void each(void (*play)(void))
{
    for (int workers = 1; workers <= 4; workers++) {
        for (uint64_t seed = 1; seed <= TEST_SEEDS(16); seed++) {
            kit_open(workers, seed);
            far = (int)(seed % (uint64_t)workers);
            people_count = 0;
            ck_assert_int_eq(tr_try_spawn_at(test, &watcher, home, one, "watcher"), TR_OK);
            play();
            kit_close();
        }
    }
}

KITS_UNUSED static one_ref born(const char *name)
{
    one_ref ref;
    ck_assert_int_lt(people_count, PEOPLE);
    ck_assert_int_eq(tr_try_spawn_at(test, &ref, far, one, name), TR_OK);
    people[people_count++] = tr_any(ref);
    return ref;
}

KITS_UNUSED static one_ref a(void)
{
    return one_ref_of(people[0]);
}

KITS_UNUSED static one_ref b(void)
{
    return one_ref_of(people[1]);
}

/* ---- Turns. ---- */

KITS_UNUSED static tr_next watch_all(tr_self *self)
{
    for (int i = 0; i < people_count; i++)
        ck_assert_int_eq(tr_watch(self, people[i]), TR_OK);
    return TR_SAME;
}

KITS_UNUSED static tr_next unwatch_all(tr_self *self)
{
    for (int i = 0; i < people_count; i++)
        ck_assert_int_eq(tr_unwatch(self, people[i]), TR_OK);
    return TR_SAME;
}

KITS_UNUSED static tr_next stop(tr_self *self)
{
    (void)self;
    return TR_STOP;
}

KITS_UNUSED static tr_next break_down(tr_self *self)
{
    return tr_fail(self, TR_FAILED, "on purpose");
}

KITS_UNUSED static tr_next crash(tr_self *self)
{
    tr_crash(self, TR_FAILED, "on purpose");
}

KITS_UNUSED static tr_next watch_and_unwatch(tr_self *self)
{
    (void)watch_all(self);
    return unwatch_all(self);
}

KITS_UNUSED static tr_next watch_unwatch_watch(tr_self *self)
{
    (void)watch_and_unwatch(self);
    return watch_all(self);
}

KITS_UNUSED static tr_next sleep_long(tr_self *self)
{
    (void)tr_sleep(self, 10 * MS);
    return TR_SAME;
}

#define DO(who, turn)                                                                              \
    do {                                                                                           \
        TELL_RUN(test, who, turn);                                                                 \
        tr_kit_settle(kit);                                                                        \
    } while (0)

#endif
