/* SPDX-License-Identifier: Apache-2.0 */
/**
 * For tests of senders that wait for capacity: a sink with a small mailbox, and sources that send to it
 * from its own worker and from another. A sink that is Suspended takes nothing out of its mailbox,
 * so tests fill it and hold it shut as long as they like.
 */
#ifndef TROUPE_TESTS_SUPPORT_PARKS_H
#define TROUPE_TESTS_SUPPORT_PARKS_H

#include "support/kits.h"

TR_MESSAGE(item, (u32, from), (u32, n));
TR_MESSAGE(load, (u32, from), (u32, n), (bytes, data));
TR_MESSAGE(go, (u32, id), (u32, count), (ref, to));
TR_MESSAGE(tick, (u32, n));
TR_ACTOR(sink, run, item, load);
TR_ACTOR(strait, run, item, load);
TR_ACTOR(source, run, go, item, tick);

/* Kits have one thread: what all sinks and sources have seen. */
static char seen[1 << 14]; /* by sinks, in order: "1.0 1.1 2.0 " */
static size_t seen_length;
static uint32_t seen_count;
static uint32_t done_count;       /* turns of sources that have ended */
static tr_status last_status[64]; /* of the last send of a source */
static uint32_t ok_count;         /* sends that were taken */
static turn *in_item;             /* what else a sink does with an item */

static tr_next note(tr_self *self, uint32_t from, uint32_t n)
{
    seen_count++;
    if (seen_length + 16 < sizeof seen)
        seen_length += (size_t)snprintf(
            seen + seen_length, sizeof seen - seen_length, "%u.%u ", (unsigned)from, (unsigned)n);
    return in_item ? in_item(self) : TR_SAME;
}

KITS_UNUSED static tr_next on_item(tr_self *self, const struct item *message)
{
    return note(self, message->from, message->n);
}

KITS_UNUSED static tr_next on_load(tr_self *self, const struct load *message)
{
    return note(self, message->from, message->n);
}

#define SEEN(words)                                                                                \
    do {                                                                                           \
        ck_assert_msg(strcmp(seen, words) == 0,                                                    \
                      "home %d, seed %" PRIu64 ": seen \"%s\", not \"%s\"",                        \
                      home,                                                                        \
                      kits_seed,                                                                   \
                      seen,                                                                        \
                      (const char *)(words));                                                      \
        seen_length = 0;                                                                           \
        seen[0] = '\0';                                                                            \
    } while (0)

TR_BEHAVIOR(sink, void, TR_ON(run, on_run), TR_ON(item, on_item), TR_ON(load, on_load),
            TR_OPTIONS(.restart = TR_TEMPORARY, .mailbox_max = 3, .overflow = TR_PARK));
/* One at a time: what comes through is in the order in which it was let in. */
TR_BEHAVIOR(strait, void, TR_ON(run, on_run), TR_ON(item, on_item), TR_ON(load, on_load),
            TR_OPTIONS(.restart = TR_TEMPORARY, .mailbox_max = 1, .overflow = TR_PARK));

/* Sends `count` items, one after another, and continues after a refusal. */
KITS_UNUSED static tr_next on_go(tr_self *self, const struct go *message)
{
    for (uint32_t n = 0; n < message->count; n++) {
        tr_status status = tr_tell(self, message->to, item, .from = message->id, .n = n);
        last_status[message->id] = status;
        ok_count += status == TR_OK;
    }
    done_count++;
    return TR_SAME;
}

KITS_UNUSED static tr_next on_tick(const struct tick *message)
{
    say("tick %u", (unsigned)message->n);
    return TR_SAME;
}

KITS_UNUSED static tr_next on_end(void)
{
    say("end");
    return TR_SAME;
}

TR_BEHAVIOR(source, void, TR_ON(run, on_run), TR_ON(go, on_go), TR_ON(item, on_item),
            TR_ON(tick, on_tick), TR_ON(tr_post_stop, on_end), TR_OPTIONS(.restart = TR_TEMPORARY));

static sink_ref sink;
static strait_ref strait;
static source_ref near_one; /* on the worker of the sinks */
static source_ref far_one;  /* on another, where there is one */

KITS_UNUSED static void parks_begin(void)
{
    seen_length = 0;
    seen[0] = '\0';
    seen_count = 0;
    done_count = 0;
    ok_count = 0;
    in_item = NULL;
    memset(last_status, 0, sizeof last_status);
    ck_assert_int_eq(tr_try_spawn_at(test, &sink, home, sink, NULL), TR_OK);
    ck_assert_int_eq(tr_try_spawn_at(test, &strait, home, strait, NULL), TR_OK);
    ck_assert_int_eq(tr_try_spawn_at(test, &near_one, home, source, NULL), TR_OK);
    ck_assert_int_eq(tr_try_spawn_at(test, &far_one, 0, source, NULL), TR_OK);
    tr_kit_settle(kit);
}

/** Lets a source send, until it has, or waits. */
KITS_UNUSED static void let_send(source_ref source, uint32_t id, uint32_t count, tr_ref to)
{
    ck_assert_int_eq(tr_tell(test, source, go, .id = id, .count = count, .to = to), TR_OK);
    tr_kit_settle(kit);
    tr_kit_check(kit);
}

/** Nothing leaves its mailbox until tr_resume. */
#define SHUT(actor)                                                                                \
    do {                                                                                           \
        ck_assert_int_eq(tr_suspend(test, actor), TR_OK);                                          \
        tr_kit_settle(kit);                                                                        \
    } while (0)

#define OPEN(actor)                                                                                \
    do {                                                                                           \
        ck_assert_int_eq(tr_resume(test, actor), TR_OK);                                           \
        tr_kit_settle(kit);                                                                        \
        tr_kit_check(kit);                                                                         \
    } while (0)

#endif
