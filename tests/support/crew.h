/* SPDX-License-Identifier: Apache-2.0 */
/**
 * For tests of supervision: actors that say what happens to them, and a parent that starts some of
 * them, each on another worker when there are several.
 *
 *     PARENT(together, TR_SUPERVISE(TR_ALL_FOR_ONE))
 *     crew_open(&tr_behavior_together, &tr_behavior_kid, 3);
 *     DO(kid[1], fall);
 *     SAID("...");
 */
#ifndef TROUPE_TESTS_SUPPORT_CREW_H
#define TROUPE_TESTS_SUPPORT_CREW_H

#include "support/kits.h"

enum { CREW_MAX = 8 };

TR_MESSAGE(note, (u64, n));
TR_REQUEST(query, note, (u64, n));
TR_MESSAGE(label, (str, text));

/** The parent, and its children, whose names are a, b, c... */
static tr_ref boss;
static tr_ref kid[CREW_MAX];
static int kid_count;
static const tr_behavior *kid_behavior;

/** Whose PreStart, or set-up, fails the next `times` times. */
static struct {
    const char *name;
    int times;
} broken_start, broken_setup;

/** Whether starts and stops are of interest, and not failures alone. */
static bool is_quiet;

#define SAY(...) (is_quiet ? (void)0 : say(__VA_ARGS__))

static bool is_broken(const char *name, int *times, const tr_self *self)
{
    if (!name || strcmp(name, tr_name(self)) != 0 || *times <= 0)
        return false;
    (*times)--;
    return true;
}

static tr_next fall(tr_self *self)
{
    return tr_fail(self, TR_BAD_DATA, "fell");
}

KITS_UNUSED static tr_next leave(tr_self *self)
{
    (void)self;
    return TR_STOP;
}

KITS_UNUSED static tr_next crew_setup(tr_self *self)
{
    SAY("%s set-up", tr_name(self));
    return is_broken(broken_setup.name, &broken_setup.times, self) ? fall(self) : TR_SAME;
}

static tr_next crew_start(tr_self *self)
{
    SAY("%s start", tr_name(self));
    return is_broken(broken_start.name, &broken_start.times, self) ? fall(self) : TR_SAME;
}

static tr_next crew_stop(tr_self *self)
{
    SAY("%s stop", tr_name(self));
    return TR_SAME;
}

static tr_next crew_down(tr_self *self, const struct tr_pre_restart *message)
{
    SAY("%s down", tr_name(self));
    ck_assert_int_lt(message->cause.status, TR_OK);
    return TR_SAME;
}

static tr_next crew_up(tr_self *self, const struct tr_post_restart *message)
{
    SAY("%s up", tr_name(self));
    ck_assert_int_lt(message->cause.status, TR_OK);
    return TR_SAME;
}

static tr_next crew_note(tr_self *self, const struct note *message)
{
    say("%s %" PRIu64, tr_name(self), message->n);
    return TR_SAME;
}

static tr_next crew_query(tr_self *self, const struct query *message)
{
    say("%s? %" PRIu64, tr_name(self), message->n);
    return tr_reply(self, note, .n = message->n);
}

/** Every tr_child_failed since the last time, one letter for each directive, and the last of them. */
static char told_text[2048];
static tr_ref told_child;
static tr_error told_cause;

static tr_next crew_child_failed(const struct tr_child_failed *message)
{
    static const char letters[] = "RrSE"; /* restart, resume, stop, escalate */
    size_t length = strlen(told_text);
    ck_assert_uint_lt(length + 1, sizeof told_text);
    ck_assert_uint_le(message->directive, TR_ESCALATE);
    told_text[length] = letters[message->directive];
    told_text[length + 1] = '\0';
    ck_assert(!tr_is_nobody(message->child));
    told_child = message->child;
    told_cause = message->cause;
    return TR_SAME;
}

/** Exactly these directives were told to parents since the last time. */
#define TOLD(letters)                                                                              \
    do {                                                                                           \
        ck_assert_msg(strcmp(told_text, letters) == 0,                                             \
                      "home %d, seed %" PRIu64 ": told \"%s\", not \"%s\"",                        \
                      home,                                                                        \
                      kits_seed,                                                                   \
                      told_text,                                                                   \
                      letters);                                                                    \
        told_text[0] = '\0';                                                                       \
    } while (0)

#define CREW_ROWS                                                                                  \
    TR_ON(run, on_run), TR_ON(note, crew_note), TR_ON(query, crew_query),                          \
        TR_ON(tr_pre_start, crew_start), TR_ON(tr_post_stop, crew_stop),                           \
        TR_ON(tr_pre_restart, crew_down), TR_ON(tr_post_restart, crew_up),                         \
        TR_ON(tr_child_failed, crew_child_failed)

#define PARENT(name, ...) TR_BEHAVIOR(name, void, CREW_ROWS, __VA_ARGS__)
#define KID(name, ...) TR_BEHAVIOR(name, void, TR_SETUP(crew_setup), CREW_ROWS, __VA_ARGS__)

TR_BEHAVIOR_DECLARE(kid_plain);
KID(kid_plain, TR_OPTIONS(.is_pinned = true));

/** Starts the children, on the workers in turn, beginning with that of the test. */
static tr_next crew_spawn(tr_self *self)
{
    static const char *const names[CREW_MAX] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    for (int i = 0; i < kid_count; i++) {
        const tr_spawn_args args = {.size = sizeof args,
                                    .behavior = kid_behavior,
                                    .name = names[i],
                                    .worker = i % (home + 1)};
        uint64_t bits = 0;
        ck_assert_int_eq(tr_self_try_spawn(self, &args, &bits), TR_OK);
        kid[i] = tr_ref_from_bits(bits);
    }
    return TR_SAME;
}

/** Tells an actor to run a function, and lets everything settle. */
#define DO(to, turn_)                                                                              \
    do {                                                                                           \
        ck_assert_int_eq(TELL_RUN(test, to, turn_), TR_OK);                                        \
        tr_kit_settle(kit);                                                                        \
    } while (0)

static tr_ref crew_spawn_top(const tr_behavior *behavior, const char *name)
{
    const tr_spawn_args args = {
        .size = sizeof args, .behavior = behavior, .name = name, .worker = home};
    uint64_t bits = 0;
    ck_assert_int_eq(tr_client_try_spawn(test, &args, &bits), TR_OK);
    tr_kit_settle(kit);
    return tr_ref_from_bits(bits);
}

/** A parent named "boss" and its children, all up and nothing said so far. */
KITS_UNUSED static void crew_open(const tr_behavior *parent, const tr_behavior *child, int count)
{
    is_quiet = false;
    broken_start.name = NULL;
    broken_setup.name = NULL;
    kid_count = count;
    kid_behavior = child;
    boss = crew_spawn_top(parent, "boss");
    DO(boss, crew_spawn);
    (void)said();
    told_text[0] = '\0';
}

KITS_UNUSED static void tell_notes(tr_ref to, uint64_t first, uint64_t last)
{
    for (uint64_t n = first; n <= last; n++)
        ck_assert_int_eq(tr_tell(test, to, note, .n = n), TR_OK);
}

static bool crew_is_up;
static tr_next crew_ping(tr_self *self)
{
    (void)self;
    crew_is_up = true;
    return TR_SAME;
}

/** Whether an actor handles its mail. */
KITS_UNUSED static bool is_up(tr_ref who)
{
    crew_is_up = false;
    (void)TELL_RUN(test, who, crew_ping);
    tr_kit_settle(kit);
    return crew_is_up;
}

#endif
