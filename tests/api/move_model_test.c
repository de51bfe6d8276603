/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Actors that move, by chance: they tell, ask, stash, set timers, watch, spawn, sleep, fail, become,
 * suspend, stop and kill each other at random. What the test knows of them says of each message, tick,
 * signal and outcome whether it may come now, and at the end whether all have come.
 */
#include "support/kits.h"

static uint64_t chance_bits;

static uint32_t chance(uint32_t count)
{
    chance_bits = chance_bits * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(chance_bits >> 33) % count;
}

TR_MESSAGE(birth, (u32, index));
TR_MESSAGE(act, (u32, index));
TR_MESSAGE(note, (u32, from), (u32, n), (bytes, data));
TR_MESSAGE(keep, (u32, n));
TR_MESSAGE(tick, (u32, timer), (u32, version));
TR_MESSAGE(answer, (u32, n));
TR_REQUEST(question, answer, (u32, n));
TR_ACTOR(soul, act, note, keep, tick, question);
TR_ACTOR(root, act);
TR_BEHAVIOR_DECLARE(soul);
TR_BEHAVIOR_DECLARE(other_soul);

enum { SOULS = 80, TIMERS = 4, KEYS = 2, LATERS = 2, CLIENT = SOULS };
enum soul_life { UNBORN, BEGUN, ENDED };

/* What is known of each. */
static struct known {
    tr_ref ref;
    enum soul_life life;
    bool watches[SOULS];
    uint32_t sent[SOULS];    /* notes, those that were taken */
    uint32_t got[SOULS + 1]; /* and of whom */
    uint32_t kept;           /* in its stash */
    uint32_t keep_first;     /* its oldest one is not below */
    tr_time due_ns[TIMERS];  /* 0: off */
    uint32_t version[TIMERS];
    uint32_t laters[LATERS];
    bool is_other; /* its behavior */
    uint32_t incarnation;
} known[SOULS];
static uint32_t soul_count;
static uint32_t client_sent[SOULS];
static uint64_t asks_open;
static uint32_t keeps;
static bool is_over; /* nobody acts any more */
static uint64_t counted_ticks, counted_signals, counted_answers, counted_restarts, counted_keeps;

struct soul {
    uint32_t index;
    uint32_t incarnation;
    uint32_t check;
    tr_timer handles[TIMERS];
    tr_later laters[LATERS];
    unsigned char *block;
};

static tr_next on_birth(tr_self *self, struct soul *soul, const struct birth *birth)
{
    struct known *me = &known[birth->index];
    soul->index = birth->index;
    soul->incarnation = ++me->incarnation;
    soul->check = birth->index * 31 + me->incarnation;
    soul->block = tr_alloc(self, 40 + 100 * chance(4));
    soul->block[0] = (unsigned char)soul->check;
    me->kept = 0;
    me->is_other = false;
    memset(me->due_ns, 0, sizeof me->due_ns);
    return TR_SAME;
}

static struct known *look(const struct soul *soul)
{
    struct known *me = &known[soul->index];
    ck_assert_uint_eq(soul->incarnation, me->incarnation);
    ck_assert_uint_eq(soul->check, soul->index * 31 + me->incarnation);
    ck_assert_uint_eq(soul->block[0], (unsigned char)soul->check);
    return me;
}

static tr_next on_start(struct soul *soul)
{
    look(soul)->life = BEGUN;
    return TR_SAME;
}

static tr_next on_end(struct soul *soul)
{
    look(soul)->life = ENDED;
    return TR_SAME;
}

static tr_next on_down(struct soul *soul)
{
    look(soul)->life = UNBORN; /* an end that comes now is that of nobody */
    counted_restarts++;
    return TR_SAME;
}

static tr_next on_note(struct soul *soul, const struct note *message)
{
    uint32_t *next = &look(soul)->got[message->from];
    ck_assert_msg(message->n == *next,
                  "seed %" PRIu64 ": %u got note %u of %u, not %u",
                  kits_seed,
                  soul->index,
                  message->n,
                  message->from,
                  *next);
    ++*next;
    for (size_t i = 0; i < message->data.size; i++)
        ck_assert_uint_eq(((const unsigned char *)message->data.data)[i], message->n % 256);
    return TR_SAME;
}

