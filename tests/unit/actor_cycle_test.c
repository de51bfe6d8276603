/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The parts of a cycle: barriers change nothing in the order of mail, and do not look at all of it.
 *
 * A cell is made by hand here, without a system. The reference keeps one list, and sorts all of it
 * whenever a barrier begins or ends.
 */
#include "support/test.h"

#include <stdlib.h>
#include <string.h>
#include <troupe/ask.h>
#include <troupe/kit.h>

#include "actor/cell/durable.h"
#include "actor/cell/slots.h"
#include "actor/mail/cycle.h"
#include "actor/mail/kind.h"
#include "actor/mail/mail.h"
#include "base/rng.h"

enum { STEPS = 4000, BATCH = 6 };

struct sequence {
    const struct envelope *items[STEPS * BATCH];
    size_t count;
};

/* The mailboxes in the order of a cycle, without those of channels. */
enum box { REPLIES, EXCEPTIONS, REQUESTS, NOTICES, EVENTS, BOXES };

static struct sequence boxes[BOXES];
static struct sequence cycle;
static struct sequence held;
static bool has_barrier;

static struct cell cell;
static struct cell_extra extra;
static struct durable durable;
static struct envelope envelopes[STEPS * BATCH];
static size_t used;
static struct rng rng;

static void put(struct sequence *to, const struct envelope *envelope)
{
    to->items[to->count++] = envelope;
}

static void move(struct sequence *to, struct sequence *from)
{
    for (size_t i = 0; i < from->count; i++)
        put(to, from->items[i]);
    from->count = 0;
}

static void put_before(struct sequence *to, struct sequence *first)
{
    move(first, to);
    move(to, first);
}

static const struct envelope *take(struct sequence *from)
{
    const struct envelope *first = from->items[0];
    from->count--;
    memmove((void *)from->items, (void *)(from->items + 1), from->count * sizeof *from->items);
    return first;
}

/* Removes the answers at the beginning of the reference's cycle. */
static void take_answers(struct sequence *to)
{
    while (cycle.count && mail_is_answer(cycle.items[0]))
        put(to, take(&cycle));
}

static bool reference_waits(const struct envelope *envelope)
{
    return !kind_has(envelope->kind, MAIL_PASSES_BARRIER) ||
           (extra.durable && envelope->kind == ENVELOPE_EVENT);
}

static void reference_hold(void)
{
    static struct sequence answers;
    static struct sequence others;
    has_barrier = true;
    while (cycle.count) {
        const struct envelope *envelope = take(&cycle);
        bool is_answer = mail_is_answer(envelope);
        put(reference_waits(envelope) ? &held : is_answer ? &answers : &others, envelope);
    }
    move(&cycle, &answers);
    move(&cycle, &others);
}

static void reference_release(void)
{
    static struct sequence first;
    has_barrier = false;
    take_answers(&first);
    move(&first, &held);
    put_before(&cycle, &first);
}

static void reference_resume(void)
{
    static struct sequence first;
    take_answers(&first);
    move(&first, &boxes[REPLIES]);
    move(&first, &boxes[EXCEPTIONS]);
    put_before(&cycle, &first);
}

static bool reference_join(void)
{
    for (int i = 0; i < BOXES; i++) {
        bool is_user = i == REQUESTS || i == NOTICES;
        if (!(has_barrier && (is_user || (i == EVENTS && extra.durable))))
            move(&cycle, &boxes[i]);
    }
    return cycle.count;
}

static struct envelope *new_mail(enum envelope_kind kind)
{
    struct envelope *envelope = &envelopes[used++];
    envelope->kind = (uint8_t)kind;
    return envelope;
}

/* Something arrives. */
static void arrive(void)
{
    static const struct {
        enum box box;
        enum envelope_kind kind;
    } kinds[] = {{REPLIES, ENVELOPE_REPLY},
                 {EXCEPTIONS, ENVELOPE_EXCEPTION},
                 {REQUESTS, ENVELOPE_ASK},
                 {NOTICES, ENVELOPE_NOTICE},
                 {NOTICES, ENVELOPE_SIGNAL},
                 {NOTICES, ENVELOPE_VOID},
                 {EVENTS, ENVELOPE_EVENT}};
    struct envelope **const rings[] = {
        &cell.replies, &cell.exceptions, &extra.mail.requests, &cell.notices, &cell.events};
    size_t i = rng_below(&rng, sizeof kinds / sizeof *kinds);
    struct envelope *envelope = new_mail(kinds[i].kind);
    put(&boxes[kinds[i].box], envelope);
    ring_push(rings[kinds[i].box], envelope);
    if (envelope->kind != ENVELOPE_NOTICE)
        cell.flags |= CELL_MIXED;
}

/* Messages return from the stash. */
static void unstash(void)
{
    static const enum envelope_kind kinds[] = {ENVELOPE_NOTICE, ENVELOPE_ASK, ENVELOPE_EVENT};
    static struct sequence first;
    struct envelope *ring = NULL;
    for (uint64_t count = rng_below(&rng, BATCH); count > 0; count--) {
        struct envelope *envelope = new_mail(kinds[rng_below(&rng, 3)]);
        put(&first, envelope);
        ring_push(&ring, envelope);
    }
    put_before(has_barrier ? &held : &cycle, &first);
    tr__mail_put_first(&cell, ring);
}