static tr_next on_keep(tr_self *self, struct soul *soul, const struct keep *message)
{
    struct known *me = look(soul);
    ck_assert_uint_eq(tr_stash_count(self), me->kept);
    counted_keeps++;
    if (me->kept < 8 && chance(3)) {
        me->kept++;
        return tr_stash(self);
    }
    ck_assert_uint_lt(message->n, keeps);
    return TR_SAME;
}

static tr_next on_tick(tr_self *self, struct soul *soul, const struct tick *message)
{
    struct known *me = look(soul);
    tr_time due_ns = me->due_ns[message->timer];
    ck_assert_uint_eq(message->version, me->version[message->timer]);
    ck_assert_int_ne(due_ns, 0);
    ck_assert_int_ge(tr_now(self), due_ns);
    me->due_ns[message->timer] = 0;
    counted_ticks++;
    return TR_SAME;
}

static tr_next on_question(tr_self *self, struct soul *soul, const struct question *message)
{
    struct known *me = look(soul);
    uint32_t which = chance(2 * LATERS);
    if (which < LATERS && !soul->laters[which].number) {
        soul->laters[which] = tr_reply_later(self);
        me->laters[which] = message->n;
        return TR_SAME;
    }
    return chance(8) ? tr_reply(self, answer, .n = message->n * 7) : TR_SAME;
}

static uint32_t soul_of(tr_ref ref)
{
    for (uint32_t i = 0; i < soul_count; i++) {
        if (tr_is_same(known[i].ref, ref))
            return i;
    }
    return SOULS;
}

static tr_next on_terminated(tr_self *self, struct soul *soul, const struct tr_terminated *message)
{
    struct known *me = look(soul);
    uint32_t who = soul_of(message->who);
    ck_assert_uint_lt(who, SOULS);
    ck_assert_msg(me->watches[who],
                  "seed %" PRIu64 ": %u hears of %u, whom it does not watch",
                  kits_seed,
                  soul->index,
                  who);
    ck_assert_int_ne(known[who].life, BEGUN);
    ck_assert_int_eq(tr_tell(self, message->who, act), TR_STOPPED);
    me->watches[who] = false;
    counted_signals++;
    return TR_SAME;
}

/* ---- What they do. ---- */

static void send_notes(tr_self *self, uint32_t from)
{
    static unsigned char data[1000];
    uint32_t to = chance(soul_count);
    for (uint32_t i = 1 + chance(4); i; i--) {
        uint32_t n = known[from].sent[to];
        memset(data, (int)(n % 256), sizeof data);
        size_t size = chance(4) ? 0 : chance(sizeof data);
        if (tr_tell(self, known[to].ref, note, .from = from, .n = n, .data = {data, size}) == TR_OK)
            known[from].sent[to]++;
    }
    tr_tell(self, known[to].ref, keep, .n = keeps++);
}

static const char *key_of(uint32_t timer)
{
    static const char *const keys[KEYS] = {"short", "one that is much longer than the other"};
    return timer < KEYS ? keys[timer] : NULL;
}

static void timers(tr_self *self, struct soul *soul, struct known *me)
{
    static uint32_t unique_ns;
    uint32_t timer = chance(TIMERS);
    if (chance(2)) {
        tr_timer_end end = key_of(timer) ? tr_timer_cancel(self, key_of(timer))
                                         : tr_timer_stop(self, soul->handles[timer]);
        if (me->due_ns[timer] > tr_now(self))
            ck_assert_int_eq(end, TR_TIMER_CANCELLED);
        else
            ck_assert_int_eq(end != TR_TIMER_NONE, me->due_ns[timer] != 0);
        me->due_ns[timer] = 0;
        return;
    }
    if (me->due_ns[timer] && !key_of(timer))
        return;
    tr_time delay_ns = chance(4) * MS + 1 + unique_ns++ % 100000;
    soul->handles[timer] = tr_timer_once(
        self, key_of(timer), delay_ns, tick, .timer = timer, .version = ++me->version[timer]);
    me->due_ns[timer] = tr_now(self) + delay_ns;
}

static void ask(tr_self *self)
{
    uint32_t n = chance(1000000);
    const struct answer *reply = NULL;
    soul_ref to = soul_ref_of(known[chance(soul_count)].ref);
    asks_open++;
    question_ask asked = tr_ask_within(self, (1 + chance(5)) * MS, to, question, .n = n);
    if (tr_try_await(self, asked, &reply) == TR_OK) {
        ck_assert_uint_eq(reply->n, n * 7);
        counted_answers++;
    }
    asks_open--;
}

static void watch_somebody(tr_self *self, struct known *me)
{
    uint32_t who = chance(soul_count);
    if (chance(3)) {
        if (tr_try_watch(self, known[who].ref) == TR_OK && &known[who] != me)
            me->watches[who] = true;
    } else if (tr_unwatch(self, known[who].ref) == TR_OK) {
        me->watches[who] = false;
    }
}

static void spawn_somebody(tr_self *self)
{
    soul_ref child;
    uint32_t index = soul_count;
    if (soul_count == SOULS)
        return;
    int worker = (int)chance((uint32_t)home + 1);
    if (tr_try_spawn_at(self, &child, worker, soul, NULL, birth, .index = index) != TR_OK)
        return;
    known[soul_count++].ref = tr_any(child);
}

static void answer_later(tr_self *self, struct soul *soul, const struct known *me)
{
    uint32_t which = chance(LATERS);
    tr_later later = soul->laters[which];
    soul->laters[which] = (tr_later){0};
    tr_status status = tr_reply_to(self, later, answer, .n = me->laters[which] * 7);
    if (!later.number)
        ck_assert_int_eq(status, TR_NOT_FOUND);
    else
        ck_assert(status == TR_OK || status == TR_STOPPED);
}

static void order_somebody(tr_self *self)
{
    tr_ref who = known[chance(soul_count)].ref;
    switch (chance(12)) {
    case 0:
        tr_stop(self, who);
        break;
    case 1:
        tr_kill(self, who);
        break;
    case 2:
    case 3:
        tr_suspend(self, who);
        break;
    default:
        tr_resume(self, who);
        break;
    }
}

static tr_next on_act(tr_self *self, struct soul *soul)
{
    struct known *me = look(soul);
    if (is_over)
        return TR_SAME;
    switch (chance(20)) {
    case 0:
        return chance(6) ? TR_SAME : TR_STOP;
    case 1:
        return tr_fail(self, TR_FAILED, "by chance");
    case 2:
        order_somebody(self);
        break;
    case 3:
        spawn_somebody(self);
        break;
    case 4:
        if (!chance(4))
            (void)tr_sleep(self, chance(3) * MS);
        break;
    case 5:
        ask(self);
        break;
    case 6:
        me->is_other = !me->is_other;
        return tr_become(self, other_soul);
    case 7:
    case 8:
        me->kept -= (uint32_t)tr_unstash(self, 1 + chance(3));
        break;
    case 9:
    case 10:
        answer_later(self, soul, me);
        break;
    case 11:
    case 12:
    case 13:
        watch_somebody(self, me);
        break;
    case 14:
    case 15:
        timers(self, soul, me);
        break;
    default:
        send_notes(self, soul->index);
        break;
    }
    return TR_SAME;
}

#define SOUL_ROWS                                                                                  \
    TR_ON(tr_pre_start, on_start), TR_ON(tr_post_stop, on_end), TR_ON(tr_pre_restart, on_down),    \
        TR_ON(tr_post_restart, on_start), TR_ON(act, on_act), TR_ON(note, on_note),                \
        TR_ON(keep, on_keep), TR_ON(tick, on_tick), TR_ON(question, on_question),                  \
        TR_ON(tr_terminated, on_terminated),                                                       \
        TR_SUPERVISE(TR_ONE_FOR_ONE, .restarts_max = 1000, .window_ns = 1)
TR_BEHAVIOR(soul, struct soul, TR_SETUP_WITH(birth, on_birth), SOUL_ROWS);
TR_BEHAVIOR(other_soul, struct soul, SOUL_ROWS);