/* The run takes its next message: both take the same one, or none. */
static void take_next(void)
{
    bool expects = cycle.count || reference_join();
    bool has = cell.cycle || mail_begin_cycle(&cell);
    ck_assert_int_eq(has, expects);
    if (has)
        ck_assert_ptr_eq(ring_pop(&cell.cycle), take(&cycle));
}

static void change_barrier(void)
{
    if (has_barrier) {
        reference_release();
        tr__mail_release(&cell);
    } else {
        reference_hold();
        tr__mail_hold(&cell);
    }
}

/* A run begins. */
static void resume(void)
{
    ck_assert_int_eq(cycle.count > 0, mail_is_unfinished(&cell));
    if (!cycle.count)
        return;
    reference_resume();
    tr__mail_resume_cycle(&cell);
}

static void play(uint64_t seed, bool is_durable)
{
    memset(&cell, 0, sizeof cell);
    memset(&extra, 0, sizeof extra);
    memset(boxes, 0, sizeof boxes);
    cycle.count = held.count = used = 0;
    has_barrier = false;
    cell.extra = &extra;
    extra.durable = is_durable ? &durable : NULL;
    rng_init(&rng, seed);
    for (int i = 0; i < STEPS; i++) {
        uint64_t what = rng_below(&rng, 100);
        if (what < 45)
            arrive();
        else if (what < 85)
            take_next();
        else if (what < 92)
            change_barrier();
        else if (what < 96)
            unstash();
        else
            resume();
        if (cycle.count)
            ck_assert(cell.cycle || mail_has_arrived(&cell)); /* the run is continued */
    }
    if (has_barrier)
        change_barrier();
    while (cycle.count || reference_join())
        take_next();
    ck_assert(!mail_begin_cycle(&cell));
    ck_assert(!extra.mail.held && !extra.mail.late && !cell.notices);
}

TEST(barriers_change_nothing_in_the_order_of_mail, "M-01", "D-03")
{
    uint64_t seed = test_seed();
    for (int i = 0; i < TEST_SEEDS(100); i++)
        play(seed + (uint64_t)i, i % 3 == 0);
}

/* ---- The cost. ---- */

TR_MESSAGE(answer, (u32, n));
TR_MESSAGE(done);
TR_REQUEST(question, answer);
TR_MESSAGE(job, (u32, n));
TR_ACTOR(oracle, question);
TR_ACTOR(asker, job, done);

static oracle_ref oracle;
static uint32_t next_job;
static bool is_done;

static tr_next on_question(tr_self *self)
{
    tr_reply(self, answer, .n = 1);
    return TR_SAME;
}

TR_BEHAVIOR(oracle, void, TR_ON(question, on_question));

static tr_next on_job(tr_self *self, const struct job *message)
{
    const struct answer *reply;
    ck_assert_uint_eq(message->n, next_job);
    question_ask asked = tr_ask(self, oracle, question);
    ck_assert_int_eq(tr_try_await(self, asked, &reply), TR_OK);
    ck_assert_uint_eq(message->n, next_job++);
    return TR_SAME;
}

static tr_next on_done(void)
{
    is_done = true;
    return TR_SAME;
}

TR_BEHAVIOR(asker, void, TR_ON(job, on_job, .is_barrier = true), TR_ON(done, on_done));

/* Returns how many messages `depth` barriers in a row have looked at, if all of them wait in the mailbox first. */
static uint32_t looked_at(uint32_t depth)
{
    tr_kit_options options = {.workers = 1};
    tr_kit *kit = tr_kit_new(&options);
    tr_client *client = tr_kit_client(kit);
    asker_ref asker;
    ck_assert_int_eq(tr_try_spawn(client, &oracle, oracle, NULL), TR_OK);
    ck_assert_int_eq(tr_try_spawn(client, &asker, asker, NULL), TR_OK);
    (void)tr_kit_settle(kit);
    next_job = 0;
    is_done = false;
    for (uint32_t n = 0; n < depth; n++)
        tr_tell(client, asker, job, .n = n);
    tr_tell(client, asker, done);
    (void)tr_kit_settle(kit);
    tr_kit_check(kit);
    ck_assert_uint_eq(next_job, depth);
    ck_assert(is_done);
    const struct cell *actor = slots_find(tr_kit_system(kit)->slots, asker.bits);
    uint32_t sorted = actor->extra->mail.sorted;
    tr_kit_free(kit);
    return sorted;
}

TEST(a_barrier_does_not_look_at_all_mail_that_waits, "D-03")
{
    static const uint32_t depths[] = {1, 20, 200, 2000, 20000};
    for (size_t i = 0; i < sizeof depths / sizeof *depths; i++)
        ck_assert_uint_le(looked_at(depths[i]), depths[i] + 1); /* each message once */
}

SUITE("parts of a cycle", barriers_change_nothing_in_the_order_of_mail,
      a_barrier_does_not_look_at_all_mail_that_waits)