/* The parent of the first ones: it lets them fail as often as they like. */
static tr_next root_act(tr_self *self)
{
    spawn_somebody(self);
    return TR_SAME;
}
TR_BEHAVIOR(root, void, TR_ON(act, root_act),
            TR_SUPERVISE(TR_ONE_FOR_ONE, .restarts_max = 1000, .window_ns = 1));

static void send_from_outside(void)
{
    uint32_t to = chance(soul_count);
    uint32_t n = client_sent[to];
    if (tr_tell(test, known[to].ref, note, .from = CLIENT, .n = n) == TR_OK)
        client_sent[to]++;
}

/* Everybody is let go, and has time for what was begun. */
static void let_go(void)
{
    is_over = true;
    for (int i = 0; i < 3; i++) {
        tr_kit_advance(kit, 20 * MS);
        for (uint32_t k = 0; k < soul_count; k++)
            tr_resume(test, known[k].ref);
    }
    tr_kit_advance(kit, 20 * MS);
}

static void check_soul(uint32_t i)
{
    struct known *soul = &known[i];
    ck_assert_int_eq(tr_tell(test, soul->ref, act) == TR_OK, soul->life == BEGUN);
    tr_kit_settle(kit);
    if (soul->life != BEGUN)
        return;
    for (uint32_t k = 0; k < soul_count; k++) {
        ck_assert_msg(!soul->watches[k] || known[k].life == BEGUN,
                      "seed %" PRIu64 ": %u never heard of %u",
                      kits_seed,
                      i,
                      k);
        ck_assert_msg(soul->got[k] == known[k].sent[i],
                      "seed %" PRIu64 ": %u has sent %u, of which %u got %u",
                      kits_seed,
                      k,
                      known[k].sent[i],
                      i,
                      soul->got[k]);
    }
    ck_assert_uint_eq(soul->got[CLIENT], client_sent[i]);
    for (int k = 0; k < TIMERS; k++)
        ck_assert_int_eq(soul->due_ns[k], 0);
}

static void play(uint64_t seed, int steps)
{
    root_ref root;
    memset(known, 0, sizeof known);
    memset(client_sent, 0, sizeof client_sent);
    soul_count = 0;
    asks_open = 0;
    is_over = false;
    chance_bits = seed;
    kit_open_as(2 + (int)(seed % 3), seed, true);
    ck_assert_int_eq(tr_try_spawn_at(test, &root, home, root, NULL), TR_OK);
    for (int i = 0; i < 6; i++)
        tr_tell(test, root, act);
    tr_kit_settle(kit);
    for (int i = 0; i < steps; i++) {
        tr_tell(test, known[chance(soul_count)].ref, act);
        if (!chance(3))
            send_from_outside();
        if (!chance(24))
            tr_tell(test, root, act);
        kit_steps(chance(6));
        if (i % 16 == 0)
            tr_kit_check(kit);
        if (i % 32 == 0)
            tr_kit_advance(kit, chance(3) * MS);
    }
    let_go();
    ck_assert_uint_eq(asks_open, 0);
    for (uint32_t i = 0; i < soul_count; i++)
        check_soul(i);
    for (uint32_t i = 0; i < soul_count; i++)
        memset(
            known[i].watches, true, sizeof known[i].watches); /* the end of all is another play */
    kit_close();
}

TEST(a_random_life_of_movers_agrees_with_what_is_known, "D-07", "WP-12", "AK-13")
{
    uint64_t seeds = test_is_long() ? 20000 : TEST_SEEDS(TEST_HAS_SANITIZER ? 60 : 300);
    for (uint64_t seed = 1; seed <= seeds; seed++)
        play(seed, 600);
    /* It was worth while. */
    ck_assert_uint_gt(counted_ticks, seeds * 4);
    ck_assert_uint_gt(counted_signals, seeds);
    ck_assert_uint_gt(counted_answers, seeds);
    ck_assert_uint_gt(counted_restarts, seeds * 4);
    ck_assert_uint_gt(counted_keeps, seeds * 8);
    printf("ticks %" PRIu64 ", signals %" PRIu64 ", answers %" PRIu64 ", restarts %" PRIu64 "\n",
           counted_ticks,
           counted_signals,
           counted_answers,
           counted_restarts);
}

SUITE("move model", a_random_life_of_movers_agrees_with_what_is_known)
